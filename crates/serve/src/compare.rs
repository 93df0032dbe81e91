//! Two or more runs side by side.
use maud::{Markup, html};
use pippin_model::figure::Figure;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::verdict::Verdict;
use pippin_report::chart::Chart;
use pippin_report::chart::change::{self, Moved};
use pippin_report::html::{badge, figure};
use pippin_report::view::View;
use pippin_report::words;
use pippin_stats::compare::unfinished::Unfinished;
use pippin_stats::compare::{
    Change, Comparison, Difference, Origin, SEED, Side, TargetChange, compare, differences,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::page;

/// The maximum number of runs in one comparison.
pub const MOST: usize = 8;

/// The form to choose runs; it suggests the newest ones.
#[must_use]
pub fn form(newest: &[String], chosen: &[String]) -> Markup {
    html! {
        form.filter method="get" action="/compare" {
            @for place in 0..chosen.len().max(1) + 1 {
                label { (name(place)) " " input type="search" name="run" list="newest" size="30" value=[chosen.get(place)] placeholder="20261122-080000-hello" required[place < 2]; }
            }
            button type="submit" { "Compare" }
            datalist id="newest" { @for run in newest { option value=(run) {} } }
        }
    }
}

/// The name of a run on this page: A, B, C.
fn name(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

/// Compares two or more runs. All are compared with the first. `link` is the address of a run's page.
#[must_use]
pub fn body(form: &Markup, runs: &[RunRecord], link: impl Fn(&str) -> String) -> Markup {
    let Some((a, others)) = runs.split_first() else { return html! { main id="main" { (form) } } };
    let views: Vec<View> = runs.iter().map(View::of).collect();
    let comparisons: Vec<Comparison> = others
        .iter()
        .zip(&views[1..])
        .map(|(other, view)| against((a, &views[0]), (other, view)))
        .collect();
    html! {
        main id="main" {
            h1 { "Side by side" }
            (trust(&views))
            (form)
            (sides(runs, &views, &link))
            @for (place, run) in runs.iter().enumerate() {
                @if let Some(unfinished) = Unfinished::from_record(&name(place).to_string(), run) { p.notice role="status" { (unfinished.words()) "." } }
            }
            @if others.len() > 1 { (together(&comparisons)) }
            @for (place, (run, comparison)) in others.iter().zip(&comparisons).enumerate() {
                @let name = name(place + 1);
                @if others.len() > 1 { h2 { (name) " against A" } }
                (differing(&differences(&a.header, &run.header), name))
                (disturbed(comparison, name))
                div.figures.pairs { @for chart in ratio_plots(comparison, name) { (figure(&chart)) } }
                (changes(comparison, name))
                @if !comparison.only_a.is_empty() { p { "Only in A: " (names(&comparison.only_a)) } }
                @if !comparison.only_b.is_empty() { p { "Only in " (name) ": " (names(&comparison.only_b)) } }
            }
            (trust(&views))
        }
    }
}

/// What each side is: its run, verdict, and how calm the host was.
fn sides(runs: &[RunRecord], views: &[View], link: &impl Fn(&str) -> String) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Sides, scrolls sideways" {
            table.sides {
                thead { tr { th scope="col" { "" } th scope="col" { "Run" } th scope="col" { "Worst verdict" } th.number scope="col" { "Calm slices" } th scope="col" { "Started" } th scope="col" { "Host" } } }
                tbody { @for (place, (run, view)) in runs.iter().zip(views).enumerate() { tr {
                    th scope="row" { (name(place)) }
                    td.wrap { a href=(link(&run.header.id)) { (run.header.plan.title) } span.sub { (run.header.id) } }
                    td { @match view.rows.iter().filter_map(|row| row.verdict).max() { Some(worst) => (badge(worst)), None => (words::UNKNOWN) } }
                    td.number { @match &view.run.slices { Some(slices) => { (slices.calm) " of " (slices.made) }, None => (words::UNKNOWN) } }
                    td { (words::second(run.header.started_unix_ns)) }
                    td { (view.host.hostname.as_deref().unwrap_or(words::UNKNOWN)) }
                } } }
            }
        }
    }
}

