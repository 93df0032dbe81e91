//! SUSPECT: the target did not accept some connections while it served the others.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// The fraction of the connections that may stand in the queue on average. Each new connection passes
/// through it.
const LIMIT: f64 = 0.01;
/// Fewest requests per connection. With fewer, waiting to be accepted is part of most requests, and
/// their times include it.
const LONG_LIVED: f64 = 10.0;

/// Fewest samples whose mean says how many wait. A load that is shorter has samples at its ends only.
const FEWEST_SAMPLES: usize = 4;

/// The listen queue of the target during a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Queue {
    /// Connections that stood in it from one sample to the next, on average.
    pub waiting: f64,
    /// The most that waited at one time.
    pub most: u64,
    /// All connections.
    pub connections: f64,
    /// Whether connections carry many requests.
    pub is_long_lived: bool,
}

/// The listen queue; `None` if it is unknown, or was looked at too seldom for a mean.
pub(crate) fn seen(evidence: &Evidence) -> Option<Queue> {
    let (waiting, most) = evidence.record.usage.as_ref()?.listen_queue?;
    let measured = evidence.measured()?;
    let samples = evidence.record.samples.iter().filter(|sample| sample.listen_queue.is_some());
    if samples.count() < FEWEST_SAMPLES {
        return None;
    }
    let connections = measured.connections.peak as f64;
    let requests_each = measured.requests.sent as f64
        / (measured.connections.reconnects as f64).max(connections).max(1.0);
    Some(Queue { waiting, most, connections, is_long_lived: requests_each >= LONG_LIVED })
}

/// Whether some connections stayed in the listen queue instead of being served. The kernel opens a
/// connection before the server knows about it (listen(2)), so the client counts it as one of its
/// users. Requests on such connections wait, most of them beyond the end of the load, and the
/// quantiles cover only the others. Where the queue was full, `listen_overflows` says it.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let Queue { waiting: mean, most, connections, is_long_lived } = seen(evidence)?;
    let is_explained = evidence.drops_connections();
    if mean <= 1.0 || mean <= LIMIT * connections || !is_long_lived || is_explained {
        return None;
    }
    let seen = format!(
        "{} of {} connections ({}; at most {}) waited in the listen queue on average: open for the client, not accepted by the target",
        whole(mean),
        whole(connections),
        percent(mean / connections),
        whole(most as f64)
    );
    let advice = "give the target more processes, use fewer connections, or make it accept sooner (`ss -ltn` shows the queue): the quantiles cover only the connections that it accepted";
    Some(caveat("listen_queue", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;

    /// 512 connections, 256,000 requests. That a queue stands is for the probe to tell (`probe::usage`).
    fn record(queue: Option<(f64, u64)>) -> TrialRecord {
        let mut record = ExampleTrial::hello().build();
        record.usage.as_mut().unwrap().listen_queue = queue;
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.requests.sent = 256_000;
        (measured.connections.asked, measured.connections.peak, measured.connections.reconnects) =
            (512, 512, 0);
        record
    }

    #[test]
    fn a_queue_that_stands_is_seen() {
        let found = judged(judge, &record(Some((290.4, 335)))).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with("290 of 512 connections (56.7 %; at most 335)"),
            "{}",
            found.evidence
        );
    }

    #[test]
    fn passing_through_short_connections_and_what_is_unknown_are_silent() {
        assert!(judged(judge, &record(Some((6.0, 9)))).is_some());
        assert_eq!(judged(judge, &record(Some((5.0, 400)))), None, "below 1 % on average");
        assert_eq!(judged(judge, &record(Some((0.0, 0)))), None);
        assert_eq!(judged(judge, &record(None)), None);
        let mut short = record(Some((200.0, 335)));
        short.load.as_mut().unwrap().measured.connections.reconnects = 256_000;
        assert_eq!(judged(judge, &short), None, "a connection for each request");
        let mut glance = record(Some((290.4, 335)));
        glance.samples.truncate(2);
        assert_eq!(judged(judge, &glance), None, "a mean of two samples");
        let mut full = record(Some((290.4, 335)));
        full.usage.as_mut().unwrap().listen_drops = Some(3);
        assert_eq!(judged(judge, &full), None, "said by listen_overflows");
        let mut elsewhere = record(Some((290.4, 335)));
        elsewhere.usage.as_mut().unwrap().listen_overflows = Some(3);
        assert!(judged(judge, &elsewhere).is_some(), "another program's queue");
        let mut few = record(Some((1.0, 1)));
        few.load.as_mut().unwrap().measured.connections.peak = 10;
        assert_eq!(judged(judge, &few), None, "one connection");
    }
}
