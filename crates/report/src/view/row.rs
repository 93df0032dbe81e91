//! One target of a run.
use pippin_model::caveat::Verdict;
use pippin_model::histogram::Summary;
use pippin_model::load_result::{
    ByteCounts, ConnectionCounts, ErrorKind, Measured, RequestCounts, Spans, StatusCounts,
};
use pippin_model::plan::Price;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Step, TrialRecord};
use pippin_model::usage::{Role, Usage};
use pippin_stats::bootstrap::Sample;
use pippin_stats::capacity::found::{Capacity, confirming};
use pippin_stats::cost;
use pippin_stats::criterion::RankedBy;
use pippin_stats::explain::{Explanation, explain};
use pippin_stats::judge::{Context, RunCaveats, judge_run};
use pippin_stats::quantile::median;
use pippin_stats::rank::{Better, Contender, ranks};
use pippin_stats::summary::{CountedCaveat, Figure, TargetSummary, summarise, summarise_one};
use pippin_stats::sweep::{Sweep as FoundSweep, sweeps};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::curve::{Bin, QuantilePoint, bins, bins_per_decade, quantiles};
use super::phases::{self, PhaseRow};
use super::series::Series;
use super::sweep::{self, Sweep};

/// One target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The target.
    pub target: TargetId,
    /// Its framework, as its community writes it.
    pub framework: Option<String>,
    /// Its rank; shared with those it cannot be told apart from; `None` if it is INVALID or has no
    /// result.
    pub rank: Option<u32>,
    /// The figure by which it is ranked (see the run's `ranked_by`): answers per second, or
    /// nanoseconds of response time, of which the best is the lowest.
    #[serde(default)]
    pub ranked: Option<Figure>,
    /// The worst verdict of its trials; `None` if it has no trial.
    pub verdict: Option<Verdict>,
    /// The repetitions that are INVALID by themselves, counted from 1: each makes the row INVALID.
    #[serde(default)]
    pub invalid_repetitions: Vec<u32>,
    /// The point of a sweep or of a capacity search at which the figures below were taken; `None`
    /// for the other kinds.
    pub at: Option<Step>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<Figure>,
    /// The same of every repetition, in the order in which they were made.
    pub goodput_of_repetitions: Vec<f64>,
    /// Complete answers per second.
    pub throughput_per_s: Option<Figure>,
    /// Time spans, all repetitions together.
    pub spans: SpanSummaries,
    /// Quantiles of the response time for the chart.
    pub response_quantiles: Vec<QuantilePoint>,
    /// Distribution of the response time for the chart.
    pub response_bins: Vec<Bin>,
    /// Requests by fate, summed over the repetitions.
    pub requests: RequestCounts,
    /// Answers by status class, summed.
    pub status: StatusCounts,
    /// Errors by kind, summed.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Errors as a fraction of what was tried.
    pub error_fraction: Option<f64>,
    /// Connections: the most asked for and open; opened, replaced and closed summed.
    pub connections: ConnectionCounts,
    /// Bytes, summed.
    pub bytes: ByteCounts,
    /// What its processes, the services and the generator used, medians over the repetitions.
    pub usage: UsageFigures,
    /// What a million requests cost.
    pub cost: CostFigures,
    /// Time from start to first answer, median, nanoseconds.
    pub start_up_ns: Option<f64>,
    /// Its caveats, the gravest first.
    pub caveats: Vec<CountedCaveat>,
    /// Why it has no result, or why a repetition has none.
    pub failure: Option<Failure>,
    /// The repetitions that failed, counted from 1.
    #[serde(default)]
    pub failed_repetitions: Vec<u32>,
    /// Whether the failure is that it cannot be had on this machine.
    pub unavailable: bool,
    /// Why it is as fast as it is; `None` without a result.
    pub explanation: Option<Explanation>,
    /// Trials that were made for the headline.
    pub trials: u32,
    /// Those of them that have a result.
    pub repetitions: u32,
    /// Figures over time.
    pub series: Vec<Series>,
    /// The phases of a device load.
    pub phases: Vec<PhaseRow>,
    /// The points of a sweep or of a capacity search.
    pub sweep: Option<Sweep>,
}

/// Time spans, all repetitions together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // as in DESIGN section 3
pub struct SpanSummaries {
    pub connect: Summary,
    pub tls: Summary,
    pub headers: Summary,
    pub body: Summary,
    pub service_time: Summary,
    pub response_time: Summary,
    pub send_lag: Summary,
    pub own_lag: Summary,
}

