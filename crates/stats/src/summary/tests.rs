use super::*;
use crate::judge::{Context, judge_run, judge_trial};
use crate::rank::standing::stand_within_steps;
use crate::simulated::test_noise::Noise;
use pippin_model::example::ExampleTrial;
use pippin_model::trial::Stage;

fn trial(target: &str, completed: u64) -> TrialRecord {
    let mut record = ExampleTrial::hello().target(target).completed(completed).build();
    record.caveats = judge_trial(&record, &Context::default());
    record.verdict = Verdict::of(&record.caveats);
    record
}

fn summarised(records: &[TrialRecord]) -> Vec<TargetSummary> {
    let mut noise = Noise::new(1);
    let mut found = summarise(records, &judge_run(records), &mut noise.0);
    stand_within_steps(&mut found, records, &mut noise.0);
    found
}

#[test]
fn figures_are_taken_over_the_repetitions_of_each_target() {
    let records = [
        trial("a/a", 300_000),
        trial("b/b", 600_000),
        trial("a/a", 306_000),
        trial("b/b", 603_000),
        trial("a/a", 303_000),
        trial("b/b", 601_000),
    ];
    let found = summarised(&records);
    let a = &found[0];
    let goodput = a.goodput_per_s.unwrap();
    assert_eq!((goodput.median, goodput.best, goodput.worst), (10_100.0, 10_200.0, 10_000.0));
    assert!(goodput.interval.unwrap().covers(10_100.0));
    assert_eq!((a.trials, a.measured, a.spans.response_time.count), (3, 3, 909_000));
    assert_eq!(
        (a.standing.rank, found[1].standing.rank, a.verdict),
        (Some(2), Some(1), Some(Verdict::Valid))
    );
    let cpu = a.cpu_s_per_million.unwrap();
    assert!((cpu.median - 0.5 / 10_100.0 * 1e6).abs() < 0.01 && cpu.best < cpu.worst);
    assert_eq!(a.cost.target_cpu_s_per_million, Some(cpu.median));
    let cpu_use = a.caveats.iter().find(|counted| counted.caveat.id == "not_cpu_bound").unwrap();
    assert_eq!(cpu_use.trials, 3);
}

#[test]
fn one_invalid_trial_or_a_failed_one_takes_the_rank() {
    let mut failed = trial("c/c", 300_000);
    failed.load = None;
    failed.failure = Some(Failure {
        stage: Stage::Start,
        message: "exited with status 1".into(),
        log_tail: vec![],
    });
    failed.caveats = judge_trial(&failed, &Context::default());
    let mut busy = ExampleTrial::hello().target("a/a").own_lag_ms(3.0).build();
    busy.caveats = judge_trial(&busy, &Context::default());
    let found = summarised(&[trial("a/a", 300_000), busy, trial("b/b", 300_000), failed]);
    assert_eq!(
        found.iter().map(|summary| (summary.verdict, summary.standing.rank)).collect::<Vec<_>>(),
        [
            (Some(Verdict::Invalid), None),
            (Some(Verdict::Valid), Some(1)),
            (Some(Verdict::Invalid), None)
        ]
    );
    assert_eq!(found[0].caveats[0].trials, 1);
    assert!(found[2].goodput_per_s.is_none() && found[2].failure.is_some());
}

#[test]
fn a_lower_bound_is_ahead_of_what_ends_below_it_and_behind_nobody() {
    let bound = |target: &str, per_s: f64| {
        let mut record =
            ExampleTrial::hello().target(target).answers_per_s(per_s).generator_busy(0.97).build();
        record.caveats = judge_trial(&record, &Context::default());
        record
    };
    let found = summarised(&[bound("a/a", 16_000.0), trial("b/b", 420_000), bound("c/c", 9_000.0)]);
    let seen: Vec<_> =
        found.iter().map(|summary| (summary.at_least, summary.standing.rank)).collect();
    // c/c may be as fast as anybody; b/b is surely behind a/a.
    assert_eq!(seen, [(true, Some(1)), (false, Some(2)), (true, Some(1))]);
    assert_eq!(found[0].verdict, Some(Verdict::Suspect));
}

