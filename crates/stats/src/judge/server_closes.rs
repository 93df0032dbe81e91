//! SUSPECT: the server closes connections that should be kept open, so the figures include
//! reopening them.
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, whole};

/// Closes per answer below which their cost does not show.
const NEGLIGIBLE: f64 = 0.0001;
/// A connection that was without requests for this long was closed because of that.
const IDLE_NS: u64 = 100_000_000;
/// If the longest wait for a request is at most this many times the shortest, both are the same
/// timeout: servers check for idle connections only now and then.
const SAME_TIMEOUT: f64 = 1.2;

/// Whether the server closed connections after complete answers, apart from closes that the profile
/// causes. Says after how many requests, or after how long without one.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let measured = evidence.measured()?;
    let closed = measured.connections.closed_by_server;
    let limits = measured.connections.requests_before_close;
    match evidence.requests_per_connection() {
        Some(1) => return None,
        // The client's last request announces the close.
        Some(asked) if limits.is_none_or(|(least, _)| least >= u64::from(asked)) => return None,
        Some(_) | None => {}
    }
    let idle = measured.connections.idle_before_close_ns.filter(|(least, _)| *least >= IDLE_NS);
    let is_limit =
        idle.is_none() && limits.is_some_and(|(least, most)| least == most) && closed > 1;
    let is_frequent = closed as f64 > NEGLIGIBLE * measured.requests.completed as f64;
    if closed == 0 || !(is_limit || is_frequent || (idle.is_some() && closed > 1)) {
        return None;
    }
    let closed = counted(closed, "connection");
    if idle.is_none() && limits.is_some_and(|(_, most)| most == 0) {
        let seen = format!("the server closed {closed} without an answer, while nothing was asked");
        let advice =
            "see the server's log: it may refuse this client, or have too many connections";
        return Some(caveat("server_closes", Severity::Suspect, seen, advice));
    }
    if idle.is_none() && limits == Some((1, 1)) {
        let seen = format!(
            "the server closed {closed} after one answer each: it keeps no connection alive"
        );
        let advice = "each request then pays for a connection of its own; --no-keep-alive (`requests_per_connection = 1` in a plan) says that this is meant";
        return Some(caveat("server_closes", Severity::Suspect, seen, advice));
    }
    let limit = match limits {
        _ if idle.is_some() => idle.map(timeout).unwrap_or_default(),
        Some((least, most)) if least == most => {
            format!("keep-alive limit found: {}", counted(least, "request"))
        }
        Some((least, most)) => {
            format!("after {} to {}", whole(least as f64), counted(most, "request"))
        }
        None => "after an unknown number of requests".into(),
    };
    let seen = format!("the server closed {closed} after complete answers; {limit}");
    let advice = if idle.is_some() {
        "raise the server's keep-alive timeout above the time between two requests of a connection"
    } else {
        "raise the server's limit of requests per connection"
    };
    Some(caveat("server_closes", Severity::Suspect, seen, advice))
}

fn timeout((least_ns, most_ns): (u64, u64)) -> String {
    if most_ns as f64 <= SAME_TIMEOUT * least_ns as f64 {
        format!("idle timeout found: {} without a request", format_ns(least_ns))
    } else {
        format!("after {} to {} without a request", format_ns(least_ns), format_ns(most_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;

    fn closing(mut record: TrialRecord, closed: u64, limits: (u64, u64)) -> TrialRecord {
        let connections = &mut record.load.as_mut().unwrap().measured.connections;
        (connections.closed_by_server, connections.requests_before_close) = (closed, Some(limits));
        record
    }

    #[test]
    fn a_limit_is_found_and_named() {
        let record = closing(ExampleTrial::hello().build(), 300, (1_000, 1_000));
        assert!(
            judged(judge, &record)
                .unwrap()
                .evidence
                .ends_with("keep-alive limit found: 1,000 requests")
        );
        let jitter = closing(ExampleTrial::hello().build(), 300, (900, 1_100));
        assert!(judged(judge, &jitter).unwrap().evidence.ends_with("after 900 to 1,100 requests"));
    }

    #[test]
    fn a_server_that_keeps_no_connection_has_no_limit() {
        let found = judged(judge, &closing(ExampleTrial::hello().build(), 300, (1, 1))).unwrap();
        assert!(found.evidence.ends_with("it keeps no connection alive"), "{found:?}");
        assert!(!found.advice.contains("limit"), "{found:?}");
    }

    #[test]
    fn connections_that_never_served_tell_no_limit() {
        let record = closing(ExampleTrial::hello().build(), 40, (0, 0));
        let found = judged(judge, &record).unwrap();
        assert!(found.evidence.contains("closed 40 connections without an answer"), "{found:?}");
        assert!(found.advice.contains("log"), "{found:?}");
    }

    #[test]
    fn an_idle_timeout_is_no_limit_of_requests() {
        // Nothing was sent on these connections, and the server closed them after a second.
        let mut record = closing(ExampleTrial::open(10.0).build(), 40, (0, 0));
        let connections = &mut record.load.as_mut().unwrap().measured.connections;
        connections.idle_before_close_ns = Some((1_000_000_000, 1_040_000_000));
        let found = judged(judge, &record).unwrap();
        assert!(
            found.evidence.ends_with("idle timeout found: 1.00 s without a request")
                && found.advice.contains("keep-alive timeout"),
            "{found:?}"
        );
        let connections = &mut record.load.as_mut().unwrap().measured.connections;
        connections.idle_before_close_ns = Some((1_000_000_000, 1_900_000_000));
        let found = judged(judge, &record).unwrap();
        assert!(found.evidence.ends_with("after 1.00 s to 1.90 s without a request"), "{found:?}");
        // A connection whose answer says `Connection: close` is not idle.
        let connections = &mut record.load.as_mut().unwrap().measured.connections;
        (connections.idle_before_close_ns, connections.requests_before_close) =
            (Some((0, 2_000)), Some((100, 100)));
        assert!(judged(judge, &record).unwrap().evidence.contains("keep-alive limit found: 100"));
    }

    #[test]
    fn what_the_profile_asks_for_and_a_single_close_are_not() {
        assert_eq!(
            judged(
                judge,
                &closing(ExampleTrial::hello().requests_per_connection(1).build(), 300_000, (1, 1))
            ),
            None
        );
        assert_eq!(
            judged(
                judge,
                &closing(
                    ExampleTrial::hello().requests_per_connection(100).build(),
                    3_000,
                    (100, 100)
                )
            ),
            None
        );
        assert!(
            judged(
                judge,
                &closing(
                    ExampleTrial::hello().requests_per_connection(100).build(),
                    6_000,
                    (50, 50)
                )
            )
            .is_some()
        );
        assert_eq!(judged(judge, &closing(ExampleTrial::hello().build(), 1, (9_000, 9_000))), None);
        assert_eq!(judged(judge, &ExampleTrial::hello().build()), None);
    }
}
