//! Compares our figures with NumPy, SciPy and pymannkendall. `scipy_reference.json` holds
//! the output of `scipy_reference.py` with its data. The head of that script says how to regenerate
//! it.
use pippin_stats::interval::bootstrap::Sample;
use pippin_stats::interval::{Interval, median_interval_of};
use pippin_stats::scalability::usl::{Point, fit};
use pippin_stats::series::quantile::{quantile, variance};
use pippin_stats::series::trend::trend;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

fn reference(part: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("scipy_reference.json")).unwrap();
    let cases = all[part].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn near(got: f64, want: f64, relative: f64) {
    assert!((got - want).abs() <= relative * want.abs().max(1e-12), "{got} for {want}");
}

#[test]
fn quantiles_equal_numpy_s() {
    for case in reference("quantiles") {
        let samples = numbers(&case["samples"]);
        for (level, want) in numbers(&case["levels"]).into_iter().zip(numbers(&case["quantiles"])) {
            near(quantile(&samples, level).unwrap(), want, 1e-12);
        }
        match case["variance"].as_f64() {
            Some(want) => near(variance(&samples).unwrap(), want, 1e-12),
            None => assert_eq!(variance(&samples), None),
        }
    }
}

#[test]
fn trends_equal_scipy_s_and_pymannkendall_s() {
    for case in reference("trends") {
        let found = trend(&numbers(&case["values"])).unwrap();
        near(found.relative_change, case["relative_change"].as_f64().unwrap(), 1e-9);
        near(found.z, case["z"].as_f64().unwrap(), 1e-9);
    }
}

#[test]
fn fits_equal_scipy_s() {
    for case in reference("usl") {
        let points: Vec<Point> = numbers(&case["n"])
            .into_iter()
            .zip(numbers(&case["x"]))
            .map(|(n, x)| Point { n, x })
            .collect();
        let found = fit(&points).unwrap();
        let parameters = [found.lambda, found.sigma, found.kappa];
        for ((got, want), error) in parameters
            .iter()
            .zip(numbers(&case["parameters"]))
            .zip(numbers(&case["standard_errors"]))
        {
            // The curve is flat near its minimum, so both stop within a thousandth of a standard
            // error.
            assert!((got.value - want).abs() < 0.001 * error, "{got:?} for {want} +- {error}");
            near(got.standard_error.unwrap(), error, 0.001);
        }
        near(found.r_squared.unwrap(), case["r_squared"].as_f64().unwrap(), 1e-6);
    }
}

/// Both are drawn at random, so the ends may differ by a fiftieth of the width.
#[track_caller]
fn same_ends(found: Interval, case: &Value) {
    let (low, high) = (case["low"].as_f64().unwrap(), case["high"].as_f64().unwrap());
    let slack = 0.02 * (high - low);
    assert!(
        (found.low - low).abs() < slack && (found.high - high).abs() < slack,
        "{found:?} for {low} to {high}"
    );
}

#[test]
fn intervals_equal_numpy_s() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for case in reference("intervals") {
        let samples: Vec<Sample> =
            numbers(&case["values"]).into_iter().map(Sample::alone).collect();
        same_ends(median_interval_of(&samples, 20_000, &mut rng).unwrap(), &case);
    }
    for case in reference("window_intervals") {
        let windows = numbers(&case["windows"]);
        let value = windows.iter().sum::<f64>() / windows.len() as f64;
        same_ends(
            median_interval_of(&[Sample { value, windows }], 20_000, &mut rng).unwrap(),
            &case,
        );
    }
}
