//! Targets over plans: the possible ranks of each target in the newest round of every plan.
use maud::{Markup, html};
use pippin_model::run::digest::TargetDigest;
use pippin_model::target::conformance::{Kind, KindCount};
use pippin_model::verdict::Verdict;
use pippin_report::digest;
use pippin_report::html::conformance::counts;
use pippin_report::words;
use pippin_stats::rank::RankInterval;
use pippin_store::listing::PlanLeader;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::board::{self, Round};
use crate::history;

/// A target's places: one for each plan, `None` if it took no part.
struct Entry<'a> {
    name: String,
    places: Vec<Option<&'a TargetDigest>>,
}

impl Entry<'_> {
    /// The number of plans in which it may be the best.
    fn leads(&self) -> usize {
        self.ranks().filter(|(best, _)| *best == 1).count()
    }

    fn ranks(&self) -> impl Iterator<Item = (u32, u32)> {
        self.places.iter().flatten().filter_map(|place| place.ranks)
    }

    /// What it answered in the newest run that asked it.
    fn conformance<'a>(&'a self, plans: &[PlanLeader]) -> Option<&'a [KindCount]> {
        let asked = self.places.iter().zip(plans).filter_map(|(place, plan)| {
            let kinds = place.as_ref()?.conformance.as_slice();
            (!kinds.is_empty()).then_some((plan.started_unix_ns, kinds))
        });
        asked.max_by_key(|(started_unix_ns, _)| *started_unix_ns).map(|(_, kinds)| kinds)
    }

    /// The mean of its best ranks. Those without a rank come last.
    fn mean_rank(&self) -> f64 {
        let (sum, count) =
            self.ranks().fold((0, 0), |(sum, count), (best, _)| (sum + best, count + 1));
        if count == 0 { f64::INFINITY } else { f64::from(sum) / f64::from(count) }
    }
}

/// The page.
#[must_use]
pub fn body(plans: &[PlanLeader], hosts: &[String], host: &str) -> Markup {
    html! {
        main id="main" {
            h1 { "Leaderboard" }
            form.filter method="get" action="/leaderboard" {
                label { "Host " select name="host" { option value="" { "any" } @for one in hosts { option value=(one) selected[one == host] { (one) } } } }
                button type="submit" { "Show" }
            }
            @if plans.is_empty() { p { "No plan has a round with a result yet; loads and comparisons are not rounds of a plan. " code { "pippin run hello" } " makes one." } }
            @else { (boards(plans)) (table(plans, &OF_SERVER)) }
        }
    }
}

/// The boards of these plans, each with its newest round.
fn boards(plans: &[PlanLeader]) -> Markup {
    let address = |plan: &PlanLeader| {
        format!("/leaderboard?plan={}{}", plan.plan, if plan.quick { "&quick=true" } else { "" })
    };
    html! {
        ul { @for plan in plans { li {
            a href=(address(plan)) { (board::title(plan)) }
            ", " (words::second(plan.started_unix_ns)) ". " (digest::trust_in_short(&plan.digest)) "."
        } } }
    }
}

/// The addresses of pages that a table links to.
pub struct Links<'a> {
    /// That of a run.
    pub run: &'a dyn Fn(&str) -> String,
    /// That of the history of a target.
    pub target: &'a dyn Fn(&str) -> String,
    /// That of the comparison of two rounds that follow each other, if there is one.
    pub change: &'a dyn Fn(&str, &str) -> Option<String>,
}

const OF_SERVER: Links<'static> = Links {
    run: &|run| format!("/runs/{run}"),
    target: &history::address_of,
    change: &|before, run| Some(format!("/compare?run={before}&run={run}")),
};

/// The board of a plan. One round more than is shown tells that there are more.
#[must_use]
pub fn board(rounds: &[PlanLeader]) -> Markup {
    let rounds: Vec<Round> =
        rounds.iter().map(|run| Round { run: run.clone(), version: None }).collect();
    let plan = rounds.first().map_or("", |round| &round.run.plan);
    let more = html! { "Earlier rounds are in the list of " a href=(format!("/?plan={plan}")) { "its runs" } "." };
    board::body(&rounds, &OF_SERVER, &more)
}

/// The table, and what targets answer at the edges of HTTP/1.1.
#[must_use]
pub fn table(plans: &[PlanLeader], links: &Links<'_>) -> Markup {
    let entries = entries(plans);
    html! {
        p.hint id="leaderboard-note" { "The possible ranks of a target in the newest round of each plan, a finished run with a result: 1-3 means that no target is certainly better, and two cannot be told apart from it. Plans are not added up, because each measures something else. Sorted by the number of plans in which a target may be the best." }
        div.scroll tabindex="0" role="region" aria-label="Leaderboard, scrolls sideways" {
            table.sortable aria-describedby="leaderboard-note" {
                thead { tr {
                    th scope="col" { "Target" } th.number scope="col" { "May lead" }
                    @for plan in plans { th.wrap scope="col" { (board::title(plan)) } }
                } }
                tbody { @for entry in &entries { (line(entry, links)) } }
                tfoot { tr { th scope="row" { "Run" } td {} @for plan in plans { td { a href=((links.run)(&plan.run)) { (day(plan.started_unix_ns)) } @if let Some(host) = &plan.host { span.sub { (host) } } } } } }
            }
        }
        (conformance(plans, &entries))
    }
}