/// Says so where nothing can be compared, because nothing was calm.
fn disturbed(comparison: &Comparison, name: char) -> Markup {
    let found: Vec<(&TargetChange, String)> = comparison
        .targets
        .iter()
        .filter_map(|target| {
            Some((target, target.disturbed?.sides().replace('B', &name.to_string())))
        })
        .collect();
    let of_all = found.len() == comparison.targets.len();
    let same = found.iter().all(|(_, sides)| *sides == found[0].1);
    html! {
        @if let Some((_, sides)) = found.first() {
            p.notice role="status" {
                strong { "Not comparable" }
                @if of_all && same { ": no slice of " (sides) " was calm." }
                @else { ": " @for (place, (target, sides)) in found.iter().enumerate() { @if place > 0 { ", " } (of_target(target)) " (no slice of " (sides) ")" } " was not calm." }
                " What disturbed one run did not disturb the other. Stop other programs (" code { "pippin doctor" } " shows them) and measure again, or measure both in one run."
            }
        }
    }
}

/// The figures whose ratios are drawn.
const DRAWN: [(Figure, &str); 3] = [
    (Figure::Goodput, "Requests per second"),
    (Figure::P99, "p99 of the response time"),
    (Figure::Cpu, "CPU time per request"),
];

/// A chart of each figure of which a ratio can be believed.
fn ratio_plots(comparison: &Comparison, name: char) -> Vec<Chart> {
    let can_be_read = |target: &&TargetChange| {
        let verdicts = [target.a_verdict, target.b_verdict];
        target.disturbed.is_none() && !verdicts.contains(&Verdict::Invalid)
    };
    let of = |(figure, title): (Figure, &str)| {
        let moved = comparison.targets.iter().filter(can_be_read).filter_map(|target| {
            let change = target.changes.iter().find(|change| change.figure == figure)?;
            Some(Moved { name: of_target(target), ratio: change.ratio? })
        });
        let id = format!("change-{figure}-{}", name.to_ascii_lowercase());
        change::chart(&id, title, &format!("{name} ÷ A"), &moved.collect::<Vec<_>>())
    };
    DRAWN.into_iter().filter_map(of).collect()
}

/// Compares two runs as `pippin compare` does. The verdicts are those of their reports.
fn against((a, of_a): (&RunRecord, &View), (b, of_b): (&RunRecord, &View)) -> Comparison {
    let origin = Origin::from_headers(&a.header, &b.header);
    let [a_verdict, b_verdict] =
        [of_a, of_b].map(|view| move |target: &TargetId, step| view.verdict_of(target, step));
    let (a, b) = (
        Side { trials: &a.trials, verdict: &a_verdict },
        Side { trials: &b.trials, verdict: &b_verdict },
    );
    compare(a, b, origin, &mut Xoshiro256PlusPlus::seed_from_u64(SEED))
}

/// Whether each run can be trusted. It is the first thing and the last.
fn trust(views: &[View]) -> Markup {
    html! {
        @for (place, view) in views.iter().enumerate() {
            (page::trust(&format!("{}: {}", name(place), view.trust.words())))
        }
    }
}

