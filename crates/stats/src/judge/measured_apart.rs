//! NOTE: the target was not measured in turn with the others.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether the target was measured alone, because it is not idle without requests.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let reason = evidence.record.company.as_ref()?.apart.clone()?;
    Some(caveat(
        "measured_apart",
        Severity::Note,
        reason,
        "see what it does while nobody asks it; its slices share no round with those of the others",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::Company;

    #[test]
    fn only_a_target_apart_is_told() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(judged(judge, &record), None);
        record.company =
            Some(Company { targets: 3, rounds: 7, idle_cores: Some(0.001), apart: None });
        assert_eq!(judged(judge, &record), None);
        record.company = Some(Company {
            targets: 1,
            apart: Some("it used 3.1 % of a processor while others were measured".into()),
            ..Company::default()
        });
        let found = judged(judge, &record).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.evidence.contains("3.1 %"), "{}", found.evidence);
    }
}
