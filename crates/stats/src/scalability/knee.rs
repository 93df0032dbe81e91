//! The knee of a throughput curve: the point beyond which more users bring little.
//!
//! Source: Satopaa, Albrecht, Irwin, Raghavan, "Finding a 'Kneedle' in a Haystack" (2011), for a
//! concave rising curve with sensitivity 1. A sweep has few points, each the mean of seconds of
//! load, so they are not smoothed.
use crate::scalability::usl::Point;

/// Fewest points that can have a knee.
const FEWEST: usize = 4;
const SENSITIVITY: f64 = 1.0;

/// The knee of the curve through the points, ascending in users; `None` if there is none, as on a
/// straight line.
///
/// Both axes are scaled to 0..1. The knee is where the curve is highest above the diagonal, if it
/// falls afterwards below that height minus the mean step in users (the paper's threshold with S =
/// 1). The paper reports every local maximum; this reports the highest.
#[must_use]
pub fn knee(points: &[Point]) -> Option<Point> {
    let (first, last) = (points.first()?, points.last()?);
    let ascending = points.windows(2).all(|w| w[0].n < w[1].n);
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.x), high.max(p.x)));
    if points.len() < FEWEST || !ascending || high <= low {
        return None;
    }
    let height: Vec<f64> = points
        .iter()
        .map(|p| (p.x - low) / (high - low) - (p.n - first.n) / (last.n - first.n))
        .collect();
    let step = 1.0 / (points.len() - 1) as f64;
    // The first, if several are equally high.
    let top = (0..height.len()).rev().max_by(|i, j| height[*i].total_cmp(&height[*j]))?;
    let threshold = height[top] - SENSITIVITY * step;
    (height[top] > 0.0 && height[top + 1..].iter().any(|h| *h < threshold)).then(|| points[top])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(xs: &[f64], f: impl Fn(f64) -> f64) -> Vec<Point> {
        xs.iter().map(|n| Point { n: *n, x: f(*n) }).collect()
    }

    #[test]
    fn the_paper_s_example() {
        // y = -1 / (x + 0.1) + 5 on ten points of 0..1 has its knee at 0.22 (figure 2 of the
        // paper).
        let xs: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let found = knee(&curve(&xs, |x| -1.0 / (x + 0.1) + 5.0)).unwrap();
        assert!((found.n - 2.0 / 9.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_pool_of_eight_bends_at_eight() {
        let users = [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0];
        assert_eq!(knee(&curve(&users, |n| 100.0 * n.min(8.0))).unwrap().n, 8.0);
    }

    #[test]
    fn lines_and_plateaus_have_none() {
        let users = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(knee(&curve(&users, |n| 100.0 * n)), None);
        assert_eq!(knee(&curve(&users, |_| 100.0)), None);
        assert_eq!(knee(&curve(&users[..3], |n| n.min(2.0))), None);
    }
}
