//! Trials that go beyond the capacity of a server that answers 1,000 requests/s. The server can
//! treat the rest in several ways.
use super::{ExampleTrial, SECOND};
use crate::load::{LoadSpec, Timeouts};
use crate::plan::profile::Profile;
use crate::result::Window;
use crate::trial::TrialRecord;

/// The server's capacity, requests per second.
pub const CAPACITY_PER_S: f64 = 1_000.0;

/// The answers of a server in one second at an offered rate.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// Right answers.
    pub good: f64,
    /// Other answers.
    pub other: f64,
    /// The median of the response time, milliseconds; the p99 is twice as long.
    pub p50_ms: f64,
}

/// Refuses requests beyond its capacity.
#[must_use]
pub fn sheds(offered: f64) -> Served {
    let good = offered.min(CAPACITY_PER_S);
    Served { good, other: offered - good, p50_ms: 2.0 }
}

/// Lets requests beyond its capacity wait.
#[must_use]
pub fn queues(offered: f64) -> Served {
    let p50_ms = if offered > CAPACITY_PER_S { 900.0 } else { 2.0 };
    Served { good: offered.min(CAPACITY_PER_S), other: 0.0, p50_ms }
}

/// Answers fewer requests the more it gets.
#[must_use]
pub fn collapses(offered: f64) -> Served {
    let good = if offered > CAPACITY_PER_S {
        CAPACITY_PER_S * (CAPACITY_PER_S / offered).powi(2)
    } else {
        offered
    };
    Served { good, other: 0.0, p50_ms: 5.0 }
}

/// The profile: 5 s at each rate, then 10 s at half of the capacity.
#[must_use]
pub fn profile() -> Profile {
    Profile::overload(None, CAPACITY_PER_S, 64, [5 * SECOND, 10 * SECOND], SECOND)
}

/// The trial of such a server, which gives no right answer for this many seconds afterwards.
#[must_use]
pub fn trial(target: &str, server: fn(f64) -> Served, recovers_after_s: u64) -> TrialRecord {
    let profile = profile();
    let length_s = profile.headline_ns().unwrap() / SECOND;
    let stages = profile.schedule.stages().unwrap().to_vec();
    let (answered, due) = stages.iter().fold((0.0, 0.0), |(answered, due), stage| {
        let (served, seconds) = (server(stage.from_per_s), stage.duration_ns as f64 / 1e9);
        let all = stage.from_per_s * seconds;
        (answered + (served.good + served.other) * seconds, due + all)
    });
    let mut record = ExampleTrial::from_profile(&profile, None)
        .target(target)
        .seconds(length_s)
        .completed(answered as u64)
        .unsent((due - answered) as u64)
        .build();
    record.load_spec = Some(spec(&profile));
    let load = record.load.as_mut().unwrap();
    load.windows.clear();
    let mut at_s = 0;
    for (nth, stage) in stages.iter().enumerate() {
        for second in 0..stage.duration_ns / SECOND {
            let is_after = nth + 1 == stages.len();
            let served = if is_after && second < recovers_after_s {
                Served { good: 0.0, other: 0.0, p50_ms: 900.0 }
            } else {
                server(stage.from_per_s)
            };
            load.windows.push(window(at_s, served));
            at_s += 1;
        }
    }
    record
}

fn window(at_s: u64, served: Served) -> Window {
    let ns = |ms: f64| Some((ms * 1e6) as u64);
    Window {
        from_ns: (at_s * SECOND) as i64,
        duration_ns: SECOND,
        completed: (served.good + served.other) as u64,
        good: served.good as u64,
        errors: served.other as u64,
        response_p50_ns: ns(served.p50_ms),
        response_p99_ns: ns(2.0 * served.p50_ms),
        ..Window::default()
    }
}

fn spec(profile: &Profile) -> LoadSpec {
    LoadSpec {
        schedule: profile.schedule.clone(),
        connections: profile.connections,
        stop: profile.stop,
        warm_up: profile.warm_up,
        timeouts: Timeouts { patience_ns: profile.patience_ns(), ..Timeouts::default() },
        ..LoadSpec::default()
    }
}
