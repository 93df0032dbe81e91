//! SUSPECT: connections were dropped because the target's listen queue was full.
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether the kernel dropped connections at the target's own listening sockets during the trial. The
/// host's counter of overflows (TcpExt ListenOverflows) says nothing about whose they were.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let dropped = evidence.record.usage.as_ref()?.listen_drops.filter(|n| *n > 0)?;
    let seen = format!(
        "{} dropped by the kernel at the target's listen queue",
        counted(dropped, "connection")
    );
    let advice = "raise the server's backlog and net.core.somaxconn (`pippin doctor`): a dropped connection costs its client a second or more";
    Some(caveat("listen_overflows", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn one_is_seen_and_none_or_unknown_is_not() {
        let with = |overflows| {
            let mut record = ExampleTrial::hello().build();
            record.usage.as_mut().unwrap().listen_drops = overflows;
            judged(judge, &record)
        };
        assert_eq!(with(Some(1)).unwrap().severity, Severity::Suspect);
        assert_eq!((with(Some(0)), with(None)), (None, None));
    }
}
