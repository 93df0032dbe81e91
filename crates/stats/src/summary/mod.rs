//! Sums up all trials of one target at one step in the figures that tables show.
//!
//! | module | what it does |
//! |---|---|
//! | [`resources`] | what a target used and what its answers cost |
//! | [`sample`] | a figure of one trial, with what shows how certain it is |
//! | [`warm_ups`] | how a target warms up |
//! | [`trust`] | whether a run as a whole can be trusted, in words |
pub mod resources;
pub mod sample;
pub mod trust;
pub mod warm_ups;

use pippin_model::figure::{Better, Figure, RankedBy};
use pippin_model::result::{
    ByteCounts, ConnectionCounts, CounterSets, ErrorKind, EventCounts, LoadResult, Measured,
    RequestCounts, SpanSummaries, StatusCounts,
};
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Step, TrialRecord};
use pippin_model::verdict::{Caveat, Severity, Verdict};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::interval::bootstrap::Sample;
use crate::interval::ratio::Ratio;
use crate::interval::{Interval, median_interval, tail, unsure};
use crate::judge::{RunCaveats, is_replaced, judge_target, order, repetitions};
use crate::rank::RankInterval;
use crate::rank::criterion::ranked_sample;
use crate::rank::due;
use crate::rounds::calm::SliceCounts;
use crate::rounds::has_slices;
use crate::rounds::paired;
use crate::series::quantile::median;
use crate::summary::resources::{CostFigures, UsageFigures, median_of};
use crate::summary::sample::{sample, with_chance};

/// A figure over repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median over repetitions.
    pub median: f64,
    /// The best repetition (the highest figure).
    pub best: f64,
    /// The worst repetition (the lowest figure).
    pub worst: f64,
    /// The 95 % interval of the median, if it is known.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// The estimate in another unit, `factor` of which are one of this.
    fn times(self, factor: f64) -> Self {
        let interval = self.interval.map(|interval| Interval {
            low: interval.low * factor,
            high: interval.high * factor,
            ..interval
        });
        Self {
            median: self.median * factor,
            best: self.best * factor,
            worst: self.worst * factor,
            interval,
        }
    }

    /// Puts best and worst in the right order for times. Other figures have the highest as the
    /// best.
    const fn with_best(self, better: Better) -> Self {
        match better {
            Better::More => self,
            Better::Less => Self { best: self.worst, worst: self.best, ..self },
        }
    }
}

/// The summary of all trials of one target at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of a capacity search.
    #[serde(rename = "at")]
    pub step: Option<Step>,
    /// Trials that were made.
    pub trials: u32,
    /// Trials that have a result.
    #[serde(rename = "repetitions")]
    pub measured: u32,
    /// The failure of the first trial that failed.
    pub failure: Option<Failure>,
    /// The repetitions that failed, counted from 1.
    #[serde(default)]
    pub failed_repetitions: Vec<u32>,
    /// The repetitions that are INVALID on their own, counted from 1. Each of them makes the whole
    /// summary INVALID.
    #[serde(default)]
    pub invalid_repetitions: Vec<u32>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<Estimate>,
    /// Complete answers per second.
    pub throughput_per_s: Option<Estimate>,
    /// The median of the response time, as a figure over repetitions, in nanoseconds. Here too,
    /// "best" is the highest.
    #[serde(default)]
    pub response_p50_ns: Option<Estimate>,
    /// The 99th percentile of the response time, as a figure over repetitions, in nanoseconds. Here
    /// too, "best" is the highest.
    #[serde(default)]
    pub response_p99_ns: Option<Estimate>,
    /// The goodput of every repetition that has one, in the order in which they were made.
    pub goodput_of_repetitions: Vec<f64>,
    /// The time spans of all trials together.
    pub spans: SpanSummaries,
    /// Requests by fate, all trials together.
    pub requests: RequestCounts,
    /// Complete answers by status class, all trials together.
    pub status: StatusCounts,
    /// Errors by kind, all trials together.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Errors as a fraction of the requests tried, all trials together.
    pub error_fraction: Option<f64>,
    /// Connections: the most asked for and open; opened, replaced and closed summed.
    pub connections: ConnectionCounts,
    /// Bytes, all trials together.
    pub bytes: ByteCounts,
    /// Server-sent events, all trials together; absent in JSON where there are none.
    #[serde(default, skip_serializing_if = "EventCounts::is_empty")]
    pub events: EventCounts,
    /// Server-sent events per second over all trials; `None` where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_per_s: Option<f64>,
    /// What its processes, the services and the generator used.
    pub usage: UsageFigures,
    /// What a million requests cost.
    pub cost: CostFigures,
    /// Time from start to the first answer, median over trials, nanoseconds.
    pub start_up_ns: Option<f64>,
    /// Instructions in user space per request, median over trials; `None` if they were not counted.
    pub instructions_per_request: Option<f64>,
    /// Bytes of answers as they came for each byte unpacked, median over trials; `None` if none was unpacked.
    pub packed: Option<f64>,
    /// The caveats of all trials and of the run, the most serious first. Each name occurs once,
    /// with its most serious and newest evidence.
    pub caveats: Vec<CountedCaveat>,
    /// The verdict that follows from them; `None` without a trial.
    pub verdict: Option<Verdict>,
    /// Whether the generator was the limit: its throughput is a lower bound, and the target may be
    /// faster.
    pub at_least: bool,
    /// Whether the interval of the ranked figure reaches beyond +-10 %, or is not known.
    pub unsure: bool,
    /// The kind of figure that ranks it.
    #[serde(default)]
    pub ranked_by: RankedBy,
    /// The figure by which it is ranked. For times, the best is the lowest. `None` if it is
    /// unknown, for example if too many requests were not answered at all for the quantile to
    /// exist.
    #[serde(default)]
    pub ranked: Option<Estimate>,
    /// The target's CPU-seconds per million complete answers. The best is the lowest.
    #[serde(default)]
    pub cpu_s_per_million: Option<Estimate>,
    /// The slices behind the figures; `None` if they were measured in one stretch.
    #[serde(default)]
    pub slices: Option<SliceCounts>,
    /// Where it stands among others; see [`crate::rank::standing::stand`].
    #[serde(flatten)]
    pub standing: Standing,
}

