//! INVALID: wrong answers: a wrong body under load, or a failed proof.
use pippin_model::result::ErrorKind;
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether any body was wrong under load or any proof failed. Wrong statuses are judged by
/// `errors`.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let bodies = evidence
        .measured()
        .and_then(|measured| measured.errors.get(&ErrorKind::WrongBody))
        .copied()
        .unwrap_or(0);
    let early = evidence
        .measured()
        .and_then(|measured| measured.errors.get(&ErrorKind::TooEarly))
        .copied()
        .unwrap_or(0);
    let mut seen = Vec::new();
    if bodies > 0 {
        seen.push(format!("{} under load had a wrong body", counted(bodies, "answer")));
    }
    if early > 0 {
        seen.push(format!("{} came before the workload's wait was over", counted(early, "answer")));
    }
    seen.extend(evidence.record.proofs.iter().filter_map(|proof| {
        proof.failure.as_ref().map(|failure| {
            format!(
                "proof `{}` of `{}` {}: {failure}",
                proof.proof,
                proof.workload,
                proof.when.words()
            )
        })
    }));
    (!seen.is_empty()).then(|| {
        caveat("wrong_answers", Severity::Invalid, seen.join("; "), "fix the target, then measure: a server that gives wrong answers does other work than requested")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::{ProofOutcome, ProofTime};

    #[test]
    fn one_wrong_body_or_failed_proof_is_enough() {
        let body = ExampleTrial::hello().error(ErrorKind::WrongBody, 1).build();
        assert_eq!(judged(judge, &body).unwrap().severity, Severity::Invalid);
        let mut proof = ExampleTrial::hello().build();
        proof.proofs.push(ProofOutcome {
            workload: "users".into(),
            proof: "fresh".into(),
            when: ProofTime::After,
            failure: Some("the old row came".into()),
            remark: None,
            doubt: None,
            packed: None,
        });
        assert!(
            judged(judge, &proof)
                .unwrap()
                .evidence
                .contains("proof `fresh` of `users` after the load: the old row came")
        );
    }

    #[test]
    fn what_was_wrong_of_the_answers_is_told_apart() {
        let wrong = ExampleTrial::hello().error(ErrorKind::WrongBody, 2);
        let found = judged(judge, &wrong.error(ErrorKind::TooEarly, 1).build()).unwrap();
        assert_eq!(
            found.evidence,
            "2 answers under load had a wrong body; 1 answer came before the workload's wait was over"
        );
    }

    #[test]
    fn a_refusal_and_a_proof_that_holds_are_not_wrong() {
        let mut record = ExampleTrial::hello().error(ErrorKind::WrongStatus, 1).build();
        record.proofs.push(ProofOutcome {
            workload: "hello".into(),
            proof: "answer".into(),
            when: ProofTime::Before,
            failure: None,
            remark: None,
            doubt: None,
            packed: None,
        });
        assert_eq!(judged(judge, &record), None);
    }
}
