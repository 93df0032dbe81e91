//! Sizes, legend and paper. `plotters` draws lines, bars and maps on it.
//!
//! | module | what it draws |
//! |---|---|
//! | `lines` | lines with bands and marks |
//! | `labels` | names at the ends of lines |
//! | `bars` | bars, and dots with intervals |
//! | `dots` | many dots as one path |
//! | `heat` | maps of shares over time |
mod bars;
mod dots;
mod heat;
mod labels;
mod lines;

pub use bars::{Bar, bars, bars_about};
pub use heat::{Cell, Panel, heat};
pub use lines::{Line, Mark, lines, marked_lines};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::palette::{FAINT, GRID, INK, PAPER, Stroke, hex};

/// `plotters` rounds to whole units. So it draws at four times the size: a quarter of a pixel is
/// not visible.
const FINE: u32 = 4;
pub(super) const FONT: &str = "system-ui, sans-serif";
/// `plotters` writes letters at 1 / 1.24 of the given size: these have 14 px.
const FONT_SIZE: u32 = 17;
/// The opacity of the band around a line.
const BAND: f64 = 0.18;
/// The approximate width of a character, as a fraction of the font size.
pub(super) const CHARACTER: f64 = 0.54;

/// An axis for `plotters`: its values are already places, and only our ticks are key points.
#[derive(Debug, Clone)]
struct Ticks {
    range: std::ops::Range<f64>,
    places: Vec<f64>,
}

impl Ticks {
    fn from_axis(axis: &Axis) -> Self {
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

/// The forms of a chart. Each is shown at about its own size, so that its text is as large as that
/// of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For the full width of the page.
    Wide,
    /// For tablets and small windows.
    Middle,
    /// For telephones, and for two charts side by side on paper.
    Narrow,
}

impl Form {
    /// Width in pixels.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Wide => 1_200,
            Self::Middle => 760,
            Self::Narrow => 360,
        }
    }

    /// Ticks on a horizontal axis.
    #[must_use]
    pub const fn ticks(self) -> u32 {
        match self {
            Self::Wide => 8,
            Self::Middle => 6,
            Self::Narrow => 3,
        }
    }

    /// Whether there is room for names beside what they name.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        !matches!(self, Self::Narrow)
    }

    /// The height of the part of a chart below its legend, in pixels.
    const fn plot_height(self) -> u32 {
        match self {
            Self::Wide => 420,
            Self::Middle => 350,
            Self::Narrow => 290,
        }
    }
}

/// The width of a mark in the legend, in pixels: the longest pattern and the begin of its next turn.
const MARK: i32 = 24;

/// An entry of the legend.
type Entry = (String, RGBColor, Stroke);
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failed = Box<dyn std::error::Error>;
type Drawn = Result<(), Failed>;

/// Writes the title of the horizontal axis at the lower right corner.
fn x_title(body: &Area<'_>, x: &Axis) -> Drawn {
    let (width, height) = body.dim_in_pixel();
    let style = (FONT, px(FONT_SIZE - 1)).into_font().color(&FAINT);
    let style = style.pos(Pos::new(HPos::Right, VPos::Bottom));
    let corner = (width as i32 - ipx(18), height as i32 - ipx(2));
    body.draw(&Text::new(x.title.clone(), corner, style))?;
    Ok(())
}

/// The places of the legend's entries in pixels, and the height they take.
fn legend_places(form: Form, legend: &[Entry]) -> (Vec<(u32, u32)>, u32) {
    let (mut x, mut y) = (8, 4);
    let mut places = Vec::new();
    for (name, ..) in legend {
        let width = text_width(name.chars().count()) + MARK as u32 + 22;
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
        for (from, to) in mark(*stroke) {
            top.draw(&Rectangle::new(
                [(x + ipx(from), y + ipx(4)), (x + ipx(to), y + ipx(12))],
                colour.filled(),
            ))?;
        }
        let style =
            (FONT, px(FONT_SIZE)).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        top.draw(&Text::new(name.clone(), (x + ipx(MARK + 6), y + ipx(8)), style))?;
    }
    Ok(())
}

/// The pieces of a mark in the legend: from where to where each goes, in pixels.
fn mark(stroke: Stroke) -> Vec<(i32, i32)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (place, length) in stroke.dashes().iter().cycle().enumerate() {
        let to = MARK.min(from + *length as i32);
        if place % 2 == 0 {
            pieces.push((from, to));
        }
        from = to;
        if from == MARK {
            return pieces;
        }
    }
    vec![(0, MARK)]
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

/// `plotters` draws a dashed line as one line for each dash, which makes pages of megabytes. So
/// each kind of stroke gets a width that nothing else uses, and [`dashed`] replaces that width by
/// SVG's own dashes.
const fn width_code(stroke: Stroke) -> u32 {
    match stroke {
        Stroke::Solid => 2 * FINE,
        Stroke::Dashed => 2 * FINE + 1,
        Stroke::Dotted => 2 * FINE + 2,
        Stroke::LongDashed => 2 * FINE + 3,
        // Three times FINE belongs to no stroke.
        Stroke::DashDotted => 2 * FINE + 5,
    }
}

