//! Sweeps: throughput and response time over connections, with the law, the knee and the
//! predictions. Capacity searches: over the offered rate.
use pippin_model::trial::Step;

use super::axis::{Axis, short, time};
use super::canvas::{Form, Line, lines};
use super::palette::{AXIS, Stroke, series, stroke};
use super::plot::{Plot, Unit};
use super::{Chart, DataTable, Drawings, coloured, targets};
use crate::terminal::{parameter, signed};
use crate::view::View;
use crate::view::row::Row;
use crate::view::sweep::{Point, Sweep, size};
use crate::words;

pub fn charts(view: &View) -> Vec<Chart> {
    let rows: Vec<(usize, &Row, &Sweep)> =
        coloured(view).filter_map(|(place, row)| Some((place, row, row.sweep.as_ref()?))).collect();
    let Some((_, _, first)) = rows.first() else { return Vec::new() };
    if first.points.iter().any(|point| matches!(point.at, Step::Rate { .. })) {
        return vec![search(&rows)];
    }
    let mut charts = vec![throughput(&rows)];
    charts.extend(response(&rows));
    charts
}

fn range(rows: &[(usize, &Row, &Sweep)], figure: fn(&Point) -> Option<f64>) -> (f64, f64) {
    let figures = rows.iter().flat_map(|(_, _, sweep)| &sweep.points).filter_map(figure);
    figures.fold((f64::MAX, 0.0), |(least, most), v| (least.min(v), most.max(v)))
}

fn by_step(rows: &[(usize, &Row, &Sweep)], title: &str, form: Form) -> Axis {
    let values: Vec<f64> =
        rows.iter().flat_map(|(_, _, sweep)| &sweep.points).map(|point| size(point.at)).collect();
    Axis::log_at(title, &values, 2 * form.ticks() + 2, short)
}

fn points(sweep: &Sweep, figure: fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    sweep.points.iter().filter_map(|point| Some((size(point.at), figure(point)?))).collect()
}

fn throughput(rows: &[(usize, &Row, &Sweep)]) -> Chart {
    let (_, most) = range(rows, |point| point.goodput_per_s);
    let mut drawn = Vec::new();
    for (place, row, sweep) in rows {
        let colour = series(*place);
        let plain = Line {
            name: None,
            colour,
            stroke: Stroke::Solid,
            points: Vec::new(),
            marks: false,
            joined: true,
            band: Vec::new(),
        };
        let measured = points(sweep, |point| point.goodput_per_s);
        drawn.push(Line {
            name: Some(row.target.to_string()),
            points: measured,
            marks: true,
            joined: sweep.fit.is_none(),
            stroke: stroke(*place),
            ..plain.clone()
        });
        if let Some(fit) = &sweep.fit {
            drawn.push(Line { points: fit.curve.clone(), ..plain.clone() });
        }
        if let Some(knee) = sweep.knee {
            drawn.push(Line {
                stroke: Stroke::Dotted,
                points: vec![(knee, 0.0), (knee, most)],
                ..plain.clone()
            });
        }
        let foretold =
            points(sweep, |point| point.prediction.map(|prediction| prediction.throughput_per_s));
        drawn.push(Line {
            name: None,
            colour: AXIS,
            points: foretold,
            marks: true,
            joined: false,
            ..plain
        });
    }
    let x = |form: Form| by_step(rows, "connections", form);
    let y = Axis::linear("requests/s", 0.0, most, 5, short);
    let draw = |form: Form| lines(form, &x(form), &y, &drawn);
    let columns = [
        "target",
        "connections",
        "requests/s",
        "predicted",
        "error",
        "mean response",
        "predicted",
        "error",
        "p99",
        "CPU",
        "verdict",
    ];
    let mut cells = Vec::new();
    for (_, row, sweep) in rows {
        cells.extend(sweep.points.iter().map(|point| table_row(row, point)));
    }
    let laws: Vec<String> = rows
        .iter()
        .filter_map(|(_, row, sweep)| Some(format!("{}: {}", row.target, law(sweep)?)))
        .collect();
    Chart {
        name: "sweep".into(),
        title: "Throughput by connections".into(),
        alternative: format!(
            "Requests per second by number of connections for {}, with fitted curves. {}",
            targets(rows.len()),
            laws.join(" ")
        ),
        caption: format!(
            "Coloured dots: measured. Curves: the Universal Scalability Law through them. Dashed verticals: the knee. Grey dots: what was predicted \
             for a point from the points before it. {}",
            laws.join(" ")
        ),
        lines_by_target: true,
        drawings: Drawings::by(draw),
        plot: Some(Plot::of((&x(Form::Wide), Unit::Count), (&y, Unit::Count), &drawn)),
        table: DataTable { columns: columns.map(Into::into).into(), rows: cells },
    }
}

