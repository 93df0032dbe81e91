use super::*;
use pippin_model::example::slices::Rounds;
use pippin_model::example::trial::ExampleTrial;
use pippin_model::host::usage::Compiler::Jvm;
use pippin_model::host::usage::{CompilerUse, Role};
use pippin_model::result::ErrorKind;
use pippin_model::trial::instructions::{Counter, Instructions};
use pippin_model::verdict::{Severity, Verdict};
use proptest::prelude::*;

/// Uses the same trials as the base of every target.
struct Same(Vec<TrialRecord>, Origin);

impl Bases for Same {
    fn base_for(
        &self,
        _: &Condition,
        _: &TargetId,
        step: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let trials = self.0.iter().filter(|trial| trial.spec.step == step);
        let group = Group::new(trials, planned(self.0.len()));
        Ok(Some(Base { group, name: "main".into(), origin: self.1 }))
    }
}

fn planned(repetitions: usize) -> Planned {
    Planned { repetitions: repetitions as u32, is_whole: true }
}

fn trials(rates: &[f64]) -> Vec<TrialRecord> {
    let made = |(repetition, &rate): (usize, &f64)| {
        ExampleTrial::hello()
            .answers_per_s(rate)
            .target_cores(rate * 20.0 / 1e6, 1)
            .repetition(repetition as u32)
            .build()
    };
    rates.iter().enumerate().map(made).collect()
}

