use super::*;
use pippin_model::example::run::{closed, header};
use pippin_model::example::slices::Rounds;
use pippin_model::example::{ExampleTrial, caveat};
use pippin_model::figure::Figure;
use pippin_model::plan::goal::{Changed, FEWEST_REPETITIONS};
use pippin_model::trial::{Failure, Stage};
use pippin_model::verdict::{Severity, Verdict};
use proptest::prelude::*;

use crate::interval::anytime::FEWEST_STARTS;

const NAMES: [&str; 2] = ["go/net-http", "c/nginx"];

fn with_goal(goal: Goal) -> RunHeader {
    let mut header = header("hello", "Hello", closed(), &NAMES);
    (header.plan.goal, header.plan.precision) = (Some(goal), None);
    header
}

fn within(within: f64) -> RunHeader {
    with_goal(Goal::from_parts(Some(within), None).unwrap())
}

/// The change of goodput from the first target to the second is to be known.
fn change_within(within: f64) -> RunHeader {
    let [base, target] = NAMES.map(|name| name.parse().unwrap());
    let changes = vec![Changed { base, target, figure: Figure::Goodput }];
    with_goal(Goal { changes, ..Goal::from_parts(Some(within), None).unwrap() })
}

/// Both targets, measured so often.
fn trials(repetitions: u32, start: f64, seed: u64) -> Vec<TrialRecord> {
    beside(0.0, repetitions, start, seed)
}

/// As [`trials`], on a host that scatters from round to round.
fn beside(host: f64, repetitions: u32, start: f64, seed: u64) -> Vec<TrialRecord> {
    let rounds = Rounds { repetitions, start, host, slice: 0.003, seed, ..Rounds::default() };
    let mut trials = rounds.trials(NAMES[0], 10_000.0, 10.0);
    trials.extend(rounds.trials(NAMES[1], 40_000.0, 10.0));
    for trial in &mut trials {
        trial.started_unix_ns = u64::from(trial.spec.repetition) * 30_000_000_000;
    }
    trials
}

fn progress(header: &RunHeader, trials: &[TrialRecord], made: u32) -> Progress {
    Progress::from_trials(header, trials, made).unwrap()
}

/// Where a run with these trials ends at the latest: at the first look after which nothing is open. `None`
/// if it goes on.
fn end(header: &RunHeader, trials: &[TrialRecord], looks: u32) -> Option<Progress> {
    (FEWEST_REPETITIONS..=looks)
        .map(|made| progress(header, trials, made))
        .find(|found| !found.is_open())
}

#[test]
fn both_crates_ask_for_as_many_starts() {
    assert_eq!(FEWEST_STARTS, FEWEST_REPETITIONS as usize);
}

#[test]
fn a_goal_is_reached_by_starts_that_scatter_little() {
    let calm = trials(5, 0.002, 1);
    let found = progress(&within(0.02), &calm, 5);
    assert_eq!((found.reached, found.is_open()), (Some(true), false), "{found:?}");
    assert!(found.rows.iter().all(|row| row.forecast.is_none() && row.reach.is_some()));
    let finer = progress(&within(0.0005), &calm, 5);
    assert_eq!((finer.reached, finer.is_open()), (Some(false), true));
    assert!(finer.rows.iter().all(|row| row.forecast.is_some()), "{finer:?}");
    let wild = progress(&within(0.02), &trials(5, 0.1, 1), 5);
    assert_eq!((wild.reached, wild.is_open()), (Some(false), true));
    assert_eq!(progress(&within(0.02), &calm, 3).rows[0].reach, None, "three starts show nothing");
    assert_eq!(wild.repetition_ns, Some(30e9));
}

#[test]
fn a_time_alone_goes_on_while_anything_can_be_learnt() {
    let header = with_goal(Goal::from_parts(None, Some(1)).unwrap());
    let found = progress(&header, &trials(5, 0.002, 1), 5);
    assert_eq!((found.reached, found.is_open()), (None, true));
    let mut without = header;
    without.plan.goal = None;
    assert!(Progress::from_trials(&without, &[], 5).is_none());
}

/// A target that failed or is INVALID holds nobody up, and its run has not reached its goal.
#[test]
fn what_more_repetitions_cannot_mend_does_not_hold_the_run() {
    let header = within(0.02);
    let broken: [&dyn Fn(&mut TrialRecord); 4] = [
        &|trial| {
            let (stage, message, log_tail) = (Stage::Load, "it exited".into(), Vec::new());
            trial.failure = Some(Failure { stage, message, log_tail });
        },
        &|trial| {
            trial.verdict = Verdict::Invalid;
            trial.caveats = vec![caveat("errors", Severity::Invalid, "2 %", "")];
        },
        &|trial| trial.load = None,
        &|trial| {
            trial.slices.pop();
        },
    ];
    let mut said = Vec::new();
    for breaks in broken {
        let mut records = trials(6, 0.002, 1);
        breaks(records.iter_mut().find(|it| it.spec.repetition == 2).unwrap());
        let found = progress(&header, &records, 6);
        assert_eq!((found.reached, found.is_open()), (Some(false), false), "{found:?}");
        said.push(found.outcome());
    }
    assert_eq!(
        said[1],
        "More repetitions cannot say how well these are known: go/net-http (repetition 3 is INVALID: errors). The other figures are known to ±2 % or better after 6 repetitions."
    );
    assert!(said[0].contains("go/net-http (repetition 3 failed at load)"), "{}", said[0]);
    // Skipped by the user: it has no later repetitions.
    let mut records = trials(6, 0.002, 1);
    records.retain(|it| it.spec.repetition < 2 || it.spec.target.to_string() != NAMES[0]);
    assert!(!progress(&header, &records, 6).is_open());
}

