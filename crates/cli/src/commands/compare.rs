//! `pippin compare`
use clap::Args as _;
use pippin_lab::target::place::Place;
use pippin_lab::target::revision::Repository;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::text::bounded;
use pippin_model::verdict::gate::Gate;
use pippin_report::view::View;
use pippin_stats::compare::unfinished::Unfinished;
use pippin_stats::compare::{Difference, Origin, Side, compare, differences};
use pippin_stats::gate::Planned;
use pippin_store::StoreError;
use std::path::Path;

use super::compare_given::{self, is_url};
use super::compare_measured::Decision;
use super::compare_table::{Sides, conclude};
use super::gates::{files_must_be_writable, seeded};
use super::meaning::Meaning;
use super::{Shared, compare_branches, compare_revisions, compare_scan, place};
use crate::arguments::load::{HostArguments, Http2Arguments, ShapeArguments, TlsArguments};
use crate::arguments::request::RequestArguments;
use crate::arguments::{CompareArguments, GateArguments};
use crate::exit::CliError;
use crate::output_file::must_be_writable;

pub fn run(shared: &Shared, mut arguments: CompareArguments) -> Result<u8, CliError> {
    take_commands(&mut arguments);
    let arguments = &arguments;
    must_have_one_base(&arguments.gates)?;
    files_must_be_writable(&arguments.gates)?;
    arguments.json.must_be_writable()?;
    must_be_writable("--html", arguments.html.as_deref())?;
    if let Some(values) = compare_scan::asked(arguments)? {
        return compare_scan::run(shared, arguments, values);
    }
    let is_given = !arguments.command.is_empty()
        || !arguments.image.is_empty()
        || arguments.sides.iter().any(|side| is_url(side));
    if is_given {
        refuse(shared, &FOR_BRANCHES, "--target")?;
        refuse(shared, &FOR_REVISIONS, REVISIONS)?;
        return compare_given::run(shared, arguments);
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
    if is_own && place.has_project() && compare_revisions::are_revisions(&place, [a, b]) {
        return compare_revisions::run(shared, arguments, [a, b], &place);
    }
    refuse(shared, &FOR_REVISIONS, REVISIONS)?;
    match (&arguments.target, &arguments.plan) {
        (Some(target), Some(plan)) => {
            compare_branches::run(shared, arguments, [a, b], target, plan)
        }
        (Some(_), None) => Err(CliError::User("--target needs a plan: add --plan PLAN".into())),
        (None, Some(_)) => Err(CliError::User("--plan goes with --target TARGET".into())),
        (None, None) => {
            refuse(shared, &FOR_BRANCHES, "--target TARGET")?;
            refuse(shared, &FOR_MEASURING, "--target, URLs, --command and --image")?;
            of_runs(arguments, side(shared, a)?, side(shared, b)?)
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

/// A stored run, or one target of it.
struct Stored {
    run: RunRecord,
    /// The only target that is compared.
    target: Option<String>,
    /// The report of the whole run: a target alone would have another verdict.
    view: View,
}

/// Compares two runs.
fn of_runs(arguments: &CompareArguments, a: Stored, b: Stored) -> Result<u8, CliError> {
    let Stored { run: a, target: a_target, view: a_view } = a;
    let Stored { run: b, target: b_target, view: b_view } = b;
    if a.header.id == b.header.id && a_target == b_target {
        return Err(CliError::User(format!(
            "both sides are one run, {}: there is nothing to compare; name another run, or two of its targets (RUN#TARGET)",
            a.header.id
        )));
    }
    let differing = differences(&a.header, &b.header);
    let refusing: Vec<&Difference> =
        differing.iter().filter(|difference| difference.refuses).collect();
    if !refusing.is_empty() && !arguments.force {
        let list: Vec<String> =
            refusing.iter().map(|d| format!("  {}: {} against {}", d.what, d.a, d.b)).collect();
        return Err(CliError::User(format!(
            "these two cannot be compared fairly; --force compares them anyway:\n{}",
            list.join("\n")
        )));
    }
    let unfinished: Vec<Unfinished> = [("A", &a), ("B", &b)]
        .iter()
        .filter_map(|(side, run)| Unfinished::from_record(side, run))
        .collect();
    let origin = Origin::from_headers(&a.header, &b.header);
    let of_a = |target: &TargetId, step| a_view.verdict_of(target, step);
    let of_b = |target: &TargetId, step| b_view.verdict_of(target, step);
    let comparison = compare(
        Side { trials: &a.trials, verdict: &of_a },
        Side { trials: &b.trials, verdict: &of_b },
        origin,
        &mut seeded(),
    );
    if comparison.targets.is_empty() {
        let why: String = unfinished.iter().map(|run| format!("; {}", run.words())).collect();
        return Err(CliError::User(format!("the two have no target in common{why}")));
    }
    let was_to_measure = |target: &&TargetId| b.header.plan.targets.contains(target);
    let sides = Sides {
        lost: comparison.only_a.iter().filter(was_to_measure).cloned().collect(),
        a_planned: Planned::from_record(&a),
        b_planned: Planned::from_record(&b),
        a: a.header.id,
        b: b.header.id,
        a_trials: a.trials,
        b_trials: b.trials,
        unfinished,
        trust: match origin {
            Origin::OneRun => vec![a_view.trust],
            Origin::TwoRuns => vec![a_view.trust, b_view.trust],
        },
        comparison,
        origin,
        is_shown: false,
        differences: differing,
        scan: None,
        goal: None,
        more: Vec::new(),
    };
    conclude(&Decision::from(arguments), &sides)
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
pub(super) const FOR_REVISIONS: [&str; 1] = ["base_file"];
/// What those are.
pub(super) const REVISIONS: &str = "two revisions of a project (pippin.toml)";
/// Flags for branches only.
pub(super) const FOR_BRANCHES: [&str; 3] = ["target", "plan", "quick"];
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
pub(super) fn for_servers() -> Vec<String> {
    let none = clap::Command::new("none");
    let none = ShapeArguments::augment_args(none);
    let none = Http2Arguments::augment_args(RequestArguments::augment_args(none));
    let none = HostArguments::augment_args(TlsArguments::augment_args(none));
    let names = none.get_arguments().map(|argument| argument.get_id().to_string());
    names.chain(["path", "scenario", "name"].map(str::to_string)).collect()
}

/// Refuses flags that would have no effect.
pub(super) fn refuse(
    shared: &Shared,
    names: &[impl AsRef<str>],
    with: &str,
) -> Result<(), CliError> {
    match names.iter().find(|name| shared.given.contains(name.as_ref())) {
        None => Ok(()),
        Some(name) => Err(CliError::User(format!(
            "--{} goes with {with} only; leave it out",
            name.as_ref().replace('_', "-")
        ))),
    }
}

/// A run of the store, or a run as JSON in a file. A target after `#` selects that target only:
/// `latest#go/net-http`.
fn side(shared: &Shared, name: &str) -> Result<Stored, CliError> {
    let (name, target) =
        name.split_once('#').map_or((name, None), |(name, target)| (name, Some(target)));
    let mut record = if Path::new(name).is_file() {
        let text = bounded::text(Path::new(name), bounded::DATA)
            .map_err(CliError::io(format!("read {name}")))?;
        serde_json::from_str(&text).map_err(|error| {
            CliError::User(format!(
                "{name} is not a run: {error}; `pippin export RUN --format record` writes one"
            ))
        })?
    } else {
        let place = place()?;
        shared.store()?.load(name).map_err(|error| with_hint(error, name, place.root()))?
    };
    let view = View::of(&record);
    if let Some(target) = target {
        let known: Vec<String> =
            record.header.plan.targets.iter().map(ToString::to_string).collect();
        record.trials.retain(|trial| trial.spec.target.to_string() == target);
        if record.trials.is_empty() {
            return Err(CliError::User(format!(
                "run {} has no trial of `{target}` (it has {})",
                record.header.id,
                known.join(", ")
            )));
        }
    }
    Ok(Stored { run: record, target: target.map(str::to_string), view })
}

/// If there is no such run, suggests that the name may be a branch.
fn with_hint(error: StoreError, name: &str, root: &Path) -> CliError {
    match error {
        StoreError::UnknownRun(..)
            if Repository::find(root).is_ok_and(|repository| repository.knows(name)) =>
        {
            CliError::User(format!(
                "{error}; `{name}` is a revision of git: to compare a target in two of them, add --target TARGET --plan PLAN --install"
            ))
        }
        other => other.into(),
    }
}
