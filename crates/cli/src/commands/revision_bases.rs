//! Gates that compare with a revision of the user's own repository, such as `goodput > -5% vs
//! main`. Its targets are measured in the same run, each from a git worktree.
use pippin_lab::target::Target;
use pippin_lab::target::place::Place;
use pippin_lab::target::revision::Repository;
use pippin_model::plan::Plan;
use pippin_model::target::TargetId;
use pippin_model::target::project::{LANGUAGE, Project};
use pippin_model::verdict::gate::Gate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::base::Checkout;
use super::copies::{Copies, Copying, targets_of};
use super::meaning::Meaning;
use super::{Shared, base};
use crate::arguments::BaseFile;
use crate::exit::CliError;

/// The revisions that gates name. Their targets are measured beside the plan's own.
#[derive(Default)]
pub struct RevisionBases {
    /// By revision: which copy belongs to each target.
    then: BTreeMap<String, BTreeMap<TargetId, TargetId>>,
    copies: Vec<Copies>,
    /// Whether this is a project in a repository of git.
    is_in_git: bool,
}

/// Where the files of revisions go, and how they are started.
#[derive(Clone, Copy)]
pub struct To<'a> {
    /// The run's folder.
    pub folder: &'a Path,
    /// Whose project file says how they are built and started.
    pub file: BaseFile,
}

impl RevisionBases {
    /// Finds the revisions: base names in gates that are neither targets of the plan nor stored
    /// runs. Writes their files below the run's folder.
    ///
    /// # Errors
    /// If the plan has no target that is a command of the project, or git cannot write the files.
    pub fn prepare(
        shared: &Shared,
        place: &Place,
        project: Option<&Project>,
        plan: &Plan,
        gates: &[&Gate],
        to: To<'_>,
    ) -> Result<Self, CliError> {
        let names: Vec<&String> =
            gates.iter().filter_map(|gate| gate.condition.base.as_ref()).collect();
        let mut bases = Self::default();
        let (Some(project), false) = (project, names.is_empty()) else { return Ok(bases) };
        let Ok(repository) = Repository::find(place.root()) else { return Ok(bases) };
        bases.is_in_git = true;
        let store = shared.store()?;
        let mut labels = BTreeSet::new();
        for name in names {
            let target = plan.targets.iter().find(|target| is_named(target, name));
            let is_base = name == base::NAME && target.is_none();
            let is_revision = is_base
                || Meaning::of(name, target, Some(&repository), &store)? == Meaning::Revision;
            if bases.then.contains_key(name) || !is_revision {
                continue;
            }
            let revision = if is_base {
                base::find(
                    &repository,
                    &Checkout::from_repository(&repository)?,
                    None,
                    &base::variable,
                )?
            } else {
                repository.whole(name)?
            };
            // `feature/x` and `feature-x` have the same label.
            let mut label = revision.label();
            if !labels.insert(label.clone()) {
                label = format!("{label}-{}", revision.short_commit());
            }
            let targets = targets_of(project, plan, None)?;
            let ids: Vec<TargetId> = targets.iter().map(|target| target.id()).collect();
            let copying = Copying::new(&repository, targets, place, (to.folder, to.file))?;
            let copies = copying.of(&revision, &label)?;
            bases.then.insert(name.clone(), ids.into_iter().zip(copies.ids()).collect());
            bases.copies.push(copies);
        }
        Ok(bases)
    }

    /// The copies of targets, to be measured too.
    pub fn targets(&self) -> Vec<Target> {
        self.copies.iter().flat_map(|copies| copies.targets.clone()).collect()
    }

    /// Whether no gate names a revision.
    pub fn is_empty(&self) -> bool {
        self.then.is_empty()
    }

    /// Whether bases may be revisions here.
    pub fn were_looked_for(&self) -> bool {
        self.is_in_git
    }

    /// The copies of the plan's targets in this revision, if it is one.
    pub fn copies(&self, name: &str) -> Option<&BTreeMap<TargetId, TargetId>> {
        self.then.get(name)
    }

    /// Whether a target is a copy from a revision. No gate judges those.
    pub fn holds(&self, target: &TargetId) -> bool {
        self.then.values().any(|then| then.values().any(|copy| copy == target))
    }
}

/// Whether the base of a gate is this target. For the user's own, `shop` is short for `own/shop`.
pub fn is_named(target: &TargetId, base: &str) -> bool {
    target.to_string() == base
        || (target.language == LANGUAGE && target.variant.is_none() && target.name == base)
}
