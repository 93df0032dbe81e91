//! `pippin compare A B --target TARGET --plan PLAN`: one target from two branches, measured as two
//! targets of one interleaved run.
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::revision::{Repository, Revision};
use pippin_model::plan::PlanOptions;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_report::view::View;
use pippin_stats::compare::{Difference, Origin};
use pippin_stats::gate::Planned;
use std::path::{Path, PathBuf};
use std::{process, slice};

use super::compare_measured::{
    Deciding, Decision, Patience, endings, must_differ, plan_options, tell_missing, trials_of,
    within, words,
};
use super::compare_table::{Sides, conclude};
use super::run::{self, folder};
use super::{Shared, catalog, place};
use crate::arguments::CompareArguments;
use crate::exit::{self, CliError};
use crate::output;

/// The target from one branch.
struct Branch {
    revision: Revision,
    /// Its name in the run: `go/net-http@main`.
    id: TargetId,
}

pub fn run(
    shared: &Shared,
    arguments: &CompareArguments,
    names: [&str; 2],
    target: &str,
    plan: &str,
) -> Result<u8, CliError> {
    let place = place()?;
    let catalog = catalog(&place)?;
    let target: TargetId =
        target.parse().map_err(|error: pippin_model::target::TargetIdError| {
            CliError::User(format!("--target: {error}"))
        })?;
    let repository = Repository::find(place.root())?;
    let branches = branches(&repository, arguments, names, &target)?;
    if !arguments.install {
        return Err(CliError::User(format!(
            "{target} must be installed from both branches, in the run's folder: add --install (and --yes without a terminal)"
        )));
    }
    let ids = branches.iter().map(|branch| branch.id.clone()).collect();
    let options = PlanOptions { targets: Some(ids), ..plan_options(arguments)? };
    let plan = run::plan(&catalog, plan, &options)?;
    let folder = folder(&place, arguments.out.as_deref(), &plan.id)?;
    let copies = Copies::within(&folder);
    let [a, b] = &branches;
    let decision = Decision::from(arguments);
    let deciding = Deciding::new(
        &decision,
        Patience::from_repeat(arguments.repeat),
        vec![(a.id.clone(), b.id.clone())],
    );
    let measured = copies
        .write(&repository, &branches, &target, catalog)
        .and_then(|catalog| deciding.measured(shared, arguments, (&catalog, plan), &folder));
    let measured = measured.inspect_err(|_| copies.remove())?;
    let record = &measured.record;
    if record.state == RunState::Interrupted {
        copies.remove();
        return Ok(exit::INTERRUPTED);
    }
    let [a, b] = branches;
    let is_missing = |branch: &&Branch| tell_missing(record, &branch.id, &branch.revision.name);
    if [&a, &b].into_iter().filter(is_missing).count() > 0 {
        output::say(format_args!("the copies of both branches are left in {}", copies.0.display()));
        return Ok(exit::LAB_FAILURE);
    }
    copies.remove();
    let is_shown = measured.show_if_asked(shared, arguments)?;
    conclude(&decision, &Sides { is_shown, ..sides(record, &a, &b) })
}

/// Both branches. Equal files are refused, because any difference would be noise.
fn branches(
    repository: &Repository,
    arguments: &CompareArguments,
    names: [&str; 2],
    target: &TargetId,
) -> Result<[Branch; 2], CliError> {
    let [a, b] = names;
    let (a, b) = (repository.revision(a, target)?, repository.revision(b, target)?);
    if !arguments.force {
        must_differ(target.base(), &a, &b)?;
    }
    let ends = endings(&a, &b);
    let branch = |revision: Revision, end: &str| Branch {
        id: TargetId {
            name: format!("{}@{}{end}", target.name, revision.label()),
            ..target.clone()
        },
        revision,
    };
    Ok([branch(a, ends[0]), branch(b, ends[1])])
}

/// The folder with the copies of both branches.
struct Copies(PathBuf);

impl Copies {
    /// A folder used by this process only, so that no folder of the user's is overwritten or
    /// removed.
    fn within(folder: &Path) -> Self {
        Self(folder.join(format!("branches-{}", process::id())))
    }

    /// Writes both copies, each to `<branch>/<language>/<name>`, and returns a catalogue of them.
    fn write(
        &self,
        repository: &Repository,
        branches: &[Branch; 2],
        target: &TargetId,
        mut catalog: Catalog,
    ) -> Result<Catalog, CliError> {
        if self.0.exists() {
            return Err(CliError::User(format!(
                "{} exists already; remove it, or choose another --out",
                self.0.display()
            )));
        }
        for branch in branches {
            let label = branch.id.name.split_once('@').map_or("", |(_, label)| label);
            let folder = self.0.join(label).join(&target.language).join(&target.name);
            repository.write(&branch.revision, &folder)?;
            catalog = catalog.with_copy(&branch.id, folder);
        }
        Ok(catalog)
    }

    fn remove(&self) {
        // A folder that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn sides(record: &RunRecord, a: &Branch, b: &Branch) -> Sides {
    let [a_trials, b_trials] = [a, b].map(|branch| trials_of(record, slice::from_ref(&branch.id)));
    let view = View::of(record);
    let comparison = within(&view, &a_trials, &b_trials);
    let json = |branch: &Branch| serde_json::json!({"revision": branch.revision.name, "commit": branch.revision.commit, "target": branch.id});
    Sides {
        a: words(&a.revision),
        b: words(&b.revision),
        a_trials,
        b_trials,
        a_planned: Planned::from_record(record),
        b_planned: Planned::from_record(record),
        lost: Vec::new(),
        // An interrupted run does not get here.
        unfinished: Vec::new(),
        trust: vec![view.trust],
        comparison,
        origin: Origin::OneRun,
        is_shown: false,
        differences: differences(record, a, b),
        scan: None,
        goal: view.goal,
        more: vec![("run", record.header.id.clone().into()), ("a", json(a)), ("b", json(b))],
    }
}

/// Other differences. One run has one host, plan and workload, but the branches may be installed in
/// different ways.
fn differences(record: &RunRecord, a: &Branch, b: &Branch) -> Vec<Difference> {
    let (Some(before), Some(after)) =
        (record.header.targets.get(&a.id), record.header.targets.get(&b.id))
    else {
        return Vec::new();
    };
    let route = |route: &Option<String>| route.clone().unwrap_or_else(|| "unknown".into());
    let seen = [
        ("way of installation", route(&before.route), route(&after.route)),
        ("versions", before.versions_in_words(), after.versions_in_words()),
    ];
    seen.into_iter()
        .filter(|(_, a, b)| a != b)
        .map(|(what, a, b)| Difference { what: what.into(), a, b, refuses: false })
        .collect()
}
