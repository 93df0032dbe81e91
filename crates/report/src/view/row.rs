//! One target of a run.
use pippin_model::caveat::{Caveat, Verdict};
use pippin_model::histogram::Summary;
use pippin_model::load_result::{ByteCounts, ConnectionCounts, ErrorKind, Measured, RequestCounts, StatusCounts};
use pippin_model::plan::Price;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Step, TrialRecord};
use pippin_model::usage::Role;
use pippin_stats::bootstrap::Sample;
use pippin_stats::cost;
use pippin_stats::quantile::median;
use pippin_stats::rank::{Contender, ranks};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::curve::{Bin, QuantilePoint, bins, quantiles};
use super::figure::Figure;
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
    /// Its rank; shared with those it cannot be told apart from; `None` if it is INVALID or has no result.
    pub rank: Option<u32>,
    /// The worst verdict of its trials; `None` if it has no trial.
    pub verdict: Option<Verdict>,
    /// The point of a sweep or of a capacity search at which the figures below were taken; `None` for the other kinds.
    pub at: Option<Step>,
    /// Complete and right answers per second.
    pub goodput_per_s: Option<Figure>,
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
    /// Its caveats, each once.
    pub caveats: Vec<Caveat>,
    /// Why it has no result, or why a repetition has none.
    pub failure: Option<Failure>,
    /// Whether the failure is that it cannot be had on this machine.
    pub unavailable: bool,
    /// What the figures say, in words.
    pub explanation: Vec<String>,
    /// Repetitions with a result.
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
    let mut targets = record.header.plan.targets.clone();
    for trial in &record.trials {
        if !targets.contains(&trial.spec.target) {
            targets.push(trial.spec.target.clone());
        }
    }
    let entries: Vec<Entry> = targets.iter().map(|target| Entry::of(record, target)).collect();
    let contenders: Vec<Contender> =
        entries.iter().map(|entry| Contender { samples: &entry.samples, verdict: entry.verdict.unwrap_or(Verdict::Invalid) }).collect();
    let ranks = ranks(&contenders, rng);
    let mut rows: Vec<Row> = entries.iter().zip(ranks).map(|(entry, rank)| entry.row(record, rank, rng)).collect();
    let median = |row: &Row| row.goodput_per_s.as_ref().map_or(f64::MIN, |figure| figure.median);
    rows.sort_by(|a, b| {
        let place = |row: &Row| (row.goodput_per_s.is_none(), row.rank.is_none());
        place(a).cmp(&place(b)).then_with(|| median(b).total_cmp(&median(a)))
    });
    rows
}

/// The trials of one target, and those of them that make its headline.
struct Entry<'a> {
    target: TargetId,
    trials: Vec<&'a TrialRecord>,
    at: Option<Step>,
    headline: Vec<&'a TrialRecord>,
    samples: Vec<Sample>,
    verdict: Option<Verdict>,
}

impl<'a> Entry<'a> {
    fn of(record: &'a RunRecord, target: &TargetId) -> Self {
        let trials: Vec<&TrialRecord> = record.trials.iter().filter(|trial| trial.spec.target == *target).collect();
        let (at, headline) = sweep::headline(&record.header.plan.profile, &trials);
        let samples = headline.iter().filter_map(|trial| goodput_sample(trial)).collect();
        let verdict = headline.iter().map(|trial| trial.verdict).max();
        Self { target: target.clone(), trials, at, headline, samples, verdict }
    }

    fn row<R: Rng + ?Sized>(&self, record: &RunRecord, rank: Option<u32>, rng: &mut R) -> Row {
        let info = record.header.targets.get(&self.target);
        let unavailable = info.and_then(|info| info.unavailable.clone());
        let failed = self.trials.iter().find_map(|trial| trial.failure.clone());
        let mut all = Measured::default();
        for trial in &self.headline {
            if let Some(load) = &trial.load {
                phases::add(&mut all, &load.measured);
            }
        }
        let throughput: Vec<Sample> =
            self.headline.iter().filter_map(|trial| trial.load.as_ref()?.measured.throughput_per_s()).map(Sample::alone).collect();
        Row {
            target: self.target.clone(),
            framework: info.and_then(|info| info.manifest.as_ref()).map(|manifest| manifest.framework.clone()),
            rank,
            verdict: self.verdict,
            at: self.at,
            goodput_per_s: Figure::of(&self.samples, rng),
            throughput_per_s: Figure::of(&throughput, rng),
            spans: SpanSummaries {
                connect: all.spans.connect.summary(),
                tls: all.spans.tls.summary(),
                headers: all.spans.headers.summary(),
                body: all.spans.body.summary(),
                service_time: all.spans.service_time.summary(),
                response_time: all.spans.response_time.summary(),
                send_lag: all.spans.send_lag.summary(),
                own_lag: all.spans.own_lag.summary(),
            },
            response_quantiles: quantiles(&all.spans.response_time),
            response_bins: bins(&all.spans.response_time),
            requests: all.requests,
            status: all.status,
            error_fraction: all.error_fraction(),
            errors: all.errors,
            connections: all.connections,
            bytes: all.bytes,
            usage: usage_figures(&self.headline),
            cost: cost_figures(&self.headline, record.header.plan.price.as_ref()),
            start_up_ns: median_of(&self.trials, |trial| trial.start_up_ns.map(|ns| ns as f64)),
            caveats: caveats_once(&self.trials),
            unavailable: unavailable.is_some(),
            failure: unavailable.or(failed),
            explanation: Vec::new(),
            repetitions: self.samples.len() as u32,
            series: self.headline.iter().filter_map(|trial| Series::of(trial)).collect(),
            phases: phases::of(&self.headline),
            sweep: sweep::of(&record.header.plan.profile, &self.trials),
        }
    }
}

