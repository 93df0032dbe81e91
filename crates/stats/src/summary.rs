//! Sums up all trials of one target at one step in the figures that tables show.
use pippin_model::caveat::{Caveat, Verdict};
use pippin_model::load_result::{ErrorKind, LoadResult, Measured, Spans, StatusCounts, Window};
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Step, TrialRecord};
use pippin_model::usage::{Role, RoleUse};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::bootstrap::Sample;
use crate::cost::{cores_of, cpu_seconds_per_million};
use crate::criterion::RankedBy;
use crate::interval::{Interval, median_interval};
use crate::judge::{RunCaveats, repetitions};
use crate::quantile::median;
use crate::rank::{Better, Contender, ranks};
use crate::steady::measured_rates;

/// A figure over repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The median over repetitions.
    pub median: f64,
    /// The best repetition (the highest figure).
    pub best: f64,
    /// The worst repetition (the lowest figure).
    pub worst: f64,
    /// The 95 % interval of the median, if it is known.
    pub interval: Option<Interval>,
}

impl Figure {
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
    pub step: Option<Step>,
    /// Trials that were made.
    pub trials: u32,
    /// Trials that have a result.
    pub measured: u32,
    /// The failure of the first trial that failed.
    pub failure: Option<Failure>,
    /// The repetitions that failed, counted from 1.
    pub failed_repetitions: Vec<u32>,
    /// The repetitions that are INVALID on their own, counted from 1. Each of them makes the whole
    /// summary INVALID.
    pub invalid_repetitions: Vec<u32>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<Figure>,
    /// Complete answers per second.
    pub throughput_per_s: Option<Figure>,
    /// The median of the response time, as a figure over repetitions, in nanoseconds. Here too,
    /// "best" is the highest.
    pub response_p50_ns: Option<Figure>,
    /// The 99th percentile of the response time, likewise.
    pub response_p99_ns: Option<Figure>,
    /// The time spans of all trials together.
    pub spans: Spans,
    /// Complete answers by status class, all trials together.
    pub status: StatusCounts,
    /// Errors by kind, all trials together.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Errors as a fraction of the requests tried, all trials together.
    pub error_fraction: Option<f64>,
    /// Cores kept busy by role, median over trials.
    pub cores: BTreeMap<Role, f64>,
    /// CPU-seconds per million complete answers by role, median over trials.
    pub cpu_seconds_per_million: BTreeMap<Role, f64>,
    /// The target's highest resident set, median over trials, bytes.
    pub rss_max_bytes: Option<f64>,
    /// The target's highest proportional set, median over trials, bytes.
    pub pss_max_bytes: Option<f64>,
    /// The target's highest number of threads, median over trials.
    pub threads: Option<f64>,
    /// Time from start to the first answer, median over trials, nanoseconds.
    pub start_up_ns: Option<f64>,
    /// The caveats of all trials and of the run, each name once with its gravest and newest
    /// evidence, the gravest first.
    pub caveats: Vec<CountedCaveat>,
    /// The verdict that follows from them.
    pub verdict: Verdict,
    /// The kind of figure that ranks it.
    pub ranked_by: RankedBy,
    /// The figure by which it is ranked. For times, the best is the lowest. `None` if it is
    /// unknown, for example if too many requests were not answered at all for the quantile to
    /// exist.
    pub ranked: Option<Figure>,
    /// The rank among the summaries of the same step, from 1 on; `None` if INVALID or without the
    /// figure.
    pub rank: Option<u32>,
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

/// Summarises every target at every step, in the order in which they first occur, ranked within
/// each step.
///
/// Figures are taken over all trials that have a result, whatever their verdict: leaving out
/// doubtful trials would make the rest look more certain than it is. `run` is the result of
/// [`crate::judge::judge_run`].
pub fn summarise<R: Rng + ?Sized>(
    records: &[TrialRecord],
    run: &RunCaveats,
    rng: &mut R,
) -> Vec<TargetSummary> {
    let groups = repetitions(records);
    let mut summaries: Vec<TargetSummary> = groups
        .iter()
        .map(|(target, step, trials)| {
            summarise_one(
                target,
                *step,
                trials,
                run.get(*target).map_or(&[][..], Vec::as_slice),
                rng,
            )
        })
        .collect();
    let ranked: Vec<Vec<Sample>> = groups
        .iter()
        .zip(&summaries)
        .map(|((_, _, trials), summary)| ranked_samples(trials, summary.ranked_by))
        .collect();
    rank_within_steps(&mut summaries, &ranked, rng);
    summaries
}

fn rank_within_steps<R: Rng + ?Sized>(
    summaries: &mut [TargetSummary],
    ranked: &[Vec<Sample>],
    rng: &mut R,
) {
    let mut done: Vec<Option<Step>> = Vec::new();
    for first in 0..summaries.len() {
        let step = summaries[first].step;
        if done.contains(&step) {
            continue;
        }
        done.push(step);
        let members: Vec<usize> =
            (first..summaries.len()).filter(|i| summaries[*i].step == step).collect();
        let contenders: Vec<Contender> = members
            .iter()
            .map(|i| Contender { samples: &ranked[*i], verdict: summaries[*i].verdict })
            .collect();
        for (member, rank) in
            members.iter().zip(ranks(&contenders, summaries[first].ranked_by.better(), rng))
        {
            summaries[*member].rank = rank;
        }
    }
}

/// Sums up trials of one target; `step` is where they were made, if all were made at one.
pub fn summarise_one<R: Rng + ?Sized>(
    target: &TargetId,
    step: Option<Step>,
    trials: &[&TrialRecord],
    run: &[Caveat],
    rng: &mut R,
) -> TargetSummary {
    let mut together = Measured::default();
    for load in loads(trials) {
        together.add_repetition(&load.measured);
    }
    let caveats = united(trials, run);
    let goodput_per_s = figure(&samples(trials, &goodput), rng);
    let ranked_by =
        trials.first().map_or(RankedBy::Goodput, |record| RankedBy::of(&record.spec.profile));
    let quantile = |q: f64| {
        move |load: &LoadResult| {
            load.measured.spans.response_time.quantile_ns(q).map(|ns| Sample::alone(ns as f64))
        }
    };
    TargetSummary {
        target: target.clone(),
        step,
        trials: trials.len() as u32,
        measured: loads(trials).count() as u32,
        failure: trials.iter().find_map(|record| record.failure.clone()),
        failed_repetitions: which(trials, |record| record.failure.is_some()),
        invalid_repetitions: which(trials, is_invalid),
        goodput_per_s,
        throughput_per_s: figure(&samples(trials, &throughput), rng),
        response_p50_ns: figure(&samples(trials, &quantile(0.5)), rng),
        response_p99_ns: figure(&samples(trials, &quantile(0.99)), rng),
        error_fraction: together.error_fraction(),
        spans: together.spans,
        status: together.status,
        errors: together.errors,
        cores: by_role(|role| median_of(trials, |record| cores_of(record.usage.as_ref()?, role))),
        cpu_seconds_per_million: by_role(|role| {
            median_of(trials, |record| {
                cpu_seconds_per_million(record.load.as_ref()?, record.usage.as_ref()?, role)
            })
        }),
        rss_max_bytes: median_of(trials, |record| {
            target_use(record)?.rss_max_bytes.map(|n| n as f64)
        }),
        pss_max_bytes: median_of(trials, |record| {
            target_use(record)?.pss_max_bytes.map(|n| n as f64)
        }),
        threads: median_of(trials, |record| target_use(record)?.threads.map(f64::from)),
        start_up_ns: median_of(trials, |record| record.start_up_ns.map(|ns| ns as f64)),
        verdict: Verdict::of(caveats.iter().map(|counted| &counted.caveat)),
        caveats,
        ranked_by,
        ranked: match ranked_by {
            RankedBy::Goodput => goodput_per_s,
            RankedBy::ResponseP99 => figure(&ranked_samples(trials, ranked_by), rng)
                .map(|figure| figure.with_best(ranked_by.better())),
        },
        rank: None,
    }
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

fn target_use(record: &TrialRecord) -> Option<&RoleUse> {
    record.usage.as_ref()?.roles.get(&Role::Target)
}

fn by_role(figure: impl Fn(Role) -> Option<f64>) -> BTreeMap<Role, f64> {
    [Role::Target, Role::Services, Role::Generator]
        .into_iter()
        .filter_map(|role| Some((role, figure(role)?)))
        .collect()
}

fn median_of(trials: &[&TrialRecord], figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    median(&trials.iter().filter_map(|record| figure(record)).collect::<Vec<_>>())
}

/// Goodput with its windows.
pub(crate) fn goodput(load: &LoadResult) -> Option<Sample> {
    RankedBy::Goodput.sample(load)
}

/// The figures by which a target is ranked. If one trial with a result does not have the figure,
/// there is none: the others alone would look better than the target is.
fn ranked_samples(trials: &[&TrialRecord], by: RankedBy) -> Vec<Sample> {
    loads(trials).map(|load| by.sample(load)).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn throughput(load: &LoadResult) -> Option<Sample> {
    Some(Sample {
        value: load.measured.throughput_per_s()?,
        windows: measured_rates(load, |window: &Window| window.completed),
    })
}

/// A figure of each trial that has it.
pub(crate) fn samples(
    trials: &[&TrialRecord],
    figure: &dyn Fn(&LoadResult) -> Option<Sample>,
) -> Vec<Sample> {
    loads(trials).filter_map(figure).collect()
}

/// The median of samples with their interval.
pub(crate) fn figure<R: Rng + ?Sized>(samples: &[Sample], rng: &mut R) -> Option<Figure> {
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let (worst, best) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    Some(Figure { median: median(&values)?, best, worst, interval: median_interval(samples, rng) })
}

/// Each name once, with the gravest severity and, of those, the newest evidence.
fn united(trials: &[&TrialRecord], run: &[Caveat]) -> Vec<CountedCaveat> {
    let mut found: Vec<CountedCaveat> = Vec::new();
    let of_trials = trials.iter().flat_map(|record| {
        record.caveats.iter().map(|caveat| (caveat, Some(record.spec.repetition + 1)))
    });
    for (caveat, repetition) in of_trials.chain(run.iter().map(|caveat| (caveat, None))) {
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
    found.sort_by_key(|counted| std::cmp::Reverse(counted.caveat.severity));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Context, judge_run, judge_trial};
    use crate::test_noise::Noise;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::Stage;

    fn trial(target: &str, completed: u64) -> TrialRecord {
        let mut record = ExampleTrial::hello().target(target).completed(completed).build();
        record.caveats = judge_trial(&record, &Context::default());
        record.verdict = Verdict::of(&record.caveats);
        record
    }

    fn summarised(records: &[TrialRecord]) -> Vec<TargetSummary> {
        summarise(records, &judge_run(records), &mut Noise::new(1).0)
    }

    #[test]
    fn figures_are_taken_over_the_repetitions_of_each_target() {
        let records = [
            trial("a/a", 300_000),
            trial("b/b", 600_000),
            trial("a/a", 306_000),
            trial("b/b", 603_000),
            trial("a/a", 303_000),
            trial("b/b", 601_000),
        ];
        let found = summarised(&records);
        let a = &found[0];
        let goodput = a.goodput_per_s.unwrap();
        assert_eq!((goodput.median, goodput.best, goodput.worst), (10_100.0, 10_200.0, 10_000.0));
        assert!(goodput.interval.unwrap().covers(10_100.0));
        assert_eq!((a.trials, a.measured, a.spans.response_time.count()), (3, 3, 909_000));
        assert_eq!((a.rank, found[1].rank, a.verdict), (Some(2), Some(1), Verdict::Valid));
        assert!((a.cpu_seconds_per_million[&Role::Target] - 0.5 / 10_100.0 * 1e6).abs() < 0.01);
        let cpu_use =
            a.caveats.iter().find(|counted| counted.caveat.id == "not_cpu_bound").unwrap();
        assert_eq!(cpu_use.trials, 3);
    }

    #[test]
    fn one_invalid_trial_or_a_failed_one_takes_the_rank() {
        let mut failed = trial("c/c", 300_000);
        failed.load = None;
        failed.failure = Some(Failure {
            stage: Stage::Start,
            message: "exited with status 1".into(),
            log_tail: vec![],
        });
        failed.caveats = judge_trial(&failed, &Context::default());
        let mut busy = ExampleTrial::hello().target("a/a").generator_busy(0.97).build();
        busy.caveats = judge_trial(&busy, &Context::default());
        let found = summarised(&[trial("a/a", 300_000), busy, trial("b/b", 300_000), failed]);
        assert_eq!(
            found.iter().map(|summary| (summary.verdict, summary.rank)).collect::<Vec<_>>(),
            [(Verdict::Invalid, None), (Verdict::Valid, Some(1)), (Verdict::Invalid, None)]
        );
        assert_eq!(found[0].caveats[0].trials, 1);
        assert!(found[2].goodput_per_s.is_none() && found[2].failure.is_some());
    }

    /// Trials of an open loop, all answered, in about this time.
    fn open_trials(target: &str, ms: [f64; 3]) -> Vec<TrialRecord> {
        let make = |ms: &f64| ExampleTrial::open(10_000.0).target(target).response_ms(*ms).build();
        ms.iter().map(make).collect()
    }

    #[test]
    fn where_the_schedule_sets_the_rate_the_response_time_ranks() {
        // The goodput of all three is 10,000/s; a/a is the slowest, and b/b and c/c cannot be told
        // apart.
        let mut records = open_trials("a/a", [2.0, 2.01, 1.99]);
        records.extend(open_trials("b/b", [1.0, 1.01, 0.99]));
        records.extend(open_trials("c/c", [1.001, 1.012, 0.992]));
        let found = summarised(&records);
        let goodput = |summary: &TargetSummary| summary.goodput_per_s.unwrap().median;
        assert!(found.iter().all(|summary| (goodput(summary) - 10_000.0).abs() < 1e-6));
        assert_eq!(
            found.iter().map(|summary| summary.rank).collect::<Vec<_>>(),
            [Some(3), Some(1), Some(1)]
        );
        let ranked = found[0].ranked.unwrap();
        assert_eq!(found[0].ranked_by, RankedBy::ResponseP99);
        // The 99th percentile of times between 80 and 120 % of 2 ms.
        assert!(
            (ranked.median / 2.392e6 - 1.0).abs() < 0.01
                && ranked.interval.unwrap().covers(ranked.median),
            "{ranked:?}"
        );
        assert!(
            ranked.best < ranked.median && ranked.median < ranked.worst,
            "of times the best is the lowest: {ranked:?}"
        );
    }

    #[test]
    fn a_target_that_did_not_keep_up_has_no_rank_however_fast_its_answers_are() {
        let mut records = open_trials("a/a", [2.0, 2.01, 1.99]);
        for _ in 0..3 {
            let mut late =
                ExampleTrial::open(10_000.0).target("b/b").response_ms(0.5).unsent(6_000).build();
            late.caveats = judge_trial(&late, &Context::default());
            records.push(late);
        }
        // Within every limit of the judges, although more than 1 % of its requests were not
        // answered.
        let backlog =
            |_| ExampleTrial::open(10_000.0).target("c/c").response_ms(0.5).censored(9_000).build();
        records.extend((0..3).map(backlog));
        let found = summarised(&records);
        assert_eq!((found[0].rank, found[0].verdict), (Some(1), Verdict::Valid));
        assert_eq!((found[1].rank, found[1].verdict), (None, Verdict::Invalid));
        assert_eq!(
            (found[2].rank, found[2].verdict, found[2].ranked),
            (None, Verdict::Valid, None)
        );
    }

    #[test]
    fn devices_are_ranked_by_response_time_and_closed_loops_by_goodput() {
        let devices =
            |target: &str, ms| ExampleTrial::devices(100).target(target).response_ms(ms).build();
        let found = summarised(&[
            devices("a/a", 130.0),
            devices("a/a", 131.0),
            devices("b/b", 100.0),
            devices("b/b", 101.0),
        ]);
        assert_eq!(
            (found[0].ranked_by, found[0].ranked.map(|f| f.median > 130e6)),
            (RankedBy::ResponseP99, Some(true))
        );
        let closed = summarised(&[trial("a/a", 300_000)]);
        assert_eq!(
            (closed[0].ranked_by, closed[0].ranked),
            (RankedBy::Goodput, closed[0].goodput_per_s)
        );
    }

    #[test]
    fn what_took_the_rank_names_its_repetitions() {
        let mut records = [trial("a/a", 300_000), trial("a/a", 300_100), trial("a/a", 299_900)];
        for (repetition, record) in (0..).zip(&mut records) {
            record.spec.repetition = repetition;
        }
        let mut busy = ExampleTrial::hello().target("a/a").generator_busy(0.97).build();
        busy.caveats = judge_trial(&busy, &Context::default());
        busy.spec.repetition = 1;
        records[1] = busy;
        let found = &summarised(&records)[0];
        assert_eq!(
            (found.verdict, found.rank, &found.invalid_repetitions),
            (Verdict::Invalid, None, &vec![2])
        );
        let gravest = &found.caveats[0];
        assert_eq!(
            (gravest.caveat.id.as_str(), gravest.trials, &gravest.repetitions),
            ("generator_busy", 1, &vec![2])
        );
        records[2].failure =
            Some(Failure { stage: Stage::Load, message: "it crashed".into(), log_tail: vec![] });
        let found = &summarised(&records)[0];
        assert_eq!(
            (&found.failed_repetitions, &found.invalid_repetitions),
            (&vec![3], &vec![2, 3])
        );
        let all = found.caveats.iter().find(|counted| counted.trials == 3).unwrap();
        assert_eq!(all.repetitions, [1, 2, 3]);
    }

    #[test]
    fn points_of_a_sweep_are_summarised_and_ranked_apart() {
        let point = |target: &str, count| {
            ExampleTrial::hello().target(target).sweep_point(count, &[1, 8]).build()
        };
        let found =
            summarised(&[point("a/a", 1), point("b/b", 1), point("a/a", 8), point("b/b", 8)]);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|summary| summary.rank == Some(1)));
    }
}
