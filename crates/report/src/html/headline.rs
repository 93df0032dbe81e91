//! The ranked table.
use maud::{Markup, html};
use pippin_model::figure::Figure;
use pippin_model::trial::Step;
use pippin_model::verdict::Verdict;

use super::bar::{self, Scale};
use super::{breakable, choice};
use crate::ranked;
use crate::terminal::span_of;
use crate::view::View;
use crate::view::row::Row;
use crate::words;

pub fn section(view: &View) -> Markup {
    if view.measured().next().is_none() {
        return html! { section id="results" { h2 { "Results" } p { "No target has a result." } } };
    }
    let columns = Columns::from_view(view);
    html! {
        section id="results" {
            h2.aside { "Results" }
            (choice::tools(view))
            div.scroll tabindex="0" role="region" aria-label="Results, scrolls sideways" {
                table.sortable.headline aria-describedby="results-note" {
                    thead { (columns.heads(view)) }
                    tbody { @for row in view.measured() { (columns.line(view, row)) } }
                }
            }
            p.more-columns { label { input type="checkbox" id="all-columns"; " All columns" } }
            p.hint id="results-note" {
                @if columns.bars { "Bar: median, line: its 95 % interval, dots: starts. " }
                @if columns.by_time { (ranked::legend(view)) }
                @else { "Requests/s: complete and right answers, median of the repetitions. p50 and p99: response time." }
                " CPU: 100 % is one core, of the whole process tree."
                @if let Some(ratios) = ranked::ratio_legend(view) { " " (ratios) }
                @if view.measured().any(|row| row.standing.rank.is_none()) { " Struck through: INVALID. Such a figure is not what it claims to be, and is not ranked; the reason stands below." }
            }
        }
    }
}

/// Which columns the table has. Those that say why a figure is as it is are shown when asked for.
struct Columns {
    /// One bar alone says nothing.
    bars: bool,
    scale: Scale,
    by_time: bool,
    ratios: bool,
    services: bool,
    packed: bool,
    /// Errors stand in sight where there are any.
    errors: bool,
}

/// Columns that are shown when asked for.
const EXTRA: &str = "extra";
/// Columns for which a phone has no room.
const WIDE: &str = "wide";

impl Columns {
    fn from_view(view: &View) -> Self {
        Self {
            bars: view.measured().count() > 1,
            scale: Scale::from_view(view),
            by_time: ranked::by_time(view),
            ratios: ranked::has_ratios(view),
            services: view.measured().any(|row| row.usage.services_cores.is_some()),
            packed: view.measured().any(|row| row.packed.is_some()),
            errors: view.measured().any(|row| row.error_fraction.is_some_and(|part| part > 0.0)),
        }
    }

    const fn error_class(&self) -> &'static str {
        if self.errors { WIDE } else { EXTRA }
    }

    fn heads(&self, view: &View) -> Markup {
        let [ranked, first, second] =
            if self.by_time { ["p99", "Requests/s", "p50"] } else { ["Requests/s", "p50", "p99"] };
        html! {
            tr {
                (th("#", WIDE)) th scope="col" { "Target" } @if self.bars { th.wide scope="col" { "Bar" } } (th(ranked, ""))
                @if self.ratios { (th(if is_slower(view) { "Slower" } else { "Ratio" }, "")) }
                (th(first, WIDE)) (th(second, WIDE)) (th("CPU per request", WIDE)) (th("Memory", WIDE))
                (th("Errors", self.error_class())) th scope="col" { "Verdict" }
                (th("95 % interval", EXTRA)) (th("max", EXTRA)) (th("CPU", EXTRA)) th.extra scope="col" { "CPU per request, more" }
                @if self.services { (th("Services", EXTRA)) } (th("Generator", EXTRA)) @if self.packed { (th("Packed", EXTRA)) }
            }
        }
    }

    fn line(&self, view: &View, row: &Row) -> Markup {
        let span = span_of(row);
        let invalid = row.verdict == Some(Verdict::Invalid);
        let rate = row.goodput_per_s.map(|figure| figure.median);
        let ranked = row.ranked.map(|figure| figure.median);
        html! {
            tr .invalid[invalid] data-language=(row.target.language) data-kind=(choice::kind(row)) {
                (cell(WIDE, row.standing.rank.map(f64::from), &row.rank_in_words()))
                (name(row))
                @if self.bars { td.wide.bars data-value=[ranked] { (bar::render(row, self.scale)) } }
                (cell("", ranked, &ranked::median(view, row)))
                @if self.ratios { (slower(view, row)) }
                @if self.by_time { (cell(WIDE, rate, &words::count(rate))) (time(WIDE, span.p50_ns)) } @else { (time(WIDE, span.p50_ns)) (time(WIDE, span.p99_ns)) }
                (cell(WIDE, row.cpu_s_per_million.map(|figure| figure.median), &words::cpu_a_request(row.cpu_s_per_million.map(|figure| figure.median))))
                (cell(WIDE, row.usage.target_memory_bytes, &words::bytes(row.usage.target_memory_bytes.map(|bytes| bytes as u64))))
                (cell(self.error_class(), row.error_fraction, &row.error_fraction.map_or_else(|| words::UNKNOWN.into(), words::percent)))
                (verdict(row))
                (interval(view, row))
                (time(EXTRA, span.max_ns))
                (cell(EXTRA, row.usage.target_cores, &words::cores(row.usage.target_cores)))
                td.extra { (cpu_a_request(view, row)) }
                @if self.services { (cell(EXTRA, row.usage.services_cores, &words::cores(row.usage.services_cores))) }
                (cell(EXTRA, row.usage.generator_cores, &words::cores(row.usage.generator_cores)))
                @if self.packed { (cell(EXTRA, row.packed, &row.packed.map_or_else(|| words::UNKNOWN.into(), words::percent))) }
            }
        }
    }
}

