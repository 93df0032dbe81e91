//! `pippin store`
use pippin_model::run::RunState;
use pippin_model::text::units::{counted, format_bytes};
use pippin_store::Store;
use pippin_store::removal::{Retention, retention};
use std::collections::{BTreeMap, BTreeSet};

use super::{Shared, print_text};
use crate::arguments::{StoreCommand, StoreKeepArguments};
use crate::exit::CliError;
use crate::output;

pub fn run(shared: &Shared, command: &StoreCommand) -> Result<u8, CliError> {
    let path = shared.store_path()?;
    // Looking creates nothing.
    if !path.exists() {
        return match command {
            StoreCommand::Remove { runs } => Err(CliError::User(format!(
                "there is no run `{}`: no run is kept in {} yet",
                runs.join("`, `"),
                path.display()
            ))),
            _ => print_text(&format!("No run is kept in {} yet.\n", path.display())),
        };
    }
    let store = shared.store()?;
    match command {
        StoreCommand::Size => size(&store),
        StoreCommand::Remove { runs } => remove(&store, runs),
        StoreCommand::Keep(arguments) => keep(&store, arguments),
    }
}

fn size(store: &Store) -> Result<u8, CliError> {
    let size = store.size()?;
    let free = match size.free_bytes {
        0 => String::new(),
        free => format!(", of which {} hold nothing and are used again", format_bytes(free)),
    };
    print_text(&format!(
        "{}: {}{free}, {}\n",
        store.path().display(),
        format_bytes(size.bytes),
        counted(size.runs, "run")
    ))
}

fn remove(store: &Store, names: &[String]) -> Result<u8, CliError> {
    let runs: BTreeSet<String> =
        names.iter().map(|name| store.resolve(name)).collect::<Result<_, _>>()?;
    let baselines = named(store)?;
    let states: BTreeMap<String, RunState> =
        store.list()?.into_iter().map(|run| (run.id, run.state)).collect();
    for run in &runs {
        if let Some(name) = baselines.get(run) {
            return Err(CliError::User(format!(
                "{run} is the baseline {name}: take the name away first (pippin baseline remove {name})"
            )));
        }
        if states.get(run) == Some(&RunState::Running) {
            return Err(CliError::User(format!("{run} is still under way: end it first")));
        }
    }
    remove_all(store, &runs.into_iter().collect::<Vec<_>>())
}

fn keep(store: &Store, arguments: &StoreKeepArguments) -> Result<u8, CliError> {
    let baselines = named(store)?.into_keys().collect();
    let Retention { remove, spared } = retention(&store.list()?, &baselines, arguments.newest);
    let stay = match spared {
        0 => String::new(),
        count => format!(
            "; {} {} kept, as baselines or because they are under way",
            counted(count as u64, "more run"),
            if count == 1 { "is" } else { "are" }
        ),
    };
    if remove.is_empty() {
        return print_text(&format!("There is nothing to remove{stay}.\n"));
    }
    if !arguments.yes {
        return print_text(&format!(
            "This would remove {}, from {} to {}{stay}. Add --yes to remove them.\n",
            counted(remove.len() as u64, "run"),
            remove[remove.len() - 1],
            remove[0],
        ));
    }
    remove_all(store, &remove)
}

/// The runs that are baselines, each with one of its names.
fn named(store: &Store) -> Result<BTreeMap<String, String>, CliError> {
    Ok(store.baselines()?.into_iter().map(|one| (one.run, one.name)).collect())
}

fn remove_all(store: &Store, runs: &[String]) -> Result<u8, CliError> {
    let before = store.size()?.bytes;
    store.remove(runs)?;
    if let Err(error) = store.shrink() {
        output::say(format!(
            "the runs are removed. The file did not become smaller ({error}); Pippin will use the free space again"
        ));
    }
    let freed = before.saturating_sub(store.size()?.bytes);
    print_text(&format!(
        "removed {}, which took {}\n",
        counted(runs.len() as u64, "run"),
        format_bytes(freed)
    ))
}
