//! How load is applied: a schedule over connections, once or at several points.
//!
//! | module | what it holds |
//! |---|---|
//! | [`searched`] | what a search looks for: a rate, or a number of devices |
//! | [`kinds`] | `[profile]` in files: the kinds, their keys and the checks |
mod kinds;
mod searched;

use serde::{Deserialize, Serialize};

use crate::load::Protocol;
use crate::load::network::Network;
use crate::load::spoken::Spoken;
pub use crate::load::{Connections, StopRule, WarmUp};
use crate::plan::objective::Objective;
use crate::schedule::overload;
pub use crate::schedule::{Arrivals, Schedule, Stage, UserStage};
use crate::schedule::{stages, users};
use crate::text::units::{Spread, format_count};
use crate::trial::Step;

pub use kinds::{BoolOrNumber, OneOrMany, RawProfile};
pub use searched::Searched;

/// How load is applied. A sweep is a closed loop with several numbers of connections. A capacity
/// search is an open loop that searches for its rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// When requests are due. In a capacity search it has the rate at which the search begins.
    pub schedule: Schedule,
    /// The number of connections and their use. In a sweep, `count` is the first number; with
    /// devices, it is their number.
    pub connections: Connections,
    /// When the measured part of each step ends. Devices end with their ramp instead.
    pub stop: StopRule,
    /// What to leave out at the start of each step.
    pub warm_up: WarmUp,
    /// The points at which the load is applied.
    pub steps: Steps,
    /// The protocol for targets that do not name one; `None` is HTTP/1.1, over TLS if a URL is
    /// `https`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Spoken>,
    /// In an open loop whose arrivals are walks through steps: the number of steps, in a
    /// mix on average. `None` if an arrival is a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk_steps: Option<f64>,
    /// The network that is simulated between generator and targets; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// The points at which a profile is applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steps {
    /// Once, as it is.
    One,
    /// At each of these numbers of connections, ascending.
    Connections(Vec<u32>),
    /// At each of these rates in requests per second, ascending, until the target no longer keeps
    /// up.
    Rates(Vec<f64>),
    /// At rates, or numbers of devices, chosen by a search for the highest one.
    Search {
        /// The condition that must hold.
        objective: Objective,
        /// The precision of the search, as a fraction of the rate.
        precision: f64,
    },
    /// Once, at multiples of the target's capacity.
    Overload {
        /// How to find the capacity; `None` if the schedule has the rates already.
        search: Option<overload::Search>,
        /// How long a user waits for a free connection and for an answer, in nanoseconds.
        patience_ns: u64,
    },
}

