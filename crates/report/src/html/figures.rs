//! Charts with alternative text and data tables.
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeSet;

use crate::chart::palette::stroke;
use crate::chart::plot::Plot;
use crate::chart::{Chart, DataTable};
use crate::view::View;
use crate::view::published::PublishedTable;

/// Charts at the top of the page: each is the answer of its kind of run.
pub const HEADLINE: [&str; 6] =
    ["ratio", "cpu-ratio", "sweep", "sweep-response", "rates-cpu-per-request", "rates-response"];
/// Charts that have their own sections.
const ELSEWHERE: [&str; 9] = [
    "published",
    "cost",
    "life-start",
    "life-memory",
    "overload",
    "overload-over-time",
    "scan",
    "scan-response",
    "scan-cpu",
];
/// Charts that compare targets with one bar for each: one bar alone says nothing.
const OF_SEVERAL: [&str; 3] = ["throughput", "split", "cost"];
/// Charts that are printed; the others are only for the screen.
const PRINTED: [&str; 19] = [
    "scan",
    "ratio",
    "cpu-ratio",
    "throughput",
    "percentiles",
    "response-over-time",
    "cpu-over-time",
    "sweep",
    "sweep-response",
    "rates-response",
    "rates-cpu",
    "rates-cpu-per-request",
    "rates-memory",
    "capacity",
    "overload",
    "overload-over-time",
    "devices",
    "life-start",
    "life-memory",
];

/// All charts that have no section of their own, with boxes to show and hide targets.
pub fn section(view: &View, charts: &[Chart]) -> Markup {
    let is_one = view.measured().count() == 1;
    let says_nothing = |chart: &Chart| is_one && OF_SEVERAL.contains(&chart.name.as_str());
    let is_here = |chart: &&Chart| !is_elsewhere(&chart.name) && !says_nothing(chart);
    let here: Vec<&Chart> = charts.iter().filter(is_here).collect();
    html! {
        @if !here.is_empty() {
            section id="charts" {
                h2 { "Charts" }
                @if view.measured().count() > 1 {
                    fieldset.show {
                        legend { "Show" }
                        @for (place, row) in view.measured().enumerate() {
                            label { input type="checkbox" id=(format!("show{place}")) checked; span.swatch style=(swatch(place)) {} (row.target) }
                        }
                    }
                }
                p.hint.on-screen { "Point at a chart to read its values. Drag over it to zoom; charts over time zoom together." }
                div.figures.pairs { @for chart in here { (figure(chart)) } }
            }
        }
    }
}

fn is_elsewhere(name: &str) -> bool {
    HEADLINE.contains(&name) || ELSEWHERE.contains(&name)
}

/// Of these, what the table and the ratios say too, or nobody can follow where there are many
/// targets: their page fits on few sheets without.
const NOT_OF_MANY: [&str; 2] = ["throughput", "cpu-over-time"];
/// Targets up to which all that is worth paper is printed.
const FEW: usize = 8;

fn is_printed(chart: &Chart) -> bool {
    let name = chart.name.as_str();
    let targets: BTreeSet<&String> =
        chart.table.rows.iter().filter_map(|row| row.first()).collect();
    let is_too_much = targets.len() > FEW && NOT_OF_MANY.contains(&name);
    let is_of_page = name.starts_with("history-") || name.starts_with("change-");
    (PRINTED.contains(&name) || is_of_page) && !is_too_much
}

/// The colour of a target's lines, with gaps if they have gaps: beyond the palette, two targets
/// have almost the same colour.
fn swatch(place: usize) -> String {
    let mut stops = Vec::new();
    let mut from = 0;
    for (nth, length) in stroke(place).dashes().iter().enumerate() {
        let to = from + length;
        let what = if nth % 2 == 0 { format!("var(--s{place})") } else { "transparent".into() };
        stops.push(format!("{what} {from}px {to}px"));
        from = to;
    }
    if stops.is_empty() {
        return format!("background:var(--s{place})");
    }
    format!("background:repeating-linear-gradient(90deg,{})", stops.join(","))
}

