//! A chart as a picture, for a README or a blog that does not accept SVG. `resvg` draws it from the
//! same SVG, without a browser.
//!
//! Pippin carries the font, Noto Sans. With the machine's own fonts, the same chart would look
//! different on each machine.
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::chart::summary;
use crate::form::{Form, FormError, Write, svg};
use crate::view::View;

/// This form.
pub const FORM: Form = Form {
    name: "png",
    about: "One chart as a picture, at twice its size",
    media_type: "image/png",
    extension: "png",
    write: Write::Chart(|view, name, ground| {
        rendered(&svg::render(view, name, ground)?)
            .map_err(|reason| FormError::Encoding { form: "png", reason })
    }),
};

/// The run in one picture, for previews of links, at the size of its SVG.
///
/// # Errors
/// Why it cannot be drawn. No run is known to cause this.
pub fn preview(view: &View) -> Result<Vec<u8>, String> {
    scaled(&summary::render(view), 1)
}

/// Pixels of the picture for each pixel of the chart: modern screens have two.
const SCALE: u32 = 2;

/// SVG as PNG, at twice its size.
fn rendered(svg: &str) -> Result<Vec<u8>, String> {
    scaled(svg, SCALE)
}

fn scaled(svg: &str, scale: u32) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    options.fontdb_mut().load_font_data(notosans::REGULAR_TTF.to_vec());
    options.fontdb_mut().set_sans_serif_family("Noto Sans");
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let mut picture = Pixmap::new(size.width() * scale, size.height() * scale)
        .ok_or("it has no size".to_string())?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
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
    fn many_dots_that_are_one_path_are_drawn() {
        let svg = "<svg width=\"40\" height=\"20\" viewBox=\"0 0 160 80\" xmlns=\"http://www.w3.org/2000/svg\"><path d=\"m20 40h0m60 0h0m60 0h0\" fill=\"none\" stroke=\"#000000\" stroke-width=\"24\" stroke-linecap=\"round\"/></svg>";
        let picture = Pixmap::decode_png(&rendered(svg).unwrap()).unwrap();
        let black = PremultipliedColorU8::from_rgba(0, 0, 0, 255);
        assert_eq!([10, 40, 70].map(|x| picture.pixel(x, 20)), [black; 3]);
        assert_eq!(picture.pixel(25, 20), PremultipliedColorU8::from_rgba(0, 0, 0, 0));
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
