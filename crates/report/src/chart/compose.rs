//! What charts have in common: the lines of targets, bars whose parts add up, tables.
use plotters::style::RGBColor;

use super::axis::Axis;
use super::canvas::{Bar, Form, Line, bars, lines};
use super::palette::{series, stroke};
use super::plot::{Plot, TIME, Unit};
use super::{Chart, DataTable, Drawings, label};
use crate::view::row::Row;

/// The line of a target in its place of the table, with its name.
pub fn line_of(place: usize, row: &Row, points: Vec<(f64, f64)>) -> Line {
    Line { name: Some(label(row)), ..Line::joined(series(place), stroke(place), points) }
}

/// The least and the greatest of these values and of two that are within in any case.
pub fn span(values: impl Iterator<Item = f64>, within: (f64, f64)) -> (f64, f64) {
    values.fold(within, |(least, most), value| (least.min(value), most.max(value)))
}

/// The points of all lines.
pub fn points(drawn: &[Line]) -> impl Iterator<Item = (f64, f64)> + '_ {
    drawn.iter().flat_map(|line| line.points.iter().copied())
}

/// The lengths of a stacked bar, and what each of them is.
pub struct Parts<const N: usize> {
    /// The title of the axis, and how its ticks are written.
    pub axis: (&'static str, fn(f64) -> String),
    /// What the parts are, for the legend.
    pub names: [(&'static str, RGBColor); N],
}

impl Chart {
    /// The drawings of lines that belong to targets; words and table are empty.
    pub(super) fn of_lines(
        (x, x_unit): (impl Fn(Form) -> Axis, Unit),
        (y, y_unit): (&Axis, Unit),
        drawn: &[Line],
    ) -> Self {
        Self {
            lines_by_target: true,
            drawings: Drawings::by(|form| lines(form, &x(form), y, drawn)),
            plot: Some(Plot::from_lines((&x(Form::Wide), x_unit), (y, y_unit), drawn)),
            ..Self::default()
        }
    }

    /// A chart of lines over seconds. It shares the pointer and the zoom with others of its kind.
    pub(super) fn over_time(x: impl Fn(Form) -> Axis, y: (&Axis, Unit), drawn: &[Line]) -> Self {
        let chart = Self::of_lines((x, Unit::Seconds), y, drawn);
        Self { plot: chart.plot.map(|plot| plot.linked(TIME)), ..chart }
    }

    /// Bars whose parts add up: of each row its figure and the lengths. Words and table are empty.
    pub(super) fn of_parts<'a, const N: usize>(
        Parts { axis: (title, write), names }: Parts<N>,
        rows: impl Iterator<Item = (&'a Row, String, [f64; N])>,
    ) -> Self {
        let colours = names.map(|(_, colour)| colour);
        let legend = names.map(|(name, colour)| (name.to_string(), colour));
        let drawn: Vec<Bar> = rows
            .map(|(row, figure, parts)| Bar {
                name: label(row),
                figure,
                parts: parts.into_iter().zip(colours).collect(),
                ..Bar::default()
            })
            .collect();
        let length = |bar: &Bar| -> f64 { bar.parts.iter().map(|(length, _)| length).sum() };
        let most = drawn.iter().map(length).fold(0.0, f64::max);
        let draw = |form: Form| {
            bars(form, &Axis::linear(title, 0.0, most, form.ticks(), write), &legend, &drawn)
        };
        Self { drawings: Drawings::by(draw), ..Self::default() }
    }
}

impl DataTable {
    /// A table with these columns.
    pub(super) fn from_rows<const N: usize>(
        columns: [&str; N],
        rows: impl Iterator<Item = Vec<String>>,
    ) -> Self {
        Self { columns: columns.map(Into::into).into(), rows: rows.collect() }
    }
}
