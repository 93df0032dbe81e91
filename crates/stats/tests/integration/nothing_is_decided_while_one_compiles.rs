//! The law: no gate on times or rates is passed or failed, and nothing is concluded, where the
//! compiler of one side was at work while it was measured and nobody asked for that: whatever the
//! gate, the figures, and the load. Where the compilers of both sides were, a gate against a base may
//! fail by what is more than a factor of two beyond its limit, and none passes.
use pippin_model::example::slices::Rounds;
use pippin_model::example::trial::ExampleTrial;
use pippin_model::host::usage::{Compiler, CompilerUse, Role};
use pippin_model::plan::profile::{Arrivals, Profile, Schedule, Stage, WarmUp};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Verdict;
use pippin_model::verdict::gate::{Condition, Gate};
use pippin_stats::compare::{Origin, Side, compare};
use pippin_stats::gate::{Base, Bases, Doubt, Group, Planned, Standing, judge, lose};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const REPETITIONS: u32 = 5;
const PLANNED: Planned = Planned { repetitions: REPETITIONS, is_whole: true };
const SPEEDS: [f64; 4] = [0.5, 0.99, 1.0, 2.0];
/// What a gate of the command line may limit, with a limit of its own and one against a base.
const GATES: [(&str, &str); 8] = [
    ("goodput", "900/s"),
    ("throughput", "900/s"),
    ("p50", "1ms"),
    ("p99", "20ms"),
    ("max", "1s"),
    ("service_time.p99", "5ms"),
    ("cpu", "30us"),
    ("cores", "0.5"),
];

/// Which side compiled.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Compiled {
    Own,
    Base,
    Both,
}

struct Against(Vec<TrialRecord>, Origin);

impl Bases for Against {
    fn base_for(
        &self,
        _: &Condition,
        _: &TargetId,
        _: Option<Step>,
    ) -> Result<Option<Base<'_>>, String> {
        let group = Group::new(&self.0, PLANNED);
        Ok(Some(Base { group, name: "main".into(), origin: self.1 }))
    }
}

/// The kinds of loads whose results are judged.
fn trials(kind: usize, target: &str, speed: f64) -> Vec<TrialRecord> {
    let per_s = 1_000.0 * speed;
    let alone = |made: fn() -> ExampleTrial| -> Vec<TrialRecord> {
        let one = |repetition| {
            let trial = made().target(target).repetition(repetition);
            trial.answers_per_s(per_s).target_cores(per_s * 20e-6, 1).build()
        };
        (0..REPETITIONS).map(one).collect()
    };
    match kind {
        0 => alone(ExampleTrial::hello),
        1 => alone(|| ExampleTrial::open(1_000.0)),
        2 => {
            let rounds = Rounds { repetitions: REPETITIONS, slice: 0.002, ..Rounds::default() };
            rounds.trials(target, per_s, 20.0)
        }
        _ => {
            let mut all: Vec<TrialRecord> = alone(|| ExampleTrial::open(1_000.0));
            // A rate that changes by plan has no steady state, but a compiler all the same.
            for trial in &mut all {
                trial.spec.profile = shaped();
            }
            all
        }
    }
}

/// A profile whose rate changes.
fn shaped() -> Profile {
    let mut profile = ExampleTrial::open(1_000.0).build().spec.profile;
    let climbs = Stage { duration_ns: 10_000_000_000, from_per_s: 100.0, to_per_s: 1_000.0 };
    profile.schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![climbs] };
    profile.warm_up = WarmUp::None;
    assert!(profile.shape().is_some());
    profile
}

fn compiled(mut trials: Vec<TrialRecord>, share: f64) -> Vec<TrialRecord> {
    for trial in &mut trials {
        let usage = trial.usage.as_mut().unwrap();
        let cpu_ns = (usage.duration_ns as f64 * share) as u64;
        let used = CompilerUse { compiler: Compiler::Jvm, cpu_ns, age_ns: 3_000_000_000 };
        usage.roles.get_mut(&Role::Target).unwrap().compiler = Some(used);
    }
    trials
}

