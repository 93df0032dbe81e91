//! When requests are due. Plans and the engine share this type. A new kind of schedule is a new
//! variant here; all other crates only call its methods, except the engine's worker, which makes
//! its users.
//!
//! | module | what it does |
//! |---|---|
//! | [`stages`] | a rate that changes over time |
//! | [`users`] | users that come and go |
//! | [`overload`] | rates beyond what a target can do |
pub mod overload;
pub mod stages;
pub mod users;

use serde::{Deserialize, Serialize};

use crate::load::{Connections, LoadSpec, WarmUp};
use crate::text::units::{Spread, counted, format_count, format_length};
pub use users::UserStage;

/// When requests are due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Schedule {
    /// Each connection is a user. The next request follows the last answer, after the think time if
    /// there is one.
    Closed {
        /// Time between an answer and the next request.
        think: Option<Spread>,
    },
    /// As a closed loop, with users that come and go. Each has a connection of its own. Who goes
    /// first finishes its request, or its walk through a scenario.
    Users {
        /// Time between an answer and the next request.
        think: Option<Spread>,
        /// The number of users over time, one stage after the other.
        stages: Vec<UserStage>,
    },
    /// Arrivals that do not wait for answers.
    Open {
        /// How arrivals are spaced.
        arrivals: Arrivals,
        /// The rate over time, one stage after the other. A constant rate is one stage.
        stages: Vec<Stage>,
    },
    /// Simulated devices. Each opens a connection, sends its requests with think time between
    /// answer and next request, and closes. A new device replaces it as long as the ramp asks for
    /// that many.
    Devices {
        /// How many live at the same time at full number.
        devices: u32,
        /// Requests before a device is replaced.
        requests_per_device: u32,
        /// Time between an answer and the next request.
        think: Spread,
        /// Nanoseconds over which devices are added one by one.
        ramp_up_ns: u64,
        /// Nanoseconds at full number: the headline phase.
        sustain_ns: u64,
        /// Nanoseconds over which devices that end are no longer replaced.
        ramp_down_ns: u64,
    },
}

/// How arrivals of an open loop are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equally spaced.
    Constant,
    /// One in each of equal gaps, at a random instant of it.
    Jittered,
    /// Exponentially distributed gaps.
    Poisson,
}

/// A part of an open-loop load. The rate goes linearly from one value to the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Requests per second at its start.
    pub from_per_s: f64,
    /// Requests per second at its end.
    pub to_per_s: f64,
}

impl Arrivals {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Jittered => "jittered",
            Self::Poisson => "Poisson",
        }
    }
}

/// Why a load cannot have its schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Two settings exclude each other.
    Contradiction {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// What to change.
        fix: &'static str,
    },
    /// A number that must be at least 1.
    Zero {
        /// What is 0.
        what: &'static str,
    },
    /// A rate that no load can have.
    Rate {
        /// The rate, in requests per second.
        value: String,
    },
}

impl Schedule {
    /// A constant rate after a ramp from 0, both in nanoseconds. 0 means no ramp.
    #[must_use]
    pub fn open(rate_per_s: f64, arrivals: Arrivals, ramp_ns: u64, duration_ns: u64) -> Self {
        let ramp = Stage { duration_ns: ramp_ns, from_per_s: 0.0, to_per_s: rate_per_s };
        let flat = Stage { duration_ns, from_per_s: rate_per_s, to_per_s: rate_per_s };
        let stages = if ramp_ns > 0 { vec![ramp, flat] } else { vec![flat] };
        Self::Open { arrivals, stages }
    }

