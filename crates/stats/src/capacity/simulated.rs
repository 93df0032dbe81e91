//! Searches against model servers of known capacity, in virtual time.
//!
//! The server is a queue with a known rate. A step is a load on it, computed every 2 ms: new
//! requests wait for those in the queue. Stalls of the host stop the server. The step becomes a
//! record as the lab makes it, so that the test covers the whole way from response times to
//! outcome.
use pippin_model::example::ExampleTrial;
use pippin_model::plan::objective::Objective;
use pippin_model::plan::profile::{self, Profile};
use pippin_model::result::{Answered, Measured, RequestCounts, Window};
use pippin_model::trial::{Step, TrialRecord};

use super::step::rest_ns;
use super::{Outcome, Search, StepOutcome};
use crate::simulated::test_noise::Noise;

const SECOND_NS: f64 = 1e9;
/// The resolution of the model.
const TICK_S: f64 = 0.002;
const STEP_S: f64 = 5.0;
const LEAD_S: f64 = 0.5;
const CONNECTIONS: f64 = 64.0;
/// The number of searches of each kind.
const N: u64 = 20;
const PRECISION: f64 = 0.02;

/// Other activity on the host.
#[derive(Clone, Copy)]
struct Host {
    /// Short stalls per second, and their longest length in seconds: another thread has the
    /// processor.
    short: (f64, f64),
    /// Long stalls per second, and their longest length: the hypervisor has the processor.
    long: (f64, f64),
    /// The share of a processor that others used, according to the kernel.
    others: f64,
}

const QUIET: Host = Host { short: (0.2, 0.003), long: (0.002, 0.3), others: 0.003 };
/// A busy loop beside the server. It now and then takes the processor for one slice of the
/// scheduler, and in one step of ten stops the server for tenths of a second.
const BUSY: Host = Host { short: (4.0, 0.004), long: (0.02, 0.3), others: 0.6 };

/// A server that answers this many requests/s, one after the other.
struct Server {
    per_s: f64,
    queued: f64,
    stalled_s: f64,
    /// How long it rests before the next step.
    rest_s: f64,
    host: Host,
    noise: Noise,
}

impl Server {
    fn new(per_s: f64, host: Host, seed: u64) -> Self {
        Self { per_s, queued: 0.0, stalled_s: 0.0, rest_s: 0.0, host, noise: Noise::new(seed) }
    }

    /// One tick at an offered rate: the wait of new requests in seconds, and how many were
    /// answered.
    fn tick(&mut self, rate: f64) -> (f64, f64) {
        for (per_s, longest_s) in [self.host.short, self.host.long] {
            if self.noise.uniform() < per_s * TICK_S {
                self.stalled_s += self.noise.uniform() * longest_s;
            }
        }
        let running_s = (TICK_S - self.stalled_s).max(0.0);
        self.stalled_s = (self.stalled_s - TICK_S).max(0.0);
        self.queued += rate * TICK_S;
        let answered =
            self.queued.min(running_s * self.per_s * (0.98 + 0.04 * self.noise.uniform()));
        self.queued -= answered;
        (self.queued / self.per_s + self.stalled_s, answered)
    }

    /// A step of a search, as the lab records it.
    fn step(&mut self, profile: &Profile, rate: f64) -> TrialRecord {
        // When a step ends, requests that wait for a connection are dropped; those with a
        // connection are answered.
        self.queued = self.queued.min(CONNECTIONS);
        for _ in 0..(self.rest_s / TICK_S) as usize {
            self.tick(0.0);
        }
        for _ in 0..(LEAD_S / TICK_S) as usize {
            self.tick(rate);
        }
        let service_s = 1.0 / self.per_s;
        let mut measured =
            Measured { duration_ns: (STEP_S * SECOND_NS) as u64, ..Measured::default() };
        let (mut due, mut answered, mut windows) = (0.0, 0.0, Vec::new());
        for second in 0..STEP_S as i64 {
            let (mut sum, mut count) = (0.0, 0u64);
            for _ in 0..(1.0 / TICK_S) as usize {
                let (wait_s, done) = self.tick(rate);
                let before = due;
                (due, answered) = (due + rate * TICK_S, answered + done);
                let here = (due as u64) - (before as u64);
                let response_s = wait_s + service_s;
                // A request that is due this late is unanswered at the end.
                let left_s = STEP_S - due / rate;
                if response_s < left_s + TICK_S {
                    let service_s = response_s.min(CONNECTIONS / self.per_s);
                    measured.spans.service_time.record_n((service_s * SECOND_NS) as u64, here);
                    measured.spans.response_time.record_n((response_s * SECOND_NS) as u64, here);
                    (sum, count) = (sum + response_s * here as f64, count + here);
                } else {
                    measured.spans.open_age.record_n((left_s * SECOND_NS) as u64, here);
                }
            }
            windows.push(Window {
                from_ns: second * SECOND_NS as i64,
                duration_ns: SECOND_NS as u64,
                completed: count,
                good: count,
                response_mean_ns: (count > 0).then(|| sum / count as f64 * SECOND_NS),
                ..Window::default()
            });
        }
        let completed = measured.spans.response_time.count();
        let scheduled = due as u64;
        measured.requests = RequestCounts {
            scheduled,
            sent: scheduled,
            completed,
            good: completed,
            censored: scheduled - completed,
            ..RequestCounts::default()
        };
        measured.answered = Answered { completed: answered as u64, good: answered as u64 };
        let mut record =
            ExampleTrial::from_profile(profile, Some(Step::Rate { per_s: rate })).build();
        let load = record.load.as_mut().unwrap();
        (load.measured, load.windows) = (measured, windows);
        let usage = record.usage.as_mut().unwrap();
        usage.other_cores = Some(self.host.others * (1.0 + 0.2 * self.noise.normal()));
        record
    }
}

fn search(server: &mut Server, start: f64) -> (Outcome, u32) {
    let objective = Objective::parse("p99 < 50ms, errors < 0.1%").unwrap();
    let step_ns = (STEP_S * SECOND_NS) as u64;
    let profile = Profile::capacity(objective, start, CONNECTIONS as u32, step_ns, PRECISION);
    let mut search = Search::new(start, PRECISION);
    while let Some(rate) = search.next() {
        let record = server.step(&profile, rate);
        search.observe(rate, StepOutcome::from_trial(&record).unwrap());
        server.rest_s = rest_ns(&record) as f64 / SECOND_NS;
    }
    (search.outcome(), search.steps())
}

#[test]
fn known_capacities_are_found_within_5_percent_in_19_of_20_searches() {
    for (name, host) in [("quiet", QUIET), ("busy", BUSY)] {
        for capacity in [100.0, 1_000.0, 20_000.0] {
            for start in [capacity / 37.0, capacity * 5.3] {
                let mut steps = Vec::new();
                let near = (0..N).filter(|seed| {
                    let (outcome, made) = search(&mut Server::new(capacity, host, *seed), start);
                    steps.push(made);
                    let found = outcome.confirmed_per_s().unwrap_or(0.0);
                    let is_near = (found / capacity - 1.0).abs() <= 0.05;
                    if !is_near {
                        println!("  seed {seed}: {}", outcome.words(profile::Searched::Requests));
                    }
                    is_near
                });
                let near = near.count();
                steps.sort_unstable();
                println!(
                    "{name} host, {capacity}/s from {start:.0}/s: {near} of {N} within 5 %, {} to {} steps",
                    steps[0],
                    steps[N as usize - 1]
                );
                assert!(20 * near >= 19 * N as usize, "{name} {capacity} {start}: {near} of {N}");
            }
        }
    }
}
