//! Finds where a history of figures changed, for example through a new version, library or kernel.
//!
//! Source: Matteson and James, "A nonparametric approach for multiple change point analysis of
//! multivariate data" (2014): E-divisive with exponent 1, as Daly et al., "The use of change point
//! detection to identify software performance regressions" (2020) use it in continuous integration.
//! A split is accepted by a permutation test; the parts are then split further.
//!
//! A split of `n` figures takes `n log n` steps instead of their square, because sums of distances
//! between plain numbers follow from counts and sums of the smaller ones. These are kept in a tree
//! (Fenwick, "A new data structure for cumulative frequency tables", 1994).
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::interval::draw::shuffle;
use crate::series::quantile::median;

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
    let mut figures = ranked(part);
    let Some((split, strength)) = strongest_split(&figures) else { return };
    let p_value = |as_strong: usize| (as_strong + 1) as f64 / (PERMUTATIONS + 1) as f64;
    let mut as_strong = 0;
    for _ in 0..PERMUTATIONS {
        shuffle(&mut figures, rng);
        if strongest_split(&figures).is_some_and(|(_, other)| other >= strength) {
            as_strong += 1;
        }
        // Further permutations cannot make it less likely to be chance.
        if p_value(as_strong) > LEVEL {
            return;
        }
    }
    splits.push((offset + split, p_value(as_strong)));
    divide(&part[..split], offset, splits, rng);
    divide(&part[split..], offset + split, splits, rng);
}

/// A figure of a part of a history.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    /// Its distance from the first figure. Distances stay the same if all figures are moved, and
    /// sums of smaller numbers lose less.
    value: f64,
    /// How many figures come before it when they are sorted.
    rank: usize,
    /// The sum of its distances to all others.
    to_all: f64,
}

/// The figures of a part, in their order.
fn ranked(part: &[f64]) -> Vec<Ranked> {
    let first = part.first().copied().unwrap_or_default();
    let mut figures: Vec<Ranked> =
        part.iter().map(|x| Ranked { value: x - first, rank: 0, to_all: 0.0 }).collect();
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_by(|a, b| part[*a].total_cmp(&part[*b]));
    let sum: f64 = figures.iter().map(|figure| figure.value).sum();
    let mut smaller = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        let Ranked { value, .. } = figures[place];
        let (below, above) = (rank as f64, (part.len() - rank - 1) as f64);
        let to_all = value * below - smaller + (sum - smaller - value) - value * above;
        figures[place] = Ranked { value, rank, to_all };
        smaller += value;
    }
    figures
}

/// Counts and sums of figures by rank, in Fenwick's tree: one more figure, or the figures below a
/// rank, take as many steps as the number of ranks has binary digits.
struct ByRank(Vec<(f64, f64)>);

impl ByRank {
    fn add(&mut self, figure: Ranked) {
        let mut node = figure.rank + 1;
        while let Some((count, sum)) = self.0.get_mut(node) {
            *count += 1.0;
            *sum += figure.value;
            node += node & node.wrapping_neg();
        }
    }

    /// How many figures have a lower rank, and their sum.
    fn below(&self, rank: usize) -> (f64, f64) {
        let (mut count, mut sum, mut node) = (0.0, 0.0, rank);
        while node > 0 {
            count += self.0[node].0;
            sum += self.0[node].1;
            node &= node - 1;
        }
        (count, sum)
    }
}

/// The split with the greatest energy distance between its sides.
fn strongest_split(part: &[Ranked]) -> Option<(usize, f64)> {
    let n = part.len();
    let last = n.checked_sub(FEWEST_PER_SIDE)?;
    let mut on_the_left = ByRank(vec![(0.0, 0.0); n + 1]);
    let (mut count, mut sum) = (0.0, 0.0);
    // Sums of distances within the left side, within the right side, and between them, updated for
    // one figure at a time.
    let mut right = part.iter().map(|figure| figure.to_all).sum::<f64>() / 2.0;
    let (mut left, mut between) = (0.0, 0.0);
    let mut best: Option<(usize, f64)> = None;
    for (split, figure) in (1..=last).zip(part) {
        let (smaller, their_sum) = on_the_left.below(figure.rank);
        let to_left = figure.value * smaller - their_sum + (sum - their_sum)
            - figure.value * (count - smaller);
        let to_right = figure.to_all - to_left;
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        on_the_left.add(*figure);
        count += 1.0;
        sum += figure.value;
        if split >= FEWEST_PER_SIDE {
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
    use crate::simulated::test_noise::Noise;

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

    /// The change point by its definition: all pairs of figures.
    fn by_pairs(part: &[f64]) -> Option<(usize, f64)> {
        let sum = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum()
        };
        let strength = |split: usize| {
            let (a, b) = part.split_at(split);
            let (n, m) = (a.len() as f64, b.len() as f64);
            energy(sum(a, a) / 2.0, sum(b, b) / 2.0, sum(a, b), n, m)
        };
        (FEWEST_PER_SIDE..=part.len().checked_sub(FEWEST_PER_SIDE)?)
            .map(|split| (split, strength(split)))
            .filter(|(_, strength)| *strength > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }

    #[test]
    fn the_strongest_split_is_that_of_all_pairs() {
        let mut noise = Noise::new(3);
        let rounded = history(&[(20.0, 9), (19.0, 14)], 0.05, &mut noise);
        let rounded: Vec<f64> = rounded.into_iter().map(f64::round).collect();
        let histories = [
            history(&[(6e4, 40), (5.9e4, 30)], 0.02, &mut noise),
            history(&[(2e8, 25), (9e8, 3), (2e8, 25)], 0.3, &mut noise),
            rounded,
            vec![3.0, 1.0, 2.0, 7.0, 9.0, 8.0],
        ];
        for part in histories {
            let (expected, found) = (by_pairs(&part), strongest_split(&ranked(&part)));
            let (expected, found) = (expected.unwrap(), found.unwrap());
            assert_eq!(found.0, expected.0, "{part:?}");
            assert!((found.1 / expected.1 - 1.0).abs() < 1e-9, "{found:?} {expected:?}");
        }
        for none in [vec![0.1; 30], vec![1.0, 2.0, 3.0, 4.0, 5.0]] {
            assert_eq!(strongest_split(&ranked(&none)), None, "{none:?}");
        }
    }
}
