//! Predicts each point of a sweep from the points before it, and gives the error. This checks the
//! model and the measurement.
use serde::{Deserialize, Serialize};

use crate::scalability::usl::{Point, fit, fit_amdahl, fit_linear};

/// The law behind a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// From one point: throughput in proportion to users.
    Linear,
    /// From two points: Amdahl's law.
    Amdahl,
    /// From three points on: the Universal Scalability Law.
    Usl,
}

/// The prediction for a point that has not been measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Users.
    pub n: f64,
    /// Answers per second.
    pub throughput_per_s: f64,
    /// Mean response time in nanoseconds, from `N = X R`.
    pub response_time_ns: f64,
    /// The law behind it.
    pub law: Law,
}

/// A point with its prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Foretold {
    /// What was measured.
    pub measured: Point,
    /// The prediction from the points before it; `None` for the first.
    pub prediction: Option<Prediction>,
    /// `predicted / measured - 1` of the throughput.
    pub throughput_error: Option<f64>,
    /// The relative error of the mean response time, computed from the measured throughput by `N =
    /// X R`.
    pub response_time_error: Option<f64>,
}

/// The prediction for `n` users from the points measured `so_far`; `None` without a point.
#[must_use]
pub fn predict(so_far: &[Point], n: f64) -> Option<Prediction> {
    let found = fit(so_far).map(|usl| (usl, Law::Usl));
    let found = found.or_else(|| fit_amdahl(so_far).map(|usl| (usl, Law::Amdahl)));
    let (usl, law) = found.or_else(|| fit_linear(so_far).map(|usl| (usl, Law::Linear)))?;
    let throughput_per_s = usl.throughput_at(n);
    (throughput_per_s > 0.0).then(|| Prediction {
        n,
        throughput_per_s,
        response_time_ns: n / throughput_per_s * 1e9,
        law,
    })
}

/// Every point, in the order measured, with the prediction from the points before it.
#[must_use]
pub fn foretell(points: &[Point]) -> Vec<Foretold> {
    let one = |(i, measured): (usize, &Point)| {
        let prediction = predict(&points[..i], measured.n);
        let error =
            |predicted: f64, measured: f64| (measured > 0.0).then(|| predicted / measured - 1.0);
        Foretold {
            measured: *measured,
            prediction,
            throughput_error: prediction.and_then(|p| error(p.throughput_per_s, measured.x)),
            response_time_error: prediction
                .and_then(|p| error(p.response_time_ns, measured.n / measured.x * 1e9)),
        }
    };
    points.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lawful_system_is_foretold_from_the_fourth_point_on() {
        let x = |n: f64| 1_000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0));
        let points: Vec<Point> =
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].iter().map(|n| Point { n: *n, x: x(*n) }).collect();
        let found = foretell(&points);
        assert_eq!(found[0].prediction, None);
        assert_eq!(
            found.iter().map(|f| f.prediction.map(|p| p.law)).collect::<Vec<_>>()[1..4],
            [Some(Law::Linear), Some(Law::Amdahl), Some(Law::Usl)]
        );
        assert!(found[1].throughput_error.unwrap() > 0.04, "linear scaling promises too much");
        for foretold in &found[3..] {
            assert!(
                foretold.throughput_error.unwrap().abs() < 1e-6
                    && foretold.response_time_error.unwrap().abs() < 1e-6
            );
        }
        let p = found[4].prediction.unwrap();
        assert!((p.n - p.throughput_per_s * p.response_time_ns / 1e9).abs() < 1e-9, "N = X R");
    }

    #[test]
    fn a_sudden_limit_shows_as_an_error() {
        let points: Vec<Point> = [1.0, 2.0, 4.0, 8.0, 16.0]
            .iter()
            .map(|n: &f64| Point { n: *n, x: 100.0 * n.min(8.0) })
            .collect();
        let found = foretell(&points);
        assert!(found[4].throughput_error.unwrap() > 0.9, "{:?}", found[4]);
    }
}
