//! `pippin ci`: the project's targets as they are in this checkout, compared with those of its base,
//! until every change is decided or the time is over.
use pippin_lab::target::revision::Repository;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::run::RunState;
use pippin_model::target::TargetId;
use pippin_model::target::project::FILE;
use pippin_model::verdict::gate::{Gate, Undecided};
use pippin_report::view::View;
use pippin_stats::gate::comparing::{USUAL_GATES, is_change, needs_calm};
use pippin_stats::interval::anytime::{FEWEST_STARTS, Levels};
use std::time::{Duration, Instant};

use super::base::Checkout;
use super::compare::measured::{
    Deciding, Decision, Patience, has_failed, has_result, no_result, tell_missing,
};
use super::compare::sides::{Side, Sides};
use super::compare::table::conclude;
use super::copies::{Copying, plan_of, targets_of};
use super::gates::{files_must_be_writable, files_of, remove_files};
use super::run::{RunOptions, folder, write_page};
use super::{Shared, base, catalog, init, place};
use crate::arguments::CiArguments;
use crate::exit::{self, CliError};
use crate::output::say;
use crate::output_file::must_differ;

/// The plan that is taken if there is one of this name.
const PLAN: &str = "ci";

pub fn run(shared: &Shared, arguments: &CiArguments) -> Result<u8, CliError> {
    files_must_be_writable(&arguments.gates)?;
    arguments.json.must_be_writable()?;
    let [junit, summary] = files_of(&arguments.gates);
    let json = ("--json", arguments.json.file.as_deref());
    must_differ(&[("--store", shared.store.as_deref()), json, junit, summary])?;
    let labels = arguments.labels.labels()?;
    let since = Instant::now();
    let place = place()?;
    let catalog = catalog(&place)?;
    let Some(project) = catalog.project() else { return Err(without_project()) };
    // The fewest starts that can decide; further ones are made while a change is open.
    let repetitions = Some(FEWEST_STARTS as u32);
    let instructions = arguments.instructions;
    let options =
        PlanOptions { repetitions, life: Some(false), instructions, ..PlanOptions::default() };
    let named = plan_of(project, arguments.plan.as_deref(), Some(PLAN))?;
    let plan = catalog.plan(named, &options)?;
    let targets = targets_of(project, &plan, None)?;
    let repository = Repository::find(place.root())?;
    let checkout = Checkout::from_repository(&repository)?;
    let base = base::find(&repository, &checkout, arguments.base.as_deref(), &base::variable)?;
    let gates = gates(&repository, &plan, arguments, &base.commit)?;
    // Limits without a base, and files that somebody reads, need a measurement all the same.
    let is_wanted = !gates.iter().all(is_change)
        || arguments.gates.junit.is_some()
        || arguments.gates.summary.is_some()
        || arguments.json.file.is_some();
    if base.tree == checkout.head.tree && !checkout.is_changed && !is_wanted {
        say(format_args!(
            "the checkout has the same files as {} ({}): there is nothing to compare",
            base.name,
            base.short_commit()
        ));
        return Ok(exit::OK);
    }
    let folder = folder(&place, arguments.out.as_deref(), &plan.id)?;
    let now: Vec<TargetId> = targets.iter().map(|target| target.id()).collect();
    let copies = Copying::new(&repository, targets, &place, (&folder, arguments.base_file))?
        .of(&base, &base.label())?;
    let head = Side {
        words: in_words(&checkout),
        revision: Some(("HEAD".into(), checkout.head.commit.clone())),
        ids: now,
    };
    let sides = Sides([Side::of_revision(&base, copies.ids()), head]);
    let [before, now] = &sides.0;
    let decision = Decision {
        levels: Levels::of_comparison(arguments.false_alarms, &gates, now.ids.len()),
        gates,
        undecided: arguments.gates.undecided().or(plan.undecided).unwrap_or(Undecided::Warn),
        force: false,
        files: &arguments.gates,
        json: &arguments.json,
    };
    let patience = Patience::For(since, Duration::from_nanos(arguments.length.ns()));
    let deciding = Deciding::new(&decision, patience, &sides);
    let how = RunOptions {
        keep_requests: arguments.kept.keep_requests,
        labels: Some(&labels),
        ..RunOptions::here(&folder, arguments.install, arguments.yes, arguments.seed)
    };
    let extra_time = extra_time(&plan, &decision.gates);
    let plan = Plan { targets: sides.ids().cloned().collect(), extra_time, ..plan };
    let catalog = catalog.with_given(copies.targets.clone(), []);
    let record = deciding.measure(shared, &catalog, plan, &how)?;
    drop(copies);
    let view = View::of(&record);
    write_page(shared, &view, None, &folder)?;
    if record.state == RunState::Interrupted {
        remove_files(&arguments.gates);
        return Ok(exit::INTERRUPTED);
    }
    // The run ends with the first that fails. If that is the checkout's, the base was not tried.
    let is_missing = |id: &&TargetId| !has_result(&record, id);
    let has_failed = |id: &TargetId| has_failed(&record, id);
    let is_base_broken = before.ids.iter().filter(is_missing).any(has_failed)
        || before.ids.iter().any(|id| is_missing(&id)) && !now.ids.iter().any(has_failed);
    if is_base_broken {
        before.ids.iter().for_each(|id| _ = tell_missing(&record, id));
        say(how_to_build(&base.name));
        remove_files(&arguments.gates);
        return Ok(exit::LAB_FAILURE);
    }
    // What the checkout broke fails the gates.
    let lost: Vec<TargetId> =
        now.ids.iter().filter(|id| tell_missing(&record, id)).cloned().collect();
    let mut compared = sides.compared(&record, view);
    compared.comparison.targets.retain(|target| !lost.contains(&target.b));
    compared.missing = lost.iter().map(|id| (id.clone(), no_result(&record, id))).collect();
    compared.comparison.only_a.extend(lost);
    conclude(&decision, &compared)
}

