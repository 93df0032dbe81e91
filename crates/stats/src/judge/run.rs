//! Caveats that take several trials to see.
use pippin_model::caveat::Caveat;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use std::collections::BTreeMap;

/// Caveats by target.
pub type RunCaveats = BTreeMap<TargetId, Vec<Caveat>>;

/// Adds a caveat to a target, unless it has one of the same name and evidence.
pub(crate) fn note(found: &mut RunCaveats, target: &TargetId, caveat: Caveat) {
    let known = found.entry(target.clone()).or_default();
    if !known.iter().any(|other| other.id == caveat.id && other.evidence == caveat.evidence) {
        known.push(caveat);
    }
}

/// The repetitions of the same thing: trials of one target at one step, in the order in which they
/// first occur.
pub(crate) fn repetitions(
    records: &[TrialRecord],
) -> Vec<(&TargetId, Option<Step>, Vec<&TrialRecord>)> {
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