fn law(sweep: &Sweep) -> Option<String> {
    let law = &sweep.fit.as_ref()?.law;
    let peak = law.peak_n.map(|n| format!(", highest at {n:.0} connections")).unwrap_or_default();
    let knee = sweep.knee.map(|n| format!(", knee at {n:.0}")).unwrap_or_default();
    let (lambda, sigma, kappa) =
        (parameter(law.lambda, 0), parameter(law.sigma, 4), parameter(law.kappa, 6));
    let doubts: String = sweep.doubts().iter().map(|doubt| format!("{doubt} ")).collect();
    Some(format!("{doubts}λ {lambda}, σ {sigma}, κ {kappa}{peak}{knee}."))
}

fn table_row(row: &Row, point: &Point) -> Vec<String> {
    let prediction = point.prediction;
    vec![
        row.target.to_string(),
        words::whole(size(point.at) as u64),
        words::count(point.goodput_per_s),
        words::count(prediction.map(|p| p.throughput_per_s)),
        signed(prediction.and_then(|p| p.throughput_error)),
        words::ns_f(point.response_time.mean_ns),
        words::ns_f(prediction.map(|p| p.response_ns)),
        signed(prediction.and_then(|p| p.response_error)),
        words::ns(point.response_time.p99_ns),
        words::cores(point.target_cores),
        if point.reasons.is_empty() {
            point.verdict.to_string()
        } else {
            format!("{}: {}", point.verdict, point.reasons.join(", "))
        },
    ]
}

fn p99(point: &Point) -> Option<f64> {
    point.response_time.p99_ns.map(|ns| ns as f64)
}

fn p50(point: &Point) -> Option<f64> {
    point.response_time.p50_ns.map(|ns| ns as f64)
}

fn times(rows: &[(usize, &Row, &Sweep)], title: &str) -> Option<(Drawings, Plot)> {
    let (least, _) = range(rows, p50);
    let (_, most) = range(rows, p99);
    if most <= 0.0 {
        return None;
    }
    let mut drawn = Vec::new();
    for (place, row, sweep) in rows {
        let line = Line {
            name: Some(row.target.to_string()),
            colour: series(*place),
            stroke: Stroke::Solid,
            points: points(sweep, p50),
            marks: true,
            joined: true,
            band: Vec::new(),
        };
        drawn.push(line.clone());
        drawn.push(Line { name: None, stroke: Stroke::Dashed, points: points(sweep, p99), ..line });
    }
    let y = Axis::log("response time", least, most, time);
    let x = |form: Form| by_step(rows, title, form);
    let draw = |form: Form| lines(form, &x(form), &y, &drawn);
    let plot = Plot::of((&x(Form::Wide), Unit::Count), (&y, Unit::Ns), &drawn);
    Some((Drawings::by(draw), plot))
}

fn response(rows: &[(usize, &Row, &Sweep)]) -> Option<Chart> {
    let (drawings, plot) = times(rows, "connections")?;
    let cells = rows.iter().flat_map(|(_, row, sweep)| {
        sweep.points.iter().map(|point| {
            let s = &point.response_time;
            vec![
                row.target.to_string(),
                words::whole(size(point.at) as u64),
                words::ns(s.p50_ns),
                words::ns(s.p90_ns),
                words::ns(s.p99_ns),
                words::ns(s.max_ns),
            ]
        })
    });
    Some(Chart {
        name: "sweep-response".into(),
        title: "Response time by connections".into(),
        alternative: format!(
            "Median and 99th percentile of the response time by number of connections for {}.",
            targets(rows.len())
        ),
        caption: "Solid: the median. Dashed: the 99th percentile.".into(),
        lines_by_target: true,
        drawings,
        plot: Some(plot),
        table: DataTable {
            columns: ["target", "connections", "p50", "p90", "p99", "max"].map(Into::into).into(),
            rows: cells.collect(),
        },
    })
}

fn search(rows: &[(usize, &Row, &Sweep)]) -> Chart {
    let (drawings, plot) = times(rows, "offered requests/s").unzip();
    let capacities: Vec<String> = rows
        .iter()
        .map(|(_, row, sweep)| format!("{}: {}", row.target, sweep.outcome().join(" ")))
        .collect();
    let cells = rows.iter().flat_map(|(_, row, sweep)| {
        sweep.points.iter().map(|point| {
            let s = &point.response_time;
            vec![
                row.target.to_string(),
                words::count(Some(size(point.at))),
                words::count(point.goodput_per_s),
                words::ns(s.p50_ns),
                words::ns(s.p99_ns),
                point.kept(),
            ]
        })
    });
    Chart {
        name: "capacity".into(),
        title: "Response time by offered rate".into(),
        alternative: format!(
            "Median and 99th percentile of the response time by offered rate. {}",
            capacities.join(" ")
        ),
        caption: format!(
            "Solid: the median. Dashed: the 99th percentile. {}",
            capacities.join(" ")
        ),
        lines_by_target: true,
        drawings: drawings.unwrap_or_default(),
        plot,
        table: DataTable {
            columns: ["target", "offered/s", "answered/s", "p50", "p99", "objective"]
                .map(Into::into)
                .into(),
            rows: cells.collect(),
        },
    }
}
