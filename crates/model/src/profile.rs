//! `[profile]`: how load is applied. Read as one flat table, then checked, so that every error can say which key does not go with which kind.
use serde::{Deserialize, Serialize};

use crate::load_spec::Arrivals;
use crate::objective::Objective;
use crate::units::{Spread, parse_duration_ns};

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
            Self::Closed { connections, .. } | Self::Open { connections, .. } | Self::Capacity { connections, .. } => u64::from(*connections),
            Self::Devices { devices, .. } => u64::from(*devices),
            Self::Sweep { connections, .. } => u64::from(connections.iter().copied().max().unwrap_or(0)),
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

/// `[profile]` as written: every key of every kind, unread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // each key is documented where it is checked
pub struct RawProfile {
    pub kind: Option<String>,
    pub connections: Option<OneOrMany>,
    pub duration: Option<String>,
    pub requests: Option<u64>,
    pub keep_alive: Option<BoolOrNumber>,
    pub warm_up: Option<String>,
    pub think: Option<String>,
    pub rate: Option<f64>,
    pub arrivals: Option<String>,
    pub ramp: Option<String>,
    pub devices: Option<u32>,
    pub requests_per_device: Option<u32>,
    pub ramp_up: Option<String>,
    pub sustain: Option<String>,
    pub ramp_down: Option<String>,
    pub objective: Option<String>,
    pub start_rate: Option<f64>,
    pub precision: Option<String>,
}

/// A number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// `10`
    One(u32),
    /// `[1, 2, 4]`
    Many(Vec<u32>),
}

/// `true`, `false`, or a number of requests a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BoolOrNumber {
    /// On or off.
    Bool(bool),
    /// Requests a connection.
    Number(u32),
}

const KINDS: [&str; 5] = ["closed", "open", "devices", "sweep", "capacity"];

impl RawProfile {
    /// The same profile with every key that `other` names replaced. A time and a count exclude each other, so that naming one there
    /// takes the place of the other here.
    #[must_use]
    pub fn overlaid(mut self, other: &Self) -> Self {
        if other.requests.is_some() {
            self.duration = None;
        } else if other.duration.is_some() {
            self.requests = None;
        }
        macro_rules! over {
            ($($key:ident),*) => { Self { $($key: other.$key.clone().or(self.$key)),* } };
        }
        over!(
            kind,
            connections,
            duration,
            requests,
            keep_alive,
            warm_up,
            think,
            rate,
            arrivals,
            ramp,
            devices,
            requests_per_device,
            ramp_up,
            sustain,
            ramp_down,
            objective,
            start_rate,
            precision
        )
    }

