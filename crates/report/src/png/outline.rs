//! Text of a chart as the outlines of its letters, so that the renderer needs no machinery for the
//! world's scripts: charts have names of targets, figures and units, from left to right, in one
//! font.
use std::fmt::Write as _;
use ttf_parser::{Face, OutlineBuilder};

/// Units that CSS knows in a `dy`, in parts of the font's size (CSS Values and Units 4, section
/// 6.1.1: an unknown x-height is half an em).
const UNITS: [(&str, f64); 2] = [("em", 1.0), ("ex", 0.5)];

/// The SVG with each `<text>` replaced by a path; `None` if the font or an element is not what it
/// should be.
pub fn outlined(svg: &str) -> Option<String> {
    let face = Face::parse(notosans::REGULAR_TTF, 0).ok()?;
    let mut parts = svg.split("<text ");
    let mut out = parts.next()?.to_string();
    for part in parts {
        let (element, rest) = part.split_once("</text>")?;
        let (attributes, words) = element.split_once('>')?;
        out.push_str(&path(&face, &format!(" {attributes}"), words.trim())?);
        out.push_str(rest);
    }
    Some(out)
}

fn path(face: &Face<'_>, attributes: &str, words: &str) -> Option<String> {
    let number = |name: &str| attribute(attributes, name)?.parse::<f64>().ok();
    let (x, y, size) = (number("x")?, number("y")?, number("font-size")?);
    let shift = match attribute(attributes, "dy") {
        None => 0.0,
        Some(dy) => UNITS
            .iter()
            .find_map(|(unit, ems)| Some(dy.strip_suffix(unit)?.parse::<f64>().ok()? * ems))?,
    };
    let scale = size / f64::from(face.units_per_em());
    let words = unescaped(words);
    let glyphs: Vec<_> =
        words.chars().map(|sign| face.glyph_index(sign).unwrap_or_default()).collect();
    let advance = |glyph| f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) * scale;
    let width: f64 = glyphs.iter().map(|glyph| advance(*glyph)).sum();
    let left = match attribute(attributes, "text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    let mut pen = Pen { left, base: y + shift * size, scale, path: String::new() };
    for glyph in glyphs {
        // A blank has no outline.
        let _ = face.outline_glyph(glyph, &mut pen);
        pen.left += advance(glyph);
    }
    Some(format!("<path d=\"{}\" fill=\"{}\"/>", pen.path, attribute(attributes, "fill")?))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    Some(attributes.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0)
}

/// XML 1.0, section 4.6; the ampersand last, so that nothing is taken apart twice.
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Draws letters, whose vertical axis points up, into SVG, whose points down.
struct Pen {
    left: f64,
    base: f64,
    scale: f64,
    path: String,
}

impl Pen {
    fn draw(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            // Writing into a String cannot fail.
            let _ = write!(
                self.path,
                "{:.2} {:.2} ",
                self.left + f64::from(*x) * self.scale,
                self.base - f64::from(*y) * self.scale
            );
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.draw('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.draw('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.draw('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.draw('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The horizontal ends of what is drawn of a text.
    fn ends(attributes: &str, words: &str) -> (f64, f64) {
        let svg =
            outlined(&format!("<svg><text {attributes} fill=\"#000000\">\n{words}\n</text></svg>"))
                .unwrap();
        let path = svg.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
        let numbers: Vec<f64> = path
            .split(|c: char| c == ' ' || c.is_ascii_alphabetic())
            .filter_map(|number| number.parse().ok())
            .collect();
        let xs = || numbers.iter().step_by(2).copied();
        (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max))
    }

    #[test]
    fn text_stands_where_its_anchor_says() {
        let at = |anchor: &str| {
            ends(&format!("x=\"100\" y=\"50\" text-anchor=\"{anchor}\" font-size=\"20\""), "HHHH")
        };
        let (start, middle, end) = (at("start"), at("middle"), at("end"));
        assert!(start.0 > 100.0 && start.0 < 103.0, "{start:?}");
        assert!(end.1 < 100.0 && end.1 > 97.0, "{end:?}");
        assert!((f64::midpoint(middle.0, middle.1) - 100.0).abs() < 0.1, "{middle:?}");
    }

    #[test]
    fn escapes_are_one_letter_and_what_is_no_text_stays() {
        let attributes = "x=\"0\" y=\"0\" font-size=\"10\"";
        let (short, long) = (ends(attributes, "&amp;lt;").1, ends(attributes, "&amp;&amp;").1);
        // `&lt;` in the data is four letters, `&&` two: nothing is taken apart twice.
        assert!(short > long * 0.9 && ends(attributes, "&lt;").1 < long, "{short} {long}");
        assert_eq!(
            outlined("<svg><rect width=\"1\"/></svg>").unwrap(),
            "<svg><rect width=\"1\"/></svg>"
        );
        assert_eq!(outlined("<svg><text x=\"1\">cut"), None);
    }
}
