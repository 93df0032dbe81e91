//! SUSPECT: some connections wait much longer for their answers than the others.
//!
//! No doubt about the server is a difference that the order of service within a batch makes. Users
//! of a closed loop who are answered together send together, again and again in the same order. A
//! server that serves them one after the other lets the last wait for all others.
use pippin_model::result::ConnectionGroup;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// How many times as long the slow connections must wait.
const FACTOR: f64 = 2.0;
/// ... and the gap between the slowest of the others and the fastest of the slow ones.
const GAP: f64 = 1.5;
/// Fewest answers of a connection on average, on either side.
const FEWEST_ANSWERS: f64 = 3.0;
/// Standard errors of the mean of a slow connection by which it must differ.
const ERRORS: f64 = 4.0;
/// Fewest connections that can be compared.
const FEWEST: f64 = 3.0;

/// Two kinds of connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoKinds {
    /// All connections.
    pub all: u64,
    /// The slow ones.
    pub slow: u64,
    /// Mean service time on those, nanoseconds.
    pub slow_ns: u64,
    /// Mean service time on the others, nanoseconds.
    pub other_ns: u64,
    /// Mean place of a request of a slow connection among those sent together, over that of the
    /// others.
    places: f64,
}

impl TwoKinds {
    /// Whether the place in a batch makes at least half of the difference, and what is left is below
    /// the factor that counts. Served one after the other, requests wait in proportion to their
    /// place.
    fn is_of_batches(&self) -> bool {
        let times = self.slow_ns as f64 / self.other_ns.max(1) as f64;
        times / self.places < FACTOR && self.places - 1.0 >= (times - 1.0) / 2.0
    }

    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "{} of {} wait {:.1} times as long as the others: {} for an answer on average, the others {}",
            self.slow,
            counted(self.all, "connection"),
            self.slow_ns as f64 / self.other_ns.max(1) as f64,
            format_ns(self.slow_ns),
            format_ns(self.other_ns)
        )
    }
}

/// Whether connections are of two kinds.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let advice = "the server does not treat its connections alike (a slow worker or process that some are bound to, a queue of their own): one figure for all describes neither";
    Some(caveat("slow_connections", Severity::Suspect, find(evidence)?.words(), advice))
}

/// The two kinds of connections that the server makes.
#[must_use]
pub fn find(evidence: &Evidence) -> Option<TwoKinds> {
    two_kinds(evidence).filter(|kinds| !kinds.is_of_batches())
}

/// The two kinds of connections that differ by their place in the generator's batches.
#[must_use]
pub fn of_batches(evidence: &Evidence) -> Option<TwoKinds> {
    two_kinds(evidence).filter(TwoKinds::is_of_batches)
}

