//! The figure by which targets are ranked, in words: requests/s, or the 99th percentile of the
//! response time where the schedule sets requests/s.
use pippin_stats::criterion::RankedBy;

use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// Whether a time ranks, and not a rate.
pub const fn by_time(view: &View) -> bool {
    matches!(view.run.ranked_by, RankedBy::ResponseP99)
}

/// A figure of that kind.
pub fn text(view: &View, figure: Option<f64>) -> String {
    if by_time(view) { words::ns_f(figure) } else { words::count(figure) }
}

/// The median over the repetitions.
pub fn median(view: &View, row: &Row) -> String {
    text(view, row.ranked.map(|figure| figure.median))
}

/// Its 95 % interval: `9,980 … 10,020`.
pub fn interval(view: &View, row: &Row) -> String {
    match row.ranked.and_then(|figure| figure.interval) {
        Some(interval) => {
            format!("{} … {}", text(view, Some(interval.low)), text(view, Some(interval.high)))
        }
        None => words::UNKNOWN.into(),
    }
}

/// How far that interval reaches below and above the median, as fractions of it; the first is
/// negative. `None` if it is not known.
pub fn reach(row: &Row) -> Option<(f64, f64)> {
    let figure = row.ranked?;
    let interval = figure.interval?;
    Some((interval.low / figure.median - 1.0, interval.high / figure.median - 1.0))
}

/// What the ranked column holds, for legends.
pub fn legend(view: &View) -> &'static str {
    if by_time(view) {
        "Ranked by p99, as requests/s are what the schedule asks for: the response time that 99 % of all requests that were due kept (what was not answered is late), median of the repetitions; less is better. requests/s: complete and right answers."
    } else {
        "requests/s: complete and right answers, median of the repetitions."
    }
}
