//! Two runs side by side.
use maud::{Markup, html};
use pippin_model::caveat::Verdict;
use pippin_model::run::RunRecord;
use pippin_model::trial::Step;
use pippin_report::words;
use pippin_stats::compare::{
    Change, Comparison, Difference, Metric, TargetChange, compare, differences,
};
use pippin_stats::unfinished::Unfinished;
use pippin_store::runs::RunSummary;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The form that asks which two.
#[must_use]
pub fn form(runs: &[RunSummary], a: &str, b: &str) -> Markup {
    let choice = |name: &str, chosen: &str| {
        html! { select name=(name) required { option value="" { "choose a run" } @for run in runs { option value=(run.id) selected[run.id == chosen] { (run.id) } } } }
    };
    html! {
        form.filter method="get" action="/compare" {
            label { "A " (choice("a", a)) }
            label { "B " (choice("b", b)) }
            button type="submit" { "Compare" }
        }
    }
}

/// The comparison of two runs.
#[must_use]
pub fn body(form: &Markup, a: &RunRecord, b: &RunRecord) -> Markup {
    let differs = differences(&a.header, &b.header);
    // The same two give the same intervals each time.
    let comparison = compare(
        &a.trials,
        &b.trials,
        &mut Xoshiro256PlusPlus::seed_from_u64(a.header.seed ^ b.header.seed),
    );
    html! {
        main id="main" {
            h1 { "Side by side" }
            (form)
            p { "A: " a href=(format!("/runs/{}", a.header.id)) { (a.header.id) } " (" (a.header.plan.title) "). B: " a href=(format!("/runs/{}", b.header.id)) { (b.header.id) } " (" (b.header.plan.title) ")." }
            @for run in [("A", a), ("B", b)].iter().filter_map(|(side, run)| Unfinished::of(side, run)) { p.notice role="status" { (run.words()) "." } }
            (differing(&differs))
            (changes(&comparison))
            @if !comparison.only_a.is_empty() { p { "Only in A: " (names(&comparison.only_a)) } }
            @if !comparison.only_b.is_empty() { p { "Only in B: " (names(&comparison.only_b)) } }
        }
    }
}

fn names(targets: &[pippin_model::target::TargetId]) -> String {
    targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn differing(differs: &[Difference]) -> Markup {
    html! {
        @if differs.iter().any(|difference| difference.refuses) {
            p.notice role="status" { "Apples and peaches: these two were not measured alike, so that their figures say little about each other." }
        }
        @if !differs.is_empty() {
            h2 { "What differs" }
            div.scroll tabindex="0" role="region" aria-label="Differences, scrolls sideways" {
                table {
                    thead { tr { th scope="col" { "What" } th scope="col" { "A" } th scope="col" { "B" } } }
                    tbody { @for difference in differs { tr { th scope="row" { (difference.what) @if difference.refuses { " " span.badge.invalid { "not alike" } } } td.wrap { (difference.a) } td.wrap { (difference.b) } } } }
                }
            }
        }
    }
}

fn changes(comparison: &Comparison) -> Markup {
    html! {
        h2 { "What changed" }
        @if comparison.targets.is_empty() { p { "The two have no target in common." } }
        @else {
            p.hint { "Change: B over A less 1, with its 95 % interval. Bold: the interval excludes that nothing changed." }
            div.scroll tabindex="0" role="region" aria-label="Changes, scrolls sideways" {
                table.sortable {
                    thead { tr { th scope="col" { "Target" } th scope="col" { "Metric" } th.number scope="col" { "A" } th.number scope="col" { "B" } th.number scope="col" { "Change" } th scope="col" { "Judgement" } } }
                    tbody { @for target in &comparison.targets { @for change in &target.changes { (line(target, change)) } } }
                }
            }
        }
    }
}

fn line(target: &TargetChange, change: &Change) -> Markup {
    let invalid = target.a_verdict == Verdict::Invalid || target.b_verdict == Verdict::Invalid;
    let step = match target.step {
        None => String::new(),
        Some(Step::Connections { count }) => format!(" at {count} connections"),
        Some(Step::Rate { per_s }) => format!(" at {} requests/s", words::count(Some(per_s))),
    };
    let name = if target.a == target.b {
        target.a.to_string()
    } else {
        format!("{} → {}", target.a, target.b)
    };
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let relative = change.relative();
    let significant = change.is_significant();
    html! {
        tr .invalid[invalid] {
            th scope="row" { (name) (step) }
            td { (change.metric.name()) }
            td.number { (figure(change.metric, change.a)) }
            td.number { (figure(change.metric, change.b)) }
            td.number data-value=[relative] {
                @if let Some(relative) = relative { @if significant == Some(true) { strong { (percent(relative + 1.0)) } } @else { (percent(relative + 1.0)) } } @else { (words::UNKNOWN) }
                @if let Some(ratio) = change.ratio { span.sub { (percent(ratio.interval.low)) " … " (percent(ratio.interval.high)) } }
            }
            td { @if invalid { "a side is INVALID" } @else { (change.judgement().words()) } }
        }
    }
}

fn figure(metric: Metric, value: Option<f64>) -> String {
    match metric {
        Metric::Goodput => words::count(value),
        Metric::P50 | Metric::P99 => words::ns_f(value),
        Metric::Cpu => {
            value.map_or_else(|| words::UNKNOWN.into(), |s| format!("{} s", words::count(Some(s))))
        }
        Metric::Memory => words::bytes(value.map(|bytes| bytes as u64)),
    }
}
