//! A short form of a run, for lists.
use pippin_model::figure::RankedBy;
use pippin_model::run::digest::{CalmSlices, RunDigest, TargetDigest};
use pippin_model::target::conformance::by_kind;

use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// The digest of a run.
#[must_use]
pub fn of(view: &View) -> RunDigest {
    RunDigest {
        trials: view.run.trials,
        load: view.run.load.clone(),
        ranked_by: view.run.ranked_by.name().into(),
        targets: view.rows.iter().map(|row| target(view, row)).collect(),
        worst: view.rows.iter().filter_map(|row| row.verdict).max(),
        trust: view.trust.words(),
        slices: view
            .run
            .slices
            .as_ref()
            .map(|slices| CalmSlices { made: slices.made, calm: slices.calm }),
        spark: view.measured().next().map(spark).unwrap_or_default(),
        labels: view.run.labels.clone(),
    }
}

/// Whether targets are ranked by a time and not by a rate.
#[must_use]
pub fn is_by_time(digest: &RunDigest) -> bool {
    digest.ranked_by == RankedBy::ResponseP99.name()
}

/// The ranking figure of a target in words: `p99 1.02 ms`, `12,345 requests/s`.
#[must_use]
pub fn figure(digest: &RunDigest, figure: Option<f64>) -> String {
    if is_by_time(digest) {
        format!("p99 {}", words::ns_f(figure))
    } else {
        format!("{} requests/s", words::count(figure))
    }
}

fn target(view: &View, row: &Row) -> TargetDigest {
    let standing = &row.standing;
    let ranks = match (standing.rank_interval, standing.rank) {
        (Some(interval), _) => Some((interval.best, interval.worst)),
        (None, rank) => rank.map(|rank| (rank, rank)),
    };
    TargetDigest {
        target: row.target.clone(),
        verdict: row.verdict,
        ranks,
        figure: row.ranked.or(row.goodput_per_s).map(|figure| figure.median),
        conformance: view
            .conformance
            .iter()
            .find(|one| one.target == row.target)
            .map(|one| by_kind(&one.probes))
            .unwrap_or_default(),
        goodput_per_s: row.goodput_per_s.map(|figure| figure.median),
        p99_ns: row.response_p99_ns.map(|figure| figure.median),
    }
}

/// Answers per second over the measured part of the first repetition. If there are too many
/// windows, neighbours are averaged.
fn spark(row: &Row) -> Vec<f64> {
    let Some(first) = row.series.first() else { return Vec::new() };
    let rates: Vec<f64> = first
        .load
        .iter()
        .filter(|point| point.at_s >= 0.0)
        .map(|point| point.throughput_per_s)
        .collect();
    let each = rates.len().div_ceil(RunDigest::SPARKS).max(1);
    rates.chunks(each).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_model::verdict::Verdict;

    #[test]
    fn a_digest_tells_who_may_lead_and_what_to_doubt() {
        let record = example::rounds();
        let view = View::of(&record);
        let digest = of(&view);
        assert_eq!(digest.trials, record.trials.len() as u64);
        assert_eq!(digest.targets.len(), view.rows.len());
        let first = digest.leaders().next().unwrap();
        assert_eq!(first.target, view.rows[0].target);
        let calm = digest.slices.unwrap();
        assert!(calm.made >= calm.calm && calm.calm > 0, "{calm:?}");
        assert!(!digest.spark.is_empty() && digest.spark.len() <= RunDigest::SPARKS);
    }

    #[test]
    fn the_worst_verdict_is_that_of_any_target() {
        let digest = of(&View::of(&example::hello()));
        assert_eq!(digest.worst, Some(Verdict::Invalid));
        let mut nothing = example::hello();
        nothing.trials.clear();
        let digest = of(&View::of(&nothing));
        assert_eq!((digest.worst, digest.spark.len(), digest.leaders().count()), (None, 0, 0));
    }
}
