//! What comparisons share that measure both sides now, as targets of one run.
use pippin_lab::target::revision::Revision;
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use std::fmt::Display;

use crate::exit::CliError;
use crate::output;

/// The trials of some targets.
pub fn trials_of(record: &RunRecord, ids: &[TargetId]) -> Vec<TrialRecord> {
    record.trials.iter().filter(|trial| ids.contains(&trial.spec.target)).cloned().collect()
}

/// Whether a target has a result.
pub fn has_result(record: &RunRecord, id: &TargetId) -> bool {
    let mut trials = record.trials.iter().filter(|trial| trial.spec.target == *id);
    trials.any(|trial| trial.load.is_some() && trial.failure.is_none())
}

/// Whether a target has no result. Prints the reason on standard error, with the name of the
/// target's side.
pub fn tell_missing(record: &RunRecord, id: &TargetId, side: impl Display) -> bool {
    if has_result(record, id) {
        return false;
    }
    let unavailable = record.header.targets.get(id).and_then(|info| info.unavailable.clone());
    let mut trials = trials_of(record, std::slice::from_ref(id)).into_iter();
    let why = unavailable.or_else(|| trials.find_map(|trial| trial.failure));
    let why = why.map_or(String::new(), |why| format!(": {}: {}", why.stage.name(), why.message));
    output::say(format_args!("{side}: no result{why}"));
    true
}

/// Endings that tell the names of two revisions apart. `a/b` and `a-b` have the same label. So does
/// a branch that is compared with itself.
pub fn endings(a: &Revision, b: &Revision) -> [&'static str; 2] {
    if a.label() == b.label() { ["-a", "-b"] } else { ["", ""] }
}

/// Refuses two revisions with the same files, because any difference would be noise.
pub fn must_differ(what: impl Display, a: &Revision, b: &Revision) -> Result<(), CliError> {
    if a.tree != b.tree {
        return Ok(());
    }
    Err(CliError::User(format!(
        "{what} has the same files in `{}` ({}) and `{}` ({}): there is nothing to compare; --force measures both anyway, which shows the noise",
        a.name,
        a.short_commit(),
        b.name,
        b.short_commit()
    )))
}

/// A side in words.
pub fn words(revision: &Revision) -> String {
    format!("{} (commit {})", revision.name, revision.short_commit())
}
