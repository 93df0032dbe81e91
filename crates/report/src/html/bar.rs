//! The bar of a row: the median, its 95 % interval and each start, on one scale for all rows.
use maud::{Markup, html};

use crate::view::View;
use crate::view::row::Row;

/// An interval is cut off beyond this many times the longest bar.
const ROOM: f64 = 1.1;

/// What a bar's whole width stands for.
#[derive(Debug, Clone, Copy)]
pub struct Scale(f64);

impl Scale {
    /// Of all rows with a result.
    pub fn of(view: &View) -> Self {
        let median = |row: &Row| row.ranked.map_or(0.0, |figure| figure.median);
        let longest = view.measured().map(median).fold(0.0, f64::max);
        let ends = view.measured().flat_map(|row| {
            let high = row.ranked.and_then(|figure| Some(figure.interval?.high));
            starts(row).iter().copied().chain(high)
        });
        Self(ends.map(|end| end.min(ROOM * longest)).fold(longest, f64::max))
    }

    /// The part of the width, in percent.
    fn percent(self, value: f64) -> f64 {
        if self.0 > 0.0 { (value / self.0 * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }
}

/// The figures of single starts, where rows are ranked by goodput.
fn starts(row: &Row) -> &[f64] {
    let is_of_starts = row.at_search().is_none()
        && row.ranked.map(|figure| figure.median) == row.goodput_per_s.map(|figure| figure.median);
    if is_of_starts && row.goodput_of_repetitions.len() > 1 {
        &row.goodput_of_repetitions
    } else {
        &[]
    }
}

/// The bar of this row; nothing without a figure. All that it shows stands in the cells beside it.
pub fn of(row: &Row, scale: Scale) -> Markup {
    let Some(figure) = row.ranked else { return html! {} };
    let within = figure.interval.map(|interval| {
        let (low, high) = (scale.percent(interval.low), scale.percent(interval.high));
        format!("left:{low:.1}%;width:{:.1}%", high - low)
    });
    html! {
        span.bar aria-hidden="true" {
            i style=(format!("width:{:.1}%", scale.percent(figure.median))) {}
            @for start in starts(row) { u style=(format!("left:{:.1}%", scale.percent(*start))) {} }
            @if let Some(within) = within { b style=(within) {} }
        }
    }
}
