//! A confidence sequence: an interval of a mean that may be looked at after each start, and holds the
//! truth at all looks together with a probability of 95 %. So measuring may end at any look because the
//! interval is narrow enough, and the interval is still true. An interval for a number of starts that
//! was fixed beforehand is not: to end at a lucky moment makes it too narrow.
//!
//! It holds every mean that a bet against it has not refuted. The bet is the likelihood ratio of a normal
//! distribution of effects with the variance `1 / MIXTURE`, in standard deviations, to no effect, with
//! the right Haar prior for the scale (Lai, "On confidence sequences", 1976; Wang and Ramdas, "Anytime-valid t-tests and
//! confidence sequences for Gaussian means with unknown variance", 2024, section 4). Under the truth it
//! begins at 1 and stays below `1 / LEVEL` at all times with a probability of `1 - LEVEL` (Ville's
//! inequality). With `n` starts whose mean is `d` off, a variance of `v` (divided by `n`), and
//! `h = MIXTURE / (n + MIXTURE)`, the bet is `sqrt(h) ((1 + h d^2 / v) / (1 + d^2 / v))^(-n/2)`. It is below `1 / LEVEL`
//! as long as `d^2 < v (1 - k) / (k - h)` with `k = (LEVEL^2 h)^(1/n)`.
//!
//! It supposes that starts are independent and scatter as a normal distribution. How often it holds where
//! they do not is simulated in `tests/within/main.rs`.

/// The chance that the truth is ever outside.
const LEVEL: f64 = 0.05;

/// One over the variance of the effects in squared standard deviations. With 0.3 the interval is
/// within 9 % of the narrowest from 5 to 50 starts.
const MIXTURE: f64 = 0.3;

/// How far the interval of a mean reaches to either side after so many starts, in standard deviations of
/// one start (the unbiased one). `None` where too few starts show nothing: below 4.
#[must_use]
pub fn half_width(starts: usize) -> Option<f64> {
    let n = starts as f64;
    let h = MIXTURE / (n + MIXTURE);
    let k = (LEVEL * LEVEL * h).powf(1.0 / n);
    (starts > 1 && k > h).then(|| ((n - 1.0) / n * (1.0 - k) / (k - h)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student_t::t_975;
    use crate::series::quantile::{mean, variance};
    use crate::simulated::test_noise::Noise;

    #[test]
    fn few_starts_show_nothing_and_more_show_more() {
        assert_eq!((half_width(0), half_width(1), half_width(3)), (None, None, None));
        let widths: Vec<f64> = (4..400).map(|n| half_width(n).unwrap()).collect();
        assert!(widths.windows(2).all(|pair| pair[1] < pair[0]), "{widths:?}");
        assert!((half_width(5).unwrap() - 2.42).abs() < 0.01, "{:?}", half_width(5));
    }

    /// What it costs to look at any time: the interval for a number that was fixed is about half as wide.
    #[test]
    fn it_is_wider_than_an_interval_for_one_look() {
        for n in [5_usize, 10, 20, 50, 100] {
            let once = t_975(n as f64 - 1.0) / (n as f64).sqrt();
            let times = half_width(n).unwrap() / once;
            assert!((1.6..2.0).contains(&times), "{n}: {times}");
        }
    }

    /// The interval at a mean is where the bet against that mean reaches its limit.
    #[test]
    fn the_bet_is_at_its_limit_at_both_ends() {
        for n in [5_usize, 12, 60] {
            let starts = n as f64;
            let h = MIXTURE / (starts + MIXTURE);
            // With a standard deviation of 1, `v` is (n - 1) / n.
            let square = half_width(n).unwrap().powi(2) / ((starts - 1.0) / starts);
            let bet = h.sqrt() * ((1.0 + h * square) / (1.0 + square)).powf(-starts / 2.0);
            assert!((bet * LEVEL - 1.0).abs() < 1e-9, "{n}: {bet}");
        }
    }

    /// Looked at after each of 100 starts, at most one run in twenty ever has the truth outside. An
    /// interval for one look has it outside at some look in more than a fifth.
    #[test]
    fn the_truth_is_within_at_all_looks_together() {
        const RUNS: usize = 4_000;
        let mut noise = Noise::new(23);
        let (mut left, mut left_once) = (0, 0);
        for _ in 0..RUNS {
            let starts: Vec<f64> = (0..100).map(|_| noise.normal()).collect();
            let is_outside = |reach: &dyn Fn(usize) -> f64| {
                (5..=starts.len()).any(|n| {
                    let (centre, variance) = (mean(&starts[..n]), variance(&starts[..n]));
                    centre.unwrap().abs() > reach(n) * variance.unwrap().sqrt()
                })
            };
            left += usize::from(is_outside(&|n| half_width(n).unwrap()));
            let once = |n: usize| t_975(n as f64 - 1.0) / (n as f64).sqrt();
            left_once += usize::from(is_outside(&once));
        }
        let share = |count: usize| count as f64 / RUNS as f64;
        println!("outside at some look: {} and {}", share(left), share(left_once));
        assert!(share(left) <= 0.05, "{}", share(left));
        assert!(share(left_once) > 0.2, "{}", share(left_once));
    }
}
