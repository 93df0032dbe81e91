//! `pippin compare`
use pippin_lab::revision::Repository;
use pippin_model::run::RunRecord;
use pippin_stats::compare::{Difference, compare, differences};
use pippin_stats::unfinished::Unfinished;
use pippin_store::StoreError;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

use super::compare_table::{Sides, conclude};
use super::{Shared, compare_branches, root};
use crate::arguments::{CompareArguments, GateArguments};
use crate::exit::CliError;

/// The same seed gives the same intervals each time the same two are compared.
pub const SEED: u64 = 1;

pub fn run(shared: &Shared, arguments: &CompareArguments) -> Result<u8, CliError> {
    must_have_one_base(&arguments.gates)?;
    if let (Some(target), Some(plan)) = (&arguments.target, &arguments.plan) {
        return compare_branches::run(shared, arguments, target, plan);
    }
    let (a, b) = (side(shared, &arguments.a)?, side(shared, &arguments.b)?);
    let differing = differences(&a.header, &b.header);
    let refusing: Vec<&Difference> =
        differing.iter().filter(|difference| difference.refuses).collect();
    if !refusing.is_empty() && !arguments.force {
        let list: Vec<String> =
            refusing.iter().map(|d| format!("  {}: {} against {}", d.what, d.a, d.b)).collect();
        return Err(CliError::User(format!(
            "these two cannot be compared like with like; --force compares them all the same:\n{}",
            list.join("\n")
        )));
    }
    let unfinished: Vec<Unfinished> =
        [("A", &a), ("B", &b)].iter().filter_map(|(side, run)| Unfinished::of(side, run)).collect();
    let comparison = compare(&a.trials, &b.trials, &mut Xoshiro256PlusPlus::seed_from_u64(SEED));
    if comparison.targets.is_empty() {
        let why: String = unfinished.iter().map(|run| format!("; {}", run.words())).collect();
        return Err(CliError::User(format!("the two have no target in common{why}")));
    }
    let sides = Sides {
        a: a.header.id,
        b: b.header.id,
        a_trials: a.trials,
        b_trials: b.trials,
        unfinished,
        comparison,
        differences: differing,
        more: Vec::new(),
    };
    conclude(arguments, &sides)
}

/// A comparison is itself a base: A.
fn must_have_one_base(gates: &GateArguments) -> Result<(), CliError> {
    let with_base = gates.fail_if.iter().find(|gate| gate.condition.base.is_some());
    with_base.map_or(Ok(()), |gate| {
        Err(CliError::User(format!(
            "--fail-if \"{}\": changes are measured from A here; leave out `vs`",
            gate.condition
        )))
    })
}

/// A run of the store, or the JSON of one in a file; a target behind `#` narrows it:
/// `latest#go/net-http`.
fn side(shared: &Shared, name: &str) -> Result<RunRecord, CliError> {
    let (name, target) =
        name.split_once('#').map_or((name, None), |(name, target)| (name, Some(target)));
    let mut record = if Path::new(name).is_file() {
        let text = std::fs::read_to_string(name).map_err(CliError::io(format!("read {name}")))?;
        serde_json::from_str(&text).map_err(|error| {
            CliError::User(format!(
                "{name} is no run: {error}; `pippin export RUN --format record` writes one"
            ))
        })?
    } else {
        let root = root()?;
        shared.store()?.load(name).map_err(|error| with_hint(error, name, &root))?
    };
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
    Ok(record)
}

/// What is no run may be a branch.
fn with_hint(error: StoreError, name: &str, root: &Path) -> CliError {
    match error {
        StoreError::UnknownRun(..)
            if Repository::of(root).is_ok_and(|repository| repository.knows(name)) =>
        {
            CliError::User(format!(
                "{error}; `{name}` is a revision of git: to compare a target in two of them, add --target TARGET --plan PLAN --install"
            ))
        }
        other => other.into(),
    }
}
