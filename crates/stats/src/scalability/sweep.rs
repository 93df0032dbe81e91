//! A sweep of one target as a whole: its points, the fitted law, the knee, the prediction of each
//! point, the inferred concurrency.
use pippin_model::result::Measured;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Verdict;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::bottleneck::bound::{cpu_bound, is_waiting};
use crate::bottleneck::concurrency::{Load, inferred_from_sweep};
use crate::interval::student_t::NORMAL_975;
use crate::judge::evidence::single_of;
use crate::judge::host;
use crate::judge::{Context, Evidence, repetitions};
use crate::scalability::knee::{Knee, knee, rises_at_its_end};
use crate::scalability::predict::{Foretold, foretell};
use crate::scalability::usl::{Point, Usl, fit};
use crate::series::quantile::median;
use crate::summary::{Estimate, goodput};

/// The result of a sweep for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The target.
    pub target: TargetId,
    /// Median right answers per second by number of connections, ascending.
    pub points: Vec<Point>,
    /// The fitted law; `None` with fewer than three points.
    pub usl: Option<Usl>,
    /// The point from which more connections bring little; `None` while throughput still rises at
    /// the last point, and on a disturbed host.
    pub knee: Option<Knee>,
    /// Whether throughput surely still rises at the last point, so that more connections than were
    /// measured bring more. Nothing is said on a disturbed host, nor if the last step is INVALID.
    pub rises: bool,
    /// Each point with the prediction from the points before it.
    pub foretold: Vec<Foretold>,
    /// How many requests are served at a time, if throughput is flat while the queue grows.
    pub served_at_a_time: Option<f64>,
}

/// The sweep of every target that was measured at two or more numbers of connections, in the order
/// in which they first occur.
#[must_use]
pub fn sweeps(records: &[TrialRecord]) -> Vec<Sweep> {
    let mut targets: Vec<&TargetId> = Vec::new();
    for record in records {
        if !targets.contains(&&record.spec.target) {
            targets.push(&record.spec.target);
        }
    }
    targets.into_iter().filter_map(|target| sweep(target, records)).collect()
}

fn sweep(target: &TargetId, records: &[TrialRecord]) -> Option<Sweep> {
    let groups = repetitions(records);
    let mut steps: Vec<(u32, &[&TrialRecord])> = groups
        .iter()
        .filter(|(other, _, _)| *other == target)
        .filter_map(|(_, step, trials)| match step {
            Some(Step::Connections { count }) => Some((*count, trials.as_slice())),
            _ => None,
        })
        .collect();
    steps.sort_by_key(|(count, _)| *count);
    let single_s = single_s(&steps);
    let (mut loads, mut errors) = (Vec::new(), Vec::new());
    for (count, trials) in &steps {
        if let Some(load) = load_at(f64::from(*count), trials, single_s) {
            loads.push(load);
            errors.push(right_per_s(trials).as_ref().and_then(standard_error));
        }
    }
    let points: Vec<Point> =
        loads.iter().map(|load| Point { n: load.connections, x: load.throughput_per_s }).collect();
    let waits = || {
        let last = loads.last()?;
        let (_, trials) = steps.last()?;
        let all = trials.iter().map(|record| {
            let evidence = Evidence { record, context: &Context::default() };
            cpu_bound(&evidence).is_none()
                && is_waiting(&evidence, last.throughput_per_s, last.unqueued_s).unwrap_or(false)
        });
        all.reduce(|a, b| a && b)
    };
    // If throughput may still rise at the last point, it is not flat.
    let is_flat = !rises_at_its_end(&points, &[]);
    // Other programs and INVALID points bend the curve: it is shown, and nothing is inferred from it.
    let all: Vec<&TrialRecord> =
        steps.iter().flat_map(|(_, trials)| trials.iter().copied()).collect();
    let is_sound = !host::is_disturbed(&all);
    let is_whole = steps.last().map(|(count, _)| f64::from(*count)) == points.last().map(|it| it.n);
    (points.len() > 1).then(|| Sweep {
        target: target.clone(),
        usl: fit(&points),
        knee: knee(&points, &errors).filter(|_| is_sound),
        rises: rises_at_its_end(&points, &errors) && is_sound && is_whole,
        foretold: foretell(&points),
        served_at_a_time: inferred_from_sweep(&loads)
            .filter(|_| is_flat && is_sound && waits() == Some(true)),
        points,
    })
}

/// The time of a request that does not queue: that of single requests before the steps, or the mean
/// service time of one connection. `None` if neither was measured, because even two connections can
/// queue.
fn single_s(steps: &[(u32, &[&TrialRecord])]) -> Option<f64> {
    let before: Vec<f64> = steps
        .iter()
        .flat_map(|(_, trials)| trials.iter())
        .filter_map(|record| Some(single_of(record)?.median_ns as f64 / 1e9))
        .collect();
    median(&before).or_else(|| {
        let (_, trials) = steps.first().filter(|(count, _)| *count == 1)?;
        load_at(1.0, trials, None).map(|load| load.mean_service_s)
    })
}

