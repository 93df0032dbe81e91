//! Gates of `run`, `load` and `compare`: the bases they compare with, their outcomes, and the files
//! that report them.
use pippin_model::run::{RunHeader, RunRecord};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate, Limit, Undecided};
use pippin_report::form::markdown;
use pippin_report::gates::summary::Changes;
use pippin_report::gates::{junit, lines, summary};
use pippin_report::view::View;
use pippin_stats::compare::{Origin, SEED, differences};
use pippin_stats::gate::lost::Lost;
use pippin_stats::gate::{self, Base, Bases, Doubt, Group, Outcome, Planned, Standing, judge};
use pippin_store::StoreError;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::Path;

use super::Shared;
use super::revision_bases::{RevisionBases, is_named};
use crate::arguments::GateArguments;
use crate::exit::{self, CliError};
use crate::output::{print_text, say};
use crate::output_file::{all_written, must_be_writable, write};

/// The gates of a run or a load, with the stored runs that they compare with.
pub struct Gates<'a> {
    arguments: &'a GateArguments,
    /// Those of the plan, then those of the command line.
    gates: Vec<Gate>,
    undecided: Undecided,
    stored: BTreeMap<String, RunRecord>,
    revisions: &'a RevisionBases,
}

impl<'a> Gates<'a> {
    /// Finds the bases of the gates before anything is measured, so that `latest` is the run
    /// before.
    ///
    /// # Errors
    /// If a change has no base, or its base is neither one of these targets nor a stored run.
    pub fn prepare(
        shared: &Shared,
        arguments: &'a GateArguments,
        targets: &[TargetId],
        (of_plan, undecided): (&[Gate], Undecided),
        revisions: &'a RevisionBases,
    ) -> Result<Self, CliError> {
        let gates: Vec<Gate> = of_plan.iter().chain(arguments.all()).cloned().collect();
        if gates.is_empty() && arguments.undecided().is_some() {
            return Err(CliError::User(
                "--undecided says what comes of a gate that stays undecided, and there is no gate: add --require or --fail-if, or leave it out".into(),
            ));
        }
        let mut stored = BTreeMap::new();
        for gate @ Gate { condition, .. } in &gates {
            let base = match (&condition.base, condition.limit) {
                (Some(base), _) => base,
                (None, Limit::Change(_)) => {
                    return Err(CliError::User(format!(
                        "{gate}: a change needs a base: add `vs RUN` or `vs TARGET`"
                    )));
                }
                (None, _) => continue,
            };
            let is_target = targets.iter().any(|target| is_named(target, base));
            if is_target && targets.iter().all(|target| is_named(target, base)) {
                return Err(CliError::User(format!(
                    "{gate}: {base} is the only target, and is not compared with itself: name another one, a run or a revision"
                )));
            }
            if is_target || revisions.copies(base).is_some() {
                continue;
            }
            let loaded = shared.store()?.load(base);
            let record = loaded.map_err(|error| no_base(gate, error, revisions))?;
            stored.insert(base.clone(), record);
        }
        let undecided = arguments.undecided().unwrap_or(undecided);
        Ok(Self { arguments, gates, undecided, stored, revisions })
    }

    /// All gates.
    pub fn all(&self) -> &[Gate] {
        &self.gates
    }

    /// Whether another repetition may decide a gate that is undecided after so many.
    pub fn may_be_decided(&self, header: &RunHeader, trials: &[TrialRecord], made: u32) -> bool {
        let planned = header.plan.repetitions;
        let so_far = Planned { repetitions: made.max(planned), is_whole: true };
        gate::may_be_decided(&self.judged(header, trials, so_far), made, planned)
    }

