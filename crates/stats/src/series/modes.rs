//! The shape of a histogram of time spans: its modes, and the mode at 40 ms that delayed
//! acknowledgements cause.
use pippin_model::result::histogram::Histogram;

/// A hump of the distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where it is highest, nanoseconds.
    pub at_ns: u64,
    /// The fraction of all spans that belong to it.
    pub share: f64,
}

/// Steps of about 12 %, coarse enough that the histogram's own steps do not look like humps.
const STEPS_PER_DECADE: f64 = 20.0;
/// The decimal logarithm of the shortest span that is distinguished, 100 ns.
const LOWEST_DECADE: f64 = 2.0;
/// 100 ns to 1 h.
const STEPS: usize = 212;
/// Fewest spans that show a shape.
const FEWEST: u64 = 500;
/// A smaller hump is an outlier, not a mode.
const LEAST_SHARE: f64 = 0.10;
/// Two humps are two modes only if the valley between them is lower than this part of the smaller
/// one.
const DEEPEST_VALLEY: f64 = 0.3;
/// Two modes closer than this factor count as one.
const LEAST_FACTOR: f64 = 2.0;

/// The modes, ascending; empty below 500 spans.
///
/// The spans are counted in logarithmic steps of 12 %, smoothed, and cut at the valleys; humps are
/// joined with their neighbour if the valley between them is not lower than 30 % of the smaller
/// one, if one has less than 10 % of the spans, or if they are closer than a factor of 2.
#[must_use]
pub fn modes(histogram: &Histogram) -> Vec<Mode> {
    if histogram.count() < FEWEST {
        return Vec::new();
    }
    let counts = logarithmic(histogram);
    let smooth = smoothed(&smoothed(&counts));
    let mut humps = cut(&counts, &smooth);
    while humps.len() > 1 {
        let Some(weakest) = weakest_border(&humps, &smooth, histogram.count() as f64) else {
            break;
        };
        let absorbed = humps.remove(weakest + 1);
        humps[weakest].join(&absorbed);
    }
    humps
        .iter()
        .map(|hump| Mode {
            at_ns: centre_ns(hump.peak),
            share: hump.count / histogram.count() as f64,
        })
        .collect()
}

struct Hump {
    from: usize,
    to: usize,
    peak: usize,
    height: f64,
    count: f64,
}

impl Hump {
    fn join(&mut self, right: &Self) {
        if right.height > self.height {
            (self.peak, self.height) = (right.peak, right.height);
        }
        self.to = right.to;
        self.count += right.count;
    }
}

fn step_of(ns: u64) -> usize {
    (((ns.max(100) as f64).log10() - LOWEST_DECADE) * STEPS_PER_DECADE)
        .floor()
        .clamp(0.0, (STEPS - 1) as f64) as usize
}

fn centre_ns(step: usize) -> u64 {
    10f64.powf(LOWEST_DECADE + (step as f64 + 0.5) / STEPS_PER_DECADE).round() as u64
}

fn logarithmic(histogram: &Histogram) -> Vec<f64> {
    let mut counts = vec![0.0; STEPS];
    for (ns, count) in histogram.buckets() {
        counts[step_of(ns)] += count as f64;
    }
    counts
}

fn smoothed(values: &[f64]) -> Vec<f64> {
    let at = |i: usize, by: isize| {
        i.checked_add_signed(by).and_then(|i| values.get(i)).copied().unwrap_or(0.0)
    };
    (0..values.len()).map(|i| 0.25 * at(i, -1) + 0.5 * at(i, 0) + 0.25 * at(i, 1)).collect()
}

/// Cuts at every local minimum of the smoothed counts.
fn cut(counts: &[f64], smooth: &[f64]) -> Vec<Hump> {
    let mut humps = Vec::new();
    let mut from = 0;
    for i in 1..smooth.len() {
        let rises_after_fall =
            smooth[i] > smooth[i - 1] && (from..i).any(|j| smooth[j] > smooth[i - 1]);
        if rises_after_fall {
            humps.push(hump(from, i, counts, smooth));
            from = i;
        }
    }
    humps.push(hump(from, smooth.len(), counts, smooth));
    humps.retain(|hump| hump.count > 0.0);
    humps
}

fn hump(from: usize, to: usize, counts: &[f64], smooth: &[f64]) -> Hump {
    let peak = (from..to).max_by(|a, b| smooth[*a].total_cmp(&smooth[*b])).unwrap_or(from);
    Hump { from, to, peak, height: smooth[peak], count: counts[from..to].iter().sum() }
}

