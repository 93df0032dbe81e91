//! Sizes, legend, and the drawing of lines and bars by `plotters`.
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::palette::{AXIS, FAINT, GRID, INK, PAPER, Stroke, hex};

/// `plotters` rounds to whole units, so that it draws at four times the size: a quarter of a pixel
/// is not seen.
const FINE: u32 = 4;
const FONT: &str = "system-ui, sans-serif";
const FONT_SIZE: u32 = 13;
/// About how wide a character is, in parts of the font's size.
const CHARACTER: f64 = 0.54;

/// An axis as `plotters` wants it: places are places already, and only our ticks are key points.
#[derive(Debug, Clone)]
struct Ticks {
    range: std::ops::Range<f64>,
    places: Vec<f64>,
}

impl Ticks {
    fn of(axis: &Axis) -> Self {
        Self {
            range: axis.from..axis.to,
            places: axis.ticks.iter().map(|(place, _)| *place).collect(),
        }
    }
}

impl Ranged for Ticks {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        (f64::from(low) + share * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.places.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

/// The two forms of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For screens and paper.
    Wide,
    /// For telephones.
    Narrow,
}

impl Form {
    /// Width in pixels.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Wide => 940,
            Self::Narrow => 400,
        }
    }

    /// Ticks on a horizontal axis.
    #[must_use]
    pub const fn ticks(self) -> u32 {
        match self {
            Self::Wide => 6,
            Self::Narrow => 3,
        }
    }
}

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
}

/// A bar, or the parts of a stacked one.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Its name, left of it.
    pub name: String,
    /// What stands behind its end.
    pub figure: String,
    /// Lengths with colours, one after the other.
    pub parts: Vec<(f64, RGBColor)>,
    /// The ends of the interval around the whole.
    pub interval: Option<(f64, f64)>,
    /// Single figures, as small marks.
    pub singles: Vec<f64>,
    /// Whether it is struck through.
    pub struck: bool,
}

/// An entry of the legend.
type Entry = (String, RGBColor, Stroke);
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Something that happened, as a dotted line from top to bottom with words at its head.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where, as a value of the horizontal axis.
    pub at: f64,
    /// What.
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
    let legend: Vec<Entry> = lines
        .iter()
        .filter_map(|line| Some((line.name.clone()?, line.colour, line.stroke)))
        .collect();
    let (legend_height, plot) =
        (legend_height(form, &legend), if form == Form::Wide { 350 } else { 300 });
    svg(form.width(), plot + legend_height, |root| {
        let (top, body) = root.split_vertically((legend_height * FINE) as i32);
        draw_legend(&top, form, &legend)?;
        let widest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(4);
        let mut chart = ChartBuilder::on(&body)
            .margin(px(6))
            .margin_top(px(26))
            .margin_right(px(18))
            .x_label_area_size(px(40))
            .y_label_area_size(px(text_width(widest) + 14))
            .build_cartesian_2d(Ticks::of(x), Ticks::of(y))?;
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
        let (width, height) = body.dim_in_pixel();
        titles(&body, x, y, width as i32, height as i32)?;
        for mark in marks {
            let at = x.place(mark.at);
            chart.draw_series(LineSeries::new(
                [(at, y.from), (at, y.to)],
                AXIS.stroke_width(width_code(Stroke::Dotted)),
            ))?;
            let (left, top) = chart.backend_coord(&(at, y.to));
            // Words stand on the side that has room.
            let (side, gap) =
                if at > f64::midpoint(x.from, x.to) { (HPos::Right, -5) } else { (HPos::Left, 5) };
            let style =
                (FONT, px(FONT_SIZE - 1)).into_font().color(&INK).pos(Pos::new(side, VPos::Top));
            root.draw(&Text::new(mark.words.clone(), (left + ipx(gap), top + ipx(2)), style))?;
        }
        for line in lines {
            let points: Vec<(f64, f64)> = line
                .points
                .iter()
                .map(|(a, b)| (x.place(*a), y.place(*b).clamp(y.from, y.to)))
                .collect();
            if line.joined {
                chart.draw_series(LineSeries::new(
                    points.clone(),
                    line.colour.stroke_width(width_code(line.stroke)),
                ))?;
            }
            if line.marks {
                chart.draw_series(
                    points.iter().map(|point| Circle::new(*point, px(3), line.colour.filled())),
                )?;
            }
        }
        Ok(())
    })
}

