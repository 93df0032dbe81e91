//! Everything of a run that is rendered, as one serialisable value. Terminal, Markdown, CSV, JSON
//! and HTML are all made from it, so they cannot disagree.
//!
//! | module | what it makes |
//! |---|---|
//! | [`run`] | title, time, load in words, host, the record of how figures were taken |
//! | [`answer`] | the answer of a load in one line |
//! | [`calm`] | how calm the host was |
//! | [`conclusion`] | the result in a few sentences |
//! | [`row`] | one target: rank, figures, spans, use, cost, caveats, failure |
//! | [`life`] | starts, memory and end of the targets |
//! | [`load`] | one load of a URL in full |
//! | [`curve`] | quantiles and distributions for charts |
//! | [`series`] | figures over time |
//! | [`sweep`] | the points of a sweep, of several rates or of a capacity search |
//! | [`rates`] | what each of several rates cost, as text |
//! | [`events`] | streams of server-sent events |
//! | [`scan`] | a parameter of a server over its values, and the knee |
//! | [`overload`] | what a target does beyond its capacity |
//! | [`phases`] | the phases of a device load |
//! | [`stages`] | the stages of a load that changes by plan |
//! | [`warm_ups`] | how targets warm up, in words |
//! | [`walks`] | the steps of a scenario |
//! | [`spoken`] | the protocols of a run, and that of each target |
//! | [`agents`] | the agents that applied the loads |
//! | [`doubts`] | caveats by name over all targets |
//! | [`missing`] | targets without a result, by cause |
//! | [`conformance`] | answers at the edges of HTTP/1.1, by target |
//! | [`published`] | published figures beside your own |
//! | `published_column` | what the columns of published tables say |
pub mod agents;
pub mod answer;
pub mod calm;
pub mod conclusion;
pub mod conformance;
pub mod curve;
pub mod doubts;
pub mod events;
pub mod lead;
pub mod life;
pub mod load;
pub mod missing;
pub mod overload;
pub mod phases;
pub mod published;
pub(crate) mod published_column;
pub mod rates;
pub mod row;
pub mod run;
pub mod scan;
pub mod series;
pub mod spoken;
pub mod stages;
pub mod sweep;
pub mod walks;
pub mod warm_ups;

use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::plan::Plan;
use pippin_model::run::life::TargetLife;
use pippin_model::run::{Calibration, RunRecord, TargetInfo};
use pippin_model::target::TargetId;
use pippin_model::text::printable::make_printable;
use pippin_model::trial::Step;
use pippin_model::trial::explained::Explained;
use pippin_model::verdict::Verdict;
use pippin_model::workload::Workload;
use pippin_stats::planning::Progress;
use pippin_stats::summary::trust::Trust;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use agents::AgentView;
use conformance::TargetConformance;
use doubts::Doubt;
use load::LoadView;
use published::PublishedTable;
use row::Row;
use run::RunFacts;
use scan::ScanView;

/// The version of the JSON form. It rises when a key is removed or changes its meaning.
pub const SCHEMA: u32 = 1;

/// A run, ready to be rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was done, when and how.
    pub run: RunFacts,
    /// Whether the run can be trusted: the first thing that every form says.
    pub trust: Trust,
    /// The result in a few sentences.
    #[serde(default)]
    pub conclusion: String,
    /// One for each target of the plan: first those with a rank, then those without one, then those
    /// without a result.
    pub rows: Vec<Row>,
    /// How well the figures are known; absent if the run had no goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Progress>,
    /// The values of a parameter; absent if the targets are no scan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<ScanView>,
    /// Every load of a URL in full; empty if targets of a catalogue were measured.
    #[serde(default)]
    pub loads: Vec<LoadView>,
    /// The agents that applied the loads; empty if only this machine did.
    #[serde(default)]
    pub agents: Vec<AgentView>,
    /// Every caveat by name, the gravest first.
    pub doubts: Vec<Doubt>,
    /// How targets answered at the edges of HTTP/1.1; empty if this was not checked.
    #[serde(default)]
    pub conformance: Vec<TargetConformance>,
    /// What a profiler saw of the targets; empty if it was not asked for. No record keeps it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<Explained>,
    /// The life of each target; empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lives: Vec<TargetLife>,
    /// Published figures beside your own.
    #[serde(rename = "printed")]
    pub published: Option<PublishedTable>,
    /// The host.
    pub host: Fingerprint,
    /// The resolved plan.
    pub plan: Plan,
    /// The workload.
    pub workload: Workload,
    /// Manifest, route, versions of each target.
    pub targets: BTreeMap<TargetId, TargetInfo>,
    /// The generator's ceiling on this machine, if it was calibrated.
    pub calibration: Option<Calibration>,
}

