//! SUSPECT: the server closes connections that should be kept open, so the figures include
//! reopening them. NOTE: it does so after so many requests that this hardly shows, as servers do by
//! default.
use pippin_model::result::closes::{Closes, Frequencies};
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// Closes per answer below which their cost does not show.
const NEGLIGIBLE: f64 = 0.0001;
/// What a new connection costs a server, in answers. On loopback, nginx needed 28.4 us of processor time
/// for a request on a connection of its own and 9.4 us on one that is kept, Node 118 and 33 us, an event
/// loop of Python 107 and 19 us (1 December 2026).
const CONNECTION: f64 = 5.0;
/// The part of the server's work up to which new connections are a note.
const LITTLE: f64 = 0.01;
/// Closes have something in common if this share of them has: others end for other reasons, for
/// example because a process of the server was replaced.
const NEARLY_ALL: f64 = 0.9;
/// The quantiles between which closes are said to lie.
const BULK: (f64, f64) = (0.05, 0.95);
/// If the greater quantile is at most this many times the lesser, both are the same timeout: servers
/// check for idle connections only now and then.
const SAME_TIMEOUT: f64 = 1.2;
/// If the greater quantile is at most this many times the lesser, both are the same limit of requests:
/// some servers vary theirs, so that not all connections end at once.
const SAME_LIMIT: f64 = 1.3;

/// What the closes of a server have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Habit {
    /// Connections that were without a request for so long, between two quantiles.
    Idle { least_ns: u64, most_ns: u64 },
    /// Connections that had never served, while nothing was asked.
    Unasked,
    /// Each answer ends its connection.
    KeepsNone,
    /// After just so many requests, with the share of the closes.
    Limit { requests: u64, share: f64 },
    /// After about so many requests, between two quantiles.
    AboutLimit { least: u64, most: u64 },
    /// After numbers of requests that have nothing in common, between two quantiles.
    Any { least: u64, most: u64 },
}

impl Habit {
    /// What is true of most closes; `None` without any.
    fn from_closes(closes: &Closes) -> Option<Self> {
        if closes.by_idle_ns.count() * 2 > closes.count() {
            let (least_ns, most_ns) = bulk(&closes.by_idle_ns)?;
            return Some(Self::Idle { least_ns, most_ns });
        }
        let by_requests = &closes.by_requests;
        let (requests, share) = by_requests.most_frequent()?;
        let (least, most) = bulk(by_requests)?;
        Some(match requests {
            0 if share > 0.5 => Self::Unasked,
            1 if share >= NEARLY_ALL => Self::KeepsNone,
            2.. if share >= NEARLY_ALL => Self::Limit { requests, share },
            _ if least > 1 && most as f64 <= SAME_LIMIT * least as f64 => {
                Self::AboutLimit { least, most }
            }
            _ => Self::Any { least, most },
        })
    }

    /// Whether it shows a setting of the server, however seldom it closes.
    const fn is_a_setting(self) -> bool {
        !matches!(self, Self::Any { .. } | Self::AboutLimit { .. })
    }

    /// Whether it is a limit of requests per connection.
    const fn is_a_limit(self) -> bool {
        matches!(self, Self::Limit { .. } | Self::AboutLimit { .. })
    }

