//! NOTE: what a sweep shows about a target: its knee, its scalability law, how many requests it
//! serves at a time.
use pippin_model::text::units::{counted, format_count};
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Severity;

use crate::judge::evidence::caveat;
use crate::judge::host;
use crate::judge::inferred_concurrency::{ADVICE, at_a_time};
use crate::judge::run::{RunCaveats, note};
use crate::scalability::predict::Misses;
use crate::scalability::sweep::{Sweep, sweeps};
use crate::scalability::usl::{Point, Usl};

/// Notes the knee of each target's sweep, and the inferred concurrency if throughput stays flat.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    for sweep in sweeps(records) {
        let own: Vec<&TrialRecord> =
            records.iter().filter(|record| record.spec.target == sweep.target).collect();
        if host::is_disturbed(&own) {
            continue;
        }
        if let Some(seen) = knee_in_words(&sweep) {
            note(
                found,
                &sweep.target,
                caveat(
                    "knee",
                    Severity::Note,
                    seen,
                    "from the knee on, more connections add waiting time and less than 10 % of throughput",
                ),
            );
        }
        if let Some(served) = sweep.served_at_a_time {
            let seen = format!(
                "throughput stays flat while connections grow: serves about {} at a time (throughput times the service time without a queue), or its rate is limited",
                at_a_time(served)
            );
            note(
                found,
                &sweep.target,
                caveat("inferred_concurrency", Severity::Note, seen, ADVICE),
            );
        }
    }
}

fn knee_in_words(sweep: &Sweep) -> Option<String> {
    let knee = sweep.knee?;
    let mut seen = format!("knee at {} with {} requests/s", knee.words(), format_count(knee.x));
    let Some(usl) = sweep.usl else { return Some(seen) };
    if let Some(doubt) = law_doubted(&usl, &sweep.points) {
        seen.push_str(&format!("; {doubt}"));
        return Some(seen);
    }
    seen.push_str(&format!(
        "; Universal Scalability Law: lambda {}, sigma {:.4}, kappa {:.6}",
        format_count(usl.lambda.value),
        usl.sigma.value,
        usl.kappa.value
    ));
    if let Some(peak) = usl.peak_n {
        seen.push_str(&format!(", peak at {peak:.0} connections"));
    }
    Some(seen)
}

/// Why the Universal Scalability Law does not describe these points; `None` if it may.
#[must_use]
pub fn law_doubted(law: &Usl, points: &[Point]) -> Option<String> {
    if let Some(miss) = law.misses_too_far(points) {
        let miss = miss * 100.0;
        return Some(format!(
            "the Universal Scalability Law does not describe the points: it misses them by {miss:.0} % in the median"
        ));
    }
    let misses = Misses::from_points(points).filter(Misses::is_law_beaten)?;
    Some(format!(
        "the Universal Scalability Law does not predict: it would have missed the latest {} by {:.1} %, the best throughput so far by {:.1} %",
        counted(misses.points as u64, "point"),
        misses.usl * 100.0,
        misses.best * 100.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    fn judged(per_second: impl Fn(u32) -> u64) -> Vec<(String, String)> {
        let steps = [1, 2, 4, 8, 16, 32, 64];
        let records: Vec<TrialRecord> = steps
            .iter()
            .map(|n| {
                ExampleTrial::hello().sweep_point(*n, &steps).completed(30 * per_second(*n)).build()
            })
            .collect();
        let mut found = RunCaveats::new();
        judge_run(&records, &mut found);
        found.into_values().flatten().map(|caveat| (caveat.id, caveat.evidence)).collect()
    }

    #[test]
    fn a_bend_is_seen_and_a_line_is_not() {
        let found = judged(|n| 50 * u64::from(n.min(8)));
        assert!(
            found[0].0 == "knee"
                && found[0].1.starts_with("knee at 8 connections with 400 requests/s"),
            "{found:?}"
        );
        assert!(found[1].1.contains("about 8 requests at a time"), "{found:?}");
        assert!(!found[0].1.contains("misses"), "{found:?}");
        let beaten = "does not predict: it would have missed the latest 2 points by ";
        assert!(found[0].1.contains(beaten), "{found:?}");
        assert!(found[0].1.ends_with("the best throughput so far by 0.0 %"), "{found:?}");
        assert_eq!(judged(|n| 50 * u64::from(n)), []);
    }

    #[test]
    fn a_law_that_fits_is_given_with_its_peak() {
        let found = judged(|n| {
            let n = f64::from(n);
            (10_000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0))).round() as u64
        });
        let seen = &found[0].1;
        assert!(seen.contains("; Universal Scalability Law: lambda "), "{found:?}");
        // The law has its peak where N is the root of (1 - sigma) / kappa.
        assert!(seen.ends_with(", peak at 31 connections"), "{found:?}");
        assert!(!seen.contains("does not"), "{found:?}");
    }

    #[test]
    fn a_knee_of_points_thrown_about_is_doubted() {
        let found = judged(|n| {
            [16_000, 53_000, 48_000, 16_000, 12_000, 37_000, 51_000][n.ilog2() as usize]
        });
        assert!(
            found[0].1.contains("the Universal Scalability Law does not describe the points"),
            "{found:?}"
        );
    }
}
