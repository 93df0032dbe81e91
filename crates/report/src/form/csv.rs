//! The result as CSV (RFC 4180): one row for each target, and one for each step of a sweep or a
//! capacity search. The column names include the unit; unknown is empty; docs/formats.md describes
//! the columns.
use pippin_model::result::histogram::Summary;
use pippin_stats::compare::Metric;
use pippin_stats::summary::Figure;

use crate::form::{Form, Write};
use crate::view::View;
use crate::view::row::Row;
use crate::view::sweep::{Point, size};

/// This form.
pub const FORM: Form = Form {
    name: "csv",
    about: "One row for each target and step",
    media_type: "text/csv; charset=utf-8",
    extension: "csv",
    write: Write::View(|view| Ok(of(view).into_bytes())),
};

/// The columns. A test compares them with docs/formats.md.
pub const COLUMNS: [&str; 73] = [
    "run",
    "trust",
    "plan",
    "target",
    "step",
    "rank",
    "rank_worst",
    "ranked_by",
    "ranked",
    "ranked_low",
    "ranked_high",
    "unsure",
    "at_least",
    "verdict",
    "trials",
    "measured",
    "goodput_per_s",
    "goodput_low_per_s",
    "goodput_high_per_s",
    "goodput_best_per_s",
    "goodput_worst_per_s",
    "reference",
    "goodput_ratio",
    "goodput_ratio_low",
    "goodput_ratio_high",
    "throughput_per_s",
    "throughput_low_per_s",
    "throughput_high_per_s",
    "service_p50_ns",
    "service_p99_ns",
    "service_max_ns",
    "response_mean_ns",
    "response_p50_ns",
    "response_p50_low_ns",
    "response_p50_high_ns",
    "p50_ratio",
    "p50_ratio_low",
    "p50_ratio_high",
    "response_p90_ns",
    "response_p99_ns",
    "response_p99_low_ns",
    "response_p99_high_ns",
    "p99_ratio",
    "p99_ratio_low",
    "p99_ratio_high",
    "response_p999_ns",
    "response_max_ns",
    "connect_p50_ns",
    "headers_p50_ns",
    "body_p50_ns",
    "send_lag_p99_ns",
    "requests_completed",
    "requests_failed",
    "requests_censored",
    "errors",
    "error_fraction",
    "target_cores",
    "services_cores",
    "generator_cores",
    "target_rss_bytes",
    "target_cpu_s_per_million",
    "target_cpu_low_s_per_million",
    "target_cpu_high_s_per_million",
    "cpu_rank",
    "cpu_rank_worst",
    "cpu_ratio",
    "cpu_ratio_low",
    "cpu_ratio_high",
    "slices",
    "slices_calm",
    "start_up_ns",
    "caveats",
    "failure",
];

/// The run as CSV, with a line of column names.
#[must_use]
pub fn of(view: &View) -> String {
    let mut out = String::new();
    record(&mut out, COLUMNS.iter().map(|column| (*column).to_string()));
    for row in &view.rows {
        record(&mut out, headline(view, row));
        for point in row
            .sweep
            .iter()
            .flat_map(|sweep| &sweep.points)
            .filter(|point| Some(point.at) != row.step)
        {
            record(&mut out, step(view, row, point));
        }
    }
    out
}

fn record(out: &mut String, cells: impl IntoIterator<Item = String>) {
    let quoted: Vec<String> = cells.into_iter().map(quote).collect();
    out.push_str(&quoted.join(","));
    out.push_str("\r\n");
}

