//! NOTE: what a sweep shows about a target: its knee, its scalability law, how many requests it
//! serves at a time.
use pippin_model::text::units::format_count;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Severity;

use crate::judge::evidence::caveat;
use crate::judge::inferred_concurrency::{ADVICE, at_a_time};
use crate::judge::run::{RunCaveats, note};
use crate::scalability::sweep::{Sweep, sweeps};

/// Notes the knee of each target's sweep, and the inferred concurrency if throughput stays flat.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    for sweep in sweeps(records) {
        if let Some(seen) = knee_in_words(&sweep) {
            note(
                found,
                &sweep.target,
                caveat(
                    "knee",
                    Severity::Note,
                    seen,
                    "beyond the knee, more connections add waiting time and little throughput",
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
    let knee_text =
        format!("knee at {:.0} connections with {} requests/s", knee.n, format_count(knee.x));
    let miss = sweep.usl.and_then(|usl| usl.misses_too_far(&sweep.points));
    // If the figures are not reliable, say that first.
    let mut seen = match miss {
        Some(miss) => format!(
            "the Universal Scalability Law misses the points by {:.0} %, so neither it nor the knee is reliable: {knee_text}",
            miss * 100.0
        ),
        None => knee_text,
    };
    if let Some(usl) = sweep.usl {
        seen.push_str(&format!(
            "; Universal Scalability Law: lambda {}, sigma {:.4}, kappa {:.6}",
            format_count(usl.lambda.value),
            usl.sigma.value,
            usl.kappa.value
        ));
        if let Some(peak) = usl.peak_n {
            seen.push_str(&format!(", peak at {peak:.0} connections"));
        }
    }
    Some(seen)
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
        assert_eq!(judged(|n| 50 * u64::from(n)), []);
    }

    #[test]
    fn a_knee_of_points_thrown_about_is_doubted() {
        let found = judged(|n| {
            [16_000, 53_000, 48_000, 16_000, 12_000, 37_000, 51_000][n.ilog2() as usize]
        });
        assert!(
            found[0].1.starts_with("the Universal Scalability Law misses the points by "),
            "{found:?}"
        );
    }
}
