//! One target of a run.
use pippin_model::figure::{Better, Figure, RankedBy};
use pippin_model::host::usage::Runtime;
use pippin_model::result::Measured;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::target::register::ServerKind;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};
use pippin_stats::capacity::found::{Capacity, confirming};
use pippin_stats::explain::{Explanation, explain};
use pippin_stats::judge::held::Held as OfTrial;
use pippin_stats::judge::{Context, Evidence, RunCaveats, judge_run};
use pippin_stats::rank::standing::{Field, stand};
use pippin_stats::scalability::ladder::{self, Ladder};
use pippin_stats::scalability::rate_knee::RateKnee;
use pippin_stats::scalability::sweep::{Sweep as FoundSweep, sweeps};
use pippin_stats::series::quantile::mean;
use pippin_stats::summary::warm_ups::WarmUps;
use pippin_stats::summary::{TargetSummary, summarise, summarise_one, together};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

use super::curve::{Bin, QuantilePoint, bins, bins_per_decade, quantiles};
use super::overload::OverloadView;
use super::phases::{self, PhaseRow};
use super::series::Series;
use super::spoken;
use super::stages::{self, StageRow};
use super::sweep::{self, Sweep};
use super::walks::{self, StepView, Walked, WayView};
use super::warm_ups;
use crate::words;

/// One target of a run: its summary, and what charts and text show of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its figures. In a sweep or a capacity search, those of the headline step; but `failure` and
    /// `failed_repetitions` are those of all steps.
    #[serde(flatten)]
    pub summary: TargetSummary,
    /// Its framework, spelled as its community does.
    pub framework: Option<String>,
    /// The kind of server, from the register.
    #[serde(default)]
    pub kind: Option<ServerKind>,
    /// The protocol and the connections; `None` where they are the same for all targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spoken: Option<String>,
    /// Quantiles of the response time for the chart.
    pub response_quantiles: Vec<QuantilePoint>,
    /// Distribution of the response time for the chart.
    pub response_bins: Vec<Bin>,
    /// Whether it failed because it is not available on this machine.
    pub unavailable: bool,
    /// Why it is as fast as it is; `None` without a result.
    pub explanation: Option<Explanation>,
    /// How it warms up; absent if no start shows it, or the host disturbed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_ups: Option<WarmUps>,
    /// Figures over time.
    pub series: Vec<Series>,
    /// Where the users of a closed loop were; `None` for other loads or if it is unknown.
    #[serde(default)]
    pub held: Option<Held>,
    /// The phases of a device load.
    pub phases: Vec<PhaseRow>,
    /// The stages of a load that changes by plan; empty for other loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageRow>,
    /// The steps of a scenario; empty for other loads.
    #[serde(default)]
    pub scenario: Vec<StepView>,
    /// The scenarios of a mix, and all of them together at the end; absent for other loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<WayView>,
    /// The redirections that were followed; absent if the load follows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<StepView>,
    /// The language runtimes of its processes, as seen from outside while it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<Runtime>,
    /// The points of a sweep, of several rates or of a capacity search.
    pub sweep: Option<Sweep>,
    /// What it does beyond its capacity; `None` for other loads.
    #[serde(default)]
    pub overload: Option<OverloadView>,
}

/// Where the users of a closed loop were on average, over all repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The number of users.
    pub users: f64,
    /// The number that waited for the target; the generator held the others.
    pub with_target: f64,
}

impl Held {
    fn from_trials(trials: &[&TrialRecord]) -> Option<Self> {
        let found: Vec<OfTrial> = trials
            .iter()
            .filter_map(|record| {
                OfTrial::from_evidence(&Evidence { record, context: &Context::default() })
            })
            .collect();
        let mean_of = |figure: fn(OfTrial) -> f64| {
            mean(&found.iter().map(|one| figure(*one)).collect::<Vec<_>>())
        };
        Some(Self { users: mean_of(OfTrial::users)?, with_target: mean_of(OfTrial::with_target)? })
    }
}

