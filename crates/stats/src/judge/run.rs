//! Caveats that need several trials.
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Caveat;
use std::collections::BTreeMap;

/// Caveats by target.
pub type RunCaveats = BTreeMap<TargetId, Vec<Caveat>>;

/// Adds a caveat to a target, unless it already has one with the same name and evidence.
pub(crate) fn note(found: &mut RunCaveats, target: &TargetId, caveat: Caveat) {
    let known = found.entry(target.clone()).or_default();
    if !known.iter().any(|other| other.id == caveat.id && other.evidence == caveat.evidence) {
        known.push(caveat);
    }
}

/// The trials grouped by target and step, in the order in which each group first occurs.
pub(crate) fn repetitions<'a>(
    records: impl IntoIterator<Item = &'a TrialRecord>,
) -> Vec<(&'a TargetId, Option<Step>, Vec<&'a TrialRecord>)> {
    let mut groups: Vec<(&TargetId, Option<Step>, Vec<&TrialRecord>)> = Vec::new();
    for record in records {
        let spec = &record.spec;
        match groups
            .iter_mut()
            .find(|(target, step, _)| **target == spec.target && *step == spec.step)
        {
            Some((_, _, group)) => group.push(record),
            None => groups.push((&spec.target, spec.step, vec![record])),
        }
    }
    groups
}