impl View {
    /// The view of a run, finished or not. The same record always gives the same view: intervals
    /// are drawn with the run's own seed.
    #[must_use]
    pub fn of(record: &RunRecord) -> Self {
        Self::beside(record, None)
    }

    /// The view of a run, with its targets compared with `reference`, or with the best one.
    #[must_use]
    pub fn beside(record: &RunRecord, reference: Option<&TargetId>) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(record.header.seed);
        let (rows, field) = row::rows(record, reference, &mut rng);
        let run = RunFacts { reference: field.reference.clone(), ..RunFacts::from_record(record) };
        let scan = scan::from_record(record, &rows);
        let knee = scan.as_ref().map(ScanView::words).unwrap_or_default();
        let conclusion = conclusion::from_rows(&run, &rows, &field, reference);
        let goal = Progress::of_run(record);
        let known = goal.as_ref().map(Progress::outcome).unwrap_or_default();
        let mut loads = LoadView::all(record);
        // What is doubted of a single load is what is doubted of its row.
        if let ([load], [row]) = (&mut loads[..], &rows[..]) {
            load.caveats = row.summary.caveats.iter().map(|it| it.caveat.clone()).collect();
            load.verdict = row.summary.verdict.unwrap_or(load.verdict);
        }
        // What is doubted of a step is what is doubted of its point.
        if let [row] = &rows[..] {
            let points = row.sweep.iter().flat_map(|sweep| &sweep.points);
            for point in points {
                let mut of_point = loads.iter_mut().filter(|load| load.step == Some(point.at));
                // Several repetitions have one point, and a load of its own each.
                if let (Some(load), None) = (of_point.next(), of_point.next()) {
                    load.verdict = point.verdict;
                }
            }
        }
        let view = Self {
            schema: SCHEMA,
            trust: Trust::from_summaries(
                &rows.iter().map(|row| &row.summary).collect::<Vec<_>>(),
                &record.trials,
            ),
            conclusion: format!("{knee} {conclusion} {known}").trim().into(),
            goal,
            scan,
            run,
            doubts: doubts::from_rows(&rows),
            published: published::from_record(record, &rows),
            rows,
            loads,
            conformance: conformance::from_record(record),
            explained: Vec::new(),
            lives: record.lives.clone(),
            agents: agents::from_record(record),
            host: record.header.host.clone(),
            plan: record.header.plan.clone(),
            workload: record.header.workload.clone(),
            targets: record.header.targets.clone(),
            calibration: record.header.calibration.clone(),
        };
        view.printable()
    }

    /// The verdict of a target at a step, as every form of this run gives it. What has no result is
    /// INVALID.
    #[must_use]
    pub fn verdict_of(&self, target: &TargetId, step: Option<Step>) -> Verdict {
        let row = self.rows.iter().find(|row| row.target == *target);
        let points = row.and_then(|row| row.sweep.as_ref()).map_or(&[][..], |it| &it.points);
        let point = points.iter().find(|point| Some(point.at) == step).map(|point| point.verdict);
        point.or_else(|| row?.verdict).unwrap_or(Verdict::Invalid)
    }

    /// This view without control characters: others wrote the titles, versions, logs and so on. All
    /// forms are made from the view, so none of them has to do this.
    fn printable(self) -> Self {
        // This cannot fail: both directions are derived.
        let Ok(mut value) = serde_json::to_value(&self) else { return self };
        let has_changed = make_printable(&mut value);
        if has_changed { serde_json::from_value(value).unwrap_or(self) } else { self }
    }

    /// The rows that have a result.
    pub fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.goodput_per_s.is_some())
    }

    /// The rows without a result, with the reason in `failure` if it is known.
    pub fn without_result(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.goodput_per_s.is_none())
    }
}