/// The position of a target among others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Its rank, from 1 on, which is its best possible one; `None` if it is INVALID, has no figure,
    /// or its variation is unknown.
    pub rank: Option<u32>,
    /// Its possible ranks; also `None` without slices.
    #[serde(default)]
    pub rank_interval: Option<RankInterval>,
    /// The rank by CPU time of a request; less is better.
    #[serde(default)]
    pub cpu_rank: Option<u32>,
    /// Its possible ranks by CPU time.
    #[serde(default)]
    pub cpu_rank_interval: Option<RankInterval>,
    /// Its figures divided by those of the reference; `None` for the reference itself, and if it is
    /// not ranked.
    #[serde(default)]
    pub to_reference: Option<ToReference>,
}

/// A target's figures divided by those of the reference, each with its 95 % interval; `None` if the
/// figure or its variation is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ToReference {
    /// Right answers per second.
    pub goodput: Option<Ratio>,
    /// CPU time of the target per answer.
    pub cpu: Option<Ratio>,
    /// The median of the response time.
    pub p50: Option<Ratio>,
    /// The 99th percentile of the response time.
    pub p99: Option<Ratio>,
    /// Whether all of these that are known were taken within the rounds that both have. A target that
    /// was measured by itself, or met the reference in too few rounds, is compared by its levels.
    #[serde(default)]
    pub within_rounds: bool,
}

impl ToReference {
    /// The ratio of this figure.
    #[must_use]
    pub const fn ratio(&self, figure: Figure) -> Option<Ratio> {
        match figure {
            Figure::Goodput => self.goodput,
            Figure::P50 => self.p50,
            Figure::P99 => self.p99,
            Figure::Cpu => self.cpu,
            _ => None,
        }
    }
}

/// A caveat with the number of trials that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedCaveat {
    /// The caveat.
    #[serde(flatten)]
    pub caveat: Caveat,
    /// In how many trials it was found; 0 if it follows from several trials together.
    pub trials: u32,
    /// In which repetitions, counted from 1; empty if it follows from several trials together.
    #[serde(default)]
    pub repetitions: Vec<u32>,
}

/// Summarises every target at every step, in the order in which they first occur.
/// [`crate::rank::standing`] ranks them later.
///
/// Figures are taken over all trials that have a result, whatever their verdict: leaving out
/// doubtful trials would make the rest look more certain than it is. `run` is the result of
/// [`crate::judge::judge_run`].
pub fn summarise<R: Rng + ?Sized>(
    records: &[TrialRecord],
    run: &RunCaveats,
    rng: &mut R,
) -> Vec<TargetSummary> {
    let of_run = |target: &TargetId| run.get(target).map_or(&[][..], Vec::as_slice);
    repetitions(records)
        .iter()
        .map(|(target, step, trials)| summarise_one(target, *step, trials, of_run(target), rng))
        .collect()
}

impl TargetSummary {
    /// The sets that the counters of the register are read from.
    #[must_use]
    pub const fn counter_sets(&self) -> CounterSets {
        let Self { requests, connections, bytes, events, .. } = self;
        CounterSets {
            requests: *requests,
            connections: *connections,
            bytes: *bytes,
            events: *events,
        }
    }

