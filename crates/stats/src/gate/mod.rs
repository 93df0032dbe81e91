//! Whether measured figures pass their gates.
//!
//! | module | what it does |
//! |---|---|
//! | [`lost`] | gates that cannot be passed any more while a load is in progress |
pub mod lost;

use pippin_model::host::usage::Role;
use pippin_model::result::{LoadResult, StatusCounts};
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::gate::{COUNTERS, Condition, Figure, Gate, Limit};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::bottleneck::cost::cpu_seconds_per_million;
use crate::compare::{self, Metric, Origin};
use crate::interval::bootstrap::Sample;
use crate::interval::ratio::ratio;
use crate::judge::repetitions;
use crate::series::quantile::median;
use crate::summary::goodput;

/// The outcome of a gate for a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The gate is passed.
    Passed,
    /// The change is past the limit, but its interval includes "no change": it may be chance, and
    /// the gate is passed.
    NotSignificant,
    /// The gate is not passed.
    Failed,
    /// The figure or its base is not known, so the gate is not passed.
    Unknown,
}

impl Standing {
    /// Whether the gate is passed.
    #[must_use]
    pub const fn is_passed(self) -> bool {
        matches!(self, Self::Passed | Self::NotSignificant)
    }
}

/// The outcome of one gate for one target at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The gate.
    pub gate: Gate,
    /// The target.
    pub target: TargetId,
    /// The point of a sweep or of a capacity search.
    pub step: Option<Step>,
    /// The figure: the median over the trials, in its own unit or, for a percentage of the
    /// requests, as a fraction.
    pub value: Option<f64>,
    /// The relative change against the base, if the limit is a change.
    pub change: Option<f64>,
    /// The outcome.
    pub standing: Standing,
    /// Why the target was not measured at all, if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

/// The bases that changes are measured from.
pub trait Bases {
    /// The trials with which `condition` compares a target at a step; empty if there are none.
    fn of(&self, condition: &Condition, target: &TargetId, step: Option<Step>)
    -> Vec<&TrialRecord>;

    /// Whether those trials are of the same run as the ones that are judged.
    fn origin(&self, condition: &Condition) -> Origin;
}

/// Judges every gate for every target at every step.
pub fn judge<R: Rng + ?Sized>(
    gates: &[Gate],
    trials: &[TrialRecord],
    bases: &dyn Bases,
    rng: &mut R,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (target, step, trials) in repetitions(trials) {
        for gate in gates {
            let base = Base {
                trials: bases.of(&gate.condition, target, step),
                origin: bases.origin(&gate.condition),
            };
            let found = stand(gate, &trials, &base, rng);
            outcomes.push(Outcome {
                gate: gate.clone(),
                target: target.clone(),
                step,
                value: found.value,
                change: found.change,
                standing: found.standing,
                unmeasured: None,
            });
        }
    }
    outcomes
}

/// The outcomes of the gates for a target that was not measured: each is unknown. `why` is the
/// reason, in words.
pub fn unmeasured<'a>(
    gates: &'a [Gate],
    target: &'a TargetId,
    why: &'a str,
) -> impl Iterator<Item = Outcome> + 'a {
    gates.iter().map(move |gate| Outcome {
        gate: gate.clone(),
        target: target.clone(),
        step: None,
        value: None,
        change: None,
        standing: Standing::Unknown,
        unmeasured: Some(why.into()),
    })
}

struct Found {
    value: Option<f64>,
    change: Option<f64>,
    standing: Standing,
}

fn stand<R: Rng + ?Sized>(
    gate: &Gate,
    trials: &[&TrialRecord],
    base: &Base<'_>,
    rng: &mut R,
) -> Found {
    let condition = &gate.condition;
    let is_share = matches!(condition.limit, Limit::Share(_));
    let samples = |trials: &[&TrialRecord]| -> Vec<Sample> {
        trials.iter().filter_map(|trial| sample(condition.figure, is_share, trial)).collect()
    };
    let own = samples(trials);
    let value = centre(&own);
    let passes =
        |holds: bool| if holds == gate.must_hold { Standing::Passed } else { Standing::Failed };
    match condition.limit {
        Limit::Value(limit) | Limit::Share(limit) => Found {
            value,
            change: None,
            standing: value
                .map_or(Standing::Unknown, |value| passes(condition.operator.holds(value, limit))),
        },
        Limit::Change(limit) => {
            let moved = moved(condition.figure, trials, base, rng);
            let standing = moved.map_or(Standing::Unknown, |moved| {
                match passes(condition.operator.holds(moved.change, limit)) {
                    Standing::Failed if moved.is_chance => Standing::NotSignificant,
                    standing => standing,
                }
            });
            Found { value, change: moved.map(|moved| moved.change), standing }
        }
    }
}