/// The charts of these names.
pub fn render(charts: &[Chart], names: &[&str]) -> Markup {
    html! { div.figures { @for chart in charts.iter().filter(|chart| names.contains(&chart.name.as_str())) { (figure(chart)) } } }
}

/// What targets do beyond their capacity. The conclusion says it in words.
pub fn overload(view: &View, charts: &[Chart]) -> Markup {
    html! {
        @if view.rows.iter().any(|row| row.overload.is_some()) {
            section id="overload" {
                h2 { "Beyond the capacity" }
                (render(charts, &["overload", "overload-over-time"]))
            }
        }
    }
}

/// Published figures, with the differences between the experiments.
pub fn published(view: &View, charts: &[Chart]) -> Markup {
    let Some(table) = &view.published else { return html! {} };
    html! {
        section id="published" {
            h2 { "Beside the published figures" }
            @for note in &table.notes { p.hint { "Published: " (note) } }
            (render(charts, &["published"]))
            (other_columns_published(table))
            @if !table.differs.is_empty() { h3 { "What differs" } ul { @for differs in &table.differs { li { (differs) } } } }
            @if table.rows.iter().any(|row| !row.remarks.is_empty()) {
                h3 { "What was published in words" }
                ul { @for row in table.rows.iter().filter(|row| !row.remarks.is_empty()) { li { (row.name) ": " (row.remarks.join("; ")) } } }
            }
        }
    }
}

/// A chart can only show one column.
fn other_columns_published(table: &PublishedTable) -> Markup {
    let Some((columns, rows)) = table.other_columns() else { return html! {} };
    html! { details { summary { "The other published columns, and yours" } (data(&DataTable { columns, rows })) } }
}

/// What a million requests cost.
pub fn cost(view: &View, charts: &[Chart]) -> Markup {
    html! { @if has_cost(view, charts) { section id="cost" { h2 { "Cost" } (render(charts, &["cost"])) } } }
}

/// Whether costs of several targets are known.
fn has_cost(view: &View, charts: &[Chart]) -> bool {
    view.measured().count() > 1 && charts.iter().any(|chart| chart.name == "cost")
}

/// One chart with its words and its table.
#[must_use]
pub fn figure(chart: &Chart) -> Markup {
    html! {
        figure .by-target[chart.lines_by_target] .screen-only[!is_printed(chart)] id=(format!("chart-{}", chart.name)) data-name=(chart.name) {
            div.heading {
                h3 { (chart.title) }
                div.save hidden { button type="button" data-save="svg" { "SVG" } button type="button" data-save="png" { "PNG" } }
            }
            div.chart role="img" aria-label=(chart.alternative) {
                div.wide aria-hidden="true" { (PreEscaped(&chart.drawings.wide)) }
                div.middle aria-hidden="true" { (PreEscaped(&chart.drawings.middle)) }
                div.narrow aria-hidden="true" { (PreEscaped(&chart.drawings.narrow)) }
            }
            @if let Some(plot) = &chart.plot { (for_the_browser(plot)) }
            figcaption { (chart.caption) }
            @if !chart.table.rows.is_empty() { details { summary { "The figures as a table" } (data(&chart.table)) } }
        }
    }
}

/// The data for the script. It is not executed.
fn for_the_browser(plot: &Plot) -> Markup {
    // Escape `<`, so that no text of a target can close the element.
    let json = serde_json::to_string(plot).unwrap_or_default().replace('<', "\\u003c");
    html! { script.plot-data type="application/json" { (PreEscaped(json)) } }
}

/// A table of figures.
pub fn data(table: &DataTable) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table, scrolls sideways" {
            table.sortable {
                thead { tr { @for (index, title) in table.columns.iter().enumerate() { th scope="col" .number[index > 0] { (title) } } } }
                tbody {
                    @for row in &table.rows {
                        tr { @for (index, cell) in row.iter().enumerate() { @if index == 0 { th scope="row" { (cell) } } @else { td.number { (cell) } } } }
                    }
                }
            }
        }
    }
}
