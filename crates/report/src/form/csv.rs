//! The result as CSV (RFC 4180): one row for each target, and one for each step of a sweep, of
//! several rates or of a capacity search, and for each scenario of a mix. The column names include the unit; unknown is empty. Time spans, counters and
//! errors are those of the register of figures; docs/formats.md describes the columns.
use pippin_model::figure::{Counter, Figure, Span, counters};
use pippin_model::result::ErrorKind;
use pippin_model::result::histogram::Summary;
use pippin_model::trial::Step;
use pippin_stats::series::course::CourseClass;
use pippin_stats::summary::Estimate;

use crate::form::{Form, Write};
use crate::view::View;
use crate::view::life::{self, LifeFigure};
use crate::view::row::Row;
use crate::view::sweep::Point;
use crate::view::walks::WayView;

/// This form.
pub const FORM: Form = Form {
    name: "csv",
    about: "One row for each target and step",
    media_type: "text/csv; charset=utf-8",
    extension: "csv",
    write: Write::View(|view| Ok(render(view).into_bytes())),
};

/// What a cell holds.
type Cell = Box<dyn Fn(&View, &Row) -> String>;

/// A column: its name, and what it holds of a row.
struct Column {
    name: String,
    cell: Cell,
}

fn column(name: impl Into<String>, cell: impl Fn(&View, &Row) -> String + 'static) -> Column {
    Column { name: name.into(), cell: Box::new(cell) }
}

/// The names of all columns, in their order.
#[must_use]
pub fn names() -> Vec<String> {
    columns().into_iter().map(|column| column.name).collect()
}

fn columns() -> Vec<Column> {
    let groups = [
        ranking(),
        estimates(),
        ratios(),
        Span::ALL.iter().flat_map(|span| span_columns(*span)).collect(),
        counters().map(counter_column).collect(),
        errors(),
        costs(),
        rest(),
        walks(),
        lives(),
        limits(),
    ];
    groups.into_iter().flatten().collect()
}

/// Only in the rows of the scenarios of a mix ([`of_way`]).
fn walks() -> Vec<Column> {
    let names = ["scenario", "walks", "walks_whole", "walks_whole_per_s", "walk_mean_ns"];
    names.map(|name| column(name, |_, _| String::new())).into()
}