#[test]
fn an_interval_beyond_ten_percent_is_unsure_and_in_a_comparison_its_ratio_counts() {
    let noisy = |target: &str| {
        ExampleTrial::hello()
            .target(target)
            .seconds(10)
            .windows(|second| if second % 2 == 0 { 7_000.0 } else { 13_000.0 })
            .build()
    };
    let alone = &summarised(&[noisy("a/a")])[0];
    assert!(alone.unsure && alone.verdict == Some(Verdict::Suspect));
    assert_eq!(alone.caveats[0].caveat.id, "unsure");
    let sure = &summarised(&[trial("a/a", 300_000)])[0];
    assert!(!sure.unsure && sure.verdict == Some(Verdict::Valid), "{:?}", sure.caveats);
}

/// Trials of an open loop, all answered, in about this time.
fn open_trials(target: &str, ms: [f64; 3]) -> Vec<TrialRecord> {
    let make = |ms: &f64| ExampleTrial::open(10_000.0).target(target).response_ms(*ms).build();
    ms.iter().map(make).collect()
}

#[test]
fn where_the_schedule_sets_the_rate_the_response_time_ranks() {
    // The goodput of all three is 10,000/s; a/a is the slowest, and b/b and c/c cannot be told
    // apart.
    let mut records = open_trials("a/a", [2.0, 2.01, 1.99]);
    records.extend(open_trials("b/b", [1.0, 1.01, 0.99]));
    records.extend(open_trials("c/c", [1.001, 1.012, 0.992]));
    let found = summarised(&records);
    let goodput = |summary: &TargetSummary| summary.goodput_per_s.unwrap().median;
    assert!(found.iter().all(|summary| (goodput(summary) - 10_000.0).abs() < 1e-6));
    assert_eq!(
        found.iter().map(|summary| summary.standing.rank).collect::<Vec<_>>(),
        [Some(3), Some(1), Some(1)]
    );
    let ranked = found[0].ranked.unwrap();
    assert_eq!(found[0].ranked_by, RankedBy::ResponseP99);
    // The 99th percentile of times between 80 and 120 % of 2 ms.
    assert!(
        (ranked.median / 2.392e6 - 1.0).abs() < 0.01
            && ranked.interval.unwrap().covers(ranked.median),
        "{ranked:?}"
    );
    assert!(
        ranked.best < ranked.median && ranked.median < ranked.worst,
        "of times the best is the lowest: {ranked:?}"
    );
}

#[test]
fn a_target_that_did_not_keep_up_has_no_rank_however_fast_its_answers_are() {
    let mut records = open_trials("a/a", [2.0, 2.01, 1.99]);
    for _ in 0..3 {
        let mut late =
            ExampleTrial::open(10_000.0).target("b/b").response_ms(0.5).unsent(6_000).build();
        late.caveats = judge_trial(&late, &Context::default());
        records.push(late);
    }
    // Within every limit of the judges, although more than 1 % of its requests were not answered.
    let backlog =
        |_| ExampleTrial::open(10_000.0).target("c/c").response_ms(0.5).censored(9_000).build();
    records.extend((0..3).map(backlog));
    let found = summarised(&records);
    assert_eq!((found[0].standing.rank, found[0].verdict), (Some(1), Some(Verdict::Valid)));
    assert_eq!((found[1].standing.rank, found[1].verdict), (None, Some(Verdict::Invalid)));
    assert_eq!(
        (found[2].standing.rank, found[2].verdict, found[2].ranked),
        (None, Some(Verdict::Valid), None)
    );
}

#[test]
fn devices_are_ranked_by_response_time_and_closed_loops_by_goodput() {
    let devices =
        |target: &str, ms| ExampleTrial::devices(100).target(target).response_ms(ms).build();
    let found = summarised(&[
        devices("a/a", 130.0),
        devices("a/a", 131.0),
        devices("b/b", 100.0),
        devices("b/b", 101.0),
    ]);
    assert_eq!(
        (found[0].ranked_by, found[0].ranked.map(|f| f.median > 130e6)),
        (RankedBy::ResponseP99, Some(true))
    );
    let closed = summarised(&[trial("a/a", 300_000)]);
    assert_eq!(
        (closed[0].ranked_by, closed[0].ranked),
        (RankedBy::Goodput, closed[0].goodput_per_s)
    );
}

