//! The knee of a throughput curve: the number of connections from which more bring little.
//!
//! The knee is the first point from which no later one is surely more than 10 % better. A point that
//! is barely higher by chance does not move it, and neither does the place where the sweep ends.
use serde::{Deserialize, Serialize};

use crate::scalability::usl::Point;

/// Fewest points that can have a knee.
const FEWEST: usize = 3;
/// More must bring this factor to be worth it.
pub(crate) const WORTH: f64 = 1.1;
/// One-sided 99 % of the normal distribution.
pub(crate) const SURE: f64 = 2.326;

/// The knee with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Connections.
    pub n: f64,
    /// Right answers per second there.
    pub x: f64,
    /// The first point from which every later one is surely at most 10 % better. The knee lies
    /// between `n` and this. `None` if the points have no intervals, so that nobody can tell.
    pub at_most: Option<f64>,
    /// Whether `at_most` is the last point of the sweep, and not `n`: nothing shows then that the
    /// knee does not lie beyond it.
    pub is_open: bool,
}

impl Knee {
    /// `4 connections (4 to 8)`.
    #[must_use]
    pub fn words(&self) -> String {
        let connections = if self.n == 1.0 { "connection" } else { "connections" };
        match self.at_most {
            Some(most) if most > self.n => {
                let or_more = if self.is_open { " or more" } else { "" };
                format!("{:.0} {connections} ({:.0} to {most:.0}{or_more})", self.n, self.n)
            }
            Some(_) => format!("{:.0} {connections}", self.n),
            None => {
                format!("{:.0} {connections} (by single figures without an interval)", self.n)
            }
        }
    }
}

/// How much better a later point is than an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// Surely more than [`WORTH`].
    Worth,
    /// Surely at most that.
    Little,
    /// Nobody can tell.
    Unsure,
}

/// Where a curve bends, by the places of its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bend {
    /// The first point from which no later one is surely worth more.
    pub at: usize,
    /// The first point from which every later one is surely worth no more. It is at least `at`.
    pub at_most: usize,
}

/// Where the curve through this many points bends. `gain` says how much better a later point is than
/// an earlier one. `None` if there are fewer than three points, or if the last one is surely better
/// than every other: the bend may lie beyond it.
#[must_use]
pub fn bend(count: usize, gain: impl Fn(usize, usize) -> Gain) -> Option<Bend> {
    if count < FEWEST {
        return None;
    }
    let first = |is_enough: fn(Gain) -> bool| {
        (0..count).find(|at| (at + 1..count).all(|late| is_enough(gain(*at, late))))
    };
    let at = first(|gain| gain != Gain::Worth).filter(|at| at + 1 < count)?;
    Some(Bend { at, at_most: first(|gain| gain == Gain::Little)? })
}

/// Whether the last of this many points is surely better than every other, so that a further one may
/// bring more. Takes what [`bend`] takes.
#[must_use]
pub fn rises(count: usize, gain: impl Fn(usize, usize) -> Gain) -> bool {
    let last = count.saturating_sub(1);
    last > 0 && (0..last).all(|early| gain(early, last) == Gain::Worth)
}

/// Whether the last point is surely more than 10 % better than every other: more connections than
/// were measured would then bring more. Takes what [`knee`] takes.
#[must_use]
pub fn rises_at_its_end(points: &[Point], errors: &[Option<f64>]) -> bool {
    let known = known(points, errors);
    rises(points.len(), |early, late| gain(points, known.as_deref(), early, late))
}

/// The standard errors of all points; `None` if one of them is unknown.
fn known(points: &[Point], errors: &[Option<f64>]) -> Option<Vec<f64>> {
    let known: Option<Vec<f64>> = errors.iter().copied().collect();
    known.filter(|errors| errors.len() == points.len())
}

/// How much better a later point is. Without standard errors, the figures are compared as they
/// stand.
fn gain(points: &[Point], errors: Option<&[f64]>, early: usize, late: usize) -> Gain {
    let beyond = (points[late].x / points[early].x / WORTH).ln();
    let doubt = errors.map_or(0.0, |errors| SURE * errors[early].hypot(errors[late]));
    if beyond > doubt {
        Gain::Worth
    } else if beyond <= -doubt {
        Gain::Little
    } else {
        Gain::Unsure
    }
}