/// The two kinds of connections, if their mean service times differ by a factor of two, with a gap
/// between them that chance does not make: the answers of each connection scatter, and its mean by
/// so much less as it has more of them.
fn two_kinds(evidence: &Evidence) -> Option<TwoKinds> {
    if evidence.drops_connections() {
        return None;
    }
    let measured = evidence.measured()?;
    let groups: Vec<ConnectionGroup> = measured.by_connection.groups.values().copied().collect();
    let gap = |at: usize| Some(groups[at].mean_ns()? / groups[at - 1].mean_ns()?);
    let gaps = (1..groups.len()).filter_map(|at| Some((at, gap(at)?)));
    let (cut, _) = gaps.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let sum = |groups: &[ConnectionGroup]| {
        groups.iter().fold(ConnectionGroup::default(), |mut all, group| {
            all.add(group);
            all
        })
    };
    let (others, slow) = (sum(&groups[..cut]), sum(&groups[cut..]));
    let (other_ns, slow_ns) = (others.mean_ns()?, slow.mean_ns()?);
    let answers_each = |side: &ConnectionGroup| side.answers as f64 / side.connections as f64;
    let least = answers_each(&others).min(answers_each(&slow));
    let error_ns = measured.spans.service_time.stdev_ns()? / answers_each(&slow).sqrt();
    let stretches = evidence.stretches();
    let all = (others.connections + slow.connections) as f64;
    let seen = all / stretches;
    let are_two = slow_ns >= FACTOR * other_ns
        && gap(cut)? >= GAP
        && least >= FEWEST_ANSWERS
        && slow_ns - other_ns > ERRORS * error_ns
        && seen >= FEWEST
        && !evidence.stretches_explain(slow_ns / other_ns, slow.connections as f64 / all);
    let number = |connections: u64| ((connections as f64 / stretches).round() as u64).max(1);
    let places = slow.mean_place()? / others.mean_place()?.max(1.0);
    are_two.then(|| TwoKinds {
        all: number(others.connections + slow.connections),
        slow: number(slow.connections),
        slow_ns: slow_ns as u64,
        other_ns: other_ns as u64,
        places,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::{judged, sliced};
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ByConnection;
    use pippin_model::result::histogram::Histogram;
    use pippin_model::trial::TrialRecord;

    const MS: u64 = 1_000_000;

    /// Connections: how many, with how many answers each of how many ms.
    fn with(kinds: &[(u64, u64, u64)]) -> TrialRecord {
        let mut record = ExampleTrial::hello().connections(64).build();
        let measured = &mut record.load.as_mut().unwrap().measured;
        (measured.by_connection, measured.spans.service_time) =
            (ByConnection::default(), Histogram::new());
        for (connections, answers, ms) in kinds {
            let all = &mut measured.by_connection;
            (0..*connections).for_each(|_| all.add(*answers, answers * ms * MS, *answers));
            measured.spans.service_time.record_n(ms * MS, connections * answers);
        }
        record
    }

    #[test]
    fn an_eighth_that_is_25_times_slower_is_seen() {
        let found = judged(judge, &with(&[(56, 1_000, 1), (8, 40, 25)])).unwrap();
        assert_eq!(
            found.evidence,
            "8 of 64 connections wait 25.0 times as long as the others: 25.0 ms for an answer on average, the others 1.00 ms"
        );
        assert!(judged(judge, &with(&[(3, 100, 10), (1, 10, 100)])).is_some());
    }

    /// Two trials of a plan on a machine that changed its speed between the two slices of each, nginx
    /// and axum on 27 November 2026. All ten connections of a slice were alike.
    #[test]
    fn what_two_slices_differ_by_is_no_difference_between_connections() {
        for (kinds, medians) in [
            ([(2_535, 42_234, 11_332), (3_010, 111_591, 3_732)], [109_759, 22_463]),
            ([(3_482, 90_800, 5_258), (1_868, 192_000, 1_924)], [206_847, 91_903]),
        ] {
            let mut record = with(&[]);
            let measured = &mut record.load.as_mut().unwrap().measured;
            for (answers, ns, places) in kinds {
                let all = &mut measured.by_connection;
                (0..10).for_each(|_| all.add(answers, answers * ns, places));
                measured.spans.service_time.record_n(ns, 10 * answers);
            }
            assert_eq!(judged(judge, &sliced(record.clone(), &medians)), None);
            let alike = judged(judge, &sliced(record, &[100_000, 100_000])).unwrap();
            assert!(alike.evidence.starts_with("5 of 10 connections"), "{alike:?}");
        }
    }

    /// Ten connections whose requests are sent together and served one after the other, in an order
    /// that changes little: five are mostly among the first five.
    #[test]
    fn the_order_of_service_within_a_batch_is_not_the_servers() {
        let ordered = |slow_place: u64| {
            let mut record = with(&[(5, 1_000, 3), (5, 1_000, 8)]);
            let all = &mut record.load.as_mut().unwrap().measured.by_connection;
            *all = ByConnection::default();
            (0..5).for_each(|_| all.add(1_000, 3_000 * MS, 3_000));
            (0..5).for_each(|_| all.add(1_000, 8_000 * MS, slow_place * 1_000));
            record
        };
        assert_eq!(judged(judge, &ordered(8)), None);
        let seen = judged(judge, &ordered(3)).unwrap().evidence;
        assert!(seen.starts_with("5 of 10 connections wait 2.7 times as long"), "{seen}");
        assert!(judged(judge, &ordered(4)).is_some(), "the place makes a third of it only");
        let batches = judged(crate::judge::bimodal::judge, &ordered(8)).unwrap();
        assert_eq!((batches.id.as_str(), batches.severity), ("batches", Severity::Note));
        assert!(batches.evidence.contains("5 of 10 connections"), "{}", batches.evidence);
    }

    proptest::proptest! {
        /// The law: slices in which all connections are alike make no two kinds of connections and no
        /// two modes, however much they differ.
        #[test]
        fn slices_of_other_speeds_are_not_two_kinds(
            speeds in proptest::collection::vec(20_000_u64..2_000_000, 2..6),
            connections in 2_u64..20,
        ) {
            let mut record = with(&[]);
            let measured = &mut record.load.as_mut().unwrap().measured;
            for ns in &speeds {
                (0..connections).for_each(|_| measured.by_connection.add(1_000, 1_000 * ns, 1_000));
                measured.spans.service_time.record_n(*ns, connections * 1_000);
            }
            let record = sliced(record, &speeds);
            proptest::prop_assert_eq!(judged(judge, &record), None);
            proptest::prop_assert_eq!(judged(crate::judge::bimodal::judge, &record), None);
        }

        /// However many connections a slow worker has, it is named, wherever their requests stand
        /// in batches that the others share; and served in order, nobody is.
        #[test]
        fn a_slow_worker_is_told_from_the_order_of_service(
            slow in 2_u64..20,
            others in 2_u64..20,
            times in 3_u64..30,
            place in 1_u64..10,
        ) {
            let record = |places: [u64; 2]| {
                let mut record = with(&[(others, 1_000, 1), (slow, 1_000, times)]);
                let all = &mut record.load.as_mut().unwrap().measured.by_connection;
                *all = ByConnection::default();
                (0..others).for_each(|_| all.add(1_000, 1_000 * MS, places[0] * 1_000));
                (0..slow).for_each(|_| all.add(1_000, 1_000 * times * MS, places[1] * 1_000));
                record
            };
            proptest::prop_assert!(judged(judge, &record([place, place])).is_some());
            proptest::prop_assert_eq!(judged(judge, &record([place, place * times])), None);
        }
    }

    /// 64 connections in each of 50 slices. In one of them nobody was answered for most of the time, so
    /// that its connections have few answers and long ones.
    #[test]
    fn a_slice_in_which_the_server_stood_still_has_no_slow_connections_and_hides_none() {
        let stood_still = |mut record: TrialRecord| {
            record = sliced(record, &[MS; 50]);
            record.slices[7].figures.answered = 640;
            judged(judge, &record).map(|caveat| caveat.evidence)
        };
        assert_eq!(stood_still(with(&[(64 * 49, 100, 1), (64, 10, 10)])), None);
        let slow = stood_still(with(&[(56 * 50, 100, 1), (8 * 50, 10, 25)]));
        assert!(slow.is_some_and(|slow| slow.starts_with("8 of 64 connections wait 25.0 times")));
    }

    #[test]
    fn what_chance_makes_is_not() {
        assert_eq!(judged(judge, &with(&[(64, 1_000, 1)])), None);
        assert_eq!(judged(judge, &with(&[(60, 1_000, 10), (4, 900, 14)])), None, "a factor of 1.4");
        assert_eq!(judged(judge, &with(&[(56, 1_000, 1), (8, 2, 25)])), None, "too few answers");
        assert_eq!(judged(judge, &with(&[(1, 100, 10), (1, 10, 100)])), None, "two connections");
        // One answer in 50 takes 100 ms, and some connections had more of those.
        let mut record = with(&[(56, 50, 2), (8, 50, 4)]);
        let times = &mut record.load.as_mut().unwrap().measured.spans.service_time;
        times.record_n(100 * MS, 64);
        assert_eq!(judged(judge, &record), None);
        let mut dropped = with(&[(56, 1_000, 1), (8, 40, 25)]);
        dropped.usage.as_mut().unwrap().listen_drops = Some(9);
        assert_eq!(judged(judge, &dropped), None, "connections were dropped");
    }
}
