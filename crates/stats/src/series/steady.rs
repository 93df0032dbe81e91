//! Whether a target has warmed up, and whether a whole trial was steady.
use pippin_model::result::{LoadResult, Window};
pub use pippin_model::result::{arriving_per_s, measured_windows};

use crate::series::trend::{Trend, trend};

/// Fewest windows that can end the warm-up.
const FEWEST_TO_SETTLE: usize = 5;
/// Most windows that are used. Older ones say nothing about the present.
const MOST_TO_SETTLE: usize = 30;
/// A change over the windows that is too small to matter, significant or not.
const NEGLIGIBLE: f64 = 0.03;
/// A change over the windows that never counts as settled, however noisy they are.
const NEVER_SETTLED: f64 = 0.10;
/// Windows (5 s) after which a larger change may be noise, and how large.
const PATIENCE: usize = 25;
const NOISE: f64 = 0.25;
/// Standard deviations beyond which a trend is significant at 5 %.
const SIGNIFICANT: f64 = 1.96;

/// Fewest windows that can show whether a trial is steady.
const FEWEST_FOR_TREND: usize = 8;
/// A trial whose throughput changed by less than this from start to end counts as steady.
const TREND_LIMIT: f64 = 0.05;
/// Standard deviations beyond which a trend is significant at 1 %: many trials are tested, and
/// false alarms cost trust.
const HIGHLY_SIGNIFICANT: f64 = 2.576;

/// Whether the means of the windows so far (requests per second, oldest first) have stopped
/// trending, so that the warm-up can end.
///
/// Looks at the newer half of the windows, at least 5 and at most 30. They are settled if the
/// change along the Theil-Sen line is below 3 %, or if it is below 10 % and the Mann-Kendall test
/// finds no trend at 5 %. After 25 windows 25 % take the place of 10 %: noise is no reason to wait
/// longer. Both use ranks and medians, so a single stalled window has no effect.
/// With fewer than 5 windows, or without answers, they are not settled. If most windows are empty,
/// because answers come in bursts as behind a slow upstream, windows are joined in pairs until most
/// are not.
#[must_use]
pub fn has_settled(per_window: &[f64]) -> bool {
    if is_mostly_empty(per_window) && per_window.len() >= 2 * FEWEST_TO_SETTLE {
        // Pair from the newest backwards, so that a window left over is the oldest.
        let pairs: Vec<f64> =
            per_window.rchunks_exact(2).rev().map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        return has_settled(&pairs);
    }
    let looked_at = (per_window.len() / 2).clamp(FEWEST_TO_SETTLE, MOST_TO_SETTLE);
    let Some(newest) = per_window.len().checked_sub(looked_at).map(|from| &per_window[from..])
    else {
        return false;
    };
    trend(newest).is_some_and(|found| {
        let change = found.relative_change.abs();
        let limit = if per_window.len() >= PATIENCE { NOISE } else { NEVER_SETTLED };
        change < NEGLIGIBLE || (change < limit && found.z.abs() < SIGNIFICANT)
    })
}

fn is_mostly_empty(per_window: &[f64]) -> bool {
    2 * per_window.iter().filter(|rate| **rate <= 0.0).count() >= per_window.len()
}

/// The trend that makes a trial unsteady: at least 8 windows, a change of more than 5 % from start
/// to end, significant at 1 % after correction for autocorrelation. `None` if the trial is steady
/// or too short to tell.
#[must_use]
pub fn unsteady(per_window: &[f64]) -> Option<Trend> {
    if per_window.len() < FEWEST_FOR_TREND {
        return None;
    }
    trend(per_window).filter(|found| {
        found.relative_change.abs() > TREND_LIMIT && found.z.abs() > HIGHLY_SIGNIFICANT
    })
}

/// Whether a series is long enough for [`unsteady`] to tell.
#[must_use]
pub fn can_tell(per_window: &[f64]) -> bool {
    per_window.len() >= FEWEST_FOR_TREND
}

/// A figure per second of each full window of the measured part, oldest first. Windows shorter than
/// half of the longest, such as the last one, are left out, because their figures vary more.
#[must_use]
pub fn measured_rates(load: &LoadResult, count: impl Fn(&Window) -> u64) -> Vec<f64> {
    measured_windows(load)
        .map(|window| count(window) as f64 * 1e9 / window.duration_ns as f64)
        .collect()
}

/// Standard deviations of the number of answers that chance adds in one part of many.
const BY_CHANCE: f64 = 4.0;

/// Answers of a target that has slowed down, per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowed {
    /// In the best part of the warm-up and of the older half of the measured part.
    pub before_per_s: f64,
    /// In the best part of the newer half.
    pub now_per_s: f64,
}

/// Windows are joined until they last so long, nanoseconds, and twice as long as nearly all answers take:
/// those of a pool come many at a time.
const LEAST_PART_NS: u64 = 500_000_000;
const TIMES_P90: u64 = 2;

