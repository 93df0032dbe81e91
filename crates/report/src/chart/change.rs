//! How far each target of a comparison moved: B over A with its interval.
use pippin_stats::interval::ratio::Ratio;

use super::canvas::{Bar, Form, bars_about};
use super::palette::series;
use super::{Chart, DataTable, Drawings, ratio, targets};
use crate::words;

/// Beyond this many targets and steps the table alone is readable.
const MOST: usize = 40;

/// A target, and its step if it has one, with how its figure changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The target in words.
    pub name: String,
    /// The figure of the second side divided by that of the first.
    pub ratio: Ratio,
}

/// The chart of one figure. `name` is its name on the page, `title` that of the figure, and `sides`
/// what is divided by what: `B ÷ A`. `None` if nothing is known, or too much for a picture.
#[must_use]
pub fn chart(name: &str, title: &str, sides: &str, moved: &[Moved]) -> Option<Chart> {
    if moved.is_empty() || moved.len() > MOST {
        return None;
    }
    let axis = ratio::axis(sides, moved.iter().map(|one| one.ratio));
    let bar = |one: &Moved| Bar {
        name: one.name.clone(),
        figure: words::ratio_within(&one.ratio),
        interval: Some((one.ratio.interval.low, one.ratio.interval.high)),
        dot: Some((one.ratio.value, series(0))),
        ..Bar::default()
    };
    let bars: Vec<Bar> = moved.iter().map(bar).collect();
    let apart = moved.iter().filter(|one| one.ratio.is_significant()).count();
    let row = |one: &Moved| {
        let Ratio { value, interval } = one.ratio;
        let figures = [value, interval.low, interval.high].map(|it| words::ratio(Some(it)));
        std::iter::once(one.name.clone()).chain(figures).collect()
    };
    Some(Chart {
        name: name.into(),
        title: format!("{title}, {sides}"),
        alternative: format!(
            "{title} of {}, {sides} with 95 % intervals; those that surely changed: {apart}.",
            targets(moved.len())
        ),
        caption: "A dot is the ratio, its line the 95 % interval. An interval that crosses the line at 1 shows no change.".into(),
        lines_by_target: false,
        drawings: Drawings::by(|form: Form| bars_about(form, &axis, &[], &bars, Some(1.0))),
        plot: None,
        table: DataTable {
            columns: ["target", "ratio", "95 % low", "95 % high"].map(Into::into).into(),
            rows: moved.iter().map(row).collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_stats::interval::Interval;
    use pippin_stats::interval::bootstrap::Basis;

    fn moved(name: &str, value: f64) -> Moved {
        let interval = Interval { low: value * 0.95, high: value * 1.05, basis: Basis::Trials };
        Moved { name: name.into(), ratio: Ratio { value, interval } }
    }

    #[test]
    fn each_target_has_its_ratio_and_what_surely_changed_is_counted() {
        let drawn = chart("x", "Requests/s", "B ÷ A", &[moved("a/a", 1.01), moved("b/b", 0.8)]);
        let drawn = drawn.unwrap();
        for form in [&drawn.drawings.wide, &drawn.drawings.narrow] {
            assert!(form.contains("a/a") && form.contains("0.80 (0.76-0.84)"), "{form}");
        }
        assert!(drawn.alternative.contains("surely changed: 1"), "{}", drawn.alternative);
        assert_eq!(drawn.table.rows[1], ["b/b", "0.80", "0.76", "0.84"]);
        assert_eq!(chart("x", "Requests/s", "B ÷ A", &[]), None);
        assert_eq!(chart("x", "", "", &vec![moved("a/a", 1.0); MOST + 1]), None);
    }

    /// The heights of the upright strokes in the colour of the reference, in pixels of the drawing.
    fn uprights(svg: &str) -> Vec<i64> {
        let stroke =
            format!("stroke=\"{}\"", crate::chart::palette::hex(crate::chart::palette::INK));
        let points = svg
            .split("<polyline ")
            .skip(1)
            .filter(|one| one.split('>').next().is_some_and(|element| element.contains(&stroke)));
        let numbers = points.filter_map(|one| {
            let text = one.split_once("points=\"")?.1.split('"').next()?;
            text.split([' ', ',']).filter(|it| !it.is_empty()).map(|it| it.parse().ok()).collect()
        });
        numbers
            .filter(|at: &Vec<i64>| at.len() == 4 && at[0] == at[2])
            .map(|at| (at[3] - at[1]).abs())
            .collect()
    }

    #[test]
    fn the_line_at_1_crosses_no_words_of_a_narrow_chart() {
        let moved = [moved("a/a", 1.01), moved("b/b", 0.8), moved("c/c", 1.2)];
        let drawn = chart("x", "Requests/s", "B ÷ A", &moved).unwrap().drawings;
        let highest = |svg: &str| uprights(svg).into_iter().max().unwrap();
        assert!(highest(&drawn.wide) > 3 * 30 * 3, "all rows: {:?}", uprights(&drawn.wide));
        assert!(highest(&drawn.narrow) < 44 * 4 / 2, "half a row: {:?}", uprights(&drawn.narrow));
    }
}
