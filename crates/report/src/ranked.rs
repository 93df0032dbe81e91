//! The figure by which targets are ranked, in words: requests/s, or the 99th percentile of the
//! response time if the schedule sets the requests/s.
use pippin_model::figure::RankedBy;
use pippin_stats::summary::Estimate;

use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// Whether targets are ranked by a time and not by a rate.
pub const fn by_time(view: &View) -> bool {
    matches!(view.run.ranked_by, RankedBy::ResponseP99)
}

/// The ranked figure as text.
pub fn text(view: &View, figure: Option<f64>) -> String {
    if by_time(view) { words::ns_f(figure) } else { words::count(figure) }
}

/// The median over the repetitions.
pub fn median(view: &View, row: &Row) -> String {
    let figure = text(view, row.ranked.map(|figure| figure.median));
    if row.at_least && !by_time(view) { format!("at least {figure}") } else { figure }
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

/// What the ratios of a table refer to, for legends; `None` without ratios.
pub fn ratio_legend(view: &View) -> Option<String> {
    let reference = view.run.reference.as_ref()?;
    let ranked = view.measured().filter(|row| row.standing.rank.is_some()).count();
    let how = within_rounds(view);
    (ranked > 1).then(|| format!("Ratios are to {reference}, {how}with their 95 % intervals."))
}

/// Whether the ratios were taken within rounds, in words; of which targets not, if that differs.
fn within_rounds(view: &View) -> String {
    let ratios = || view.measured().filter_map(|row| Some((row, row.standing.to_reference?)));
    let apart: Vec<String> = ratios()
        .filter(|(_, to)| !to.within_rounds)
        .map(|(row, _)| row.target.to_string())
        .collect();
    match apart.len() {
        0 if ratios().next().is_some() => "within rounds, ".into(),
        0 => String::new(),
        some if some == ratios().count() => String::new(),
        _ => format!("within rounds (but not of {}), ", apart.join(", ")),
    }
}

/// Whether the rows have ratios to show.
pub fn has_ratios(view: &View) -> bool {
    ratio_legend(view).is_some()
}

/// Whether the targets have services, such as a database, whose CPU time is known.
#[must_use]
pub fn has_services(view: &View) -> bool {
    view.measured().any(|row| row.cpu_with_services().is_some())
}

/// Whether the rows are also ranked by CPU time of a request.
pub fn has_cpu_ranks(view: &View) -> bool {
    view.measured().filter(|row| row.standing.cpu_rank.is_some()).count() > 1
}

/// The rows that are ranked by CPU time of a request, the lowest first.
pub fn by_cpu(view: &View) -> Vec<&Row> {
    let mut rows: Vec<&Row> =
        view.measured().filter(|row| row.standing.cpu_rank.is_some()).collect();
    let median = |row: &Row| row.cpu_s_per_million.map_or(f64::MAX, |figure| figure.median);
    rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
    rows
}

/// An interval is cut off beyond this many times the best repetition.
const ROOM: f64 = 1.25;

/// Where the scale of bars ends that begins at 0. If two repetitions differ by half, the interval
/// reaches into the millions; it must not squeeze the bars together.
pub fn end_of_bars(figures: &[Estimate]) -> f64 {
    let most = figures.iter().map(|figure| figure.best.max(figure.worst)).fold(0.0, f64::max);
    let ends = figures.iter().filter_map(|figure| Some(figure.interval?.high.min(ROOM * most)));
    ends.fold(most, f64::max)
}

/// How far the interval reaches below and above the median, as fractions of the median; the first
/// is negative. `None` if it is not known.
pub fn reach(row: &Row) -> Option<(f64, f64)> {
    reach_of(row.ranked?)
}

/// How far the interval of a figure reaches below and above its median, as parts of it.
pub fn reach_of(figure: Estimate) -> Option<(f64, f64)> {
    let interval = figure.interval?;
    Some((interval.low / figure.median - 1.0, interval.high / figure.median - 1.0))
}

/// What the ranked column holds, for legends.
pub fn legend(view: &View) -> &'static str {
    if by_time(view) {
        "Ranked by p99, because the schedule sets requests/s: the response time within which 99 % of all due requests were answered (unanswered ones are late), median of the repetitions; less is better. requests/s: complete and right answers."
    } else {
        "requests/s: complete and right answers, median of the repetitions."
    }
}
