//! `pippin compare main HEAD` in a repository with a project file: its targets in two revisions,
//! each in a git worktree, measured as targets of one interleaved run.
use pippin_lab::target::place::Place;
use pippin_lab::target::revision::Repository;
use pippin_model::plan::Plan;
use pippin_model::target::project::FILE;

use super::measured::{labels, must_differ, plan_options};
use super::sides::{Side, Sides};
use crate::arguments::CompareArguments;
use crate::commands::copies::{Copies, Copying, plan_of, targets_of};
use crate::commands::run::{self, folder};
use crate::commands::{Shared, catalog};
use crate::exit::CliError;

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
    let named = plan_of(project, arguments.plan.as_deref(), None)?;
    let plan = run::plan(&catalog, named, &plan_options(arguments)?)?;
    let targets = targets_of(project, &plan, arguments.target.as_deref())?;
    let repository = Repository::find(place.root())?;
    let [a, b] = names;
    let (a, b) = (repository.whole(a)?, repository.whole(b)?);
    if !arguments.force {
        must_differ("the repository", &a, &b)?;
    }
    let folder = folder(place, arguments.out.as_deref(), &plan.id)?;
    let copying = Copying::new(&repository, targets, place, (&folder, arguments.base_file))?;
    let [label_a, label_b] = labels(&a, &b);
    let copies = [copying.of(&a, &label_a)?, copying.of(&b, &label_b)?];
    let [of_a, of_b] = copies.each_ref().map(Copies::ids);
    let sides = Sides([Side::of_revision(&a, of_a), Side::of_revision(&b, of_b)]);
    let plan = Plan { targets: sides.ids().cloned().collect(), ..plan };
    let given: Vec<_> = copies.iter().flat_map(|copies| copies.targets.clone()).collect();
    let catalog = catalog.with_given(given, []);
    sides.measure(shared, arguments, (&catalog, plan), (&folder, false))
}
