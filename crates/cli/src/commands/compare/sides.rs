//! Two sides of one run: what is compared with what, and what both are called.
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::revision::Revision;
use pippin_model::plan::Plan;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_report::view::View;
use pippin_stats::compare::{Comparison, Difference, Origin};
use pippin_stats::gate::Planned;
use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use super::measured::{Deciding, Decision, Patience, tell_missing, trials_of, within};
use super::table::{Compared, conclude};
use crate::arguments::CompareArguments;
use crate::commands::Shared;
use crate::commands::gates::remove_files;
use crate::exit::{self, CliError};
use crate::output::print;

/// One side of a comparison within a run.
pub struct Side {
    /// The side in words.
    pub words: String,
    /// If the side is a revision: its name, and its commit.
    pub revision: Option<(String, String)>,
    /// Its targets.
    pub ids: Vec<TargetId>,
}

impl Side {
    /// Targets that are called as they are.
    pub fn of_targets(ids: &[TargetId]) -> Self {
        let words: Vec<String> = ids.iter().map(ToString::to_string).collect();
        Self { words: words.join(", "), revision: None, ids: ids.to_vec() }
    }

    /// The copies of a revision.
    pub fn of_revision(revision: &Revision, ids: Vec<TargetId>) -> Self {
        let words = format!("{} (commit {})", revision.name, revision.short_commit());
        Self { words, revision: Some((revision.name.clone(), revision.commit.clone())), ids }
    }

    /// For programs; `None` if the side has no name but those of its targets.
    fn json(&self) -> Option<serde_json::Value> {
        self.revision.as_ref().map(|(revision, commit)| {
            serde_json::json!({"revision": revision, "commit": commit, "targets": self.ids})
        })
    }
}

/// A and B. Each target of B is compared with the one in its place in A, or with the only one.
pub struct Sides(pub [Side; 2]);

impl Sides {
    /// The first target, which all others are compared with.
    pub fn first_with_each(ids: &[TargetId]) -> Self {
        Self([&ids[..1], &ids[1..]].map(Side::of_targets))
    }

    /// The targets of both sides.
    pub fn ids(&self) -> impl Iterator<Item = &TargetId> {
        self.0.iter().flat_map(|side| &side.ids)
    }

    /// What is compared with what: the target of A, then that of B.
    pub fn pairs(&self) -> impl Iterator<Item = (&TargetId, &TargetId)> {
        let [a, b] = &self.0;
        a.ids.iter().cycle().zip(&b.ids)
    }

    /// Measures both sides as targets of one run, and compares them. With `is_whole`, the run is shown as
    /// `pippin run` shows it.
    ///
    /// # Errors
    /// If the plan cannot be run or its page cannot be written.
    pub fn measure(
        &self,
        shared: &Shared,
        arguments: &CompareArguments,
        measured: (&Catalog, Plan),
        (folder, is_whole): (&Path, bool),
    ) -> Result<u8, CliError> {
        let decision = Decision::from(arguments);
        let patience = Patience::from_repeat(arguments.repeat);
        let deciding = Deciding::new(&decision, patience, self);
        let (record, view) = deciding.measured(shared, arguments, measured, folder)?;
        let is_asked = is_whole || arguments.detail.verbose || arguments.explain;
        let is_shown = is_asked && !arguments.json.is_stdout();
        if is_shown {
            shared.print_result(&view, &arguments.detail)?;
            print(b"\n")?;
        }
        if record.state == RunState::Interrupted {
            remove_files(&arguments.gates);
            return Ok(exit::INTERRUPTED);
        }
        if self.ids().filter(|id| tell_missing(&record, id)).count() > 0 {
            remove_files(&arguments.gates);
            return Ok(exit::LAB_FAILURE);
        }
        conclude(&decision, &Compared { is_shown, ..self.compared(&record, view) })
    }

    /// Compares both sides of a run that was measured to its end.
    pub fn compared(&self, record: &RunRecord, view: View) -> Compared {
        let [a, b] = &self.0;
        let of = |id: &TargetId| trials_of(record, slice::from_ref(id));
        let targets =
            self.pairs().flat_map(|(a, b)| within(&view, &of(a), &of(b)).targets).collect();
        let run = ("run", Some(record.header.id.clone().into()));
        let more = [run, ("a", a.json()), ("b", b.json())];
        Compared {
            a: a.words.clone(),
            b: b.words.clone(),
            a_trials: trials_of(record, &a.ids),
            b_trials: trials_of(record, &b.ids),
            a_planned: Planned::from_record(record),
            b_planned: Planned::from_record(record),
            lost: Vec::new(),
            missing: BTreeMap::new(),
            // An interrupted run does not get here.
            unfinished: Vec::new(),
            comparison: Comparison { targets, only_a: Vec::new(), only_b: Vec::new() },
            origin: Origin::OneRun,
            trust: vec![view.trust],
            is_shown: false,
            differences: self.differences(record),
            scan: view.scan,
            goal: view.goal,
            more: more.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        }
    }

    /// Other differences between two revisions. One run has one host, plan and workload, but each may
    /// be installed in its own way.
    fn differences(&self, record: &RunRecord) -> Vec<Difference> {
        if self.0.iter().any(|side| side.revision.is_none()) {
            return Vec::new();
        }
        let several = self.0[1].ids.len() > 1;
        let of_pair = |(a, b): (&TargetId, &TargetId)| {
            let targets = &record.header.targets;
            let (Some(before), Some(after)) = (targets.get(a), targets.get(b)) else {
                return Vec::new();
            };
            let route = |route: &Option<String>| route.clone().unwrap_or_else(|| "unknown".into());
            let seen = [
                ("way of installation", route(&before.route), route(&after.route)),
                ("versions", before.versions_in_words(), after.versions_in_words()),
            ];
            let what = |what: &str| if several { format!("{b}: {what}") } else { what.into() };
            let differ = seen.into_iter().filter(|(_, a, b)| a != b);
            differ
                .map(|(name, a, b)| Difference { what: what(name), a, b, refuses: false })
                .collect()
        };
        self.pairs().flat_map(of_pair).collect()
    }
}