impl Row {
    /// Why it is as fast as it is, and how it warms up; `None` without a result.
    #[must_use]
    pub fn explained(&self) -> Option<String> {
        let text = self.explanation.as_ref()?.text.clone();
        let warm_up = self.warm_ups.as_ref().and_then(warm_ups::sentence);
        Some([Some(text), warm_up].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// A row gives direct access to the fields of its summary.
impl Deref for Row {
    type Target = TargetSummary;

    fn deref(&self) -> &TargetSummary {
        &self.summary
    }
}

/// All targets of a run in the order of the table, and what applies to all of them. They are
/// compared with `reference`, or with the best one.
pub fn rows<R: Rng + ?Sized>(
    record: &RunRecord,
    reference: Option<&TargetId>,
    rng: &mut R,
) -> (Vec<Row>, Field) {
    let caveats = judge_run(&record.trials);
    let found = Found {
        summaries: &summarise(&record.trials, &caveats, rng),
        caveats: &caveats,
        sweeps: &sweeps(&record.trials),
        common_per_s: common_per_s(record),
    };
    let mut targets = record.header.plan.targets.clone();
    for trial in &record.trials {
        if !targets.contains(&trial.spec.target) {
            targets.push(trial.spec.target.clone());
        }
    }
    let mut entries: Vec<Entry> =
        targets.iter().map(|target| Entry::from_record(record, target, &found, rng)).collect();
    let mut headlines: Vec<TargetSummary> =
        entries.iter().map(|entry| entry.summary.clone()).collect();
    let trials: Vec<Vec<&TrialRecord>> =
        entries.iter().map(|entry| entry.headline.clone()).collect();
    let field = stand(&mut headlines, &trials, reference, rng);
    for (entry, headline) in entries.iter_mut().zip(headlines) {
        entry.summary = headline;
    }
    let all: Vec<Measured> = trials.iter().map(|trials| together(trials)).collect();
    let per_decade = bins_per_decade(all.iter().map(|all| &all.spans.response_time));
    let mut rows: Vec<Row> = entries
        .into_iter()
        .zip(&all)
        .map(|(entry, all)| Row {
            response_quantiles: quantiles(all),
            response_bins: bins(&all.spans.response_time, per_decade),
            ..entry.row(record)
        })
        .collect();
    let better = RankedBy::from_profile(&record.header.plan.profile).better();
    rows.sort_by(|a, b| {
        let place = |row: &Row| {
            (row.goodput_per_s.is_none(), row.standing.rank.is_none(), row.ranked.is_none())
        };
        let ranks = |row: &Row| {
            (row.standing.rank, row.standing.rank_interval.map(|interval| interval.worst))
        };
        let median = |row: &Row| row.ranked.map_or(0.0, |figure| figure.median);
        // Ranks come from pairs within rounds, which medians may contradict.
        place(a).cmp(&place(b)).then_with(|| ranks(a).cmp(&ranks(b))).then_with(|| match better {
            Better::More => median(b).total_cmp(&median(a)),
            Better::Less => median(a).total_cmp(&median(b)),
        })
    });
    (rows, field)
}

/// What the statistics found in the trials of all targets.
struct Found<'a> {
    caveats: &'a RunCaveats,
    summaries: &'a [TargetSummary],
    sweeps: &'a [FoundSweep],
    /// Of several rates, the one at which the targets are compared.
    common_per_s: Option<f64>,
}

/// The highest rate with which all targets keep up, without those that keep up with none; `None` for
/// other loads.
fn common_per_s(record: &RunRecord) -> Option<f64> {
    let of = |target: &TargetId| {
        let of_target = record.trials.iter().filter(|trial| trial.spec.target == *target);
        Ladder::from_trials(&of_target.collect::<Vec<_>>())
    };
    ladder::common_per_s(record.header.plan.targets.iter().filter_map(of))
}

/// The trials of one target, those of them that make its headline, and their summary.
struct Entry<'a> {
    trials: Vec<&'a TrialRecord>,
    headline: Vec<&'a TrialRecord>,
    summary: TargetSummary,
    sweep: Option<Sweep>,
}

impl<'a> Entry<'a> {
    fn from_record<R: Rng + ?Sized>(
        record: &'a RunRecord,
        target: &TargetId,
        found: &Found<'_>,
        rng: &mut R,
    ) -> Self {
        let profile = &record.header.plan.profile;
        let trials: Vec<&TrialRecord> =
            record.trials.iter().filter(|trial| trial.spec.target == *target).collect();
        let own: Vec<&TargetSummary> =
            found.summaries.iter().filter(|summary| summary.target == *target).collect();
        let capacity =
            if profile.is_search() { Capacity::from_trials(&trials, &mut *rng) } else { None };
        let of_target = found.sweeps.iter().find(|found| found.target == *target);
        let rate_per_s = capacity.as_ref().and_then(|capacity| capacity.rate_per_s);
        let sweep = sweep::from_trials(profile, &own, &trials, of_target, capacity);
        let held = if profile.is_search() { confirming(&trials) } else { Vec::new() };
        let (headline, mut summary) = match held.first().map(|first| first.spec.step) {
            Some(first) => {
                let step = first.filter(|_| held.iter().all(|trial| trial.spec.step == first));
                let of_run = found.caveats.get(target).map_or(&[][..], Vec::as_slice);
                let summary = summarise_one(target, step, &held, of_run, rng);
                (held, summary)
            }
            None => {
                let summary = sweep::headline(profile, &own, found.common_per_s);
                let is_headline = |trial: &&TrialRecord| {
                    summary.is_some_and(|summary| trial.spec.step == summary.step)
                };
                let headline = trials.iter().copied().filter(is_headline).collect();
                let none = || TargetSummary {
                    // Even without a measurement, the plan decides how targets are ranked.
                    ranked_by: RankedBy::from_profile(profile),
                    ..TargetSummary::without_trial(target)
                };
                (headline, summary.cloned().unwrap_or_else(none))
            }
        };
        if profile.is_search() {
            // A search is ranked by its result.
            summary.ranked = rate_per_s;
        }
        Self { trials, headline, summary, sweep }
    }

