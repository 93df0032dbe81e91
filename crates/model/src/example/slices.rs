//! Trials that were measured in rounds of slices.
use super::ExampleTrial;
use crate::result::histogram::Summary;
use crate::trial::slice::{Slice, SliceFigures, SliceHost, SliceQuantiles};
use crate::trial::{Company, TrialRecord};
use crate::workload::draw::Draw;

const SLICE_NS: u64 = 400_000_000;
/// An odd constant that spreads the bits of a counter (Steele, Lea and Flood 2014).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// How a made-up run of slices scatters: standard deviations of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    pub repetitions: u32,
    /// The number in each repetition.
    pub rounds: u32,
    /// From round to round, because of the host.
    pub host: f64,
    /// From one start of a target to the next.
    pub start: f64,
    /// From slice to slice of a target.
    pub slice: f64,
    /// One slice in this many is disturbed and not used; 0 for none.
    pub disturbed_one_in: u32,
    pub seed: u64,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            repetitions: 3,
            rounds: 8,
            host: 0.1,
            start: 0.005,
            slice: 0.02,
            disturbed_one_in: 0,
            seed: 1,
        }
    }
}

impl Rounds {
    /// All repetitions of a target with this goodput and CPU time per request.
    pub fn trials(&self, target: &str, per_s: f64, cpu_us: f64) -> Vec<TrialRecord> {
        let trial = |repetition| {
            let cores = per_s * cpu_us / 1e6;
            ExampleTrial::hello()
                .target(target)
                .repetition(repetition)
                .repetitions(self.repetitions)
                .answers_per_s(per_s)
                .target_cores(cores, 1)
                .build()
        };
        let mut trials: Vec<TrialRecord> = (0..self.repetitions).map(trial).collect();
        trials.iter_mut().for_each(|record| self.slice_up(record));
        trials
    }

    /// Gives a trial slices around its figures.
    pub fn slice_up(&self, record: &mut TrialRecord) {
        let name: u64 = record
            .spec
            .target
            .to_string()
            .bytes()
            .fold(7, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(SPREAD));
        let repetition = u64::from(record.spec.repetition);
        let start = self.start * self.normal(&[name, repetition, 1]);
        record.company = Some(Company { rounds: self.rounds, ..Company::default() });
        let times = record.load.as_ref().unwrap().measured.spans.response_time.summary();
        record.slices = (0..self.rounds)
            .map(|round| {
                let host = self.host * self.normal(&[repetition, u64::from(round), 2]);
                let own = self.slice * self.normal(&[name, repetition, u64::from(round), 3]);
                let number = u64::from(round) + name;
                let calm = self.disturbed_one_in == 0
                    || !number.is_multiple_of(u64::from(self.disturbed_one_in));
                slice(record, &times, round, (start + host + own).exp(), calm)
            })
            .collect();
    }

    /// A standard normal value that depends only on these keys (Box and Muller).
    fn normal(&self, keys: &[u64]) -> f64 {
        let seed = keys.iter().fold(self.seed, |seed, key| mix(seed ^ mix(*key)));
        let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (a, b) = (uniform(mix(seed ^ 1)), uniform(mix(seed ^ 2)));
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// A slice whose figures are those of the trial at this speed.
fn slice(record: &TrialRecord, times: &Summary, round: u32, speed: f64, calm: bool) -> Slice {
    let load = record.load.as_ref().unwrap();
    let goodput_per_s = load.measured.goodput_per_s().unwrap() * speed;
    let answered = (goodput_per_s * SLICE_NS as f64 / 1e9) as u64;
    let role = |role| record.usage.as_ref()?.roles.get(&role)?.cores;
    let cpu = |cores: Option<f64>| cores.map(|cores| (cores * SLICE_NS as f64) as u64);
    let at_speed = |ns: Option<u64>| ns.map(|ns| (ns as f64 / speed) as u64);
    let response = SliceQuantiles {
        p50_ns: at_speed(times.p50_ns),
        p90_ns: at_speed(times.p90_ns),
        p99_ns: at_speed(times.p99_ns),
        max_ns: at_speed(times.max_ns),
    };
    Slice {
        round,
        started_unix_ns: record.started_unix_ns + u64::from(round) * 4 * SLICE_NS,
        measured_ns: SLICE_NS,
        figures: SliceFigures {
            requests: answered,
            answered,
            right: answered,
            errors: 0,
            goodput_per_s,
            response,
            service: response,
            target_cpu_ns: cpu(role(crate::host::usage::Role::Target)),
            generator_cpu_ns: cpu(role(crate::host::usage::Role::Generator)),
        },
        host: SliceHost {
            steal: Some(if calm { 0.002 } else { 0.09 }),
            others: Some(0.001),
            kernel_network: Some(0.004),
            waiting: Some(0.001),
        },
        calm,
        used: calm,
    }
}

fn mix(value: u64) -> u64 {
    Draw::new(value).bits()
}