    /// The name of the kind in plans and files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Users { .. } => "users",
            Self::Open { .. } => "open",
            Self::Devices { .. } => "devices",
        }
    }

    /// The highest offered rate in requests per second, or the rate if it is constant. `None` if
    /// answers set the pace.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        let rates = self.stages()?.iter().flat_map(|stage| [stage.from_per_s, stage.to_per_s]);
        rates.reduce(f64::max)
    }

    /// The rate over time; `None` if answers set the pace.
    #[must_use]
    pub fn stages(&self) -> Option<&[Stage]> {
        match self {
            Self::Open { stages, .. } => Some(stages),
            Self::Closed { .. } | Self::Users { .. } | Self::Devices { .. } => None,
        }
    }

    /// The number of users over time; `None` if it stays, and for devices.
    #[must_use]
    pub fn user_stages(&self) -> Option<&[UserStage]> {
        match self {
            Self::Users { stages, .. } => Some(stages),
            Self::Closed { .. } | Self::Open { .. } | Self::Devices { .. } => None,
        }
    }

    /// Whether users come and go, so that each opens its connection within the load.
    #[must_use]
    pub const fn users_come_and_go(&self) -> bool {
        match self {
            Self::Closed { .. } | Self::Open { .. } => false,
            Self::Users { .. } | Self::Devices { .. } => true,
        }
    }

    /// How arrivals are spaced; `None` if answers set the pace.
    #[must_use]
    pub const fn arrivals(&self) -> Option<Arrivals> {
        match self {
            Self::Open { arrivals, .. } => Some(*arrivals),
            Self::Closed { .. } | Self::Users { .. } | Self::Devices { .. } => None,
        }
    }

    /// Nanoseconds until the rate stays constant; 0 without a ramp.
    #[must_use]
    pub fn ramp_ns(&self) -> u64 {
        match self {
            Self::Open { stages, .. } => {
                stages.split_last().map_or(0, |(_, ramp)| ramp.iter().map(|s| s.duration_ns).sum())
            }
            Self::Closed { .. } | Self::Users { .. } | Self::Devices { .. } => 0,
        }
    }

    /// This schedule with all rates scaled so that this is the highest. Schedules without a
    /// rate stay unchanged.
    #[must_use]
    pub fn at_rate(&self, per_s: f64) -> Self {
        let (Self::Open { arrivals, stages }, Some(own)) = (self, self.rate_per_s()) else {
            return self.clone();
        };
        let scale = |rate: f64| if rate == own { per_s } else { rate / own * per_s };
        let stages = stages.iter().map(|stage| Stage {
            duration_ns: stage.duration_ns,
            from_per_s: scale(stage.from_per_s),
            to_per_s: scale(stage.to_per_s),
        });
        Self::Open { arrivals: *arrivals, stages: stages.collect() }
    }

    /// This schedule with so many devices. Schedules without devices stay unchanged.
    #[must_use]
    pub fn with_devices(&self, count: u32) -> Self {
        let mut other = self.clone();
        if let Self::Devices { devices, .. } = &mut other {
            *devices = count;
        }
        other
    }

    /// The highest rate as a constant one, after a ramp from 0, both in nanoseconds. Schedules
    /// without a rate stay unchanged.
    #[must_use]
    pub fn flat(&self, ramp_ns: u64, duration_ns: u64) -> Self {
        match (self.arrivals(), self.rate_per_s()) {
            (Some(arrivals), Some(rate)) => Self::open(rate, arrivals, ramp_ns, duration_ns),
            _ => self.clone(),
        }
    }

    /// Time between an answer and its user's next request.
    #[must_use]
    pub const fn think(&self) -> Option<Spread> {
        match self {
            Self::Closed { think } | Self::Users { think, .. } => *think,
            Self::Open { .. } => None,
            Self::Devices { think, .. } => Some(*think),
        }
    }

    /// The length of the schedule in nanoseconds; `None` if it has no end.
    #[must_use]
    pub fn length_ns(&self) -> Option<u64> {
        let sum = |lengths: &mut dyn Iterator<Item = u64>| lengths.fold(0, u64::saturating_add);
        match self {
            Self::Closed { .. } => None,
            Self::Users { stages, .. } => Some(users::length_ns(stages)),
            Self::Open { stages, .. } => Some(sum(&mut stages.iter().map(|it| it.duration_ns))),
            Self::Devices { ramp_up_ns, sustain_ns, ramp_down_ns, .. } => {
                Some(sum(&mut [*ramp_up_ns, *sustain_ns, *ramp_down_ns].into_iter()))
            }
        }
    }

    /// The number of requests after which a user closes its connection; `None` if the profile
    /// decides.
    #[must_use]
    pub const fn requests_per_user(&self) -> Option<u32> {
        match self {
            Self::Closed { .. } | Self::Users { .. } | Self::Open { .. } => None,
            Self::Devices { requests_per_device, .. } => Some(*requests_per_device),
        }
    }

    /// How many users there are at the same time, in a load of so many connections. Where they come
    /// and go, the most.
    #[must_use]
    pub fn users(&self, connections: u32) -> u32 {
        match self {
            Self::Closed { .. } | Self::Open { .. } => connections,
            Self::Users { stages, .. } => users::most(stages),
            Self::Devices { devices, .. } => *devices,
        }
    }

    /// What is counted by [`Schedule::users`].
    #[must_use]
    pub const fn users_are(&self) -> &'static str {
        match self {
            Self::Closed { .. } | Self::Open { .. } => "connections",
            Self::Users { .. } => "users",
            Self::Devices { .. } => "devices",
        }
    }

    /// Whether the schedule decides the number of requests, whatever the target does. Targets then
    /// differ in their response times.
    #[must_use]
    pub const fn sets_the_pace(&self) -> bool {
        match self {
            Self::Closed { .. } | Self::Users { .. } => false,
            Self::Open { .. } | Self::Devices { .. } => true,
        }
    }

    /// Whether every connection is in use whenever its user is there. Open loops use them as needed.
    #[must_use]
    pub const fn uses_all_connections(&self) -> bool {
        match self {
            Self::Open { .. } => false,
            Self::Closed { .. } | Self::Users { .. } | Self::Devices { .. } => true,
        }
    }

    /// The phases with their lengths in nanoseconds, if the schedule has any. It then ends with the
    /// last of them, and `sustain` makes the headline.
    #[must_use]
    pub const fn phases(&self) -> Option<[(&'static str, u64); 3]> {
        match self {
            Self::Closed { .. } | Self::Users { .. } | Self::Open { .. } => None,
            Self::Devices { ramp_up_ns, sustain_ns, ramp_down_ns, .. } => Some([
                ("ramp_up", *ramp_up_ns),
                ("sustain", *sustain_ns),
                ("ramp_down", *ramp_down_ns),
            ]),
        }
    }

    /// Whether a load can have this schedule: the numbers of it, and what does not go with it.
    ///
    /// # Errors
    /// The first part that is wrong.
    pub fn check(&self, load: &LoadSpec) -> Result<(), Refusal> {
        match self {
            Self::Closed { think } => {
                let is_pipelined = think.is_some() && load.connections.pipeline > 1;
                let first = Connections::PIPELINING;
                none_of([(is_pipelined, first, "think time", "leave one of them out")])
            }
            Self::Users { stages, .. } => check_users(load, stages),
            Self::Open { stages, .. } => {
                check_stages(stages)?;
                none_of([(
                    load.connections.pipeline > 1,
                    Connections::PIPELINING,
                    "an open loop",
                    "leave it out: each request needs a connection that is free",
                )])
            }
            Self::Devices { requests_per_device, sustain_ns, .. } => {
                check_devices(load)?;
                at_least_1([
                    (u64::from(*requests_per_device), "requests per device"),
                    (*sustain_ns, "the time for which the devices are sustained"),
                ])
            }
        }
    }

    /// The name of a loop; `None` for users that come and go.
    #[must_use]
    pub const fn loop_name(&self) -> Option<&'static str> {
        match self {
            Self::Closed { .. } | Self::Users { .. } => Some("closed loop"),
            Self::Open { .. } => Some("open loop"),
            Self::Devices { .. } => None,
        }
    }

    /// The amount of load in few words: `64 connections`, `5,000 requests/s`, `1 device`. Of users
    /// that come and go, the most.
    /// `arrivals` is the unit in an open loop: `requests` or `walks`.
    #[must_use]
    pub fn amount(&self, connections: u32, arrivals: &str) -> String {
        match self {
            Self::Closed { .. } => counted(connections.into(), "connection"),
            Self::Users { stages, .. } => counted(users::most(stages).into(), "user"),
            Self::Open { .. } => {
                format!("{} {arrivals}/s", self.rate_per_s().map_or("-".into(), format_count))
            }
            Self::Devices { devices, .. } => counted((*devices).into(), "device"),
        }
    }

    /// The schedule in words: `closed loop, 10 connections, think time 900 ms`. `unit` is the unit
    /// in an open loop: `requests` or `walks`.
    #[must_use]
    pub fn in_words(&self, connections: u32, unit: &str) -> String {
        let connections = counted(connections.into(), "connection");
        match self {
            Self::Closed { think } => format!("closed loop, {connections}{}", thinking(*think)),
            Self::Users { think, stages } => {
                format!("closed loop, {}{}", users::in_words(stages), thinking(*think))
            }
            Self::Open { arrivals, .. } => {
                let arrivals = arrivals.name();
                let rate = self.rate_per_s().map_or("-".into(), format_count);
                format!("open loop, {rate} {unit}/s ({arrivals}) over at most {connections}")
            }
            Self::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ramp_down_ns,
            } => {
                let devices = counted((*devices).into(), "device");
                let each = counted((*requests_per_device).into(), "request");
                let [up, full, down] = [*ramp_up_ns, *sustain_ns, *ramp_down_ns].map(format_length);
                format!(
                    "{devices}, {each} each, think time {think}; {up} ramp up, {full} sustained, {down} ramp down"
                )
            }
        }
    }
}

