//! `[profile]`: how load is applied. Read as one flat table, then checked, so that every error can
//! say which key does not go with which kind.
//!
//! | module | what it holds |
//! |---|---|
//! | `raw` | the table as written: every key of every kind, listed once |
//! | `value` | the values that several kinds read alike |
//! | `closed`, `open`, `devices`, `sweep`, `capacity` | the keys of one kind, and what they must be |
mod capacity;
mod closed;
mod devices;
mod open;
mod raw;
mod sweep;
mod value;

use serde::{Deserialize, Serialize};

use crate::load_spec::Arrivals;
use crate::objective::Objective;
use crate::units::Spread;

pub use raw::{BoolOrNumber, OneOrMany, RawProfile};

/// How load is applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Profile {
    /// A fixed number of users; the next request follows the last answer.
    Closed {
        /// Users, each with one connection.
        connections: u32,
        /// When it ends.
        stop: Stop,
        /// Think time between an answer and the next request.
        think: Option<Spread>,
        /// How connections are used.
        keep_alive: KeepAlive,
        /// What is left out at the start.
        warm_up: WarmUpChoice,
    },
    /// Arrivals that wait for nothing.
    Open {
        /// Requests per second (the end of the ramp, if there is one).
        rate_per_s: f64,
        /// How they are spread.
        arrivals: Arrivals,
        /// Connections at the most.
        connections: u32,
        /// Nanoseconds over which the rate climbs from 0 before the measured part.
        ramp_ns: u64,
        /// Length of the measured part.
        duration_ns: u64,
        /// How connections are used.
        keep_alive: KeepAlive,
    },
    /// Simulated devices.
    Devices {
        /// How many at the same time.
        devices: u32,
        /// Requests before a device is replaced.
        requests_per_device: u32,
        /// Time between an answer and the next request.
        think: Spread,
        /// Length of the ramp up.
        ramp_up_ns: u64,
        /// Length of the headline phase.
        sustain_ns: u64,
        /// Length of the ramp down.
        ramp_down_ns: u64,
    },
    /// A closed loop at each of several numbers of connections.
    Sweep {
        /// The numbers, ascending.
        connections: Vec<u32>,
        /// Length of the measured part at each.
        duration_ns: u64,
        /// How connections are used.
        keep_alive: KeepAlive,
        /// What is left out at the start of each.
        warm_up: WarmUpChoice,
    },
    /// The search for the highest rate that keeps an objective.
    Capacity {
        /// What must hold.
        objective: Objective,
        /// Where the search begins, requests per second.
        start_rate_per_s: f64,
        /// Connections at the most.
        connections: u32,
        /// Length of each step.
        duration_ns: u64,
        /// How near the search must come, as a fraction of the rate.
        precision: f64,
    },
}

/// When a closed loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// After a time.
    DurationNs(u64),
    /// After a number of requests.
    Requests(u64),
}

/// How connections are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepAlive {
    /// As long as the server lets them live.
    Unlimited,
    /// This many requests each.
    Requests(u32),
    /// One request each, announced by `Connection: close`.
    Off,
}

/// What is left out at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmUpChoice {
    /// Until the throughput no longer trends, within a bound that the lab sets.
    Auto,
    /// Nothing.
    None,
    /// This many nanoseconds.
    DurationNs(u64),
}

impl Profile {
    /// The connections that are open at the same time at the most.
    #[must_use]
    pub fn most_connections(&self) -> u64 {
        match self {
            Self::Closed { connections, .. }
            | Self::Open { connections, .. }
            | Self::Capacity { connections, .. } => u64::from(*connections),
            Self::Devices { devices, .. } => u64::from(*devices),
            Self::Sweep { connections, .. } => {
                u64::from(connections.iter().copied().max().unwrap_or(0))
            }
        }
    }

    /// The name of the kind in plans.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
            Self::Devices { .. } => "devices",
            Self::Sweep { .. } => "sweep",
            Self::Capacity { .. } => "capacity",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Profile, String> {
        toml::from_str::<RawProfile>(text).map_err(|error| error.message().to_string())?.checked()
    }

    #[test]
    fn every_kind_reads() {
        assert_eq!(
            read("kind='closed'\nconnections=10\nduration='30s'"),
            Ok(Profile::Closed {
                connections: 10,
                stop: Stop::DurationNs(30_000_000_000),
                think: None,
                keep_alive: KeepAlive::Unlimited,
                warm_up: WarmUpChoice::Auto
            })
        );
        assert_eq!(
            read("kind='closed'\nconnections=10\nrequests=1000\nkeep_alive=false"),
            Ok(Profile::Closed {
                connections: 10,
                stop: Stop::Requests(1000),
                think: None,
                keep_alive: KeepAlive::Off,
                warm_up: WarmUpChoice::None
            })
        );
        assert_eq!(
            read("kind='open'\nrate=5000.0\nconnections=64\nduration='9s'\narrivals='poisson'")
                .unwrap()
                .kind(),
            "open"
        );
        assert_eq!(
            read("kind='devices'\ndevices=10\nramp_up='1s'\nsustain='1s'\nramp_down='1s'")
                .unwrap()
                .kind(),
            "devices"
        );
        assert_eq!(read("kind='sweep'\nconnections=[1,2]\nduration='1s'").unwrap().kind(), "sweep");
        assert_eq!(read("kind='capacity'\nobjective='p99<50ms'\nstart_rate=100.0\nconnections=8\nduration='5s'").unwrap().kind(), "capacity");
    }

