//! `pippin baseline`
use pippin_store::baselines;

use super::{Shared, print_text};
use crate::arguments::{BaselineCommand, BaselineSetArguments};
use crate::exit::CliError;

pub fn run(shared: &Shared, command: &BaselineCommand) -> Result<u8, CliError> {
    match command {
        BaselineCommand::Set(arguments) => set(shared, arguments),
        BaselineCommand::List => list(shared),
        BaselineCommand::Remove { name } => remove(shared, name),
    }
}

fn set(shared: &Shared, arguments: &BaselineSetArguments) -> Result<u8, CliError> {
    let name = &arguments.name;
    baselines::check_name(name).map_err(CliError::User)?;
    let store = shared.store()?;
    let run = store.resolve(&arguments.run)?;
    let before = store.set_baseline(name, &run)?.filter(|before| *before != run);
    let instead = before.map_or_else(String::new, |before| format!(" instead of {before}"));
    print_text(&format!("{name} is {run}{instead}; gates can say `vs {name}`\n"))
}

fn list(shared: &Shared) -> Result<u8, CliError> {
    // Looking creates nothing.
    let all = if shared.store_path()?.exists() { shared.store()?.baselines()? } else { Vec::new() };
    if all.is_empty() {
        return print_text("No run has a name yet: pippin baseline set NAME RUN\n");
    }
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = all.iter().map(|one| format!("{:<width$}  {}\n", one.name, one.run));
    print_text(&lines.collect::<String>())
}

fn remove(shared: &Shared, name: &str) -> Result<u8, CliError> {
    if !shared.store_path()?.exists() || !shared.store()?.remove_baseline(name)? {
        let why = "; `pippin baseline list` shows the names";
        return Err(CliError::User(format!("there is no baseline `{name}`{why}")));
    }
    print_text(&format!("{name} is no name of a run any more; the run stays\n"))
}
