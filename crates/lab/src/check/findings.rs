//! What a check finds of a target with one workload.
use pippin_model::target::conformance::Conformance;
use pippin_model::trial::{ProofOutcome, ProofTime};

/// What was found. The target passed if `wrong` is empty.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What is wrong, in sentences.
    pub wrong: Vec<String>,
    /// What is allowed and worth knowing, each with its workload.
    pub remarks: Vec<String>,
    /// How it answers at the edges of HTTP/1.1, if that was asked for.
    pub conformance: Vec<Conformance>,
}

impl Findings {
    /// Findings with this one error.
    pub fn wrong(what: String) -> Self {
        Self { wrong: vec![what], ..Self::default() }
    }

    /// Failures of proofs, and what they remark.
    pub fn from_proofs(outcomes: &[ProofOutcome]) -> Self {
        let failure = |outcome: &ProofOutcome| {
            let failure = outcome.failure.as_ref()?;
            Some(match outcome.when {
                ProofTime::Before => format!("{}: {failure}", outcome.proof),
                when => format!("{} ({}): {failure}", outcome.proof, when.words()),
            })
        };
        let remark = |ProofOutcome { workload, proof, remark, .. }: &ProofOutcome| {
            Some(format!("{workload}: {proof}: {}", remark.as_ref()?))
        };
        Self {
            wrong: outcomes.iter().filter_map(failure).collect(),
            remarks: outcomes.iter().filter_map(remark).collect(),
            ..Self::default()
        }
    }

    /// Adds what was found later.
    pub fn add(&mut self, later: Self) {
        self.wrong.extend(later.wrong);
        self.remarks.extend(later.remarks);
        self.conformance.extend(later.conformance);
    }
}