#[test]
fn what_took_the_rank_names_its_repetitions() {
    let mut records = [trial("a/a", 300_000), trial("a/a", 300_100), trial("a/a", 299_900)];
    for (repetition, record) in (0..).zip(&mut records) {
        record.spec.repetition = repetition;
    }
    let mut busy = ExampleTrial::hello().target("a/a").own_lag_ms(3.0).build();
    busy.caveats = judge_trial(&busy, &Context::default());
    busy.spec.repetition = 1;
    records[1] = busy;
    let found = &summarised(&records)[0];
    assert_eq!(
        (found.verdict, found.standing.rank, &found.invalid_repetitions),
        (Some(Verdict::Invalid), None, &vec![2])
    );
    let gravest = &found.caveats[0];
    assert_eq!(
        (gravest.caveat.id.as_str(), gravest.trials, &gravest.repetitions),
        ("send_lag", 1, &vec![2])
    );
    records[2].failure =
        Some(Failure { stage: Stage::Load, message: "it crashed".into(), log_tail: vec![] });
    let found = &summarised(&records)[0];
    assert_eq!((&found.failed_repetitions, &found.invalid_repetitions), (&vec![3], &vec![2, 3]));
    let all = found.caveats.iter().find(|counted| counted.trials == 3).unwrap();
    assert_eq!(all.repetitions, [1, 2, 3]);
}

#[test]
fn points_of_a_sweep_are_summarised_and_ranked_apart() {
    let point = |target: &str, count| {
        ExampleTrial::hello().target(target).sweep_point(count, &[1, 8]).build()
    };
    let found = summarised(&[point("a/a", 1), point("b/b", 1), point("a/a", 8), point("b/b", 8)]);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|summary| summary.standing.rank == Some(1)));
}

/// More doubts never make the answer better.
#[test]
fn a_target_without_a_result_and_a_second_doubt_never_raise_the_trust() {
    use crate::summary::trust::{Answer, Trust};
    let trust = |records: &[TrialRecord]| {
        let rows = summarised(records);
        Trust::from_summaries(&rows.iter().collect::<Vec<_>>(), records)
    };
    let sound = ExampleTrial::hello().build();
    let mut failed = ExampleTrial::hello().target("b/b").build();
    failed.load = None;
    failed.failure =
        Some(Failure { stage: Stage::Start, message: "it crashed".into(), log_tail: vec![] });
    failed.verdict = Verdict::Invalid;
    let found = trust(&[sound.clone(), failed]);
    assert_ne!(found.answer, Answer::Yes, "{found:?}");
    assert!(found.because.starts_with("1 of 2 targets has no result; "), "{found:?}");
    let doubted = |ids: &[&str]| {
        let mut record = sound.clone();
        let doubt = |id: &&str| Caveat {
            id: (*id).into(),
            severity: Severity::Suspect,
            evidence: "seen".into(),
            advice: String::new(),
        };
        record.caveats = ids.iter().map(doubt).collect();
        record.verdict = Verdict::of(&record.caveats);
        trust(&[record]).answer
    };
    assert_eq!(doubted(&["unsure", "unknown"]), doubted(&["unknown"]));
}

#[test]
fn what_no_quiet_machine_would_mend_is_the_reason_before_other_programs() {
    use crate::summary::trust::{Answer, Trust};
    let trust_of = |own_lag_ms: f64| {
        let mut record = ExampleTrial::hello().own_lag_ms(own_lag_ms).build();
        record.usage.as_mut().unwrap().other_cores = Some(1.0);
        record.caveats = judge_trial(&record, &Context::default());
        record.verdict = Verdict::of(&record.caveats);
        let rows = summarised(std::slice::from_ref(&record));
        Trust::from_summaries(&rows.iter().collect::<Vec<_>>(), &[record])
    };
    let disturbed = trust_of(0.0);
    assert!(disturbed.because.starts_with("other programs used"), "{disturbed:?}");
    let void = trust_of(3.0);
    assert_eq!((void.answer, void.figures), (Answer::No, false));
    assert!(void.because.starts_with("it is INVALID, "), "{void:?}");
}
