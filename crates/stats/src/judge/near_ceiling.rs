//! SUSPECT, in open loops INVALID: the throughput is close to the most that the generator can do on
//! this machine. NOTE: how far it is from that.
use pippin_model::load::Protocol;
use pippin_model::run::Calibration;
use pippin_model::text::units::format_count;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};

/// The share of the ceiling above which the figures depend on the generator.
const LIMIT: f64 = 0.90;

/// Whether the throughput is above 90 % of the calibrated ceiling for as many connections.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let (share, seen) = share_of_ceiling(evidence)?;
    (share > LIMIT).then(|| {
        caveat(
            "near_ceiling",
            // A closed loop answers at least so many; the times of an open loop are the generator's.
            if evidence.is_closed_loop() { Severity::Suspect } else { Severity::Invalid },
            format!("{seen} (limit 90 %)"),
            format!(
                "give the generator more processors ({}) and calibrate again: the target may be faster than this generator can show",
                evidence.option_source().more_processors()
            ),
        )
    })
}

/// How far the throughput is from the ceiling.
pub fn judge_headroom(evidence: &Evidence) -> Option<Caveat> {
    let (share, seen) = share_of_ceiling(evidence)?;
    (share <= LIMIT).then(|| {
        caveat(
            "headroom",
            Severity::Note,
            seen,
            "nothing to do: the generator could have sent more",
        )
    })
}

fn share_of_ceiling(evidence: &Evidence) -> Option<(f64, String)> {
    let (calibration, load) = (evidence.context.calibration?, evidence.load()?);
    if calibration.io != load.io || calibration.threads != load.threads {
        return None; // not the generator that was calibrated
    }
    let spec = evidence.record.load_spec.as_ref();
    if spec.is_some_and(|spec| spec.tls.is_some() || spec.protocol != Protocol::Http1) {
        return None; // it speaks plain HTTP/1.1
    }
    if evidence.pipeline() > 1 {
        return None; // the calibration does not pipeline
    }
    let ceiling = match evidence.requests_per_connection() {
        None => ceiling_at(calibration, evidence.connections()?)?,
        Some(1) => calibration.ceiling_connect_per_s?,
        Some(_) => return None,
    };
    let throughput = evidence.throughput_per_s()?;
    let share = throughput / ceiling;
    Some((
        share,
        format!(
            "{} requests/s are {} of the {} that this generator can reach",
            format_count(throughput),
            percent(share),
            format_count(ceiling)
        ),
    ))
}

/// A generator that was less busy than this against the null server was not at its limit. It waited
/// for answers.
const BUSY_AT_CEILING: f64 = 0.8;

/// The ceiling at a calibrated number of connections: the throughput, or, if the generator had to
/// wait because there were few connections, the throughput that its CPU time would allow.
fn own_ceiling(calibration: &Calibration, connections: u32, per_s: f64) -> f64 {
    let Some(cpu_ns) = calibration.cpu_per_request_ns.get(&connections).filter(|ns| **ns > 0.0)
    else {
        return per_s;
    };
    let by_processor = f64::from(calibration.threads) * 1e9 / cpu_ns;
    if per_s < BUSY_AT_CEILING * by_processor { by_processor } else { per_s }
}

/// The ceiling, interpolated between two calibrated numbers of connections, or that of the nearest
/// one.
fn ceiling_at(calibration: &Calibration, connections: f64) -> Option<f64> {
    let points: Vec<(f64, f64)> = calibration
        .ceiling_per_s
        .iter()
        .map(|(n, x)| (f64::from(*n), own_ceiling(calibration, *n, *x)))
        .collect();
    let above = points.partition_point(|(n, _)| *n < connections);
    let found = match (above.checked_sub(1).and_then(|below| points.get(below)), points.get(above))
    {
        (Some((n0, x0)), Some((n1, x1))) => x0 + (x1 - x0) * (connections - n0) / (n1 - n0),
        (Some((_, x)), None) | (None, Some((_, x))) => *x,
        (None, None) => return None,
    };
    (found > 0.0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::{judged, judged_in};
    use pippin_model::example::ExampleTrial;
    use pippin_model::example::run::calibration;

    #[test]
    fn above_nine_tenths_is_a_lower_bound_and_below_a_note() {
        let record = ExampleTrial::hello().build(); // 10,000 requests/s over 10 connections
        let tight = calibration(11_000.0);
        let found =
            judged_in(judge, &record, &Context { calibration: Some(&tight), ..Context::default() })
                .unwrap();
        assert!(
            found.severity == Severity::Suspect && found.evidence.contains("90.9 %"),
            "{}",
            found.evidence
        );
        let open = ExampleTrial::open(10_000.0).build();
        let context = Context { calibration: Some(&tight), ..Context::default() };
        assert_eq!(judged_in(judge, &open, &context).unwrap().severity, Severity::Invalid);
        let roomy = calibration(11_200.0);
        let context = Context { calibration: Some(&roomy), ..Context::default() };
        assert_eq!(judged_in(judge, &record, &context), None);
        let found = judged_in(judge_headroom, &record, &context).unwrap();
        assert_eq!(found.severity, Severity::Note);
        let seen = "10,000 requests/s are 89.3 % of the 11,200 that this generator can reach";
        assert_eq!(found.evidence, seen);
        let context = Context { calibration: Some(&tight), ..Context::default() };
        assert_eq!(judged_in(judge_headroom, &record, &context), None, "it is near the ceiling");
    }

    #[test]
    fn another_generator_or_none_tells_nothing() {
        let record = ExampleTrial::hello().build();
        let other = Calibration { threads: 2, ..calibration(10_000.0) };
        assert_eq!(
            judged_in(judge, &record, &Context { calibration: Some(&other), ..Context::default() }),
            None
        );
        assert_eq!(judged(judge, &record), None);
    }

    #[test]
    fn a_generator_that_waited_was_not_at_its_limit() {
        // One connection: 11,162 answers/s of 32.6 us each use a third of a core. Ten: 164,591 of
        // 5.73 us use all of it.
        let calibration = Calibration {
            ceiling_per_s: [(1, 11_162.0), (10, 164_591.0)].into(),
            cpu_per_request_ns: [(1, 32_600.0), (10, 5_730.0)].into(),
            ..calibration(1.0)
        };
        assert!((ceiling_at(&calibration, 1.0).unwrap() - 30_675.0).abs() < 1.0);
        assert_eq!(ceiling_at(&calibration, 10.0), Some(164_591.0));
    }

    #[test]
    fn the_ceiling_is_interpolated() {
        let calibration = Calibration {
            ceiling_per_s: [(1, 10_000.0), (11, 60_000.0)].into(),
            ..calibration(1.0)
        };
        for (connections, want) in
            [(1.0, 10_000.0), (6.0, 35_000.0), (11.0, 60_000.0), (500.0, 60_000.0)]
        {
            assert_eq!(ceiling_at(&calibration, connections), Some(want));
        }
    }
}
