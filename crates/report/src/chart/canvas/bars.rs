//! Bars, and dots with intervals.
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{
    Area, Axis, Drawn, Entry, FAINT, FINE, FONT, FONT_SIZE, Failed, Form, GRID, INK, Stroke, Ticks,
    draw_legend, ipx, legend_height, px, svg, text_width, x_title,
};
use crate::chart::palette::AXIS;

/// A bar, or the parts of a stacked one.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Its name, to the left of it.
    pub name: String,
    /// The text after its end.
    pub figure: String,
    /// Lengths with colours, one after the other.
    pub parts: Vec<(f64, RGBColor)>,
    /// The ends of the interval around the whole.
    pub interval: Option<(f64, f64)>,
    /// Single figures, as small marks.
    pub singles: Vec<f64>,
    /// Whether it is struck through.
    pub struck: bool,
    /// A dot at the figure, for bars without a length.
    pub dot: Option<(f64, RGBColor)>,
}

/// Horizontal bars with the ends of their intervals.
#[must_use]
pub fn bars(form: Form, x: &Axis, legend: &[(String, RGBColor)], bars: &[Bar]) -> String {
    bars_about(form, x, legend, bars, None)
}

/// Bars with a vertical line at the value to which all are compared.
#[must_use]
pub fn bars_about(
    form: Form,
    x: &Axis,
    legend: &[(String, RGBColor)],
    bars: &[Bar],
    reference: Option<f64>,
) -> String {
    let legend: &[Entry] = &legend
        .iter()
        .map(|(name, colour)| (name.clone(), *colour, Stroke::Solid))
        .collect::<Vec<_>>();
    let legend_height = legend_height(form, legend);
    let row = if form.is_wide() { 30 } else { 44 };
    let height = legend_height + row * bars.len() as u32 + 44;
    svg(form.width(), height, |root| {
        let (top, body) = root.split_vertically((legend_height * FINE) as i32);
        draw_legend(&top, form, legend)?;
        let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
        let left = if form.is_wide() { text_width(longest) + 12 } else { 16 };
        let figures = bars.iter().map(|bar| bar.figure.chars().count()).max().unwrap_or(0);
        let count = bars.len() as f64;
        // The label of the last tick stands half beyond it.
        let last = text_width(x.label_at(x.to).chars().count()) / 2 + 4;
        let right = if form.is_wide() { text_width(figures) + 14 } else { 20 };
        let mut chart = ChartBuilder::on(&body)
            .margin_right(px(right.max(last)))
            .margin_left(px(left))
            .x_label_area_size(px(40))
            .build_cartesian_2d(Ticks::from_axis(x), count..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(FINE))
            .axis_style(AXIS.stroke_width(FINE))
            .set_all_tick_mark_size(px(3))
            .x_label_style((FONT, px(FONT_SIZE)).into_font().color(&INK))
            .x_label_formatter(&|place| x.label_at(*place))
            .draw()?;
        x_title(&body, x)?;
        if let Some(at) = reference.map(|value| x.place(value)) {
            // In a narrow chart, words stand above each bar: the line does not cross them.
            let pieces: Vec<(f64, f64)> = if form.is_wide() {
                vec![(0.0, count)]
            } else {
                (0..bars.len()).map(|row| (row as f64 + 0.46, row as f64 + 0.9)).collect()
            };
            let stroke = INK.stroke_width(3 * FINE / 2);
            let line = |(from, to)| PathElement::new(vec![(at, from), (at, to)], stroke);
            chart.draw_series(pieces.into_iter().map(line))?;
        }
        for (index, bar) in bars.iter().enumerate() {
            let slot = index as f64;
            let (above, below) =
                if form.is_wide() { (slot + 0.18, slot + 0.82) } else { (slot + 0.46, slot + 0.9) };
            let end = draw_bar(&mut chart, x, bar, (above, below))?;
            let line = reference.map(|value| chart.backend_coord(&(x.place(value), slot)).0);
            names(root, form, bar, beside(end, line, bar), left)?;
        }
        Ok(())
    })
}

