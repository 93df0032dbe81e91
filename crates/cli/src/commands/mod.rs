//! The commands, one file for each.
mod agent;
mod base;
mod baseline;
mod calibrate;
mod ci;
mod compare;
mod consent;
mod conventions;
mod copies;
mod device_plan;
mod doctor;
mod export;
mod fleet;
mod fleet_init;
mod gates;
mod help;
mod history;
mod import;
mod init;
mod load;
mod mcp;
mod meaning;
pub mod nats;
mod plans;
mod reference;
mod report;
mod revision_bases;
mod run;
mod serve;
mod site;
mod store;
mod targets;
mod verify;

use pippin_lab::LabError;
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::place::{self, Place};
use pippin_report::terminal::{self, Style};
use pippin_report::view::{View, answer};
use pippin_store::Store;
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::arguments::{self, Arguments, Command, DetailArguments, FleetCommand};
use crate::completions;
use crate::exit::CliError;
use crate::output::{print, print_text};
use crate::progress::ProgressStyle;

/// What every command may need.
pub struct Shared {
    store: Option<PathBuf>,
    quiet: bool,
    colour: bool,
    /// The names of the command's own arguments that were given on the command line.
    given: BTreeSet<String>,
}

impl Shared {
    /// How progress is shown.
    fn manner(&self) -> ProgressStyle {
        ProgressStyle { quiet: self.quiet, colour: self.colour }
    }

    /// Prints a result for people. Of a load, `--quiet` leaves one line.
    fn print_result(&self, view: &View, detail: &DetailArguments) -> Result<u8, CliError> {
        if self.quiet && !detail.verbose && !view.loads.is_empty() {
            return print_text(&format!("{}\n", answer::line(view)));
        }
        let style = Style::of_stdout();
        let style = Style { colour: style.colour && self.colour, ..style };
        print(terminal::table(view, &style.verbose(detail.verbose)).as_bytes())
    }

    /// Opens the store.
    fn store(&self) -> Result<Store, CliError> {
        if self.store.is_none() {
            place()?.prepare()?;
        }
        Ok(Store::open(&self.store_path()?)?)
    }

    /// The path of the store (docs/decisions/one-binary.md): the given file, or the default of this
    /// place.
    fn store_path(&self) -> Result<PathBuf, CliError> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => Ok(place()?.database()?),
        }
    }
}

/// Runs a command and returns the exit code. `given` are the arguments given on the command line.
pub fn run(arguments: Arguments, given: BTreeSet<String>) -> Result<u8, CliError> {
    let Arguments { store, quiet, no_color, .. } = arguments;
    let shared = Shared { store, quiet, colour: !no_color, given };
    match arguments.command {
        Command::Run(arguments) => run::run(&shared, &arguments),
        Command::Ci(arguments) => ci::run(&shared, &arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Load(arguments) => load::run(&shared, &arguments),
        Command::Agent(arguments) => agent::run(&shared, &arguments),
        Command::Fleet(FleetCommand::Init(arguments)) => fleet_init::run(&arguments),
        Command::Import(command) => import::run(&command),
        Command::Plans(arguments) => plans::run(&arguments),
        Command::Targets(command) => targets::run(&shared, command),
        Command::Report(arguments) => report::run(&shared, &arguments),
        Command::DevicePlan(arguments) => device_plan::run(&shared, &arguments),
        Command::Compare(arguments) => compare::run(&shared, *arguments),
        Command::Doctor(arguments) => doctor::run(&shared, &arguments),
        Command::Calibrate(arguments) => calibrate::run(&shared, &arguments),
        Command::Export(arguments) => export::run(&shared, &arguments),
        Command::History(arguments) => history::run(&shared, &arguments),
        Command::Baseline(command) => baseline::run(&shared, &command),
        Command::Store(command) => store::run(&shared, &command),
        Command::Serve(arguments) => serve::run(&shared, &arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Site(arguments) => site::run(&shared, &arguments),
        Command::Mcp => mcp::run(&shared),
        Command::Completions { shell } => {
            let script = completions::script(shell).map_err(CliError::io("write the script"))?;
            print(&script)
        }
        Command::Man => man(),
        Command::Help { topics } => help::run(&topics),
    }
}

fn man() -> Result<u8, CliError> {
    let mut page = Vec::new();
    let command = arguments::command();
    render(&command, &mut page).map_err(CliError::io("write the manual page"))?;
    print(&page)
}

/// The pages of a command and all its subcommands, each with its whole name:
/// `pippin-targets-check`.
fn render(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        render(&sub.clone().name(format!("{}-{}", command.get_name(), sub.get_name())), page)?;
    }
    Ok(())
}

/// The place of the current folder.
pub fn place() -> Result<Place, CliError> {
    let here = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
    Ok(Place::find(&here)?)
}

/// The catalog of this place: first the project file's entries, then the place's own, then those
/// that ship with the program.
pub fn catalog(place: &Place) -> Result<Catalog, CliError> {
    let catalog = Catalog::from_place(place, Some(unpack));
    Ok(match place.project()? {
        Some(project) => catalog.with_project(project)?,
        None => catalog,
    })
}

fn unpack() -> Result<PathBuf, LabError> {
    let cache = place::cache()?;
    pippin_shipped::folder(&cache).map_err(LabError::io(format!(
        "unpack the shipped catalog into {} (XDG_CACHE_HOME names another folder)",
        cache.display()
    )))
}
