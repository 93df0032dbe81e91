//! How load is applied: a schedule over connections, once or at several points.
//!
//! | module | what it holds |
//! |---|---|
//! | [`kinds`] | `[profile]` as it is written: the kinds, their keys and what they must be |
//! | `old` | profiles as they were stored before version 0.2 |
mod kinds;
mod old;

use serde::{Deserialize, Serialize};

use crate::load_spec::Protocol;
pub use crate::load_spec::{Connections, StopRule, WarmUp};
use crate::objective::Objective;
pub use crate::schedule::{Arrivals, Schedule};
use crate::spoken::Spoken;
use crate::trial::Step;
use crate::units::Spread;

pub use kinds::{BoolOrNumber, OneOrMany, RawProfile};

/// How load is applied. A sweep is a closed loop with several numbers of connections, a capacity
/// search an open loop whose rate is searched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "old::Stored")]
pub struct Profile {
    /// When requests are due. In a capacity search it has the rate at which the search begins.
    pub schedule: Schedule,
    /// How many connections, and how they are used. In a sweep `count` is the first of its numbers;
    /// with devices it is their number.
    pub connections: Connections,
    /// When the measured part of each step ends. Devices end with their ramp instead.
    pub stop: StopRule,
    /// What is left out at the start of each step.
    pub warm_up: WarmUp,
    /// At which points.
    pub steps: Steps,
    /// What is spoken with targets that do not say it themselves; `None` is HTTP/1.1, over TLS where
    /// a URL is `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Spoken>,
}

/// At which points a profile is applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steps {
    /// Once, as it is.
    One,
    /// At each of these numbers of connections, ascending.
    Connections(Vec<u32>),
    /// At rates that a search for the highest one chooses.
    Search {
        /// What must hold.
        objective: Objective,
        /// How near the search must come, as a fraction of the rate.
        precision: f64,
    },
}

impl Profile {
    /// A closed loop of kept connections without think time.
    #[must_use]
    pub const fn closed(connections: u32, stop: StopRule) -> Self {
        Self {
            schedule: Schedule::Closed { think: None },
            connections: Connections::kept(connections),
            stop,
            warm_up: WarmUp::AUTO,
            steps: Steps::One,
            protocol: None,
        }
    }

    /// An open loop over kept connections. Its ramp is its warm-up: it is never averaged into the
    /// headline.
    #[must_use]
    pub fn open(
        rate_per_s: f64,
        arrivals: Arrivals,
        connections: u32,
        ramp_ns: u64,
        duration_ns: u64,
    ) -> Self {
        let warm_up =
            if ramp_ns > 0 { WarmUp::Fixed { duration_ns: ramp_ns } } else { WarmUp::None };
        Self {
            schedule: Schedule::open(rate_per_s, arrivals, ramp_ns, duration_ns),
            connections: Connections::kept(connections),
            stop: StopRule::after(duration_ns),
            warm_up,
            steps: Steps::One,
            protocol: None,
        }
    }

