//! NOTE: new connections wait until the target accepts them, and that limits it.
use pippin_model::host::usage::Role;
use pippin_model::text::units::format_count;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::cpu_bound;
use crate::judge::evidence::{Evidence, caveat, whole};
use crate::judge::listen_queue;

/// The part of the connections that must wait on average.
const PART: f64 = 0.5;

/// Connections that wait to be accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accepting {
    /// How many wait on average.
    pub waiting: f64,
    /// All of them.
    pub connections: f64,
    /// How many are accepted per second.
    pub per_s: f64,
    /// Processors that the target keeps busy.
    pub cores: f64,
}

impl Accepting {
    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "It accepts {} connections/s with {:.2} of a processor busy: {} of {} connections wait in its listen queue on average",
            format_count(self.per_s),
            self.cores,
            whole(self.waiting),
            whole(self.connections)
        )
    }
}

/// Whether most of the connections wait to be accepted.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let advice = "accept in more threads or processes, or without waiting between two connections; or keep connections open";
    Some(caveat("accepts_slowly", Severity::Note, find(evidence)?.words(), advice))
}

/// The connections that wait to be accepted, where connections are short and at least half of them
/// wait, with processors to spare. Long-lived ones that wait are the concern of `listen_queue`.
#[must_use]
pub fn find(evidence: &Evidence) -> Option<Accepting> {
    let queue = listen_queue::seen(evidence)?;
    if queue.is_long_lived || queue.waiting < PART * queue.connections || queue.waiting < 2.0 {
        return None;
    }
    if evidence.drops_connections() || cpu_bound(evidence).is_some() {
        return None;
    }
    let opened = evidence.measured()?.connections.reconnects as f64;
    Some(Accepting {
        waiting: queue.waiting,
        connections: queue.connections,
        per_s: opened / evidence.duration_s()?,
        cores: evidence.cores(Role::Target)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;

    /// 10 connections of one request each, 200 of them per second.
    fn with(waiting: f64, cores: f64) -> TrialRecord {
        let trial = ExampleTrial::hello().requests_per_connection(1).completed(6_000);
        let mut record = trial.target_cores(cores, 1).build();
        record.usage.as_mut().unwrap().listen_queue = Some((waiting, 10));
        record.load.as_mut().unwrap().measured.connections.reconnects = 6_000;
        record
    }

    #[test]
    fn most_that_wait_are_seen() {
        assert_eq!(
            judged(judge, &with(9.2, 0.05)).unwrap().evidence,
            "It accepts 200 connections/s with 0.05 of a processor busy: 9 of 10 connections wait in its listen queue on average"
        );
    }

    #[test]
    fn few_that_wait_and_a_full_processor_are_not() {
        assert_eq!(judged(judge, &with(2.0, 0.05)), None);
        assert_eq!(judged(judge, &with(9.2, 0.98)), None);
        let mut kept = with(9.2, 0.05);
        kept.load.as_mut().unwrap().measured.connections.reconnects = 0;
        assert_eq!(judged(judge, &kept), None, "connections stay");
    }
}
