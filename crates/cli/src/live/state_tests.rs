use super::super::samples::{at, caveat, failed, header, plan, record, sample, trial, window};
use super::*;
use pippin_model::trial::Step;
use pippin_model::verdict::{Severity, Verdict};

const GO: &str = "go/net-http";
const EXPRESS: &str = "javascript/express:cluster";

fn left(overall: &LiveOverall) -> Option<Duration> {
    overall.left_ns.map(Duration::from_nanos)
}

fn begun(repetitions: u32, profile: &str) -> (State, Profile) {
    let plan = plan(repetitions, profile);
    let profile = plan.profile.clone();
    let mut state = State::new(Subject::Plan);
    state.run_started(&header(plan));
    (state, profile)
}

#[test]
fn before_the_first_trial_nothing_is_claimed() {
    let (mut state, _) = begun(3, "closed");
    assert_eq!((state.overall(at(1.0)), state.progress(at(1.0)), state.skip()), (None, None, None));
}

#[test]
fn cpu_is_the_difference_of_two_samples() {
    let (mut state, profile) = begun(1, "closed");
    state.trial_started(&trial(GO, 0, &profile, None), 1, 2, at(0.0));
    state.window(&window(0, 100, 0), Some(&sample(1, 98, 45)), at(1.0));
    let usage = |state: &State| state.current.as_ref().unwrap().usage.clone();
    assert_eq!(
        (usage(&state).cores.len(), usage(&state).target_memory_bytes),
        (0, Some(34 << 20)),
        "one sample has no difference"
    );
    state.window(&window(1, 100, 0), Some(&sample(2, 98, 45)), at(2.0));
    assert_eq!(
        usage(&state).cores,
        BTreeMap::from([(Role::Target, 0.98), (Role::Generator, 0.45)])
    );
    assert_eq!(usage(&state).steal_cores, Some(0.0));
    // A repeated sample, and one whose counters ran backwards, give no usage.
    state.window(&window(2, 100, 0), Some(&sample(2, 98, 45)), at(3.0));
    assert_eq!(usage(&state).cores, BTreeMap::new());
    state.window(&window(3, 100, 0), Some(&sample(4, 1, 45)), at(4.0));
    assert_eq!(usage(&state).cores, BTreeMap::from([(Role::Generator, 0.45)]));
    state.trial_started(&trial(EXPRESS, 0, &profile, None), 2, 2, at(5.0));
    state.window(&window(0, 100, 0), Some(&sample(6, 98, 45)), at(6.0));
    assert_eq!(usage(&state).cores, BTreeMap::new(), "another target's counters are no beginning");
}

#[test]
fn time_left_is_what_is_meant_at_first_and_then_what_trials_take() {
    let (mut state, profile) = begun(3, "closed");
    let spec = trial(GO, 0, &profile, None);
    state.trial_started(&spec, 1, 6, at(0.0));
    state.stage("proving", at(1.0));
    // Six trials with a warm-up of at most 5 s and 30 s of load.
    let overall = state.overall(at(1.0)).unwrap();
    assert_eq!(
        (overall.number, overall.at_most, left(&overall)),
        (1, Some(6), Some(at(6.0 * 35.0)))
    );
    state.stage("measuring", at(2.0));
    state.window(&window(0, 100, 0), None, at(4.0));
    assert_eq!(left(&state.overall(at(4.0)).unwrap()), Some(at(29.0 + 5.0 * 35.0)));
    state.trial_finished(&record(&spec, 3_000, 0, Vec::new()), at(40.0));
    assert_eq!(state.took, [(at(40.0), false)]);
    let overall = state.overall(at(40.0)).unwrap();
    assert_eq!((left(&overall), overall.fraction), (Some(at(200.0)), Some(1.0 / 6.0)));
}

#[test]
fn skipping_takes_the_later_repetitions_away() {
    let (mut state, profile) = begun(3, "closed");
    state.trial_started(&trial(GO, 0, &profile, None), 1, 6, at(0.0));
    assert_eq!(state.skip().unwrap().to_string(), GO);
    assert_eq!(state.skip(), None, "it is skipped already");
    assert_eq!(state.overall(at(0.0)).unwrap().at_most, Some(4));
    let mut load = State::new(Subject::Url("http://127.0.0.1/".into()));
    load.trial_started(&trial("url/load", 0, &profile, None), 1, 1, at(0.0));
    assert_eq!(load.skip(), None, "a URL is no target");
}

#[test]
fn a_target_that_does_not_start_is_not_counted_on() {
    let (mut state, profile) = begun(3, "sweep");
    let spec = trial(GO, 0, &profile, None);
    state.trial_started(&spec, 1, 18, at(0.0));
    assert_eq!(state.overall(at(0.0)).unwrap().at_most, Some(18));
    state.trial_finished(&failed(&spec, Stage::Start, "exit status 1\nmore"), at(1.0));
    let told = &state.finished[0];
    assert_eq!(
        (told.failed_at.as_deref(), told.remark.as_deref()),
        (Some("start"), Some("exit status 1"))
    );
    assert_eq!(state.overall(at(1.0)).unwrap().at_most, Some(10));
    // A failure under load only ends the sweep of this repetition.
    let step = |count| Some(Step::Connections { count });
    let spec = trial(EXPRESS, 0, &profile, step(1));
    state.trial_started(&spec, 2, 18, at(2.0));
    state.trial_finished(&failed(&spec, Stage::Load, "reset"), at(3.0));
    assert_eq!(state.overall(at(3.0)).unwrap().at_most, Some(2 + 6));
}

#[test]
fn a_search_promises_no_end() {
    let objective = pippin_model::plan::objective::Objective::parse("p99 < 50ms").unwrap();
    let profile = Profile::capacity(objective, 1_000.0, 64, 5_000_000_000, 0.05);
    let mut state = State::new(Subject::Url("http://127.0.0.1/".into()));
    state.trial_started(
        &trial("url/load", 0, &profile, Some(Step::Rate { per_s: 4_000.0 })),
        3,
        3,
        at(0.0),
    );
    assert_eq!(
        state.overall(at(0.0)),
        Some(LiveOverall { number: 3, at_most: None, fraction: None, left_ns: None })
    );
    assert_eq!(state.current.as_ref().unwrap().asked(), 64);
}

#[test]
fn a_finished_trial_shows_its_weightiest_caveat_first() {
    let (mut state, profile) = begun(1, "closed");
    let spec = trial(GO, 0, &profile, None);
    state.trial_started(&spec, 1, 2, at(0.0));
    let caveats = vec![
        caveat("knee", Severity::Note, "a"),
        caveat("errors", Severity::Invalid, "b"),
        caveat("steal", Severity::Suspect, "c"),
    ];
    state.trial_finished(&record(&spec, 3_000, 30, caveats), at(30.0));
    let trial = &state.finished[0];
    assert_eq!((trial.remark.as_deref(), trial.more_caveats), (Some("errors: b"), 2));
    assert_eq!(
        (trial.requests_per_s, trial.errors, trial.verdict),
        (Some(100.0), Some(30), Verdict::Invalid)
    );
}