/// The run as CSV, with a line of column names.
#[must_use]
pub fn render(view: &View) -> String {
    let columns = columns();
    let mut out = String::new();
    record(&mut out, columns.iter().map(|column| column.name.clone()));
    for row in &view.rows {
        record(&mut out, columns.iter().map(|column| (column.cell)(view, row)));
        for point in row
            .sweep
            .iter()
            .flat_map(|sweep| &sweep.points)
            .filter(|point| Some(point.at) != row.step)
        {
            record(&mut out, columns.iter().map(|column| of_step(&column.name, view, row, point)));
        }
        for way in row.mix.iter().filter(|way| way.name.is_some()) {
            record(&mut out, columns.iter().map(|column| of_way(&column.name, view, row, way)));
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

/// A figure that is known only of a target with a result.
fn counted<T: ToString>(row: &Row, value: T) -> String {
    cell(row.goodput_per_s.is_some().then_some(value))
}

fn ranking() -> Vec<Column> {
    let mut columns = vec![
        column("run", |view, _| view.run.id.clone()),
        column("trust", |view, _| view.trust.answer.word().to_lowercase()),
        column("plan", |view, _| view.plan.id.clone()),
        column("target", |_, row| row.target.to_string()),
        column("step", |_, row| cell(row.step.map(Step::size))),
        column("rank", |_, row| cell(row.standing.rank)),
        column("rank_worst", |_, row| cell(row.standing.rank_interval.map(|rank| rank.worst))),
        column("ranked_by", |view, _| view.run.ranked_by.name().into()),
    ];
    columns.extend(estimate("ranked", "", |row| row.ranked));
    columns.extend([
        column("unsure", |_, row| row.unsure.to_string()),
        column("at_least", |_, row| row.at_least.to_string()),
        column("verdict", |_, row| cell(row.verdict)),
        column("trials", |_, row| row.trials.to_string()),
        column("measured", |_, row| row.measured.to_string()),
        column("reference", |view, _| cell(view.run.reference.as_ref())),
    ]);
    columns
}

/// A figure over the repetitions: its median, and the ends of its interval.
fn estimate(name: &str, unit: &str, of: fn(&Row) -> Option<Estimate>) -> [Column; 3] {
    let interval = move |row: &Row| of(row).and_then(|found| found.interval);
    [
        column(format!("{name}{unit}"), move |_, row| cell(of(row).map(|found| found.median))),
        column(format!("{name}_low{unit}"), move |_, row| cell(interval(row).map(|i| i.low))),
        column(format!("{name}_high{unit}"), move |_, row| cell(interval(row).map(|i| i.high))),
    ]
}

fn estimates() -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    columns.extend(estimate("goodput", "_per_s", |row| row.goodput_per_s));
    columns.extend([
        column("goodput_best_per_s", |_, row| cell(row.goodput_per_s.map(|found| found.best))),
        column("goodput_worst_per_s", |_, row| cell(row.goodput_per_s.map(|found| found.worst))),
    ]);
    columns.extend(estimate("throughput", "_per_s", |row| row.throughput_per_s));
    columns.extend(estimate("p50", "_ns", |row| row.response_p50_ns));
    columns.extend(estimate("p99", "_ns", |row| row.response_p99_ns));
    columns.extend(estimate("cpu", "_s_per_million", |row| row.cpu_s_per_million));
    columns
}

/// The figures of a comparison over those of the reference, with the ends of their intervals.
fn ratios() -> Vec<Column> {
    let compared = Figure::COMPARED.into_iter().filter(|figure| *figure != Figure::Memory);
    let ratio = |figure: Figure| {
        let of = move |row: &Row| row.standing.to_reference.and_then(|to| to.ratio(figure));
        let interval = move |row: &Row| of(row).map(|ratio| ratio.interval);
        [
            column(format!("{figure}_ratio"), move |_, row| cell(of(row).map(|it| it.value))),
            column(format!("{figure}_ratio_low"), move |_, row| cell(interval(row).map(|i| i.low))),
            column(format!("{figure}_ratio_high"), move |_, row| {
                cell(interval(row).map(|i| i.high))
            }),
        ]
    };
    compared.flat_map(ratio).collect()
}

/// A point of a summary, by its name in columns.
type Named = (&'static str, fn(&Summary) -> Option<f64>);

/// The points of a time span that have a column.
const POINTS: [Named; 6] = [
    ("mean", |span| span.mean_ns),
    ("p50", |span| span.p50_ns.map(|ns| ns as f64)),
    ("p90", |span| span.p90_ns.map(|ns| ns as f64)),
    ("p99", |span| span.p99_ns.map(|ns| ns as f64)),
    ("p999", |span| span.p999_ns.map(|ns| ns as f64)),
    ("max", |span| span.max_ns.map(|ns| ns as f64)),
];

fn span_columns(span: Span) -> impl Iterator<Item = Column> {
    POINTS.into_iter().map(move |(name, read)| {
        column(format!("{}_{name}_ns", span.name()), move |_, row| {
            cell(read(span.summary(&row.spans)))
        })
    })
}

fn counter_column(counter: &'static Counter) -> Column {
    column(counter.name, |_, row| counted(row, (counter.read)(&row.counter_sets())))
}

fn errors() -> Vec<Column> {
    let of_kind = |kind: ErrorKind| {
        column(format!("errors_{}", kind.name()), move |_, row| {
            counted(row, row.errors.get(&kind).copied().unwrap_or(0))
        })
    };
    let mut columns = vec![
        column("status_codes", |_, row| {
            let codes = row.status.codes.iter().map(|(code, count)| format!("{code}:{count}"));
            codes.collect::<Vec<_>>().join(" ")
        }),
        column("errors", |_, row| counted(row, row.errors.values().sum::<u64>())),
        column("error_fraction", |_, row| cell(row.error_fraction)),
    ];
    columns.extend(ErrorKind::ALL.into_iter().map(of_kind));
    columns
}

fn costs() -> Vec<Column> {
    vec![
        column("target_cores", |_, row| cell(row.usage.target_cores)),
        column("services_cores", |_, row| cell(row.usage.services_cores)),
        column("generator_cores", |_, row| cell(row.usage.generator_cores)),
        column("target_memory_bytes", |_, row| cell(row.usage.target_memory_bytes)),
        column("achieved", |_, row| cell(own_point(row).and_then(|point| point.achieved))),
        column("rest_cores", |_, row| cell(row.at_rates().and_then(|(_, it)| it.rest_cores))),
        column("rest_memory_bytes", |_, row| {
            cell(row.at_rates().and_then(|(_, it)| it.rest_memory_bytes))
        }),
        column("kept_per_s", |_, row| cell(row.at_rates().and_then(|(_, it)| it.kept_per_s))),
        column("missed_per_s", |_, row| cell(row.at_rates().and_then(|(_, it)| it.missed_per_s))),
        column("knee_per_s", |_, row| cell(row.knee().map(|knee| knee.per_s))),
        column("knee_low_per_s", |_, row| cell(row.knee().and_then(|knee| knee.low_per_s))),
        column("knee_high_per_s", |_, row| cell(row.knee().and_then(|knee| knee.high_per_s))),
        column("target_rss_bytes", |_, row| cell(row.usage.target_rss_bytes)),
        column("cpu_rank", |_, row| cell(row.standing.cpu_rank)),
        column("cpu_rank_worst", |_, row| {
            cell(row.standing.cpu_rank_interval.map(|rank| rank.worst))
        }),
    ]
}

fn rest() -> Vec<Column> {
    vec![
        column("slices", |_, row| cell(row.slices.as_ref().map(|slices| slices.made))),
        column("slices_calm", |_, row| cell(row.slices.as_ref().map(|slices| slices.calm))),
        column("start_up_ns", |_, row| cell(row.start_up_ns)),
        column("warm_up_class", |_, row| {
            cell(row.warm_ups.as_ref().and_then(|it| it.class.map(CourseClass::name)))
        }),
        column("warm_up_steady_ns", |_, row| {
            cell(row.warm_ups.as_ref().and_then(|it| it.steady_after_ns).map(|[middle, ..]| middle))
        }),
        column("instructions_per_request", |_, row| cell(row.instructions_per_request)),
        column("packed", |_, row| cell(row.packed)),
        column("events_per_s", |_, row| cell(row.events_per_s)),
        column("caveats", |_, row| {
            let ids: Vec<&str> =
                row.caveats.iter().map(|counted| counted.caveat.id.as_str()).collect();
            ids.join(" ")
        }),
        column("failure", |_, row| {
            let failure = row.failure.as_ref();
            cell(failure.map(|failure| format!("{}: {}", failure.stage.name(), failure.message)))
        }),
    ]
}

fn lives() -> Vec<Column> {
    let column_of = |figure: &'static LifeFigure| {
        column(format!("life_{}", figure.name), move |view, row| {
            let life = view.lives.iter().find(|life| life.target == row.target);
            cell(life.and_then(|life| figure.value(life)))
        })
    };
    life::FIGURES.iter().map(column_of).collect()
}

/// What each target might use at the most; empty without a limit.
fn limits() -> Vec<Column> {
    vec![
        column("limit_cpus", |view, _| cell(view.plan.limits.cpus)),
        column("limit_memory_bytes", |view, _| cell(view.plan.limits.memory_bytes)),
    ]
}

/// The point of the headline.
fn own_point(row: &Row) -> Option<&Point> {
    row.sweep.as_ref()?.points.iter().find(|point| Some(point.at) == row.step)
}

/// The response time in its columns; `None` in others.
fn of_response(column: &str, times: &Summary) -> Option<String> {
    let name = column.strip_prefix("response_time_")?.strip_suffix("_ns")?;
    let (_, read) = POINTS.iter().find(|(known, _)| *known == name)?;
    Some(cell(read(times)))
}

/// A scenario of a mix: its figures as far as each has its own.
fn of_way(column: &str, view: &View, row: &Row, way: &WayView) -> String {
    if let Some(found) = of_response(column, &way.response_time) {
        return found;
    }
    match column {
        "run" => view.run.id.clone(),
        "trust" => view.trust.answer.word().to_lowercase(),
        "plan" => view.plan.id.clone(),
        "target" => row.target.to_string(),
        "step" => cell(row.step.map(Step::size)),
        "goodput_per_s" => cell(way.goodput_per_s),
        "errors" => way.errors.to_string(),
        "scenario" => cell(way.name.as_ref()),
        "walks" => way.walks.to_string(),
        "walks_whole" => way.whole.to_string(),
        "walks_whole_per_s" => cell(way.whole_per_s),
        "walk_mean_ns" => cell(way.mean_walk_ns),
        _ => String::new(),
    }
}

/// A step other than the headline: its figures as far as they are known.
fn of_step(column: &str, view: &View, row: &Row, point: &Point) -> String {
    if let Some(found) = of_response(column, &point.response_time) {
        return found;
    }
    match column {
        "run" => view.run.id.clone(),
        "trust" => view.trust.answer.word().to_lowercase(),
        "plan" => view.plan.id.clone(),
        "target" => row.target.to_string(),
        "step" => point.at.size().to_string(),
        "verdict" => point.verdict.to_string(),
        "goodput_per_s" => cell(point.goodput_per_s),
        "errors" => point.errors.to_string(),
        "target_cores" => cell(point.target_cores),
        "target_memory_bytes" => cell(point.memory_bytes),
        "cpu_s_per_million" => cell(point.cpu_s_per_million),
        "achieved" => cell(point.achieved),
        _ => String::new(),
    }
}
