//! Tests that the 95 % intervals of ratios within rounds hold the true ratio in about 95 % of
//! simulated runs, with stopping, on recorded noise and on worse noise.
//!
//! `cargo test -p pippin-stats --test integration paired_coverage -- --nocapture` prints the figures that
//! docs/methodology.md quotes. Each range below allows for the chance of the simulated runs.
#![allow(clippy::print_stdout)] // the figures, for readers of the test's output
use crate::random::Random;
use pippin_model::example::ExampleTrial;
use pippin_model::example::slices::Rounds;
use pippin_model::figure::{Better, Figure};
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::Slice;
use pippin_stats::rank::rank_intervals;
use pippin_stats::rounds::paired::Pairs;

const RUNS: usize = 500;
const ROUNDS: usize = 8;
/// The first target's goodput divided by that of each other target.
const TRUTH: f64 = 1.1;
/// The number of repetitions without stopping, as in plans.
const REPETITIONS: usize = 3;
/// With stopping, repetitions are made until all intervals of the ratio are narrower than
/// `PRECISION`, as in `pippin_stats::rank::sequential`.
const FEWEST: usize = pippin_stats::rank::sequential::FEWEST_REPETITIONS as usize;
const MOST: usize = 6;
const PRECISION: f64 = 0.05;

/// The state of a host in one slice: its speed, the CPU time of a request, and how long the target
/// waited for its processor.
#[derive(Clone, Copy)]
struct Host {
    speed: f64,
    cpu: f64,
    waiting: f64,
}

/// Consecutive slices. A simulated run uses a stretch of them.
type Trace = Vec<Host>;

/// The recorded noise.
fn recorded() -> Trace {
    let host = |line: &str| {
        let figures: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        Host { speed: figures[0], cpu: figures[1], waiting: figures[2] }
    };
    let lines = include_str!("../noise/shared-vm.csv").lines();
    lines.filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).map(host).collect()
}

/// Artificial noise of this form, plus 2 % from slice to slice.
fn made(of: impl Fn(usize, &mut Random) -> f64) -> Trace {
    let mut random = Random::of_seed(5);
    (0..4_000)
        .map(|at| {
            let speed = of(at, &mut random) * (0.02 * random.normal()).exp();
            Host { speed, cpu: 1.0 / speed, waiting: 0.0 }
        })
        .collect()
}

/// A clock with two speeds that stays at each for some seconds.
fn two_speeds() -> Trace {
    let fast = std::cell::Cell::new(true);
    made(|_, random| {
        if random.uniform() < 0.05 {
            fast.set(!fast.get());
        }
        if fast.get() { 1.0 } else { 0.7 }
    })
}

/// A hypervisor that takes up to half of the time for some slices in a row.
fn steal_in_bursts() -> Trace {
    let left = std::cell::Cell::new(0usize);
    made(|_, random| {
        if random.uniform() < 0.03 {
            left.set(2 + random.below(8));
        }
        left.set(left.get().saturating_sub(1));
        if left.get() > 0 { 1.0 - 0.5 * random.uniform() } else { 1.0 }
    })
}

/// A host that gets slower by a fifth and recovers, over 200 slices.
fn drift() -> Trace {
    made(|at, _| 0.9 + 0.1 * (at as f64 * std::f64::consts::TAU / 200.0).cos())
}

/// How targets differ from start to start.
#[derive(Clone, Copy)]
struct Starts {
    /// Standard deviation of each start.
    scatter: f64,
    /// In one start of three, the first target is slower by this part.
    slow: f64,
}

const USUAL: Starts = Starts { scatter: 0.01, slow: 0.0 };

struct Scenario<'a> {
    trace: &'a Trace,
    targets: usize,
    starts: Starts,
    figure: Figure,
    /// Slices in which a target waited longer than this are not used.
    calm: f64,
    /// Whether precision ends the repetitions, or their number ([`REPETITIONS`]).
    stops: bool,
}

/// How often intervals held the truth.
#[derive(Default)]
struct Held {
    of_all: f64,
    /// For the pairs with the first target.
    of_first: f64,
    /// The share of runs in which some pair of equal targets was told apart.
    told_apart: f64,
    repetitions: f64,
}

/// The slices of every target in one repetition: rounds, each in random order.
fn repetition(
    scenario: &Scenario,
    number: u32,
    template: &TrialRecord,
    random: &mut Random,
) -> Vec<TrialRecord> {
    let n = scenario.targets;
    let speeds: Vec<f64> = (0..n)
        .map(|target| {
            let slow = scenario.starts.slow;
            let is_slow = target == 0 && random.uniform() < 1.0 / 3.0;
            // The truth is the mean of the logarithm over starts.
            let first = if target == 0 { TRUTH.ln() + slow / 3.0 } else { 0.0 };
            (first - if is_slow { slow } else { 0.0 } + scenario.starts.scatter * random.normal())
                .exp()
        })
        .collect();
    let mut records: Vec<TrialRecord> = (0..n)
        .map(|target| {
            let mut record = template.clone();
            record.spec.repetition = number;
            record.spec.target = format!("a/{target}").parse().unwrap();
            record.slices.clear();
            record
        })
        .collect();
    let mut at = random.below(scenario.trace.len());
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, random.below(last + 1));
        }
        for target in order {
            at = (at + 1) % scenario.trace.len();
            let host = scenario.trace[at];
            let mut slice = template.slices[0].clone();
            set(&mut slice, round as u32, &host, speeds[target], scenario.calm);
            records[target].slices.push(slice);
        }
    }
    records
}