    #[test]
    fn what_cannot_take_effect_is_refused() {
        let cases = [
            ("connections=1", "profile.kind is missing"),
            ("kind='close'\nconnections=1", "did you mean `closed`?"),
            (
                "kind='closed'\nconnections=1\nduration='1s'\nrate=5.0",
                "profile.rate does not go with kind = \"closed\"",
            ),
            ("kind='closed'\nconnections=0\nduration='1s'", "at least 1"),
            ("kind='closed'\nconnections=1", "needs `duration"),
            ("kind='closed'\nconnections=1\nduration='1s'\nrequests=1", "exclude each other"),
            ("kind='closed'\nconnections=1\nrequests=1\nwarm_up='2s'", "no effect"),
            ("kind='closed'\nconnections=[1,2]\nduration='1s'", "only kind = \"sweep\""),
            ("kind='open'\nrate=0.0\nconnections=1\nduration='1s'", "must be above 0"),
            ("kind='sweep'\nconnections=[2,1]\nduration='1s'", "ascending"),
            ("kind='sweep'\nconnections=[0,1]\nduration='1s'", "ascending numbers from 1 on"),
            (
                "kind='open'\nrate=5.0\nconnections=0\nduration='1s'",
                "profile.connections must be at least 1",
            ),
            ("kind='closed'\nconnections=1\nrequests=0", "profile.requests must be at least 1"),
            (
                "kind='closed'\nconnections=1\nrequests=1\nkeep_alive=0",
                "profile.keep_alive = 0 has no meaning",
            ),
            (
                "kind='devices'\ndevices=0\nramp_up='1s'\nsustain='1s'\nramp_down='1s'",
                "profile.devices must be at least 1",
            ),
            (
                "kind='devices'\ndevices=1\nrequests_per_device=0\nramp_up='1s'\nsustain='1s'\nramp_down='1s'",
                "profile.requests_per_device must be at least 1",
            ),
            (
                "kind='devices'\ndevices=1\nramp_up='1s'\nsustain='0s'\nramp_down='1s'",
                "profile.sustain must be longer than 0",
            ),
            (
                "kind='capacity'\nobjective='p99<50ms'\nstart_rate=0.0\nconnections=8\nduration='5s'",
                "profile.start_rate = 0 must be above 0",
            ),
            (
                "kind='capacity'\nobjective='p99<50ms'\nstart_rate=9.0\nconnections=8\nduration='5s'\nprecision='0%'",
                "profile.precision must be above 0 % and below 100 %",
            ),
            (
                "kind='capacity'\nobjective='p99<0ms'\nstart_rate=9.0\nconnections=8\nduration='5s'",
                "profile.objective: `p99<0ms` can never hold",
            ),
            (
                "kind='capacity'\nobjective='errors<0%'\nstart_rate=9.0\nconnections=8\nduration='5s'",
                "profile.objective: `errors<0%` can never hold",
            ),
        ];
        for (text, message) in cases {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn an_overlay_replaces_key_by_key() {
        let base: RawProfile =
            toml::from_str("kind='closed'\nconnections=10\nrequests=5000").unwrap();
        let quick: RawProfile = toml::from_str("duration='2s'").unwrap();
        assert_eq!(
            base.overlaid(&quick).checked(),
            Ok(Profile::Closed {
                connections: 10,
                stop: Stop::DurationNs(2_000_000_000),
                think: None,
                keep_alive: KeepAlive::Unlimited,
                warm_up: WarmUpChoice::Auto
            })
        );
    }

    #[test]
    fn every_key_can_be_overlaid_and_is_refused_where_it_does_not_go() {
        // One value of the right type for each key of the list.
        let all = "kind='x'\nconnections=1\nduration='1s'\nrequests=1\nkeep_alive=true\nwarm_up='none'\nthink='1s'\nrate=1.0\narrivals='poisson'\nramp='1s'\ndevices=1\nrequests_per_device=1\nramp_up='1s'\nsustain='1s'\nramp_down='1s'\nobjective='p99<1s'\nstart_rate=1.0\nprecision='1%'";
        let raw: RawProfile = toml::from_str(all).unwrap();
        assert_eq!(
            raw.named_keys().len(),
            all.lines().count() - 1,
            "a key of the list has no value here"
        );
        // A time and a count exclude each other: the time gives way.
        assert_eq!(RawProfile::default().overlaid(&raw), raw);
        let kinds: [&[&str]; 5] =
            [closed::KEYS, open::KEYS, devices::KEYS, sweep::KEYS, capacity::KEYS];
        for key in raw.named_keys() {
            assert!(kinds.iter().any(|keys| keys.contains(&key)), "no kind takes `{key}`");
        }
        for key in kinds.concat() {
            assert!(raw.named_keys().contains(&key), "`{key}` is not in the list");
        }
    }
}