/// The weakest border between two humps, if it is too weak to count: the humps `i` and `i + 1` are
/// then joined.
fn weakest_border(humps: &[Hump], smooth: &[f64], total: f64) -> Option<usize> {
    let depth = |i: usize| {
        let (left, right) = (&humps[i], &humps[i + 1]);
        let valley = smooth[left.peak..=right.peak].iter().copied().fold(f64::INFINITY, f64::min);
        valley / left.height.min(right.height)
    };
    let small = |hump: &Hump| hump.count < LEAST_SHARE * total;
    let near = |i: usize| {
        centre_ns(humps[i + 1].peak) as f64 / (centre_ns(humps[i].peak) as f64) < LEAST_FACTOR
    };
    let no_border = |i: &usize| {
        depth(*i) > DEEPEST_VALLEY || near(*i) || small(&humps[*i]) || small(&humps[*i + 1])
    };
    debug_assert!(humps.windows(2).all(|w| w[0].to <= w[1].from));
    (0..humps.len() - 1).filter(no_border).max_by(|a, b| depth(*a).total_cmp(&depth(*b)))
}

/// The shortest time that Linux waits before it acknowledges data without being asked
/// (TCP_DELACK_MIN of include/net/tcp.h: HZ / 25 = 40 ms), with the time of the answer itself.
const DELAYED_ACK_NS: (u64, u64) = (38_000_000, 47_000_000);

/// The fraction of spans from which some count as fast beside a slow mode. Linux acknowledges the first
/// segments of a connection at once, so some bodies are always fast.
const FAST: f64 = 0.003;

/// The fraction of spans from head to body in a narrow mode at 40 ms, and whether others beside it
/// are fast (below 15 ms); `None` if there is no such mode: fewer than 500 spans, less than 1 % in
/// the mode, or a density of at most three times that of its neighbourhood.
#[must_use]
pub fn delayed_ack_share(body: &Histogram) -> Option<(f64, bool)> {
    if body.count() < FEWEST {
        return None;
    }
    let inside = between(body, DELAYED_ACK_NS)?;
    let density = |(from, to): (u64, u64)| {
        between(body, (from, to)).map_or(0.0, |share| share / (to - from) as f64)
    };
    let neighbourhood = density((15_000_000, 36_000_000)).max(density((50_000_000, 70_000_000)));
    let fast = body.fraction_at_or_below(15_000_000)?;
    (inside >= 0.01 && density(DELAYED_ACK_NS) > 3.0 * neighbourhood)
        .then_some((inside, fast >= FAST))
}

fn between(histogram: &Histogram, (from, to): (u64, u64)) -> Option<f64> {
    Some((histogram.fraction_at_or_below(to)? - histogram.fraction_at_or_below(from)?).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;

    fn lognormal(
        into: &mut Histogram,
        noise: &mut Noise,
        median_ns: f64,
        sigma: f64,
        count: usize,
    ) {
        for _ in 0..count {
            into.record((median_ns * (sigma * noise.normal()).exp()) as u64);
        }
    }

    #[test]
    fn one_hump_is_one_mode_however_broad() {
        let mut noise = Noise::new(1);
        for sigma in [0.02, 0.3, 1.0] {
            let mut h = Histogram::new();
            lognormal(&mut h, &mut noise, 1e6, sigma, 20_000);
            let found = modes(&h);
            assert_eq!(found.len(), 1, "{sigma}: {found:?}");
            assert!((found[0].at_ns as f64 / 1e6).ln().abs() < 0.3 && found[0].share > 0.999);
        }
    }

    #[test]
    fn two_humps_are_two_and_a_tail_is_none() {
        let mut noise = Noise::new(2);
        let mut h = Histogram::new();
        lognormal(&mut h, &mut noise, 1e6, 0.2, 7_000);
        lognormal(&mut h, &mut noise, 1e7, 0.2, 3_000);
        let found = modes(&h);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            (found[1].share - 0.3).abs() < 0.01 && (found[1].at_ns as f64 / 1e7).ln().abs() < 0.15
        );
        let mut tail = Histogram::new();
        lognormal(&mut tail, &mut noise, 1e6, 0.2, 9_500);
        lognormal(&mut tail, &mut noise, 1e7, 0.2, 500);
        assert_eq!(modes(&tail).len(), 1);
    }

    /// The last step holds every span of about an hour and more.
    #[test]
    fn the_longest_spans_are_counted() {
        let mut h = Histogram::new();
        (0..700).for_each(|_| h.record(1_000_000));
        assert_eq!(modes(&h).len(), 1);
        (0..300).for_each(|_| h.record(3_600_000_000_000));
        let shares: Vec<f64> = modes(&h).iter().map(|mode| mode.share).collect();
        assert_eq!(shares, [0.7, 0.3]);
    }

    #[test]
    fn forty_milliseconds_stand_out() {
        let mut noise = Noise::new(3);
        let mut h = Histogram::new();
        lognormal(&mut h, &mut noise, 3e5, 0.3, 9_000);
        lognormal(&mut h, &mut noise, 41e6, 0.02, 1_000);
        let (share, others_at_once) = delayed_ack_share(&h).unwrap();
        assert!((share - 0.1).abs() < 0.01 && others_at_once);
    }

    #[test]
    fn a_broad_distribution_around_forty_milliseconds_does_not() {
        let mut noise = Noise::new(4);
        let mut h = Histogram::new();
        lognormal(&mut h, &mut noise, 40e6, 0.5, 10_000);
        assert_eq!(delayed_ack_share(&h), None);
    }
}