fn set(slice: &mut Slice, round: u32, host: &Host, speed: f64, calm: f64) {
    slice.round = round;
    slice.used = host.waiting <= calm;
    slice.figures.answered = 1_000_000;
    slice.figures.goodput_per_s = 1e6 * host.speed * speed;
    slice.figures.target_cpu_ns = Some((1e12 * host.cpu / speed) as u64);
    slice.figures.response.p99_ns = Some((1e9 / host.speed / speed) as u64);
}

fn simulate(scenario: &Scenario) -> Held {
    // Only slices count here; a load with its histograms is slow to copy.
    let mut template = ExampleTrial::hello().build();
    Rounds { rounds: 1, ..Rounds::default() }.slice_up(&mut template);
    (template.load, template.usage) = (None, None);
    template.samples.clear();
    let truth = if scenario.figure == Figure::Goodput { TRUTH } else { 1.0 / TRUTH };
    let n = scenario.targets;
    let mut random = Random::of_seed(20_261_122);
    let mut held = Held::default();
    for _ in 0..RUNS {
        let mut by_target: Vec<Vec<TrialRecord>> = vec![Vec::new(); n];
        let mut made = 0;
        let pairs = loop {
            let records = repetition(scenario, made as u32, &template, &mut random);
            for (target, record) in records.into_iter().enumerate() {
                by_target[target].push(record);
            }
            made += 1;
            if made < if scenario.stops { FEWEST } else { REPETITIONS } {
                continue;
            }
            let trials: Vec<Vec<&TrialRecord>> =
                by_target.iter().map(|trials| trials.iter().collect()).collect();
            let trials: Vec<&[&TrialRecord]> = trials.iter().map(Vec::as_slice).collect();
            let pairs = Pairs::from_targets(&trials, scenario.figure);
            let is_narrow = (1..n).all(|target| {
                pairs
                    .ratio(target, 0)
                    .is_some_and(|found| found.interval.relative_width(found.value) < PRECISION)
            });
            if made == MOST || is_narrow || !scenario.stops {
                break pairs;
            }
        };
        count(&mut held, &pairs, scenario.figure, n, truth);
        held.repetitions += made as f64 / RUNS as f64;
    }
    held
}

fn count(held: &mut Held, pairs: &Pairs, figure: Figure, n: usize, truth: f64) {
    let share = 1.0 / (RUNS * n * (n - 1) / 2) as f64;
    for a in 0..n {
        for b in a + 1..n {
            let truth = if a == 0 { truth } else { 1.0 };
            let holds = pairs.ratio(a, b).is_none_or(|found| found.interval.covers(truth));
            held.of_all += if holds { share } else { 0.0 };
            if a == 0 && holds {
                held.of_first += 1.0 / (RUNS * (n - 1)) as f64;
            }
        }
    }
    // The first is the best. All others are equal: only the first may be certainly better than any
    // of them.
    let better = if figure == Figure::Goodput { Better::More } else { Better::Less };
    let ranks = rank_intervals(pairs, better, &vec![false; n]);
    if ranks[1..].iter().flatten().any(|rank| rank.best > 2) {
        held.told_apart += 1.0 / RUNS as f64;
    }
}

/// Simulates, prints a row, and checks that the coverage is within these bounds.
fn check(name: &str, scenario: &Scenario, of_all: (f64, f64), of_first: (f64, f64)) {
    let held = simulate(scenario);
    println!(
        "{name}, {} targets: holds in {:.1} %, of the first in {:.1} %; equals told apart in {:.1} % of runs; {:.1} repetitions",
        scenario.targets,
        100.0 * held.of_all,
        100.0 * held.of_first,
        100.0 * held.told_apart,
        held.repetitions
    );
    for (share, (low, high)) in [(held.of_all, of_all), (held.of_first, of_first)] {
        assert!((low..=high).contains(&share), "{name}: {share}, wanted {low} to {high}");
    }
    assert!(held.told_apart < 0.12, "{name}: {}", held.told_apart);
}

const ALL: f64 = 1.0;
const USUALLY: (f64, f64) = (0.93, 0.98);

#[test]
fn on_recorded_noise() {
    let trace = recorded();
    for targets in [2, 6] {
        let base = Scenario {
            trace: &trace,
            targets,
            starts: USUAL,
            figure: Figure::Goodput,
            calm: ALL,
            stops: true,
        };
        check("goodput, recorded, all slices", &base, USUALLY, USUALLY);
        check("goodput, recorded, calm slices", &Scenario { calm: 0.1, ..base }, USUALLY, USUALLY);
        check(
            "CPU per request, recorded",
            &Scenario { figure: Figure::Cpu, ..base },
            USUALLY,
            USUALLY,
        );
    }
}

#[test]
fn on_hosts_that_were_made_worse() {
    for (name, trace) in
        [("two speeds", two_speeds()), ("steal in bursts", steal_in_bursts()), ("drift", drift())]
    {
        for targets in [2, 6] {
            let base = Scenario {
                trace: &trace,
                targets,
                starts: USUAL,
                figure: Figure::Goodput,
                calm: ALL,
                stops: true,
            };
            check(name, &base, USUALLY, USUALLY);
        }
    }
}

#[test]
fn one_slow_start_in_three_is_not_always_seen() {
    let trace = drift();
    let starts = Starts { scatter: 0.005, slow: 0.05 };
    for targets in [2, 6] {
        let base = Scenario {
            trace: &trace,
            targets,
            starts,
            figure: Figure::Goodput,
            calm: ALL,
            stops: true,
        };
        check("one slow start in three", &base, (0.80, 0.99), (0.75, 0.99));
        check(
            "one slow start in three, without stopping",
            &Scenario { stops: false, ..base },
            (0.80, 0.99),
            (0.75, 0.99),
        );
    }
}
