//! Gunther's Universal Scalability Law, `X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))`.
//!
//! Source: N. J. Gunther, "Guerrilla Capacity Planning" (2007), chapter 4; with `lambda` as in B.
//! Schwartz, "Practical Scalability Analysis with the Universal Scalability Law" (2015). `sigma` is
//! contention (work that must be done one after the other), `kappa` is coherency (communication of
//! each with all others). Both are at least 0.
use serde::{Deserialize, Serialize};

use crate::scalability::least_squares::{MOST, Residual, minimise, solve_normal};
use crate::series::quantile::{mean, median};

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Users (connections).
    pub n: f64,
    /// Throughput in answers per second.
    pub x: f64,
}

/// A parameter with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The value.
    pub value: f64,
    /// Its standard error; `None` if there are no more points than parameters, or if the value is
    /// on its bound of 0.
    pub standard_error: Option<f64>,
}

/// A law that misses half of the points by more than this fraction does not describe them. A hard
/// limit, which has another form, is missed by less. The points of a very noisy machine are missed
/// by half and more.
pub const DESCRIBES_WITHIN: f64 = 0.2;

/// A fitted law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Throughput of one user, answers per second.
    pub lambda: Parameter,
    /// Contention.
    pub sigma: Parameter,
    /// Coherency.
    pub kappa: Parameter,
    /// The share of the throughput's variance that the law explains; `None` if the throughput does
    /// not vary.
    pub r_squared: Option<f64>,
    /// Users at which throughput is highest, `sqrt((1 - sigma) / kappa)`; `None` if it grows
    /// without limit.
    pub peak_n: Option<f64>,
}

impl Usl {
    /// The throughput at `n` users.
    #[must_use]
    pub fn throughput_at(&self, n: f64) -> f64 {
        law(self.lambda.value, self.sigma.value, self.kappa.value, n)
    }

    /// The median over all points of the law's relative error. `None` without points.
    #[must_use]
    pub fn misses(&self, points: &[Point]) -> Option<f64> {
        median(
            &points
                .iter()
                .map(|point| (self.throughput_at(point.n) / point.x - 1.0).abs())
                .collect::<Vec<_>>(),
        )
    }

    /// By how much the fit misses the points, if that is more than [`DESCRIBES_WITHIN`]: then the
    /// law does not describe these points.
    #[must_use]
    pub fn misses_too_far(&self, points: &[Point]) -> Option<f64> {
        self.misses(points).filter(|miss| *miss > DESCRIBES_WITHIN)
    }

    /// The highest throughput that the law approaches: at the peak, or `lambda / sigma` if there is
    /// no peak; `None` if it grows without limit.
    #[must_use]
    pub fn limit_per_s(&self) -> Option<f64> {
        match self.peak_n {
            Some(peak) => Some(self.throughput_at(peak)),
            None => (self.kappa.value == 0.0 && self.sigma.value > 0.0)
                .then(|| self.lambda.value / self.sigma.value),
        }
    }
}

fn law(lambda: f64, sigma: f64, kappa: f64, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// Which parameters are free; the others are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Free {
    /// All three. Needs three points.
    All,
    /// Without coherency (Amdahl's law). Needs two points.
    NoCoherency,
    /// Without contention. Needs two points.
    NoContention,
    /// Throughput in proportion to users. Needs one point.
    Linear,
}

impl Free {
    /// Columns of (lambda, sigma, kappa) that are free.
    const fn columns(self) -> &'static [usize] {
        match self {
            Self::All => &[0, 1, 2],
            Self::NoCoherency => &[0, 1],
            Self::NoContention => &[0, 2],
            Self::Linear => &[0],
        }
    }
}

/// Fits the law with all three parameters; `None` below three points with different numbers of
/// users, or if a point is not above 0.
///
/// Residuals are relative, `(X - X(N)) / X`, because the variation of a throughput is proportional
/// to it and a sweep spans decades. If the best `sigma` or `kappa` would be negative, the best fit
/// on the bound is used.
#[must_use]
pub fn fit(points: &[Point]) -> Option<Usl> {
    let choices = [Free::All, Free::NoCoherency, Free::NoContention, Free::Linear];
    best_of(points, &choices, 3)
}

/// Fits Amdahl's law: as [`fit`] with `kappa` 0. Needs two points.
#[must_use]
pub fn fit_amdahl(points: &[Point]) -> Option<Usl> {
    best_of(points, &[Free::NoCoherency, Free::Linear], 2)
}

/// Fits a line through the origin. Needs one point.
#[must_use]
pub fn fit_linear(points: &[Point]) -> Option<Usl> {
    best_of(points, &[Free::Linear], 1)
}

