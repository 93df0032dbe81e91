//! The 95 % interval of the 99th percentile of one load.
//!
//! Neighbouring requests wait together, so they are not independent. The load is cut into blocks
//! (its windows of a second), each with its own 99th percentile. Two order statistics of these
//! bound their median ([`crate::interval::order_statistics`]).
//!
//! Whether the blocks are independent is checked by the correlation of neighbours. While it is
//! above what chance gives (1.645 / sqrt(n), one-sided 5 %), neighbours are joined in pairs.
use pippin_model::result::LoadResult;

use crate::interval::Interval;
use crate::interval::bootstrap::Basis;
use crate::interval::order_statistics::{FEWEST, median_bounds};
use crate::series::quantile::mean;
use crate::series::steady::measured_windows;
use crate::series::trend::lag_one_autocorrelation;

/// Standard deviations of a correlation beyond which chance does not explain it, at one-sided 5 %.
const CHANCE: f64 = 1.645;

/// The interval of the 99th percentile of the response time, nanoseconds, around `whole_ns`, which
/// is that of all requests together. `None` with fewer than six independent blocks.
#[must_use]
pub fn p99_interval(load: &LoadResult, whole_ns: f64) -> Option<Interval> {
    let of_windows =
        measured_windows(load).map(|window| window.response_p99_ns.map(|ns| ns as f64));
    let mut blocks = of_windows.collect::<Option<Vec<f64>>>()?;
    while blocks.len() >= FEWEST && are_alike(&blocks) {
        blocks = blocks.chunks_exact(2).filter_map(mean).collect();
    }
    let (low, high) = median_bounds(&mut blocks)?;
    Some(Interval { low: low.min(whole_ns), high: high.max(whole_ns), basis: Basis::Windows })
}

/// Whether neighbours resemble each other by more than chance.
fn are_alike(blocks: &[f64]) -> bool {
    let logs: Vec<f64> = blocks.iter().map(|ns| ns.max(1.0).ln()).collect();
    lag_one_autocorrelation(&logs) > CHANCE / (blocks.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::ExampleTrial;

    fn load(p99_ns: &[f64]) -> LoadResult {
        let mut load = ExampleTrial::hello().seconds(p99_ns.len() as u64).build().load.unwrap();
        for (window, ns) in load.windows.iter_mut().zip(p99_ns) {
            window.response_p99_ns = Some(*ns as u64);
        }
        load
    }

    /// docs/methodology.md quotes these shares.
    #[test]
    fn how_often_it_holds_the_truth() {
        const RUNS: usize = 2_000;
        for (r, least, most) in [(0.0, 0.94, 0.99), (0.5, 0.86, 0.90)] {
            let mut noise = Noise::new(3);
            let held = (0..RUNS).filter(|_| {
                let mut value = noise.normal();
                let blocks: Vec<f64> = (0..30)
                    .map(|_| {
                        value = r * value + (1.0_f64 - r * r).sqrt() * noise.normal();
                        1e6 * (0.1 * value).exp()
                    })
                    .collect();
                let mut sorted = blocks.clone();
                sorted.sort_by(f64::total_cmp);
                p99_interval(&load(&blocks), sorted[15]).is_some_and(|found| found.covers(1e6))
            });
            let share = held.count() as f64 / RUNS as f64;
            assert!((least..most).contains(&share), "{r}: {share}");
        }
    }

    #[test]
    fn blocks_that_follow_each_other_are_joined_and_few_say_nothing() {
        let rising: Vec<f64> = (0..24).map(|second| 1e6 * (1.0 + f64::from(second))).collect();
        let steady: Vec<f64> = (0..24).map(|second| 1e6 * (1.0 + f64::from(second % 2))).collect();
        let found = p99_interval(&load(&rising), 12e6).unwrap();
        assert!(found.low < 3e6 && found.high > 22e6, "{found:?}");
        assert!(p99_interval(&load(&steady), 1.5e6).is_some());
        assert_eq!(p99_interval(&load(&[1e6; 5]), 1e6), None);
    }
}