    /// What was seen of so many closed connections, and what to do about it.
    fn in_words(self, closed: &str) -> (String, &'static str) {
        match self {
            Self::Idle { least_ns, most_ns } => (
                format!(
                    "the server closed {closed} after complete answers; {}",
                    timeout(least_ns, most_ns)
                ),
                "raise the server's keep-alive timeout above the time between two requests of a connection",
            ),
            Self::Unasked => (
                format!("the server closed {closed} without an answer, while nothing was asked"),
                "see the server's log: it may refuse this client, or have too many connections",
            ),
            Self::KeepsNone => (
                format!(
                    "the server closed {closed} after one answer each: it keeps no connection alive"
                ),
                "each request then pays for a connection of its own; --no-keep-alive (`requests_per_connection = 1` in a plan) says that this is meant",
            ),
            Self::Limit { requests, share } => {
                let requests = counted(requests, "request");
                let of_all = if share < 1.0 {
                    format!(" ({} of the closes)", percent(share))
                } else {
                    String::new()
                };
                (
                    format!(
                        "the server closed {closed} after complete answers; keep-alive limit found: {requests}{of_all}"
                    ),
                    "raise the server's limit of requests per connection",
                )
            }
            Self::AboutLimit { least, most } => (
                format!(
                    "the server closed {closed} after complete answers; {}",
                    after(least, most)
                ),
                "raise the server's limit of requests per connection",
            ),
            Self::Any { least, most } => (
                format!(
                    "the server closed {closed} after complete answers; {}",
                    after(least, most)
                ),
                "this is no limit of requests: see the server's log for processes that are replaced, or limits of memory, time or connections",
            ),
        }
    }
}

/// Whether the server closed connections after complete answers, apart from closes that the profile
/// causes. Says after how many requests, or after how long without one.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let measured = evidence.measured()?;
    let closes = match evidence.requests_per_connection() {
        Some(1) => return None,
        // The client's last request announces the close.
        Some(asked) => Closes {
            by_requests: measured.closes.by_requests.below(asked.into()),
            by_idle_ns: measured.closes.by_idle_ns.clone(),
        },
        None => measured.closes.clone(),
    };
    let habit = Habit::from_closes(&closes)?;
    let closed = closes.count();
    let is_frequent = closed as f64 > NEGLIGIBLE * measured.requests.completed as f64;
    if !(is_frequent || habit.is_a_setting() && closed > 1) {
        return None;
    }
    let cost = CONNECTION * closed as f64 / measured.requests.completed.max(1) as f64;
    let severity =
        if habit.is_a_limit() && cost <= LITTLE { Severity::Note } else { Severity::Suspect };
    let (seen, advice) = habit.in_words(&counted(closed, "connection"));
    Some(caveat("server_closes", severity, seen, advice))
}

/// The quantiles between which most of the numbers lie.
fn bulk(numbers: &Frequencies) -> Option<(u64, u64)> {
    numbers.quantile(BULK.0).zip(numbers.quantile(BULK.1))
}

fn after(least: u64, most: u64) -> String {
    format!("after {} to {}", whole(least as f64), counted(most, "request"))
}

