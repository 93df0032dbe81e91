//! The charts of a trial under way: those of the report, as far as their figures are known.
use pippin_model::run::live::{LiveSecond, LiveTrial};
use pippin_report::chart::axis::{self, Axis};
use pippin_report::chart::canvas::{Form, Line, lines};
use pippin_report::chart::palette::{Stroke, series};
use pippin_report::chart::plot::{Plot, TIME, Unit};
use pippin_report::chart::{Chart, DataTable, Drawings};
#[cfg(test)]
use pippin_report::words;

/// A line of a chart: its name, its stroke, its figure.
type Of = (&'static str, Stroke, fn(&LiveSecond) -> Option<f64>);

/// A chart and its lines.
struct Shown {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    counts: Unit,
    label: fn(f64) -> String,
    lines: &'static [Of],
}

/// The fewest seconds that a curve shows anything of.
const FEWEST: usize = 3;

const CHARTS: [Shown; 3] = [
    Shown {
        name: "live-throughput",
        title: "Throughput over time",
        unit: "requests/s",
        counts: Unit::Count,
        label: axis::short,
        lines: &[
            ("answers", Stroke::Solid, |second| second.requests_per_s),
            ("offered", Stroke::Dotted, |second| second.offered_per_s),
        ],
    },
    Shown {
        name: "live-response",
        title: "Response time over time",
        unit: "of each second",
        counts: Unit::Ns,
        label: axis::time,
        lines: &[
            ("p50", Stroke::Solid, |second| second.p50_ns.map(|ns| ns as f64)),
            ("p99", Stroke::Dashed, |second| second.p99_ns.map(|ns| ns as f64)),
        ],
    },
    Shown {
        name: "live-cpu",
        title: "CPU of both sides over time",
        unit: "100 % is one core",
        counts: Unit::Cores,
        label: axis::core_percent,
        lines: &[
            ("target", Stroke::Solid, |second| second.target_cores),
            ("generator", Stroke::Dotted, |second| second.generator_cores),
        ],
    },
];

/// The charts that this trial has figures for.
pub fn charts(trial: &LiveTrial) -> Vec<Chart> {
    CHARTS.iter().filter_map(|shown| chart(trial, shown)).collect()
}

fn chart(trial: &LiveTrial, shown: &Shown) -> Option<Chart> {
    let at = |second: &LiveSecond| second.from_ns as f64 / 1e9 + 0.5;
    let drawn: Vec<Line> = shown
        .lines
        .iter()
        .map(|(name, stroke, value)| Line {
            name: Some((*name).into()),
            colour: series(0),
            stroke: *stroke,
            points: trial
                .seconds
                .iter()
                .filter_map(|second| Some((at(second), value(second)?)))
                .collect(),
            marks: false,
            joined: true,
            band: Vec::new(),
        })
        .filter(|line| line.points.len() >= FEWEST)
        .collect();
    let all = || drawn.iter().flat_map(|line| &line.points);
    let (first, last) = all().fold((f64::MAX, f64::MIN), |(f, l), (x, _)| (f.min(*x), l.max(*x)));
    let (least, most) = all().fold((f64::MAX, 0.0_f64), |(l, m), (_, y)| (l.min(*y), m.max(*y)));
    if drawn.is_empty() || most <= 0.0 {
        return None;
    }
    let y = if shown.counts == Unit::Ns && least > 0.0 {
        Axis::log(shown.unit, least, most, shown.label)
    } else {
        Axis::linear(shown.unit, 0.0, most, 5, shown.label)
    };
    let x = |form: Form| {
        Axis::linear("seconds after the warm-up", first, last, form.ticks(), axis::short)
    };
    let cells = drawn.iter().filter_map(|line| {
        let (at, value) = line.points.last()?;
        Some(vec![line.name.clone()?, format!("{at:.0}"), (shown.label)(*value)])
    });
    Some(Chart {
        name: shown.name.into(),
        title: shown.title.into(),
        alternative: format!(
            "{} of {} so far, one point for each second.",
            shown.title, trial.target
        ),
        caption: String::new(),
        lines_by_target: false,
        drawings: Drawings::by(|form| lines(form, &x(form), &y, &drawn)),
        plot: Some(
            Plot::from_lines((&x(Form::Wide), Unit::Seconds), (&y, shown.counts), &drawn)
                .linked(TIME),
        ),
        table: DataTable {
            columns: ["line", "newest second", "value"].map(Into::into).into(),
            rows: cells.collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_has_no_chart() {
        let second = |from_s: i64| LiveSecond {
            from_ns: from_s * 1_000_000_000,
            requests_per_s: Some(1_000.0),
            offered_per_s: None,
            p50_ns: Some(100_000),
            p99_ns: None,
            errors: 0,
            target_cores: None,
            generator_cores: None,
        };
        let trial = LiveTrial {
            target: "go/net-http".parse().unwrap(),
            repetition: 0,
            load: "10 connections".into(),
            stage: "measuring".into(),
            stage_began_unix_ns: 0,
            fraction: None,
            left_ns: None,
            seconds: (-1..3).map(second).collect(),
            errors: 0,
            live_connections: None,
            asked: 10,
            uses: Vec::new(),
            target_memory_bytes: None,
        };
        let charts = charts(&trial);
        let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        assert_eq!(names, ["live-throughput", "live-response"]);
        assert_eq!(charts[1].table.rows, [["p50", "2", &words::ns(Some(100_000))]]);
    }
}