/// What was used, medians over the repetitions. Cores are cores kept busy on average.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct UsageFigures {
    pub target_cores: Option<f64>,
    pub services_cores: Option<f64>,
    pub generator_cores: Option<f64>,
    /// The generator's busiest thread as a share of a core, its spinning left out.
    pub generator_busiest: Option<f64>,
    pub foreign_cores: Option<f64>,
    pub steal_cores: Option<f64>,
    /// Resident set of the target's whole process tree at its highest.
    pub target_rss_bytes: Option<f64>,
    /// Proportional set of the same.
    pub target_pss_bytes: Option<f64>,
    pub services_rss_bytes: Option<f64>,
    pub target_processes: Option<f64>,
    pub target_threads: Option<f64>,
    /// Bytes that the target wrote to its log, per answer.
    pub log_bytes_per_request: Option<f64>,
    /// Context switches of the target, both kinds, per answer.
    pub switches_per_request: Option<f64>,
}

/// What a million requests cost, medians over the repetitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct CostFigures {
    pub target_cpu_s_per_million: Option<f64>,
    pub services_cpu_s_per_million: Option<f64>,
    pub generator_cpu_s_per_million: Option<f64>,
    /// Target and services together at the plan's price; `None` without one.
    pub money_per_million: Option<f64>,
    pub currency: Option<String>,
}

/// All targets of a run in the order of the table.
pub fn rows<R: Rng + ?Sized>(record: &RunRecord, rng: &mut R) -> Vec<Row> {
    let caveats = judge_run(&record.trials);
    let summaries = summarise(&record.trials, &caveats, rng);
    let found = Found { caveats: &caveats, summaries: &summaries, sweeps: &sweeps(&record.trials) };
    let mut targets = record.header.plan.targets.clone();
    for trial in &record.trials {
        if !targets.contains(&trial.spec.target) {
            targets.push(trial.spec.target.clone());
        }
    }
    let entries: Vec<Entry> =
        targets.iter().map(|target| Entry::of(record, target, &found, rng)).collect();
    let ranks = ranks_of(&entries, rng);
    let per_decade = bins_per_decade(
        entries.iter().filter_map(Entry::summary).map(|summary| &summary.spans.response_time),
    );
    let mut rows: Vec<Row> = entries
        .iter()
        .zip(ranks)
        .map(|(entry, rank)| entry.row(record, rank, per_decade))
        .collect();
    let better = RankedBy::of(&record.header.plan.profile).better();
    rows.sort_by(|a, b| {
        let place =
            |row: &Row| (row.goodput_per_s.is_none(), row.rank.is_none(), row.ranked.is_none());
        let median = |row: &Row| row.ranked.map_or(0.0, |figure| figure.median);
        place(a).cmp(&place(b)).then_with(|| match better {
            Better::More => median(b).total_cmp(&median(a)),
            Better::Less => median(a).total_cmp(&median(b)),
        })
    });
    rows
}

/// Ranks by the headline. Where targets have their headline at different steps, the summaries' own
/// ranks (within a step) do not serve; profiles with steps are ranked by goodput.
fn ranks_of<R: Rng + ?Sized>(entries: &[Entry], rng: &mut R) -> Vec<Option<u32>> {
    if entries.iter().all(|entry| entry.sweep.is_none()) {
        return entries
            .iter()
            .map(|entry| entry.summary().and_then(|summary| summary.rank))
            .collect();
    }
    let sample = |trial: &&TrialRecord| RankedBy::Goodput.sample(trial.load.as_ref()?);
    let samples: Vec<Vec<Sample>> = entries
        .iter()
        .map(|entry| match entry.capacity() {
            Some(capacity) => capacity.samples(),
            None => entry.headline.iter().filter_map(sample).collect(),
        })
        .collect();
    let verdict =
        |entry: &Entry| entry.summary().map_or(Verdict::Invalid, |summary| summary.verdict);
    let contenders: Vec<Contender> = entries
        .iter()
        .zip(&samples)
        .map(|(entry, samples)| Contender { samples, verdict: verdict(entry) })
        .collect();
    ranks(&contenders, Better::More, rng)
}

/// What the statistics found in the trials of all targets.
struct Found<'a> {
    caveats: &'a RunCaveats,
    summaries: &'a [TargetSummary],
    sweeps: &'a [FoundSweep],
}

/// The trials of one target, those of them that make its headline, and what these came to.
struct Entry<'a> {
    target: TargetId,
    trials: Vec<&'a TrialRecord>,
    headline: Vec<&'a TrialRecord>,
    /// `None` without a trial.
    summary: Option<Cow<'a, TargetSummary>>,
    sweep: Option<Sweep>,
}