    /// Replaces the doubt about how well its figure is known by this one: that about its ratio to
    /// the reference, where targets are compared.
    pub fn replace_unsure(&mut self, doubt: Option<Caveat>) {
        self.caveats.retain(|counted| counted.caveat.id != unsure::ID);
        let counted = |caveat| CountedCaveat { caveat, trials: 0, repetitions: Vec::new() };
        self.caveats.extend(doubt.map(counted));
        self.caveats.sort_by_key(|counted| order::place(&counted.caveat));
        self.verdict =
            self.verdict.map(|_| Verdict::of(self.caveats.iter().map(|one| &one.caveat)));
    }

    /// The summary of a target without trials.
    #[must_use]
    pub fn without_trial(target: &TargetId) -> Self {
        // It draws nothing random, so any generator will do.
        summarise_one(target, None, &[], &[], &mut Xoshiro256PlusPlus::seed_from_u64(0))
    }
}

/// Summarises all trials of a target at a step. `step` is `None` for several steps. Without trials,
/// figures and caveats are empty.
pub fn summarise_one<R: Rng + ?Sized>(
    target: &TargetId,
    step: Option<Step>,
    trials: &[&TrialRecord],
    run: &[Caveat],
    rng: &mut R,
) -> TargetSummary {
    let together = together(trials);
    let ranked_by = trials
        .first()
        .map_or(RankedBy::Goodput, |record| RankedBy::from_profile(&record.spec.profile));
    let goodput_per_s = of_figure(trials, Figure::Goodput, rng);
    let ranked = match ranked_by {
        RankedBy::Goodput => goodput_per_s,
        RankedBy::ResponseP99 => estimate(&ranked_samples(trials, ranked_by), rng)
            .map(|figure| in_rounds(figure, trials, Figure::P99))
            .map(|figure| of_one_load(figure, trials).with_best(ranked_by.better())),
    };
    let is_judged = trials.iter().all(|record| unsure::is_judged(record));
    let doubt = ranked.filter(|_| is_judged).and_then(|figure| {
        let what = match ranked_by {
            RankedBy::Goodput => "requests/s",
            RankedBy::ResponseP99 => "p99 of the response time",
        };
        unsure::of_figure(&figure, what, trials)
    });
    let caveats = united(trials, run, doubt.as_ref());
    TargetSummary {
        target: target.clone(),
        step,
        trials: trials.len() as u32,
        measured: loads(trials).count() as u32,
        failure: trials.iter().find_map(|record| record.failure.clone()),
        failed_repetitions: which(trials, |record| record.failure.is_some()),
        invalid_repetitions: which(trials, is_invalid),
        goodput_per_s,
        throughput_per_s: of_figure(trials, Figure::Throughput, rng),
        response_p50_ns: of_figure(trials, Figure::P50, rng),
        response_p99_ns: of_figure(trials, Figure::P99, rng)
            .map(|figure| of_one_load(figure, trials)),
        goodput_of_repetitions: loads(trials)
            .filter_map(|load| load.measured.goodput_per_s())
            .collect(),
        error_fraction: together.error_fraction(),
        // Requests without an answer count here as in gates and comparisons.
        spans: SpanSummaries {
            response_time: due::summary(&together),
            ..together.spans.summaries()
        },
        events_per_s: together.events_per_s(),
        requests: together.requests,
        status: together.status,
        errors: together.errors,
        connections: together.connections,
        bytes: together.bytes,
        events: together.events,
        usage: UsageFigures::from_trials(trials),
        cost: CostFigures::from_trials(trials),
        start_up_ns: median_of(trials, |record| record.start_up_ns.map(|ns| ns as f64)),
        instructions_per_request: median_of(trials, |record| Figure::Instructions.read(record)),
        packed: median_of(trials, |record| Figure::Packed.read(record)),
        verdict: (!trials.is_empty())
            .then(|| Verdict::of(caveats.iter().map(|counted| &counted.caveat))),
        at_least: is_at_least(&caveats),
        unsure: doubt.is_some(),
        caveats,
        ranked_by,
        ranked,
        cpu_s_per_million: of_figure(trials, Figure::Cpu, rng)
            .map(|per_request_ns| per_request_ns.times(1e-3).with_best(Better::Less)),
        slices: SliceCounts::from_trials(trials.iter().copied()),
        standing: Standing::default(),
    }
}

/// The counts of these trials together.
#[must_use]
pub fn together(trials: &[&TrialRecord]) -> Measured {
    let mut all = Measured::default();
    for load in loads(trials) {
        all.add_repetition(&load.measured);
    }
    all
}

/// Right answers per second over these trials, with the interval.
pub(crate) fn goodput<R: Rng + ?Sized>(trials: &[&TrialRecord], rng: &mut R) -> Option<Estimate> {
    of_figure(trials, Figure::Goodput, rng)
}