fn case() -> impl Strategy<Value = (usize, Compiled, f64, [f64; 2])> {
    let compiled = prop::sample::select(vec![Compiled::Own, Compiled::Base, Compiled::Both]);
    let speed = || prop::sample::select(SPEEDS.to_vec());
    (0_usize..4, compiled, 0.031_f64..1.0, [speed(), speed()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_gate_decides_and_no_comparison_concludes(
        (kind, who, share, speeds) in case(),
        one_run in any::<bool>(),
    ) {
        let [mut own, mut base] = [("b/b", speeds[0]), ("a/a", speeds[1])]
            .map(|(target, speed)| trials(kind, target, speed));
        if who != Compiled::Base {
            own = compiled(own, share);
        }
        if who != Compiled::Own {
            base = compiled(base, share);
        }
        let origin = if one_run { Origin::OneRun } else { Origin::TwoRuns };
        let bases = Against(base.clone(), origin);
        for (figure, limit) in GATES {
            for text in [
                format!("{figure} < {limit}"),
                format!("{figure} > {limit}"),
                format!("{figure} < -5% vs main"),
                format!("{figure} > 5% vs main"),
            ] {
                if who == Compiled::Base && !text.contains("vs") {
                    continue;
                }
                for gate in [Gate::fail_if(&text), Gate::require(&text)] {
                    let gate = gate.unwrap();
                    let found = judge(std::slice::from_ref(&gate), &own, PLANNED, &bases);
                    for mut outcome in found {
                        if outcome.standing == Standing::Failed {
                            let times = (speeds[0] / speeds[1]).max(speeds[1] / speeds[0]);
                            // More than twice the limit, which allows 5 % less or more.
                            prop_assert!(who == Compiled::Both && times > 2.0 * 0.95, "{}", text);
                            prop_assert!(text.contains("vs"), "{}", text);
                            continue;
                        }
                        prop_assert_eq!(outcome.standing, Standing::Undecided, "{}", text);
                        let reason = outcome.reason.clone().unwrap();
                        prop_assert_eq!(reason.doubt, Doubt::NotWarm, "{}: {}", text, reason.text);
                        // Nor is it lost early.
                        lose(&mut outcome, &own);
                        let is_lost = outcome.standing == Standing::Failed;
                        prop_assert_eq!(is_lost, who == Compiled::Base, "{}", text);
                    }
                }
            }
        }
        let verdict = |_: &TargetId, _| Verdict::Suspect;
        let side = |trials| Side { trials, verdict: &verdict };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let found = compare(side(&base), side(&own), origin, &mut rng).targets.remove(0);
        let compiling = found.compiling.clone().unwrap();
        prop_assert_eq!(compiling.a.is_some(), who != Compiled::Own);
        prop_assert_eq!(compiling.b.is_some(), who != Compiled::Base);
        for change in &found.changes {
            let said = found.judgement(change);
            let is_memory = matches!(change.figure, pippin_model::figure::Figure::Memory);
            prop_assert!(is_memory || !["better", "worse", "no change beyond 5 %"].contains(&said));
        }
    }
}

/// What does not depend on how fast a target is, is decided all the same.
#[test]
fn errors_of_a_target_that_compiled_are_judged() {
    let own = compiled(trials(0, "b/b", 1.0), 0.3);
    let bases = Against(trials(0, "a/a", 1.0), Origin::OneRun);
    let gate = Gate::fail_if("errors > 0").unwrap();
    let mut outcome = judge(&[gate], &own, PLANNED, &bases).remove(0);
    assert_eq!(outcome.standing, Standing::Passed);
    lose(&mut outcome, &own);
    assert_eq!(outcome.standing, Standing::Failed);
}

/// A plan that measures cold servers, as the published comparisons do, decides its gates.
#[test]
fn a_plan_that_asks_for_cold_servers_decides() {
    let own: Vec<TrialRecord> = (0..REPETITIONS)
        .map(|repetition| ExampleTrial::hello().counted(50_000).repetition(repetition).build())
        .collect();
    let bases = Against(Vec::new(), Origin::OneRun);
    let gate = Gate::fail_if("cpu > 1h").unwrap();
    let warm = judge(std::slice::from_ref(&gate), &own, PLANNED, &bases).remove(0);
    let cold = judge(&[gate], &compiled(own, 0.3), PLANNED, &bases).remove(0);
    assert_eq!((warm.standing, &cold.reason), (cold.standing, &warm.reason));
}
