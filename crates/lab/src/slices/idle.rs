//! What a target burns while others are measured.

use std::fmt;

/// Processors that a target may keep busy while nobody asks it: half a percent of one.
pub const LIMIT: f64 = 0.005;
/// What all targets that are up may use together while nobody asks them: a twentieth of a
/// processor, which every target lacks when its turn comes.
pub const LIMIT_TOGETHER: f64 = 0.05;
/// How long to watch at least: right after its slice, a target may still tidy up.
const FEWEST_NS: u64 = 2_000_000_000;

/// What one target used while others were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idle {
    cpu_ns: u64,
    watched_ns: u64,
}

impl Idle {
    /// Adds a slice of another target.
    pub const fn add(&mut self, cpu_ns: u64, watched_ns: u64) {
        self.cpu_ns += cpu_ns;
        self.watched_ns += watched_ns;
    }

    /// Processors that it kept busy; `None` if it was never watched.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.cpu_ns as f64 / self.watched_ns as f64)
    }

    /// Processors kept busy; `None` also if it was watched for too short a time to judge it.
    #[must_use]
    pub fn judged_cores(&self) -> Option<f64> {
        self.cores().filter(|_| self.watched_ns >= FEWEST_NS)
    }

    /// What it takes from every other target alike, in processors; 0 unless it is known to be idle,
    /// because a target that is not idle disturbs.
    #[must_use]
    pub fn shared_cores(&self) -> f64 {
        self.judged_cores().filter(|cores| *cores <= LIMIT).unwrap_or(0.0)
    }
}

/// Which of these targets are not idle while others are measured, by what each uses in processors:
/// each that uses too much, and those that use most if all together use too much. Each comes with
/// what it uses and the limit.
#[must_use]
pub fn restless<T>(mut used: Vec<(T, f64)>) -> Vec<(T, f64, Limit)> {
    used.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut leaving = Vec::new();
    while let Some((target, cores)) = used.pop() {
        let together = cores + used.iter().map(|(_, cores)| cores).sum::<f64>();
        let limit = match cores {
            _ if cores > LIMIT => Limit::Alone,
            _ if together > LIMIT_TOGETHER => Limit::Together,
            _ => break,
        };
        leaving.push((target, cores, limit));
    }
    leaving
}

/// Which limit a target exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// That of each target ([`LIMIT`]).
    Alone,
    /// That of all targets that are up ([`LIMIT_TOGETHER`]).
    Together,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => write!(out, "limit {:.1} %", LIMIT * 100.0),
            Self::Together => write!(out, "limit of all together {:.1} %", LIMIT_TOGETHER * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_use_most_leave_until_the_others_are_idle_together() {
        let few = vec![("a", LIMIT), ("b", 0.00501), ("c", 0.001)];
        assert_eq!(restless(few), [("b", 0.00501, Limit::Alone)], "half a percent is idle");
        let many: Vec<(usize, f64)> = (0..14).map(|n| (n, 0.003 + 0.0001 * n as f64)).collect();
        let left: Vec<usize> = restless(many).into_iter().map(|(target, ..)| target).collect();
        assert_eq!(left, [13], "14 use 5.1 % together, and 13 of them 4.7 %");
        assert_eq!(Limit::Together.to_string(), "limit of all together 5.0 %");
        assert_eq!(restless(Vec::<(u8, f64)>::new()), []);
    }

    #[test]
    fn a_target_is_judged_after_two_seconds() {
        let mut idle = Idle::default();
        assert_eq!((idle.cores(), idle.judged_cores()), (None, None));
        idle.add(500_000_000, 1_000_000_000);
        assert_eq!((idle.cores(), idle.judged_cores()), (Some(0.5), None), "too early to tell");
        idle.add(0, 99_000_000_000);
        assert_eq!(idle.judged_cores(), Some(LIMIT));
    }

    #[test]
    fn only_what_a_target_that_is_known_to_be_idle_uses_is_shared() {
        let mut idle = Idle::default();
        idle.add(1_000_000, 1_000_000_000);
        assert_eq!(idle.shared_cores(), 0.0, "too early to tell");
        idle.add(9_000_000, 1_000_000_000);
        assert_eq!(idle.shared_cores(), LIMIT);
        idle.add(1_000_000, 0);
        assert_eq!(idle.shared_cores(), 0.0, "it disturbs");
    }
}
