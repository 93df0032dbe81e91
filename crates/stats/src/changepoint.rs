//! Finds where a history of figures changed, for example through a new version, library or kernel.
//!
//! Source: Matteson and James, "A nonparametric approach for multiple change point analysis of
//! multivariate data" (2014): E-divisive with exponent 1, as Daly et al., "The use of change point
//! detection to identify software performance regressions" (2020) use it in continuous integration.
//! A split is accepted by a permutation test; the parts are then split further.
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::draw::shuffle;
use crate::quantile::median;

/// Fewest figures on either side of a change. Two may be chance.
pub const FEWEST_PER_SIDE: usize = 3;
/// Permutations of a test. The smallest p is 1 / (this + 1).
const PERMUTATIONS: usize = 199;
/// The probability of a split in a history without a change.
const LEVEL: f64 = 0.02;

/// A change in a history.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// The first figure after the change, counted from 0.
    pub index: usize,
    /// The median from the last change to this one.
    pub before: f64,
    /// The median from this change to the next one.
    pub after: f64,
    /// The probability to see at least as large a change in a history without one.
    pub p_value: f64,
}

/// The changes in a history, oldest first; none below six figures.
pub fn change_points<R: Rng + ?Sized>(history: &[f64], rng: &mut R) -> Vec<ChangePoint> {
    let mut splits = Vec::new();
    if history.iter().all(|x| x.is_finite()) {
        divide(history, 0, &mut splits, rng);
    }
    splits.sort_unstable_by_key(|(index, _)| *index);
    let edges: Vec<usize> = std::iter::once(0)
        .chain(splits.iter().map(|(index, _)| *index))
        .chain([history.len()])
        .collect();
    let level = |i: usize| median(&history[edges[i]..edges[i + 1]]).unwrap_or(f64::NAN);
    splits
        .iter()
        .enumerate()
        .map(|(i, (index, p_value))| ChangePoint {
            index: *index,
            before: level(i),
            after: level(i + 1),
            p_value: *p_value,
        })
        .collect()
}

fn divide<R: Rng + ?Sized>(
    part: &[f64],
    offset: usize,
    splits: &mut Vec<(usize, f64)>,
    rng: &mut R,
) {
    let Some((split, strength)) = strongest_split(part) else { return };
    let mut shuffled = part.to_vec();
    let as_strong = (0..PERMUTATIONS)
        .filter(|_| {
            shuffle(&mut shuffled, rng);
            strongest_split(&shuffled).is_some_and(|(_, other)| other >= strength)
        })
        .count();
    let p_value = (as_strong + 1) as f64 / (PERMUTATIONS + 1) as f64;
    if p_value > LEVEL {
        return;
    }
    splits.push((offset + split, p_value));
    divide(&part[..split], offset, splits, rng);
    divide(&part[split..], offset + split, splits, rng);
}

/// The split with the greatest energy distance between its sides.
fn strongest_split(part: &[f64]) -> Option<(usize, f64)> {
    let n = part.len();
    let last = n.checked_sub(FEWEST_PER_SIDE)?;
    let candidates = FEWEST_PER_SIDE..=last;
    // Sums of distances within the left side, within the right side, and between them, updated for
    // one figure at a time.
    let distance = |i: usize, range: std::ops::Range<usize>| {
        range.map(|j| (part[i] - part[j]).abs()).sum::<f64>()
    };
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..n).map(|i| distance(i, i + 1..n)).sum();
    let mut best: Option<(usize, f64)> = None;
    for split in 1..=*candidates.end() {
        let moved = split - 1;
        let (to_left, to_right) = (distance(moved, 0..moved), distance(moved, split..n));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if candidates.contains(&split) {
            let strength = energy(left, right, between, split as f64, (n - split) as f64);
            if strength > 0.0 && best.is_none_or(|(_, other)| strength > other) {
                best = Some((split, strength));
            }
        }
    }
    best
}

/// `n m / (n + m) * (2 E|X - Y| - E|X - X'| - E|Y - Y'|)`.
fn energy(left: f64, right: f64, between: f64, n: f64, m: f64) -> f64 {
    let within = |sum: f64, n: f64| sum / (n * (n - 1.0) / 2.0);
    n * m / (n + m) * (2.0 * between / (n * m) - within(left, n) - within(right, m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_noise::Noise;

    fn history(levels: &[(f64, usize)], scatter: f64, noise: &mut Noise) -> Vec<f64> {
        levels
            .iter()
            .flat_map(|(level, count)| std::iter::repeat_n(*level, *count))
            .map(|level| level * (1.0 + scatter * noise.normal()))
            .collect()
    }

    #[test]
    fn two_steps_are_found_where_they_are() {
        let mut noise = Noise::new(1);
        let found = change_points(
            &history(&[(100.0, 12), (92.0, 10), (110.0, 12)], 0.01, &mut noise),
            &mut noise.0,
        );
        assert_eq!(
            found.iter().map(|change| change.index).collect::<Vec<_>>(),
            [12, 22],
            "{found:?}"
        );
        assert!(
            (found[0].after / found[0].before - 0.92).abs() < 0.01
                && (found[1].after - 110.0).abs() < 1.0
        );
    }

    #[test]
    fn noise_and_a_single_outlier_are_no_change() {
        let mut noise = Noise::new(2);
        let alarms = (0..200)
            .filter(|_| {
                !change_points(&history(&[(100.0, 20)], 0.02, &mut noise), &mut noise.0).is_empty()
            })
            .count();
        assert!(alarms <= 10, "{alarms} of 200");
        let mut outlier = history(&[(100.0, 20)], 0.01, &mut noise);
        outlier[10] = 50.0;
        assert!(change_points(&outlier, &mut noise.0).is_empty());
        assert!(change_points(&[1.0, 1.0, 9.0, 9.0, 9.0], &mut noise.0).is_empty(), "too few");
        assert!(change_points(&[5.0; 30], &mut noise.0).is_empty());
    }
}