/// Whether at least so many `times` as many answers came before as in the newer half of the measured
/// part: the best part of its older half or of the warm-up is compared with the best one of the newer
/// half, and must have more than chance explains (a Poisson variable's variance is its mean). `None`, too,
/// if the load is too short to tell.
#[must_use]
pub fn slowed(load: &LoadResult, times: f64) -> Option<Slowed> {
    let half_ns = i64::try_from(load.measured.duration_ns / 2).unwrap_or(i64::MAX);
    let p90_ns = load.measured.spans.response_time.quantile_ns(0.9).unwrap_or(0);
    let least_ns = LEAST_PART_NS.max(TIMES_P90 * p90_ns);
    let mut windows: Vec<&Window> = load.windows.iter().collect();
    windows.sort_by_key(|window| window.from_ns);
    let (older, newer) = windows.split_at(windows.partition_point(|it| it.from_ns < half_ns));
    let per_ns = |(answers, duration_ns): (u64, u64)| answers as f64 / duration_ns as f64;
    let now_per_ns = parts(newer, least_ns).into_iter().map(per_ns).reduce(f64::max)?;
    let faster = parts(older, least_ns).into_iter().filter(|(answers, duration_ns)| {
        let limit = times * now_per_ns * *duration_ns as f64;
        *answers as f64 > limit + BY_CHANCE * limit.sqrt()
    });
    let before_per_ns = faster.map(per_ns).reduce(f64::max)?;
    Some(Slowed { before_per_s: before_per_ns * 1e9, now_per_s: now_per_ns * 1e9 })
}

/// Windows joined to parts of at least this length: answers and nanoseconds of each. What is left over is no part.
fn parts(windows: &[&Window], least_ns: u64) -> Vec<(u64, u64)> {
    let (mut all, mut part) = (Vec::new(), (0, 0));
    for window in windows {
        part = (part.0 + window.completed, part.1 + window.duration_ns);
        if part.1 >= least_ns {
            all.push(std::mem::take(&mut part));
        }
    }
    all
}

/// Answers that came in the measured part, whichever part of the load their requests belong to.
/// Bytes are counted in the same way. Without windows, the answers of the headline.
#[must_use]
pub fn arrived(load: &LoadResult) -> u64 {
    let length = i64::try_from(load.measured.duration_ns).unwrap_or(i64::MAX);
    let inside =
        load.windows.iter().filter(|window| window.from_ns >= 0 && window.from_ns < length);
    let by_window: u64 = inside.map(|window| window.completed).sum();
    if by_window > 0 { by_window } else { load.measured.requests.completed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;

    #[test]
    fn a_warm_up_ends_when_it_flattens() {
        // Climbs with a time constant of 3 windows: flat to 1 % after about 14.
        let climb: Vec<f64> =
            (0..40).map(|t| 1_000.0 * (1.0 - (-f64::from(t) / 3.0).exp())).collect();
        let first = (1..40).find(|n| has_settled(&climb[..*n])).unwrap();
        assert!((9..20).contains(&first), "settled after {first}");
        assert!((20..40).all(|n| has_settled(&climb[..n])));
    }

    #[test]
    fn a_steady_climb_never_settles() {
        let climb: Vec<f64> = (0..60).map(|t| 1_000.0 * 1.03f64.powi(t)).collect();
        assert!((0..60).all(|n| !has_settled(&climb[..n])));
    }

    #[test]
    fn noise_and_a_stall_do_not_hold_it_up() {
        let mut noise = Noise::new(3);
        let mut settled = 0;
        for _ in 0..200 {
            let mut flat: Vec<f64> =
                (0..12).map(|_| 1_000.0 * (1.0 + 0.04 * noise.normal())).collect();
            flat[9] = 0.0;
            settled += usize::from(has_settled(&flat));
        }
        assert!(settled > 170, "{settled} of 200");
    }

    #[test]
    fn bursts_settle_and_a_late_first_answer_does_not() {
        // 100 users in step behind an upstream of 500 ms, in windows of 200 ms.
        let bursts: Vec<f64> =
            (0..40).map(|window| if (window * 2) % 5 < 2 { 500.0 } else { 0.0 }).collect();
        let first = (1..40).find(|n| has_settled(&bursts[..*n])).unwrap();
        assert!(first <= 25, "settled after {first}");
        let late = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 500.0, 500.0, 500.0];
        assert!((0..=12).all(|n| !has_settled(&late[..n])));
    }

    #[test]
    fn silence_is_not_settled() {
        assert!(!has_settled(&[]));
        assert!(!has_settled(&[100.0; 4]));
        assert!(!has_settled(&[0.0; 20]));
        assert!(has_settled(&[100.0; 5]));
    }

    #[test]
    fn a_falling_trial_is_unsteady_and_a_noisy_one_is_not() {
        let mut noise = Noise::new(4);
        let falling: Vec<f64> = (0..30)
            .map(|t| (1_000.0 - 3.0 * f64::from(t)) * (1.0 + 0.01 * noise.normal()))
            .collect();
        let found = unsteady(&falling).unwrap();
        assert!((found.relative_change + 0.09).abs() < 0.02, "{found:?}");
        let alarms = (0..500)
            .filter(|_| {
                let mut level = 0.0;
                // Autocorrelated noise (AR(1) with 0.5) of 5 %, without a trend.
                let wandering: Vec<f64> = (0..30)
                    .map(|_| {
                        level = 0.5 * level + 0.05 * noise.normal();
                        1_000.0 * (1.0 + level)
                    })
                    .collect();
                unsteady(&wandering).is_some()
            })
            .count();
        assert!(alarms <= 15, "{alarms} false alarms of 500");
        assert_eq!(unsteady(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
    }
}
