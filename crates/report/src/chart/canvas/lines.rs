//! Lines with bands and marks.
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{
    Area, Axis, BAND, Drawn, Entry, FAINT, FINE, FONT, FONT_SIZE, Form, GRID, INK, Stroke, Ticks,
    draw_legend, ipx, labels, legend_height, px, svg, text_width, width_code, x_title,
};
use crate::chart::palette::AXIS;

/// A line of a chart, in values.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend; `None` leaves it out.
    pub name: Option<String>,
    /// Its colour.
    pub colour: RGBColor,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Whether each point has a mark.
    pub marks: bool,
    /// Whether the points are joined.
    pub joined: bool,
    /// A band around it: place, lower and upper end; empty for none.
    pub band: Vec<(f64, f64, f64)>,
}

impl Line {
    /// Points that are joined, without name, marks and band.
    #[must_use]
    pub const fn joined(colour: RGBColor, stroke: Stroke, points: Vec<(f64, f64)>) -> Self {
        Self { name: None, colour, stroke, points, marks: false, joined: true, band: Vec::new() }
    }
}

/// An event, drawn as a dotted vertical line with words at its top.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its place, as a value of the horizontal axis.
    pub at: f64,
    /// The words.
    pub words: String,
}

/// Lines over two axes.
#[must_use]
pub fn lines(form: Form, x: &Axis, y: &Axis, lines: &[Line]) -> String {
    marked_lines(form, x, y, lines, &[])
}

/// Lines over two axes with marks.
#[must_use]
pub fn marked_lines(form: Form, x: &Axis, y: &Axis, lines: &[Line], marks: &[Mark]) -> String {
    let room = labels::room(form, lines);
    // Where the lines have their names at their ends, a legend would say them twice.
    let in_legend = if room.is_some() { &[] } else { lines };
    let legend: Vec<Entry> = in_legend
        .iter()
        .filter_map(|line| Some((line.name.clone()?, line.colour, line.stroke)))
        .collect();
    let (legend_height, plot) = (legend_height(form, &legend), form.plot_height());
    svg(form.width(), plot + legend_height, |root| {
        let (top, body) = root.split_vertically((legend_height * FINE) as i32);
        draw_legend(&top, form, &legend)?;
        let widest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(4);
        let mut chart = ChartBuilder::on(&body)
            .margin(px(6))
            .margin_top(px(26))
            .margin_right(px(18 + room.unwrap_or(0)))
            .x_label_area_size(px(40))
            .y_label_area_size(px(text_width(widest) + 14))
            .build_cartesian_2d(Ticks::from_axis(x), Ticks::from_axis(y))?;
        let small = (FONT, px(FONT_SIZE)).into_font();
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(FINE))
            .axis_style(AXIS.stroke_width(FINE))
            .set_all_tick_mark_size(px(3))
            .x_label_style(small.clone().color(&INK))
            .y_label_style(small.clone().color(&INK))
            .x_label_formatter(&|place| x.label_at(*place))
            .y_label_formatter(&|place| y.label_at(*place))
            .draw()?;
        titles(&body, x, y)?;
        for mark in marks {
            let at = x.place(mark.at);
            chart.draw_series(LineSeries::new(
                [(at, y.from), (at, y.to)],
                AXIS.stroke_width(width_code(Stroke::Dotted)),
            ))?;
            let (left, top) = chart.backend_coord(&(at, y.to));
            // The words go to the side that has room.
            let (side, gap) =
                if at > f64::midpoint(x.from, x.to) { (HPos::Right, -5) } else { (HPos::Left, 5) };
            let style =
                (FONT, px(FONT_SIZE - 1)).into_font().color(&INK).pos(Pos::new(side, VPos::Top));
            root.draw(&Text::new(mark.words.clone(), (left + ipx(gap), top + ipx(2)), style))?;
        }
        lines.iter().try_for_each(|line| draw_line(&mut chart, x, y, line))?;
        if room.is_none() {
            return Ok(());
        }
        let (right, top) = chart.backend_coord(&(x.to, y.to));
        let bottom = chart.backend_coord(&(x.to, y.from)).1;
        let end = |line: &Line| {
            let (at, value) = line.points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
            let at = chart.backend_coord(&(x.place(at), y.place(value).clamp(y.from, y.to)));
            Some((line.name.clone()?, line.colour, at))
        };
        let ends: Vec<labels::End> = lines.iter().filter_map(end).collect();
        labels::draw(root, &ends, right, (top, bottom))
    })
}

/// Draws a line with its band and its marks.
fn draw_line<X: Ranged<ValueType = f64>, Y: Ranged<ValueType = f64>>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    x: &Axis,
    y: &Axis,
    line: &Line,
) -> Drawn {
    let place = |at: f64, value: f64| (x.place(at), y.place(value).clamp(y.from, y.to));
    let points: Vec<(f64, f64)> = line.points.iter().map(|(a, b)| place(*a, *b)).collect();
    if line.band.len() > 1 {
        let low = line.band.iter().map(|(at, low, _)| place(*at, *low));
        let high = line.band.iter().rev().map(|(at, _, high)| place(*at, *high));
        let around: Vec<(f64, f64)> = low.chain(high).collect();
        chart.draw_series([Polygon::new(around, line.colour.mix(BAND).filled())])?;
    }
    if line.joined {
        let stroke = line.colour.stroke_width(width_code(line.stroke));
        chart.draw_series(LineSeries::new(points.clone(), stroke))?;
    }
    if line.marks {
        let mark = |point: &(f64, f64)| Circle::new(*point, px(3), line.colour.filled());
        chart.draw_series(points.iter().map(mark))?;
    }
    Ok(())
}

/// The titles of both axes. That of y is above the axis and horizontal, so that it is easy to read.
fn titles(body: &Area<'_>, x: &Axis, y: &Axis) -> Drawn {
    x_title(body, x)?;
    let left = (FONT, px(FONT_SIZE - 1)).into_font().color(&FAINT);
    let left = left.pos(Pos::new(HPos::Left, VPos::Top));
    body.draw(&Text::new(y.title.clone(), (ipx(4), ipx(-1)), left))?;
    Ok(())
}
