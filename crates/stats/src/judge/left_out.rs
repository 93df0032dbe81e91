//! NOTE: processes of a server's tree work and do not serve.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Names those that were left out of the server's CPU time.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let left_out = &evidence.record.usage.as_ref()?.left_out;
    let seen = format!(
        "these processes never had a connection to this address while others had, so they are not counted as the server: {}",
        left_out.join(", ")
    );
    let advice = "if they work for it, name the server by --target-pid, which counts all below it";
    (!left_out.is_empty()).then(|| caveat("left_out", Severity::Note, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn who_is_left_out_is_named() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(judged(judge, &record), None);
        record.usage.as_mut().unwrap().left_out = vec!["job (process 77)".into()];
        let found = judged(judge, &record).unwrap();
        assert!(found.evidence.ends_with("job (process 77)"), "{found:?}");
        assert_eq!(found.severity, Severity::Note);
    }
}
