//! The run in one picture of 1,200 x 630 pixels, the size that previews of links have: the answer,
//! whether it can be trusted, the first rows, and what was measured where and when.
use pippin_model::verdict::Verdict;
use pippin_stats::summary::trust::Answer;
use plotters::style::RGBColor;
use std::fmt::Write as _;

use super::canvas::{CHARACTER, FONT, escape};
use super::palette::{AXIS, FAINT, GRID, INK, INVALID, PAPER, hex, series};
use super::provenance;
use crate::ranked::{self, end_of_bars};
use crate::terminal::paint;
use crate::view::View;
use crate::view::lead::Lead;
use crate::view::row::Row;

/// Its name on the command line.
pub const NAME: &str = "summary";
/// Its size in pixels.
const SIZE: (u32, u32) = (1_200, 630);
const MARGIN: f64 = 48.0;
/// Rows that have room.
const MOST_ROWS: usize = 7;
const ROW: f64 = 36.0;
/// What shows most of a run of one target.
const OF_ONE: [&str; 5] =
    ["sweep", "overload-over-time", "devices", "throughput-over-time", "percentiles"];
/// Where the bars begin and how long the longest is.
const BARS: (f64, f64) = (340.0, 470.0);

/// The picture as SVG.
#[must_use]
pub fn render(view: &View) -> String {
    let mut picture = Picture::new(view);
    let bottom = picture.head(view);
    picture.rows(view, bottom);
    picture.foot(view);
    picture.svg + "</svg>"
}

struct Picture {
    svg: String,
}

impl Picture {
    fn new(view: &View) -> Self {
        let (width, height) = SIZE;
        let about = escape(&view.conclusion);
        let title = escape(&view.run.title);
        Self {
            svg: format!(
                "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" font-family=\"{FONT}\" role=\"img\"><title>{title}</title><desc>{about}</desc><rect width=\"100%\" height=\"100%\" fill=\"{}\"/>",
                hex(PAPER)
            ),
        }
    }

    /// A line of text whose baseline begins here.
    fn text(&mut self, (x, y): (f64, f64), size: f64, colour: RGBColor, text: &str) {
        // Writing into a String cannot fail.
        let _ = write!(
            self.svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" font-size=\"{size:.0}\" fill=\"{}\">{}</text>",
            hex(colour),
            escape(text)
        );
    }

    /// A box with these corners.
    fn block(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        let _ = write!(
            self.svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" {fill}/>",
            width.max(1.0)
        );
    }

    /// Title, load, answer and trust. Returns where the rest begins.
    fn head(&mut self, view: &View) -> f64 {
        let width = f64::from(SIZE.0) - 2.0 * MARGIN;
        let quick = if view.run.quick { " (quick form)" } else { "" };
        self.text(
            (MARGIN, 58.0),
            24.0,
            INK,
            &cut(&format!("{}{quick}", view.run.title), 24.0, width),
        );
        self.text((MARGIN, 86.0), 17.0, FAINT, &cut(&view.run.load, 17.0, width));
        let lead = Lead::from_view(view);
        let mut y = 140.0;
        for line in wrapped(&lead.head, 38.0, width, 2) {
            self.text((MARGIN, y), 38.0, INK, &line);
            y += 44.0;
        }
        y -= 8.0;
        for line in wrapped(&lead.more.join(" "), 20.0, width, 2) {
            self.text((MARGIN, y), 20.0, INK, &line);
            y += 27.0;
        }
        self.trust(view, y + 8.0)
    }

    fn trust(&mut self, view: &View, y: f64) -> f64 {
        let trust = &view.trust;
        let sign = match trust.answer {
            Answer::Yes => series(2),
            Answer::Partly => series(4),
            Answer::No => series(1),
        };
        let text = format!(
            "Can you trust it? {}: {}.",
            trust.answer.word(),
            trust.because.replace('`', "")
        );
        let lines = wrapped(&text, 18.0, f64::from(SIZE.0) - 2.0 * MARGIN - 18.0, 2);
        let height = lines.len() as f64 * 24.0 + 4.0;
        self.block((MARGIN, y - 18.0), (6.0, height), &format!("fill=\"{}\"", hex(sign)));
        for (nth, line) in lines.iter().enumerate() {
            self.text((MARGIN + 18.0, y + 24.0 * nth as f64), 18.0, INK, line);
        }
        y + height + 6.0
    }

    /// The first rows: name, bar with interval, figure, verdict. One row alone says nothing new.
    fn rows(&mut self, view: &View, top: f64) {
        let all: Vec<&Row> = view.measured().collect();
        if all.len() < 2 {
            return self.chart(view, top);
        }
        let end = end_of_bars(&all.iter().filter_map(|row| row.ranked).collect::<Vec<_>>());
        let room = ((f64::from(SIZE.1) - 56.0 - top) / ROW) as usize;
        let most = MOST_ROWS.min(room);
        // The last place is that of the line which counts the others.
        let shown = if all.len() > most { most.saturating_sub(1) } else { all.len() };
        for (nth, row) in all.iter().take(shown).enumerate() {
            self.row(view, row, end, top + ROW * nth as f64);
        }
        if all.len() > shown {
            let rest = format!("and {} more", all.len() - shown);
            self.text((MARGIN, top + ROW * shown as f64 + 20.0), 18.0, FAINT, &rest);
        }
    }

