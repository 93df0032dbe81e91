//! INVALID: the generator itself sent late.
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat};

/// Lateness up to this never matters.
const FLOOR_NS: u64 = 1_000_000;
/// Lateness up to this fraction of the median response time does not matter.
const FRACTION: f64 = 0.10;
/// Fewest samples that have a 99th percentile.
const FEWEST: u64 = 100;

/// Whether the 99th percentile of the generator's own lag is above 1 ms and above a tenth of the
/// median service time. The response time cannot be the measure: it includes the lag, so a later
/// generator would be allowed to be later still.
///
/// If the engine measured own lag, the wait for a free connection is not included, because the
/// target causes it. A connection is free when the kernel has its answer: unread answers are the
/// generator's lateness.
pub fn judge(evidence: &Evidence) -> Answer {
    // If users do not think, `held` judges.
    if evidence.is_saturating() && evidence.held_ns().is_some() {
        return Ok(None);
    }
    let spans = &evidence.needs_measured()?.spans;
    let (name, lag) = if spans.own_lag.count() > 0 {
        ("own lag", &spans.own_lag)
    } else {
        ("send lag", &spans.send_lag)
    };
    // If even the longest of a few is short enough, so is their 99th percentile.
    let is_few = lag.count() < FEWEST;
    let quantile = if is_few { 1.0 } else { 0.99 };
    let p99 = lag.quantile_ns(quantile).ok_or_else(|| Unknown::because("no sending was timed"))?;
    let median = evidence.needs_median_ns()?;
    let limit = FLOOR_NS.max((FRACTION * median as f64) as u64);
    let seen = || {
        format!(
            "{name} p99 {} with a median service time of {} (limit {})",
            format_ns(p99),
            format_ns(median),
            format_ns(limit)
        )
    };
    if p99 > limit && is_few {
        return Err(Unknown::because(format!(
            "{} were sent, too few for a 99th percentile, and one of them {} late",
            counted(lag.count(), "request"),
            format_ns(p99)
        )));
    }
    Ok((p99 > limit).then(|| {
        let how = evidence.option_source().more_processors();
        let advice = format!(
            "give the generator more processors ({how}), keep other programs off them, or lower the rate"
        );
        caveat("send_lag", Severity::Invalid, seen(), advice)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn lateness_above_both_limits_is_seen() {
        let late = ExampleTrial::open(10_000.0).own_lag_ms(1.2).build();
        let found = judged(judge, &late).unwrap();
        assert!(
            found.severity == Severity::Invalid && found.evidence.contains("own lag p99 1.20 ms"),
            "{}",
            found.evidence
        );
    }

    #[test]
    fn a_generator_that_falls_behind_does_not_excuse_itself_by_its_own_backlog() {
        // 1,000,000/s asked for, half of them sent: the last requests are sent 15 s late, and each
        // is answered in 0.1 ms.
        let mut behind = ExampleTrial::open(1_000_000.0).own_lag_ms(15_000.0).build();
        let spans = &mut behind.load.as_mut().unwrap().measured.spans;
        (spans.service_time, spans.response_time) = Default::default();
        spans.service_time.record_n(100_000, 1_000);
        (0..1_000u64).for_each(|i| spans.response_time.record(i * 15_000_000));
        let found = judged(judge, &behind).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("median service time of 100 µs"), "{}", found.evidence);
    }

    #[test]
    fn without_an_own_lag_the_send_lag_counts() {
        let mut late = ExampleTrial::open(10_000.0).own_lag_ms(0.1).send_lag_ms(1.2).build();
        assert_eq!(judged(judge, &late), None);
        late.load.as_mut().unwrap().measured.spans.own_lag.clear();
        let seen = judged(judge, &late).unwrap().evidence;
        assert!(seen.starts_with("send lag p99 1.20 ms"), "{seen}");
    }

    #[test]
    fn lateness_below_either_is_not() {
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).own_lag_ms(0.9).build()), None);
        assert_eq!(
            judged(judge, &ExampleTrial::open(1_000.0).response_ms(50.0).own_lag_ms(4.0).build()),
            None
        );
        // The target, not the generator, causes the wait for a free connection.
        assert_eq!(
            judged(judge, &ExampleTrial::open(10_000.0).own_lag_ms(0.1).send_lag_ms(30.0).build()),
            None
        );
        // Of 50 requests the 99th percentile is the worst one.
        assert_eq!(judged(judge, &ExampleTrial::hello().counted(50).own_lag_ms(3.0).build()), None);
    }
}