fn thinking(think: Option<Spread>) -> String {
    think.map(|time| format!(", think time {time}")).unwrap_or_default()
}

/// Refuses the first pair of which both are asked for: whether they are, what they are, the fix.
fn none_of<const N: usize>(
    pairs: [(bool, &'static str, &'static str, &'static str); N],
) -> Result<(), Refusal> {
    match pairs.into_iter().find(|(are_asked, ..)| *are_asked) {
        Some((_, first, second, fix)) => Err(Refusal::Contradiction { first, second, fix }),
        None => Ok(()),
    }
}

fn at_least_1<const N: usize>(numbers: [(u64, &'static str); N]) -> Result<(), Refusal> {
    match numbers.into_iter().find(|(number, _)| *number == 0) {
        Some((_, what)) => Err(Refusal::Zero { what }),
        None => Ok(()),
    }
}

fn check_stages(stages: &[Stage]) -> Result<(), Refusal> {
    let rates = || stages.iter().flat_map(|stage| [stage.from_per_s, stage.to_per_s]);
    at_least_1([(stages.len() as u64, "the number of stages")])?;
    if let Some(rate) = rates().find(|rate| !(rate.is_finite() && (0.0..=1e8).contains(rate))) {
        return Err(Refusal::Rate { value: rate.to_string() });
    }
    at_least_1([
        (rates().any(|rate| rate > 0.0).into(), "the rate of every stage"),
        (stages.iter().all(|stage| stage.duration_ns > 0).into(), "the duration of a stage"),
    ])
}

fn check_users(load: &LoadSpec, stages: &[UserStage]) -> Result<(), Refusal> {
    let users = "users that come and go";
    at_least_1([
        (stages.len() as u64, "the number of stages"),
        (users::most(stages).into(), "the number of users of every stage"),
        (stages.iter().all(|stage| stage.duration_ns > 0).into(), "the duration of a stage"),
    ])?;
    none_of([
        (
            load.connections.streams > 1,
            Connections::STREAMS,
            users,
            "leave it out: each user has a connection of its own",
        ),
        (
            load.connections.pipeline > 1,
            Connections::PIPELINING,
            users,
            "leave it out: a user waits for each answer",
        ),
        (
            load.stop.requests.is_some(),
            "a number of requests",
            users,
            "their stages end the load: leave the number out",
        ),
        (
            load.warm_up != WarmUp::None,
            "a warm-up",
            users,
            "all of their stages are measured: choose warm-up none",
        ),
    ])
}

fn check_devices(load: &LoadSpec) -> Result<(), Refusal> {
    let devices = "devices";
    let waits = "leave it out: a device waits for each answer";
    let stops = load.stop.duration_ns.is_some() || load.stop.requests.is_some();
    none_of([
        (load.connections.streams > 1, Connections::STREAMS, devices, waits),
        (stops, "a stop rule", devices, "they end with their ramp: leave the rule out"),
        (
            load.warm_up != WarmUp::None,
            "a warm-up",
            devices,
            "their ramp-up is one: choose warm-up none",
        ),
        (load.connections.pipeline > 1, Connections::PIPELINING, devices, waits),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_rate_keeps_the_shape() {
        let open = Schedule::open(100.0, Arrivals::Poisson, 5, 10);
        assert_eq!(open.rate_per_s(), Some(100.0));
        assert_eq!(open.at_rate(300.0), Schedule::open(300.0, Arrivals::Poisson, 5, 10));
        let closed = Schedule::Closed { think: None };
        assert_eq!(closed.at_rate(300.0), closed);
    }
}