/// Right answers per second of a trial, with its windows; `None` if it has no load.
pub(super) fn goodput_sample(trial: &TrialRecord) -> Option<Sample> {
    let load = trial.load.as_ref()?;
    let value = load.measured.goodput_per_s()?;
    // Devices: only the windows of the headline phase.
    let end = load.measured.duration_ns as i64;
    let whole = load.windows.iter().filter(|w| w.from_ns >= 0 && w.from_ns + w.duration_ns as i64 <= end && w.duration_ns >= 900_000_000);
    Some(Sample { value, windows: whole.map(|w| w.good as f64 * 1e9 / w.duration_ns as f64).collect() })
}

fn median_of(trials: &[&TrialRecord], figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    median(&trials.iter().filter_map(|trial| figure(trial)).collect::<Vec<_>>())
}

fn usage_figures(trials: &[&TrialRecord]) -> UsageFigures {
    let role = |role: Role, figure: fn(&pippin_model::usage::RoleUse) -> Option<f64>| {
        median_of(trials, |trial| trial.usage.as_ref()?.roles.get(&role).and_then(figure))
    };
    let cores = |which: Role| median_of(trials, |trial| cost::cores_of(trial.usage.as_ref()?, which));
    let per_answer = |figure: fn(&pippin_model::usage::Usage) -> Option<u64>| {
        median_of(trials, |trial| {
            let completed = trial.load.as_ref()?.measured.requests.completed;
            (completed > 0).then_some(figure(trial.usage.as_ref()?)? as f64 / completed as f64)
        })
    };
    UsageFigures {
        target_cores: cores(Role::Target),
        services_cores: cores(Role::Services),
        generator_cores: cores(Role::Generator),
        generator_busiest: median_of(trials, |trial| {
            let load = trial.load.as_ref()?;
            load.generator.busiest_share(load.measured.duration_ns)
        }),
        foreign_cores: median_of(trials, |trial| trial.usage.as_ref()?.foreign_cores),
        steal_cores: median_of(trials, |trial| trial.usage.as_ref()?.steal_cores),
        target_rss_bytes: role(Role::Target, |used| used.rss_max_bytes.map(|b| b as f64)),
        target_pss_bytes: role(Role::Target, |used| used.pss_max_bytes.map(|b| b as f64)),
        services_rss_bytes: role(Role::Services, |used| used.rss_max_bytes.map(|b| b as f64)),
        target_processes: role(Role::Target, |used| used.processes.map(f64::from)),
        target_threads: role(Role::Target, |used| used.threads.map(f64::from)),
        log_bytes_per_request: per_answer(|usage| usage.log_bytes),
        switches_per_request: per_answer(|usage| {
            let target = usage.roles.get(&Role::Target)?;
            Some(target.voluntary_switches? + target.involuntary_switches?)
        }),
    }
}

fn cost_figures(trials: &[&TrialRecord], price: Option<&Price>) -> CostFigures {
    let cpu = |role: Role| median_of(trials, |trial| cost::cpu_seconds_per_million(&trial.load.as_ref()?.measured, trial.usage.as_ref()?, role));
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

fn caveats_once(trials: &[&TrialRecord]) -> Vec<Caveat> {
    let mut once: Vec<Caveat> = Vec::new();
    for caveat in trials.iter().flat_map(|trial| &trial.caveats) {
        if !once.contains(caveat) {
            once.push(caveat.clone());
        }
    }
    once.sort_by_key(|caveat| std::cmp::Reverse(caveat.severity));
    once
}
