//! Colours of charts on dark ground, and rules that show and hide targets.
use std::fmt::Write as _;

use crate::chart::palette::{self, hex, series, series_on_dark};
use crate::view::View;

/// Style rules for as many targets as the view has.
pub fn series_rules(view: &View) -> String {
    rules(view.measured().count())
}

/// Charts are drawn in the colours for light ground. For each colour, one rule replaces it on dark
/// ground. Another rule hides the lines of a target whose box is not ticked.
pub fn rules(targets: usize) -> String {
    let mut light = String::new();
    let mut dark = String::new();
    let mut out = String::new();
    let fixed = [
        (palette::INK, "ink"),
        (palette::FAINT, "faint"),
        (palette::GRID, "grid"),
        (palette::AXIS, "axis"),
        (palette::INVALID, "invalid"),
    ];
    for (colour, name) in fixed {
        swap(&mut out, &hex(colour), &format!("var(--{name})"));
    }
    for place in 0..targets.max(palette::FEWEST) {
        let colour = hex(series(place));
        // Writing into a String cannot fail.
        let _ = write!(light, "--s{place}:{colour};");
        let _ = write!(dark, "--s{place}:{};", hex(series_on_dark(place)));
        swap(&mut out, &colour, &format!("var(--s{place})"));
        let _ = write!(
            out,
            "body:has(#show{place}:not(:checked)) .by-target svg :is([stroke=\"{colour}\"],[fill=\"{colour}\"]){{display:none}}"
        );
    }
    format!(
        ":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}@media screen{{:root[data-theme=dark]{{{dark}}}}}{out}"
    )
}

fn swap(out: &mut String, colour: &str, variable: &str) {
    let _ = write!(
        out,
        "svg [stroke=\"{colour}\"]{{stroke:{variable}}}svg [fill=\"{colour}\"]{{fill:{variable}}}"
    );
}