/// The trials that a change is measured from.
struct Base<'a> {
    trials: Vec<&'a TrialRecord>,
    origin: Origin,
}

/// A change against a base.
#[derive(Clone, Copy)]
struct Moved {
    /// Relative: -0.05 for 5 % less.
    change: f64,
    /// Whether its interval includes "no change".
    is_chance: bool,
}

/// How a figure changed against the base. Figures that a comparison shows change as it shows them:
/// within the rounds of a run, if both sides were measured in them. `None` if a side is unknown.
fn moved<R: Rng + ?Sized>(
    figure: Figure,
    trials: &[&TrialRecord],
    base: &Base<'_>,
    rng: &mut R,
) -> Option<Moved> {
    if let Some(metric) = Metric::of_figure(figure) {
        let found = compare::change(metric, &base.trials, trials, base.origin, rng);
        let is_chance = found.is_significant() == Some(false);
        return found.relative().map(|change| Moved { change, is_chance });
    }
    let samples = |trials: &[&TrialRecord]| -> Vec<Sample> {
        trials.iter().filter_map(|trial| sample(figure, false, trial)).collect()
    };
    let (own, base) = (samples(trials), samples(&base.trials));
    let change = centre(&own)? / centre(&base).filter(|base| *base > 0.0)? - 1.0;
    let is_chance = ratio(&own, &base, rng).is_some_and(|ratio| !ratio.is_significant());
    Some(Moved { change, is_chance })
}

fn centre(samples: &[Sample]) -> Option<f64> {
    median(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>())
}

/// A figure of one trial; `None` if it is unknown.
fn sample(figure: Figure, is_share: bool, trial: &TrialRecord) -> Option<Sample> {
    let load = trial.load.as_ref()?;
    if matches!(figure, Figure::Goodput) {
        return goodput(load);
    }
    let value = value(figure, load, trial)?;
    let of = load.measured.requests.scheduled as f64;
    match (figure, is_share) {
        (Figure::Errors, true) => load.measured.error_fraction().map(Sample::alone),
        (_, true) => (of > 0.0).then(|| Sample::alone(value / of)),
        (_, false) => Some(Sample::alone(value)),
    }
}

fn value(figure: Figure, load: &LoadResult, trial: &TrialRecord) -> Option<f64> {
    let measured = &load.measured;
    // A CPU-second per million requests is a microsecond per request.
    let cpu = |role| Some(cpu_seconds_per_million(load, trial.usage.as_ref()?, role)? * 1e3);
    match figure {
        Figure::Goodput => measured.goodput_per_s(),
        Figure::Throughput => measured.throughput_per_s(),
        Figure::Span(span, point) => point.of(span.of(&measured.spans)),
        Figure::Errors => Some(measured.errors_total() as f64),
        Figure::ErrorsOf(kind) => Some(measured.errors.get(&kind).copied().unwrap_or(0) as f64),
        Figure::Status(class) => Some(status(&measured.status, class) as f64),
        Figure::Counter(place) => COUNTERS.get(place).map(|(_, read)| read(measured) as f64),
        Figure::Cpu => cpu(Role::Target),
        Figure::GeneratorCpu => cpu(Role::Generator),
        Figure::Memory => {
            let used = trial.usage.as_ref()?.roles.get(&Role::Target)?;
            used.rss_max_bytes.map(|bytes| bytes as f64)
        }
    }
}

