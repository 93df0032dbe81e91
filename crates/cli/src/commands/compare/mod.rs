//! `pippin compare`: what its sides are, and which flags have an effect for them.
//!
//! | module | what it holds |
//! |---|---|
//! | `stored` | two stored runs |
//! | `given` | servers from the command line: URLs, commands, images |
//! | `scan` | one server with several values of a parameter |
//! | `revisions` | the project's targets in two revisions |
//! | `branches` | a target of the catalog in two branches |
//! | `measured` | measuring until the gates are decided |
//! | `sides` | two sides of one run, however they came there |
//! | `table` | the table of a comparison, its gates and its exit code |
//! | `sentence` | the comparison in one sentence |
mod branches;
mod given;
pub mod measured;
pub mod revisions;
mod scan;
mod sentence;
pub mod sides;
mod stored;
pub mod table;

use clap::Args as _;
use pippin_lab::target::place::Place;
use pippin_lab::target::revision::Repository;
use pippin_model::verdict::gate::Gate;
use std::path::Path;

use super::gates::{files_must_be_writable, files_of};
use super::meaning::Meaning;
use super::{Shared, place};
use crate::arguments::load::{HostArguments, Http2Arguments, ShapeArguments, TlsArguments};
use crate::arguments::request::RequestArguments;
use crate::arguments::{CompareArguments, GateArguments};
use crate::exit::CliError;
use crate::output_file::{must_be_writable, must_differ};
use given::is_url;

pub fn run(shared: &Shared, mut arguments: CompareArguments) -> Result<u8, CliError> {
    take_commands(&mut arguments);
    let arguments = &arguments;
    must_have_one_base(&arguments.gates)?;
    files_must_be_writable(&arguments.gates)?;
    arguments.json.must_be_writable()?;
    must_be_writable("--html", arguments.html.as_deref())?;
    let [junit, summary] = files_of(&arguments.gates);
    let html = ("--html", arguments.html.as_deref());
    let json = ("--json", arguments.json.file.as_deref());
    must_differ(&[("--store", shared.store.as_deref()), json, html, junit, summary])?;
    if let Some(values) = scan::asked(arguments)? {
        return scan::run(shared, arguments, values);
    }
    let is_given = !arguments.command.is_empty()
        || !arguments.image.is_empty()
        || arguments.sides.iter().any(|side| is_url(side));
    if is_given {
        refuse(shared, &FOR_BRANCHES, "--target")?;
        refuse(shared, &FOR_REVISIONS, REVISIONS)?;
        return given::run(shared, arguments);
    }
    let [a, b] = arguments.sides.as_slice() else {
        return Err(CliError::User(
            "name two runs, two branches (with --target), or servers: two URLs, --command, --image"
                .into(),
        ));
    };
    refuse(shared, &for_servers(), "URLs, --command and --image")?;
    let place = place()?;
    must_mean_something(shared, &place, [a, b])?;
    let is_own = arguments.target.as_ref().is_none_or(|target| !target.contains('/'));
    if is_own && place.has_project() && revisions::are_revisions(&place, [a, b]) {
        return revisions::run(shared, arguments, [a, b], &place);
    }
    refuse(shared, &FOR_REVISIONS, REVISIONS)?;
    match (&arguments.target, &arguments.plan) {
        (Some(target), Some(plan)) => branches::run(shared, arguments, [a, b], target, plan),
        (Some(_), None) => Err(CliError::User("--target needs a plan: add --plan PLAN".into())),
        (None, Some(_)) => Err(CliError::User("--plan goes with --target TARGET".into())),
        (None, None) => {
            refuse(shared, &FOR_BRANCHES, "--target TARGET")?;
            refuse(shared, &FOR_MEASURING, "--target, URLs, --command and --image")?;
            stored::run(shared, arguments, [a, b])
        }
    }
}

/// Text with white space is no run, no revision and no URL, but a command, as users of hyperfine write
/// it: it comes before those of `--command`.
fn take_commands(arguments: &mut CompareArguments) {
    let is_command = |side: &mut String| {
        side.contains(char::is_whitespace) && !Path::new(side.as_str()).exists()
    };
    let commands = arguments.sides.extract_if(.., is_command);
    let all = commands.chain(std::mem::take(&mut arguments.command)).collect();
    arguments.command = all;
}

/// Refuses a side that is a stored run and a revision of the own repository; and one that is neither,
/// if the other is a revision: it is the one that is misspelt.
fn must_mean_something(shared: &Shared, place: &Place, sides: [&str; 2]) -> Result<(), CliError> {
    let Ok(repository) = Repository::find(place.root()) else { return Ok(()) };
    let store = shared.store()?;
    let mut meanings = Vec::new();
    for side in sides.into_iter().filter(|side| !Path::new(side).is_file()) {
        let name = side.split_once('#').map_or(side, |(name, _)| name);
        meanings.push((name, Meaning::of(name, None, Some(&repository), &store)?));
    }
    let unknown = meanings.iter().find(|(_, meaning)| *meaning == Meaning::Nothing);
    match unknown.filter(|_| meanings.iter().any(|(_, it)| *it == Meaning::Revision)) {
        Some((name, _)) => Ok(repository.whole(name).map(drop)?),
        None => Ok(()),
    }
}

/// Gates of a comparison name no other base than its own: A.
fn must_have_one_base(gates: &GateArguments) -> Result<(), CliError> {
    let is_other = |gate: &&Gate| gate.condition.base.as_ref().is_some_and(|base| base != "A");
    gates.all().find(is_other).map_or(Ok(()), |gate| {
        Err(CliError::User(format!(
            "{gate}: changes are measured from A here; write `vs A`, or leave it out where a percentage can only be a change"
        )))
    })
}

/// Flags for revisions of the own repository only.
const FOR_REVISIONS: [&str; 1] = ["base_file"];
/// What those are.
const REVISIONS: &str = "two revisions of a project (pippin.toml)";
/// Flags for branches only.
const FOR_BRANCHES: [&str; 3] = ["target", "plan", "quick"];
/// Flags for sides that are measured now, branches or servers.
const FOR_MEASURING: [&str; 14] = [
    "instructions",
    "cpu",
    "memory",
    "explain",
    "html",
    "repeat",
    "within",
    "length",
    "out",
    "seed",
    "install",
    "run_name",
    "note",
    "tag",
];

/// Flags for servers only.
fn for_servers() -> Vec<String> {
    let none = clap::Command::new("none");
    let none = ShapeArguments::augment_args(none);
    let none = Http2Arguments::augment_args(RequestArguments::augment_args(none));
    let none = HostArguments::augment_args(TlsArguments::augment_args(none));
    let names = none.get_arguments().map(|argument| argument.get_id().to_string());
    names.chain(["path", "scenario", "name"].map(str::to_string)).collect()
}

/// Refuses flags that would have no effect.
fn refuse(shared: &Shared, names: &[impl AsRef<str>], with: &str) -> Result<(), CliError> {
    match names.iter().find(|name| shared.given.contains(name.as_ref())) {
        None => Ok(()),
        Some(name) => Err(CliError::User(format!(
            "--{} goes with {with} only; leave it out",
            name.as_ref().replace('_', "-")
        ))),
    }
}