/// The titles of both axes: that of y above it, to be read without turning the head.
fn titles(body: &Area<'_>, x: &Axis, y: &Axis, width: i32, height: i32) -> Drawn {
    let font = || (FONT, px(FONT_SIZE - 1)).into_font().color(&FAINT);
    let right = font().pos(Pos::new(HPos::Right, VPos::Bottom));
    body.draw(&Text::new(x.title.clone(), (width - ipx(18), height - ipx(2)), right))?;
    body.draw(&Text::new(
        y.title.clone(),
        (ipx(4), ipx(-1)),
        font().pos(Pos::new(HPos::Left, VPos::Top)),
    ))?;
    Ok(())
}

/// Horizontal bars with the ends of their intervals.
#[must_use]
pub fn bars(form: Form, x: &Axis, legend: &[(String, RGBColor)], bars: &[Bar]) -> String {
    let legend: &[Entry] = &legend
        .iter()
        .map(|(name, colour)| (name.clone(), *colour, Stroke::Solid))
        .collect::<Vec<_>>();
    let legend_height = legend_height(form, legend);
    let row = if form == Form::Wide { 30 } else { 44 };
    let height = legend_height + row * bars.len() as u32 + 44;
    svg(form.width(), height, |root| {
        let (top, body) = root.split_vertically((legend_height * FINE) as i32);
        draw_legend(&top, form, legend)?;
        let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
        let left = if form == Form::Wide { text_width(longest) + 12 } else { 16 };
        let figures = bars.iter().map(|bar| bar.figure.chars().count()).max().unwrap_or(0);
        let count = bars.len() as f64;
        let mut chart = ChartBuilder::on(&body)
            .margin_right(px(if form == Form::Wide { text_width(figures) + 14 } else { 20 }))
            .margin_left(px(left))
            .x_label_area_size(px(40))
            .build_cartesian_2d(Ticks::of(x), count..0.0)?;
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
        let (width, height) = body.dim_in_pixel();
        let right = (FONT, px(FONT_SIZE - 1))
            .into_font()
            .color(&FAINT)
            .pos(Pos::new(HPos::Right, VPos::Bottom));
        body.draw(&Text::new(
            x.title.clone(),
            (width as i32 - ipx(18), height as i32 - ipx(2)),
            right,
        ))?;
        for (index, bar) in bars.iter().enumerate() {
            let slot = index as f64;
            let (above, below) = if form == Form::Wide {
                (slot + 0.18, slot + 0.82)
            } else {
                (slot + 0.46, slot + 0.9)
            };
            let mut at = 0.0;
            for (length, colour) in &bar.parts {
                let (from, to) = (x.place(at), x.place(at + length));
                chart
                    .draw_series([Rectangle::new([(from, above), (to, below)], colour.filled())])?;
                at += length;
            }
            whisker(&mut chart, x, bar, f64::midpoint(above, below), (below - above) * 0.22)?;
            let pixel = chart.backend_coord(&(
                x.place(at.max(bar.interval.map_or(0.0, |(_, high)| high))).min(x.to),
                f64::midpoint(above, below),
            ));
            names(root, form, bar, pixel, left)?;
        }
        Ok(())
    })
}

