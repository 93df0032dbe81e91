//! The data of a chart for the browser. The page's script (`html/plots.js`) draws it with uPlot, so
//! that a reader can point at values, zoom, and hide targets. Without a script and on paper, the
//! page shows the SVG of the same data.
use plotters::style::RGBColor;
use serde::Serialize;

use super::axis::{Axis, Scale};
use super::canvas::Line;
use super::palette::{self, series};

/// Charts with this link show the same time axis, so they share the pointer and the zoom.
pub const TIME: &str = "time";
/// Significant digits of each figure: more than a screen can show.
const DIGITS: i32 = 5;

/// What the browser draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plot {
    x: PlotAxis,
    y: PlotAxis,
    link: Option<&'static str>,
    curves: Vec<Curve>,
    /// Places of vertical lines.
    verticals: Vec<f64>,
}

/// The unit of a figure, which decides how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Nanoseconds.
    Ns,
    /// A count or a rate.
    Count,
    /// A fraction.
    Share,
    /// Cores; 1 is written as 100 %.
    Cores,
    /// Bytes.
    Bytes,
    /// A quantile at its place on an HDR axis.
    Quantile,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct PlotAxis {
    title: String,
    log: bool,
    unit: Unit,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Curve {
    name: Option<String>,
    /// The style variable that holds its colour: `--s0`.
    colour: String,
    dashes: &'static [u32],
    marks: bool,
    joined: bool,
    steps: bool,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Both are empty if there is no band.
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Plot {
    /// A plot of these lines over these axes.
    #[must_use]
    pub fn from_lines(
        (x, x_unit): (&Axis, Unit),
        (y, y_unit): (&Axis, Unit),
        lines: &[Line],
    ) -> Self {
        let axis = |axis: &Axis, unit| PlotAxis {
            title: axis.title.clone(),
            log: axis.scale == Scale::Log,
            unit,
        };
        // The browser knows linear and logarithmic axes.
        let place = |value: f64| if x.scale == Scale::Hdr { x.place(value) } else { value };
        let (upright, curves): (Vec<&Line>, Vec<&Line>) =
            lines.iter().filter(|line| !line.points.is_empty()).partition(|line| is_upright(line));
        Self {
            x: axis(x, x_unit),
            y: axis(y, y_unit),
            link: None,
            curves: curves.into_iter().map(|line| curve(line, place)).collect(),
            verticals: upright.iter().map(|line| short(place(line.points[0].0))).collect(),
        }
    }

    /// This plot, linked with all charts that have this link.
    #[must_use]
    pub fn linked(self, link: &'static str) -> Self {
        Self { link: Some(link), ..self }
    }

    /// This plot as steps: level from each point to the next. Points that only end a step are
    /// removed.
    #[must_use]
    pub fn in_steps(mut self) -> Self {
        for curve in &mut self.curves {
            curve.steps = true;
            let mut places: Vec<(f64, f64)> = Vec::new();
            for (x, y) in curve.x.iter().zip(&curve.y) {
                match places.last_mut() {
                    Some(last) if last.0 == *x => last.1 = *y,
                    _ => places.push((*x, *y)),
                }
            }
            (curve.x, curve.y) = places.into_iter().unzip();
        }
        self
    }
}

fn is_upright(line: &Line) -> bool {
    line.points.len() > 1 && line.points.iter().all(|(x, _)| *x == line.points[0].0)
}

fn curve(line: &Line, place: impl Fn(f64) -> f64) -> Curve {
    let has_band = line.band.len() == line.points.len();
    let band = |end: fn(&(f64, f64, f64)) -> f64| -> Vec<f64> {
        if has_band { line.band.iter().map(|ends| short(end(ends))).collect() } else { Vec::new() }
    };
    Curve {
        name: line.name.clone(),
        colour: variable(line.colour),
        dashes: line.stroke.dashes(),
        marks: line.marks,
        joined: line.joined,
        steps: false,
        x: line.points.iter().map(|(x, _)| short(place(*x))).collect(),
        y: line.points.iter().map(|(_, y)| short(*y)).collect(),
        low: band(|(_, low, _)| *low),
        high: band(|(.., high)| *high),
    }
}

/// The style variable of a colour. Its value depends on the theme.
fn variable(colour: RGBColor) -> String {
    let fixed =
        [(palette::AXIS, "--axis"), (palette::INVALID, "--invalid"), (palette::FAINT, "--faint")];
    let of_target =
        || (0..200).find(|place| series(*place) == colour).map(|place| format!("--s{place}"));
    fixed
        .iter()
        .find(|(known, _)| *known == colour)
        .map(|(_, name)| (*name).to_string())
        .or_else(of_target)
        .unwrap_or_else(|| "--ink".into())
}

fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(DIGITS - 1 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis;
    use crate::chart::palette::Stroke;

    fn line(points: Vec<(f64, f64)>) -> Line {
        Line {
            name: Some("a/a".into()),
            colour: series(13),
            stroke: Stroke::Dashed,
            points,
            marks: false,
            joined: true,
            band: Vec::new(),
        }
    }

    #[test]
    fn quantiles_stand_at_their_places_and_colours_follow_the_theme() {
        let (x, y) = (Axis::hdr("q", 0.999, false), Axis::log("t", 1e3, 1e6, axis::time));
        let plot = Plot::from_lines(
            (&x, Unit::Quantile),
            (&y, Unit::Ns),
            &[line(vec![(0.9, 1e3), (0.99, 123_456.7)])],
        );
        let curve = &plot.curves[0];
        assert_eq!(
            (curve.x.as_slice(), curve.y.as_slice()),
            ([1.0, 2.0].as_slice(), [1_000.0, 123_460.0].as_slice())
        );
        assert_eq!(
            (curve.colour.as_str(), curve.dashes, plot.y.log, plot.x.log),
            ("--s13", [7, 4].as_slice(), true, false)
        );
    }

    #[test]
    fn upright_lines_and_steps() {
        let axis = Axis::linear("x", 0.0, 9.0, 3, axis::short);
        let lines = [
            line(vec![(4.0, 0.0), (4.0, 9.0)]),
            line(vec![(1.0, 0.0), (1.0, 5.0), (2.0, 5.0), (2.0, 0.0)]),
        ];
        let plot = Plot::from_lines((&axis, Unit::Count), (&axis, Unit::Count), &lines).in_steps();
        assert_eq!(plot.verticals, [4.0]);
        assert_eq!(
            (plot.curves[0].x.as_slice(), plot.curves[0].y.as_slice()),
            ([1.0, 2.0].as_slice(), [5.0, 0.0].as_slice())
        );
    }
}