impl<'a> Entry<'a> {
    fn of<R: Rng + ?Sized>(
        record: &'a RunRecord,
        target: &TargetId,
        found: &Found<'a>,
        rng: &mut R,
    ) -> Self {
        let profile = &record.header.plan.profile;
        let trials: Vec<&TrialRecord> =
            record.trials.iter().filter(|trial| trial.spec.target == *target).collect();
        let own: Vec<&TargetSummary> =
            found.summaries.iter().filter(|summary| summary.target == *target).collect();
        let capacity = if profile.is_search() { Capacity::of(&trials, &mut *rng) } else { None };
        let of_target = found.sweeps.iter().find(|found| found.target == *target);
        let sweep = sweep::of(profile, &own, &trials, of_target, capacity);
        let held = if profile.is_search() { confirming(&trials) } else { Vec::new() };
        let (headline, summary) = if held.is_empty() {
            let summary = sweep::headline(profile, &own);
            let is_headline = |trial: &&TrialRecord| {
                summary.is_some_and(|summary| trial.spec.step == summary.step)
            };
            let headline = trials.iter().copied().filter(is_headline).collect();
            (headline, summary.map(Cow::Borrowed))
        } else {
            let step = held[0]
                .spec
                .step
                .filter(|step| held.iter().all(|trial| trial.spec.step == Some(*step)));
            let of_run = found.caveats.get(target).map_or(&[][..], Vec::as_slice);
            let summary = summarise_one(target, step, &held, of_run, rng);
            (held, Some(Cow::Owned(summary)))
        };
        Self { target: target.clone(), trials, headline, summary, sweep }
    }

    fn summary(&self) -> Option<&TargetSummary> {
        self.summary.as_deref()
    }

    fn capacity(&self) -> Option<&Capacity> {
        self.sweep.as_ref()?.capacity.as_ref()
    }

    /// A capacity search is ranked by its outcome.
    fn ranked(&self) -> Option<Figure> {
        match self.capacity() {
            Some(capacity) => capacity.rate_per_s,
            None => self.summary()?.ranked,
        }
    }

    fn row(&self, record: &RunRecord, rank: Option<u32>, per_decade: f64) -> Row {
        let info = record.header.targets.get(&self.target);
        let unavailable = info.and_then(|info| info.unavailable.clone());
        let failed = self.trials.iter().find_map(|trial| trial.failure.clone());
        let all = together(&self.headline);
        let spans = self.summary().map(|summary| &summary.spans).unwrap_or(&all.spans);
        Row {
            target: self.target.clone(),
            framework: info
                .and_then(|info| info.manifest.as_ref())
                .map(|manifest| manifest.framework.clone()),
            rank,
            ranked: self.ranked(),
            verdict: self.summary().map(|summary| summary.verdict),
            invalid_repetitions: self
                .summary()
                .map(|summary| summary.invalid_repetitions.clone())
                .unwrap_or_default(),
            at: self.summary().and_then(|summary| summary.step),
            goodput_per_s: self.summary().and_then(|summary| summary.goodput_per_s),
            goodput_of_repetitions: self
                .headline
                .iter()
                .filter_map(|trial| trial.load.as_ref()?.measured.goodput_per_s())
                .collect(),
            throughput_per_s: self.summary().and_then(|summary| summary.throughput_per_s),
            spans: SpanSummaries::of(spans),
            response_quantiles: quantiles(&spans.response_time),
            response_bins: bins(&spans.response_time, per_decade),
            requests: all.requests,
            status: all.status,
            error_fraction: self.summary().and_then(|summary| summary.error_fraction),
            errors: all.errors,
            connections: all.connections,
            bytes: all.bytes,
            usage: usage_figures(&self.headline, self.summary()),
            cost: cost_figures(self.summary(), record.header.plan.price.as_ref()),
            start_up_ns: self.summary().and_then(|summary| summary.start_up_ns),
            caveats: self.summary().map(|summary| summary.caveats.clone()).unwrap_or_default(),
            unavailable: unavailable.is_some(),
            failed_repetitions: failed_repetitions(&self.trials),
            failure: unavailable.or(failed),
            explanation: self.explanation(record),
            trials: self.summary().map_or(0, |summary| summary.trials),
            repetitions: self.summary().map_or(0, |summary| summary.measured),
            series: self.headline.iter().filter_map(|trial| Series::of(trial)).collect(),
            phases: phases::of(&self.headline),
            sweep: self.sweep.clone(),
        }
    }
}

