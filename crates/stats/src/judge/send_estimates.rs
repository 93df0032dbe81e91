//! SUSPECT: the kernel's stamps of a sample of requests show that the estimates of when they left are
//! wrong by more than a tenth of a service time.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};

/// Fewest requests that the kernel was asked about.
const FEWEST: u64 = 50;
/// A median below ten times the error that is counted (5 us) is wrong by more than a tenth.
const SHORT_NS: u64 = 50_000;

/// Whether more than half of the requests that the kernel was asked about left more than 5 us from
/// their estimate, while the median of the service time is below 50 us.
pub fn judge(evidence: &Evidence) -> Answer {
    let stamps = &evidence.needs_measured()?.stamps;
    let median = evidence.needs_median_ns()?;
    if stamps.sampled < FEWEST || 2 * stamps.sampled_off <= stamps.sampled || median >= SHORT_NS {
        return Ok(None);
    }
    let seen = format!(
        "of {} requests that the kernel was asked about, {} left more than 5 µs from the estimate that their times begin with, with a median service time of {}",
        stamps.sampled,
        percent(stamps.sampled_off as f64 / stamps.sampled as f64),
        format_ns(median)
    );
    let advice = "the generator lost its processor while it sent: give it processors of its own; compare CPU per request and throughput";
    Ok(Some(caveat("send_estimates", Severity::Suspect, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn estimates_that_the_kernel_refutes_are_doubted_where_times_are_short() {
        let of = |ms, sampled, off| {
            judged(judge, &ExampleTrial::hello().response_ms(ms).sampled(sampled, off).build())
        };
        let found = of(0.03, 1_000, 600).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.starts_with("of 1000 requests"), "{}", found.evidence);
        assert_eq!(of(0.03, 1_000, 400), None);
        assert_eq!(of(0.3, 1_000, 600), None, "long times");
        assert_eq!(of(0.03, 40, 30), None, "too few");
    }
}
