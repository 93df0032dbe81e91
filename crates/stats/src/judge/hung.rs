//! SUSPECT: requests were open at the end that are far older than the longest answer: they hang.
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// A request hangs if it is this many times as old as the longest response time.
const TIMES_LONGEST: u64 = 10;
/// Younger requests may only be slow.
const YOUNGEST_NS: u64 = 1_000_000_000;

/// Whether requests hang. A step of a search, or more than the capacity, may end with a queue.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let spans = &evidence.measured()?.spans;
    let longest = spans.response_time.max_ns()?;
    let limit = longest.saturating_mul(TIMES_LONGEST).max(YOUNGEST_NS);
    let hung: u64 = spans.open.buckets().filter(|(ns, _)| *ns > limit).map(|(_, of)| of).sum();
    let oldest = spans.open.max_ns().filter(|_| hung > 0)?;
    let seen = format!(
        "{} had no answer after up to {}, and the longest answer took {} (limit: {TIMES_LONGEST} times)",
        counted(hung, "request"),
        format_ns(oldest),
        format_ns(longest)
    );
    let severity = if evidence.goes_beyond() { Severity::Note } else { Severity::Suspect };
    let how = evidence.asked_by().words(
        "give up earlier (--timeout 1s), so that they count as errors",
        "measure longer than the time limit of a request (30 s), so that they count as errors",
    );
    Some(caveat("hung", severity, seen, format!("the server forgets requests; {how}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn one_request_that_hangs_is_told() {
        let found = judged(judge, &&ExampleTrial::open(100.0).seconds(6).hung(3).build()).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.starts_with("2 requests had no answer after up to 4."), "{found:?}");
    }

    #[test]
    fn what_is_under_way_at_the_end_is_not() {
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).censored(40).build()), None);
        assert_eq!(
            judged(judge, &ExampleTrial::open(100.0).response_ms(200.0).hung(1).build()),
            None
        );
    }
}