impl Steps {
    /// The steps that are known beforehand, in their order; empty if the load is applied as it is,
    /// and if a search chooses them.
    #[must_use]
    pub fn known(&self) -> Vec<Step> {
        match self {
            Self::Connections(list) => {
                list.iter().map(|&count| Step::Connections { count }).collect()
            }
            Self::Rates(list) => list.iter().map(|&per_s| Step::Rate { per_s }).collect(),
            Self::One | Self::Search { .. } | Self::Overload { .. } => Vec::new(),
        }
    }
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
            walk_steps: None,
            network: None,
        }
    }

    /// An open loop over kept connections. Its ramp is its warm-up and never counts in the
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
            walk_steps: None,
            network: None,
        }
    }

    /// An open loop whose rate changes over time, over kept connections. There is no warm-up: all
    /// of it is measured, because each part of it matters.
    #[must_use]
    pub fn staged(stages: Vec<Stage>, arrivals: Arrivals, connections: u32) -> Self {
        let length_ns = stages::length_ns(&stages);
        Self {
            schedule: Schedule::Open { arrivals, stages },
            connections: Connections::kept(connections),
            stop: StopRule::after(length_ns),
            warm_up: WarmUp::None,
            steps: Steps::One,
            protocol: None,
            walk_steps: None,
            network: None,
        }
    }

    /// A closed loop whose users come and go, each over a kept connection of its own. There is no
    /// warm-up: all of it is measured, because each part of it matters.
    #[must_use]
    pub fn users(stages: Vec<UserStage>, think: Option<Spread>) -> Self {
        let (most, length_ns) = (users::most(&stages), users::length_ns(&stages));
        Self {
            schedule: Schedule::Users { think, stages },
            warm_up: WarmUp::None,
            ..Self::closed(most, StopRule::after(length_ns))
        }
    }

    /// Simulated devices. The phases are ramp up, full number, ramp down, in nanoseconds.
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
            walk_steps: None,
            network: None,
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

    /// An open loop at each of these rates, over kept connections. Before the first one the target is
    /// warmed up by a closed loop over all connections ([`Self::before_rates`]).
    #[must_use]
    pub fn rates(
        rates_per_s: Vec<f64>,
        arrivals: Arrivals,
        connections: u32,
        duration_ns: u64,
    ) -> Self {
        let first = rates_per_s.first().copied().unwrap_or(1.0);
        let whole_ns = duration_ns + Self::lead_ns(duration_ns);
        Self {
            stop: StopRule::after(duration_ns),
            warm_up: WarmUp::AUTO,
            steps: Steps::Rates(rates_per_s),
            ..Self::open(first, arrivals, connections, 0, whole_ns)
        }
    }

    /// The closed loop that warms a target up before the first of several rates; `None` for other
    /// profiles. At a low rate, a just-in-time compiler would still be at work at the last step.
    #[must_use]
    pub fn before_rates(&self) -> Option<Self> {
        if !self.is_rates() || self.warm_up == WarmUp::None {
            return None;
        }
        let closed = Self::closed(self.connections.count, self.stop);
        let Self { connections, warm_up, protocol, .. } = *self;
        Some(Self { connections, warm_up, protocol, ..closed })
    }

    /// What is left out before each step at a rate of its own: a tenth of it, so that caches and
    /// just-in-time compilers can adapt to the new rate.
    const fn lead_ns(duration_ns: u64) -> u64 {
        duration_ns / 10
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
        let lead_ns = Self::lead_ns(duration_ns);
        let whole_ns = duration_ns + lead_ns;
        let open = Self::open(start_rate_per_s, Arrivals::Constant, connections, 0, whole_ns);
        Self {
            stop: StopRule::after(duration_ns),
            warm_up: WarmUp::Fixed { duration_ns: lead_ns },
            steps: Steps::Search { objective, precision },
            ..open
        }
    }

    /// The search for the most devices with which an objective holds. It begins with `devices`.
    #[must_use]
    pub fn most_devices(self, objective: Objective, precision: f64) -> Self {
        Self { steps: Steps::Search { objective, precision }, ..self }
    }

    /// Multiples of a capacity, each for the first of these times, and then half of the capacity
    /// for the second, in nanoseconds. If the capacity is searched for, `capacity_per_s` is the
    /// rate at which the search begins.
    #[must_use]
    pub fn overload(
        search: Option<overload::Search>,
        capacity_per_s: f64,
        connections: u32,
        [step_ns, recovery_ns]: [u64; 2],
        patience_ns: u64,
    ) -> Self {
        let stages = overload::stages(capacity_per_s, step_ns, recovery_ns);
        Self {
            steps: Steps::Overload { search, patience_ns },
            ..Self::staged(stages, Arrivals::Constant, connections)
        }
    }

    /// The search that finds the capacity for an overload; `None` for other profiles, and if the
    /// capacity is given.
    #[must_use]
    pub fn capacity_search(&self) -> Option<Self> {
        let Steps::Overload { search: Some(overload::Search { objective }), .. } = &self.steps
        else {
            return None;
        };
        let start = self.schedule.rate_per_s()? / overload::MOST;
        let search = Self::capacity(
            objective.clone(),
            start,
            self.connections.count,
            overload::SEARCH_STEP_NS.max(objective.shortest_step_ns()),
            overload::SEARCH_PRECISION,
        );
        Some(Self {
            connections: self.connections,
            protocol: self.protocol,
            network: self.network,
            ..search
        })
    }

    /// An overload at this capacity.
    #[must_use]
    pub fn at_capacity(&self, per_s: f64) -> Self {
        Self { schedule: self.schedule.at_rate(per_s * overload::MOST), ..self.clone() }
    }

    /// How long a user of an overload waits, in nanoseconds; `None` for other profiles, whose users
    /// wait for a free connection without limit.
    #[must_use]
    pub const fn patience_ns(&self) -> Option<u64> {
        match &self.steps {
            Steps::Overload { patience_ns, .. } => Some(*patience_ns),
            _ => None,
        }
    }

    /// Whether it deliberately offers more than the target can do.
    #[must_use]
    pub const fn is_overload(&self) -> bool {
        matches!(self.steps, Steps::Overload { .. })
    }

    /// The profile at one of its steps. It has only that step.
    #[must_use]
    pub fn at(&self, step: Option<Step>) -> Self {
        let steps = if self.is_overload() { self.steps.clone() } else { Steps::One };
        let mut one = Self { steps, ..self.clone() };
        if let (Steps::Rates(_), Some(duration_ns)) = (&self.steps, self.stop.duration_ns) {
            one.warm_up = WarmUp::Fixed { duration_ns: Self::lead_ns(duration_ns) };
        }
        match step {
            Some(Step::Connections { count }) => one.connections.count = count,
            Some(Step::Rate { per_s }) => one.schedule = one.schedule.at_rate(per_s),
            Some(Step::Devices { count }) => {
                one.schedule = one.schedule.with_devices(count);
                one.connections.count = count;
            }
            None => {}
        }
        one
    }

    /// The maximum number of connections that are open at the same time.
    #[must_use]
    pub fn most_connections(&self) -> u64 {
        let of_steps = match &self.steps {
            Steps::Connections(list) => list.iter().copied().max(),
            _ => None,
        };
        u64::from(of_steps.unwrap_or(self.connections.count))
    }

    /// The most connections, if each user needs its own connection because the protocol has no
    /// streams.
    #[must_use]
    pub fn most_connections_over(&self, protocol: Protocol) -> u64 {
        self.most_connections() * u64::from(self.connections.over(protocol).1)
    }

    /// The number of connections at the step that has the fewest, over this protocol: see
    /// [`Self::most_connections_over`].
    #[must_use]
    pub fn fewest_connections_over(&self, protocol: Protocol) -> u64 {
        let of_steps = match &self.steps {
            Steps::Connections(list) => list.iter().copied().min(),
            _ => None,
        };
        let fewest = of_steps.unwrap_or(self.connections.count);
        u64::from(fewest) * u64::from(self.connections.over(protocol).1)
    }

    /// The number of requests after which the generator closes a connection; `None` keeps it.
    #[must_use]
    pub fn requests_per_connection(&self) -> Option<u32> {
        self.schedule.requests_per_user().or(self.connections.requests_per_connection)
    }

    /// The stages of a load whose rate changes within the measured part; `None` for others, and for
    /// a ramp that is left out.
    #[must_use]
    pub fn shape(&self) -> Option<&[Stage]> {
        let stages = self.schedule.stages()?;
        let is_flat = |stage: &Stage| stage.from_per_s == stage.to_per_s;
        let changes = self.warm_up == WarmUp::None && !matches!(stages, [one] if is_flat(one));
        changes.then_some(stages)
    }

    /// Whether the rate, or the number of users, changes within the measured part by plan. Such a
    /// load has no steady state, and its seconds differ by plan.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.shape().is_some() || self.schedule.user_stages().is_some()
    }

    /// This profile as an open loop whose arrivals are walks through so many steps on average;
    /// `None` if an arrival is a request.
    #[must_use]
    pub fn with_walks(self, steps: Option<f64>) -> Self {
        let is_open = self.schedule.arrivals().is_some();
        Self { walk_steps: steps.filter(|_| is_open), ..self }
    }

    /// The unit of arrivals in an open loop: `requests` or `walks`.
    #[must_use]
    pub const fn arrivals(&self) -> &'static str {
        if self.walk_steps.is_some() { "walks" } else { "requests" }
    }

    /// The offered rate within a stretch of the measured part, in requests per second; if it
    /// changes, the mean. A walk counts as many requests as it has steps. `from_ns` counts from the
    /// start of the measured part, as in a window. `None` if answers set the pace, and in a
    /// warm-up.
    #[must_use]
    pub fn offered_per_s(&self, from_ns: i64, length_ns: u64) -> Option<f64> {
        let from_ns = u64::try_from(from_ns).ok()?;
        if self.capacity_search().is_some() {
            // Its rates are multiples of the capacity that the search will find.
            return None;
        }
        let each = self.walk_steps.unwrap_or(1.0);
        match self.shape() {
            None => self.schedule.rate_per_s().map(|rate| rate * each),
            Some(_) if length_ns == 0 => None,
            Some(stages) => {
                let due = stages::due_between(stages, from_ns, from_ns + length_ns);
                Some(due * each * 1e9 / length_ns as f64)
            }
        }
    }

    /// The amount of load in few words: `64 connections`, `5,000 requests/s`, `up to 5,000
    /// requests/s`, `20 walks/s`, `up to 100 users`.
    #[must_use]
    pub fn amount(&self) -> String {
        let amount = self.schedule.amount(self.connections.count, self.arrivals());
        if self.capacity_search().is_some() {
            return format!("up to {} times the capacity", overload::MOST);
        }
        if let Steps::Rates(list) = &self.steps {
            let highest = list.last().copied().unwrap_or_default();
            return format!("up to {} {}/s", format_count(highest), self.arrivals());
        }
        if self.changes() { format!("up to {amount}") } else { amount }
    }

    /// The kind of the loop and the amount of load: `closed loop, 64 connections`.
    #[must_use]
    pub fn loop_and_amount(&self) -> String {
        let amount = self.amount();
        match self.schedule.loop_name() {
            Some(name) => format!("{name}, {amount}"),
            None => amount,
        }
    }

    /// Length of the part that makes the headline, in nanoseconds; `None` if requests are counted.
    #[must_use]
    pub fn headline_ns(&self) -> Option<u64> {
        let sustain = self.schedule.phases().map(|[_, (_, sustain_ns), _]| sustain_ns);
        sustain.or(self.stop.duration_ns)
    }

    /// Whether its loads are measured in slices. They are if the load goes on without an end after
    /// a warm-up that is left out. Counted requests, devices, and rates and users that change have a
    /// fixed course, and so do the rates of a search. Without a warm-up, the first requests are part of
    /// the measurement.
    #[must_use]
    pub fn is_sliced(&self) -> bool {
        let has_a_course =
            self.schedule.phases().is_some() || self.stop.requests.is_some() || self.changes();
        let begins_cold = self.warm_up == WarmUp::None && !self.schedule.sets_the_pace();
        self.stop.duration_ns.is_some() && !has_a_course && !begins_cold && !self.is_search()
    }

    /// Whether it searches for the targets' rates.
    #[must_use]
    pub const fn is_search(&self) -> bool {
        matches!(self.steps, Steps::Search { .. })
    }

    /// Whether it goes through a list of rates.
    #[must_use]
    pub const fn is_rates(&self) -> bool {
        matches!(self.steps, Steps::Rates(_))
    }

    /// The highest rate that it asks for, in requests per second; `None` if answers set the pace, or
    /// a search finds it.
    #[must_use]
    pub fn highest_rate_per_s(&self) -> Option<f64> {
        match &self.steps {
            Steps::Rates(list) => list.last().copied(),
            Steps::Search { .. } => None,
            _ if self.capacity_search().is_some() => None,
            _ => self.schedule.rate_per_s(),
        }
    }

    /// The name of the kind in plans and lists.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.steps {
            Steps::One => self.schedule.name(),
            Steps::Connections(_) => "sweep",
            Steps::Rates(_) => "rates",
            Steps::Search { .. } => "capacity",
            Steps::Overload { .. } => "overload",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_changes_is_measured_as_a_whole_and_a_ramp_is_left_out() {
        let staged = |text| Profile::staged(stages::parse(text).unwrap(), Arrivals::Constant, 8);
        let up = staged("30s:1000,30s:1000");
        assert_eq!((up.shape().map(<[Stage]>::len), up.is_sliced()), (Some(2), false));
        assert_eq!(
            (up.amount(), up.stop),
            ("up to 1,000 requests/s".into(), StopRule::after(60_000_000_000))
        );
        // The same arrivals, but the ramp is not measured.
        let ramp = Profile::open(1_000.0, Arrivals::Constant, 8, 30_000_000_000, 30_000_000_000);
        assert_eq!(
            (ramp.schedule == up.schedule, ramp.shape(), ramp.is_sliced()),
            (true, None, true)
        );
        assert_eq!(ramp.amount(), "1,000 requests/s");
        let down = staged("0s:500,10s:0");
        assert_eq!(down.schedule.rate_per_s(), Some(500.0));
        assert_eq!(staged("0s:500,10s:500").shape(), None, "a rate that stays");
        assert_eq!(down.offered_per_s(2_000_000_000, 2_000_000_000), Some(350.0));
        assert_eq!(ramp.offered_per_s(2_000_000_000, 2_000_000_000), Some(1_000.0));
        assert_eq!(ramp.offered_per_s(-1, 2_000_000_000), None, "the ramp");
    }

    #[test]
    fn users_that_come_and_go_are_measured_as_a_whole() {
        let stages = users::parse("10@30s,100@2m,0@30s").unwrap();
        let profile = Profile::users(stages, None);
        assert_eq!((profile.kind(), profile.connections.count), ("users", 100));
        assert_eq!((profile.changes(), profile.is_sliced(), profile.shape()), (true, false, None));
        assert_eq!(profile.loop_and_amount(), "closed loop, up to 100 users");
        assert_eq!(profile.stop, StopRule::after(180_000_000_000));
        assert_eq!(profile.schedule.users(7), 100);
    }

    #[test]
    fn a_step_is_a_profile_of_its_own() {
        let sweep = Profile::sweep(vec![1, 8, 64], 5);
        let point = sweep.at(Some(Step::Connections { count: 8 }));
        assert_eq!(point, Profile::closed(8, StopRule::after(5)));
        assert_eq!((sweep.most_connections(), sweep.kind(), point.kind()), (64, "sweep", "closed"));
        let rates = Profile::rates(vec![100.0, 400.0], Arrivals::Constant, 64, 1_000);
        let rate = rates.at(Some(Step::Rate { per_s: 400.0 }));
        assert_eq!((rate.schedule.rate_per_s(), rate.kind()), (Some(400.0), "open"));
        assert_eq!(rate.warm_up, WarmUp::Fixed { duration_ns: 100 });
        assert_eq!((rates.kind(), rates.is_sliced(), rates.is_search()), ("rates", true, false));
        assert_eq!(rates.amount(), "up to 400 requests/s");
        assert_eq!(rates.highest_rate_per_s(), Some(400.0));
        let warming = rates.before_rates().unwrap();
        assert_eq!((warming.kind(), warming.warm_up), ("closed", WarmUp::AUTO));
        let cold = Profile { warm_up: WarmUp::None, ..rates };
        assert_eq!((cold.before_rates(), sweep.before_rates()), (None, None));
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
