//! Checks many targets. Installations run side by side, and so do proofs that measure no time.
//! System packages are installed one at a time, and proofs that measure time run alone.
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, Stage};
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use super::passed::Passed;
use super::{Checked, Checker, Skipped};
use crate::error::LabError;
use crate::install::{Installed, Installer};
use crate::target::catalog::Catalog;

/// Many targets, and how they are to be checked.
pub struct Many<'a> {
    /// Where targets and workloads are.
    pub catalog: &'a Catalog,
    /// Only these workloads; empty for all that a target serves.
    pub only: &'a [String],
    /// For logs and the services' files.
    pub folder: &'a Path,
    /// How many targets are installed and proved at the same time, at least 1.
    pub jobs: usize,
    /// After this instant no target begins, no step of an installation goes on, and no further
    /// variant is proved. System packages are installed to their end.
    pub until: Option<Instant>,
    /// System packages may be installed.
    pub apt_allowed: bool,
    /// Steps may be run.
    pub steps_allowed: bool,
    /// What passed earlier; those targets are left out if [`Many::resume`] is set.
    pub passed: &'a Mutex<Passed>,
    /// Leave out what passed earlier.
    pub resume: bool,
    /// Told what is being done.
    pub say: &'a (dyn Fn(&str) + Sync),
    /// Told each result as it is there.
    pub tell: &'a (dyn Fn(&Checked) + Sync),
    /// Whether the user wants to stop.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

/// A target with the variants to check. It is installed once for all of them.
type Group = Vec<TargetId>;

/// Why nothing of a group is proved.
enum Missing {
    /// It cannot be installed here.
    Unavailable(Failure),
    /// The time was over before it was installed.
    NoTimeLeft,
}

impl Many<'_> {
    /// Checks them all; the results are in the order of the names.
    ///
    /// # Errors
    /// If a workload that a target names is not there (before anything is installed), the lab
    /// itself fails, or the user stops it.
    pub fn check(&self, targets: &[TargetId]) -> Result<Vec<Checked>, LabError> {
        let mut results = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for id in targets {
            if let Some(why) = self.reason_to_skip(id)? {
                results.push(Checked::skipped(id.clone(), why));
            } else if let Some(group) =
                groups.last_mut().filter(|group| group[0].base() == id.base())
            {
                group.push(id.clone());
            } else {
                groups.push(vec![id.clone()]);
            }
        }
        results.iter().for_each(|checked| (self.tell)(checked));
        // In portions: at a time limit, targets are then left that were not begun, and none that
        // were installed in vain.
        for portion in groups.chunks(self.jobs.max(1)) {
            if self.is_late() {
                let late = portion.iter().flatten();
                results.extend(late.map(|id| self.skip(id, Skipped::NoTimeLeft)));
                continue;
            }
            results.extend(self.portion(portion)?);
        }
        results.sort_by(|a, b| a.target.cmp(&b.target));
        Ok(results)
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn skip(&self, id: &TargetId, why: Skipped) -> Checked {
        let skipped = Checked::skipped(id.clone(), why);
        (self.tell)(&skipped);
        skipped
    }

    /// Installs everything before it proves anything, so that no proof competes with a compiler.
    fn portion(&self, groups: &[Group]) -> Result<Vec<Checked>, LabError> {
        let installed = side_by_side(groups, |_, group| self.install(&group[0]))?;
        let quiet = RwLock::new(());
        let work: Vec<(&Group, Result<Installed, Missing>)> =
            groups.iter().zip(installed).collect();
        let checked = side_by_side(&work, |number, (group, installed)| {
            self.prove(number, group, installed, &quiet)
        })?;
        Ok(checked.into_iter().flatten().collect())
    }

    fn prove(
        &self,
        number: usize,
        group: &[TargetId],
        installed: &Result<Installed, Missing>,
        quiet: &RwLock<()>,
    ) -> Result<Vec<Checked>, LabError> {
        let folder = self.folder.join(number.to_string());
        std::fs::create_dir_all(&folder)
            .map_err(LabError::io(format!("create {}", folder.display())))?;
        let installer = self.installer(self.interrupted);
        let (catalog, only) = (self.catalog, self.only);
        let checker = Checker { catalog, installer: &installer, folder: &folder, only };
        let one = |(nth, id): (usize, &TargetId)| match installed {
            Err(Missing::NoTimeLeft) => Ok(self.skip(id, Skipped::NoTimeToInstall)),
            // Something of what was installed is proved in any case.
            Ok(_) if nth > 0 && self.is_late() => Ok(self.skip(id, Skipped::NoTimeLeft)),
            Ok(installed) => self.note(checker.prove(id, installed, quiet)?),
            Err(Missing::Unavailable(failure)) => {
                let failure = Failure { stage: Stage::Install, ..failure.clone() };
                self.note(Checked { failure: Some(failure), ..Checked::new(id.clone()) })
            }
        };
        group.iter().enumerate().map(one).collect()
    }

    fn install(&self, id: &TargetId) -> Result<Result<Installed, Missing>, LabError> {
        let stops = || (self.interrupted)() || self.is_late();
        match self.installer(&stops).install(&self.catalog.target(id)?) {
            Ok(installed) => Ok(Ok(installed)),
            Err(LabError::Target(failure)) => Ok(Err(Missing::Unavailable(failure))),
            Err(LabError::Interrupted) if !(self.interrupted)() => Ok(Err(Missing::NoTimeLeft)),
            Err(other) => Err(other),
        }
    }

    fn note(&self, checked: Checked) -> Result<Checked, LabError> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).note(self.catalog, &checked)?;
        (self.tell)(&checked);
        Ok(checked)
    }

    fn reason_to_skip(&self, id: &TargetId) -> Result<Option<Skipped>, LabError> {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(if super::workloads(self.catalog, id, self.only)?.is_empty() {
            Some(Skipped::NoSuchWorkload)
        } else if self.resume && passed.holds(self.catalog, id)? {
            Some(Skipped::PassedBefore)
        } else {
            None
        })
    }

    fn installer<'a>(&'a self, interrupted: &'a dyn Fn() -> bool) -> Installer<'a> {
        Installer {
            apt_allowed: self.apt_allowed,
            steps_allowed: self.steps_allowed,
            say: self.say,
            interrupted,
        }
    }
}

/// Does the same with each item at the same time, a thread for each; the results in their order.
fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(usize, &T) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = items
            .iter()
            .enumerate()
            .map(|(number, item)| scope.spawn(move || work(number, item)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