    /// Judges a run, writes the files and prints the outcome of each gate. Returns the exit code. A
    /// gate that was `lost` before the end of the run has failed ([`gate::lose`]).
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn conclude(
        &self,
        record: &RunRecord,
        lost: Option<&Lost>,
        is_text: bool,
    ) -> Result<u8, CliError> {
        let trials = &record.trials;
        let mut outcomes = self.judged(&record.header, trials, Planned::from_record(record));
        let lost = lost.and_then(|lost| lost.gate.as_ref());
        for outcome in outcomes.iter_mut().filter(|outcome| lost == Some(&outcome.gate)) {
            gate::lose(outcome, trials);
        }
        for (target, why) in unmeasured(record) {
            if !self.revisions.holds(target) {
                outcomes.extend(gate::unmeasured(&self.gates, target, &why));
            }
        }
        let title = record.header.plan.title.clone();
        let details = || markdown::render(&View::of(record));
        let report = GateReport {
            title,
            trials,
            changes: Changes::default(),
            details: &details,
            undecided: self.undecided,
        };
        let code = tell(self.arguments, &outcomes, is_text, &report)?;
        // An INVALID step of a search was repeated; the end of the search says whether it counts.
        let is_search = record.header.plan.profile.is_search();
        Ok(if is_search && code == exit::INVALID { exit::UNDECIDED } else { code })
    }

    /// What the gates say of the targets. Copies from revisions are not judged.
    fn judged(&self, header: &RunHeader, trials: &[TrialRecord], planned: Planned) -> Vec<Outcome> {
        let bases = RunBases { gates: self, header, trials, planned };
        let mut outcomes = judge(&self.gates, trials, planned, &bases);
        outcomes.retain(|outcome| !self.revisions.holds(&outcome.target));
        outcomes
    }
}

/// Why a base cannot be used.
fn no_base(gate: &Gate, error: StoreError, revisions: &RevisionBases) -> CliError {
    match error {
        StoreError::UnknownRun(..) if revisions.were_looked_for() => CliError::User(format!(
            "{gate}: this repository has no branch, tag or commit of this name, and {error}"
        )),
        StoreError::UnknownRun(..) => CliError::User(format!("{gate}: {error}")),
        other => other.into(),
    }
}

/// The targets of a run that have no trial, each with the reason. A build that fails is one.
fn unmeasured(record: &RunRecord) -> impl Iterator<Item = (&TargetId, String)> {
    let has_trial = |id: &TargetId| record.trials.iter().any(|trial| trial.spec.target == *id);
    record.header.plan.targets.iter().filter(move |id| !has_trial(id)).map(|id| {
        let info = record.header.targets.get(id);
        let why = info.and_then(|info| info.unavailable.as_ref()).map_or_else(
            || "the run ended before it".into(),
            |failure| {
                let message: Vec<&str> = failure.message.split_whitespace().collect();
                format!("{}: {}", failure.stage.name(), message.join(" "))
            },
        );
        (id, why)
    })
}

/// One seed every time, so that comparing the same two always gives the same intervals.
pub fn seeded() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(SEED)
}

/// What is reported besides the gates.
pub struct GateReport<'a> {
    /// What was measured.
    pub title: String,
    /// The trials whose verdicts are test cases.
    pub trials: &'a [TrialRecord],
    /// What a comparison found.
    pub changes: Changes,
    /// The whole result as Markdown.
    pub details: &'a dyn Fn() -> String,
    /// What a gate does that could not be decided.
    pub undecided: Undecided,
}

/// Refuses files of gates that cannot be written, before anything is measured.
///
/// # Errors
/// If one cannot be written.
pub fn files_must_be_writable(arguments: &GateArguments) -> Result<(), CliError> {
    files_of(arguments).into_iter().try_for_each(|(flag, file)| must_be_writable(flag, file))
}