fn best_of(points: &[Point], choices: &[Free], fewest: usize) -> Option<Usl> {
    let mut users: Vec<f64> = points.iter().map(|point| point.n).collect();
    users.sort_unstable_by(f64::total_cmp);
    users.dedup();
    let usable = points
        .iter()
        .all(|point| point.n.is_finite() && point.n >= 1.0 && point.x.is_finite() && point.x > 0.0);
    if !usable || users.len() < fewest {
        return None;
    }
    // The minimum within the bounds is the best feasible one over the free sets (the problem has no
    // other corners).
    let fits = choices.iter().filter_map(|free| fit_free(points, *free));
    fits.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(usl, _)| usl)
}

fn fit_free(points: &[Point], free: Free) -> Option<(Usl, f64)> {
    let columns = free.columns();
    let n = columns.len();
    let spread = |parameters: &[f64; MOST]| {
        let mut all = [0.0; MOST];
        columns.iter().zip(parameters).for_each(|(column, value)| all[*column] = *value);
        all
    };
    let residuals = |parameters: &[f64; MOST]| {
        points.iter().map(|point| residual(point, spread(parameters), columns)).collect()
    };
    let found = minimise(residuals, start(points, columns)?, n)?;
    let [lambda, sigma, kappa] = spread(&found.parameters);
    if lambda <= 0.0 || sigma < 0.0 || kappa < 0.0 {
        return None;
    }
    let errors = standard_errors(&found.normal, found.squares, points.len(), n);
    let parameter = |column: usize, value: f64| {
        let at = columns.iter().position(|free| *free == column);
        Parameter { value, standard_error: at.and_then(|at| errors.map(|errors| errors[at])) }
    };
    let peak_n = (kappa > 0.0 && sigma < 1.0).then(|| ((1.0 - sigma) / kappa).sqrt());
    let mut usl = Usl {
        lambda: parameter(0, lambda),
        sigma: parameter(1, sigma),
        kappa: parameter(2, kappa),
        r_squared: None,
        peak_n,
    };
    usl.r_squared = r_squared(points, &usl);
    Some((usl, found.squares))
}

fn residual(point: &Point, [lambda, sigma, kappa]: [f64; MOST], columns: &[usize]) -> Residual {
    let n = point.n;
    let (contention, coherency) = (n - 1.0, n * (n - 1.0));
    let below = 1.0 + sigma * contention + kappa * coherency;
    let value = lambda * n / below;
    let by = [n / below, -value * contention / below, -value * coherency / below];
    let mut derivative = [0.0; MOST];
    columns.iter().zip(&mut derivative).for_each(|(column, slot)| *slot = by[*column] / point.x);
    ((value - point.x) / point.x, derivative)
}

/// The law is linear in (1 / lambda, sigma / lambda, kappa / lambda) for N / X, which gives the
/// start.
fn start(points: &[Point], columns: &[usize]) -> Option<[f64; MOST]> {
    let n = columns.len();
    let (mut normal, mut right) = ([[0.0; MOST]; MOST], [0.0; MOST]);
    for point in points {
        let terms = [1.0, point.n - 1.0, point.n * (point.n - 1.0)];
        // Relative residuals of N / X.
        let scale = point.x / point.n;
        for i in 0..n {
            right[i] += terms[columns[i]] * scale;
            for j in 0..n {
                normal[i][j] += terms[columns[i]] * terms[columns[j]] * scale * scale;
            }
        }
    }
    let inverse = solve_normal(&normal, right, n)?;
    if inverse[0] <= 0.0 {
        return Some([points.iter().map(|point| point.x / point.n).fold(0.0, f64::max), 0.0, 0.0]);
    }
    let mut parameters = [1.0 / inverse[0], 0.0, 0.0];
    (1..n).for_each(|i| parameters[i] = (inverse[i] / inverse[0]).max(0.0));
    Some(parameters)
}

fn standard_errors(
    normal: &[[f64; MOST]; MOST],
    squares: f64,
    points: usize,
    n: usize,
) -> Option<[f64; MOST]> {
    let degrees = points.checked_sub(n).filter(|degrees| *degrees > 0)?;
    let variance = squares / degrees as f64;
    let mut errors = [0.0; MOST];
    for (i, error) in errors.iter_mut().enumerate().take(n) {
        let mut unit = [0.0; MOST];
        unit[i] = 1.0;
        *error = (solve_normal(normal, unit, n)?[i] * variance).max(0.0).sqrt();
    }
    Some(errors)
}

