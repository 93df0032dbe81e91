//! The board of a plan: its newest round, and the rounds before it. `pippin serve` and `pippin site`
//! show the same.
use maud::{Markup, html};
use pippin_model::run::digest::TargetDigest;
use pippin_model::verdict::Verdict;
use pippin_report::digest;
use pippin_report::html::badge;
use pippin_report::words;
use pippin_stats::rank::RankInterval;
use pippin_store::listing::PlanLeader;

use crate::leaderboard::Links;
use crate::page::trust;

/// The most rounds that a board shows beside each other.
pub const ROUNDS: usize = 12;

/// A round of a plan.
#[derive(Debug, Clone)]
pub struct Round {
    /// The run.
    pub run: PlanLeader,
    /// The version of Pippin that made it, if it is known here.
    pub version: Option<String>,
}

/// The title of a plan's board.
#[must_use]
pub fn title(newest: &PlanLeader) -> String {
    format!("{}{}", newest.title, if newest.quick { " (quick)" } else { "" })
}

/// The board of these rounds, the newest first. `more` says where earlier ones are.
#[must_use]
pub fn body(rounds: &[Round], links: &Links<'_>, more: &Markup) -> Markup {
    let shown = &rounds[..rounds.len().min(ROUNDS)];
    html! {
        main id="main" {
            @if let Some(newest) = shown.first() {
                h1 { (title(&newest.run)) }
                (trust(&newest.run.digest.trust))
                (round(&newest.run, links))
                @if shown.len() > 1 {
                    h2 id="rounds" { "Rounds" }
                    (beside_each_other(shown, rounds, links))
                    @if rounds.len() > shown.len() { p.hint { (more) } }
                }
            }
        }
    }
}

/// The newest round: a row for each target.
fn round(run: &PlanLeader, links: &Links<'_>) -> Markup {
    let has = |figure: fn(&TargetDigest) -> bool| run.digest.targets.iter().any(figure);
    let (ratios, memory) =
        (has(|it| it.more.ratio.is_some()), has(|it| it.more.memory_bytes.is_some()));
    html! {
        p.hint { (run.digest.load) ". " (words::second(run.started_unix_ns)) @if let Some(host) = &run.host { " on " (host) } ". " a href=((links.run)(&run.run)) { "The page of this run" } "." }
        div.scroll tabindex="0" role="region" aria-label="Newest round, scrolls sideways" {
            table.sortable.board {
                thead { tr {
                    th.number scope="col" { "Rank" } th scope="col" { "Target" } th.number scope="col" { "Requests/s" }
                    @if ratios { th.number scope="col" { "Ratio" } }
                    th.number scope="col" { "p99" } th.number scope="col" { "CPU per request" }
                    @if memory { th.number scope="col" { "Memory" } }
                    th scope="col" { "Verdict" }
                } }
                tbody { @for target in &run.digest.targets {
                    @let more = &target.more;
                    tr .invalid[target.verdict == Some(Verdict::Invalid)] {
                        td.number data-value=[target.ranks.map(|(best, _)| best)] { (ranks(target)) }
                        th.wrap scope="row" { a href=((links.target)(&target.target.to_string())) { (target.target) } }
                        (cell(target.goodput_per_s, more.goodput_within, words::count))
                        @if ratios { (cell(more.ratio, more.ratio_within, words::ratio)) }
                        (cell(target.p99_ns, more.p99_within, words::ns_f))
                        (cell(more.cpu_ns, more.cpu_within, words::ns_f))
                        @if memory { (cell(more.memory_bytes, None, |bytes| words::bytes(bytes.map(|it| it as u64)))) }
                        td { @match target.verdict { Some(verdict) => (badge(verdict)), None => (words::UNKNOWN) } }
                    }
                } }
            }
        }
    }
}

fn ranks(target: &TargetDigest) -> String {
    target.ranks.map_or_else(
        || words::UNKNOWN.into(),
        |(best, worst)| RankInterval { best, worst }.to_string(),
    )
}

/// A figure with the ends of its interval.
fn cell(
    value: Option<f64>,
    within: Option<(f64, f64)>,
    write: impl Fn(Option<f64>) -> String,
) -> Markup {
    html! {
        td.number data-value=[value] {
            (write(value))
            @if let Some((low, high)) = within { span.sub { (write(Some(low))) " … " (write(Some(high))) } }
        }
    }
}

