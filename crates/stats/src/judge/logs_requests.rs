//! SUSPECT: the target logs its requests.
use pippin_model::text::units::format_bytes;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Bytes per request at which this is a request log and not an occasional line.
const LIMIT: f64 = 1.0;
/// Fewest requests. With fewer, the bytes per request are not reliable.
const FEWEST: u64 = 100;

/// Whether the target's log grew by a byte or more per request.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let completed = evidence.measured()?.requests.completed;
    let bytes = evidence.record.usage.as_ref()?.log_bytes?;
    let per_request = bytes as f64 / completed as f64;
    let seen =
        || format!("{per_request:.0} bytes of log per request ({} in all)", format_bytes(bytes));
    (completed >= FEWEST && per_request >= LIMIT).then(|| {
        caveat("logs_requests", Severity::Suspect, seen(), "switch the request log off, as production setups behind a proxy do, or log in every target")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;

    fn logging(record: ExampleTrial, bytes: u64) -> TrialRecord {
        let mut record = record.build();
        record.usage.as_mut().unwrap().log_bytes = Some(bytes);
        record
    }

    #[test]
    fn a_line_per_request_is_seen_and_a_line_now_and_then_is_not() {
        assert!(
            judged(judge, &logging(ExampleTrial::hello(), 24_000_000))
                .unwrap()
                .evidence
                .starts_with("80 bytes")
        );
        assert_eq!(judged(judge, &logging(ExampleTrial::hello(), 4_000)), None);
        assert_eq!(judged(judge, &logging(ExampleTrial::hello().counted(50), 4_000)), None);
    }
}
