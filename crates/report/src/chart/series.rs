//! Figures over time: throughput, response time, CPU of both sides, memory; of runtimes that tell, what
//! their compilers and collectors did, and the heap. Each target has one
//! line, the median of its repetitions, with a band from the lowest to the highest repetition.
use pippin_model::trial::Step;
use pippin_stats::series::quantile::median;

use super::axis::{self, Axis};
use super::canvas::{Form, Line, lines};
use super::compose::{points, span};
use super::palette::{FAINT, Stroke, series, stroke};
use super::plot::{Plot, TIME, Unit};
use super::{Chart, DataTable, Drawings, coloured, label, targets};
use crate::view::View;
use crate::view::row::Row;
use crate::view::series::Series;
use crate::words;

/// The maximum number of moments of a line. More than one for every four pixels would not be
/// visible.
const MOMENTS: f64 = 300.0;

/// The points of a line: seconds and a value.
type Points = fn(&Series) -> Vec<(f64, f64)>;

/// One of the figures.
struct Quantity {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    /// The unit of the figure.
    counts: Unit,
    points: Points,
    /// This figure of the generator, drawn dotted in the target's colour; `None` if it has
    /// none.
    of_generator: Option<Points>,
    /// What the load asked of all targets alike, drawn dotted in its own colour.
    asked: Option<(&'static str, Points)>,
    label: fn(f64) -> String,
    scale: Scale,
    reading: &'static str,
}

/// The vertical axis.
#[derive(PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
    Bytes,
}

const QUANTITIES: [Quantity; 7] = [
    Quantity {
        name: "throughput-over-time",
        title: "Throughput over time",
        unit: "requests/s",
        counts: Unit::Count,
        points: throughput,
        of_generator: None,
        asked: Some(("offered", offered)),
        label: axis::short,
        scale: Scale::Linear,
        reading: " Dotted, where the schedule sets the pace: the rate that was offered.",
    },
    Quantity {
        name: "response-over-time",
        title: "Response time over time",
        unit: "p99 of each window",
        counts: Unit::Ns,
        points: response,
        of_generator: None,
        asked: None,
        label: axis::time,
        scale: Scale::Log,
        reading: "",
    },
    Quantity {
        name: "cpu-over-time",
        title: "CPU of both sides over time",
        unit: "100 % is one core",
        counts: Unit::Cores,
        points: |one| cpu(one, |point| point.target_cores),
        of_generator: Some(|one| cpu(one, |point| point.generator_cores)),
        asked: None,
        label: axis::core_percent,
        scale: Scale::Linear,
        reading: " Dotted, in the target's colour: the generator while it loaded that target.",
    },
    Quantity {
        name: "memory-over-time",
        title: "Memory of the target over time",
        unit: "whole process tree",
        counts: Unit::Bytes,
        points: memory,
        of_generator: None,
        asked: None,
        label: axis::size,
        scale: Scale::Bytes,
        reading: "",
    },
    Quantity {
        name: "compiling-over-time",
        title: "The compiler over time",
        unit: "100 % is one core",
        counts: Unit::Cores,
        points: |one| cpu(one, |point| point.compiler_cores),
        of_generator: None,
        asked: None,
        label: axis::core_percent,
        scale: Scale::Linear,
        reading: " Of runtimes whose compiler works in threads of its own (JVM, .NET). A warm target's rests.",
    },
    Quantity {
        name: "collections-over-time",
        title: "Pauses of the collector over time",
        unit: "share of the time",
        counts: Unit::Cores,
        points: |one| cpu(one, |point| point.collecting),
        of_generator: None,
        asked: None,
        label: axis::core_percent,
        scale: Scale::Linear,
        reading: " By the JVM's own counters.",
    },
    Quantity {
        name: "heap-over-time",
        title: "Heap in use over time",
        unit: "garbage included",
        counts: Unit::Bytes,
        points: |one| cpu(one, |point| point.heap_bytes.map(|bytes| bytes as f64)),
        of_generator: None,
        asked: None,
        label: axis::size,
        scale: Scale::Bytes,
        reading: " By the JVM's own counters, which it writes when it has collected.",
    },
];

pub fn charts(view: &View) -> Vec<Chart> {
    QUANTITIES.iter().filter_map(|quantity| chart(view, quantity)).collect()
}