fn th(title: &str, class: &str) -> Markup {
    html! { th scope="col" class=(format!("number {class}")) { (title) } }
}

/// The target, and in grey what it is.
fn name(row: &Row) -> Markup {
    html! {
        th scope="row" data-value=(row.target) {
            span.phone { (row.rank_in_words()) ". " } span.name { (breakable(&row.target)) }
            @if let Some(Step::Connections { count }) = row.step { " " span.what { "best at " (count) " connections" } }
            @else if let (Some(Step::Rate { per_s }), Some(_)) = (row.step, row.at_rates()) { " " span.what { "at " (words::count(Some(per_s))) " requests/s" } }
            @else if let Some(framework) = &row.framework { " " span.what { (framework) } }
            @if let Some(spoken) = &row.spoken { " " span.what { (spoken) } }
        }
    }
}

fn verdict(row: &Row) -> Markup {
    html! {
        td.verdict {
            @if let Some(verdict) = row.verdict { (badge(verdict)) }
            @if let Some(doubt) = row.main_doubt() { " " span.what.wide { (doubt) } }
            @if !row.invalid_repetitions.is_empty() && (row.invalid_repetitions.len() as u32) < row.trials { span.sub { (words::in_trials(&row.invalid_repetitions, row.trials)) } }
        }
    }
}

/// The interval of the ranked figure, and how far it reaches.
fn interval(view: &View, row: &Row) -> Markup {
    let reach = ranked::reach(row);
    html! {
        td.number.extra data-value=[reach.map(|(below, above)| above.max(-below))] {
            @if let Some(interval) = row.ranked.and_then(|figure| figure.interval) {
                (ranked::text(view, Some(interval.low))) " – " (ranked::text(view, Some(interval.high)))
                @if let Some(reach) = reach.map(words::reach) { " (" @if !reach.starts_with(['-', '>']) { "± " } (reach) ")" }
            } @else { (words::UNKNOWN) }
        }
    }
}

/// Whether ratios are to the first row, so that they are told as how many times slower others are.
fn is_slower(view: &View) -> bool {
    view.run.reference.is_some()
        && view
            .measured()
            .next()
            .is_some_and(|row| Some(&row.target) == view.run.reference.as_ref())
}

/// How many times slower than the first row, or the ratio to the reference, with the interval.
fn slower(view: &View, row: &Row) -> Markup {
    let figure = view.run.ranked_by.figure();
    let found = row.standing.to_reference.and_then(|to| to.ratio(figure));
    let found =
        found.map(
            |ratio| if is_slower(view) && !ranked::by_time(view) { ratio.inverse() } else { ratio },
        );
    let own = match found {
        _ if view.run.reference.as_ref() == Some(&row.target) => "1".into(),
        Some(ratio) => words::ratio_within(&ratio),
        None => words::UNKNOWN.into(),
    };
    let (value, within) = own.split_once(' ').unwrap_or((&own, ""));
    let times = if found.is_some() || value == "1" { "×" } else { "" };
    html! { td.number data-value=[found.map(|ratio| ratio.value)] { (value) (times) @if !within.is_empty() { " " span.what.wide { (within.trim_matches(['(', ')'])) } } } }
}

/// The interval of the CPU time of a request, its rank and its ratio to the reference.
fn cpu_a_request(view: &View, row: &Row) -> Markup {
    let reach = row.cpu_s_per_million.and_then(ranked::reach_of).map(words::reach);
    let has_rank = ranked::has_cpu_ranks(view) && row.standing.cpu_rank.is_some();
    let reach =
        reach.map(|reach| if reach.starts_with(['-', '>']) { reach } else { format!("± {reach}") });
    let parts = [
        reach,
        has_rank.then(|| format!("rank {}", row.cpu_rank_in_words())),
        has_rank.then(|| {
            format!("ratio {}", row.to_reference_in_words(view.run.reference.as_ref(), Figure::Cpu))
        }),
        row.cpu_with_services()
            .map(|all| format!("with services {}", words::cpu_a_request(Some(all)))),
    ];
    html! { (parts.into_iter().flatten().collect::<Vec<_>>().join(", ")) }
}

fn cell(class: &str, value: Option<f64>, text: &str) -> Markup {
    html! { td class=(format!("number {class}")) data-value=[value] { (text) } }
}

fn time(class: &str, ns: Option<u64>) -> Markup {
    cell(class, ns.map(|ns| ns as f64), &words::ns(ns))
}

/// A verdict with its own mark, not only a colour.
#[must_use]
pub fn badge(verdict: Verdict) -> Markup {
    let (class, mark) = match verdict {
        Verdict::Valid => ("valid", "✓"),
        Verdict::Suspect => ("suspect", "?"),
        Verdict::Invalid => ("invalid", "✕"),
    };
    html! { span class=(format!("badge {class}")) { span aria-hidden="true" { (mark) } " " (verdict) } }
}
