//! Streams of server-sent events: those of a few clients before a load, and all of a load.
use pippin_model::figure::Unit;
use pippin_model::load::{BodyCheck, EventForm, LoadSpec, StopRule, Surprises};
use pippin_model::result::{ErrorKind, EventCounts, LoadResult};
use pippin_model::text::units::format_ns;

use super::{Subject, Verdict};
use crate::load;

/// How often streams are asked for before the target is blamed for events that came late, or together: a busy
/// machine makes them so.
const LOOKS: u32 = 3;
/// One gap in so many may be longer or shorter than it should be before a load, on an idle target ...
const OFF_AT_REST: u64 = 50;
/// ... and under a load.
const OFF_UNDER_LOAD: u64 = 10;

/// The streams of so many clients at a time are right, and their events come one by one.
///
/// # Errors
/// What came instead.
pub fn streams(subject: &Subject<'_>, streams: u32) -> Verdict {
    let form = form(subject)?;
    let mut looks = LOOKS;
    loop {
        let load = ask(subject, streams)?;
        looks -= 1;
        match one_by_one(&load.measured.events, &form, OFF_AT_REST) {
            Err(_) if looks > 0 => {}
            verdict => return verdict,
        }
    }
}

fn form(subject: &Subject<'_>) -> Result<EventForm, String> {
    let form = subject.workload.answer.event_form();
    form.ok_or_else(|| "the workload needs [answer.events] for this proof".into())
}

/// One stream for each of so many clients, all of them right.
fn ask(subject: &Subject<'_>, streams: u32) -> Result<LoadResult, String> {
    let Subject { way, workload, samples, .. } = subject;
    let content_type = workload.answer.content_type.clone();
    // The media type of each.
    let surprises = Surprises { examined_every: 1, content_type, ..Surprises::default() };
    let base = LoadSpec { threads: 1, surprises: Some(surprises), ..way.base(Vec::new(), 1) };
    let requests = load::requests(workload, samples, &BodyCheck::Any, way.address());
    let stop = StopRule::requests(streams.into());
    let load = load::run_closed(base, requests, subject.connections(streams), stop, None)
        .map_err(|error| error.to_string())?;
    let good = load.measured.requests.good;
    if good == u64::from(streams) {
        return Ok(load);
    }
    let first = load.measured.firsts.get(&ErrorKind::WrongBody);
    let hint = match &workload.answer.content_type {
        Some(wanted) if first.is_some_and(|first| first.why.is_none()) => {
            format!("; a stream must have Content-Type {wanted}")
        }
        _ => String::new(),
    };
    let path = &workload.request.path;
    let errors = load::errors_in_words(&load);
    Err(format!("GET {path}: of {streams} streams at a time {good} were right: {errors}{hint}"))
}

/// Whether events came one by one: of so many gaps at most one is off.
fn one_by_one(events: &EventCounts, form: &EventForm, one_in: u64) -> Verdict {
    let off = events.late + events.together;
    if off * one_in <= events.received {
        return Ok(());
    }
    Err(format!(
        "of {} events {} came later than {} after the one before, and {} sooner than {}: they are held back, or the server does not keep up",
        count(events.received),
        count(events.late),
        format_ns(form.longest_gap_ns()),
        count(events.together),
        format_ns(form.shortest_gap_ns()),
    ))
}

fn count(count: u64) -> String {
    Unit::Count.format(count as f64)
}

/// All events of a load.
#[must_use]
pub fn of_load(load: &LoadResult) -> EventCounts {
    let of_phases = load.phases.iter().map(|phase| phase.measured.events);
    let measured = std::iter::once(load.measured.events).filter(|_| load.phases.is_empty());
    of_phases.chain(measured).fold(EventCounts::default(), |mut all, events| {
        all.merge(&events);
        all
    })
}

/// What the events of a load show. That a stream lacked some, or that they were stale, has made its answer wrong.
///
/// # Errors
/// What is wrong with them.
pub fn under_load(events: &EventCounts, form: &EventForm) -> Verdict {
    if events.received == 0 {
        return Err("no event came under the load".into());
    }
    if events.early > 0 {
        return Err(format!("{} events came before they were due", events.early));
    }
    one_by_one(events, form, OFF_UNDER_LOAD)
}

/// What is worth knowing of the events of a load.
#[must_use]
pub fn remark(events: &EventCounts) -> String {
    let EventCounts { received, lost, late, together, .. } = *events;
    format!(
        "{} events, {} lost, {} late, {} together with the one before",
        count(received),
        count(lost),
        count(late),
        count(together)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const FORM: EventForm =
        EventForm { count: 100, every_ns: 100 * MS, off_ns: 100 * MS, fresh_ns: 1_000 * MS };

    #[test]
    fn events_that_are_held_back_are_told_from_a_few_late_ones() {
        let events = EventCounts { received: 1_000, ..EventCounts::default() };
        let judged = |events: EventCounts| under_load(&events, &FORM);
        assert_eq!(judged(events), Ok(()));
        assert_eq!(judged(EventCounts { late: 50, together: 50, ..events }), Ok(()));
        // Pairs: each other gap is short.
        let pairs = EventCounts { late: 0, together: 500, ..events };
        // Ten at a time, each second.
        let tens = EventCounts { late: 100, together: 900, ..events };
        for held in [pairs, tens, EventCounts { late: 101, ..events }] {
            let said = judged(held).unwrap_err();
            assert!(said.contains("they are held back"), "{said}");
        }
        assert!(
            judged(EventCounts { early: 1, ..events }).unwrap_err().contains("before they were")
        );
        assert!(judged(EventCounts::default()).is_err(), "unknown does not pass");
        assert!(one_by_one(&EventCounts { late: 21, ..events }, &FORM, OFF_AT_REST).is_err());
    }
}
