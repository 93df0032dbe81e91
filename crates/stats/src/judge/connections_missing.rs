//! INVALID: fewer connections were open than requested.
use pippin_model::result::{ConnectionCounts, Window};
use pippin_model::schedule::users;
use pippin_model::text::units::counted;
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, whole};
use crate::judge::no_result::ended_in_warm_up;
use crate::series::quantile::median;
use crate::series::steady::measured_windows;

/// The share of the connections that must be open at the end of the typical window. If a server
/// closes connections now and then, a few are being reopened.
const LIVE: f64 = 0.95;
/// A shorter window ends with the load, when the server may just have closed some connections.
const SECOND_NS: u64 = 900_000_000;

/// Whether the number of connections was never reached, or not kept. This does not apply to open
/// loops, which use connections as needed, or to loads with fewer requests than connections.
pub fn judge(evidence: &Evidence) -> Answer {
    let load = evidence.needs_load()?;
    if ended_in_warm_up(evidence) {
        return Ok(None);
    }
    let counts = load.measured.connections;
    let asked = counts.asked;
    if !evidence.profile().schedule.uses_all_connections()
        || evidence.counted_requests().is_some_and(|n| n < asked)
    {
        return Ok(None);
    }
    if are_replaced(evidence, counts) && full_queue(evidence, asked).is_none() {
        return Ok(None);
    }
    let seen = if counts.peak < asked {
        format!(
            "{} requested, at most {} open",
            counted(asked, "connection"),
            whole(counts.peak as f64)
        )
    } else {
        // Of users that come and go, those count that are there at the end of the window.
        let asked_at = |window: &Window| match evidence.user_stages() {
            Some(stages) => users::held_at(stages, end_ns(window)).into(),
            None => asked as f64,
        };
        let live_in = |least_ns: u64| {
            let long = measured_windows(load).filter(|window| window.duration_ns >= least_ns);
            let shares = long
                .filter(|window| asked_at(window) > 0.0)
                .map(|window| window.live_connections as f64 / asked_at(window) * asked as f64);
            median(&shares.collect::<Vec<_>>())
        };
        let in_seconds = live_in(SECOND_NS);
        let live = in_seconds.or_else(|| live_in(0));
        let live = live.ok_or_else(|| Unknown::because("it is not known how many were open"))?;
        if live >= LIVE * asked as f64 {
            return Ok(None);
        }
        if in_seconds.is_none() {
            return Err(Unknown::because(format!(
                "{} requested, {} open at the end of a load of less than a second",
                counted(asked, "connection"),
                whole(live)
            )));
        }
        format!(
            "{} requested, {} open in the typical second",
            counted(asked, "connection"),
            whole(live)
        )
    };
    let (because, advice) = match full_queue(evidence, asked) {
        Some(backlog) => (
            format!(": the others found the server's listen queue full, which holds {backlog}"),
            format!(
                "raise the server's backlog (the second number of listen(2)), or measure with at most {}: `-c {backlog}`, or `connections = {backlog}` in the plan",
                counted(backlog, "connection")
            ),
        ),
        None => (
            String::new(),
            "see the errors by kind. `pippin doctor` checks file limits, ports and backlog; the server may also limit its connections".into(),
        ),
    };
    Ok(Some(caveat("connections_missing", Severity::Invalid, seen + &because, advice)))
}

/// The last instant of a window, in nanoseconds after the start of the measured part.
fn end_ns(window: &Window) -> u64 {
    let end_ns = window.from_ns + window.duration_ns as i64 - 1;
    u64::try_from(end_ns).unwrap_or(0)
}

/// Whether connections end as the load or the server wants it, and none failed to open. A user opens
/// the next one when it has something to send, so that a user who thinks has none.
fn are_replaced(evidence: &Evidence, counts: ConnectionCounts) -> bool {
    let schedule = &evidence.profile().schedule;
    let by_load =
        evidence.requests_per_connection().is_some() && schedule.requests_per_user().is_none();
    let by_server = counts.closed_by_server >= counts.asked;
    let errors = evidence.measured().map(|measured| &measured.errors);
    let has_failed = errors.is_some_and(|all| all.keys().any(|kind| kind.is_before_sending()));
    (by_load || by_server) && !has_failed && counts.opened >= counts.asked
}

