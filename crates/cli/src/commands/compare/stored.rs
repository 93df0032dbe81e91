//! `pippin compare RUN RUN`: two stored runs, or one target of each.
use pippin_lab::target::revision::Repository;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::text::bounded;
use pippin_report::view::View;
use pippin_stats::compare::unfinished::Unfinished;
use pippin_stats::compare::{Difference, Origin, Side, compare, differences};
use pippin_stats::gate::Planned;
use pippin_store::StoreError;
use std::path::Path;

use super::measured::{Decision, no_result};
use super::table::{Compared, conclude};
use crate::arguments::CompareArguments;
use crate::commands::gates::seeded;
use crate::commands::{Shared, place};
use crate::exit::CliError;

/// A stored run, or one target of it.
struct Stored {
    run: RunRecord,
    /// The only target that is compared.
    target: Option<String>,
    /// The report of the whole run: a target alone would have another verdict.
    view: View,
}

pub fn run(
    shared: &Shared,
    arguments: &CompareArguments,
    [a, b]: [&str; 2],
) -> Result<u8, CliError> {
    let Stored { run: a, target: a_target, view: a_view } = side(shared, a)?;
    let Stored { run: b, target: b_target, view: b_view } = side(shared, b)?;
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
    let missing = comparison.only_a.iter().filter(was_to_measure);
    let missing = missing.map(|id| (id.clone(), no_result(&b, id))).collect();
    let compared = Compared {
        missing,
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
    conclude(&Decision::from(arguments), &compared)
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
