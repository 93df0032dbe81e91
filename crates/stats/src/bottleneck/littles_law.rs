//! Little's law, `N = X * (R + Z + held)`: users = throughput x (response time + think time + the
//! time for which the generator held each user). It holds for all distributions (Little 1961). So
//! if it fails in a load, something was counted wrongly.

/// The quantities of one part of a closed load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// Users (connections, devices).
    pub users: f64,
    /// The number of recorded response times.
    pub recorded: f64,
    /// Their mean, seconds.
    pub response_time_s: f64,
    /// Their standard deviation, seconds.
    pub response_stdev_s: f64,
    /// Mean think time, seconds.
    pub think_s: f64,
    /// How long the generator held a user for each request, in seconds: from the arrival of an
    /// answer, or the end of the thought, to the next request. 0 if the response time includes it.
    pub held_s: f64,
    /// Its standard deviation, seconds.
    pub held_stdev_s: f64,
    /// Time that users spent within that part on requests that were never answered, seconds, all
    /// users together.
    pub open_s: f64,
    /// Length of that part, seconds.
    pub duration_s: f64,
    /// The number of stretches in it. Each has its own start and end.
    pub stretches: f64,
}

/// How far the law may be missed, beyond what the start and end of the part explain.
pub const TOLERANCE: f64 = 0.05;

/// The shortest time that the law judges, seconds, all stretches together. The threads of a load
/// without a warm-up start some milliseconds apart, up to 10 ms on a busy machine. Users are idle for
/// that time, and in a shorter load it is more than the tolerance.
pub const SHORTEST_S: f64 = 0.25;

impl LittlesLaw {
    /// Users that the throughput and the times account for: `X * (R + Z + held)`, and those who
    /// wait for an answer that does not come.
    #[must_use]
    pub fn accounted_for(&self) -> f64 {
        let answered = self.response_time_s + self.think_s + self.held_s;
        (self.recorded * answered + self.open_s) / self.duration_s
    }

    /// The deviation from the actual users, as a fraction, if it is more than 5 % plus what start
    /// and end explain.
    ///
    /// Each user has one request in progress at the start and one at the end. Some of their time
    /// lies in this part of the load without being recorded, or is recorded without lying in it. So
    /// up to two cycles per user are missing, or one is too many. When a load ends after a number
    /// of requests, its users are idle while the last ones wait. Requests in progress at an instant
    /// are longer than the mean, because long requests are in progress more often: on average
    /// `E(R^2)/E(R)` (the inspection paradox; Feller, An Introduction to Probability Theory II,
    /// VI.7). The same holds for the time that the generator holds a user. On a busy machine a
    /// thread of the generator may wait for a processor at the end of a slice, and all of its users
    /// with it.
    #[must_use]
    pub fn violation(&self) -> Option<f64> {
        if !(self.users > 0.0 && self.recorded > 0.0) || self.duration_s < SHORTEST_S {
            return None;
        }
        let deviation = self.accounted_for() / self.users - 1.0;
        let cycle = met(self.response_time_s, self.response_stdev_s)
            + self.think_s
            + met(self.held_s, self.held_stdev_s);
        let edge = self.stretches * cycle / self.duration_s;
        (deviation < -(TOLERANCE + 2.0 * edge) || deviation > TOLERANCE + edge).then_some(deviation)
    }
}