/// The server's backlog, if it has no room for all connections and was full: the kernel dropped
/// some, or as many were seen to wait. Connections that the kernel drops try again after 1 s, 3 s,
/// 7 s; where each answer ends its connection, some never come to their turn.
fn full_queue(evidence: &Evidence, asked: u64) -> Option<u64> {
    let usage = evidence.record.usage.as_ref()?;
    let backlog = usage.backlog.filter(|&backlog| (1..asked).contains(&backlog))?;
    let was_full = usage.listen_drops.is_some_and(|dropped| dropped > 0)
        || usage.listen_queue.is_some_and(|(_, most)| most >= backlog);
    was_full.then_some(backlog)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::plan::profile::Profile;
    use pippin_model::result::ErrorKind;

    #[test]
    fn one_missing_connection_is_seen() {
        let mut record = ExampleTrial::hello().build();
        record.load.as_mut().unwrap().measured.connections.peak = 9;
        assert!(
            judged(judge, &record)
                .unwrap()
                .evidence
                .contains("10 connections requested, at most 9 open")
        );
        let mut dying = ExampleTrial::hello().build();
        dying
            .load
            .as_mut()
            .unwrap()
            .windows
            .iter_mut()
            .for_each(|window| window.live_connections = 9);
        assert!(judged(judge, &dying).unwrap().evidence.contains("typical second"));
        // The number of open connections at the end of a load of less than a second shows nothing.
        let windows = &mut dying.load.as_mut().unwrap().windows;
        windows.truncate(1);
        windows[0].duration_ns = 800_000_000;
        assert_eq!(judged(judge, &dying), None);
    }

    /// 10 users come within 10 s and go within 10 s; the hello example has 10 connections.
    #[test]
    fn users_that_have_not_come_are_not_missing() {
        let with = |missing: u64| {
            let mut record = ExampleTrial::hello().build();
            let stages = users::parse("10@10s,0@10s").unwrap();
            record.spec.profile = Profile::users(stages.clone(), None);
            record.load_spec = None;
            for window in &mut record.load.as_mut().unwrap().windows {
                let held = u64::from(users::held_at(&stages, end_ns(window)));
                window.live_connections = held.saturating_sub(missing);
            }
            judged(judge, &record)
        };
        assert_eq!(with(0), None);
        assert!(with(1).unwrap().evidence.contains("open in the typical second"));
    }

    #[test]
    fn a_full_listen_queue_is_the_reason_and_its_length_the_advice() {
        let with = |backlog, dropped, waiting| {
            let mut record = ExampleTrial::hello().build();
            record.load.as_mut().unwrap().measured.connections.peak = 6;
            let usage = record.usage.as_mut().unwrap();
            (usage.backlog, usage.listen_drops) = (backlog, Some(dropped));
            usage.listen_queue = Some((1.0, waiting));
            judged(judge, &record).unwrap()
        };
        for (dropped, waiting) in [(1, 0), (0, 5)] {
            let caveat = with(Some(5), dropped, waiting);
            assert!(caveat.evidence.ends_with("listen queue full, which holds 5"), "{caveat:?}");
            assert!(caveat.advice.contains("`connections = 5` in the plan"), "{caveat:?}");
        }
        // Unknown, long enough, or never full.
        for (backlog, dropped) in [(None, 1), (Some(10), 1), (Some(5), 0)] {
            assert!(with(backlog, dropped, 4).evidence.ends_with("at most 6 open"));
        }
    }

    #[test]
    fn all_there_is_silent_and_so_is_a_load_that_needs_fewer() {
        assert_eq!(judged(judge, &ExampleTrial::hello().build()), None);
        let mut short = ExampleTrial::hello().counted(5).build();
        short.load.as_mut().unwrap().measured.connections.peak = 5;
        assert_eq!(judged(judge, &short), None);
        let mut open = ExampleTrial::open(10.0).build();
        open.load.as_mut().unwrap().measured.connections.peak = 1;
        assert_eq!(judged(judge, &open), None);
        let mut closing = ExampleTrial::hello().requests_per_connection(1).build();
        closing
            .load
            .as_mut()
            .unwrap()
            .windows
            .iter_mut()
            .for_each(|window| window.live_connections = 6);
        assert_eq!(judged(judge, &closing), None);
    }

    /// Users who think have no connection while they do, if it ended with the answer.
    #[test]
    fn connections_that_end_as_they_should_are_not_missing() {
        let with = |requests_per_connection, closed_by_server, opened| {
            let mut trial = ExampleTrial::hello();
            if let Some(requests) = requests_per_connection {
                trial = trial.requests_per_connection(requests);
            }
            let mut record = trial.build();
            let connections = &mut record.load.as_mut().unwrap().measured.connections;
            (connections.peak, connections.opened) = (4, opened);
            connections.closed_by_server = closed_by_server;
            record
        };
        for (by_load, by_server) in [(Some(1), 0), (Some(3), 0), (None, 100_000)] {
            let mut record = with(by_load, by_server, 100_000);
            assert_eq!(judged(judge, &record), None, "{by_load:?} {by_server}");
            let errors = &mut record.load.as_mut().unwrap().measured.errors;
            errors.insert(ErrorKind::ConnectTimeout, 1);
            assert!(judged(judge, &record).is_some(), "some could not be opened");
        }
        assert!(judged(judge, &with(Some(1), 0, 9)).is_some(), "some were never opened");
        assert!(judged(judge, &with(None, 3, 100_000)).is_some(), "few were closed");
    }
}