fn timeout(least_ns: u64, most_ns: u64) -> String {
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

    /// Closes after so many requests, so many times each.
    fn closing(mut record: TrialRecord, after: &[(u64, u64)]) -> TrialRecord {
        let measured = &mut record.load.as_mut().unwrap().measured;
        for (requests, times) in after {
            measured.connections.closed_by_server += times;
            measured.connections.opened += times;
            measured.closes.by_requests.add(*requests, *times);
        }
        record
    }

    /// Closes after so many nanoseconds without a request.
    fn idling(mut record: TrialRecord, after_ns: &[u64]) -> TrialRecord {
        let measured = &mut record.load.as_mut().unwrap().measured;
        for ns in after_ns {
            measured.connections.closed_by_server += 1;
            measured.closes.add(0, *ns);
        }
        record
    }

    fn hello() -> TrialRecord {
        ExampleTrial::hello().build()
    }

    #[test]
    fn a_limit_is_found_and_named() {
        let found = judged(judge, &closing(hello(), &[(1_000, 300)])).unwrap();
        assert!(found.evidence.ends_with("keep-alive limit found: 1,000 requests"), "{found:?}");
        let jitter = closing(hello(), &[(900, 100), (1_000, 100), (1_100, 100)]);
        let found = judged(judge, &jitter).unwrap();
        assert!(found.evidence.ends_with("after 900 to 1,100 requests"), "{found:?}");
        assert!(found.advice.contains("limit of requests"), "{found:?}");
    }

    /// nginx closes after 1,000 requests unless it is told otherwise: 0.5 % more work.
    #[test]
    fn a_limit_that_hardly_costs_anything_is_a_note() {
        let severity = |after: u64, times: u64| {
            let mut record = closing(hello(), &[(after, times)]);
            record.load.as_mut().unwrap().measured.requests.completed = after * times;
            judged(judge, &record).unwrap().severity
        };
        assert_eq!(severity(1_000, 20), Severity::Note);
        assert_eq!(severity(500, 40), Severity::Note);
        assert_eq!(severity(100, 200), Severity::Suspect);
        assert_eq!(severity(1, 20_000), Severity::Suspect);
    }

    /// One close for another reason, however early or late, hides no limit.
    #[test]
    fn one_other_close_changes_nothing() {
        for other in [0, 1, 7, 50_000] {
            let found = judged(judge, &closing(hello(), &[(1_000, 300), (other, 1)])).unwrap();
            assert!(
                found
                    .evidence
                    .ends_with("keep-alive limit found: 1,000 requests (99.7 % of the closes)"),
                "{other}: {found:?}"
            );
        }
    }

    #[test]
    fn a_server_that_keeps_no_connection_has_no_limit() {
        // gunicorn's worker `sync` closes after each answer, and some connections are closed before
        // a request came.
        for after in [&[(1, 3_000)][..], &[(0, 12), (1, 3_000)], &[(0, 2), (1, 3_000), (2, 20)]] {
            let found = judged(judge, &closing(hello(), after)).unwrap();
            assert!(found.evidence.ends_with("it keeps no connection alive"), "{found:?}");
            assert!(!found.advice.contains("limit"), "{found:?}");
        }
    }

    #[test]
    fn closes_without_a_common_number_are_no_limit() {
        let all: Vec<(u64, u64)> = (1..200).map(|requests| (requests, 3)).collect();
        let found = judged(judge, &closing(hello(), &all)).unwrap();
        assert!(found.evidence.ends_with("after 10 to 190 requests"), "{found:?}");
        assert!(found.advice.contains("no limit of requests"), "{found:?}");
    }

    #[test]
    fn connections_that_never_served_tell_no_limit() {
        let found = judged(judge, &closing(hello(), &[(0, 40)])).unwrap();
        assert!(found.evidence.contains("closed 40 connections without an answer"), "{found:?}");
        assert!(found.advice.contains("log"), "{found:?}");
    }

    #[test]
    fn an_idle_timeout_is_no_limit_of_requests() {
        // Nothing was sent on these connections, and the server closed them after a second; one it
        // closed for another reason.
        let open = || ExampleTrial::open(10.0).build();
        let mut after_ns: Vec<u64> = (0..40).map(|nth| 1_000_000_000 + nth * 1_000_000).collect();
        after_ns.push(9_000_000_000);
        let found = judged(judge, &idling(open(), &after_ns)).unwrap();
        assert!(
            found.evidence.ends_with("idle timeout found: 1.00 s without a request")
                && found.advice.contains("keep-alive timeout"),
            "{found:?}"
        );
        let spread: Vec<u64> = (0..=18).map(|nth| 1_000_000_000 + nth * 50_000_000).collect();
        let found = judged(judge, &idling(open(), &spread)).unwrap();
        assert!(found.evidence.ends_with("after 1.00 s to 1.90 s without a request"), "{found:?}");
        // Most closes are by a limit, a few by the timeout.
        let found = judged(judge, &closing(idling(open(), &after_ns[..3]), &[(100, 40)])).unwrap();
        assert!(found.evidence.contains("keep-alive limit found: 100"), "{found:?}");
    }

    #[test]
    fn what_the_profile_asks_for_and_a_single_close_are_not() {
        let with = |limit| ExampleTrial::hello().requests_per_connection(limit).build();
        assert_eq!(judged(judge, &closing(with(1), &[(1, 300_000)])), None);
        assert_eq!(judged(judge, &closing(with(100), &[(100, 3_000)])), None);
        assert!(judged(judge, &closing(with(100), &[(100, 3_000), (50, 3_000)])).is_some());
        assert_eq!(judged(judge, &closing(hello(), &[(9_000, 1)])), None);
        assert_eq!(judged(judge, &hello()), None);
    }
}