/// The interval as a whisker, single figures as dots, a struck bar with a line through it.
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
        stroke(vec![(low, middle), (high.min(x.to), middle)])?;
        for end in [low, high].into_iter().filter(|end| *end <= x.to) {
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

fn names(root: &Area<'_>, form: Form, bar: &Bar, end: (i32, i32), left: u32) -> Drawn {
    let font = || (FONT, px(FONT_SIZE)).into_font();
    let (x, y) = end;
    if form == Form::Wide {
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

/// The places of the legend's entries in pixels, and the height they take.
fn legend_places(form: Form, legend: &[Entry]) -> (Vec<(u32, u32)>, u32) {
    let (mut x, mut y) = (8, 4);
    let mut places = Vec::new();
    for (name, ..) in legend {
        let width = text_width(name.chars().count()) + 34;
        if x > 8 && x + width > form.width() {
            (x, y) = (8, y + 20);
        }
        places.push((x, y));
        x += width;
    }
    (places, if legend.is_empty() { 12 } else { y + 36 })
}

fn legend_height(form: Form, legend: &[Entry]) -> u32 {
    legend_places(form, legend).1
}

fn draw_legend(top: &Area<'_>, form: Form, legend: &[Entry]) -> Drawn {
    for ((name, colour, stroke), (x, y)) in legend.iter().zip(legend_places(form, legend).0) {
        let (x, y) = (ipx(x as i32), ipx(y as i32));
        // A whole square for a solid line, pieces of it for one with gaps.
        let pieces: &[(i32, i32)] = match stroke {
            Stroke::Solid => &[(0, 12)],
            Stroke::Dashed => &[(0, 5), (7, 12)],
            Stroke::Dotted => &[(0, 2), (5, 7), (10, 12)],
        };
        for (from, to) in pieces {
            top.draw(&Rectangle::new(
                [(x + ipx(*from), y + ipx(2)), (x + ipx(*to), y + ipx(14))],
                colour.filled(),
            ))?;
        }
        let style =
            (FONT, px(FONT_SIZE)).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        top.draw(&Text::new(name.clone(), (x + ipx(18), y + ipx(8)), style))?;
    }
    Ok(())
}

fn text_width(characters: usize) -> u32 {
    (characters as f64 * f64::from(FONT_SIZE) * CHARACTER).ceil() as u32
}

const fn px(pixels: u32) -> u32 {
    pixels * FINE
}

const fn ipx(pixels: i32) -> i32 {
    pixels * FINE as i32
}

/// `plotters` draws a dashed line as one line for each dash, which makes pages of megabytes. So the
/// kind of stroke goes through it as a width that nothing else has, which [`dashed`] turns into
/// SVG's own dashes.
const fn width_code(stroke: Stroke) -> u32 {
    match stroke {
        Stroke::Solid => 2 * FINE,
        Stroke::Dashed => 2 * FINE + 1,
        Stroke::Dotted => 2 * FINE + 2,
    }
}

fn dashed(svg: &str) -> String {
    let attribute = |stroke: Stroke| format!("stroke-width=\"{}\"", width_code(stroke));
    let with = |dash: u32, gap: u32| {
        format!("{} stroke-dasharray=\"{} {}\"", attribute(Stroke::Solid), px(dash), px(gap))
    };
    svg.replace(&attribute(Stroke::Dashed), &with(7, 4))
        .replace(&attribute(Stroke::Dotted), &with(2, 3))
}

fn svg(width: u32, height: u32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut text = String::new();
    {
        let root =
            SVGBackend::with_string(&mut text, (width * FINE, height * FINE)).into_drawing_area();
        // Drawing into a text fails only for an empty range, which `Axis` does not make; what was
        // drawn until then is kept.
        let _ = draw(&root);
        let _ = root.present();
    }
    dashed(&text).replacen(
        &format!("width=\"{}\" height=\"{}\"", width * FINE, height * FINE),
        &format!("width=\"{width}\" height=\"{height}\""),
        1,
    )
}

/// Room for the heading of a chart that stands alone.
const HEADING: u32 = 40;

/// A wide chart as a file of its own: on white paper, below a heading, with title and alternative
/// text. In the page these stand around it.
#[must_use]
pub fn standalone(svg: &str, heading: &str, title: &str, alternative: &str) -> String {
    let parts = svg.split_once('>').and_then(|(head, rest)| Some((height_of(head)?, rest)));
    let Some((height, rest)) = parts else { return svg.into() };
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (width, height) = (Form::Wide.width(), height + HEADING);
    let (top, fine_width, fine_height) = (HEADING * FINE, width * FINE, height * FINE);
    let head = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 -{top} {fine_width} {fine_height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">"
    );
    let words = format!("<title>{}</title><desc>{}</desc>", escape(title), escape(alternative));
    let paper = format!(
        "<rect x=\"0\" y=\"-{top}\" width=\"{fine_width}\" height=\"{fine_height}\" fill=\"{}\"/>",
        hex(PAPER)
    );
    let place = format!(
        "x=\"{}\" y=\"-{}\" font-family=\"{FONT}\" font-size=\"{}\" fill=\"{}\"",
        px(8),
        px(14),
        px(17),
        hex(INK)
    );
    format!("{head}{words}{paper}<text {place}>{}</text>{rest}", escape(heading))
}

/// The height in the head of a drawn chart, in pixels.
fn height_of(head: &str) -> Option<u32> {
    head.split_once(" height=\"")?.1.split_once('"')?.0.parse().ok()
}
