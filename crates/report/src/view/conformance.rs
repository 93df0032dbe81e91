//! How targets answered at the edges of HTTP/1.1.
use pippin_model::run::RunRecord;
use pippin_model::target::TargetId;
use pippin_model::target::conformance::{Conformance, in_words};
use serde::{Deserialize, Serialize};

/// The answers of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetConformance {
    /// The target.
    pub target: TargetId,
    /// How many were right, in words.
    pub summary: String,
    /// Each answer.
    pub probes: Vec<Conformance>,
}

/// The targets of a run that were probed.
#[must_use]
pub fn from_record(record: &RunRecord) -> Vec<TargetConformance> {
    let asked = record.trials.iter().filter(|trial| !trial.conformance.is_empty());
    asked
        .map(|trial| TargetConformance {
            target: trial.spec.target.clone(),
            summary: in_words(&trial.conformance),
            probes: trial.conformance.clone(),
        })
        .collect()
}
