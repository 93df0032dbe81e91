//! Profiles in stores and exported records: flat today, formerly one variant for each kind. This
//! file only reads the old form; nothing writes it any more.
use serde::Deserialize;

use super::{Arrivals, Connections, Profile, Schedule, Steps, StopRule, WarmUp};
use crate::load::spoken::Spoken;
use crate::plan::objective::Objective;
use crate::text::units::Spread;

/// Either form.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Stored {
    Flat {
        schedule: Schedule,
        connections: Connections,
        stop: StopRule,
        warm_up: WarmUp,
        steps: Steps,
        #[serde(default)]
        protocol: Option<Spoken>,
        #[serde(default)]
        walk_steps: Option<u32>,
    },
    Old(Old),
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Old {
    Closed {
        connections: u32,
        stop: StopRule,
        think: Option<Spread>,
        keep_alive: KeepAlive,
        warm_up: WarmUpChoice,
    },
    Open {
        rate_per_s: f64,
        arrivals: Arrivals,
        connections: u32,
        ramp_ns: u64,
        duration_ns: u64,
        keep_alive: KeepAlive,
    },
    Devices {
        devices: u32,
        requests_per_device: u32,
        think: Spread,
        ramp_up_ns: u64,
        sustain_ns: u64,
        ramp_down_ns: u64,
    },
    Sweep {
        connections: Vec<u32>,
        duration_ns: u64,
        keep_alive: KeepAlive,
        warm_up: WarmUpChoice,
    },
    Capacity {
        objective: Objective,
        start_rate_per_s: f64,
        connections: u32,
        duration_ns: u64,
        precision: f64,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepAlive {
    Unlimited,
    Requests(u32),
    Off,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmUpChoice {
    Auto,
    None,
    DurationNs(u64),
}

impl KeepAlive {
    const fn requests_per_connection(&self) -> Option<u32> {
        match self {
            Self::Unlimited => None,
            Self::Requests(requests) => Some(*requests),
            Self::Off => Some(1),
        }
    }
}

impl From<WarmUpChoice> for WarmUp {
    fn from(choice: WarmUpChoice) -> Self {
        match choice {
            WarmUpChoice::Auto => Self::AUTO,
            WarmUpChoice::None => Self::None,
            WarmUpChoice::DurationNs(duration_ns) => Self::Fixed { duration_ns },
        }
    }
}

impl From<Stored> for Profile {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Flat { schedule, connections, stop, warm_up, steps, protocol, walk_steps } => {
                Self { schedule, connections, stop, warm_up, steps, protocol, walk_steps }
            }
            Stored::Old(old) => old.into(),
        }
    }
}

impl From<Old> for Profile {
    fn from(old: Old) -> Self {
        let (mut profile, keep_alive) = match old {
            Old::Closed { connections, stop, think, keep_alive, warm_up } => (
                Self {
                    schedule: Schedule::Closed { think },
                    warm_up: warm_up.into(),
                    ..Self::closed(connections, stop)
                },
                keep_alive,
            ),
            Old::Open { rate_per_s, arrivals, connections, ramp_ns, duration_ns, keep_alive } => {
                (Self::open(rate_per_s, arrivals, connections, ramp_ns, duration_ns), keep_alive)
            }
            Old::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ramp_down_ns,
            } => {
                let phases_ns = [ramp_up_ns, sustain_ns, ramp_down_ns];
                return Self::devices(devices, requests_per_device, think, phases_ns);
            }
            Old::Sweep { connections, duration_ns, keep_alive, warm_up } => {
                let sweep = Self::sweep(connections, duration_ns);
                (Self { warm_up: warm_up.into(), ..sweep }, keep_alive)
            }
            Old::Capacity { objective, start_rate_per_s, connections, duration_ns, precision } => {
                return Self::capacity(
                    objective,
                    start_rate_per_s,
                    connections,
                    duration_ns,
                    precision,
                );
            }
        };
        profile.connections.requests_per_connection = keep_alive.requests_per_connection();
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_as_the_same_profile() {
        let closed = Profile {
            connections: Connections { requests_per_connection: Some(1), ..Connections::kept(10) },
            warm_up: WarmUp::None,
            ..Profile::closed(10, StopRule::requests(7))
        };
        let think = Spread { mean_ns: 9, jitter: 0.05 };
        let objective = Objective::parse("p99 < 50ms").unwrap();
        for (old, flat) in [
            (
                r#"{"kind":"closed","connections":10,"stop":{"requests":7},"think":null,"keep_alive":"off","warm_up":"none"}"#,
                closed,
            ),
            (
                r#"{"kind":"open","rate_per_s":5.0,"arrivals":"poisson","connections":3,"ramp_ns":2,"duration_ns":8,"keep_alive":"unlimited"}"#,
                Profile::open(5.0, Arrivals::Poisson, 3, 2, 8),
            ),
            (
                r#"{"kind":"devices","devices":4,"requests_per_device":100,"think":{"mean_ns":9,"jitter":0.05},"ramp_up_ns":1,"sustain_ns":2,"ramp_down_ns":3}"#,
                Profile::devices(4, 100, think, [1, 2, 3]),
            ),
            (
                r#"{"kind":"sweep","connections":[1,2],"duration_ns":8,"keep_alive":"unlimited","warm_up":"auto"}"#,
                Profile::sweep(vec![1, 2], 8),
            ),
            (
                r#"{"kind":"capacity","objective":[{"of":"response_time","quantile":0.99,"below_ns":50000000}],"start_rate_per_s":100.0,"connections":8,"duration_ns":50,"precision":0.02}"#,
                Profile::capacity(objective, 100.0, 8, 50, 0.02),
            ),
        ] {
            assert_eq!(serde_json::from_str::<Profile>(old).unwrap(), flat, "{old}");
            let written = serde_json::to_string(&flat).unwrap();
            assert_eq!(serde_json::from_str::<Profile>(&written).unwrap(), flat, "{written}");
        }
    }
}