fn chart(view: &View, quantity: &Quantity) -> Option<Chart> {
    let mut drawn: Vec<Line> =
        coloured(view).flat_map(|(place, row)| both_sides(place, row, quantity)).collect();
    if !drawn.is_empty() {
        drawn.extend(asked(view, quantity));
    }
    let ends = drawn.iter().flat_map(|line| &line.band).flat_map(|(_, low, high)| [*low, *high]);
    let (first, last) = span(points(&drawn).map(|(x, _)| x), (0.0, 0.0));
    let (least, most) = span(points(&drawn).map(|(_, y)| y).chain(ends), (f64::MAX, 0.0));
    if most <= 0.0 {
        return None;
    }
    let y = quantity.axis(least, most);
    let before = if view.run.profile == "devices" { "the ramp up" } else { "the warm-up" };
    let x = |form: Form| {
        Axis::linear(&format!("seconds after {before}"), first, last, form.ticks() + 2, axis::short)
    };
    // On paper and without a script, the legend names each target only once.
    let is_second = |line: &Line| line.stroke == Stroke::Dotted && quantity.of_generator.is_some();
    let legend: Vec<Line> = drawn
        .iter()
        .cloned()
        .map(|line| if is_second(&line) { Line { name: None, ..line } } else { line })
        .collect();
    let cells = coloured(view)
        .flat_map(|(_, row)| row.series.iter().filter_map(|one| summary(row, one, quantity)));
    Some(Chart {
        name: quantity.name.into(),
        title: quantity.title.into(),
        alternative: format!(
            "{} of {}, from {first:.0} s to {last:.0} s.",
            quantity.title,
            targets(view.measured().count())
        ),
        caption: format!(
            "A line is the median of the repetitions, the band around it reaches from the lowest to the highest. Left of 0 is {before}, which the headline does not count.{}",
            quantity.reading
        ),
        drawings: Drawings::by(|form| lines(form, &x(form), &y, &legend)),
        table: DataTable::from_rows(
            ["target", "repetition", "moments", "lowest", "highest", "last"],
            cells,
        ),
        lines_by_target: true,
        plot: Some(
            Plot::from_lines((&x(Form::Wide), Unit::Seconds), (&y, quantity.counts), &drawn)
                .linked(TIME),
        ),
    })
}

impl Quantity {
    fn axis(&self, least: f64, most: f64) -> Axis {
        match self.scale {
            Scale::Log if least > 0.0 => Axis::log(self.unit, least, most, self.label),
            Scale::Bytes if least > 0.0 => Axis::log_bytes(self.unit, least, most),
            _ => Axis::linear(self.unit, 0.0, most, 5, self.label),
        }
    }
}

/// The lines of a target and, if the figure has one, of the generator beside it.
fn both_sides(place: usize, row: &Row, quantity: &Quantity) -> impl Iterator<Item = Line> {
    let own = middle(&repetitions(&row.series, quantity.points));
    // The generator's line is only drawn beside a line of the target.
    let generator = quantity.of_generator.filter(|_| own.is_some());
    let generator = generator.and_then(|of| middle(&repetitions(&row.series, of)));
    let own = own.map(|line| Line {
        name: Some(label(row)),
        colour: series(place),
        stroke: stroke(place),
        ..line
    });
    let generator = generator.map(|line| Line {
        name: Some(format!("{}, generator", row.target)),
        colour: series(place),
        band: Vec::new(),
        ..line
    });
    own.into_iter().chain(generator)
}

/// The median of the repetitions, with a band if there are several; `None` without points.
fn middle(repetitions: &[Vec<(f64, f64)>]) -> Option<Line> {
    let moments = merged(repetitions);
    let points = moments.iter().map(|moment| (moment.at, moment.median)).collect();
    let is_alone = repetitions.len() < 2;
    let band = moments.iter().filter(|_| !is_alone);
    let band = band.map(|moment| (moment.at, moment.low, moment.high)).collect();
    let line = Line { band, ..Line::joined(FAINT, Stroke::Dotted, points) };
    (!moments.is_empty()).then_some(line)
}

/// What the load asked of the targets. It is the same for all, so it is one line.
fn asked(view: &View, quantity: &Quantity) -> Option<Line> {
    // In an overload, the offered rate differs by target, and it has its own chart.
    let (name, points) = quantity.asked.filter(|_| view.run.profile != "overload")?;
    let line = middle(&repetitions(view.measured().flat_map(|row| &row.series), points))?;
    Some(Line { name: Some(name.into()), band: Vec::new(), ..line })
}

/// The points of each repetition that has any.
pub(super) fn repetitions<'a>(
    all: impl IntoIterator<Item = &'a Series>,
    points: impl Fn(&Series) -> Vec<(f64, f64)>,
) -> Vec<Vec<(f64, f64)>> {
    all.into_iter().map(points).filter(|points| !points.is_empty()).collect()
}

/// The repetitions at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    pub at: f64,
    pub median: f64,
    low: f64,
    high: f64,
}