    fn row(self, record: &RunRecord) -> Row {
        let info = record.header.targets.get(&self.summary.target);
        let unavailable = info.and_then(|info| info.unavailable.clone());
        let failed = self.trials.iter().find_map(|trial| trial.failure.clone());
        let explanation = self.explanation(record);
        let Walked { steps: scenario, followed, ways: mix } = walks::from_trials(&self.headline);
        let cost = match &record.header.plan.price {
            Some(price) => self.summary.cost.clone().at(price),
            None => self.summary.cost.clone(),
        };
        Row {
            framework: info
                .and_then(|info| info.manifest.as_ref())
                .map(|manifest| manifest.framework.clone()),
            kind: info.and_then(|info| info.registered.kind),
            spoken: spoken::unlike_others(record, &self.headline),
            response_quantiles: Vec::new(),
            response_bins: Vec::new(),
            unavailable: unavailable.is_some(),
            explanation,
            warm_ups: WarmUps::of_trials(&self.headline),
            series: self.headline.iter().filter_map(|trial| Series::from_trial(trial)).collect(),
            held: Held::from_trials(&self.headline),
            phases: phases::from_trials(&self.headline),
            stages: stages::from_trials(&self.headline),
            runtimes: Runtime::each_once(
                self.headline
                    .iter()
                    .filter_map(|trial| trial.usage.as_ref())
                    .flat_map(|it| &it.runtimes),
            ),
            scenario,
            mix,
            followed,
            sweep: self.sweep,
            overload: OverloadView::from_trials(&self.headline),
            summary: TargetSummary {
                cost,
                failed_repetitions: failed_repetitions(&self.trials),
                failure: unavailable.or(failed),
                ..self.summary
            },
        }
    }
}

/// The repetitions of which any step failed.
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
        if first.spec.profile.is_overload() {
            // Beyond the capacity, the load is what limits a target.
            return None;
        }
        let context = Context::of_run(&record.header, &record.trials, &first.spec);
        Some(explain(&self.headline, &context, record.header.plan.price.as_ref()))
    }
}

impl Row {
    /// Its points, if it was a capacity search.
    #[must_use]
    pub fn at_search(&self) -> Option<&Sweep> {
        self.sweep.as_ref().filter(|sweep| sweep.capacity.is_some())
    }

    /// Its points and how far it kept up, if it was asked at several rates.
    #[must_use]
    pub fn at_rates(&self) -> Option<(&Sweep, &Ladder)> {
        let sweep = self.sweep.as_ref()?;
        Some((sweep, sweep.ladder.as_ref()?))
    }

    /// The knee, if it was asked at several rates and has one.
    #[must_use]
    pub fn knee(&self) -> Option<RateKnee> {
        self.at_rates()?.1.knee
    }

    /// The most serious caveat that is a doubt, as words: `generator busy`.
    #[must_use]
    pub fn main_doubt(&self) -> Option<String> {
        self.caveats
            .iter()
            .map(|counted| &counted.caveat)
            .find(|caveat| caveat.severity > Severity::Note)
            .map(Caveat::name)
    }

    /// Its verdict with its main doubt: `INVALID (1 of 3) generator busy`. Empty without a trial.
    #[must_use]
    pub fn verdict_in_words(&self) -> String {
        self.verdict.map_or_else(String::new, |verdict| {
            let doubt = self.main_doubt().map(|doubt| format!(" {doubt}")).unwrap_or_default();
            format!("{}{doubt}", words::verdict(verdict, &self.invalid_repetitions, self.trials))
        })
    }

    /// Its possible ranks: `1`, `2-3`; the sign for unknown if it has none.
    #[must_use]
    pub fn rank_in_words(&self) -> String {
        words::rank(self.standing.rank, self.standing.rank_interval)
    }

    /// The rank by CPU time per request, in words.
    #[must_use]
    pub fn cpu_rank_in_words(&self) -> String {
        words::rank(self.standing.cpu_rank, self.standing.cpu_rank_interval)
    }

    /// CPU time of a million requests in seconds, of the target and its services together: work that
    /// a target leaves to its database is in it. `None` where there are no services.
    #[must_use]
    pub fn cpu_with_services(&self) -> Option<f64> {
        Some(self.cpu_s_per_million?.median + self.cost.services_cpu_s_per_million?)
    }

    /// A figure over that of the reference, with its interval; `1` for the reference itself.
    #[must_use]
    pub fn to_reference_in_words(&self, reference: Option<&TargetId>, figure: Figure) -> String {
        if reference == Some(&self.target) {
            return "1".into();
        }
        let ratio = self.standing.to_reference.and_then(|to| to.ratio(figure));
        ratio.map_or_else(|| words::UNKNOWN.into(), |ratio| words::ratio_within(&ratio))
    }

    /// For a row with a result that failed in some repetitions: `repetition 2 of 3 failed`.
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