/// The mean length of the spans that are in progress at an instant: `E(X^2)/E(X)`.
fn met(mean: f64, stdev: f64) -> f64 {
    if mean > 0.0 { mean + stdev.powi(2) / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: LittlesLaw = LittlesLaw {
        users: 10.0,
        recorded: 100_000.0,
        response_time_s: 0.001,
        response_stdev_s: 0.0,
        think_s: 0.0,
        held_s: 0.0,
        held_stdev_s: 0.0,
        open_s: 0.0,
        duration_s: 10.0,
        stretches: 1.0,
    };

    #[test]
    fn it_holds_and_it_fails() {
        assert_eq!(TEN.violation(), None);
        assert_eq!(LittlesLaw { response_time_s: 0.00104, ..TEN }.violation(), None);
        assert!(
            (LittlesLaw { response_time_s: 0.0011, ..TEN }.violation().unwrap() - 0.1).abs() < 1e-9
        );
        assert!(
            (LittlesLaw { response_time_s: 0.0009, ..TEN }.violation().unwrap() + 0.1).abs() < 1e-9
        );
    }

    /// One user gets all answers, and nine wait.
    #[test]
    fn users_who_wait_for_ever_are_no_contradiction() {
        let one = LittlesLaw { response_time_s: 0.0001, ..TEN };
        assert!(one.violation().is_some());
        assert_eq!(LittlesLaw { open_s: 90.0, ..one }.violation(), None);
    }

    #[test]
    fn what_the_generator_held_counts() {
        let held = LittlesLaw { response_time_s: 0.0001, ..TEN };
        assert!(held.violation().is_some());
        assert_eq!(LittlesLaw { held_s: 0.0009, ..held }.violation(), None);
    }

    #[test]
    fn think_time_counts_and_edges_are_forgiven() {
        let devices = LittlesLaw {
            users: 1_000.0,
            recorded: 30_000.0,
            response_time_s: 0.1,
            response_stdev_s: 0.005,
            think_s: 0.9,
            held_s: 0.0,
            held_stdev_s: 0.0,
            open_s: 0.0,
            duration_s: 30.0,
            stretches: 1.0,
        };
        assert_eq!(devices.violation(), None);
        // 100 users, 10.2 s each, 30 s: the first ten seconds' worth of answers belonged to
        // requests from before.
        let slow = LittlesLaw {
            users: 100.0,
            recorded: 196.0,
            response_time_s: 10.2,
            response_stdev_s: 0.1,
            think_s: 0.0,
            held_s: 0.0,
            held_stdev_s: 0.0,
            open_s: 0.0,
            duration_s: 30.0,
            stretches: 1.0,
        };
        assert!(slow.accounted_for() < 70.0);
        assert_eq!(slow.violation(), None);
    }

    #[test]
    fn a_long_tail_at_the_edges_of_a_short_stretch_is_forgiven_and_in_a_long_one_not() {
        // 300 requests of 10 users in half a second, mostly 2 ms, some 100 ms: users idle while the
        // last answers come.
        let short = LittlesLaw {
            users: 10.0,
            recorded: 300.0,
            response_time_s: 0.0143,
            response_stdev_s: 0.03,
            think_s: 0.0,
            held_s: 0.0,
            held_stdev_s: 0.0,
            open_s: 0.0,
            duration_s: 0.5,
            stretches: 1.0,
        };
        assert!(short.accounted_for() < 8.6);
        assert_eq!(short.violation(), None);
        // Sixty such slices have sixty starts and ends.
        let slices = LittlesLaw { recorded: 18_000.0, duration_s: 30.0, stretches: 60.0, ..short };
        assert_eq!(slices.violation(), None);
        assert!(LittlesLaw { recorded: 18_000.0, duration_s: 30.0, ..short }.violation().is_some());
    }

    #[test]
    fn a_generator_that_waits_at_the_end_of_slices_is_forgiven_and_a_steady_gap_is_not() {
        // A busy machine: the generator holds ten users for 1.2 ms on average, and for 30 ms now and
        // then. Twelve slices of 0.15 s may each end with that.
        let busy = LittlesLaw {
            users: 10.0,
            recorded: 5_000.0,
            response_time_s: 0.000_65,
            response_stdev_s: 0.003,
            think_s: 0.0,
            held_s: 0.001_2,
            held_stdev_s: 0.006,
            open_s: 0.0,
            duration_s: 1.8,
            stretches: 12.0,
        };
        assert!(busy.accounted_for() < 5.2);
        assert_eq!(busy.violation(), None);
        assert!(LittlesLaw { held_stdev_s: 0.000_1, ..busy }.violation().is_some());
        assert!(LittlesLaw { stretches: 1.0, ..busy }.violation().is_some());
    }

    /// `pippin load -n 1 -c 1`: 0.3 ms for the answer, and 1.8 ms until the threads have ended.
    #[test]
    fn a_stretch_of_milliseconds_is_not_judged() {
        let one = LittlesLaw {
            users: 1.0,
            recorded: 1.0,
            response_time_s: 0.0003,
            duration_s: 0.0021,
            ..TEN
        };
        assert_eq!(one.violation(), None);
        // 200 answers in 8 ms, of which 1 ms belongs to no request.
        let more = LittlesLaw { recorded: 200.0, response_time_s: 35e-6, duration_s: 0.008, ..one };
        assert_eq!(more.violation(), None);
        let slices = LittlesLaw { duration_s: 0.08, recorded: 2_000.0, stretches: 10.0, ..more };
        assert_eq!(slices.violation(), None, "together they are short");
        let long = LittlesLaw { recorded: 20_000.0, duration_s: 0.8, ..more };
        assert!(long.violation().is_some());
    }
}