/// Groups the points of several repetitions into moments. A moment is as long as the usual distance
/// of two points, or longer if there would be too many. If a repetition has several points in a
/// moment, their median counts.
pub(super) fn merged(repetitions: &[Vec<(f64, f64)>]) -> Vec<Moment> {
    let gaps: Vec<f64> = repetitions
        .iter()
        .flat_map(|points| points.windows(2).map(|pair| pair[1].0 - pair[0].0))
        .filter(|gap| *gap > 0.0)
        .collect();
    let ends = || repetitions.iter().flatten().map(|(at, _)| *at);
    let (first, last) = ends().fold((f64::MAX, f64::MIN), |(f, l), at| (f.min(at), l.max(at)));
    let width = median(&gaps).unwrap_or(1.0).max((last - first) / MOMENTS);
    // Numbers start at 0 s, so that no moment has both warm-up and measured part.
    let number = |at: f64| (at / width).floor() as i64;
    let mut numbers: Vec<i64> = ends().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .filter_map(|moment| {
            let of = |points: &Vec<(f64, f64)>| {
                let values: Vec<f64> = points
                    .iter()
                    .filter(|(at, _)| number(*at) == moment)
                    .map(|(_, y)| *y)
                    .collect();
                median(&values)
            };
            let values: Vec<f64> = repetitions.iter().filter_map(of).collect();
            let (low, high) =
                values.iter().fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(*y), h.max(*y)));
            Some(Moment { at: (moment as f64 + 0.5) * width, median: median(&values)?, low, high })
        })
        .collect()
}

fn summary(row: &Row, one: &Series, quantity: &Quantity) -> Option<Vec<String>> {
    let points = (quantity.points)(one);
    if points.is_empty() {
        return None;
    }
    let measured: Vec<f64> = points.iter().filter(|(at, _)| *at >= 0.0).map(|(_, y)| *y).collect();
    let show = |value: Option<f64>| {
        value.map_or_else(|| words::UNKNOWN.into(), |v| (quantity.label)((v * 10.0).round() / 10.0))
    };
    let (least, most) =
        (measured.iter().copied().reduce(f64::min), measured.iter().copied().reduce(f64::max));
    Some(vec![
        row.target.to_string(),
        one.repetition.to_string(),
        measured.len().to_string(),
        show(least),
        show(most),
        show(measured.last().copied()),
    ])
}

fn throughput(series: &Series) -> Vec<(f64, f64)> {
    series.load.iter().map(|point| (point.at_s, point.throughput_per_s)).collect()
}

/// The offered rate. Each step of a search has another rate, so a search has none.
fn offered(series: &Series) -> Vec<(f64, f64)> {
    let is_step = series.step.and_then(Step::tried).is_some();
    let points = series.load.iter().filter(|_| !is_step);
    points.filter_map(|point| Some((point.at_s, point.offered_per_s?))).collect()
}

fn response(series: &Series) -> Vec<(f64, f64)> {
    series
        .load
        .iter()
        .filter_map(|point| Some((point.at_s, point.response_p99_ns? as f64)))
        .collect()
}

fn cpu(
    series: &Series,
    of: fn(&crate::view::series::UsagePoint) -> Option<f64>,
) -> Vec<(f64, f64)> {
    series.usage.iter().filter_map(|point| Some((point.at_s, of(point)?))).collect()
}

fn memory(series: &Series) -> Vec<(f64, f64)> {
    series
        .usage
        .iter()
        .filter_map(|point| Some((point.at_s, point.target_memory_bytes? as f64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_median_and_its_band_reaches_to_the_ends() {
        let repetition = |level: f64| -> Vec<(f64, f64)> {
            (-1..3).map(|second| (f64::from(second) + 0.5, level)).collect()
        };
        let found = merged(&[repetition(10.0), repetition(30.0), repetition(11.0)]);
        let told: Vec<_> = found.iter().map(|m| (m.at, m.low, m.median, m.high)).collect();
        assert_eq!(told[0], (-0.5, 10.0, 11.0, 30.0));
        assert_eq!((told.len(), told[3].0), (4, 2.5));
        // A repetition that ended early does not count in later moments.
        let cut = merged(&[repetition(10.0), vec![(-0.5, 20.0)]]);
        assert_eq!((cut[0].median, cut[1].median), (15.0, 10.0));
    }

    #[test]
    fn long_loads_have_as_many_moments_as_can_be_seen() {
        let points: Vec<(f64, f64)> = (0..5_000).map(|at| (f64::from(at), 1.0)).collect();
        let found = merged(&[points]);
        assert!(found.len() <= 301 && found.len() > 250, "{}", found.len());
        assert_eq!(merged(&[]), []);
    }
}