#[test]
fn of_an_interrupted_run_only_whole_repetitions_count() {
    let mut trials = trials(6, 0.002, 1);
    trials.retain(|it| it.spec.repetition < 5 || it.spec.target.to_string() == NAMES[0]);
    let mut record = RunRecord {
        header: within(0.02),
        trials,
        lives: Vec::new(),
        state: RunState::Interrupted,
        ended_unix_ns: None,
    };
    let found = Progress::of_run(&record).unwrap();
    assert_eq!((found.repetitions, found.reached), (5, Some(true)));
    record.state = RunState::Finished;
    assert_eq!(Progress::of_run(&record).unwrap().reached, Some(false));
}

#[test]
fn sentences_say_what_is_expected_and_what_came() {
    let wild = progress(&within(0.02), &trials(5, 0.02, 3), 5);
    let expected = wild.expectation();
    assert!(expected.starts_with("after 5 repetitions, the figures are known to ±"), "{expected}");
    assert!(expected.contains(" more, ") && expected.contains(" min, for ±2 %; "), "{expected}");
    assert!(expected.contains(" varies most between starts (±"), "{expected}");
    let outcome = wild.outcome();
    assert!(outcome.starts_with("±2 % was not reached in 5 repetitions: "), "{outcome}");
    assert!(outcome.contains("further repetitions would do it, about"), "{outcome}");
    assert!(outcome.contains("longer loads are no help"), "{outcome}");
    let calm = progress(&within(0.02), &trials(5, 0.002, 1), 5).outcome();
    assert!(
        calm.starts_with("Every figure is known to ±2 % or better after 5 repetitions (±"),
        "{calm}"
    );
    assert_eq!(
        [20e9, 80e9, 240e9, 7_900e9].map(words::length),
        ["20 s", "80 s", "4 min", "2 h 12 min"]
    );
}

/// Slices that scatter by a tenth, while starts differ by little: further starts have more rounds.
fn uneven(repetitions: u32) -> Vec<TrialRecord> {
    let rounds = Rounds { repetitions, start: 0.001, host: 0.0, slice: 0.1, ..Rounds::default() };
    let mut trials = rounds.trials(NAMES[0], 10_000.0, 10.0);
    trials.extend(rounds.trials(NAMES[1], 40_000.0, 10.0));
    for trial in &mut trials {
        let began = u64::from(trial.spec.repetition) * 60_000_000_000;
        let later = began.wrapping_sub(trial.started_unix_ns);
        trial.started_unix_ns = began;
        for slice in &mut trial.slices {
            slice.started_unix_ns = slice.started_unix_ns.wrapping_add(later);
        }
    }
    trials
}

#[test]
fn what_was_expected_at_the_first_look_is_held_against_what_came() {
    let header = within(0.02);
    let first = progress(&header, &uneven(5), 5);
    let choice = first.choice.unwrap();
    assert!(choice.times > 1.0 && choice.reaches && choice.repetitions > 0, "{choice:?}");
    let expected = first.expectation();
    let many = format!("about {} more with {} times as", choice.repetitions, choice.times);
    assert!(expected.contains(&many), "{expected}");
    assert!(
        expected.contains("two targets that differ by ") && expected.contains(" are then told")
    );
    let later = progress(&header, &uneven(9), 9);
    assert_eq!(later.choice, Some(choice), "it is what was chosen at the first look");
    assert!(!later.expectation().contains(" are then told"), "{}", later.expectation());
    let came = later.outcome();
    let more =
        format!("After 5 repetitions about {} more were expected, with ", choice.repetitions);
    assert!(came.contains(&more) && came.contains("; 4 were made. Two targets"), "{came}");
    assert!(
        came.contains("are told apart with 90 % power (") && came.contains(" expected after 5")
    );
    // Before the first look, and with one target, nothing is said of it.
    assert_eq!(progress(&header, &uneven(4), 4).choice, None);
    let mut alone = header;
    alone.plan.targets.truncate(1);
    let found = progress(&alone, &uneven(5), 5);
    assert_eq!((found.told_apart, found.choice.and_then(|it| it.told_apart)), (None, None));
}