/// The gates of the plan and of the command line; [`USUAL_GATES`] where none is about a change.
fn gates(
    repository: &Repository,
    plan: &Plan,
    arguments: &CiArguments,
    base: &str,
) -> Result<Vec<Gate>, CliError> {
    let mut gates: Vec<Gate> = plan.gates.iter().chain(arguments.gates.all()).cloned().collect();
    for gate in &gates {
        let Some(name) = gate.condition.base.as_deref() else { continue };
        // A branch whose last common commit with HEAD is the base means the base.
        let is_base = name == base::NAME
            || repository.merge_base(name, "HEAD").is_some_and(|common| common == base);
        if !is_base {
            return Err(CliError::User(format!(
                "{gate}: `pippin ci` compares with the base of this checkout, {}, and `{name}` is another: write `vs base`, or name it with --base",
                base.get(..10).unwrap_or(base)
            )));
        }
    }
    if !gates.iter().any(is_change) {
        gates.extend(USUAL_GATES.iter().flat_map(|gate| Gate::fail_if(gate)));
    }
    Ok(gates)
}

/// How much longer a repetition may take to replace slices that the host disturbed. A change within the
/// rounds needs no calm host, and more starts tell more than more slices of one.
fn extra_time(plan: &Plan, gates: &[Gate]) -> f64 {
    if gates.iter().any(needs_calm) { plan.extra_time } else { 0.0 }
}

fn in_words(checkout: &Checkout) -> String {
    let changed = if checkout.is_changed { ", with changed files" } else { "" };
    format!("this checkout (commit {}{changed})", checkout.head.short_commit())
}

fn without_project() -> CliError {
    let preview = std::env::current_dir().ok().and_then(|here| init::preview(&here));
    CliError::User(preview.map_or_else(
        || {
            format!(
                "no {FILE} here, and no file that says how a server is started; write one with: pippin init --command 'COMMAND'"
            )
        },
        |text| format!("no {FILE} here; `pippin init` would write this one:\n\n{text}"),
    ))
}

/// What to do where the base cannot be built or started.
fn how_to_build(base: &str) -> String {
    format!(
        "the base {base} is built and started in a folder of its own, which holds only what git tracks, by its own {FILE}; `--base-file checkout` takes the one of this checkout. What else it needs, `build` makes there, for example:\n  [target.NAME]\n  build = [\"npm ci\"]\n  command = \"node server.js\""
    )
}
