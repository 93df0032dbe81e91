//! Colours: the palette of Okabe and Ito for colour-blind readers ("Color Universal Design", 2008),
//! then Paul Tol's "muted" scheme ("Colour Schemes", SRON/EPS/TN/09-002, 2021). On dark screens,
//! style rules in the page replace each colour by a lighter one.
//!
//! The first eight were moved as little as possible until any two of them differ by 10 or more
//! (CIEDE2000) for readers with and without colour blindness of each kind, on light and on dark
//! ground, and each has a contrast of 3 to its ground (WCAG 2.2, 1.4.11).
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
    (RGBColor(0x00, 0x73, 0xc0), RGBColor(0x78, 0xb3, 0xe6)),
    (RGBColor(0xbd, 0x55, 0x08), RGBColor(0xf3, 0x80, 0x32)),
    (RGBColor(0x01, 0x97, 0x6a), RGBColor(0x11, 0xdc, 0xa7)),
    (RGBColor(0xb6, 0x61, 0x91), RGBColor(0xde, 0x8d, 0xb3)),
    (RGBColor(0xc6, 0x87, 0x02), RGBColor(0xfc, 0xbf, 0x33)),
    (RGBColor(0x17, 0x9c, 0xe1), RGBColor(0xaa, 0xdb, 0xfd)),
    (RGBColor(0x30, 0x21, 0x85), RGBColor(0x8f, 0x81, 0xea)),
    (RGBColor(0x8a, 0x1f, 0x55), RGBColor(0xc7, 0x65, 0x9f)),
    (RGBColor(0x99, 0x99, 0x33), RGBColor(0xd0, 0xd0, 0x6a)),
    (RGBColor(0x11, 0x77, 0x33), RGBColor(0x5c, 0xb8, 0x7a)),
    (RGBColor(0xcc, 0x66, 0x77), RGBColor(0xf0, 0x97, 0xa5)),
    (RGBColor(0x44, 0x9a, 0x9a), RGBColor(0x7c, 0xcf, 0xcf)),
];

/// The colour of the target at this place. All are different, so that the page can show and hide a
/// target by its colour. After the twelfth, the palette repeats with one step more of blue, and
/// with another stroke.
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
    /// In long dashes.
    LongDashed,
    /// In dashes and dots in turn.
    DashDotted,
    /// In dots. No target has it: it marks what is beside the targets.
    Dotted,
}

impl Stroke {
    /// The lengths of dashes and gaps in turn, in pixels; empty for a line without gaps.
    #[must_use]
    pub const fn dashes(self) -> &'static [u32] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[7, 4],
            Self::LongDashed => &[14, 5],
            Self::DashDotted => &[9, 3, 2, 3],
            Self::Dotted => &[2, 3],
        }
    }
}

/// The stroke of the target at this place: neighbours differ without their colours, and so do two
/// targets of almost the same colour.
#[must_use]
pub const fn stroke(place: usize) -> Stroke {
    const STROKES: [Stroke; 4] =
        [Stroke::Solid, Stroke::Dashed, Stroke::LongDashed, Stroke::DashDotted];
    STROKES[(place + place / SERIES.len()) % STROKES.len()]
}

/// A colour as SVG and CSS write it; `plotters` writes it the same way.
#[must_use]
pub fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use palette::color_difference::{Ciede2000 as _, Wcag21RelativeContrast as _};
    use palette::{IntoColor as _, Lab, LinSrgb, Srgb};

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
        let svg = "<a fill=\"#0073C0\"/><b stroke=\"#FFFFFF\" href=\"#x\"/><c fill=\"#123456\"/>";
        assert_eq!(
            on_dark(svg, 1),
            "<a fill=\"#78B3E6\"/><b stroke=\"#14171B\" href=\"#x\"/><c fill=\"#123456\"/>"
        );
    }

    /// A colour as a reader sees it who lacks a kind of cones: a matrix over linear RGB for the full
    /// lack of it (Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
    /// Color Vision Deficiency", 2009, table 1).
    fn seen(RGBColor(r, g, b): RGBColor, matrix: &[[f32; 3]; 3]) -> Lab {
        let linear: LinSrgb = Srgb::new(r, g, b).into_linear();
        let mixed = matrix
            .map(|[red, green, blue]| red * linear.red + green * linear.green + blue * linear.blue);
        let [red, green, blue] = mixed.map(|part| part.clamp(0.0, 1.0));
        LinSrgb::new(red, green, blue).into_color()
    }

    const READERS: [(&str, [[f32; 3]; 3]); 4] = [
        ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    #[test]
    fn the_first_eight_are_told_apart_by_every_reader_on_every_ground() {
        let series =
            |dark: bool| SERIES.map(|(on_light, on_dark)| if dark { on_dark } else { on_light });
        for (ground, colours) in [("light", series(false)), ("dark", series(true))] {
            for (reader, matrix) in &READERS {
                for place in 0..8 {
                    for other in 0..place {
                        let pair = [place, other].map(|one| seen(colours[one], matrix));
                        let difference = pair[0].difference(pair[1]);
                        assert!(
                            difference >= 10.0,
                            "{place} and {other}: {difference} for {reader} on {ground} ground"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_eight_stand_out_from_their_ground() {
        let of = |RGBColor(r, g, b): RGBColor| Srgb::new(r, g, b).into_format::<f32>();
        let (_, dark_paper) = FIXED[5];
        for (on_light, on_dark) in &SERIES[..8] {
            for (colour, paper) in [(*on_light, PAPER), (*on_dark, dark_paper)] {
                let contrast = of(colour).relative_contrast(of(paper));
                assert!(contrast >= 3.0, "{}: {contrast}", hex(colour));
            }
        }
    }

    #[test]
    fn neighbours_differ_without_their_colours_and_no_target_is_dotted() {
        for place in 0..200 {
            assert_ne!(stroke(place), stroke(place + 1), "{place}");
            assert_ne!(stroke(place), stroke(place + SERIES.len()), "{place}");
            assert_ne!(stroke(place), Stroke::Dotted, "{place}");
        }
        assert_eq!(stroke(0), Stroke::Solid);
    }

    #[test]
    fn forty_targets_have_forty_colours() {
        let mut colours: Vec<String> = (0..40).map(|place| hex(series(place))).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), 40);
    }
}
