//! SUSPECT: short spans of answers that were read together, which have one arrival.
//!
//! Where a connection has several requests under way, answers that follow each other closely lie in
//! one read. The kernel gives the stamp of the last segment alone: it may even have merged the
//! segments (`tcp_try_coalesce`, net/ipv4/tcp_input.c). So the earlier ones seem to arrive with the
//! last one.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::stamps::share_of_short;

/// Above this share, the shown median may be one of theirs.
const MANY: f64 = 0.1;

/// Whether more than a tenth of the answers have the arrival stamp of a later one, while the median
/// of the service time is below 1 ms.
pub fn judge(evidence: &Evidence) -> Answer {
    let Some((share, median)) = share_of_short(evidence, |stamps| stamps.shared, MANY)? else {
        return Ok(None);
    };
    let seen = format!(
        "{} of the answers were read together with a later one, and count as arrived with it, with a median service time of {}",
        percent(share),
        format_ns(median)
    );
    let advice = "their times are too long by the time until that later answer: use fewer streams or requests at a time for each connection; compare CPU per request and throughput";
    Ok(Some(caveat("shared_stamps", Severity::Suspect, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn short_spans_that_end_with_a_later_answer_are_doubted() {
        let shared = |ms, answers| {
            let trial = ExampleTrial::hello().response_ms(ms).shared_stamps(answers).build();
            judged(judge, &trial)
        };
        let all = ExampleTrial::hello().build().load.unwrap().measured.requests.completed;
        let found = shared(0.5, all / 2).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.starts_with("50.0 % of the answers"), "{}", found.evidence);
        assert_eq!(shared(0.5, all / 20), None, "a few answers");
        assert_eq!(shared(1.3, all / 2), None, "long spans");
    }
}
