//! Colours: the palette of Okabe and Ito for colour-blind readers ("Color Universal Design", 2008),
//! then Paul Tol's "muted" scheme ("Colour Schemes", SRON/EPS/TN/09-002, 2021). On dark screens,
//! style rules in the page replace each colour by a lighter one.
use plotters::style::RGBColor;
use std::collections::HashMap;

/// Text.
pub const INK: RGBColor = RGBColor(0x22, 0x26, 0x2b);
/// Less important text.
pub const FAINT: RGBColor = RGBColor(0x60, 0x66, 0x6e);
/// Lines behind the figures.
pub const GRID: RGBColor = RGBColor(0xe4, 0xe6, 0xe9);
/// Axes.
pub const AXIS: RGBColor = RGBColor(0x9a, 0xa0, 0xa8);
/// Whatever is not ranked.
pub const INVALID: RGBColor = RGBColor(0xb9, 0xbd, 0xc3);
/// The paper of a chart in its own file.
pub const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);

/// Colours that belong to no target, on light and on dark ground (`html/style.css` has the same
/// ones for the page).
const FIXED: [(RGBColor, RGBColor); 6] = [
    (INK, RGBColor(0xe7, 0xe9, 0xec)),
    (FAINT, RGBColor(0xa4, 0xab, 0xb5)),
    (GRID, RGBColor(0x2f, 0x35, 0x3d)),
    (AXIS, RGBColor(0x6d, 0x75, 0x80)),
    (INVALID, RGBColor(0x56, 0x5d, 0x67)),
    (PAPER, RGBColor(0x14, 0x17, 0x1b)),
];

/// The colours of targets, on light and on dark ground.
const SERIES: [(RGBColor, RGBColor); 12] = [
    (RGBColor(0x00, 0x72, 0xb2), RGBColor(0x4f, 0xae, 0xe8)),
    (RGBColor(0xd5, 0x5e, 0x00), RGBColor(0xff, 0x8a, 0x3d)),
    (RGBColor(0x00, 0x9e, 0x73), RGBColor(0x35, 0xc9, 0x9b)),
    (RGBColor(0xb8, 0x5c, 0x90), RGBColor(0xe3, 0x94, 0xbf)),
    (RGBColor(0xb8, 0x7f, 0x00), RGBColor(0xf0, 0xb4, 0x2e)),
    (RGBColor(0x33, 0x9c, 0xd6), RGBColor(0x8f, 0xcf, 0xf5)),
    (RGBColor(0x33, 0x22, 0x88), RGBColor(0x9c, 0x8e, 0xee)),
    (RGBColor(0x88, 0x22, 0x55), RGBColor(0xd9, 0x6a, 0xa3)),
    (RGBColor(0x99, 0x99, 0x33), RGBColor(0xd0, 0xd0, 0x6a)),
    (RGBColor(0x11, 0x77, 0x33), RGBColor(0x5c, 0xb8, 0x7a)),
    (RGBColor(0xcc, 0x66, 0x77), RGBColor(0xf0, 0x97, 0xa5)),
    (RGBColor(0x44, 0x9a, 0x9a), RGBColor(0x7c, 0xcf, 0xcf)),
];

/// The colour of the target at this place. All are different, so that the page can show and hide a
/// target by its colour. After the twelfth, the palette repeats with one step more of blue, and
/// lines are dashed.
#[must_use]
pub fn series(place: usize) -> RGBColor {
    let (RGBColor(r, g, b), _) = SERIES[place % SERIES.len()];
    let round = (place / SERIES.len()) as u8;
    RGBColor(r, g, if b < 0x80 { b + round } else { b - round })
}

/// The colour of a series on dark ground.
#[must_use]
pub fn series_on_dark(place: usize) -> RGBColor {
    SERIES[place % SERIES.len()].1
}

/// A chart with each colour replaced by the one for dark ground. `targets` is the number of targets
/// that have a colour. Other colours stay.
#[must_use]
pub fn on_dark(svg: &str, targets: usize) -> String {
    let of_targets = (0..targets.max(FEWEST)).map(|place| (series(place), series_on_dark(place)));
    let rules: HashMap<String, String> =
        FIXED.into_iter().chain(of_targets).map(|(light, dark)| (hex(light), hex(dark))).collect();
    // Replace all in one pass: some colours are both a light one and a dark one, and would be
    // replaced twice.
    let mut parts = svg.split("\"#");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let colour = part.get(..6).map(|digits| format!("#{digits}"));
        out.push('"');
        match colour.as_ref().and_then(|colour| rules.get(colour)) {
            Some(dark) => out.push_str(&format!("{dark}{}", &part[6..])),
            None => out.push_str(&format!("#{part}")),
        }
    }
    out
}

/// The least number of colours: charts without targets use the first ones for their parts.
pub const FEWEST: usize = 5;

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// In dashes.
    Dashed,
    /// In dots.
    Dotted,
}

/// The stroke of the target at this place.
#[must_use]
pub const fn stroke(place: usize) -> Stroke {
    match place / SERIES.len() {
        0 => Stroke::Solid,
        1 => Stroke::Dashed,
        _ => Stroke::Dotted,
    }
}

/// A colour as SVG and CSS write it; `plotters` writes it the same way.
#[must_use]
pub fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_ground_has_the_colours_of_the_page() {
        let style = include_str!("../html/style.css");
        let dark = style
            .split(":root[data-theme=dark]{")
            .nth(1)
            .unwrap()
            .split('}')
            .next()
            .unwrap()
            .to_uppercase();
        for ((_, colour), name) in
            FIXED.into_iter().zip(["INK", "FAINT", "GRID", "AXIS", "INVALID", "PAPER"])
        {
            assert!(dark.contains(&format!("--{name}:{}", hex(colour))), "{name} {}", hex(colour));
        }
    }

    #[test]
    fn each_colour_is_replaced_once() {
        let svg = "<a fill=\"#0072B2\"/><b stroke=\"#FFFFFF\" href=\"#x\"/><c fill=\"#123456\"/>";
        assert_eq!(
            on_dark(svg, 1),
            "<a fill=\"#4FAEE8\"/><b stroke=\"#14171B\" href=\"#x\"/><c fill=\"#123456\"/>"
        );
    }

    #[test]
    fn forty_targets_have_forty_colours() {
        let mut colours: Vec<String> = (0..40).map(|place| hex(series(place))).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), 40);
    }
}
