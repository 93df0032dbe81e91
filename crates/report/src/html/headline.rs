//! The ranked table.
use maud::{Markup, html};
use pippin_model::figure::Figure;
use pippin_model::trial::Step;
use pippin_model::verdict::Verdict;

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
    let by_time = ranked::by_time(view);
    let [ranked, first, second] =
        if by_time { ["p99", "Requests/s", "p50"] } else { ["Requests/s", "p50", "p99"] };
    let services = view.measured().any(|row| row.usage.services_cores.is_some());
    let ratios = ranked::has_ratios(view);
    html! {
        section id="results" {
            h2 { "Results" }
            p.conclusion { (view.conclusion) }
            p.hint id="results-note" {
                @if by_time { (ranked::legend(view)) " With its 95 % interval. " }
                @else { "Complete and right answers per second, median of the repetitions with its 95 % interval. " }
                "Response time over all repetitions. CPU: 100 % is one core, of the whole process tree."
                @if let Some(ratios) = ranked::ratio_legend(view) { " " (ratios) }
            }
            (choice::tools(view))
            div.scroll tabindex="0" role="region" aria-label="Results, scrolls sideways" {
                table.sortable.headline aria-describedby="results-note" {
                    thead {
                        tr {
                            (th("#", true)) (th("Target", false)) (th("Verdict", false)) (th(ranked, true)) (th("95 % interval", true)) @if ratios { (th("Ratio", true)) }
                            (th(first, true)) (th(second, true)) (th("max", true)) (th("Errors", true))
                            (th("CPU", true)) (th("CPU a request", true)) @if services { (th("Services", true)) } (th("Memory", true)) (th("Generator", true))
                        }
                    }
                    tbody { @for row in view.measured() { (line(view, row, services)) } }
                }
            }
            @if view.measured().any(|row| row.standing.rank.is_none()) { p.hint { "Struck through: INVALID. Such a figure is not what it claims to be, and is not ranked; the reason stands below." } }
        }
    }
}

fn th(title: &str, number: bool) -> Markup {
    html! { th scope="col" .number[number] { (title) } }
}

fn line(view: &View, row: &Row, services: bool) -> Markup {
    let span = span_of(row);
    let invalid = row.verdict == Some(Verdict::Invalid);
    let rate = row.goodput_per_s.map(|figure| figure.median);
    let interval = row.ranked.and_then(|figure| figure.interval);
    let reach = ranked::reach(row);
    html! {
        tr .invalid[invalid] data-language=(row.target.language) data-kind=(choice::kind(row)) {
            (cell(row.standing.rank.map(f64::from), &row.rank_in_words()))
            th scope="row" data-value=(row.target) {
                span.phone { (row.rank_in_words()) ". " } span.name { (breakable(&row.target)) }
                @if let Some(Step::Connections { count }) = row.step { span.sub { "best at " (count) " connections" } }
                @else if let Some(framework) = &row.framework { span.sub { (framework) } }
                @if let Some(spoken) = &row.spoken { span.sub { (spoken) } }
            }
            td {
                @if let Some(verdict) = row.verdict { (badge(verdict)) }
                @if let Some(doubt) = row.main_doubt() { span.sub { (doubt) } }
                @if !row.invalid_repetitions.is_empty() && (row.invalid_repetitions.len() as u32) < row.trials { span.sub { (words::in_trials(&row.invalid_repetitions, row.trials)) } }
            }
            (cell(row.ranked.map(|figure| figure.median), &ranked::median(view, row)))
            td.number data-value=[reach.map(|(below, above)| above.max(-below))] {
                @if let Some(interval) = interval { (ranked::text(view, Some(interval.low))) " – " (ranked::text(view, Some(interval.high))) @if let Some(reach) = reach.map(words::reach) { span.sub { @if !reach.starts_with(['-', '>']) { "± " } (reach) } } }
                @else { (words::UNKNOWN) }
            }
            @if ranked::has_ratios(view) { (ratio(view, row, view.run.ranked_by.figure())) }
            @if ranked::by_time(view) { (cell(rate, &words::count(rate))) (time(span.p50_ns)) } @else { (time(span.p50_ns)) (time(span.p99_ns)) }
            (time(span.max_ns))
            (cell(row.error_fraction, &row.error_fraction.map_or_else(|| words::UNKNOWN.into(), words::percent)))
            (cell(row.usage.target_cores, &words::cores(row.usage.target_cores)))
            (cpu_a_request(view, row))
            @if services { (cell(row.usage.services_cores, &words::cores(row.usage.services_cores))) }
            (cell(row.usage.target_memory_bytes, &words::bytes(row.usage.target_memory_bytes.map(|bytes| bytes as u64))))
            (cell(row.usage.generator_cores, &words::cores(row.usage.generator_cores)))
        }
    }
}

/// A ratio to the reference with its interval below.
fn ratio(view: &View, row: &Row, figure: Figure) -> Markup {
    let found = row.standing.to_reference.and_then(|to| to.of(figure));
    let own = row.to_reference_in_words(view.run.reference.as_ref(), figure);
    let (value, within) = own.split_once(' ').unwrap_or((&own, ""));
    html! { td.number data-value=[found.map(|ratio| ratio.value)] { (value) @if !within.is_empty() { span.sub { (within.trim_matches(['(', ')'])) } } } }
}

/// CPU time of a request with its interval, its rank and its ratio to the reference below; on paper
/// the chart of the ratios stands for the last two.
fn cpu_a_request(view: &View, row: &Row) -> Markup {
    let cpu = row.cpu_s_per_million;
    let reach = cpu.and_then(ranked::reach_of).map(words::reach);
    html! {
        td.number data-value=[cpu.map(|figure| figure.median)] {
            (words::cpu_a_request(cpu.map(|figure| figure.median)))
            @let ranked = ranked::has_cpu_ranks(view) && row.standing.cpu_rank.is_some();
            @if let Some(reach) = reach { span.sub { @if !reach.starts_with(['-', '>']) { "± " } (reach) @if ranked { span.on-screen { ", rank " (row.cpu_rank_in_words()) } } } }
            @if let Some(with_services) = row.cpu_with_services() { span.sub { "with services " (words::cpu_a_request(Some(with_services))) } }
            @if ranked { span.sub.on-screen { "ratio " (row.to_reference_in_words(view.run.reference.as_ref(), Figure::Cpu)) } }
        }
    }
}

fn cell(value: Option<f64>, text: &str) -> Markup {
    html! { td.number data-value=[value] { (text) } }
}

fn time(ns: Option<u64>) -> Markup {
    cell(ns.map(|ns| ns as f64), &words::ns(ns))
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
