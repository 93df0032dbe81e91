//! `pippin run`
use pippin_fleet::probe::RunOrder;
use pippin_fleet::probe::conduct::{Conducting, conduct};
use pippin_lab::run::explaining::{self, Explaining};
use pippin_lab::run::observer::{All, Observer};
use pippin_lab::run::perf::Perf;
use pippin_lab::run::recording::Keeping;
use pippin_lab::run::{IsOpen, RunSettings, run as execute, split};
use pippin_lab::target::catalog::Catalog;
use pippin_lab::target::place::Place;
use pippin_lab::trial::generator::{Generator, Here};
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::run::labels::Labels;
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use pippin_model::verdict::gate::Gate;
use pippin_report::form::json;
use pippin_report::view::{View, row::Row, sweep::Sweep};
use pippin_report::{digest, html};
use pippin_stats::capacity::found::Capacity;
use pippin_store::Store;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::fleet::{self, Loads};
use super::gates::{Gates, files_must_be_writable, files_of};
use super::nats::{Settings, settings};
use super::revision_bases::{RevisionBases, To};
use super::{Shared, catalog, consent, place, reference};
use crate::arguments::{FleetArguments, RunArguments};
use crate::exit::{self, CliError};
use crate::live::Subject;
use crate::outlets::Outlets;
use crate::output;
use crate::output_file::{self, all_written, must_differ};
use crate::progress;
use crate::signals;

pub fn run(shared: &Shared, arguments: &RunArguments) -> Result<u8, CliError> {
    files_must_be_writable(&arguments.gates)?;
    arguments.json.must_be_writable()?;
    let [junit, summary] = files_of(&arguments.gates);
    let json = ("--json", arguments.json.file.as_deref());
    must_differ(&[("--store", shared.store.as_deref()), json, junit, summary])?;
    let labels = arguments.labels.labels()?;
    let place = place()?;
    let catalog = catalog(&place)?;
    let plan = plan(&catalog, &arguments.plan, &options(arguments, &catalog)?)?;
    let reference = reference::among(arguments.reference.as_deref(), &plan.targets)?;
    let folder = folder(&place, arguments.out.as_deref(), &plan.id)?;
    let asked: Vec<&Gate> = plan.gates.iter().chain(arguments.gates.all()).collect();
    let project = catalog.project();
    let to = To { folder: &folder, file: arguments.base_file };
    let bases = RevisionBases::prepare(shared, &place, project, &plan, &asked, to)?;
    if bases.is_empty() && shared.given.contains("base_file") {
        return Err(CliError::User(
            "--base-file has no effect, because no gate names a revision, as \"p99 < 10% vs main\" does; leave it out".into(),
        ));
    }
    if !bases.is_empty() && arguments.probe.is_some() {
        return Err(CliError::User(
            "--probe: the gates name a revision of this repository, and the targets are elsewhere; leave those gates out".into(),
        ));
    }
    let copies = bases.targets();
    let targets = plan.targets.iter().cloned().chain(copies.iter().map(|copy| copy.id.clone()));
    let instructions = plan.instructions || arguments.gates.all().any(Gate::is_on_instructions);
    let plan = Plan { targets: targets.collect(), instructions, ..plan };
    let catalog = catalog.with_given(copies, []);
    let of_plan = (plan.gates.as_slice(), plan.undecided.unwrap_or_default());
    let gates = Gates::prepare(shared, &arguments.gates, &plan.targets, of_plan, &bases)?;
    // A number of repetitions that was asked for is made, and no other.
    let is_open = |header: &RunHeader, trials: &[TrialRecord], made: u32| {
        arguments.repeat.is_none() && gates.may_be_decided(header, trials, made)
    };
    let outlets = Outlets::open(&arguments.outlets)?;
    let explaining = arguments.explain.then(|| explaining(&plan, &folder)).transpose()?;
    let how = RunOptions {
        folder: &folder,
        install: arguments.install,
        yes: arguments.yes,
        seed: arguments.seed,
        fleet: Some(&arguments.fleet),
        probe: arguments.probe.as_deref(),
        outlets: Some(&outlets),
        explaining: explaining.as_ref(),
        is_open: Some(&is_open),
        is_decided: None,
        needs_all: false,
        keep_requests: arguments.kept.keep_requests,
        labels: Some(&labels),
    };
    let record = measure(shared, &catalog, plan, &how)?;
    let explained = explaining.map(Explaining::into_found).unwrap_or_default();
    let view = View { explained, ..View::beside(&record, reference.as_ref()) };
    let is_search = record.header.plan.profile.is_search();
    let text = || shared.print_result(&view, &arguments.detail);
    let printed = arguments.json.show(text, || json::render(&view).map_err(std::io::Error::other));
    let page = write_page(shared, &view, reference.as_ref(), &folder);
    let is_invalid = if is_search {
        view.rows.iter().filter_map(Row::at_search).any(is_invalid_search)
    } else {
        has_invalid_result(&record)
    };
    let of_gates = gates.conclude(&record, None, !arguments.json.is_stdout());
    all_written([outlets.finish(), page, printed.map(drop)])?;
    let of_gates = of_gates?;
    Ok(exit::worst(exit_code(&record, is_invalid, arguments.strict), of_gates))
}

