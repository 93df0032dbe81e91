//! One file a command.
mod calibrate;
mod capacity;
mod compare;
mod compare_branches;
mod compare_table;
mod consent;
mod doctor;
mod export;
mod gates;
mod history;
mod load;
mod report;
mod run;
mod serve;
mod targets;

use clap::CommandFactory;
use pippin_lab::catalog::Catalog;
use pippin_store::Store;
use std::path::PathBuf;

use crate::arguments::{Arguments, Command};
use crate::exit::CliError;
use crate::output::print;

/// What every command may need.
pub struct Shared {
    store: Option<PathBuf>,
    quiet: bool,
}

impl Shared {
    /// Opens the database.
    fn store(&self) -> Result<Store, CliError> {
        Ok(Store::open(&self.store_path()?)?)
    }

    /// Where the database is (docs/decisions/loads-are-runs.md): the given file, or
    /// `.pippin/pippin.db` of the checkout that the current folder lies in, or `pippin/pippin.db` in
    /// the user's folder for states (XDG Base Directory Specification).
    fn store_path(&self) -> Result<PathBuf, CliError> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        if let Ok(catalog) = Catalog::find(&here()?) {
            return Ok(catalog.root().join(".pippin/pippin.db"));
        }
        // The specification has relative paths ignored.
        let folder = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
        };
        folder("XDG_STATE_HOME")
            .or_else(|| Some(folder("HOME")?.join(".local/state")))
            .map(|states| states.join("pippin/pippin.db"))
            .ok_or_else(|| {
                CliError::User("HOME is not set, so that there is no place for the database; name one with --store".into())
            })
    }
}

/// Carries out a command; the exit code.
pub fn run(arguments: Arguments) -> Result<u8, CliError> {
    let shared = Shared { store: arguments.store, quiet: arguments.quiet };
    match arguments.command {
        Command::Run(arguments) => run::run(&shared, &arguments),
        Command::Load(arguments) => load::run(&shared, &arguments),
        Command::Targets(command) => targets::run(&shared, command),
        Command::Report(arguments) => report::run(&shared, &arguments),
        Command::Capacity(arguments) => capacity::run(&shared, &arguments),
        Command::Compare(arguments) => compare::run(&shared, &arguments),
        Command::Doctor(arguments) => doctor::run(&shared, &arguments),
        Command::Calibrate(arguments) => calibrate::run(&shared, &arguments),
        Command::Export(arguments) => export::run(&shared, &arguments),
        Command::History(arguments) => history::run(&shared, &arguments),
        Command::Serve(arguments) => serve::run(&shared, &arguments),
        Command::Completions { shell } => {
            // Into memory: it panics where it cannot write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "pippin", &mut script);
            print(&script)
        }
        Command::Man => man(),
    }
}

fn man() -> Result<u8, CliError> {
    let mut page = Vec::new();
    let command = Arguments::command();
    render(&command, &mut page).map_err(CliError::io("write the manual page"))?;
    print(&page)
}

/// The pages of a command and of everything below it, each under its whole name:
/// `pippin-targets-check`.
fn render(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        render(&sub.clone().name(format!("{}-{}", command.get_name(), sub.get_name())), page)?;
    }
    Ok(())
}

/// The checkout that the current folder lies in, or the current folder.
fn root() -> Result<PathBuf, CliError> {
    let here = here()?;
    Ok(Catalog::find(&here).map_or(here, |catalog| catalog.root().to_path_buf()))
}

fn here() -> Result<PathBuf, CliError> {
    std::env::current_dir().map_err(CliError::io("find the current folder"))
}
