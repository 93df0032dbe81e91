//! A sweep of one target as a whole: its points, the fitted law, the knee, the prediction of each
//! point, the inferred concurrency.
use pippin_model::load_result::Measured;
use pippin_model::target::TargetId;
use pippin_model::trial::{Step, TrialRecord};
use serde::{Deserialize, Serialize};

use crate::concurrency::{Load, inferred_from_sweep};
use crate::judge::repetitions;
use crate::knee::knee;
use crate::predict::{Foretold, foretell};
use crate::quantile::median;
use crate::usl::{Point, Usl, fit};

/// The result of a sweep for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The target.
    pub target: TargetId,
    /// Median throughput by number of connections, ascending.
    pub points: Vec<Point>,
    /// The fitted law; `None` with fewer than three points.
    pub usl: Option<Usl>,
    /// The point beyond which more connections bring little.
    pub knee: Option<Point>,
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
    let mut loads: Vec<Load> = repetitions(records)
        .iter()
        .filter(|(other, _, _)| *other == target)
        .filter_map(|(_, step, trials)| match step {
            Some(Step::Connections { count }) => load_at(f64::from(*count), trials),
            _ => None,
        })
        .collect();
    loads.sort_by(|a, b| a.connections.total_cmp(&b.connections));
    let points: Vec<Point> =
        loads.iter().map(|load| Point { n: load.connections, x: load.throughput_per_s }).collect();
    (points.len() > 1).then(|| Sweep {
        target: target.clone(),
        usl: fit(&points),
        knee: knee(&points),
        foretold: foretell(&points),
        served_at_a_time: inferred_from_sweep(&loads),
        points,
    })
}

/// The medians over repetitions at one number of connections.
fn load_at(connections: f64, trials: &[&TrialRecord]) -> Option<Load> {
    let over = |figure: fn(&Measured) -> Option<f64>| {
        median(
            &trials
                .iter()
                .filter_map(|record| figure(&record.load.as_ref()?.measured))
                .collect::<Vec<_>>(),
        )
    };
    Some(Load {
        connections,
        throughput_per_s: over(Measured::throughput_per_s).filter(|x| *x > 0.0)?,
        mean_service_s: over(|measured| Some(measured.spans.service_time.mean_ns()? / 1e9))?,
        unqueued_s: over(|measured| Some(measured.spans.service_time.min_ns()? as f64 / 1e9))?,
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
