//! A scan: requests/s, p99 and processor time of a request over the values of a parameter.
use pippin_model::figure::RankedBy;

use super::axis::{Axis, short, time};
use super::canvas::{Form, Line};
use super::compose::span;
use super::palette::{AXIS, Stroke, series, stroke};
use super::plot::Unit;
use super::{Chart, DataTable};
use crate::view::View;
use crate::view::scan::{CurveShape, Point, ScanView};
use crate::words;

/// The names of these charts.
pub const NAMES: [&str; 3] = ["scan", "scan-response", "scan-cpu"];
/// A logarithmic axis where the largest value is this many times the smallest.
const WIDE: f64 = 8.0;

/// One picture for each figure; none if the values are no curve.
pub fn charts(view: &View) -> Vec<Chart> {
    let scan = view.scan.as_ref().filter(|scan| scan.is_curve());
    let of = |scan: &ScanView| {
        FIGURES.iter().filter_map(|figure| figure.chart(scan)).collect::<Vec<_>>()
    };
    scan.map(of).unwrap_or_default()
}

/// A figure over the values.
struct Figure {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    write: fn(f64) -> String,
    of: fn(&Point) -> Option<f64>,
    /// The figure whose intervals and knee are drawn with it.
    ranked: Option<RankedBy>,
}

const FIGURES: [Figure; 3] = [
    Figure {
        name: NAMES[0],
        title: "requests/s",
        unit: Unit::Count,
        write: short,
        of: |point| point.goodput_per_s,
        ranked: Some(RankedBy::Goodput),
    },
    Figure {
        name: NAMES[1],
        title: "p99 of the response time",
        unit: Unit::Ns,
        write: time,
        of: |point| point.response_p99_ns,
        ranked: Some(RankedBy::ResponseP99),
    },
    Figure {
        name: NAMES[2],
        title: "CPU time per request",
        unit: Unit::Ns,
        write: time,
        // Seconds per million are microseconds.
        of: |point| point.cpu_s_per_million.map(|us| us * 1e3),
        ranked: None,
    },
];

impl Figure {
    /// `None` if the figure is known of too few values.
    fn chart(&self, scan: &ScanView) -> Option<Chart> {
        let is_ranked = self.ranked == Some(scan.ranked_by);
        let counted = || scan.points.iter().filter(|point| point.counts());
        let points: Vec<(f64, f64)> =
            counted().filter_map(|it| Some((it.number?, (self.of)(it)?))).collect();
        let band = counted().filter(|_| is_ranked).filter_map(|point| {
            let interval = point.ranked?.interval?;
            Some((point.number?, interval.low, interval.high))
        });
        let band: Vec<(f64, f64, f64)> = band.collect();
        let tops = points.iter().map(|(_, y)| *y).chain(band.iter().map(|(_, _, high)| *high));
        let (_, most) = span(tops, (0.0, 0.0));
        if points.len() < 2 || most <= 0.0 {
            return None;
        }
        let knee = match &scan.shape {
            CurveShape::Knee { at, .. } if is_ranked => {
                scan.points.iter().find(|point| point.value == *at).and_then(|point| point.number)
            }
            _ => None,
        };
        let line = Line { marks: true, band, ..Line::joined(series(0), stroke(0), points) };
        let knee = knee.map(|at| Line::joined(AXIS, Stroke::Dotted, vec![(at, 0.0), (at, most)]));
        let caption = match (is_ranked, knee.is_some()) {
            (true, true) => {
                format!("Band: 95 % intervals. Dotted vertical: the knee. {}", scan.words())
            }
            (true, false) => format!("Band: 95 % intervals. {}", scan.words()),
            (false, _) => "Medians of the repetitions.".into(),
        };
        let drawn: Vec<Line> = std::iter::once(line).chain(knee).collect();
        let y = Axis::linear(self.title, 0.0, most, 5, self.write);
        let x = |form: Form| axis(scan, form);
        Some(Chart {
            name: self.name.into(),
            title: format!("{} by {}", words::capital(self.title), scan.parameter),
            alternative: format!(
                "{} by {}. {}",
                words::capital(self.title),
                scan.parameter,
                scan.words()
            )
            .trim_end()
            .into(),
            caption,
            lines_by_target: false,
            // The table of the section has all figures.
            table: DataTable::default(),
            ..Chart::of_lines((x, Unit::Count), (&y, self.unit), &drawn)
        })
    }
}

/// The values on an axis: logarithmic where they are far apart.
fn axis(scan: &ScanView, form: Form) -> Axis {
    let values: Vec<f64> = scan.points.iter().filter_map(|point| point.number).collect();
    let (least, most) = span(values.iter().copied(), (f64::MAX, f64::MIN));
    if least > 0.0 && most / least >= WIDE {
        Axis::log_at(&scan.parameter, &values, 2 * form.ticks() + 2, short)
    } else {
        Axis::linear(&scan.parameter, least, most, form.ticks(), short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_model::example::slices::Rounds;
    use pippin_model::plan::scan::Values;

    fn drawn(values: &str) -> Vec<Chart> {
        let values = Values::parse(values).unwrap();
        let per_s = |value: &str| 100.0 * value.parse().unwrap_or(1.0_f64).clamp(1.0, 8.0);
        charts(&View::of(&example::scanned(&values, &Rounds::default(), per_s)))
    }

    #[test]
    fn numbers_make_curves_and_other_values_none() {
        let found = drawn("pool=1,2,4,8,16");
        let names: Vec<&str> = found.iter().map(|chart| chart.name.as_str()).collect();
        assert_eq!(names, NAMES);
        assert!(found[0].caption.contains("the knee. Knee at pool=8"), "{}", found[0].caption);
        assert!(found.iter().all(|chart| chart.drawings.wide.starts_with("<svg")));
        assert_eq!(drawn("level=-1,0,1").len(), NAMES.len(), "a linear axis");
        assert!(drawn("mode=a,b,c").is_empty() && drawn("pool=1,2").is_empty());
    }
}
