//! The answer of a load in one line: how much, how fast, how many errors, and whether to believe it.
use pippin_model::text::units::counted;
use pippin_stats::summary::Estimate;

use super::View;
use super::load::LoadView;
use super::row::Row;
use super::walks;
use crate::words;

/// The figures that people load a server for, one text each, the most important first:
/// `12,345 requests/s (95 %: 12,100 to 12,600)`, `response time p50 1.02 ms`, `p99 3.40 ms`, `no errors`,
/// `SUSPECT no steady state`. Over several repetitions they are medians.
///
/// A sweep answers with its best number of connections, a search with the rate that it found, a
/// scenario with its walks. Empty if the run has no load of a URL.
#[must_use]
pub fn parts(view: &View) -> Vec<String> {
    let (Some(load), Some(row)) = (view.loads.first(), view.rows.first()) else {
        return Vec::new();
    };
    let mut parts = match row.at_search() {
        Some(search) => vec![search.capacity_per_s.map_or_else(
            || format!("no {} was confirmed", search.searched().noun()),
            |number| format!("capacity {}", search.searched().amount(number)),
        )],
        None => how_much(view, load, row),
    };
    parts.push(time("response time p50", row.response_p50_ns));
    parts.push(time("p99", row.response_p99_ns));
    parts.push(errors(row));
    parts.extend(view.loads.iter().any(|load| load.interrupted).then(|| "interrupted".into()));
    parts.push(row.verdict_in_words());
    parts.retain(|part| !part.is_empty());
    parts
}

/// [`parts`] in one line.
#[must_use]
pub fn line(view: &View) -> String {
    parts(view).join(", ")
}

fn how_much(view: &View, load: &LoadView, row: &Row) -> Vec<String> {
    let mut parts = walked(view, row);
    let best = row.step.map_or_else(String::new, |step| format!("best at {}: ", step.in_words()));
    let noun = if load.websocket.is_some() { "messages" } else { "requests" };
    let bound = if row.at_least { "at least " } else { "" };
    let figure = row.goodput_per_s.map(|figure| figure.median);
    parts.push(format!(
        "{best}{bound}{} {noun}/s{}",
        words::count(figure),
        within(row.goodput_per_s, |value| words::count(Some(value)))
    ));
    parts
}

/// The walks per second through all steps of a scenario, and how long one takes. None for others.
fn walked(view: &View, row: &Row) -> Vec<String> {
    // Of a sweep, the row is that of one step.
    let own = view.loads.iter().filter(|load| row.step.is_none() || load.step == row.step);
    let seconds = own.map(|load| load.duration_ns as f64 / 1e9).sum::<f64>();
    // A plain request whose redirections are followed is no walk for those who asked for it.
    let is_plain = row.scenario.len() == 1 && row.followed.is_some();
    if row.scenario.is_empty() || is_plain || seconds <= 0.0 {
        return Vec::new();
    }
    let rate = words::count(Some(walks::whole(&row.scenario) as f64 / seconds));
    let time = walks::mean_of_walks(&row.scenario);
    let time = time.map(|ns| format!("a walk takes {} on average", words::ns_f(Some(ns))));
    std::iter::once(format!("{rate} walks/s")).chain(time).collect()
}

fn time(name: &str, figure: Option<Estimate>) -> String {
    let median = words::ns_f(figure.map(|figure| figure.median));
    format!("{name} {median}{}", within(figure, |value| words::ns_f(Some(value))))
}

/// The 95 % interval behind a figure, in brackets; nothing where it is not known.
fn within(figure: Option<Estimate>, write: impl Fn(f64) -> String) -> String {
    figure.and_then(|figure| figure.interval).map_or_else(String::new, |interval| {
        format!(" (95 %: {} to {})", write(interval.low), write(interval.high))
    })
}

fn errors(row: &Row) -> String {
    match (row.errors.values().sum::<u64>(), row.error_fraction) {
        (0, None) => String::new(),
        (0, Some(_)) => "no errors".into(),
        (count, share) => {
            let share = share.map_or_else(String::new, |it| format!(" ({})", words::percent(it)));
            format!("{}{share}", counted(count, "error"))
        }
    }
}