const fn status(status: &StatusCounts, class: u8) -> u64 {
    match class {
        2 => status.s2xx,
        3 => status.s3xx,
        4 => status.s4xx,
        5 => status.s5xx,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::slices::Rounds;
    use pippin_model::example::trial::ExampleTrial;

    /// Uses the same trials as the base of every target.
    struct Same(Vec<TrialRecord>);

    impl Bases for Same {
        fn of(&self, _: &Condition, _: &TargetId, _: Option<Step>) -> Vec<&TrialRecord> {
            self.0.iter().collect()
        }

        fn origin(&self, _: &Condition) -> Origin {
            Origin::OneRun
        }
    }

    fn trials(rates: &[f64]) -> Vec<TrialRecord> {
        let made = |(repetition, &rate): (usize, &f64)| {
            ExampleTrial::hello().answers_per_s(rate).repetition(repetition as u32).build()
        };
        rates.iter().enumerate().map(made).collect()
    }

    fn standing(gate: &str, trials: Vec<TrialRecord>, base: Vec<TrialRecord>) -> Standing {
        let gates = [Gate::fail_if(gate).unwrap()];
        let outcomes = judge(&gates, &trials, &Same(base), &mut Noise::new(1).0);
        assert_eq!(outcomes.len(), 1);
        outcomes[0].standing
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
    fn what_must_hold_fails_where_it_does_not() {
        let gates = [Gate::must_hold("goodput > 1100/s").unwrap()];
        let outcomes = judge(&gates, &trials(&[1_000.0]), &Same(vec![]), &mut Noise::new(1).0);
        assert_eq!(outcomes[0].standing, Standing::Failed);
        assert_eq!(outcomes[0].value.map(f64::round), Some(1_000.0));
    }

    #[test]
    fn a_change_fails_only_where_it_is_not_chance() {
        let (steady, slower) = (&[1_000.0, 1_002.0, 998.0], &[940.0, 941.0, 939.0]);
        let of = |gate, now: &[f64], base: &[f64]| standing(gate, trials(now), trials(base));
        assert_eq!(of("goodput < -5%", slower, steady), Standing::Failed);
        assert_eq!(of("goodput < -7%", slower, steady), Standing::Passed);
        let noisy = &[500.0, 940.0, 1_500.0];
        assert_eq!(of("goodput < -5%", noisy, steady), Standing::NotSignificant);
        assert_eq!(of("goodput < -5%", steady, &[]), Standing::Unknown);
    }

    #[test]
    fn a_target_that_was_not_measured_passes_no_gate() {
        let gates = [Gate::must_hold("errors < 1%").unwrap(), Gate::fail_if("p99 > 1h").unwrap()];
        let target = "own/shop".parse().unwrap();
        let outcomes: Vec<Outcome> = unmeasured(&gates, &target, "install: it broke").collect();
        assert_eq!(outcomes.len(), 2);
        for outcome in outcomes {
            assert_eq!((&outcome.target, outcome.standing), (&target, Standing::Unknown));
            assert_eq!(outcome.unmeasured.as_deref(), Some("install: it broke"));
        }
    }

    #[test]
    fn a_gate_judges_the_change_that_a_comparison_shows() {
        // The host varies between half and full speed from round to round.
        let rounds = Rounds { host: 0.3, slice: 0.01, start: 0.0, ..Rounds::default() };
        let (a, b) = (rounds.trials("a/a", 10_000.0, 20.0), rounds.trials("b/b", 9_000.0, 20.0));
        let shown = &compare::compare(&a, &b, Origin::OneRun, &mut Noise::new(1).0).targets[0];
        for (condition, place) in [("goodput < -5%", 0), ("p50 < -5%", 1)] {
            let gates = [Gate::fail_if(condition).unwrap()];
            let judged = &judge(&gates, &b, &Same(a.clone()), &mut Noise::new(1).0)[0];
            let change = shown.changes[place];
            assert_eq!(judged.change, change.relative(), "{condition}");
            if place == 0 {
                assert!(change.is_paired, "{change:?}");
                assert_eq!(judged.standing, Standing::Failed);
            }
        }
    }

    #[test]
    fn what_has_no_result_passes_no_gate() {
        let mut failed = trials(&[1_000.0]);
        failed[0].load = None;
        assert_eq!(standing("p99 > 1h", failed, vec![]), Standing::Unknown);
    }
}
