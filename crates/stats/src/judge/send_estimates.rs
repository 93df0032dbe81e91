//! SUSPECT or NOTE: the kernel's stamps of a sample of requests show that the estimates of when they left
//! are wrong by more than a tenth of a service time.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};

/// Fewest requests that the kernel was asked about.
const FEWEST: u64 = 20;
/// Above this share of them the shortest times are noted to be uncertain.
const NOTED: f64 = 0.1;
/// Above this share the verdict is in doubt.
const DOUBTED: f64 = 0.5;
/// A median below ten times the error that is counted (5 us) is wrong by more than a tenth.
const SHORT_NS: u64 = 50_000;

/// Whether more than a tenth of the requests that the kernel was asked about left more than 5 us from
/// their estimate, while the median of the service time is below 50 us. So it is where the generator
/// rests between two requests: the first call after a rest is slow.
pub fn judge(evidence: &Evidence) -> Answer {
    let stamps = &evidence.needs_measured()?.stamps;
    let median = evidence.needs_median_ns()?;
    if stamps.sampled < FEWEST || median >= SHORT_NS {
        return Ok(None);
    }
    let off = stamps.sampled_off as f64 / stamps.sampled as f64;
    let (severity, advice) = match off {
        off if off > DOUBTED => (
            Severity::Suspect,
            "the generator lost its processor while it sent: give it processors of its own; compare CPU per request and throughput",
        ),
        off if off > NOTED => (
            Severity::Note,
            "after a rest the call that sends is slow, so that single times may be some microseconds too long or too short: compare CPU per request and throughput, or offer a higher rate",
        ),
        _ => return Ok(None),
    };
    let seen = format!(
        "of {} requests that the kernel was asked about, {} left more than 5 µs from the estimate that their times begin with, with a median service time of {}",
        stamps.sampled,
        percent(off),
        format_ns(median)
    );
    Ok(Some(caveat("send_estimates", severity, seen, advice)))
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
        assert_eq!(of(0.03, 34, 11).unwrap().severity, Severity::Note, "300 requests/s");
        assert_eq!(of(0.03, 1_000, 500).unwrap().severity, Severity::Note);
        assert_eq!(of(0.03, 1_000, 100), None);
        assert_eq!(of(0.3, 1_000, 600), None, "long times");
        assert_eq!(of(0.03, 19, 18), None, "too few");
    }
}
