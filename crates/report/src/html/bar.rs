//! The bar of a row: the median, its 95 % interval and each start, on one scale for all rows.
use maud::{Markup, html};
use pippin_model::figure::RankedBy;

use crate::ranked::end_of_bars;
use crate::view::View;
use crate::view::row::Row;

/// What a bar's whole width stands for.
#[derive(Debug, Clone, Copy)]
pub struct Scale(f64);

impl Scale {
    /// Of all rows with a result.
    pub fn from_view(view: &View) -> Self {
        Self(end_of_bars(&view.measured().filter_map(|row| row.ranked).collect::<Vec<_>>()))
    }

    /// The part of the width, in percent.
    fn percent(self, value: f64) -> f64 {
        if self.0 > 0.0 { (value / self.0 * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }
}

/// The figures of single starts, where rows are ranked by goodput.
fn starts(row: &Row) -> &[f64] {
    let is_of_starts = row.at_search().is_none() && row.ranked_by == RankedBy::Goodput;
    if is_of_starts && row.goodput_of_repetitions.len() > 1 {
        &row.goodput_of_repetitions
    } else {
        &[]
    }
}

/// The bar of this row; nothing without a figure. All that it shows stands in the cells beside it.
pub fn render(row: &Row, scale: Scale) -> Markup {
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