    /// Checks the keys against the kind.
    ///
    /// # Errors
    /// If the kind is unknown, a key is missing, does not go with the kind, or has a senseless value; the message names key and fix.
    pub fn checked(&self) -> Result<Profile, String> {
        let kind = self.kind.as_deref().ok_or_else(|| format!("profile.kind is missing; it is one of {}", KINDS.join(", ")))?;
        match kind {
            "closed" => self.closed(),
            "open" => self.open(),
            "devices" => self.device_load(),
            "sweep" => self.sweep(),
            "capacity" => self.capacity(),
            other => {
                let hint = crate::file::nearest(other, KINDS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                Err(format!("profile.kind `{other}` is not one of {}{hint}", KINDS.join(", ")))
            }
        }
    }

    fn closed(&self) -> Result<Profile, String> {
        self.allow("closed", &["connections", "duration", "requests", "keep_alive", "warm_up", "think"])?;
        let stop = match (&self.duration, self.requests) {
            (Some(_), Some(_)) => return Err("profile.duration and profile.requests exclude each other; keep one".into()),
            (None, None) => return Err("profile needs `duration = \"30s\"` or `requests = 5000`".into()),
            (Some(text), None) => Stop::DurationNs(positive_duration("duration", text)?),
            (None, Some(0)) => return Err("profile.requests must be at least 1".into()),
            (None, Some(count)) => Stop::Requests(count),
        };
        let warm_up = match (self.warm_up()?, stop) {
            (WarmUpChoice::Auto, Stop::Requests(_)) if self.warm_up.is_none() => WarmUpChoice::None,
            (WarmUpChoice::None, _) => WarmUpChoice::None,
            (_, Stop::Requests(_)) => return Err("profile.warm_up has no effect where requests are counted; take it out or set it to \"none\"".into()),
            (warm_up, Stop::DurationNs(_)) => warm_up,
        };
        let think = self.think.as_deref().map(|text| Spread::parse(text).map_err(|error| format!("profile.think: {error}"))).transpose()?;
        Ok(Profile::Closed { connections: self.one_connection_count()?, stop, think, keep_alive: self.keep_alive()?, warm_up })
    }

    fn open(&self) -> Result<Profile, String> {
        self.allow("open", &["rate", "arrivals", "connections", "ramp", "duration", "keep_alive"])?;
        let arrivals = match self.arrivals.as_deref() {
            None | Some("constant") => Arrivals::Constant,
            Some("poisson") => Arrivals::Poisson,
            Some(other) => return Err(format!("profile.arrivals `{other}` is neither \"constant\" nor \"poisson\"")),
        };
        Ok(Profile::Open {
            rate_per_s: positive_rate("rate", self.rate)?,
            arrivals,
            connections: self.one_connection_count()?,
            ramp_ns: self.ramp.as_deref().map_or(Ok(0), |text| duration("ramp", text))?,
            duration_ns: self.required_duration("duration", self.duration.as_deref())?,
            keep_alive: self.keep_alive()?,
        })
    }

    fn device_load(&self) -> Result<Profile, String> {
        self.allow("devices", &["devices", "requests_per_device", "think", "ramp_up", "sustain", "ramp_down"])?;
        let devices = self.devices.ok_or("profile.devices is missing: how many at the same time")?;
        let requests_per_device = self.requests_per_device.unwrap_or(100);
        if devices == 0 || requests_per_device == 0 {
            return Err("profile.devices and profile.requests_per_device must be at least 1".into());
        }
        Ok(Profile::Devices {
            devices,
            requests_per_device,
            think: Spread::parse(self.think.as_deref().unwrap_or("900ms +-5%")).map_err(|error| format!("profile.think: {error}"))?,
            ramp_up_ns: self.required_duration("ramp_up", self.ramp_up.as_deref())?,
            sustain_ns: self.required_duration("sustain", self.sustain.as_deref())?,
            ramp_down_ns: self.required_duration("ramp_down", self.ramp_down.as_deref())?,
        })
    }

    fn sweep(&self) -> Result<Profile, String> {
        self.allow("sweep", &["connections", "duration", "keep_alive", "warm_up"])?;
        let connections = match &self.connections {
            Some(OneOrMany::Many(list)) if !list.is_empty() => list.clone(),
            _ => return Err("profile.connections must be a list: [1, 2, 4, 8]".into()),
        };
        if connections.contains(&0) || !connections.is_sorted_by(|a, b| a < b) {
            return Err("profile.connections must be ascending numbers from 1 on, each once".into());
        }
        Ok(Profile::Sweep {
            connections,
            duration_ns: self.required_duration("duration", self.duration.as_deref())?,
            keep_alive: self.keep_alive()?,
            warm_up: self.warm_up()?,
        })
    }

    fn capacity(&self) -> Result<Profile, String> {
        self.allow("capacity", &["objective", "start_rate", "connections", "duration", "precision"])?;
        let objective = self.objective.as_deref().ok_or("profile.objective is missing: \"p99 < 50ms, errors < 0.1%\"")?;
        let precision = self.precision.as_deref().unwrap_or("2%");
        Ok(Profile::Capacity {
            objective: Objective::parse(objective).map_err(|error| format!("profile.objective: {error}"))?,
            start_rate_per_s: positive_rate("start_rate", self.start_rate)?,
            connections: self.one_connection_count()?,
            duration_ns: self.required_duration("duration", self.duration.as_deref())?,
            precision: crate::units::parse_percent(precision).map_err(|error| format!("profile.precision: {error}"))?,
        })
    }

    fn named_keys(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        macro_rules! named {
            ($($key:ident),*) => { $(if self.$key.is_some() { names.push(stringify!($key)); })* };
        }
        named!(
            connections,
            duration,
            requests,
            keep_alive,
            warm_up,
            think,
            rate,
            arrivals,
            ramp,
            devices,
            requests_per_device,
            ramp_up,
            sustain,
            ramp_down,
            objective,
            start_rate,
            precision
        );
        names
    }

    fn allow(&self, kind: &str, keys: &[&str]) -> Result<(), String> {
        match self.named_keys().into_iter().find(|key| !keys.contains(key)) {
            Some(key) => Err(format!("profile.{key} does not go with kind = \"{kind}\" (its keys: {})", keys.join(", "))),
            None => Ok(()),
        }
    }

    fn one_connection_count(&self) -> Result<u32, String> {
        match &self.connections {
            Some(OneOrMany::One(count)) if *count > 0 => Ok(*count),
            Some(OneOrMany::One(_)) => Err("profile.connections must be at least 1".into()),
            Some(OneOrMany::Many(_)) => Err("profile.connections is a list, which only kind = \"sweep\" takes".into()),
            None => Err("profile.connections is missing".into()),
        }
    }

    fn keep_alive(&self) -> Result<KeepAlive, String> {
        match self.keep_alive {
            None | Some(BoolOrNumber::Bool(true)) => Ok(KeepAlive::Unlimited),
            Some(BoolOrNumber::Bool(false) | BoolOrNumber::Number(1)) => Ok(KeepAlive::Off),
            Some(BoolOrNumber::Number(0)) => Err("profile.keep_alive = 0 has no meaning; false is one request a connection".into()),
            Some(BoolOrNumber::Number(requests)) => Ok(KeepAlive::Requests(requests)),
        }
    }

    fn warm_up(&self) -> Result<WarmUpChoice, String> {
        match self.warm_up.as_deref() {
            None | Some("auto") => Ok(WarmUpChoice::Auto),
            Some("none") => Ok(WarmUpChoice::None),
            Some(text) => duration("warm_up", text).map(WarmUpChoice::DurationNs).map_err(|error| format!("{error} (or \"auto\", \"none\")")),
        }
    }

    fn required_duration(&self, key: &str, text: Option<&str>) -> Result<u64, String> {
        positive_duration(key, text.ok_or_else(|| format!("profile.{key} is missing, for example \"30s\""))?)
    }
}

fn duration(key: &str, text: &str) -> Result<u64, String> {
    parse_duration_ns(text).map_err(|error| format!("profile.{key}: {error}"))
}

fn positive_duration(key: &str, text: &str) -> Result<u64, String> {
    match duration(key, text)? {
        0 => Err(format!("profile.{key} must be longer than 0")),
        ns => Ok(ns),
    }
}

fn positive_rate(key: &str, rate: Option<f64>) -> Result<f64, String> {
    match rate {
        Some(rate) if rate > 0.0 && rate <= 1e8 => Ok(rate),
        Some(rate) => Err(format!("profile.{key} = {rate} must be above 0 and at most 100 million requests per second")),
        None => Err(format!("profile.{key} is missing: requests per second")),
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
            Ok(Profile::Closed { connections: 10, stop: Stop::Requests(1000), think: None, keep_alive: KeepAlive::Off, warm_up: WarmUpChoice::None })
        );
        assert_eq!(read("kind='open'\nrate=5000.0\nconnections=64\nduration='9s'\narrivals='poisson'").unwrap().kind(), "open");
        assert_eq!(read("kind='devices'\ndevices=10\nramp_up='1s'\nsustain='1s'\nramp_down='1s'").unwrap().kind(), "devices");
        assert_eq!(read("kind='sweep'\nconnections=[1,2]\nduration='1s'").unwrap().kind(), "sweep");
        assert_eq!(read("kind='capacity'\nobjective='p99<50ms'\nstart_rate=100.0\nconnections=8\nduration='5s'").unwrap().kind(), "capacity");
    }

    #[test]
    fn what_cannot_take_effect_is_refused() {
        let cases = [
            ("connections=1", "profile.kind is missing"),
            ("kind='close'\nconnections=1", "did you mean `closed`?"),
            ("kind='closed'\nconnections=1\nduration='1s'\nrate=5.0", "profile.rate does not go with kind = \"closed\""),
            ("kind='closed'\nconnections=0\nduration='1s'", "at least 1"),
            ("kind='closed'\nconnections=1", "needs `duration"),
            ("kind='closed'\nconnections=1\nduration='1s'\nrequests=1", "exclude each other"),
            ("kind='closed'\nconnections=1\nrequests=1\nwarm_up='2s'", "no effect"),
            ("kind='closed'\nconnections=[1,2]\nduration='1s'", "only kind = \"sweep\""),
            ("kind='open'\nrate=0.0\nconnections=1\nduration='1s'", "must be above 0"),
            ("kind='sweep'\nconnections=[2,1]\nduration='1s'", "ascending"),
        ];
        for (text, message) in cases {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn an_overlay_replaces_key_by_key() {
        let base: RawProfile = toml::from_str("kind='closed'\nconnections=10\nrequests=5000").unwrap();
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
}
