//! What each connection got, so that a server that treats its connections differently shows.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Steps of a group in each doubling of the mean service time: a step is 19 %.
const STEPS_PER_DOUBLING: f64 = 4.0;

/// Connections whose mean service times lie in the same step of 19 %, taken together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionGroup {
    /// How many connections.
    pub connections: u64,
    /// Complete answers on all of them.
    pub answers: u64,
    /// The sum of the service times of these answers, nanoseconds.
    pub service_ns: u64,
    /// The sum of the places that their requests had among those that a thread of the generator
    /// sends between two waits for events, counted from 1.
    pub places: u64,
}

impl ConnectionGroup {
    /// The mean service time in nanoseconds; `None` without answers.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.answers > 0).then(|| self.service_ns as f64 / self.answers as f64)
    }

    /// The mean place of a request among those that were sent together; `None` without answers.
    #[must_use]
    pub fn mean_place(&self) -> Option<f64> {
        (self.answers > 0).then(|| self.places as f64 / self.answers as f64)
    }

    /// Adds another group.
    pub const fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.answers += other.answers;
        self.service_ns += other.service_ns;
        self.places += other.places;
    }
}

/// The connections of a stretch by their mean service time. Its size does not depend on the number
/// of connections. A connection that was opened anew in the place of another counts with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByConnection {
    /// Connections with answers, by the step of their mean service time, ascending.
    pub groups: BTreeMap<u32, ConnectionGroup>,
    /// Connections without any answer in the stretch that had a request under way at its end.
    pub without_answer: u64,
    /// How many of those had got the head of an answer that did not end.
    pub with_head_only: u64,
}

impl ByConnection {
    /// Adds a connection that had this many answers. Their service times add up to `service_ns`, and
    /// the places of their requests among those sent together to `places`. Without answers it is not
    /// counted.
    pub fn add(&mut self, answers: u64, service_ns: u64, places: u64) {
        if answers == 0 {
            return;
        }
        let mean_ns = (service_ns as f64 / answers as f64).max(1.0);
        let step = (mean_ns.log2() * STEPS_PER_DOUBLING) as u32;
        let one = ConnectionGroup { connections: 1, answers, service_ns, places };
        self.groups.entry(step).or_default().add(&one);
    }

    /// Adds the connections of a peer, or of another repetition.
    pub fn merge(&mut self, other: &Self) {
        for (step, group) in &other.groups {
            self.groups.entry(*step).or_default().add(group);
        }
        self.without_answer += other.without_answer;
        self.with_head_only += other.with_head_only;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_alike_are_one_group_and_others_are_apart() {
        let mut all = ByConnection::default();
        (0..56).for_each(|i| all.add(1_000, 1_000 * (1_000_000 + i), 1_000));
        (0..8).for_each(|_| all.add(40, 40 * 25_000_000, 120));
        all.add(0, 0, 0);
        let groups: Vec<(u64, f64)> = all
            .groups
            .values()
            .map(|group| (group.connections, group.mean_ns().unwrap()))
            .collect();
        assert_eq!(groups.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [56, 8]);
        assert!((groups[0].1 / 1e6 - 1.0).abs() < 1e-3 && (groups[1].1 / 25e6 - 1.0).abs() < 1e-9);
        let places = all.groups.values().map(|group| group.mean_place().unwrap());
        assert_eq!(places.collect::<Vec<_>>(), [1.0, 3.0]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!(twice.groups.values().map(|group| group.connections).sum::<u64>(), 128);
    }
}