fn r_squared(points: &[Point], usl: &Usl) -> Option<f64> {
    let centre = mean(&points.iter().map(|point| point.x).collect::<Vec<_>>())?;
    let total: f64 = points.iter().map(|point| (point.x - centre).powi(2)).sum();
    let rest: f64 = points.iter().map(|point| (point.x - usl.throughput_at(point.n)).powi(2)).sum();
    (total > 0.0).then(|| 1.0 - rest / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use proptest::prelude::*;

    const USERS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn points(lambda: f64, sigma: f64, kappa: f64) -> Vec<Point> {
        USERS.iter().map(|n| Point { n: *n, x: law(lambda, sigma, kappa, *n) }).collect()
    }

    #[test]
    fn exact_data_give_the_parameters_back() {
        let found = fit(&points(995.65, 0.0267, 0.00077)).unwrap();
        assert!((found.lambda.value / 995.65 - 1.0).abs() < 1e-9);
        assert!(
            (found.sigma.value / 0.0267 - 1.0).abs() < 1e-7
                && (found.kappa.value / 0.00077 - 1.0).abs() < 1e-7
        );
        assert!((found.peak_n.unwrap() - ((1.0 - 0.0267) / 0.00077f64).sqrt()).abs() < 1e-4);
        assert!(found.r_squared.unwrap() > 1.0 - 1e-12);
    }

    #[test]
    fn a_hard_limit_is_described_well_enough_and_points_thrown_about_are_not() {
        let of = |points: &[(f64, f64)]| {
            points.iter().map(|(n, x)| Point { n: *n, x: *x }).collect::<Vec<_>>()
        };
        let pool = of(&[
            (1.0, 50.0),
            (2.0, 100.0),
            (4.0, 200.0),
            (8.0, 400.0),
            (16.0, 400.0),
            (32.0, 400.0),
            (64.0, 400.0),
        ]);
        assert_eq!(fit(&pool).unwrap().misses_too_far(&pool), None);
        // rust/axum on a machine where the hypervisor took up to a third.
        let stolen = of(&[
            (1.0, 15_921.0),
            (2.0, 52_693.0),
            (4.0, 47_617.0),
            (8.0, 15_960.0),
            (16.0, 11_772.0),
            (32.0, 37_034.0),
            (128.0, 50_926.0),
        ]);
        assert!(
            fit(&stolen).unwrap().misses_too_far(&stolen).is_some(),
            "{:?}",
            fit(&stolen).unwrap().misses(&stolen)
        );
        assert_eq!(fit(&pool).unwrap().misses(&[]), None);
    }

    #[test]
    fn noisy_data_give_them_back_within_their_errors() {
        let mut noise = Noise::new(1);
        let (mut within, runs) = ([0; 3], 400);
        for _ in 0..runs {
            let mut measured = points(1_000.0, 0.05, 0.0005);
            measured.iter_mut().for_each(|point| point.x *= 1.0 + 0.02 * noise.normal());
            let found = fit(&measured).unwrap();
            // Student's t with 5 degrees of freedom: 2.571.
            for (count, (parameter, truth)) in within.iter_mut().zip([
                (found.lambda, 1_000.0),
                (found.sigma, 0.05),
                (found.kappa, 0.0005),
            ]) {
                *count += i32::from(
                    (parameter.value - truth).abs() < 2.571 * parameter.standard_error.unwrap(),
                );
            }
        }
        assert!(
            within.iter().all(|count| (368..=392).contains(count)),
            "about 95 % of {runs}: {within:?}"
        );
    }

    #[test]
    fn bounds_hold() {
        // Better than linear: both would be negative.
        let superlinear: Vec<Point> =
            USERS.iter().map(|n| Point { n: *n, x: 100.0 * n.powf(1.1) }).collect();
        let found = fit(&superlinear).unwrap();
        assert_eq!((found.sigma.value, found.kappa.value, found.peak_n), (0.0, 0.0, None));
        assert_eq!(found.sigma.standard_error, None);
        let amdahl = fit(&points(1_000.0, 0.1, 0.0)).unwrap();
        assert!((amdahl.sigma.value - 0.1).abs() < 1e-6 && amdahl.kappa.value < 1e-9);
    }

    #[test]
    fn too_little_is_none() {
        let few = points(1_000.0, 0.1, 0.001);
        assert!(
            fit(&few[..2]).is_none()
                && fit_amdahl(&few[..2]).is_some()
                && fit_linear(&few[..1]).is_some()
        );
        assert!(fit(&few[..3]).unwrap().lambda.standard_error.is_none());
        assert!(fit(&[few[0], few[0], few[0]]).is_none());
        assert!(fit(&[few[0], few[1], Point { n: 4.0, x: 0.0 }]).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn any_law_is_found_again(lambda in 1.0..1e6f64, sigma in 0.0..0.9f64, kappa in 0.0..0.1f64) {
            let found = fit(&points(lambda, sigma, kappa)).unwrap();
            for n in USERS {
                prop_assert!((found.throughput_at(n) / law(lambda, sigma, kappa, n) - 1.0).abs() < 1e-5);
            }
        }
    }
}
