//! `pippin compare main HEAD` in a repository with a project file: its targets in two revisions,
//! each in a git worktree, measured as targets of one interleaved run.
use pippin_lab::target::Target;
use pippin_lab::target::place::Place;
use pippin_lab::target::project::prepare;
use pippin_lab::target::revision::{Repository, Revision, Worktree};
use pippin_model::plan::Plan;
use pippin_model::run::{RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::target::project::{FILE, Project, ProjectTarget, TargetSource};
use pippin_report::view::View;
use pippin_stats::compare::{Comparison, Origin};
use pippin_stats::gate::Planned;
use std::path::Path;
use std::slice;

use super::compare_measured::{
    Deciding, Decision, Patience, endings, must_differ, plan_options, tell_missing, trials_of,
    within, words,
};
use super::compare_table::{Sides, conclude};
use super::run::{self, folder};
use super::{Shared, catalog, conventions};
use crate::arguments::{BaseFile, CompareArguments};
use crate::exit::{self, CliError};
use crate::output::say;

/// The project's targets on one side.
pub struct Side {
    /// The side in words.
    pub words: String,
    /// For programs: the name of the revision, and its commit.
    pub revision: (String, String),
    pub ids: Vec<TargetId>,
}

/// Whether both names are revisions of the project's repository.
pub fn are_revisions(place: &Place, names: [&str; 2]) -> bool {
    Repository::find(place.root())
        .is_ok_and(|repository| names.iter().all(|name| repository.knows(name)))
}

pub fn run(
    shared: &Shared,
    arguments: &CompareArguments,
    names: [&str; 2],
    place: &Place,
) -> Result<u8, CliError> {
    let catalog = catalog(place)?;
    let project = catalog.project().ok_or_else(|| CliError::User(format!("no {FILE} here")))?;
    let options = plan_options(arguments)?;
    let named = plan_of(project, arguments.plan.as_deref(), None)?;
    let plan = run::plan(&catalog, named, &options)?;
    let targets = targets_of(project, &plan, arguments.target.as_deref())?;
    let repository = Repository::find(place.root())?;
    let revisions = revisions(&repository, names, arguments.force)?;
    let caches = place.caches()?;
    let folder = folder(place, arguments.out.as_deref(), &plan.id)?;
    let mut worktrees = Vec::new();
    let mut sides = Vec::new();
    let mut copies = Vec::new();
    for (revision, end) in revisions {
        let path =
            folder.join(format!("worktree-{}{end}-{}", revision.label(), std::process::id()));
        let worktree = repository.worktree(&revision, &path)?;
        let mut ids = Vec::new();
        for target in &targets {
            let end = format!("@{}{end}", revision.label());
            let copy = copy(target, &worktree, (&end, &caches), arguments.base_file)?;
            ids.push(copy.id.clone());
            copies.push(copy);
        }
        let (words, named) = (words(&revision), (revision.name, revision.commit));
        sides.push(Side { words, revision: named, ids });
        worktrees.push(worktree);
    }
    let ids: Vec<TargetId> = sides.iter().flat_map(|side| side.ids.clone()).collect();
    let plan = Plan { targets: ids.clone(), ..plan };
    let pairs = sides[0].ids.iter().cloned().zip(sides[1].ids.iter().cloned()).collect();
    let decision = Decision::from(arguments);
    let deciding = Deciding::new(&decision, Patience::from_repeat(arguments.repeat), pairs);
    let catalog = catalog.with_given(copies, []);
    let measured = deciding.measured(shared, arguments, (&catalog, plan), &folder)?;
    drop(worktrees);
    let record = &measured.record;
    if record.state == RunState::Interrupted {
        return Ok(exit::INTERRUPTED);
    }
    let missing = ids.iter().filter(|id| tell_missing(record, id, id)).count();
    if missing > 0 {
        return Ok(exit::LAB_FAILURE);
    }
    let is_shown = measured.show_if_asked(shared, arguments)?;
    conclude(&decision, &Sides { is_shown, ..compared(record, &sides) })
}

/// The named plan, the one that is called so by default, or the only one.
pub fn plan_of<'a>(
    project: &'a Project,
    named: Option<&'a str>,
    usual: Option<&'a str>,
) -> Result<&'a str, CliError> {
    let usual = usual.filter(|usual| project.plan_ids().any(|plan| plan == usual));
    if let Some(plan) = named.or(usual) {
        return Ok(plan);
    }
    let plans: Vec<&String> = project.plan_ids().collect();
    match plans.as_slice() {
        [one] => Ok(one),
        [] => Err(CliError::User(format!("{FILE} has no plan; add one, as [plan.ci]"))),
        several => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            Err(CliError::User(format!(
                "{FILE} has several plans; add --plan with one of {}",
                names.join(", ")
            )))
        }
    }
}

