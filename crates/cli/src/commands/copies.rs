//! The project's targets as they were in a revision: each a copy, whose files are in a git worktree.
use pippin_lab::target::Target;
use pippin_lab::target::place::Place;
use pippin_lab::target::project::prepare;
use pippin_lab::target::revision::{Repository, Revision, Worktree};
use pippin_model::plan::Plan;
use pippin_model::target::TargetId;
use pippin_model::target::project::{FILE, Project, ProjectTarget, TargetSource};
use std::path::{Path, PathBuf};

use super::conventions;
use crate::arguments::BaseFile;
use crate::exit::CliError;
use crate::output::say;

/// What is copied from revisions, and where to.
pub struct Copying<'a> {
    repository: &'a Repository,
    targets: Vec<&'a ProjectTarget>,
    /// What builds share, by their lock files.
    caches: PathBuf,
    /// The run's folder.
    folder: &'a Path,
    /// Whose project file says how the copies are built and started.
    file: BaseFile,
}

/// The targets of one revision. Its files are removed when this is dropped.
pub struct Copies {
    /// In the order of the targets that they are copies of.
    pub targets: Vec<Target>,
    _worktree: Worktree,
}

impl Copies {
    /// The names of the copies.
    pub fn ids(&self) -> Vec<TargetId> {
        self.targets.iter().map(|copy| copy.id.clone()).collect()
    }
}

impl<'a> Copying<'a> {
    /// # Errors
    /// If the folder of caches cannot be found.
    pub fn new(
        repository: &'a Repository,
        targets: Vec<&'a ProjectTarget>,
        place: &Place,
        (folder, file): (&'a Path, BaseFile),
    ) -> Result<Self, CliError> {
        Ok(Self { repository, targets, caches: place.caches()?, folder, file })
    }

    /// The targets of a revision, as `TARGET@LABEL`.
    ///
    /// # Errors
    /// If git cannot write its files, or its project file is wrong.
    pub fn of(&self, revision: &Revision, label: &str) -> Result<Copies, CliError> {
        let name = format!("worktree-{label}-{}", std::process::id());
        let worktree = self.repository.worktree(revision, &self.folder.join(name))?;
        let copies = self.targets.iter().map(|now| self.copy(now, &worktree, label));
        Ok(Copies { targets: copies.collect::<Result<_, _>>()?, _worktree: worktree })
    }

    /// A target as its revision describes it, in its own file. If that revision does not have it, or
    /// the file of the checkout counts, as it is described now.
    fn copy(
        &self,
        now: &ProjectTarget,
        worktree: &Worktree,
        label: &str,
    ) -> Result<Target, CliError> {
        let root = worktree.project_folder();
        let then = if self.file == BaseFile::Own && root.join(FILE).is_file() {
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
        target.id.name.push_str(&format!("@{label}"));
        if let Some(steps) = conventions::complete(&mut target, &self.caches) {
            say(format_args!("{}: {FILE} has no `build`, so it is built by: {steps}", target.id));
        }
        Ok(target)
    }
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
