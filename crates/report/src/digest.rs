//! A short form of a run, for lists.
use pippin_model::figure::RankedBy;
use pippin_model::run::digest::{CalmSlices, MoreFigures, RunDigest, TargetDigest, WarmUpDigest};
use pippin_model::target::TargetId;
use pippin_model::target::conformance::by_kind;
use pippin_stats::summary::Estimate;
use pippin_stats::summary::warm_ups::WarmUps;

use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// The digest of a run.
#[must_use]
pub fn from_view(view: &View) -> RunDigest {
    RunDigest {
        trials: view.run.trials,
        load: view.run.load.clone(),
        compared: compared(view),
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

/// The values of a scan, or the revisions of targets with their commits, each once and in the order of
/// the plan. A target without a revision is that of the checkout.
fn compared(view: &View) -> String {
    if let Some(scan) = &view.plan.scan {
        let values: Vec<&str> = scan.points.iter().map(|point| point.value.as_str()).collect();
        return format!("{}={}", scan.parameter, values.join(", "));
    }
    let revision = |target: &TargetId| target.revision().map(str::to_string);
    let targets = || view.plan.targets.iter();
    if targets().all(|target| revision(target).is_none()) {
        return String::new();
    }
    let mut sides: Vec<String> = Vec::new();
    for target in targets() {
        let name = revision(target).unwrap_or_else(|| "the checkout".into());
        let commit = view.targets.get(target).and_then(|info| info.commit.as_ref());
        let side = commit.map_or_else(|| name.clone(), |it| format!("{name} ({})", it.short()));
        if !sides.contains(&side) {
            sides.push(side);
        }
    }
    sides.join(" and ")
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
        more: more(view, row),
    }
}

fn more(view: &View, row: &Row) -> MoreFigures {
    let within =
        |figure: Option<Estimate>| figure?.interval.map(|interval| (interval.low, interval.high));
    let ratio =
        row.standing.to_reference.and_then(|ratios| ratios.ratio(view.run.ranked_by.figure()));
    // CPU-seconds of a million answers are microseconds of one.
    let ns = |us: f64| us * 1e3;
    MoreFigures {
        goodput_within: within(row.goodput_per_s),
        p99_within: within(row.response_p99_ns),
        ratio: if view.run.reference.as_ref() == Some(&row.target) {
            Some(1.0)
        } else {
            ratio.map(|ratio| ratio.value)
        },
        ratio_within: ratio.map(|ratio| (ratio.interval.low, ratio.interval.high)),
        cpu_ns: row.cpu_s_per_million.map(|figure| ns(figure.median)),
        cpu_within: within(row.cpu_s_per_million).map(|(low, high)| (ns(low), ns(high))),
        memory_bytes: row.usage.target_memory_bytes,
        warm_up: row.warm_ups.as_ref().map(warm_up),
    }
}

fn warm_up(found: &WarmUps) -> WarmUpDigest {
    WarmUpDigest {
        starts: found.starts,
        class: found.class.map(|class| class.name().into()),
        steady_after_ns: found.steady_after_ns.map(|[middle, ..]| middle),
    }
}

/// Whether a run can be trusted, in its first words: `No: 0 of 3 results are VALID`.
#[must_use]
pub fn trust_in_short(digest: &RunDigest) -> &str {
    let said = digest.trust.split_once("? ").map_or(digest.trust.as_str(), |(_, said)| said);
    // A point within a figure ends nothing: `12.5 %`.
    let end = ["; ", ". "].iter().filter_map(|end| said.find(end)).min().unwrap_or(said.len());
    said[..end].trim_end_matches('.')
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
    use pippin_model::result::WarmUpWindow;
    use pippin_model::verdict::Verdict;

    #[test]
    fn a_digest_tells_who_may_lead_and_what_to_doubt() {
        let record = example::rounds();
        let view = View::of(&record);
        let digest = from_view(&view);
        assert_eq!(digest.trials, record.trials.len() as u64);
        assert_eq!(digest.targets.len(), view.rows.len());
        let first = digest.leaders().next().unwrap();
        assert_eq!(first.target, view.rows[0].target);
        let calm = digest.slices.unwrap();
        assert!(calm.made >= calm.calm && calm.calm > 0, "{calm:?}");
        assert!(!digest.spark.is_empty() && digest.spark.len() <= RunDigest::SPARKS);
        let (row, more) = (&view.rows[0], &digest.targets[0].more);
        let (low, high) = more.goodput_within.unwrap();
        let goodput = digest.targets[0].goodput_per_s.unwrap();
        assert!(low <= goodput && goodput <= high, "{low} {goodput} {high}");
        let cpu_s_per_million = row.cpu_s_per_million.unwrap().median;
        assert_eq!(more.cpu_ns, Some(cpu_s_per_million * 1e3));
        assert_eq!(more.memory_bytes, row.usage.target_memory_bytes);
        // The reference is as fast as itself, and every other ranked target has its ratio.
        for (row, target) in view.rows.iter().zip(&digest.targets) {
            let is_reference = view.run.reference.as_ref() == Some(&row.target);
            assert_eq!(target.more.ratio == Some(1.0), is_reference, "{target:?}");
            assert_eq!(target.more.ratio.is_some(), target.ranks.is_some(), "{target:?}");
        }
    }

    /// A start is slow for so many windows of 200 ms, and then three times as fast for 40 windows.
    fn warms_up_in(windows: usize) -> Vec<WarmUpWindow> {
        let window = |at: usize| WarmUpWindow {
            answers_per_s: if at < windows { 1_000.0 } else { 3_000.0 },
            cores: Some(1.0),
            compiler: None,
        };
        (0..windows + 40).map(window).collect()
    }

    #[test]
    fn a_digest_says_when_a_target_was_steady_and_nothing_where_no_start_shows_it() {
        let mut record = example::hello();
        let target = example::id("rust/axum");
        let mut starts = [10, 30, 20].into_iter();
        for trial in record.trials.iter_mut().filter(|trial| trial.spec.target == target) {
            trial.load.as_mut().unwrap().warm_up.windows = warms_up_in(starts.next().unwrap());
        }
        let digest = from_view(&View::of(&record));
        let warm_up = |target: TargetId| {
            digest.targets.iter().find(|one| one.target == target).unwrap().more.warm_up.clone()
        };
        // Steady after 2 s, 6 s and 4 s.
        let median = WarmUpDigest {
            starts: 3,
            class: Some("warms_up".into()),
            steady_after_ns: Some(4_000_000_000),
        };
        assert_eq!(warm_up(target), Some(median));
        assert_eq!(warm_up(example::id("go/net-http")), None);
        // An older digest says nothing of it.
        let older: MoreFigures = serde_json::from_str("{\"memory_bytes\": 1.0}").unwrap();
        assert_eq!((older.memory_bytes, older.warm_up), (Some(1.0), None));
    }

    #[test]
    fn the_first_words_of_a_trust_are_a_whole_thought() {
        let short = |trust: &str| {
            let mut digest = from_view(&View::of(&example::hello()));
            digest.trust = trust.into();
            trust_in_short(&digest).to_string()
        };
        assert_eq!(
            short("Can you trust it? Yes: it was looked at, and no doubt was found."),
            "Yes: it was looked at, and no doubt was found"
        );
        assert_eq!(
            short(
                "Can you trust it? Partly: 2 of 3 results are VALID; c/nginx is SUSPECT. Do: rest."
            ),
            "Partly: 2 of 3 results are VALID"
        );
        assert_eq!(
            short("Can you trust it? No: others used 1.5 % of it, and more; stop them."),
            "No: others used 1.5 % of it, and more"
        );
        assert_eq!(short("something else"), "something else");
    }

    #[test]
    fn the_worst_verdict_is_that_of_any_target() {
        let digest = from_view(&View::of(&example::hello()));
        assert_eq!(digest.worst, Some(Verdict::Invalid));
        let mut nothing = example::hello();
        nothing.trials.clear();
        let digest = from_view(&View::of(&nothing));
        assert_eq!((digest.worst, digest.spark.len(), digest.leaders().count()), (None, 0, 0));
    }
}