fn outcome(gate: &Gate, own: &[TrialRecord], base: Vec<TrialRecord>, origin: Origin) -> Outcome {
    let gates = std::slice::from_ref(gate);
    let mut all = judge(gates, own, planned(own.len()), &Same(base, origin));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn standing(gate: &str, own: Vec<TrialRecord>, base: Vec<TrialRecord>) -> Standing {
    outcome(&Gate::fail_if(gate).unwrap(), &own, base, Origin::OneRun).standing
}

fn doubt(gate: &str, own: &[TrialRecord], base: Vec<TrialRecord>) -> Option<Doubt> {
    let found = outcome(&Gate::fail_if(gate).unwrap(), own, base, Origin::OneRun);
    assert_eq!(found.standing == Standing::Undecided, found.reason.is_some());
    found.reason.map(|reason| reason.doubt)
}

#[test]
fn values_are_held_against_their_limit() {
    let of = |gate| standing(gate, trials(&[1_000.0]), vec![]);
    assert_eq!(of("goodput < 900/s"), Standing::Passed);
    assert_eq!(of("goodput < 1100/s"), Standing::Failed);
    assert_eq!(of("errors > 0"), Standing::Passed);
    assert_eq!(of("errors.timeout > 0.1%"), Standing::Passed);
    assert_eq!(of("p99 > 1ns"), Standing::Failed);
    assert_eq!(of("status.2xx < 1"), Standing::Passed);
    assert_eq!(of("cpu > 1h"), Standing::Passed);
    assert_eq!(of("memory > 1B"), Standing::Failed);
}

#[test]
fn what_is_required_fails_where_it_does_not_hold() {
    let gate = Gate::require("goodput > 1100/s").unwrap();
    let found = outcome(&gate, &trials(&[1_000.0]), vec![], Origin::OneRun);
    assert_eq!(found.standing, Standing::Failed);
    assert_eq!(found.value.map(f64::round), Some(1_000.0));
}

#[test]
fn repetitions_that_disagree_decide_nothing_until_there_are_enough() {
    assert_eq!(
        doubt("goodput < 950/s", &trials(&[1_000.0, 900.0]), vec![]),
        Some(Doubt::TooFewStarts)
    );
    let one_slow = [1_000.0, 1_001.0, 999.0, 700.0, 1_000.0, 1_002.0, 998.0];
    assert_eq!(doubt("goodput < 950/s", &trials(&one_slow), vec![]), Some(Doubt::TooNear));
}

#[test]
fn a_server_that_is_slower_in_every_round_fails_and_one_round_that_is_even_slower_changes_nothing()
{
    let base = || trials(&[1_000.0, 1_002.0, 998.0, 1_001.0, 999.0]);
    let of = |own: &[f64]| standing("goodput < -10% vs main", trials(own), base());
    assert_eq!(of(&[200.0, 201.0, 20.0, 199.0, 200.0]), Standing::Failed);
    assert_eq!(of(&[1_001.0, 1_000.0, 999.0, 998.0, 1_002.0]), Standing::Passed);
    let three = trials(&[200.0, 201.0, 20.0]);
    let base = trials(&[1_000.0, 1_002.0, 998.0]);
    assert_eq!(doubt("goodput < -10% vs main", &three, base), Some(Doubt::TooFewStarts));
}

#[test]
fn chance_is_tested_against_the_limit_and_not_against_zero() {
    let equal = || trials(&[1_000.0, 1_010.0, 990.0, 1_005.0, 995.0, 1_000.0]);
    let of = |gate: &str| {
        outcome(&Gate::require(gate).unwrap(), &equal(), equal(), Origin::OneRun).standing
    };
    assert_eq!(of("goodput > 50% vs main"), Standing::Failed);
    assert_eq!(of("p99 < -50% vs main"), Standing::Failed);
    assert_eq!(of("max < -90% vs main"), Standing::Failed);
    assert_eq!(of("goodput > -10% vs main"), Standing::Passed);
}

/// A disturbance reaches both sides of a round. Two targets that were measured apart have none in
/// common, so one of them may have been disturbed alone.
#[test]
fn sides_without_a_common_round_need_a_calm_host() {
    let made = Rounds { repetitions: 5, start: 0.001, slice: 0.002, ..Rounds::default() };
    let (own, base) = (made.trials("b/b", 500.0, 20.0), made.trials("a/a", 1_000.0, 20.0));
    let later = |mut trials: Vec<TrialRecord>| {
        trials.iter_mut().flat_map(|trial| &mut trial.slices).for_each(|it| it.round += 100);
        trials
    };
    let busy = |mut trials: Vec<TrialRecord>| {
        for slice in trials.iter_mut().flat_map(|trial| &mut trial.slices) {
            (slice.calm, slice.host.others) = (false, Some(0.5));
        }
        trials
    };
    let calm = |mut trials: Vec<TrialRecord>| {
        for slice in trials.iter_mut().flat_map(|trial| &mut trial.slices) {
            (slice.host.steal, slice.host.others) = (Some(0.0), Some(0.0));
        }
        trials
    };
    let of = |own: Vec<TrialRecord>, base: Vec<TrialRecord>| {
        let gate = Gate::fail_if("goodput < -10% vs main").unwrap();
        let found = outcome(&gate, &own, base, Origin::OneRun);
        (found.standing, found.reason.map(|reason| reason.doubt))
    };
    let failed = (Standing::Failed, None);
    assert_eq!(of(own.clone(), base.clone()), failed);
    assert_eq!(of(busy(own.clone()), busy(base.clone())), failed, "both sides of each round");
    let doubt = (Standing::Undecided, Some(Doubt::NotCalm));
    assert_eq!(of(busy(own.clone()), busy(later(base.clone()))), doubt);
    assert_eq!(of(calm(own), calm(later(base))), failed);
}

#[test]
fn one_start_knows_nothing_of_starts() {
    let (fast, slow) = (trials(&[1_000.0]), trials(&[387.0]));
    assert_eq!(doubt("goodput < -10% vs main", &slow, fast), Some(Doubt::TooFewStarts));
}

#[test]
fn shares_without_errors_in_the_base_are_compared_in_points() {
    let clean = || trials(&[1_000.0; 5]);
    let gate = Gate::require("errors <= 0% vs main").unwrap();
    let found = outcome(&gate, &clean(), clean(), Origin::OneRun);
    assert_eq!(found.standing, Standing::Passed);
    assert_eq!(found.change, Some(Change { by: 0.0, is_points: true }));
    let mut broken = clean();
    for trial in &mut broken {
        let measured = &mut trial.load.as_mut().unwrap().measured;
        measured.errors.insert(pippin_model::result::ErrorKind::Timeout, 300);
    }
    let found = outcome(&gate, &broken, clean(), Origin::OneRun);
    assert_eq!(found.standing, Standing::Failed);
    assert!(found.change.is_some_and(|change| change.is_points && change.by > 0.0));
}

#[test]
fn two_runs_are_decided_by_starts_that_lie_apart() {
    let gate = Gate::fail_if("goodput < -10% vs latest").unwrap();
    let of = |own: &[f64], base: &[f64]| {
        outcome(&gate, &trials(own), trials(base), Origin::TwoRuns).standing
    };
    let base = [1_000.0, 1_002.0, 998.0, 1_001.0];
    assert_eq!(of(&[500.0, 501.0, 499.0, 50.0], &base), Standing::Failed);
    assert_eq!(of(&[1_000.0, 1_001.0, 999.0, 1_002.0], &base), Standing::Passed);
    assert_eq!(of(&[500.0, 501.0, 499.0], &base), Standing::Undecided);
    assert_eq!(of(&[1_000.0, 500.0, 1_500.0, 900.0], &base), Standing::Undecided);
}

/// A start whose figure is unknown could have shown the change.
#[test]
fn no_change_passes_without_a_start_whose_figure_is_unknown() {
    let gate = Gate::fail_if("memory > 10% vs main").unwrap();
    let base = || trials(&[1_000.0; 6]);
    let without = || {
        let mut trials = base();
        trials[2].usage = None;
        trials
    };
    for origin in [Origin::OneRun, Origin::TwoRuns] {
        let of = |own: &[TrialRecord], base| outcome(&gate, own, base, origin).standing;
        assert_eq!(of(&base(), base()), Standing::Passed, "{origin:?}");
        assert_eq!(of(&without(), base()), Standing::Undecided, "{origin:?}");
        assert_eq!(of(&base(), without()), Standing::Undecided, "{origin:?}");
        assert_eq!(of(&without(), without()), Standing::Undecided, "{origin:?}");
    }
}

/// Callgrind and the processor do not count quite the same.
#[test]
fn instructions_of_two_counters_decide_nothing() {
    let counted = |by: Counter, count: u64| {
        let mut trials = trials(&[1_000.0; 6]);
        for trial in &mut trials {
            let counted = Instructions::between(by, [200, 1_200], [0, count * 1_000]);
            trial.instructions = Some(counted.unwrap());
        }
        trials
    };
    let gate = Gate::fail_if("instructions > 1% vs main").unwrap();
    let of = |own: &[TrialRecord], base| outcome(&gate, own, base, Origin::OneRun).standing;
    let base = || counted(Counter::Processor, 1_000);
    for (count, standing) in [(1_000, Standing::Passed), (1_500, Standing::Failed)] {
        assert_eq!(of(&counted(Counter::Processor, count), base()), standing);
        assert_eq!(of(&counted(Counter::Callgrind, count), base()), Standing::Undecided);
    }
}

/// What hangs cannot save a gate that the answers fail.
#[test]
fn a_change_that_is_clear_fails_although_a_request_hangs() {
    let mut own = trials(&[1_000.0; 5]);
    for trial in &mut own {
        let measured = &mut trial.load.as_mut().unwrap().measured;
        measured.errors.insert(ErrorKind::WrongStatus, 3_000);
        measured.spans.open_age.record_n(5_000_000_000, 3);
    }
    let base = || trials(&[1_000.0; 5]);
    assert_eq!(standing("errors > 1% vs main", own.clone(), base()), Standing::Failed);
    assert_eq!(doubt("errors > 1% vs main", &base(), own), Some(Doubt::Unknown));
}

/// 1,000 requests were 5 s old at the end, and the longest answer took some milliseconds. Each may
/// have been an error.
#[test]
fn requests_without_an_answer_may_be_what_a_gate_counts() {
    let hung = || {
        let mut own = trials(&[1_000.0; 5]);
        for trial in &mut own {
            let measured = &mut trial.load.as_mut().unwrap().measured;
            measured.spans.open_age.record_n(5_000_000_000, 1_000);
        }
        own
    };
    for gate in ["errors > 0.1%", "errors.timeout > 0.1%", "errors > 0", "status.429 > 1%"] {
        assert_eq!(doubt(gate, &hung(), vec![]), Some(Doubt::Unknown), "{gate}");
    }
    assert_eq!(standing("errors > 99%", hung(), vec![]), Standing::Passed);
    assert_eq!(standing("status.2xx < 1", hung(), vec![]), Standing::Passed);
    let against = doubt("errors > 1% vs main", &hung(), trials(&[1_000.0; 5]));
    assert_eq!(against, Some(Doubt::Unknown));
}

#[test]
fn a_share_that_is_undecided_is_shown_as_a_share() {
    let mut own = trials(&[1_000.0]);
    own[0].verdict = Verdict::Invalid;
    own[0].load.as_mut().unwrap().measured.errors.insert(ErrorKind::WrongStatus, 500);
    let found = outcome(&Gate::fail_if("errors > 0.1%").unwrap(), &own, vec![], Origin::OneRun);
    assert_eq!(found.standing, Standing::Undecided);
    assert!(found.value.is_some_and(|share| share > 0.0 && share < 1.0), "{found:?}");
}

#[test]
fn a_gate_looks_at_the_verdict_before_the_figure() {
    let mut invalid = trials(&[1_000.0; 3]);
    invalid[1].verdict = Verdict::Invalid;
    invalid[1].caveats.push(pippin_model::example::caveat("errors", Severity::Invalid, "", ""));
    let found = outcome(&Gate::fail_if("p99 > 1h").unwrap(), &invalid, vec![], Origin::OneRun);
    assert_eq!(found.reason.unwrap().text, "repetition 2 is INVALID: errors");
    let mut lost = trials(&[1_000.0; 3]);
    lost[2].load = None;
    assert_eq!(doubt("errors > 1", &lost, vec![]), Some(Doubt::Invalid));
    let base = trials(&[1_000.0; 5]);
    let own = trials(&[1_000.0, 1_001.0, 1_002.0, 999.0, 998.0]);
    let found = outcome(&Gate::fail_if("p99 > 10% vs a").unwrap(), &own, lost, Origin::OneRun);
    assert!(found.reason.unwrap().text.starts_with("main: repetition 3"));
    let gates = [Gate::fail_if("errors > 1").unwrap()];
    let of = |planned| judge(&gates, &base, planned, &Same(vec![], Origin::OneRun))[0].standing;
    assert_eq!(of(planned(6)), Standing::Undecided, "a planned repetition is missing");
    assert_eq!(of(Planned { is_whole: false, ..planned(5) }), Standing::Undecided);
}

#[test]
fn a_target_that_redirects_where_its_base_answers_passes_nothing() {
    let base = trials(&[1_000.0, 1_001.0, 999.0, 1_000.0, 1_002.0]);
    let mut own = trials(&[5_000.0, 5_001.0, 4_999.0, 5_000.0, 5_002.0]);
    for trial in &mut own {
        trial.load.as_mut().unwrap().measured.status.codes = [(302, 150_000)].into();
    }
    assert_eq!(doubt("goodput < -10% vs main", &own, base.clone()), Some(Doubt::OtherAnswers));
    assert_eq!(doubt("cpu > 10% vs main", &own, base.clone()), Some(Doubt::OtherAnswers));
    assert_eq!(doubt("errors > 1% vs main", &own, base), None, "they are no errors");
}

#[test]
fn a_base_that_runs_the_files_of_the_checkout_decides_nothing() {
    let own = trials(&[1_000.0, 1_001.0, 1_002.0, 999.0, 998.0]);
    let mut base = own.clone();
    assert_eq!(doubt("goodput < -10% vs main", &own, base.clone()), None);
    base[0].elsewhere = Some("/shop/server.js".into());
    assert_eq!(doubt("goodput < -10% vs main", &own, base), Some(Doubt::OtherFiles));
}

#[test]
fn absolute_gates_need_a_calm_host_and_changes_do_not() {
    let mut noisy = trials(&[1_000.0, 1_001.0, 999.0, 1_000.0, 1_002.0]);
    for trial in &mut noisy {
        trial.usage.as_mut().unwrap().other_cores = Some(1.0);
    }
    assert_eq!(doubt("p99 > 1h", &noisy, vec![]), Some(Doubt::NotCalm));
    assert_eq!(doubt("errors > 1", &noisy, vec![]), None);
    assert_eq!(doubt("goodput < -10% vs main", &noisy, noisy.clone()), None);
    let mut unknown = noisy.clone();
    unknown.iter_mut().for_each(|trial| trial.usage = None);
    assert_eq!(doubt("p99 > 1h", &unknown, vec![]), Some(Doubt::NotCalm));
}

#[test]
fn what_was_not_warm_decides_no_time_and_no_change() {
    let cold = |repetition| {
        ExampleTrial::hello()
            .windows(|i| 10_000.0 - 100.0 * f64::from(i))
            .repetition(repetition)
            .build()
    };
    let cold: Vec<TrialRecord> = (0..5).map(cold).collect();
    assert_eq!(doubt("p99 > 1h", &cold, vec![]), Some(Doubt::NotWarm));
    assert_eq!(doubt("goodput < -10% vs main", &cold, cold.clone()), Some(Doubt::NotWarm));
    assert_eq!(doubt("errors > 1", &cold, vec![]), None);
}

/// Starts of a change, of which these (from 0) are cold on this side.
fn cold_in(starts: &[usize], mut trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
    for trial in &mut trials {
        if starts.contains(&(trial.spec.repetition as usize)) {
            let windows = &mut trial.load.as_mut().unwrap().windows;
            for (at, window) in windows.iter_mut().enumerate() {
                window.completed = 10_000 - 100 * at as u64;
            }
        }
    }
    trials
}

#[test]
fn starts_that_were_not_warm_are_left_out_on_both_sides() {
    let gate = Gate::fail_if("goodput < -10% vs main").unwrap();
    let of = |own: &[usize], base: &[usize]| {
        let rates = [1_000.0, 1_001.0, 999.0, 1_000.0, 1_002.0, 998.0, 1_000.0, 1_001.0];
        let found = outcome(
            &gate,
            &cold_in(own, trials(&rates)),
            cold_in(base, trials(&rates)),
            Origin::OneRun,
        );
        let left_out = found.left_out.clone().unwrap_or_default();
        (found.standing, left_out.count(), found.reason)
    };
    assert_eq!(of(&[], &[]), (Standing::Passed, 0, None));
    assert_eq!(of(&[1], &[1, 4]), (Standing::Passed, 2, None), "one start was cold on both sides");
    let (standing, count, reason) = of(&[1, 3], &[0, 6]);
    assert_eq!((standing, count), (Standing::Undecided, 4), "four are too few");
    let reason = reason.unwrap();
    assert_eq!(reason.doubt, Doubt::NotWarm);
    for words in [
        "4 of 8 starts do not count: the throughput still changed in 4 (repetition 1: main: ",
        "; warm up longer (warm_up = \"30s\" in the plan)",
    ] {
        assert!(reason.text.contains(words), "{}", reason.text);
    }
}

/// A start that is known to be cold is left out; one of which nobody knows decides nothing.
#[test]
fn a_start_of_which_nothing_is_known_is_not_left_out() {
    let gate = Gate::fail_if("goodput < -10% vs main").unwrap();
    let rates = [1_000.0; 9];
    let mut own = trials(&rates);
    let load = own[3].load.as_mut().unwrap();
    load.windows.clear();
    load.warm_up.steady = None;
    let found = outcome(&gate, &own, trials(&rates), Origin::OneRun);
    assert_eq!((found.standing, found.left_out), (Standing::Undecided, None));
    assert!(found.reason.unwrap().text.starts_with("repetition 4: "));
}

#[test]
fn more_starts_help_where_some_count() {
    let gate = Gate::fail_if("goodput < -10% vs main").unwrap();
    let of = |cold: &[usize]| {
        let rates = [1_000.0; 6];
        needs_more_starts(&outcome(
            &gate,
            &cold_in(cold, trials(&rates)),
            trials(&rates),
            Origin::OneRun,
        ))
    };
    assert_eq!((of(&[]), of(&[0, 1]), of(&[0, 1, 2, 3, 4, 5])), (false, true, false));
}

/// What costs many times as much fails although no start was warm; what a compiler may explain does not,
/// and nothing passes.
#[test]
fn a_change_that_warmth_cannot_explain_fails_by_cold_starts() {
    use super::comparing::Comparing;
    use crate::interval::anytime::Levels;
    let gates = vec![Gate::fail_if("cpu > 2% vs base").unwrap()];
    let levels = Levels::of_comparison(0.003, &gates, 1);
    let pair = ("a/a".parse().unwrap(), "b/b".parse().unwrap());
    let comparing = Comparing { gates, levels, pairs: vec![pair] };
    let of = |times: f64, cold: &[u32]| {
        let rounds = Rounds { repetitions: 5, start: 0.05, slice: 0.05, ..Rounds::default() };
        let mut trials = rounds.trials("a/a", 1_000.0, 100.0);
        trials.extend(rounds.trials("b/b", 1_000.0, 100.0 * times));
        for trial in &mut trials {
            if cold.contains(&trial.spec.repetition) {
                let compiler = CompilerUse { compiler: Jvm, cpu_ns: u64::MAX / 4, age_ns: 1 };
                let usage = trial.usage.as_mut().unwrap();
                usage.roles.get_mut(&Role::Target).unwrap().compiler = Some(compiler);
            }
        }
        comparing.outcomes(&trials, 5, 5).remove(0)
    };
    let all = [0, 1, 2, 3, 4];
    assert_eq!(of(10.0, &[]).standing, Standing::Failed);
    for cold in [&all[..], &all[..3], &all[..1]] {
        let found = of(10.0, cold);
        assert_eq!(found.standing, Standing::Failed, "{:?}", found.reason);
        let by = found.change.unwrap().by;
        assert!((7.0..11.0).contains(&by), "what is shown has no handicap: {by}");
        let text = found.reason.unwrap().text;
        assert!(text.starts_with(&format!("{} of 5 starts w", cold.len())), "{text}");
    }
    for times in [0.1, 1.0, 1.5, 2.0] {
        let found = of(times, &all);
        assert_eq!(found.standing, Standing::Undecided, "{times}");
        assert_eq!(found.reason.unwrap().doubt, Doubt::NotWarm);
    }
}

/// What may stay unseen is said, and only of what passed.
#[test]
fn a_change_that_passes_says_what_it_surely_keeps() {
    use super::comparing::Comparing;
    use crate::interval::anytime::Levels;
    let of = |gate: &str, rate: f64| {
        let gates = vec![Gate::fail_if(gate).unwrap()];
        let levels = Levels::of_comparison(0.003, &gates, 1);
        let pair = ("a/a".parse().unwrap(), "b/b".parse().unwrap());
        let comparing = Comparing { gates, levels, pairs: vec![pair] };
        let rounds = Rounds { repetitions: 12, start: 0.002, slice: 0.002, ..Rounds::default() };
        let mut trials = rounds.trials("a/a", 1_000.0, 20.0);
        trials.extend(rounds.trials("b/b", rate, 20_000.0 / rate));
        let outcome = comparing.outcomes(&trials, 12, 5).remove(0);
        (outcome.standing, outcome.surely.map(|by| (by * 1e4).round() / 1e4))
    };
    assert_eq!(of("cpu > 2% vs base", 1_000.0), (Standing::Passed, Some(0.0506)));
    assert_eq!(of("goodput < -10% vs base", 1_000.0), (Standing::Passed, Some(-0.1262)));
    assert_eq!(of("cpu > 2% vs base", 900.0), (Standing::Failed, None));
}

#[test]
fn a_target_that_was_not_measured_fails_each_gate() {
    let gates = [Gate::require("errors < 1%").unwrap(), Gate::fail_if("p99 > 1h").unwrap()];
    let target = "own/shop".parse().unwrap();
    let outcomes: Vec<Outcome> = unmeasured(&gates, &target, "install: it broke").collect();
    assert_eq!(outcomes.len(), 2);
    for outcome in outcomes {
        assert_eq!((&outcome.target, outcome.standing), (&target, Standing::Failed));
        assert_eq!(outcome.reason.unwrap().text, "not measured: install: it broke");
    }
}

#[test]
fn a_gate_judges_the_change_that_a_comparison_shows() {
    // The host varies between half and full speed from round to round.
    let rounds = Rounds { repetitions: 5, host: 0.3, slice: 0.01, start: 0.0, ..Rounds::default() };
    let (a, b) = (rounds.trials("a/a", 10_000.0, 20.0), rounds.trials("b/b", 9_000.0, 20.0));
    let mut noise = crate::simulated::test_noise::Noise::new(1);
    let verdict = |_: &TargetId, _| Verdict::Valid;
    let side = |trials| crate::compare::Side { trials, verdict: &verdict };
    let shown = &crate::compare::compare(side(&a), side(&b), Origin::OneRun, &mut noise.0);
    let shown = &shown.targets[0];
    for (condition, place) in [("goodput < -5%", 0), ("p50 > 5%", 1)] {
        let judged = outcome(&Gate::fail_if(condition).unwrap(), &b, a.clone(), Origin::OneRun);
        let change = shown.changes[place].relative().unwrap();
        assert!((judged.change.unwrap().by - change).abs() < 1e-9, "{condition}");
        assert_eq!(judged.standing, Standing::Failed, "{condition}");
    }
}

#[test]
fn more_repetitions_are_made_only_where_they_help() {
    let of = |doubt| {
        let mut found = outcome(
            &Gate::fail_if("errors > 1").unwrap(),
            &trials(&[1_000.0]),
            vec![],
            Origin::OneRun,
        );
        found.reason = Some(Reason::new(doubt, ""));
        [5, 10].map(|made| may_be_decided(std::slice::from_ref(&found), made, 3))
    };
    assert_eq!(of(Doubt::TooNear), [true, false]);
    assert_eq!(of(Doubt::Invalid), [false, false]);
    assert_eq!(most_repetitions(5), 15);
}

/// Gates of every form that pass on the trials below.
const FORMS: [&str; 8] = [
    "goodput < 900/s",
    "p99 > 1h",
    "max > 1h",
    "errors > 0.1%",
    "errors > 3",
    "memory > 100000MiB",
    "goodput < -10% vs main",
    "errors > 1% vs main",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The law: take any evidence away, and no gate passes by it.
    #[test]
    fn less_evidence_passes_nothing(
        rates in prop::collection::vec(400.0_f64..1_600.0, 5..8),
        form in 0..FORMS.len(),
        at in 0_usize..8,
        part in 0_usize..6,
        of_base in any::<bool>(),
    ) {
        let gate = Gate::fail_if(FORMS[form]).unwrap();
        let (own, base) = (trials(&rates), trials(&vec![1_000.0; rates.len()]));
        let judged = |own: &[TrialRecord], base: Vec<TrialRecord>| {
            let bases = Same(base, Origin::OneRun);
            let all = judge(std::slice::from_ref(&gate), own, planned(rates.len()), &bases);
            all.first().map_or(Standing::Undecided, |outcome| outcome.standing)
        };
        let before = judged(&own, base.clone());
        let (mut own, mut base) = (own, base);
        let side = if of_base { &mut base } else { &mut own };
        let at = at % side.len();
        match part {
            0 => { side.remove(at); }
            1 => side[at].load = None,
            2 => side[at].usage = None,
            3 => side[at].load.as_mut().unwrap().windows.clear(),
            4 => {
                let usage = side[at].usage.as_mut().unwrap();
                (usage.other_cores, usage.steal_cores) = (None, None);
            }
            _ => side[at].load.as_mut().unwrap().windows.truncate(3),
        }
        prop_assert!(judged(&own, base) != Standing::Passed || before == Standing::Passed);
    }

    /// That law over every part of a record: a field set to null, an item taken out, a histogram.
    #[test]
    fn no_part_of_a_record_that_is_taken_away_passes_a_gate(
        rate in 400.0_f64..1_600.0,
        form in 0..FORMS.len(),
        at in 0_usize..5,
        of_base in any::<bool>(),
    ) {
        let gate = Gate::fail_if(FORMS[form]).unwrap();
        let (own, base) = (trials(&[rate; 5]), trials(&[1_000.0; 5]));
        let judged = |own: &[TrialRecord], base: &[TrialRecord]| {
            let bases = Same(base.to_vec(), Origin::OneRun);
            judge(std::slice::from_ref(&gate), own, planned(5), &bases)[0].standing
        };
        if judged(&own, &base) == Standing::Passed {
            return Ok(());
        }
        let (mut less_own, mut less_base) = (own.clone(), base.clone());
        let whole = if of_base { &base[at] } else { &own[at] };
        for (place, less) in crate::judge::law::reduced(whole) {
            if of_base { less_base[at] = less } else { less_own[at] = less }
            prop_assert!(judged(&less_own, &less_base) != Standing::Passed, "without {place}");
        }
    }

    /// The law: a worse round never turns failed into passed.
    #[test]
    fn worse_rounds_never_turn_failed_into_passed(
        rates in prop::collection::vec(400.0_f64..1_600.0, 5..9),
        worse in prop::collection::vec(0.01_f64..1.0, 9),
        form in 0..FORMS.len(),
    ) {
        let gate = Gate::fail_if(FORMS[form]).unwrap();
        let base = || trials(&vec![1_000.0; rates.len()]);
        let now: Vec<f64> = rates.iter().zip(&worse).map(|(rate, worse)| rate * worse).collect();
        let of = |rates: &[f64]| outcome(&gate, &trials(rates), base(), Origin::OneRun).standing;
        prop_assert!(of(&rates) != Standing::Failed || of(&now) != Standing::Passed);
    }
}
