//! The law: no figure, gate, objective, capacity, knee or explanation gets better when right answers
//! are replaced by wrong, missing or hung ones, in any mode of load.
use pippin_model::example::trial::ExampleTrial;
use pippin_model::example::{overload, scenario};
use pippin_model::figure::{Point, Span};
use pippin_model::host::usage::Role;
use pippin_model::plan::objective::Objective;
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ErrorKind, Measured};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{Condition, Gate};
use pippin_stats::bottleneck::cost::cpu_seconds_per_million;
use pippin_stats::capacity::objective::misses;
use pippin_stats::capacity::overload::Overload;
use pippin_stats::capacity::step::StepOutcome;
use pippin_stats::explain::{Limit, explain};
use pippin_stats::gate::{Base, Bases, Planned, Standing, judge};
use pippin_stats::judge::Context;
use pippin_stats::rank::due;
use pippin_stats::scalability::sweep::sweeps;
use proptest::prelude::*;
use std::sync::LazyLock;

/// What becomes of a right answer.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// It comes, and is wrong.
    Wrong,
    /// The connection breaks.
    Broken,
    /// It times out.
    TimedOut,
    /// It hangs until the end.
    Hung,
}

const FATES: [Fate; 4] = [Fate::Wrong, Fate::Broken, Fate::TimedOut, Fate::Hung];

/// The modes of load.
static MODES: LazyLock<Vec<TrialRecord>> = LazyLock::new(|| {
    let mut all = vec![
        ExampleTrial::hello().build(),
        ExampleTrial::open(1_000.0).build(),
        ExampleTrial::devices(100).build(),
        ExampleTrial::search_step(1_000.0).build(),
        scenario::walked(ExampleTrial::hello().build(), &[None, Some(1_000_000), None]),
        overload::trial("a/b", overload::sheds, 0),
        overload::trial("a/b", overload::queues, 3),
        of_two_agents(),
    ];
    all.extend(sweep());
    all
});

fn sweep() -> [TrialRecord; 3] {
    let steps = [1, 2, 4];
    steps.map(|n| ExampleTrial::hello().sweep_point(n, &steps).build())
}

/// Two agents apply the load together: what they measured is added up.
fn of_two_agents() -> TrialRecord {
    let mut record = ExampleTrial::hello().build();
    let load = record.load.as_mut().unwrap();
    let peer = load.measured.clone();
    load.measured.merge(&peer);
    for window in &mut load.windows {
        window.completed *= 2;
        window.good *= 2;
        window.errors *= 2;
    }
    record
}

/// The record with this share of its right answers replaced. `late` first takes the slow ones.
fn spoiled(record: &TrialRecord, share: f64, fate: Fate, late: bool) -> TrialRecord {
    let mut record = record.clone();
    let load = record.load.as_mut().unwrap();
    let count = (load.measured.requests.good as f64 * share) as u64;
    for window in &mut load.windows {
        let of = (window.good as f64 * share) as u64;
        window.good -= of;
        window.errors += of;
        if !matches!(fate, Fate::Wrong) {
            window.completed -= of;
        }
    }
    let measured = &mut load.measured;
    for step in &mut measured.steps {
        let of = (step.good as f64 * share) as u64;
        step.good -= of;
        *step.errors.entry(ErrorKind::WrongStatus).or_default() += of;
    }
    measured.requests.good -= count;
    measured.answered.good = measured.answered.good.saturating_sub(count);
    let right = measured.status.codes.entry(200).or_default();
    *right = right.saturating_sub(count);
    let times = match fate {
        Fate::Wrong => {
            *measured.errors.entry(ErrorKind::WrongStatus).or_default() += count;
            measured.status.add(503, count);
            return record;
        }
        _ => without(&measured.spans.response_time, count, late),
    };
    measured.spans.response_time = times;
    let spans = &mut measured.spans;
    for span in [&mut spans.service_time, &mut spans.headers, &mut spans.body] {
        *span = without(span, count, late);
    }
    measured.requests.completed -= count;
    measured.answered.completed = measured.answered.completed.saturating_sub(count);
    match fate {
        Fate::Hung => {
            measured.requests.censored += count;
            let age_ns = measured.duration_ns / 2;
            measured.spans.open_age.record_n(age_ns, count);
        }
        Fate::TimedOut => {
            measured.requests.failed += count;
            *measured.errors.entry(ErrorKind::Timeout).or_default() += count;
            measured.spans.response_time.record_n(10_000_000_000, count);
        }
        _ => {
            measured.requests.failed += count;
            *measured.errors.entry(ErrorKind::CloseBeforeAnswer).or_default() += count;
        }
    }
    record
}

fn without(times: &Histogram, mut count: u64, late: bool) -> Histogram {
    let mut buckets: Vec<(u64, u64)> = times.buckets().collect();
    if late {
        buckets.reverse();
    }
    let mut left = Histogram::new();
    for (ns, of) in buckets {
        let gone = of.min(count);
        count -= gone;
        left.record_n(ns, of - gone);
    }
    left
}