fn quote(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

fn cell<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn headline(view: &View, row: &Row) -> Vec<String> {
    [ranking(view, row), goodput(view, row), times(row), counts(row), costs(row)].concat()
}

fn ranking(view: &View, row: &Row) -> Vec<String> {
    let cells = [
        view.run.id.clone(),
        view.trust.answer.word().to_lowercase(),
        view.plan.id.clone(),
        row.target.to_string(),
        cell(row.step.map(size)),
        cell(row.standing.rank),
        cell(row.standing.rank_interval.map(|rank| rank.worst)),
        view.run.ranked_by.name().to_string(),
        cell(row.ranked.map(|figure| figure.median)),
    ];
    let marks = [row.unsure.to_string(), row.at_least.to_string()];
    cells.into_iter().chain(ends(row.ranked)).chain(marks).collect()
}

fn goodput(view: &View, row: &Row) -> Vec<String> {
    let figure = row.goodput_per_s;
    let mut cells = vec![
        cell(row.verdict),
        row.trials.to_string(),
        row.measured.to_string(),
        cell(figure.map(|f| f.median)),
    ];
    cells.extend(ends(figure));
    cells.extend([
        cell(figure.map(|f| f.best)),
        cell(figure.map(|f| f.worst)),
        cell(view.run.reference.as_ref()),
    ]);
    cells.extend(ratio(row, Metric::Goodput));
    cells.push(cell(row.throughput_per_s.map(|f| f.median)));
    cells.extend(ends(row.throughput_per_s));
    cells
}

fn times(row: &Row) -> Vec<String> {
    let (service, response): (&Summary, &Summary) =
        (&row.spans.service_time, &row.spans.response_time);
    let mut cells = vec![
        cell(service.p50_ns),
        cell(service.p99_ns),
        cell(service.max_ns),
        cell(response.mean_ns),
        cell(response.p50_ns),
    ];
    cells.extend(ends(row.response_p50_ns));
    cells.extend(ratio(row, Metric::P50));
    cells.extend([cell(response.p90_ns), cell(response.p99_ns)]);
    cells.extend(ends(row.response_p99_ns));
    cells.extend(ratio(row, Metric::P99));
    cells.extend([
        cell(response.p999_ns),
        cell(response.max_ns),
        cell(row.spans.connect.p50_ns),
        cell(row.spans.headers.p50_ns),
        cell(row.spans.body.p50_ns),
        cell(row.spans.send_lag.p99_ns),
    ]);
    cells
}

fn counts(row: &Row) -> Vec<String> {
    let known = row.goodput_per_s.is_some();
    let counted = |count: u64| cell(known.then_some(count));
    vec![
        counted(row.requests.completed),
        counted(row.requests.failed),
        counted(row.requests.censored),
        counted(row.errors.values().sum()),
        cell(row.error_fraction),
    ]
}

fn costs(row: &Row) -> Vec<String> {
    let failure = row
        .failure
        .as_ref()
        .map(|failure| format!("{}: {}", failure.stage.name(), failure.message));
    let caveats: Vec<&str> = row.caveats.iter().map(|counted| counted.caveat.id.as_str()).collect();
    let mut cells = vec![
        cell(row.usage.target_cores),
        cell(row.usage.services_cores),
        cell(row.usage.generator_cores),
        cell(row.usage.target_rss_bytes),
        cell(row.cost.target_cpu_s_per_million),
    ];
    cells.extend(ends(row.cpu_s_per_million));
    cells.extend([
        cell(row.standing.cpu_rank),
        cell(row.standing.cpu_rank_interval.map(|rank| rank.worst)),
    ]);
    cells.extend(ratio(row, Metric::Cpu));
    cells.extend([
        cell(row.slices.as_ref().map(|slices| slices.made)),
        cell(row.slices.as_ref().map(|slices| slices.calm)),
        cell(row.start_up_ns),
        caveats.join(" "),
        cell(failure),
    ]);
    cells
}

/// A ratio to the reference and the ends of its interval.
fn ratio(row: &Row, metric: Metric) -> [String; 3] {
    let found = row.standing.to_reference.and_then(|to| to.of(metric));
    let interval = found.map(|ratio| ratio.interval);
    [
        cell(found.map(|ratio| ratio.value)),
        cell(interval.map(|interval| interval.low)),
        cell(interval.map(|interval| interval.high)),
    ]
}

/// The ends of a figure's interval.
fn ends(figure: Option<Figure>) -> [String; 2] {
    let interval = figure.and_then(|figure| figure.interval);
    [cell(interval.map(|interval| interval.low)), cell(interval.map(|interval| interval.high))]
}

/// A step other than the headline: its figures as far as they are known.
fn step(view: &View, row: &Row, point: &Point) -> Vec<String> {
    let response = &point.response_time;
    let known = [
        ("run", view.run.id.clone()),
        ("trust", view.trust.answer.word().to_lowercase()),
        ("plan", view.plan.id.clone()),
        ("target", row.target.to_string()),
        ("step", size(point.at).to_string()),
        ("verdict", point.verdict.to_string()),
        ("goodput_per_s", cell(point.goodput_per_s)),
        ("response_mean_ns", cell(response.mean_ns)),
        ("response_p50_ns", cell(response.p50_ns)),
        ("response_p90_ns", cell(response.p90_ns)),
        ("response_p99_ns", cell(response.p99_ns)),
        ("response_p999_ns", cell(response.p999_ns)),
        ("response_max_ns", cell(response.max_ns)),
        ("errors", point.errors.to_string()),
        ("target_cores", cell(point.target_cores)),
    ];
    let of = |column: &str| {
        known
            .iter()
            .find(|(name, _)| *name == column)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    };
    COLUMNS.iter().map(|column| of(column)).collect()
}