/// Right answers per second at a point, over the repetitions that are not INVALID.
pub(crate) fn right_per_s(trials: &[&TrialRecord]) -> Option<Estimate> {
    let valid: Vec<&TrialRecord> =
        trials.iter().copied().filter(|record| record.verdict != Verdict::Invalid).collect();
    goodput(&valid, &mut Xoshiro256PlusPlus::seed_from_u64(SEED))
}

/// The standard error of the logarithm of a figure, from its 95 % interval; `None` if it has none.
pub(crate) fn standard_error(figure: &Estimate) -> Option<f64> {
    let interval = figure.interval?;
    let error = (interval.high / interval.low).ln() / (2.0 * NORMAL_975);
    error.is_finite().then_some(error)
}

/// The seed of the resampling, so that equal records give an equal knee.
const SEED: u64 = 1;

/// The medians over repetitions at one number of connections, of right answers. INVALID results are
/// left out. Without a time of single requests,
/// nothing is inferred: `unqueued_s` is then the mean.
fn load_at(connections: f64, trials: &[&TrialRecord], single_s: Option<f64>) -> Option<Load> {
    let over = |figure: fn(&Measured) -> Option<f64>| {
        median(
            &trials
                .iter()
                .filter(|record| record.verdict != Verdict::Invalid)
                .filter_map(|record| figure(&record.load.as_ref()?.measured))
                .collect::<Vec<_>>(),
        )
    };
    let mean_service_s = over(|measured| Some(measured.spans.service_time.mean_ns()? / 1e9))?;
    Some(Load {
        connections,
        throughput_per_s: over(Measured::goodput_per_s).filter(|x| *x > 0.0)?,
        mean_service_s,
        unqueued_s: single_s.unwrap_or(mean_service_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_sweep_over_a_pool_of_eight() {
        let steps = [1, 2, 4, 8, 16, 32, 64];
        // Each answer takes 20 ms, eight at a time.
        let records: Vec<TrialRecord> = steps
            .iter()
            .map(|n| {
                ExampleTrial::hello()
                    .sweep_point(*n, &steps)
                    .completed(30 * 50 * u64::from(*n.min(&8)))
                    .build()
            })
            .collect();
        let found = &sweeps(&records)[0];
        assert_eq!(found.points.len(), 7);
        assert_eq!(found.points[3], Point { n: 8.0, x: 400.0 });
        assert_eq!(found.knee.unwrap().n, 8.0);
        assert!(found.usl.unwrap().r_squared.unwrap() > 0.8);
        assert_eq!(found.foretold.len(), 7);
        assert!(
            (found.served_at_a_time.unwrap() - 8.0).abs() < 0.01,
            "{:?}",
            found.served_at_a_time
        );
    }

    #[test]
    fn while_throughput_rises_there_is_neither_a_knee_nor_a_limit() {
        let steps = [1, 2, 4, 8, 16];
        let sweep_to = |last: f64| {
            // Answers take 20 ms, two at a time. Only the last point differs.
            let trial = |n: &u32| {
                let rate = if *n == 16 { last } else { 50.0 * f64::from(*n.min(&2)) };
                let completed = (30.0 * rate) as u64;
                ExampleTrial::hello().sweep_point(*n, &steps).completed(completed).build()
            };
            sweeps(&steps.iter().map(trial).collect::<Vec<_>>()).remove(0)
        };
        let flat = sweep_to(109.0);
        assert!(!flat.rises);
        assert_eq!(flat.knee.map(|knee| knee.n), Some(2.0));
        assert!(flat.served_at_a_time.is_some(), "{flat:?}");
        let rising = sweep_to(110.5);
        assert!(rising.rises);
        assert_eq!((rising.knee, rising.served_at_a_time), (None, None));
    }

    /// 4 slots of 100 ms, and 503 at once beyond them.
    #[test]
    fn refused_answers_are_no_throughput() {
        let steps = [1, 2, 4, 8, 16];
        let trial = |n: &u32| {
            let right = 30 * 10 * u64::from(*n.min(&4));
            let mut record = ExampleTrial::hello().sweep_point(*n, &steps).completed(right).build();
            let measured = &mut record.load.as_mut().unwrap().measured;
            measured.requests.completed += if *n > 4 { 1_000_000 } else { 0 };
            measured.answered.completed = measured.requests.completed;
            record
        };
        let found = sweeps(&steps.iter().map(trial).collect::<Vec<_>>()).remove(0);
        assert_eq!(found.points.last().map(|point| point.x), Some(40.0));
        assert_eq!(found.knee.map(|knee| (knee.n, knee.x)), Some((4.0, 40.0)));
        let mut invalid: Vec<TrialRecord> = steps.iter().map(trial).collect();
        invalid[4].verdict = Verdict::Invalid;
        assert_eq!(sweeps(&invalid)[0].points.len(), 4);
    }

    #[test]
    fn one_point_is_no_sweep() {
        assert!(
            sweeps(&[
                ExampleTrial::hello().sweep_point(1, &[1]).build(),
                ExampleTrial::hello().build()
            ])
            .is_empty()
        );
    }
}