/// Goodput in all runs, for every target of A.
fn together(comparisons: &[Comparison]) -> Markup {
    let Some(first) = comparisons.first() else { return html! {} };
    let goodput = |target: &TargetChange| {
        target.changes.iter().find(|change| change.figure == Figure::Goodput).cloned()
    };
    let same = |comparison: &Comparison, of: &TargetChange| {
        let found =
            comparison.targets.iter().find(|other| other.a == of.a && other.step == of.step)?;
        goodput(found)
    };
    html! {
        h2 { "All together" }
        p.hint { "Right answers per second, and the change from A. Bold: a significant change." }
        div.scroll tabindex="0" role="region" aria-label="All runs, scrolls sideways" {
            table.sortable {
                thead { tr { th scope="col" { "Target" } th.number scope="col" { "A" } @for place in 0..comparisons.len() { th.number scope="col" { (name(place + 1)) } } } }
                tbody {
                    @for target in &first.targets {
                        tr {
                            th scope="row" { (of_target(target)) }
                            td.number { (words::figure(Figure::Goodput, goodput(target).and_then(|change| change.a))) }
                            @for comparison in comparisons {
                                @match same(comparison, target) {
                                    None => td.number { (words::UNKNOWN) },
                                    Some(change) => td.number data-value=[change.b] {
                                        (words::figure(Figure::Goodput, change.b))
                                        @if let Some(relative) = change.relative() { span.sub { @if change.is_significant() == Some(true) { strong { (signed(relative)) } } @else { (signed(relative)) } } }
                                    },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn names(targets: &[TargetId]) -> String {
    targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn differing(differs: &[Difference], name: char) -> Markup {
    html! {
        @if differs.iter().any(|difference| difference.refuses) {
            p.notice role="status" { "These two were not measured in the same way, so the comparison says little." }
        }
        @if !differs.is_empty() {
            h3 { "What differs" }
            div.scroll tabindex="0" role="region" aria-label="Differences, scrolls sideways" {
                table {
                    thead { tr { th scope="col" { "What" } th scope="col" { "A" } th scope="col" { (name) } } }
                    tbody { @for difference in differs { tr { th scope="row" { (difference.what) @if difference.refuses { " " span.badge.invalid { "not alike" } } } td.wrap { (difference.a) } td.wrap { (difference.b) } } } }
                }
            }
        }
    }
}

fn changes(comparison: &Comparison, name: char) -> Markup {
    html! {
        h3 { "What changed" }
        @if comparison.targets.is_empty() { p { "The two have no target in common." } }
        @else {
            p.hint { "Change: " (name) " over A minus 1, with its 95 % interval. Bold: a significant change." }
            div.scroll tabindex="0" role="region" aria-label="Changes, scrolls sideways" {
                table.sortable {
                    thead { tr { th scope="col" { "Target" } th scope="col" { "Metric" } th.number scope="col" { "A" } th.number scope="col" { (name) } th.number scope="col" { "Change" } th scope="col" { "Judgement" } } }
                    tbody { @for target in &comparison.targets { @for (place, change) in target.changes.iter().enumerate() { (line(target, change, place == 0)) } } }
                }
            }
        }
    }
}

/// The target's name, or both names if they differ, and its step.
fn of_target(target: &TargetChange) -> String {
    let step = match target.step {
        None => String::new(),
        Some(step) => format!(" at {}", step.in_words()),
    };
    if target.a == target.b {
        format!("{}{step}", target.a)
    } else {
        format!("{} → {}{step}", target.a, target.b)
    }
}

/// A change as a percentage with its sign.
fn signed(relative: f64) -> String {
    format!("{:+.1} %", relative * 100.0)
}

/// A figure of a target. `with_verdicts`: with those of both sides.
fn line(target: &TargetChange, change: &Change, with_verdicts: bool) -> Markup {
    let invalid = target.a_verdict == Verdict::Invalid || target.b_verdict == Verdict::Invalid;
    let relative = change.relative();
    let significant = change.is_significant();
    html! {
        tr .invalid[invalid] {
            th scope="row" { (of_target(target)) }
            td { (change.figure.to_string()) }
            @for (value, verdict) in [(change.a, target.a_verdict), (change.b, target.b_verdict)] {
                td.number data-value=[value] { (words::figure(change.figure, value)) @if with_verdicts { span.sub { (badge(verdict)) } } }
            }
            td.number data-value=[relative] {
                @if let Some(relative) = relative { @if significant == Some(true) { strong { (signed(relative)) } } @else { (signed(relative)) } } @else { (words::UNKNOWN) }
                @if let Some(ratio) = change.ratio { span.sub { (signed(ratio.interval.low - 1.0)) " … " (signed(ratio.interval.high - 1.0)) } }
            }
            td { @if invalid { "a side is INVALID" } @else { (target.judgement(change)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;

    fn shown(runs: &[RunRecord]) -> String {
        body(&html! {}, runs, |run| format!("/runs/{run}")).into_string()
    }

    fn of_two() -> [RunRecord; 2] {
        let a = example::rounds();
        let mut b = a.clone();
        b.header.id = "20261122-203539-rounds".into();
        [a, b]
    }

    #[test]
    fn both_verdicts_calmness_and_ratios_are_shown() {
        let runs = of_two();
        let view = View::of(&runs[0]);
        let slices = view.run.slices.as_ref().unwrap();
        let page = shown(&runs);
        assert_eq!(page.matches(&format!("{} of {}", slices.calm, slices.made)).count(), 2);
        for part in ["id=\"chart-change-goodput-b\"", "B ÷ A", "2026-11-21 20:35:39 UTC"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // Two for each target, and two for the sides.
        let targets = view.rows.iter().filter(|row| row.verdict.is_some()).count();
        assert_eq!(page.matches("class=\"badge ").count(), 2 * targets + 2);
        assert!(!page.contains("ot comparable"), "{page}");
    }

    #[test]
    fn where_nothing_was_calm_nothing_is_compared() {
        let mut runs = of_two();
        for slice in runs[1].trials.iter_mut().flat_map(|trial| &mut trial.slices) {
            slice.calm = false;
        }
        let page = shown(&runs);
        assert!(page.contains("</strong>: no slice of B was calm."), "{page}");
        assert!(page.contains(">not comparable<"), "{page}");
        assert!(!page.contains("<svg"), "nothing is drawn that cannot be read");
    }
}