/// The right answers by kind of all targets that were asked, from the newest of these runs.
fn conformance(plans: &[PlanLeader], entries: &[Entry<'_>]) -> Markup {
    let mut asked: Vec<(&str, &[KindCount])> = entries
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), entry.conformance(plans)?)))
        .collect();
    asked.sort_by_key(|(_, kinds)| Reverse(kinds.iter().map(|kind| kind.right).sum::<u32>()));
    html! {
        @if !asked.is_empty() {
            h2 id="conformance" { "Conformance" }
            p.hint { "How many answers at the edges of HTTP/1.1 were right, for each kind of question. This has no part in ranks and verdicts." }
            div.scroll tabindex="0" role="region" aria-label="Conformance, scrolls sideways" {
                table.sortable aria-labelledby="conformance" {
                    thead { tr {
                        th scope="col" { "Target" }
                        @for kind in Kind::ALL { th scope="col" { (kind.name()) } }
                    } }
                    tbody { @for (name, kinds) in asked { tr { th scope="row" { (name) } (counts(kinds)) } } }
                }
            }
        }
    }
}

/// The day on which a run began. Its time would make the columns too wide for many plans.
fn day(unix_ns: u64) -> String {
    words::time(unix_ns).chars().take_while(|c| *c != ' ').collect()
}

fn entries(plans: &[PlanLeader]) -> Vec<Entry<'_>> {
    let mut found: BTreeMap<String, Vec<Option<&TargetDigest>>> = BTreeMap::new();
    for (place, plan) in plans.iter().enumerate() {
        for target in &plan.digest.targets {
            let places =
                found.entry(target.target.to_string()).or_insert_with(|| vec![None; plans.len()]);
            places[place] = Some(target);
        }
    }
    let mut entries: Vec<Entry<'_>> =
        found.into_iter().map(|(name, places)| Entry { name, places }).collect();
    entries.sort_by(|a, b| {
        b.leads().cmp(&a.leads()).then_with(|| a.mean_rank().total_cmp(&b.mean_rank()))
    });
    entries
}

fn line(entry: &Entry<'_>, links: &Links<'_>) -> Markup {
    html! {
        tr {
            th scope="row" { a href=((links.target)(&entry.name)) { (entry.name) } }
            td.number { (entry.leads()) }
            @for place in &entry.places { (cell(*place)) }
        }
    }
}

fn cell(place: Option<&TargetDigest>) -> Markup {
    let Some(target) = place else { return html! { td { "" } } };
    match (target.ranks, target.verdict) {
        (Some((best, worst)), _) => html! {
            @let ranks = RankInterval { best, worst }.to_string();
            td data-value=(best) {
                @if best == 1 { strong { (ranks) } } @else { (ranks) }
                @if target.verdict == Some(Verdict::Suspect) { span.sub { "SUSPECT" } }
            }
        },
        (None, Some(Verdict::Invalid)) => html! { td { "INVALID" } },
        (None, _) => html! { td { (words::UNKNOWN) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::run::digest::{MoreFigures, RunDigest};
    use pippin_model::run::labels::Labels;

    fn plan(name: &str, targets: &[(&str, Option<(u32, u32)>)]) -> PlanLeader {
        let target = |(name, ranks): &(&str, Option<(u32, u32)>)| TargetDigest {
            target: name.parse().unwrap(),
            verdict: Some(if ranks.is_some() { Verdict::Valid } else { Verdict::Invalid }),
            ranks: *ranks,
            figure: Some(1.0),
            conformance: Vec::new(),
            goodput_per_s: Some(1e4),
            p99_ns: Some(2e6),
            more: MoreFigures::default(),
        };
        PlanLeader {
            plan: name.into(),
            title: name.into(),
            quick: false,
            run: format!("run-{name}"),
            started_unix_ns: 0,
            host: Some("bench-1".into()),
            digest: RunDigest {
                compared: String::new(),
                trust: "Can you trust it? Yes: it was looked at, and no doubt was found.".into(),
                trials: 3,
                load: "closed loop, 10 connections".into(),
                ranked_by: "goodput".into(),
                targets: targets.iter().map(target).collect(),
                worst: None,
                slices: None,
                spark: Vec::new(),
                labels: Labels::default(),
            },
        }
    }

    #[test]
    fn answers_at_the_edges_are_those_of_the_newest_run_that_asked() {
        let mut plans = [plan("hello", &[("a/a", None)]), plan("users", &[("a/a", None)])];
        let kinds = |right| Kind::ALL.map(|kind| KindCount { kind, right, asked: 60 }).to_vec();
        plans[0].digest.targets[0].conformance = kinds(50);
        plans[0].started_unix_ns = 7;
        plans[1].digest.targets[0].conformance = kinds(40);
        let page = body(&plans, &[], "").into_string();
        assert!(page.contains("50 of 60") && !page.contains("40 of 60"), "{page}");
    }

    #[test]
    fn who_may_lead_most_plans_comes_first() {
        let plans = [
            plan("hello", &[("a/a", Some((1, 1))), ("b/b", Some((2, 2))), ("d/d", None)]),
            plan("users", &[("b/b", Some((1, 2))), ("a/a", Some((1, 2))), ("c/c", Some((3, 3)))]),
        ];
        let names: Vec<String> = entries(&plans).into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["a/a", "b/b", "c/c", "d/d"]);
        let page = body(&plans, &["bench-1".into()], "").into_string();
        assert!(!page.contains("Conformance"), "nobody was asked");
        for part in [
            "1-2",
            "INVALID",
            "/runs/run-users",
            "/history?target=c/c",
            "/leaderboard?plan=users\"",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