/// The plan as the command line changes it. Says so where --quick changes nothing.
pub fn plan(catalog: &Catalog, name: &str, options: &PlanOptions) -> Result<Plan, CliError> {
    let plan = catalog.plan(name, options)?;
    if options.quick && !plan.quick {
        output::say(format_args!(
            "{}: the plan has no quick form (the key `quick`), so --quick changes nothing",
            plan.id
        ));
    }
    Ok(plan)
}

/// What the flags change of the plan.
fn options(arguments: &RunArguments, catalog: &Catalog) -> Result<PlanOptions, CliError> {
    let named = Some(&arguments.targets).filter(|named| !named.is_empty());
    Ok(PlanOptions {
        quick: arguments.quick,
        targets: named.map(|named| catalog.select(named)).transpose()?,
        repetitions: arguments.repeat,
        goal: arguments.goal.goal(arguments.repeat)?,
        workers: arguments.workers,
        limits: arguments.limits.limits(),
        life: arguments.life.then_some(true),
        instructions: arguments.instructions,
        scale: arguments.scale,
        phases_ns: arguments.ramp,
        think: arguments.think,
    })
}

/// The profiler, if it may be used here and the plan's load is suitable.
pub fn explaining(plan: &Plan, folder: &Path) -> Result<Explaining, CliError> {
    explaining::short(&plan.profile)?;
    std::fs::create_dir_all(folder)
        .map_err(CliError::io(format!("create {}", folder.display())))?;
    Ok(Explaining::new(Perf::find(folder)?))
}

/// An INVALID step of a search was repeated, so only the end of the search counts.
fn is_invalid_search(search: &Sweep) -> bool {
    search.capacity.as_ref().is_some_and(Capacity::is_invalid)
}

/// Whether any trial with a result is INVALID, even if it failed after its load.
fn has_invalid_result(record: &RunRecord) -> bool {
    record.trials.iter().any(|trial| trial.load.is_some() && trial.verdict == Verdict::Invalid)
}

/// How to run a plan.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// See [`folder`].
    pub folder: &'a Path,
    /// Install what is missing.
    pub install: bool,
    /// Do not ask before installing system packages.
    pub yes: bool,
    /// The seed for the order and the loads; by default from the clock.
    pub seed: Option<u64>,
    /// The agents that apply the loads, if this process does not.
    pub fleet: Option<&'a FleetArguments>,
    /// The probe beside the targets, if they are on another machine.
    pub probe: Option<&'a str>,
    /// Where to send the figures of each second, if anywhere.
    pub outlets: Option<&'a Outlets>,
    /// The profiler, if the targets are to be explained.
    pub explaining: Option<&'a Explaining>,
    /// Whether another repetition is needed to decide the gates.
    pub is_open: Option<IsOpen<'a>>,
    /// Whether the gates need no more repetitions, although the plan's goal does.
    pub is_decided: Option<IsOpen<'a>>,
    /// Whether the run ends as soon as a target cannot be built or started.
    pub needs_all: bool,
    /// Whether the record keeps what may be a secret.
    pub keep_requests: bool,
    /// What the user calls the run, if anything.
    pub labels: Option<&'a Labels>,
}