/// Those of which any step failed.
fn failed_repetitions(trials: &[&TrialRecord]) -> Vec<u32> {
    let mut found: Vec<u32> = trials
        .iter()
        .filter(|trial| trial.failure.is_some())
        .map(|trial| trial.spec.repetition + 1)
        .collect();
    found.dedup();
    found
}

impl Entry<'_> {
    fn explanation(&self, record: &RunRecord) -> Option<Explanation> {
        let first = self.headline.iter().find(|trial| trial.load.is_some())?;
        let context = Context::of_run(&record.header, &record.trials, &first.spec);
        Some(explain(&self.headline, &context, record.header.plan.price.as_ref()))
    }
}

impl Row {
    /// Its points, if they are those of a capacity search.
    #[must_use]
    pub fn at_search(&self) -> Option<&Sweep> {
        self.sweep.as_ref().filter(|sweep| sweep.capacity.is_some())
    }

    /// Where a row with a result failed too: `repetition 2 of 3 failed`.
    #[must_use]
    pub fn failed_in_words(&self, planned: u32) -> String {
        match self.failed_repetitions.as_slice() {
            [one] => format!("repetition {one} of {planned} failed"),
            some => format!(
                "repetitions {} of {planned} failed",
                some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

impl SpanSummaries {
    fn of(spans: &Spans) -> Self {
        Self {
            connect: spans.connect.summary(),
            tls: spans.tls.summary(),
            headers: spans.headers.summary(),
            body: spans.body.summary(),
            service_time: spans.service_time.summary(),
            response_time: spans.response_time.summary(),
            send_lag: spans.send_lag.summary(),
            own_lag: spans.own_lag.summary(),
        }
    }
}

/// Counters of all trials, summed.
fn together(trials: &[&TrialRecord]) -> Measured {
    let mut all = Measured::default();
    for load in trials.iter().filter_map(|trial| trial.load.as_ref()) {
        all.add_repetition(&load.measured);
    }
    all
}

fn median_of(trials: &[&TrialRecord], figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    median(&trials.iter().filter_map(|trial| figure(trial)).collect::<Vec<_>>())
}

fn usage_figures(trials: &[&TrialRecord], summary: Option<&TargetSummary>) -> UsageFigures {
    let usage = |figure: fn(&Usage) -> Option<f64>| {
        median_of(trials, |trial| figure(trial.usage.as_ref()?))
    };
    let per_answer = |figure: fn(&Usage) -> Option<u64>| {
        median_of(trials, |trial| {
            let completed = trial.load.as_ref()?.measured.requests.completed;
            (completed > 0).then_some(figure(trial.usage.as_ref()?)? as f64 / completed as f64)
        })
    };
    let cores = |role: Role| summary.and_then(|summary| summary.cores.get(&role).copied());
    UsageFigures {
        target_cores: cores(Role::Target),
        services_cores: cores(Role::Services),
        generator_cores: cores(Role::Generator),
        generator_busiest: median_of(trials, |trial| {
            let load = trial.load.as_ref()?;
            load.generator.busiest_share(load.measured.duration_ns)
        }),
        foreign_cores: usage(|usage| usage.foreign_cores),
        steal_cores: usage(|usage| usage.steal_cores),
        target_rss_bytes: summary.and_then(|summary| summary.rss_max_bytes),
        target_pss_bytes: summary.and_then(|summary| summary.pss_max_bytes),
        services_rss_bytes: usage(|usage| {
            usage.roles.get(&Role::Services)?.rss_max_bytes.map(|bytes| bytes as f64)
        }),
        target_processes: usage(|usage| usage.roles.get(&Role::Target)?.processes.map(f64::from)),
        target_threads: summary.and_then(|summary| summary.threads),
        log_bytes_per_request: per_answer(|usage| usage.log_bytes),
        switches_per_request: per_answer(|usage| {
            let target = usage.roles.get(&Role::Target)?;
            Some(target.voluntary_switches? + target.involuntary_switches?)
        }),
    }
}

fn cost_figures(summary: Option<&TargetSummary>, price: Option<&Price>) -> CostFigures {
    let cpu = |role: Role| {
        summary.and_then(|summary| summary.cpu_seconds_per_million.get(&role).copied())
    };
    let (target, services) = (cpu(Role::Target), cpu(Role::Services));
    let served = target.map(|target| target + services.unwrap_or(0.0));
    CostFigures {
        target_cpu_s_per_million: target,
        services_cpu_s_per_million: services,
        generator_cpu_s_per_million: cpu(Role::Generator),
        money_per_million: price.and_then(|price| cost::money_per_million(served?, price)),
        currency: price.map(|price| price.currency.clone()),
    }
}