/// The knee of the curve through the points, ascending in users. `errors` are the standard errors of
/// the logarithm of each point's throughput; with one that is unknown, the figures are compared as
/// they stand. `None` if there are fewer than three points, or if the last one is surely more than
/// 10 % better than every other: the knee may lie beyond it.
#[must_use]
pub fn knee(points: &[Point], errors: &[Option<f64>]) -> Option<Knee> {
    let ascending = points.windows(2).all(|pair| pair[0].n < pair[1].n);
    if !ascending || points.iter().any(|point| point.x <= 0.0) {
        return None;
    }
    let known = known(points, errors);
    let Bend { at, at_most } =
        bend(points.len(), |early, late| gain(points, known.as_deref(), early, late))?;
    Some(Knee {
        n: points[at].n,
        x: points[at].x,
        at_most: known.is_some().then(|| points[at_most].n),
        is_open: known.is_some() && at_most > at && at_most + 1 == points.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;

    fn curve(users: &[f64], mut of: impl FnMut(f64) -> f64) -> Vec<Point> {
        users.iter().map(|n| Point { n: *n, x: of(*n) }).collect()
    }

    /// The published sweep of a rendered page (wrk, 60 s each, one processor). Its author reads the
    /// knee at 4 connections: 91 % of the best throughput, processor 98 % busy.
    const PUBLISHED: [(f64, f64); 9] = [
        (1.0, 2075.43),
        (2.0, 3583.06),
        (4.0, 4529.75),
        (8.0, 4907.09),
        (16.0, 4964.86),
        (32.0, 4956.40),
        (128.0, 4854.76),
        (256.0, 4317.57),
        (512.0, 4090.92),
    ];

    fn published() -> Vec<Point> {
        PUBLISHED.iter().map(|(n, x)| Point { n: *n, x: *x }).collect()
    }

    #[test]
    fn the_published_sweep_bends_at_four_wherever_it_ends() {
        let points = published();
        for count in 4..=points.len() {
            let found = knee(&points[..count], &vec![Some(0.02); count]).unwrap();
            assert_eq!(found.n, 4.0, "{count} points");
            assert!(found.at_most.is_some_and(|most| (4.0..=8.0).contains(&most)), "{found:?}");
            let single = knee(&points[..count], &vec![None; count]).unwrap();
            assert_eq!((single.n, single.at_most), (4.0, None), "{count} points");
        }
        assert_eq!(knee(&points[..3], &[Some(0.02); 3]), None, "it still rises");
        assert!(rises_at_its_end(&points[..3], &[Some(0.02); 3]));
        assert!(!rises_at_its_end(&points[..4], &[Some(0.02); 4]));
        // 8 connections bring 8 % more than 4, so that 16 might bring more yet.
        let cut = knee(&points[..4], &[Some(0.02); 4]).unwrap();
        assert_eq!(cut.words(), "4 connections (4 to 8 or more)");
    }

    #[test]
    fn noise_of_two_percent_moves_it_nowhere_the_sweep_ends() {
        let mut noise = Noise::new(9);
        for count in 4..=9 {
            let (mut at_four, mut covered, mut rises) = (0, 0, 0);
            for _ in 0..1_000 {
                let mut points = published()[..count].to_vec();
                points.iter_mut().for_each(|point| point.x *= (0.02 * noise.normal()).exp());
                let errors = vec![Some(0.02); count];
                rises += u32::from(rises_at_its_end(&points, &errors));
                let Some(found) = knee(&points, &errors) else { continue };
                at_four += u32::from(found.n == 4.0);
                covered += u32::from(found.n <= 4.0 && found.at_most.unwrap() >= 4.0);
            }
            assert!(
                at_four >= 950 && covered >= 950 && rises <= 10,
                "{count} points: {at_four} at 4, {covered} cover it, {rises} rise"
            );
        }
    }

    #[test]
    fn noise_of_two_percent_does_not_move_the_knee() {
        let mut noise = Noise::new(7);
        let (mut at_four, mut covered) = (0, 0);
        for _ in 0..1_000 {
            let mut points = published();
            points.iter_mut().for_each(|point| point.x *= (0.02 * noise.normal()).exp());
            let found = knee(&points, &[Some(0.02); 9]).unwrap();
            at_four += u32::from(found.n == 4.0);
            covered += u32::from(found.n <= 4.0 && found.at_most.unwrap() >= 4.0);
        }
        assert!(at_four >= 950 && covered >= 950, "{at_four} at 4, {covered} cover it");
    }

    #[test]
    fn simulated_plateaus_bend_where_they_begin() {
        let users: Vec<f64> = (0..8).map(|i| f64::from(1 << i)).collect();
        let mut noise = Noise::new(8);
        for pool in [2.0, 4.0, 8.0, 16.0] {
            let mut right = 0;
            for _ in 0..200 {
                let points = curve(&users, |n| 100.0 * n.min(pool) * (0.02 * noise.normal()).exp());
                right += u32::from(knee(&points, &[Some(0.02); 8]).unwrap().n == pool);
            }
            assert!(right >= 198, "{pool}: {right} of 200");
        }
    }

    #[test]
    fn lines_have_none_and_a_plateau_begins_with_its_first_point() {
        let users = [1.0, 2.0, 4.0, 8.0, 16.0];
        let errors = [Some(0.01); 5];
        assert_eq!(knee(&curve(&users, |n| 100.0 * n), &errors), None);
        let flat = knee(&curve(&users, |_| 100.0), &errors).unwrap();
        assert_eq!((flat.n, flat.at_most), (1.0, Some(1.0)));
        assert_eq!(knee(&curve(&users[..2], |_| 100.0), &errors[..2]), None);
        assert_eq!(flat.words(), "1 connection");
    }
}