impl RunOptions<'_> {
    fn labels(&self) -> Labels {
        self.labels.cloned().unwrap_or_default()
    }
}

impl<'a> RunOptions<'a> {
    /// On this machine, in this process, without any extras.
    pub const fn here(folder: &'a Path, install: bool, yes: bool, seed: Option<u64>) -> Self {
        let (fleet, probe, outlets, explaining) = (None, None, None, None);
        let (is_open, is_decided) = (None, None);
        let (needs_all, keep_requests, labels) = (false, false, None);
        Self {
            folder,
            install,
            yes,
            seed,
            fleet,
            probe,
            outlets,
            explaining,
            is_open,
            is_decided,
            needs_all,
            keep_requests,
            labels,
        }
    }
}

/// Where a run's page and logs go: the given folder, or a new one among the place's runs. It is
/// absolute, because the programs started for a run have their own current folders.
pub fn folder(place: &Place, out: Option<&Path>, plan: &str) -> Result<PathBuf, CliError> {
    let folder = match out {
        Some(out) => out.to_path_buf(),
        None => {
            place.prepare()?;
            place.runs()?.join(format!("{plan}-{}", now_ns() / 1_000))
        }
    };
    std::path::absolute(&folder).map_err(CliError::io(format!("find {}", folder.display())))
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Runs a plan and shows its progress.
pub fn measure(
    shared: &Shared,
    catalog: &Catalog,
    plan: Plan,
    how: &RunOptions<'_>,
) -> Result<RunRecord, CliError> {
    if how.fleet.is_some_and(|fleet| fleet.agents.is_some()) {
        refuse_slices(&plan)?;
    }
    if let Some((probe, fleet)) = how.probe.zip(how.fleet) {
        return elsewhere(shared, (catalog, plan), how, probe, fleet);
    }
    let apt = how.install
        && consent::for_installation(
            catalog,
            &plan.targets,
            &catalog.workload(&plan.workload)?.services,
            consent::Asking { yes: how.yes, quiet: shared.quiet },
        )?;
    let store = shared.store()?;
    let stop = signals::catch();
    let fleet = match how.fleet {
        Some(arguments) => {
            let cpus = split(&plan)?.generator;
            fleet::gather(
                shared,
                arguments,
                &Loads { threads: None, cpus, connections: None, host: None, allowed_hosts: &[] },
            )?
        }
        None => None,
    };
    let follower = progress::observer(shared.manner(), Subject::Plan, Some(&store));
    let observer = listeners(&follower, how.outlets);
    let settings = RunSettings {
        catalog,
        keeping: Keeping::Must(&store),
        labels: how.labels(),
        keep_requests: how.keep_requests,
        folder: how.folder.to_path_buf(),
        install: how.install,
        apt,
        seed: how.seed.unwrap_or_else(now_ns),
        calibration: if fleet.is_none() { store.calibration()? } else { None },
        generator: fleet.as_ref().map_or(&Here as &dyn Generator, |fleet| fleet),
        address: Ipv4Addr::LOCALHOST.into(),
        probe: None,
        explaining: how.explaining,
        is_open: how.is_open,
        is_decided: how.is_decided,
        needs_all: how.needs_all,
        observer: &observer,
        stop,
    };
    Ok(execute(plan, &settings)?)
}

/// Refuses plans with keys about slices. Agents apply every load in one stretch, so these keys
/// would have no effect.
fn refuse_slices(plan: &Plan) -> Result<(), CliError> {
    let Some(key) = plan.key_about_slices() else { return Ok(()) };
    Err(CliError::User(format!(
        "plan {}: `{key}` has no effect with --agents: agents agree on an instant for each load, and apply it in one stretch; take `{key}` out of the plan, or leave out --agents",
        plan.id
    )))
}

/// All observers of the run.
fn listeners<'a>(follower: &'a dyn Observer, outlets: Option<&'a Outlets>) -> All<'a> {
    let others = outlets.map(Outlets::listeners).unwrap_or_default();
    All(std::iter::once(follower).chain(others).collect())
}

/// Runs the plan by a probe on the targets' machine.
fn elsewhere(
    shared: &Shared,
    (catalog, plan): (&Catalog, Plan),
    how: &RunOptions<'_>,
    probe: &str,
    arguments: &FleetArguments,
) -> Result<RunRecord, CliError> {
    if how.install {
        return Err(CliError::User(
            "--install: only the probe's operator can allow installing: pippin agent --probe --install"
                .into(),
        ));
    }
    let (Some(Settings { nats, .. }), Some(agents)) =
        (settings(&arguments.nats)?, arguments.agents)
    else {
        return Err(CliError::User(
            "--probe needs --agents N, and --nats URL or --nats-file FILE".into(),
        ));
    };
    let store = shared.store()?;
    std::fs::create_dir_all(how.folder)
        .map_err(CliError::io(format!("create {}", how.folder.display())))?;
    let follower = progress::observer(shared.manner(), Subject::Plan, Some(&store));
    let observer = listeners(&follower, how.outlets);
    let run_order = RunOrder {
        run: 1,
        plan,
        seed: how.seed.unwrap_or_else(now_ns),
        wanted: fleet::wanted(arguments, agents.into())?,
    };
    Ok(conduct(Conducting {
        nats,
        probe: probe.into(),
        run_order,
        keeping: Keeping::Must(&store),
        labels: how.labels(),
        keep_requests: how.keep_requests,
        catalog,
        observer: &observer,
        stop: signals::catch(),
    })?)
}

/// Keeps the digest of a run, which lists show. If the store cannot be written, the list is
/// incomplete but the run is not affected, so this never fails.
pub fn keep_digest(store: &Store, view: &View) {
    drop(store.keep_digest(&view.run.id, &digest::from_view(view)));
}

/// Writes the run's page to its folder and its digest to the store. The page shows what the store
/// keeps, so it has no secret either.
pub fn write_page(
    shared: &Shared,
    view: &View,
    reference: Option<&TargetId>,
    folder: &Path,
) -> Result<(), CliError> {
    write_pages(shared, view, reference, (folder, None))
}

/// As [`write_page`], and writes the page to another file too, if one was asked for.
pub fn write_pages(
    shared: &Shared,
    view: &View,
    reference: Option<&TargetId>,
    (folder, also): (&Path, Option<&Path>),
) -> Result<(), CliError> {
    let store = shared.store()?;
    keep_digest(&store, view);
    let kept = store.load(&view.run.id)?;
    let kept = View { explained: view.explained.clone(), ..View::beside(&kept, reference) };
    let page = folder.join("report.html");
    let text = html::page(&kept);
    output_file::write(&page, &text)?;
    if let Some(file) = also {
        output_file::write(file, &text)?;
    }
    if !shared.quiet {
        output::say(format_args!("run {}: page {}", view.run.id, page.display()));
    }
    Ok(())
}

/// The exit code: interrupted counts before invalid, invalid before failed, failed before ok.
/// Failed or unavailable targets only count with `strict`, but a run without any valid result has
/// failed.
fn exit_code(record: &RunRecord, is_invalid: bool, strict: bool) -> u8 {
    match record.state {
        RunState::Interrupted => exit::INTERRUPTED,
        _ if is_invalid => exit::INVALID,
        _ if record.trials.iter().all(|trial| trial.failure.is_some()) => exit::LAB_FAILURE,
        _ if strict && has_failed_target(record) => exit::FAILED,
        _ => exit::OK,
    }
}

fn has_failed_target(record: &RunRecord) -> bool {
    record.trials.iter().any(|trial| trial.failure.is_some())
        || record.header.targets.values().any(|target| target.unavailable.is_some())
}