fn dashed(svg: &str) -> String {
    let attribute = |stroke: Stroke| format!("stroke-width=\"{}\"", width_code(stroke));
    let with_gaps = |stroke: Stroke| {
        let lengths: Vec<String> =
            stroke.dashes().iter().map(|length| px(*length).to_string()).collect();
        format!("{} stroke-dasharray=\"{}\"", attribute(Stroke::Solid), lengths.join(" "))
    };
    [Stroke::Dashed, Stroke::Dotted, Stroke::LongDashed, Stroke::DashDotted]
        .into_iter()
        .fold(svg.to_string(), |text, stroke| text.replace(&attribute(stroke), &with_gaps(stroke)))
}

fn svg(width: u32, height: u32, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut text = String::new();
    {
        let root =
            SVGBackend::with_string(&mut text, (width * FINE, height * FINE)).into_drawing_area();
        // Drawing into a string fails only for an empty range, which `Axis` never makes. Whatever
        // was drawn before is kept.
        let _ = draw(&root);
        let _ = root.present();
    }
    dashed(&dots::joined(&slim(&text))).replacen(
        &format!("width=\"{}\" height=\"{}\"", width * FINE, height * FINE),
        &format!("width=\"{width}\" height=\"{height}\" font-family=\"{FONT}\""),
        1,
    )
}

/// `plotters` says of each element what holds without being said, and the font of each text. A page
/// has three drawings of a chart, of which that would be the half.
fn slim(svg: &str) -> String {
    let said = [
        (" opacity=\"1\"", ""),
        (" stroke=\"none\" stroke-width=\"1\"", ""),
        (" stroke=\"none\"", ""),
        (" text-anchor=\"start\"", ""),
        (&format!(" font-family=\"{FONT}\""), ""),
        (" \"/>", "\"/>"),
        (">\n", ">"),
        ("\n<", "<"),
    ];
    let slim = said.iter().fold(svg.to_string(), |text, (from, to)| text.replace(from, to));
    // Sizes to more digits than a pixel has parts.
    let mut parts = slim.split("font-size=\"");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or((part, ""));
        let size = size.get(..size.len().min(4)).unwrap_or(size);
        out.extend(["font-size=\"", size, "\"", rest]);
    }
    out
}

/// Room for the heading of a chart that stands alone.
const HEADING: u32 = 40;

/// What a chart needs as its own file, which the page has outside of the chart.
#[derive(Debug, Clone, Copy)]
pub struct Standalone<'a> {
    /// The line above it.
    pub heading: &'a str,
    /// The lines below it: the load, and where, when and by what it was measured.
    pub foot: [&'a str; 2],
    /// The chart's title.
    pub title: &'a str,
    /// Its alternative text.
    pub alternative: &'a str,
}

/// A wide chart as its own file, on white paper.
#[must_use]
pub fn standalone(svg: &str, words: &Standalone<'_>) -> String {
    let parts = svg.split_once('>').and_then(|(head, rest)| Some((height_of(head)?, rest)));
    let Some((chart_height, rest)) = parts else { return svg.into() };
    let rest = rest.strip_suffix("</svg>").unwrap_or(rest);
    let foot_height = 20 * words.foot.len() as u32 + 8;
    let (width, height) = (Form::Wide.width(), chart_height + HEADING + foot_height);
    let (top, fine_width, fine_height) = (HEADING * FINE, width * FINE, height * FINE);
    let head = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 -{top} {fine_width} {fine_height}\" xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{FONT}\" role=\"img\">"
    );
    let about =
        format!("<title>{}</title><desc>{}</desc>", escape(words.title), escape(words.alternative));
    let paper = format!(
        "<rect x=\"0\" y=\"-{top}\" width=\"{fine_width}\" height=\"{fine_height}\" fill=\"{}\"/>",
        hex(PAPER)
    );
    let line = |y: i32, size: u32, colour: RGBColor, text: &str| {
        let (x, y, size) = (px(8), ipx(y), px(size));
        let colour = hex(colour);
        format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\">{}</text>",
            escape(text)
        )
    };
    let heading = line(-14, 17, INK, words.heading);
    let foot: String = (words.foot.iter().enumerate())
        .map(|(nth, text)| line(chart_height as i32 + 12 + 20 * nth as i32, 13, FAINT, text))
        .collect();
    format!("{head}{about}{paper}{heading}{rest}{foot}</svg>")
}

/// Text as SVG needs it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The height in the head of a drawn chart, in pixels.
fn height_of(head: &str) -> Option<u32> {
    head.split_once(" height=\"")?.1.split_once('"')?.0.parse().ok()
}
