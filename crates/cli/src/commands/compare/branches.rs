//! `pippin compare A B --target TARGET --plan PLAN`: one target from two branches, measured as two
//! targets of one interleaved run.
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::revision::{Repository, Revision};
use pippin_model::plan::PlanOptions;
use pippin_model::target::TargetId;
use std::path::{Path, PathBuf};
use std::process;

use super::measured::{labels, must_differ, plan_options};
use super::sides::{Side, Sides};
use crate::arguments::CompareArguments;
use crate::commands::run::{self, folder};
use crate::commands::{Shared, catalog, place};
use crate::exit::{self, CliError};
use crate::output;

pub fn run(
    shared: &Shared,
    arguments: &CompareArguments,
    [a, b]: [&str; 2],
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
    let revisions = [repository.revision(a, &target)?, repository.revision(b, &target)?];
    let [a, b] = &revisions;
    if !arguments.force {
        must_differ(target.base(), a, b)?;
    }
    if !arguments.install {
        return Err(CliError::User(format!(
            "{target} must be installed from both branches, in the run's folder: add --install (and --yes without a terminal)"
        )));
    }
    let labels = labels(a, b);
    let ids = labels
        .each_ref()
        .map(|label| TargetId { name: format!("{}@{label}", target.name), ..target.clone() });
    let options = PlanOptions { targets: Some(ids.to_vec()), ..plan_options(arguments)? };
    let plan = run::plan(&catalog, plan, &options)?;
    let folder = folder(&place, arguments.out.as_deref(), &plan.id)?;
    let [id_a, id_b] = ids.clone();
    let sides = Sides([Side::of_revision(a, vec![id_a]), Side::of_revision(b, vec![id_b])]);
    let copies = BranchesFolder::create(&folder)?;
    let code = copies
        .write(&repository, (&target, catalog), &revisions, &labels, &ids)
        .and_then(|catalog| sides.measure(shared, arguments, (&catalog, plan), (&folder, false)));
    if matches!(code, Ok(exit::LAB_FAILURE)) {
        output::say(format_args!("the copies of both branches are left in {}", copies.0.display()));
    } else {
        copies.remove();
    }
    code
}

/// The folder with the copies of both branches.
struct BranchesFolder(PathBuf);

impl BranchesFolder {
    /// A new folder, so that none of the user's is overwritten or removed.
    fn create(folder: &Path) -> Result<Self, CliError> {
        let copies = folder.join(format!("branches-{}", process::id()));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::create_dir(&copies))
            .map_err(CliError::io(format!("create {}", copies.display())))?;
        Ok(Self(copies))
    }

    /// Writes both copies, each to `<branch>/<language>/<name>`, and returns a catalogue of them.
    fn write(
        &self,
        repository: &Repository,
        (target, mut catalog): (&TargetId, Catalog),
        revisions: &[Revision; 2],
        labels: &[String; 2],
        ids: &[TargetId; 2],
    ) -> Result<Catalog, CliError> {
        for ((revision, label), id) in revisions.iter().zip(labels).zip(ids) {
            let folder = self.0.join(label).join(&target.language).join(&target.name);
            repository.write(revision, &folder)?;
            catalog = catalog.with_copy(id, folder);
        }
        Ok(catalog)
    }

    fn remove(&self) {
        // A folder that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
