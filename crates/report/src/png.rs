//! A chart as a picture, for a README or a blog that takes no SVG: drawn from the same SVG by
//! `resvg`, without a browser.
//!
//! Text is set in Noto Sans, which Pippin carries: the fonts of a machine would make the same chart
//! look different on each.
mod outline;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::svg::{self, Ground, UnknownChart};
use crate::view::View;

/// Pixels of the picture for one of the chart: screens of today have two.
const SCALE: u32 = 2;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The run has no such chart.
    #[error(transparent)]
    Unknown(#[from] UnknownChart),
    /// The chart was drawn, but not turned into a picture.
    #[error("the chart cannot be drawn as a picture: {0}")]
    Drawing(String),
}

/// The chart of this name as PNG, twice as many pixels as the SVG has units.
///
/// # Errors
/// If the run has no such chart (the message names those it has), or it cannot be drawn.
pub fn of(view: &View, name: &str, ground: Ground) -> Result<Vec<u8>, PngError> {
    rendered(&svg::of(view, name, ground)?)
}

/// SVG as PNG.
fn rendered(svg: &str) -> Result<Vec<u8>, PngError> {
    let outlined = outline::outlined(svg)
        .ok_or_else(|| PngError::Drawing("its text is not what a chart has".into()))?;
    let tree = Tree::from_str(&outlined, &Options::default())
        .map_err(|error| PngError::Drawing(error.to_string()))?;
    let size = tree.size().to_int_size();
    let mut picture = Pixmap::new(size.width() * SCALE, size.height() * SCALE)
        .ok_or_else(|| PngError::Drawing("it has no size".into()))?;
    resvg::render(&tree, Transform::from_scale(SCALE as f32, SCALE as f32), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Drawing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use resvg::tiny_skia::PremultipliedColorU8;

    fn drawn(text: &str) -> Pixmap {
        let svg = format!(
            "<svg width=\"40\" height=\"20\" viewBox=\"0 0 160 80\" xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/><text x=\"8\" y=\"60\" font-family=\"system-ui, sans-serif\" font-size=\"52\" fill=\"#22262B\">{text}</text></svg>"
        );
        Pixmap::decode_png(&rendered(&svg).unwrap()).unwrap()
    }

    fn ink(picture: &Pixmap) -> usize {
        picture
            .pixels()
            .iter()
            .filter(|pixel| **pixel != PremultipliedColorU8::from_rgba(255, 255, 255, 255).unwrap())
            .count()
    }

    #[test]
    fn text_is_drawn_at_twice_the_size() {
        let picture = drawn("7");
        assert_eq!((picture.width(), picture.height()), (80, 40));
        assert!(ink(&picture) > 40, "{} pixels", ink(&picture));
        assert_eq!(ink(&drawn("")), 0);
    }

    #[test]
    fn the_font_has_every_sign_of_a_chart() {
        let missing = drawn("\u{e000}").data().to_vec();
        for sign in "µ±–…·×%/().,:+>≥≤éü°²σκλ".chars().filter(|sign| !sign.is_whitespace())
        {
            let picture = drawn(&sign.to_string().replace('>', "&gt;"));
            assert!(ink(&picture) > 0 && picture.data() != missing, "{sign}");
        }
    }
}