/// Figures of which more is worse, each with its name. What is unknown is the worst.
fn costs(record: &TrialRecord) -> Vec<(&'static str, f64)> {
    let load = record.load.as_ref().unwrap();
    let measured: &Measured = &load.measured;
    let held = |text: &str| misses(&Objective::parse(text).unwrap(), measured).is_empty();
    let cpu = cpu_seconds_per_million(load, record.usage.as_ref().unwrap(), Role::Target);
    let beyond = Overload::from_trials(&[record]);
    let is_held = StepOutcome::from_trial(record).is_some_and(|seen| seen == StepOutcome::Held);
    let spans = [Span::ResponseTime, Span::ServiceTime, Span::Headers, Span::Body];
    let points = [Point::Quantile(0.5), Point::Quantile(0.99), Point::Mean, Point::Min, Point::Max];
    let mut costs = vec![
        ("goodput", -measured.goodput_per_s().unwrap_or(0.0)),
        ("cpu", cpu.unwrap_or(f64::INFINITY)),
        ("p99 < 50ms", f64::from(u8::from(!held("p99 < 50ms")))),
        ("max < 1s, errors < 100%", f64::from(u8::from(!held("max < 1s, errors < 100%")))),
        ("held", f64::from(u8::from(!is_held))),
        ("the best rate of an overload", -beyond.map_or(0.0, |seen| seen.best_per_s())),
        ("walks that went through", -(measured.steps.last().map_or(0.0, |last| last.good as f64))),
    ];
    for (span, point) in spans.into_iter().flat_map(|span| points.map(|point| (span, point))) {
        let found = due::point(measured, span, point);
        costs.push(("a time span", found.unwrap_or(f64::INFINITY)));
    }
    costs
}

struct NoBase;

impl Bases for NoBase {
    fn base_for(
        &self,
        _: &Condition,
        _: &TargetId,
        _: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        Err("none".into())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_gets_better_when_right_answers_are_replaced(
        mode in 0..MODES.len(),
        fate in 0..FATES.len(),
        share in 0.0005_f64..0.9,
        late in any::<bool>(),
    ) {
        let before = &MODES[mode];
        let after = spoiled(before, share, FATES[fate], late);
        for ((name, before), (_, after)) in costs(before).into_iter().zip(costs(&after)) {
            prop_assert!(
                after >= before * (1.0 - 0.002 * before.signum()),
                "{name} of mode {mode}: {before} became {after} ({:?}, {share})", FATES[fate]
            );
        }
    }

    #[test]
    fn no_gate_is_passed_by_it(
        mode in 0..MODES.len(),
        fate in 0..FATES.len(),
        share in 0.0005_f64..0.9,
        gate in 0_usize..9,
    ) {
        let gates = [
            "mean > 2ms", "service_time.p99 > 2ms", "goodput < 500/s", "p99 > 2ms", "p50 > 2ms", "max > 5s", "errors > 0.1%",
            "errors > 3", "cpu > 1ms",
        ];
        let gate = [Gate::fail_if(gates[gate]).unwrap()];
        let planned = Planned { repetitions: 1, is_whole: true };
        let of = |record: &TrialRecord| {
            judge(&gate, std::slice::from_ref(record), planned, &NoBase)[0].standing
        };
        let before = &MODES[mode];
        let after = spoiled(before, share, FATES[fate], true);
        prop_assert!(of(before) == Standing::Passed || of(&after) != Standing::Passed);
    }

    /// Who does not answer, or wrongly, is not said to keep up, and nothing is said to limit it.
    #[test]
    fn no_explanation_is_better_by_it(
        mode in 0..MODES.len(),
        fate in 0..FATES.len(),
        share in 0.0005_f64..0.9,
    ) {
        let of = |record: &TrialRecord| explain(&[record], &Context::default(), None).limit;
        let before = &MODES[mode];
        let after = of(&spoiled(before, share, FATES[fate], true));
        prop_assert!(after != Limit::NotSaturated || of(before) == Limit::NotSaturated);
        let is_silent = matches!(
            after,
            Limit::WrongAnswers | Limit::NoResult | Limit::Unknown | Limit::Generator
        );
        prop_assert!(share < 0.012 || is_silent, "{after:?} for {share} of {:?}", FATES[fate]);
    }

    #[test]
    fn no_knee_is_higher_by_it(
        fate in 0..FATES.len(),
        share in 0.0005_f64..0.9,
        at in 0_usize..3,
    ) {
        let before = sweep();
        let mut after = before.clone();
        after[at] = spoiled(&before[at], share, FATES[fate], true);
        let highest = |records: &[TrialRecord]| {
            let points = sweeps(records).remove(0).points;
            points.iter().map(|point| point.x).fold(0.0, f64::max)
        };
        prop_assert!(highest(&after) <= highest(&before) + 1e-9);
    }
}
