//! SUSPECT: the generator stood still for a while: it was stopped, or its machine was away.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent};

/// Shorter lags are those of a busy machine.
const LEAST_NS: u64 = 50_000_000;
/// The part of the measured time from which a stop changes figures.
const LIMIT: f64 = 0.005;

/// Whether the longest own lag, from when a request could be sent to when it was, is at least 50 ms
/// and above 0.5 % of the measured time. In an open loop, what waited behind it has a response time
/// that is the generator's; in a closed loop, throughput misses the time of the stop.
pub fn judge(evidence: &Evidence) -> Answer {
    let measured = evidence.needs_measured()?;
    let spans = &measured.spans;
    if spans.own_lag.count() == 0 {
        return Err(Unknown::because("no sending was timed"));
    }
    let longest = spans.own_lag.max_ns().unwrap_or(0);
    let share = longest as f64 / measured.duration_ns.max(1) as f64;
    let seen = || {
        format!(
            "the generator stood still for {} of {} ({}; limit {})",
            format_ns(longest),
            format_ns(measured.duration_ns),
            percent(share),
            percent(LIMIT)
        )
    };
    Ok((longest >= LEAST_NS && share > LIMIT).then(|| {
        let advice = "measure again. The generator was stopped, its machine was paused, or other programs used its processors";
        caveat("generator_stopped", Severity::Suspect, seen(), advice)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;

    fn with_one(mut record: TrialRecord, lag_ms: u64) -> TrialRecord {
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.duration_ns = 10_000_000_000;
        measured.spans.own_lag.record(lag_ms * 1_000_000);
        record
    }

    #[test]
    fn one_long_lag_is_a_stop_in_open_and_closed_loops() {
        for record in [ExampleTrial::open(1_000.0), ExampleTrial::hello()] {
            let record = record.own_lag_ms(0.1).build();
            let found = judged(judge, &with_one(record.clone(), 3_000)).unwrap();
            assert_eq!(found.severity, Severity::Suspect);
            assert!(found.evidence.starts_with("the generator stood still for 3.0"), "{found:?}");
            assert!(judged(judge, &with_one(record.clone(), 100)).is_some());
            assert_eq!(judged(judge, &with_one(record, 49)), None);
        }
    }
}