#[test]
fn of_a_change_only_the_ratio_within_rounds_must_be_known() {
    let trials = beside(0.1, 5, 0.001, 1);
    let figures = progress(&within(0.02), &trials, 5);
    assert_eq!(figures.reached, Some(false), "the host moves both: {figures:?}");
    // The second answers four times as much: an interval of 0.5 % is one of 2 points.
    let change = progress(&change_within(0.05), &trials, 5);
    assert_eq!((change.reached, change.is_open()), (Some(true), false), "{change:?}");
    let said = change.outcome();
    assert!(said.starts_with("Every change is known to ±5 points or better after 5"), "{said}");
    let finer = progress(&change_within(0.001), &trials, 5);
    let said = finer.expectation();
    assert!(
        said.contains(" for ±0.1 points (at most 200 are made); the change of goodput"),
        "{said}"
    );
    assert!(said.contains(" from go/net-http to c/nginx varies most between starts"), "{said}");
    let mut lacking = trials.clone();
    lacking.retain(|trial| trial.spec.repetition != 1 || trial.spec.target.to_string() != NAMES[0]);
    let found = progress(&change_within(0.05), &lacking, 5);
    assert_eq!((found.reached, found.is_open()), (Some(false), false));
    assert!(found.outcome().contains("(repetition 2 has no result)"), "{}", found.outcome());
}

#[test]
fn trials_in_one_stretch_count_by_their_own_figure() {
    let header = within(0.02);
    let trial = |(repetition, per_s): (u32, f64)| {
        NAMES.map(|name| {
            ExampleTrial::hello().target(name).repetition(repetition).answers_per_s(per_s).build()
        })
    };
    let of = |per_s: [f64; 5]| -> Vec<TrialRecord> { (0..).zip(per_s).flat_map(trial).collect() };
    let near = progress(&header, &of([1_000.0, 1_001.0, 999.0, 1_000.5, 999.5]), 5);
    assert_eq!(near.reached, Some(true), "{near:?}");
    let far = progress(&header, &of([1_000.0, 1_100.0, 900.0, 1_000.0, 950.0]), 5);
    assert_eq!(far.reached, Some(false));
}

/// 40 answers in each start are known to one of 40, however equal they are.
#[test]
fn equal_counts_are_known_no_better_than_to_an_answer() {
    let few = |repetition: u32| {
        let trial = ExampleTrial::hello().target(NAMES[0]).repetition(repetition);
        trial.seconds(4).answers_per_s(10.0).build()
    };
    let mut header = within(0.01);
    header.plan.targets.truncate(1);
    let trials: Vec<TrialRecord> = (0..5).map(few).collect();
    let found = progress(&header, &trials, 5);
    let reach = found.rows[0].reach.unwrap();
    assert!(found.reached == Some(false) && (0.01..0.03).contains(&reach), "{found:?}");
}

/// Ways to take evidence away from a run.
#[derive(Debug, Clone, Copy)]
enum Taken {
    Trial(usize),
    Load(usize),
    Slice(usize),
    Rounds(usize),
    Verdict(usize),
    LastRepetitions(u32),
}

fn taken() -> impl Strategy<Value = Taken> {
    let place = 0..16_usize;
    prop_oneof![
        place.clone().prop_map(Taken::Trial),
        place.clone().prop_map(Taken::Load),
        place.clone().prop_map(Taken::Slice),
        place.clone().prop_map(Taken::Rounds),
        place.prop_map(Taken::Verdict),
        (1..8_u32).prop_map(Taken::LastRepetitions),
    ]
}

fn take(trials: &mut Vec<TrialRecord>, taken: Taken) {
    let many = trials.len();
    match taken {
        Taken::Trial(place) => drop(trials.remove(place % many)),
        Taken::Load(place) => trials[place % many].load = None,
        Taken::Slice(place) => drop(trials[place % many].slices.pop()),
        Taken::Rounds(place) => trials[place % many].company = None,
        Taken::Verdict(place) => trials[place % many].verdict = Verdict::Invalid,
        Taken::LastRepetitions(left) => trials.retain(|trial| trial.spec.repetition < left),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// The law: with less evidence a run never reaches its goal where it did not, nor earlier.
    #[test]
    fn less_evidence_never_gives_a_better_claim(
        seed in 0_u64..1_000,
        start in 0.001..0.02_f64,
        taken in prop::collection::vec(taken(), 1..4),
        of_change in any::<bool>()
    ) {
        const LOOKS: u32 = 8;
        let header = if of_change { change_within(0.08) } else { within(0.02) };
        let whole = trials(LOOKS, start, seed);
        let mut less = whole.clone();
        for taken in taken {
            if !less.is_empty() {
                take(&mut less, taken);
            }
        }
        let claim = |trials: &[TrialRecord]| {
            end(&header, trials, LOOKS).filter(|found| found.reached == Some(true))
        };
        if let Some(found) = claim(&less) {
            let before = claim(&whole).map(|whole| whole.repetitions);
            prop_assert_eq!(before, Some(found.repetitions));
        }
    }
}
