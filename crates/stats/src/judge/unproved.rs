//! NOTE: nothing proves that the target does its work. SUSPECT: something does, but not for sure.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether a target of a run was measured without any proof, as one from the command line is.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    evidence.measured()?;
    let is_unproved = evidence.context.may_be_unproved && evidence.record.proofs.is_empty();
    is_unproved.then(|| {
        caveat(
            "unproved",
            Severity::Note,
            "no proof says what it does: the verdict judges the measurement, not the target".into(),
            evidence.option_source().words(
                "say which answers are right (--expect-status, --expect-body)",
                "give it a workload with proofs",
            ),
        )
    })
}

/// Whether a proof holds that is not certain where it was made.
pub fn judge_doubted(evidence: &Evidence) -> Option<Caveat> {
    let doubted = evidence.record.proofs.iter().filter_map(|proof| {
        Some(format!("the proof {} is not certain: {}", proof.proof, proof.doubt.as_ref()?))
    });
    let mut seen: Vec<String> = doubted.collect();
    seen.dedup();
    let advice = "measure it where the proof is certain before you rely on the result";
    (!seen.is_empty()).then(|| caveat("proof_doubted", Severity::Suspect, seen.join("; "), advice))
}

#[cfg(test)]
mod tests {
    use crate::judge::{Context, judge_trial};
    use pippin_model::example::ExampleTrial;

    fn is_told(proofs: bool, may_be_unproved: bool) -> bool {
        let mut record = ExampleTrial::hello().build();
        if proofs {
            record.proofs.push(pippin_model::trial::ProofOutcome {
                workload: "hello".into(),
                proof: "answer".into(),
                when: pippin_model::trial::ProofTime::Before,
                failure: None,
                remark: None,
                doubt: None,
                packed: None,
            });
        } else {
            record.proofs.clear();
        }
        let context = Context { may_be_unproved, ..Context::default() };
        judge_trial(&record, &context).iter().any(|caveat| caveat.id == "unproved")
    }

    #[test]
    fn a_proof_that_is_not_certain_is_a_doubt_with_its_reason() {
        let mut record = ExampleTrial::hello().build();
        let doubted = |record: &_| {
            judge_trial(record, &Context::default())
                .into_iter()
                .find(|caveat| caveat.id == "proof_doubted")
        };
        assert_eq!(doubted(&record), None);
        record.proofs[0].doubt = Some("the target owns the table".into());
        let found = doubted(&record).unwrap();
        assert_eq!(found.severity, pippin_model::verdict::Severity::Suspect);
        assert!(found.evidence.ends_with("is not certain: the target owns the table"));
    }

    #[test]
    fn a_target_without_proofs_is_told_and_others_are_not() {
        assert!(is_told(false, true));
        assert!(!is_told(true, true));
        assert!(!is_told(false, false), "a load of a URL never has any");
    }
}