/// The files of gates with their flags.
pub fn files_of(arguments: &GateArguments) -> [(&'static str, Option<&Path>); 2] {
    [("--junit", arguments.junit.as_deref()), ("--summary", arguments.summary.as_deref())]
}

/// Removes the files of gates, because there is no outcome: those of an earlier run are not this one's.
pub fn remove_files(arguments: &GateArguments) {
    let files = files_of(arguments).into_iter().filter_map(|(_, file)| file);
    for file in files.filter(|file| file.is_file()) {
        if let Err(error) = std::fs::remove_file(file) {
            say(format_args!(
                "cannot remove {}, which an earlier run wrote: {error}",
                file.display()
            ));
        }
    }
}

/// Prints the outcome of each gate and writes the files. Returns the exit code. The lines go to
/// standard output, unless a file goes there (`is_text` is false). They come first, so that a disk
/// that is full by now does not hide them.
///
/// # Errors
/// If a file cannot be written.
pub fn tell(
    arguments: &GateArguments,
    outcomes: &[Outcome],
    is_text: bool,
    report: &GateReport<'_>,
) -> Result<u8, CliError> {
    let lines = lines(outcomes);
    // Where nobody reads the lines, the files are still written.
    let printed = if is_text {
        print_text(&lines)
    } else {
        lines.lines().for_each(say);
        Ok(exit::OK)
    };
    // A file that cannot be written takes no other with it.
    let of_tests = arguments.junit.as_ref().map_or(Ok(()), |path| {
        write(path, junit::render(&report.title, report.trials, outcomes, report.undecided))
    });
    let of_summary = arguments.summary.as_ref().map_or(Ok(()), |path| {
        write(path, summary::render(&report.title, outcomes, &report.changes, &(report.details)()))
    });
    all_written([of_tests, of_summary])?;
    printed?;
    let code = |outcome: &Outcome| code(outcome, report.undecided);
    Ok(outcomes.iter().map(code).fold(exit::OK, exit::worst))
}

/// The exit code of one outcome. A result that is INVALID or missing comes before every gate.
fn code(outcome: &Outcome, undecided: Undecided) -> u8 {
    let doubt = outcome.reason.as_ref().map(|reason| reason.doubt);
    match (outcome.standing, doubt, undecided) {
        (Standing::Passed, ..) => exit::OK,
        (Standing::Failed, ..) => exit::FAILED,
        (_, Some(Doubt::Invalid | Doubt::Missing), _) => exit::INVALID,
        (_, _, Undecided::Fail) => exit::UNDECIDED,
        (_, _, Undecided::Warn) => exit::OK,
    }
}

/// The bases of a run: its own targets, including copies from revisions, and stored runs.
struct RunBases<'a> {
    gates: &'a Gates<'a>,
    header: &'a RunHeader,
    trials: &'a [TrialRecord],
    planned: Planned,
}

impl RunBases<'_> {
    /// Another target of the same run.
    fn own(&self, target: &TargetId, step: Option<Step>, name: String) -> Base<'_> {
        let group = Group::of_target(self.trials, (target, step), self.planned);
        Base { group, name, origin: Origin::OneRun }
    }

    /// A stored run. Its base is the same target; loads of URLs are of one target each.
    fn stored<'b>(
        &self,
        run: &'b RunRecord,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Base<'b>, String> {
        let id = &run.header.id;
        let differing = differences(&run.header, self.header);
        let refusing: Vec<&str> =
            differing.iter().filter(|one| one.refuses).map(|one| one.what.as_str()).collect();
        if !refusing.is_empty() {
            return Err(format!(
                "run {id} cannot be compared fairly: {} differ",
                refusing.join(", ")
            ));
        }
        let are_urls = run.header.url.is_some() && self.header.url.is_some();
        let has = |of: &TargetId| are_urls || of == target;
        if !run.trials.iter().any(|trial| has(&trial.spec.target)) {
            let names: Vec<String> =
                run.header.plan.targets.iter().map(ToString::to_string).collect();
            return Err(format!("run {id} has no result of {target}, but of {}", names.join(", ")));
        }
        let is_base = |trial: &&TrialRecord| trial.spec.step == step && has(&trial.spec.target);
        Ok(Base {
            group: Group::new(run.trials.iter().filter(is_base), Planned::from_record(run)),
            name: format!("run {id}"),
            origin: Origin::TwoRuns,
        })
    }
}

impl Bases for RunBases<'_> {
    fn base_for(
        &self,
        condition: &Condition,
        target: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let Some(base) = &condition.base else { return Err("it names no base".into()) };
        if let Some(run) = self.gates.stored.get(base) {
            return self.stored(run, target, step).map(Some);
        }
        // Only a target that has a revision can be compared with one.
        if let Some(then) = self.gates.revisions.copies(base) {
            return Ok(then.get(target).map(|copy| self.own(copy, step, copy.to_string())));
        }
        let of = self.header.plan.targets.iter().find(|of| is_named(of, base));
        match of {
            None => Err(format!("the run has no target {base}")),
            // Nothing is compared with itself.
            Some(of) if of == target => Ok(None),
            Some(of) => Ok(Some(self.own(of, step, of.to_string()))),
        }
    }
}
