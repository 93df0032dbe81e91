//! SUSPECT: short spans that end when the generator read the answer, not when the answer arrived.
use pippin_model::result::StampCounts;
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent};

/// Above this median of the service time, neither the generator's own wake-ups matter, nor the time
/// between answers of one read.
const LONG_NS: u64 = 1_000_000;
/// Up to this share of answers without a stamp, the shown quantiles do not change.
const FEW: f64 = 0.001;

/// The share of the answers with a stamp that a count of them is, at most 1, and the median of the
/// service time in nanoseconds. `None` if the share is at most `few`, or if spans are long.
pub(super) fn share_of_short(
    evidence: &Evidence,
    count: impl Fn(&StampCounts) -> u64,
    few: f64,
) -> Result<Option<(f64, u64)>, Unknown> {
    let stamps = &evidence.needs_measured()?.stamps;
    let median = evidence.needs_median_ns()?;
    let share = count(stamps) as f64 / stamps.kernel.max(1) as f64;
    Ok((share > few && median < LONG_NS).then_some((share.min(1.0), median)))
}

/// Whether more than 0.1 % of the answers have no arrival stamp of the kernel, while the median of
/// the service time is below 1 ms. Records from before the stamps are not judged.
pub fn judge(evidence: &Evidence) -> Answer {
    let measured = evidence.needs_measured()?;
    let all = measured.stamps.kernel + measured.stamps.user_space;
    let median = evidence.needs_median_ns()?;
    let share = measured.stamps.user_space as f64 / all.max(1) as f64;
    if share <= FEW || median >= LONG_NS {
        return Ok(None);
    }
    let seen = format!(
        "stamps: user space, for {} of the answers, with a median service time of {}",
        percent(share),
        format_ns(median)
    );
    let advice = "the generator's wake-ups and queues are in these spans: use TCP and Linux 4.14 or later, or answers with a length; compare CPU per request and throughput";
    Ok(Some(caveat("stamps", Severity::Suspect, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn short_spans_without_stamps_are_doubted() {
        let found = judged(judge, &ExampleTrial::hello().response_ms(0.5).unstamped(400).build());
        let found = found.unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.starts_with("stamps: user space, for 0.1"), "{}", found.evidence);
    }

    #[test]
    fn stamps_long_spans_and_a_few_answers_are_not() {
        let quick = || ExampleTrial::hello().response_ms(0.5);
        assert_eq!(judged(judge, &quick().stamped().build()), None);
        assert_eq!(judged(judge, &quick().build()), None, "a record from before the stamps");
        assert_eq!(judged(judge, &quick().unstamped(100).build()), None);
        assert_eq!(
            judged(judge, &ExampleTrial::hello().response_ms(1.3).unstamped(400).build()),
            None
        );
    }
}
