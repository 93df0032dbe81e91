//! NOTE: the server's use of its machine is not measured, so nobody looked whether other programs
//! disturbed it.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether the server is on another machine, or cannot be seen on this one.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let reason = evidence.context.server_not_seen.filter(|_| evidence.measured().is_some())?;
    Some(caveat(
        "server_not_seen",
        Severity::Note,
        format!(
            "the server's machine is not looked at: {reason}; the verdict is about the load and the answers"
        ),
        "see on the server's machine that nothing else uses it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::{judged, judged_in};
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_server_elsewhere_is_a_note_and_one_that_is_seen_is_none() {
        let record = ExampleTrial::hello().build();
        assert_eq!(judged(judge, &record), None);
        let context =
            Context { server_not_seen: Some("it is on another machine"), ..Context::default() };
        let found = judged_in(judge, &record, &context).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.evidence.contains("it is on another machine"), "{}", found.evidence);
    }
}