/// The ranking figure of each target in each of these rounds, which are the newest of `all`.
fn beside_each_other(rounds: &[Round], all: &[Round], links: &Links<'_>) -> Markup {
    let by_time = rounds.first().is_some_and(|newest| digest::is_by_time(&newest.run.digest));
    let befores = all.iter().skip(1).map(Some).chain([None]);
    html! {
        p.hint { (if by_time { "The 99th percentile of the response time" } else { "Right answers per second" }) " of each target in each round, the newest first, with the ranks that it may have. A figure is compared with others of its round; between rounds the machine may have changed, which the comparisons show." }
        div.scroll tabindex="0" role="region" aria-label="Rounds, scrolls sideways" {
            table.sortable {
                thead { tr {
                    th scope="col" { "Target" }
                    @for round in rounds { th.number scope="col" { (words::time(round.run.started_unix_ns)) } }
                } }
                tbody { @for name in &in_order(rounds) { tr {
                    th scope="row" { a href=((links.target)(name)) { (name) } }
                    @for round in rounds { (of_round(&round.run, name)) }
                } } }
                tfoot {
                    tr { th scope="row" { "Run" } @for round in rounds { td.number { a href=((links.run)(&round.run.run)) { "its page" } } } }
                    tr { th scope="row" { "Host" } @for round in rounds { td.number { (round.run.host.as_deref().unwrap_or(words::UNKNOWN)) } } }
                    @if rounds.iter().any(|round| round.version.is_some()) {
                        tr { th scope="row" { "Pippin" } @for round in rounds { td.number { (round.version.as_deref().unwrap_or(words::UNKNOWN)) } } }
                    }
                    tr { th scope="row" { "Change" } @for (round, before) in rounds.iter().zip(befores) { td.number { @match before.and_then(|before| (links.change)(&before.run.run, &round.run.run)) { Some(page) => a href=(page) { "from the round before" }, None => (words::UNKNOWN) } } } }
                }
            }
        }
    }
}

/// The targets of these rounds: those of the newest in its order, then those of earlier ones.
fn in_order(rounds: &[Round]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for target in rounds.iter().flat_map(|round| &round.run.digest.targets) {
        let name = target.target.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn of_round(run: &PlanLeader, name: &str) -> Markup {
    let found = run.digest.targets.iter().find(|target| target.target.to_string() == name);
    let Some(target) = found else { return html! { td.number { "" } } };
    let by_time = digest::is_by_time(&run.digest);
    let text = if by_time { words::ns_f(target.figure) } else { words::count(target.figure) };
    html! {
        td.number data-value=[target.figure] {
            @match target.verdict {
                None => (words::UNKNOWN),
                Some(Verdict::Invalid) => "INVALID",
                Some(verdict) => {
                    (text)
                    @if target.ranks.is_some() { span.sub { "rank " (ranks(target)) } }
                    @if verdict == Verdict::Suspect { span.sub { "SUSPECT" } }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_report::view::View;

    fn round_of(id: &str, started_unix_ns: u64) -> Round {
        let record = example::rounds();
        Round {
            run: PlanLeader {
                plan: record.header.plan.id.clone(),
                title: record.header.plan.title.clone(),
                quick: true,
                run: id.into(),
                started_unix_ns,
                host: Some("bench-1".into()),
                digest: digest::from_view(&View::of(&record)),
            },
            version: None,
        }
    }

    const LINKS: Links<'static> = Links {
        run: &|run| format!("/runs/{run}"),
        target: &crate::history::address_of,
        change: &|before, run| Some(format!("/compare?run={before}&run={run}")),
    };

    #[test]
    fn a_board_has_the_figures_of_its_newest_round_and_the_rounds_before() {
        let newest = round_of("b", 1_795_293_339_000_000_000);
        let rounds = [newest.clone(), round_of("a", 1_795_200_000_000_000_000)];
        let page = body(&rounds, &LINKS, &html! {}).into_string();
        let first = &newest.run.digest.targets[0];
        let (low, high) = first.more.goodput_within.unwrap();
        for part in [
            words::count(first.goodput_per_s),
            format!("{} … {}", words::count(Some(low)), words::count(Some(high))),
            words::ns_f(first.more.cpu_ns),
            words::ratio(newest.run.digest.targets[1].more.ratio),
            badge(first.verdict.unwrap()).into_string(),
            "2026-11-21 20:35:39 UTC on bench-1".into(),
            "href=\"/compare?run=a&amp;run=b\"".into(),
            "href=\"/runs/b\"".into(),
        ] {
            assert!(page.contains(&part), "{part}: {page}");
        }
        assert!(!page.contains(">Pippin<"), "no version is known");
        let one = body(&rounds[..1], &LINKS, &html! {}).into_string();
        assert!(!one.contains("id=\"rounds\""), "there is none before: {one}");
    }

    #[test]
    fn beyond_the_most_rounds_it_is_said_where_they_are() {
        let rounds = vec![round_of("a", 1); ROUNDS + 1];
        let page =
            |count: usize| body(&rounds[..count], &LINKS, &html! { "see the list" }).into_string();
        assert!(
            page(ROUNDS + 1).contains("see the list") && !page(ROUNDS).contains("see the list")
        );
        assert_eq!(page(ROUNDS + 1).matches("its page").count(), ROUNDS);
    }
}