/// Draws one bar between two heights. Returns the pixel of its end.
fn draw_bar<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    x: &Axis,
    bar: &Bar,
    (above, below): (f64, f64),
) -> Result<(i32, i32), Failed>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let middle = f64::midpoint(above, below);
    let mut at = 0.0;
    for (length, colour) in &bar.parts {
        let (from, to) = (x.place(at), x.place(at + length));
        chart.draw_series([Rectangle::new([(from, above), (to, below)], colour.filled())])?;
        at += length;
    }
    whisker(chart, x, bar, middle, (below - above) * 0.22)?;
    if let Some((value, colour)) = bar.dot {
        let at = (x.place(value).clamp(x.from, x.to), middle);
        chart.draw_series([Circle::new(at, px(5), colour.filled())])?;
    }
    let ends = [bar.interval.map(|(_, high)| high), bar.dot.map(|(at, _)| at)];
    let end = ends.into_iter().flatten().fold(at, f64::max);
    Ok(chart.backend_coord(&(x.place(end).clamp(x.from, x.to), middle)))
}

/// Draws the interval as a whisker, single figures as dots, and a line through a struck bar.
fn whisker<X: Ranged<ValueType = f64>, Y: Ranged<ValueType = f64>>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    x: &Axis,
    bar: &Bar,
    middle: f64,
    half: f64,
) -> Drawn {
    let dark = INK.stroke_width(3 * FINE / 2);
    let mut stroke =
        |points: Vec<(f64, f64)>| chart.draw_series([PathElement::new(points, dark)]).map(drop);
    if let Some((low, high)) = bar.interval {
        let (low, high) = (x.place(low), x.place(high));
        stroke(vec![(low.max(x.from), middle), (high.min(x.to), middle)])?;
        for end in [low, high].into_iter().filter(|end| (x.from..=x.to).contains(end)) {
            stroke(vec![(end, middle - half), (end, middle + half)])?;
        }
    }
    if bar.struck {
        let end = bar.parts.iter().map(|(length, _)| length).sum::<f64>();
        stroke(vec![(x.place(0.0), middle), (x.place(end), middle)])?;
    }
    let dots = bar
        .singles
        .iter()
        .map(|single| Circle::new((x.place(*single), middle + 1.6 * half), px(2), INK.filled()));
    chart.draw_series(dots)?;
    Ok(())
}

/// Where the figure of a bar begins: after the bar's end, and beyond the line of the reference if
/// that would cross the figure.
fn beside((x, y): (i32, i32), line: Option<i32>, bar: &Bar) -> (i32, i32) {
    let width = ipx(8 + text_width(bar.figure.chars().count()) as i32);
    let crossed = line.filter(|line| (x + 1..x + width).contains(line));
    (crossed.unwrap_or(x), y)
}

fn names(root: &Area<'_>, form: Form, bar: &Bar, end: (i32, i32), left: u32) -> Drawn {
    let font = || (FONT, px(FONT_SIZE)).into_font();
    let (x, y) = end;
    if form.is_wide() {
        root.draw(&Text::new(
            bar.name.clone(),
            (ipx(left as i32) - ipx(8), y),
            font().color(&INK).pos(Pos::new(HPos::Right, VPos::Center)),
        ))?;
        root.draw(&Text::new(
            bar.figure.clone(),
            (x + ipx(8), y),
            font().color(&FAINT).pos(Pos::new(HPos::Left, VPos::Center)),
        ))?;
    } else {
        let above = y - ipx(13);
        root.draw(&Text::new(
            bar.name.clone(),
            (ipx(8), above),
            font().color(&INK).pos(Pos::new(HPos::Left, VPos::Bottom)),
        ))?;
        let right = ipx(form.width() as i32 - 20);
        root.draw(&Text::new(
            bar.figure.clone(),
            (right, above),
            font().color(&FAINT).pos(Pos::new(HPos::Right, VPos::Bottom)),
        ))?;
    }
    Ok(())
}