    /// Simulated devices; the phases are ramp up, full number, ramp down, in nanoseconds.
    #[must_use]
    pub const fn devices(
        devices: u32,
        requests_per_device: u32,
        think: Spread,
        [ramp_up_ns, sustain_ns, ramp_down_ns]: [u64; 3],
    ) -> Self {
        Self {
            schedule: Schedule::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ramp_down_ns,
            },
            connections: Connections::kept(devices),
            stop: StopRule { duration_ns: None, requests: None },
            warm_up: WarmUp::None,
            steps: Steps::One,
            protocol: None,
        }
    }

    /// A closed loop at each of these numbers of connections.
    #[must_use]
    pub fn sweep(connections: Vec<u32>, duration_ns: u64) -> Self {
        let first = connections.first().copied().unwrap_or(1);
        Self {
            steps: Steps::Connections(connections),
            ..Self::closed(first, StopRule::after(duration_ns))
        }
    }

    /// The search for the highest rate that keeps an objective.
    #[must_use]
    pub fn capacity(
        objective: Objective,
        start_rate_per_s: f64,
        connections: u32,
        duration_ns: u64,
        precision: f64,
    ) -> Self {
        // A tenth of each step comes before it is counted, so that caches and just-in-time
        // compilers meet the new rate.
        let lead_ns = duration_ns / 10;
        let whole_ns = duration_ns + lead_ns;
        let open = Self::open(start_rate_per_s, Arrivals::Constant, connections, 0, whole_ns);
        Self {
            stop: StopRule::after(duration_ns),
            warm_up: WarmUp::Fixed { duration_ns: lead_ns },
            steps: Steps::Search { objective, precision },
            ..open
        }
    }

    /// The profile as it is applied at one of its steps: of one step itself.
    #[must_use]
    pub fn at(&self, step: Option<Step>) -> Self {
        let mut one = Self { steps: Steps::One, ..self.clone() };
        match step {
            Some(Step::Connections { count }) => one.connections.count = count,
            Some(Step::Rate { per_s }) => one.schedule = one.schedule.at_rate(per_s),
            None => {}
        }
        one
    }

    /// The connections that are open at the same time at the most.
    #[must_use]
    pub fn most_connections(&self) -> u64 {
        let of_steps = match &self.steps {
            Steps::Connections(list) => list.iter().copied().max(),
            Steps::One | Steps::Search { .. } => None,
        };
        u64::from(of_steps.unwrap_or(self.connections.count))
    }

    /// The same where each user of a connection has one of its own, because the protocol knows no
    /// streams.
    #[must_use]
    pub fn most_connections_over(&self, protocol: Protocol) -> u64 {
        self.most_connections() * u64::from(self.connections.over(protocol).1)
    }

    /// Requests after which a connection is closed by the generator; `None` keeps it.
    #[must_use]
    pub fn requests_per_connection(&self) -> Option<u32> {
        self.schedule.requests_per_user().or(self.connections.requests_per_connection)
    }

    /// Length of the part from which the headline comes, nanoseconds; `None` where requests are
    /// counted.
    #[must_use]
    pub fn headline_ns(&self) -> Option<u64> {
        let sustain = self.schedule.phases().map(|[_, (_, sustain_ns), _]| sustain_ns);
        sustain.or(self.stop.duration_ns)
    }

    /// Whether its loads are measured in slices: those that go on without an end, after a warm-up
    /// that is left out. Counted requests and devices have a course of their own, a search has one
    /// of its rates, and without a warm-up the first requests are what is measured.
    #[must_use]
    pub fn is_sliced(&self) -> bool {
        let has_a_course = self.schedule.phases().is_some() || self.stop.requests.is_some();
        let begins_cold = self.warm_up == WarmUp::None && !self.schedule.sets_the_pace();
        self.stop.duration_ns.is_some() && !has_a_course && !begins_cold && !self.is_search()
    }

    /// Whether the targets' rates are searched for.
    #[must_use]
    pub const fn is_search(&self) -> bool {
        matches!(self.steps, Steps::Search { .. })
    }

    /// The name of the kind in plans and lists.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.steps {
            Steps::One => self.schedule.name(),
            Steps::Connections(_) => "sweep",
            Steps::Search { .. } => "capacity",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_profile_of_its_own() {
        let sweep = Profile::sweep(vec![1, 8, 64], 5);
        let point = sweep.at(Some(Step::Connections { count: 8 }));
        assert_eq!(point, Profile::closed(8, StopRule::after(5)));
        assert_eq!((sweep.most_connections(), sweep.kind(), point.kind()), (64, "sweep", "closed"));
        let objective = Objective::parse("p99 < 50ms").unwrap();
        let search = Profile::capacity(objective, 100.0, 64, 1_000, 0.02);
        let faster = search.at(Some(Step::Rate { per_s: 400.0 }));
        assert_eq!((faster.schedule.rate_per_s(), faster.kind()), (Some(400.0), "open"));
        assert_eq!(
            (faster.stop, faster.warm_up),
            (search.stop, WarmUp::Fixed { duration_ns: 100 })
        );
    }
}
