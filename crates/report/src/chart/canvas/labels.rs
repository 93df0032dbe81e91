//! Names at the ends of lines, pushed apart so that none covers another.
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::lines::Line;
use super::{Area, Drawn, FINE, FONT, FONT_SIZE, Form, INK, ipx, px, text_width};

/// The height of a name, in pixels.
const HEIGHT: i32 = 18;
/// From the end of the plot to the name, in pixels.
const LEADER: i32 = 22;
/// The share of a chart's width that names may take.
const MOST_OF_WIDTH: f64 = 0.28;

/// The width that names beside the ends of these lines take, in pixels; `None` if there is no room,
/// or only one name: then a legend has them.
pub fn room(form: Form, lines: &[Line]) -> Option<u32> {
    let names: Vec<&String> = lines.iter().filter_map(|line| line.name.as_ref()).collect();
    let longest = names.iter().map(|name| name.chars().count()).max()?;
    let width = text_width(longest) + LEADER as u32 + 6;
    let fits = f64::from(width) <= MOST_OF_WIDTH * f64::from(form.width())
        && names.len() as i32 * HEIGHT <= form.plot_height() as i32 - 80;
    (form.is_wide() && names.len() > 1 && fits).then_some(width)
}

/// A name, its line's colour, and where that line ends in pixels of the drawing.
pub type End = (String, RGBColor, (i32, i32));

/// Draws names at the right of a plot that reaches from `top` to `bottom` and to `right`.
pub fn draw(root: &Area<'_>, ends: &[End], right: i32, (top, bottom): (i32, i32)) -> Drawn {
    let wanted: Vec<i32> = ends.iter().map(|(.., (_, y))| *y).collect();
    let places = spread(&wanted, ipx(HEIGHT), (top, bottom));
    for ((name, colour, (x, y)), place) in ends.iter().zip(places) {
        let from_plot = right + ipx(4);
        let path = [(*x, *y), (from_plot, *y), (right + ipx(LEADER - 6), place)];
        root.draw(&PathElement::new(path.to_vec(), colour.stroke_width(FINE)))?;
        let style = (FONT, px(FONT_SIZE)).into_font().color(&INK);
        let style = style.pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(name.clone(), (right + ipx(LEADER), place), style))?;
    }
    Ok(())
}

/// Places as near to the wanted ones as it goes, in the same order from top to bottom, at least `gap`
/// from each other, and within the two ends if there is room for all.
fn spread(wanted: &[i32], gap: i32, (top, bottom): (i32, i32)) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|place| wanted[*place]);
    let mut placed: Vec<i32> = Vec::with_capacity(order.len());
    for nth in &order {
        let least = placed.last().map_or(top, |above| above + gap);
        placed.push(wanted[*nth].max(least));
    }
    let mut most = bottom;
    for place in placed.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - gap;
    }
    let mut places = vec![0; wanted.len()];
    for (nth, place) in order.into_iter().zip(placed) {
        places[nth] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::palette::{Stroke, series};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn line(name: &str) -> Line {
        let points = vec![(0.0, 1.0), (1.0, 2.0)];
        Line { name: Some(name.into()), ..Line::joined(series(0), Stroke::Solid, points) }
    }

    #[test]
    fn names_never_overlap_keep_their_order_and_stay_within_the_plot() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        for _ in 0..2_000 {
            let (gap, top, bottom) = (18, 30, 30 + 18 * 20);
            let wanted: Vec<i32> =
                (0..rng.random_range(0..=20)).map(|_| rng.random_range(top..=bottom)).collect();
            let places = spread(&wanted, gap, (top, bottom));
            let mut both: Vec<(i32, i32)> = places.iter().copied().zip(wanted.clone()).collect();
            both.sort_unstable();
            for pair in both.windows(2) {
                assert!(pair[1].0 - pair[0].0 >= gap, "{wanted:?} {places:?}");
                assert!(pair[1].1 >= pair[0].1, "in another order: {wanted:?} {places:?}");
            }
            assert!(places.iter().all(|at| (top..=bottom).contains(at)), "{wanted:?} {places:?}");
            let apart = both.windows(2).all(|pair| pair[1].1 - pair[0].1 >= gap);
            assert!(!apart || places == wanted, "moved without need: {wanted:?} {places:?}");
        }
    }

    #[test]
    fn a_legend_stays_where_names_have_no_room() {
        let of = |names: &[&str]| names.iter().map(|name| line(name)).collect::<Vec<_>>();
        let few = of(&["go/net-http", "javascript/express:cluster"]);
        assert!(room(Form::Wide, &few).is_some() && room(Form::Narrow, &few).is_none());
        assert_eq!(room(Form::Middle, &few), None, "a long name takes a third of it");
        assert!(room(Form::Middle, &of(&["c/nginx", "go/gin"])).is_some());
        assert_eq!(room(Form::Wide, &of(&["one"])), None);
        assert_eq!(room(Form::Wide, &of(&["a/a"; 30])), None);
    }
}