/// A figure over the trials that have it, with the interval from its rounds if there are any.
fn of_figure<R: Rng + ?Sized>(
    trials: &[&TrialRecord],
    figure: Figure,
    rng: &mut R,
) -> Option<Estimate> {
    let samples: Vec<Sample> = trials.iter().filter_map(|record| sample(figure, record)).collect();
    estimate(&samples, rng).map(|found| in_rounds(found, trials, figure))
}

/// Replaces the interval by that of the rounds, around the figure, if the trials have slices.
fn in_rounds(found: Estimate, trials: &[&TrialRecord], figure: Figure) -> Estimate {
    if !trials.iter().any(|record| has_slices(record)) {
        return found;
    }
    let around = |(factor, basis)| Interval {
        low: found.median / factor,
        high: found.median * factor,
        basis,
    };
    Estimate { interval: paired::factor(trials, figure).map(around), ..found }
}

/// The 99th percentile of a single load has the interval of its own blocks.
fn of_one_load(found: Estimate, trials: &[&TrialRecord]) -> Estimate {
    let [only] = trials else { return found };
    let load = only.load.as_ref().filter(|_| only.slices.is_empty() && unsure::is_judged(only));
    let own = load.and_then(|load| tail::p99_interval(load, found.median));
    Estimate { interval: own, ..found }
}

/// The caveats that say that the generator was the limit. They make the throughput a lower bound.
const OF_THE_GENERATOR: [&str; 3] = ["generator_limit", "near_ceiling", "held"];

fn is_at_least(caveats: &[CountedCaveat]) -> bool {
    caveats.iter().any(|counted| {
        counted.caveat.severity == Severity::Suspect
            && OF_THE_GENERATOR.contains(&counted.caveat.id.as_str())
    })
}

/// The repetitions of the trials for which this is true, counted from 1.
fn which(trials: &[&TrialRecord], is_so: impl Fn(&TrialRecord) -> bool) -> Vec<u32> {
    trials.iter().filter(|record| is_so(record)).map(|record| record.spec.repetition + 1).collect()
}

/// Whether a trial is INVALID on its own.
fn is_invalid(record: &TrialRecord) -> bool {
    record.failure.is_some()
        || record.verdict == Verdict::Invalid
        || Verdict::of(&record.caveats) == Verdict::Invalid
}

fn loads<'a>(trials: &'a [&TrialRecord]) -> impl Iterator<Item = &'a LoadResult> {
    trials.iter().filter_map(|record| record.load.as_ref())
}

/// The figures by which a target is ranked. Empty if one trial with a result does not have the
/// figure, because the others alone would look better than the target is. For a capacity search,
/// `trials` are those that confirmed its outcome, and the figure is their offered rate.
pub(crate) fn ranked_samples(trials: &[&TrialRecord], by: RankedBy) -> Vec<Sample> {
    let searched =
        |record: &&TrialRecord| record.spec.step.and_then(Step::tried).map(Sample::alone);
    if trials.iter().any(|record| record.spec.profile.is_search()) {
        return trials.iter().filter_map(searched).collect();
    }
    let samples = trials.iter().filter_map(|record| {
        let sample = ranked_sample(by, record.load.as_ref()?);
        Some(sample.map(|sample| with_chance(record, sample)))
    });
    samples.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The median of samples with their interval.
pub(crate) fn estimate<R: Rng + ?Sized>(samples: &[Sample], rng: &mut R) -> Option<Estimate> {
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let (worst, best) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    Some(Estimate {
        median: median(&values)?,
        best,
        worst,
        interval: median_interval(samples, rng),
    })
}

/// Each name once, with the highest severity and the newest evidence of that severity.
fn united(trials: &[&TrialRecord], run: &[Caveat], doubt: Option<&Caveat>) -> Vec<CountedCaveat> {
    let mut found: Vec<CountedCaveat> = Vec::new();
    let together = judge_target(trials);
    let of_trials = trials.iter().flat_map(|record| {
        let own = record.caveats.iter().filter(|caveat| !is_replaced(record, &caveat.id));
        own.map(|caveat| (caveat, Some(record.spec.repetition + 1)))
    });
    let of_all = together.iter().chain(run).chain(doubt).map(|caveat| (caveat, None));
    for (caveat, repetition) in of_trials.chain(of_all) {
        let place =
            found.iter().position(|known| known.caveat.id == caveat.id).unwrap_or_else(|| {
                found.push(CountedCaveat {
                    caveat: caveat.clone(),
                    trials: 0,
                    repetitions: Vec::new(),
                });
                found.len() - 1
            });
        let known = &mut found[place];
        if caveat.severity >= known.caveat.severity {
            known.caveat = caveat.clone();
        }
        known.trials += u32::from(repetition.is_some());
        known.repetitions.extend(repetition);
    }
    found.sort_by_key(|counted| order::place(&counted.caveat));
    found
}

#[cfg(test)]
mod tests;