    /// The first of these charts that the run has, in the room that is left.
    fn chart(&mut self, view: &View, top: f64) {
        let all = super::all(view);
        let found = OF_ONE.iter().find_map(|name| all.iter().find(|chart| chart.name == *name));
        let drawing = found.and_then(|chart| chart.drawings.middle.split_once("viewBox="));
        if let Some((_, rest)) = drawing {
            let (width, height) =
                (f64::from(SIZE.0) - 2.0 * MARGIN, f64::from(SIZE.1) - 56.0 - top);
            // Writing into a String cannot fail.
            let _ = write!(
                self.svg,
                "<svg x=\"{MARGIN}\" y=\"{top:.0}\" width=\"{width}\" height=\"{height:.0}\" viewBox={rest}"
            );
        }
    }

    fn row(&mut self, view: &View, row: &Row, end: f64, y: f64) {
        let name = format!("{}. {}", row.rank_in_words(), row.target);
        let name = if row.standing.rank.is_none() { row.target.to_string() } else { name };
        self.text((MARGIN, y + 20.0), 19.0, INK, &cut(&name, 19.0, BARS.0 - MARGIN - 12.0));
        let length =
            |value: f64| if end > 0.0 { (value / end).clamp(0.0, 1.0) * BARS.1 } else { 0.0 };
        if let Some(figure) = row.ranked {
            self.block((BARS.0, y + 4.0), (length(figure.median), 20.0), &fill(row.verdict));
            if let Some(interval) = figure.interval {
                let (low, high) = (length(interval.low), length(interval.high));
                let ink = format!("fill=\"{}\"", hex(INK));
                self.block((BARS.0 + low, y + 13.0), (high - low, 2.0), &ink);
            }
        }
        let unit = if ranked::by_time(view) { "" } else { "/s" };
        let figure = format!("{}{unit}", ranked::median(view, row));
        self.text((BARS.0 + BARS.1 + 16.0, y + 20.0), 19.0, INK, &figure);
        if let Some(verdict) = row.verdict {
            self.text((1_060.0, y + 20.0), 17.0, INK, &verdict.to_string());
        }
    }

    fn foot(&mut self, view: &View) {
        let y = f64::from(SIZE.1);
        let line = format!("fill=\"{}\"", hex(GRID));
        self.block((MARGIN, y - 46.0), (f64::from(SIZE.0) - 2.0 * MARGIN, 1.0), &line);
        let text = provenance(view);
        self.text(
            (MARGIN, y - 20.0),
            16.0,
            FAINT,
            &cut(&text, 16.0, f64::from(SIZE.0) - 2.0 * MARGIN),
        );
    }
}

/// A believed figure is a full bar, a doubted one an outline, and one that is not ranked is grey.
fn fill(verdict: Option<Verdict>) -> String {
    match verdict {
        Some(Verdict::Valid) => format!("fill=\"{}\"", hex(series(0))),
        Some(Verdict::Suspect) => format!(
            "fill=\"{0}\" fill-opacity=\"0.3\" stroke=\"{0}\" stroke-dasharray=\"6 4\"",
            hex(series(0))
        ),
        Some(Verdict::Invalid) => format!("fill=\"{}\"", hex(INVALID)),
        None => format!("fill=\"none\" stroke=\"{}\"", hex(AXIS)),
    }
}

/// How many characters of this size fit into a width.
fn room(size: f64, width: f64) -> usize {
    (width / (size * CHARACTER)) as usize
}

/// As much of a text as fits, with a sign where it was cut.
fn cut(text: &str, size: f64, width: f64) -> String {
    paint::cut(text, room(size, width))
}

/// A text in lines that fit, at most so many of them.
fn wrapped(text: &str, size: f64, width: f64, most: usize) -> Vec<String> {
    let mut lines = paint::wrap(text, room(size, width));
    lines.retain(|line| !line.is_empty());
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| cut(line, size, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_cut_where_it_has_no_room() {
        // Ten characters of this size have room.
        let (size, width) = (10.0, 10.0 * 10.0 * CHARACTER);
        assert_eq!(wrapped("one two three four", size, width, 4), ["one two", "three four"]);
        assert_eq!(wrapped("one two three four five", size, width, 2), ["one two", "three fou…"]);
        assert_eq!(wrapped("incomprehensible", size, width, 2), ["incompreh…"]);
        assert_eq!(wrapped("", size, width, 2), [""; 0]);
        assert_eq!(cut("ten signs.", size, width), "ten signs.");
    }

    #[test]
    fn a_doubted_figure_is_not_drawn_as_a_believed_one() {
        let all = [Some(Verdict::Valid), Some(Verdict::Suspect), Some(Verdict::Invalid), None];
        let fills: std::collections::BTreeSet<String> = all.into_iter().map(fill).collect();
        assert_eq!(fills.len(), 4);
    }
}
