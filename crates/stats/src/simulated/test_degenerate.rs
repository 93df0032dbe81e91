//! Records in which figures are missing or 0 must not cause a panic, NaN or infinite figures.
use pippin_model::host::usage::Usage;
use pippin_model::result::Measured;
use pippin_model::target::TargetId;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::Verdict;
use proptest::prelude::*;

use crate::compare::{Origin, Side, compare};
use crate::explain::explain;
use crate::judge::{Context, judge_run, judge_trial};
use crate::scalability::sweep::sweeps;
use crate::simulated::test_noise::Noise;
use crate::summary::summarise;
use pippin_model::example::ExampleTrial;

fn degenerate(kind: u8, completed: u64) -> TrialRecord {
    let mut record = match kind % 4 {
        0 => ExampleTrial::hello().completed(completed),
        1 => ExampleTrial::hello().sweep_point(u32::from(kind), &[1, 2, 3]).completed(completed),
        2 => ExampleTrial::devices(3).completed(completed),
        _ => ExampleTrial::hello().counted(completed.max(1)),
    }
    .build();
    let load = record.load.as_mut();
    match kind / 4 % 6 {
        0 => record.load = None,
        1 => record.usage = None,
        2 => record.usage = Some(Usage::default()),
        3 => load.unwrap().measured = Measured::default(),
        4 => load.unwrap().windows.clear(),
        _ => load.unwrap().measured.duration_ns = 0,
    }
    record
}

fn all_figures(records: &[TrialRecord]) -> String {
    let mut noise = Noise::new(1);
    let context = Context::default();
    let mut shown = String::new();
    for record in records {
        shown.push_str(&format!("{:?}", judge_trial(record, &context)));
        shown.push_str(&explain(&[record], &context, None).text);
    }
    let run = judge_run(records);
    for summary in summarise(records, &run, &mut noise.0) {
        let figures = (
            summary.goodput_per_s,
            summary.throughput_per_s,
            summary.response_p99_ns,
            summary.usage,
            summary.cpu_s_per_million,
        );
        shown.push_str(&format!("{figures:?} {:?}", summary.caveats));
    }
    let verdict = |_: &TargetId, _| Verdict::Valid;
    let side = Side { trials: records, verdict: &verdict };
    shown.push_str(&format!(
        "{run:?} {:?} {:?}",
        sweeps(records),
        compare(side, side, Origin::TwoRuns, &mut noise.0)
    ));
    shown
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_panics_and_no_figure_is_none(kinds in prop::collection::vec(0u8..24, 1..5), completed in prop::sample::select(vec![0u64, 1, 7, 300_000])) {
        let records: Vec<TrialRecord> = kinds.iter().map(|kind| degenerate(*kind, completed)).collect();
        let shown = all_figures(&records);
        prop_assert!(!shown.contains("NaN") && !shown.contains("inf,") && !shown.contains("inf "), "{}", shown);
    }
}