/// The targets of the plan whose source is in the repository.
pub fn targets_of<'a>(
    project: &'a Project,
    plan: &Plan,
    only: Option<&str>,
) -> Result<Vec<&'a ProjectTarget>, CliError> {
    let only = only.map(|name| project.own(name)).transpose().map_err(CliError::User)?.flatten();
    let targets: Vec<&ProjectTarget> = project
        .targets
        .values()
        .filter(|target| target.how == TargetSource::Command && plan.targets.contains(&target.id()))
        .filter(|target| only.as_ref().is_none_or(|only| target.id().to_string() == *only))
        .collect();
    if targets.is_empty() {
        return Err(CliError::User(format!(
            "plan {} has no target with a command in {FILE}, and only those can be compared here",
            plan.id
        )));
    }
    Ok(targets)
}

/// Both revisions. If their labels are equal, each gets an ending that tells them apart.
fn revisions(
    repository: &Repository,
    [a, b]: [&str; 2],
    force: bool,
) -> Result<[(Revision, &'static str); 2], CliError> {
    let (a, b) = (repository.whole(a)?, repository.whole(b)?);
    if !force {
        must_differ("the repository", &a, &b)?;
    }
    let ends = endings(&a, &b);
    Ok([(a, ends[0]), (b, ends[1])])
}

/// A target as its revision describes it, in its own file. If that revision does not have it, or the
/// file of the checkout counts, as it is described now.
pub fn copy(
    now: &ProjectTarget,
    worktree: &Worktree,
    (end, caches): (&str, &Path),
    file: BaseFile,
) -> Result<Target, CliError> {
    let root = worktree.project_folder();
    let then = if file == BaseFile::Own && root.join(FILE).is_file() {
        Project::read(&root)
            .map_err(|error| CliError::User(error.to_string()))?
            .targets
            .remove(&now.manifest.name)
            .filter(|then| then.how == TargetSource::Command)
    } else {
        None
    };
    let mut target = prepare(then.as_ref().unwrap_or(now), &root)?;
    target.revision = Some(worktree.commit().into());
    // Always use the present workload, whatever the revision says.
    target.manifest.workloads.clone_from(&now.manifest.workloads);
    target.id.name.push_str(end);
    if let Some(steps) = conventions::complete(&mut target, caches) {
        say(format_args!("{}: {FILE} has no `build`, so it is built by: {steps}", target.id));
    }
    Ok(target)
}

pub fn compared(record: &RunRecord, sides: &[Side]) -> Sides {
    let view = View::of(record);
    let pairs = sides[0].ids.iter().zip(&sides[1].ids);
    let targets = pairs
        .flat_map(|(a, b)| {
            let [a, b] = [a, b].map(|id| trials_of(record, slice::from_ref(id)));
            within(&view, &a, &b).targets
        })
        .collect();
    let json = |side: &Side| serde_json::json!({"revision": side.revision.0, "commit": side.revision.1, "targets": side.ids});
    Sides {
        a: sides[0].words.clone(),
        b: sides[1].words.clone(),
        a_trials: trials_of(record, &sides[0].ids),
        b_trials: trials_of(record, &sides[1].ids),
        a_planned: Planned::from_record(record),
        b_planned: Planned::from_record(record),
        lost: Vec::new(),
        unfinished: Vec::new(),
        trust: vec![view.trust],
        comparison: Comparison { targets, only_a: Vec::new(), only_b: Vec::new() },
        origin: Origin::OneRun,
        is_shown: false,
        differences: Vec::new(),
        scan: None,
        goal: view.goal,
        more: vec![
            ("run", record.header.id.clone().into()),
            ("a", json(&sides[0])),
            ("b", json(&sides[1])),
        ],
    }
}
