//! Predicts each point of a sweep from the points before it, and gives the error. This checks the
//! model and the measurement. Of two models, the one predicts that would have missed the latest
//! points by less.
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
    /// The best throughput so far, which more users do not raise. It is used where it would have
    /// missed the latest points by less than the Universal Scalability Law.
    Best,
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

/// The points over which two models are compared: the latest.
const LATEST: usize = 2;

/// How much two models would have missed the latest points, each predicted from those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misses {
    /// The mean relative error of the Universal Scalability Law.
    pub usl: f64,
    /// That of the best throughput so far.
    pub best: f64,
    /// Over how many points.
    pub points: usize,
}

impl Misses {
    /// Of these points, in ascending order; `None` if the law has not predicted one of them, for
    /// which it needs three points before.
    #[must_use]
    pub fn from_points(points: &[Point]) -> Option<Self> {
        let missed = |at: usize| {
            let (before, now) = (&points[..at], points[at]);
            let usl = fit(before)?.throughput_at(now.n) / now.x - 1.0;
            Some((usl.abs(), (best(before) / now.x - 1.0).abs()))
        };
        let latest = points.len().saturating_sub(LATEST)..points.len();
        let missed: Vec<(f64, f64)> = latest.filter_map(missed).collect();
        let count = missed.len() as f64;
        (!missed.is_empty()).then(|| Self {
            usl: missed.iter().map(|(usl, _)| usl).sum::<f64>() / count,
            best: missed.iter().map(|(_, best)| best).sum::<f64>() / count,
            points: missed.len(),
        })
    }

    /// Whether the law predicts worse than a throughput that does not change, so that it does not
    /// describe the points.
    #[must_use]
    pub fn is_law_beaten(&self) -> bool {
        self.best < self.usl
    }
}

fn best(points: &[Point]) -> f64 {
    points.iter().map(|point| point.x).fold(0.0, f64::max)
}

/// The prediction for `n` users, more than were measured, from the points measured `so_far`; `None`
/// without a point.
#[must_use]
pub fn predict(so_far: &[Point], n: f64) -> Option<Prediction> {
    if Misses::from_points(so_far).is_some_and(|misses| misses.is_law_beaten()) {
        let throughput_per_s = best(so_far);
        let response_time_ns = n / throughput_per_s * 1e9;
        return Some(Prediction { n, throughput_per_s, response_time_ns, law: Law::Best });
    }
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

    /// The published sweep of a rendered page: 26.34 ms were measured at 128 connections.
    #[test]
    fn a_plateau_is_predicted_by_its_height() {
        let published = [
            (1.0, 2075.43),
            (2.0, 3583.06),
            (4.0, 4529.75),
            (8.0, 4907.09),
            (16.0, 4964.86),
            (32.0, 4956.40),
        ];
        let points: Vec<Point> = published.iter().map(|(n, x)| Point { n: *n, x: *x }).collect();
        let found = predict(&points, 128.0).unwrap();
        assert_eq!(found.law, Law::Best);
        let ms = found.response_time_ns / 1e6;
        assert!((ms - 25.78).abs() < 0.01, "{ms} ms, N / best throughput");
        let by_law = 128.0 / fit(&points).unwrap().throughput_at(128.0) * 1e3;
        assert!((by_law - 45.6).abs() < 0.1, "{by_law} ms by the law alone");
        let misses = Misses::from_points(&points).unwrap();
        assert!(misses.best < 0.01 && misses.usl > 0.1 && misses.points == 2, "{misses:?}");
    }

    /// With noise of 2 %, the prediction stays near the measured 26.34 ms.
    #[test]
    fn noise_does_not_bring_back_the_law_that_does_not_fit() {
        let published = [2075.43, 3583.06, 4529.75, 4907.09, 4964.86, 4956.40];
        let mut noise = crate::simulated::test_noise::Noise::new(10);
        let near = (0..1_000).filter(|_| {
            let point = |(nth, x): (i32, &f64)| Point {
                n: 2_f64.powi(nth),
                x: x * (0.02 * noise.normal()).exp(),
            };
            let points: Vec<Point> = (0..).zip(&published).map(point).collect();
            let found = predict(&points, 128.0).unwrap();
            (found.response_time_ns / 26.34e6 - 1.0).abs() < 0.1
        });
        let near = near.count();
        assert!(near >= 950, "{near} of 1,000 within 10 %");
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
