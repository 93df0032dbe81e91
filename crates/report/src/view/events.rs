//! Streams of server-sent events: what the tables of the terminal and of the page show of them.
use pippin_model::figure::Unit;

use super::View;
use super::row::Row;
use crate::words;

/// A column.
pub struct EventFigure {
    /// Its title.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Whether the terminal has it too.
    pub is_short: bool,
    /// The figure of a target, in words.
    pub words: fn(&Row) -> String,
}

fn count(value: u64) -> String {
    Unit::Count.format(value as f64)
}

/// The columns, in order.
pub const FIGURES: [EventFigure; 10] = [
    EventFigure {
        title: "Events/s",
        about: "events that came per second, of all streams together",
        is_short: true,
        words: |row| words::count(row.events_per_s),
    },
    EventFigure {
        title: "First p50",
        about: "from the request to its first event: half of the streams had it by then",
        is_short: false,
        words: |row| words::ns(row.spans.first_event.p50_ns),
    },
    EventFigure {
        title: "First p99",
        about: "from the request to its first event: 99 % of the streams had it by then",
        is_short: true,
        words: |row| words::ns(row.spans.first_event.p99_ns),
    },
    EventFigure {
        title: "Gap p50",
        about: "between two events of a stream: half of the gaps were no longer",
        is_short: true,
        words: |row| words::ns(row.spans.event_gap.p50_ns),
    },
    EventFigure {
        title: "Gap p99",
        about: "between two events of a stream: 99 % of the gaps were no longer",
        is_short: true,
        words: |row| words::ns(row.spans.event_gap.p99_ns),
    },
    EventFigure {
        title: "Longest gap",
        about: "the longest time between two events of a stream",
        is_short: true,
        words: |row| words::ns(row.spans.event_gap.max_ns),
    },
    EventFigure {
        title: "Lost",
        about: "events that did not come",
        is_short: true,
        words: |row| count(row.events.lost),
    },
    EventFigure {
        title: "Late",
        about: "events that came longer after the one before than the workload allows",
        is_short: true,
        words: |row| count(row.events.late),
    },
    EventFigure {
        title: "Together",
        about: "events that came less than a quarter of the time between two after the one before",
        is_short: false,
        words: |row| count(row.events.together),
    },
    EventFigure {
        title: "Stale",
        about: "events whose instant was too old, or lay in the future",
        is_short: false,
        words: |row| count(row.events.stale),
    },
];

/// The targets of which any event is counted.
pub fn rows(view: &View) -> impl Iterator<Item = &Row> {
    view.rows.iter().filter(|row| !row.events.is_empty())
}
