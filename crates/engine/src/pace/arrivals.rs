//! When the requests of an open loop are due: computed from the rate in closed form, without ticks
//! or drift.
//!
//! A stage of length `D` whose rate goes linearly from `a` to `b` has had
//! `N(t) = a t + (b - a) t^2 / 2 D` arrivals after `t`. The `n`-th arrival of all stages is due at
//! `N^-1(n)`, for `n` = 0, 1, 2, ... With Poisson arrivals the sum of exponentially distributed
//! gaps of mean 1 takes the place of `n` (time-change theorem: such a process in the variable `N`
//! is a Poisson process of the given rate in time). With jittered arrivals it is `n + u`, where `u` is
//! uniform from 0 to 1 and drawn from the seed and `n`: one arrival in each gap. Where the load ends in
//! the middle of a gap and its arrival would come after that, it comes at `n`: none is lost.
//!
//! Threads share the load without exchanging messages. With constant and jittered arrivals, each takes
//! those whose numbers belong to its lane. With Poisson arrivals, each draws its own process at its
//! fraction of the rate; together these are a Poisson process of the whole rate.
use pippin_model::load::{Arrivals as Kind, Stage};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::pace::lane::Lane;
use crate::pace::random;

/// So many arrivals are passed over one by one, and what is beyond them at once. The number of
/// Poisson arrivals that are left is then its mean, which it misses by 0.1 % (one standard
/// deviation of a million).
const ONE_BY_ONE: u64 = 1_000_000;
/// How many constant or jittered arrivals are passed over one by one, whose number is exact either way.
const NUMBERED_ONE_BY_ONE: u64 = 64;

/// A stage in the variables of the formula above; times in seconds.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Start, from the start of the schedule, in nanoseconds.
    from_ns: u64,
    /// Arrivals before it, and in it.
    before: f64,
    count: f64,
    /// Rate at its start, and its growth per second.
    rate: f64,
    growth: f64,
}

/// The arrivals of one thread.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pieces: Vec<Piece>,
    piece: usize,
    /// Position in arrivals of the whole load.
    position: f64,
    lane: Lane,
    /// Arrivals of this thread before the next one.
    gone: u64,
    spacing: Spacing,
    /// Mean gap of Poisson arrivals, in arrivals of the whole load.
    mean_gap: f64,
    next_ns: Option<u64>,
}

/// Where the arrivals of a thread are.
#[derive(Debug)]
enum Spacing {
    /// At their numbers.
    Constant,
    /// Within the gap after their numbers, by this seed.
    Jittered(u64),
    /// After gaps that are drawn.
    Poisson(Xoshiro256PlusPlus),
}

impl Arrivals {
    /// The arrivals of a lane.
    pub fn new(kind: Kind, stages: &[Stage], lane: Lane, seed: u64) -> Self {
        let (mut from_ns, mut before) = (0, 0.0);
        let pieces = stages
            .iter()
            .map(|stage| {
                let seconds = stage.duration_ns as f64 / 1e9;
                let count = (stage.from_per_s + stage.to_per_s) / 2.0 * seconds;
                let piece = Piece {
                    from_ns,
                    before,
                    count,
                    rate: stage.from_per_s,
                    growth: (stage.to_per_s - stage.from_per_s) / seconds,
                };
                from_ns += stage.duration_ns;
                before += count;
                piece
            })
            .collect();
        let spacing = match kind {
            Kind::Constant => Spacing::Constant,
            Kind::Jittered => Spacing::Jittered(seed),
            Kind::Poisson => Spacing::Poisson(random::generator(seed, lane.stream())),
        };
        let mean_gap = 1.0 / lane.fraction();
        let mut arrivals = Self {
            pieces,
            piece: 0,
            position: 0.0,
            lane,
            gone: 0,
            spacing,
            mean_gap,
            next_ns: None,
        };
        arrivals.position = arrivals.next_position();
        arrivals.next_ns = arrivals.due();
        arrivals
    }

    /// When the next request is due, in nanoseconds after the start of the schedule; `None` when
    /// there are no more.
    #[inline]
    pub const fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Goes on to the one after.
    #[inline]
    pub fn advance(&mut self) {
        self.gone += 1;
        self.position = self.next_position();
        self.next_ns = self.due();
    }

    /// Passes over the arrivals before an instant, `most` of them at the most; how many. This takes
    /// no longer for a rate that nobody can send.
    pub fn skip_to(&mut self, instant_ns: u64, most: u64) -> u64 {
        let singly = if self.is_poisson() { ONE_BY_ONE } else { NUMBERED_ONE_BY_ONE };
        let mut skipped = 0;
        while skipped < most && self.next_ns.is_some_and(|due| due < instant_ns) {
            if skipped == singly {
                return skipped + self.leap_to(instant_ns, most - skipped);
            }
            self.advance();
            skipped += 1;
        }
        skipped
    }

    /// Passes over arrivals in one leap; the next arrival lies before the instant.
    fn leap_to(&mut self, instant_ns: u64, most: u64) -> u64 {
        let (count, position) = if self.is_poisson() {
            let there = self.position_at(instant_ns);
            let count = ((there - self.position) / self.mean_gap).max(1.0) as u64;
            (count.min(most), there)
        } else {
            let count = self.numbered_before(instant_ns, most);
            (count, self.place(self.gone + count))
        };
        self.gone += count;
        (self.position, self.piece) = (position, 0);
        self.next_ns = self.due();
        count
    }

    const fn is_poisson(&self) -> bool {
        matches!(self.spacing, Spacing::Poisson(_))
    }

    /// How many constant or jittered arrivals lie before an instant: `most` at the most, by halving.
    fn numbered_before(&self, instant_ns: u64, most: u64) -> u64 {
        let is_before = |count: u64| {
            let position = self.place(self.gone.saturating_add(count));
            self.due_at(position).is_some_and(|(_, due)| due < instant_ns)
        };
        let mut beyond = 1_u64;
        while beyond < most && is_before(beyond) {
            beyond = beyond.saturating_mul(2);
        }
        let (mut before, mut beyond) = (beyond / 2, beyond.min(most));
        while before < beyond {
            let middle = before + (beyond - before) / 2;
            if is_before(middle) { before = middle + 1 } else { beyond = middle }
        }
        before
    }

    /// `N(t)`.
    fn position_at(&self, instant_ns: u64) -> f64 {
        let of = |piece: &Piece| {
            let t = instant_ns.saturating_sub(piece.from_ns) as f64 / 1e9;
            piece.before + (piece.rate * t + piece.growth * t * t / 2.0).clamp(0.0, piece.count)
        };
        self.pieces.iter().rfind(|piece| piece.from_ns <= instant_ns).map_or(0.0, of)
    }

    fn next_position(&mut self) -> f64 {
        match &mut self.spacing {
            // 1 - u lies in (0, 1], so that the logarithm is finite.
            Spacing::Poisson(random) => {
                self.position - (1.0 - random::unit(random.next_u64())).ln() * self.mean_gap
            }
            Spacing::Constant | Spacing::Jittered(_) => self.place(self.gone),
        }
    }

    /// The position of this lane's `i`-th constant or jittered arrival.
    fn place(&self, i: u64) -> f64 {
        let number = self.lane.number(i);
        let exact = number as f64;
        match self.spacing {
            Spacing::Jittered(seed) => {
                let moved = exact + random::at(seed, number);
                if moved < self.total() { moved } else { exact }
            }
            Spacing::Constant | Spacing::Poisson(_) => exact,
        }
    }

    /// Arrivals of all stages.
    fn total(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.before + piece.count)
    }

    /// When the arrival at the present position is due.
    fn due(&mut self) -> Option<u64> {
        let (piece, due) = self.due_at(self.position)?;
        self.piece = piece;
        Some(due)
    }

    /// When an arrival at a position is due, not before the present stage; and in which stage.
    fn due_at(&self, position: f64) -> Option<(usize, u64)> {
        let stages = self.pieces.iter().enumerate().skip(self.piece);
        let (nth, piece) =
            stages.into_iter().find(|(_, piece)| position - piece.before < piece.count)?;
        let after = piece.time(position - piece.before) * 1e9;
        Some((nth, piece.from_ns + after.round() as u64))
    }
}

impl Piece {
    /// Seconds from its start to its `n`-th arrival: the root of `rate t + growth t^2 / 2 = n`, in
    /// the form that does not cancel.
    fn time(&self, n: f64) -> f64 {
        if n == 0.0 {
            return 0.0;
        }
        2.0 * n / (self.rate + (self.rate * self.rate + 2.0 * self.growth * n).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(seconds: f64, from_per_s: f64, to_per_s: f64) -> Stage {
        Stage { duration_ns: (seconds * 1e9) as u64, from_per_s, to_per_s }
    }

    fn all(kind: Kind, stages: &[Stage], thread: u32, threads: u32, seed: u64) -> Vec<u64> {
        let mut arrivals = Arrivals::new(kind, stages, Lane::of_whole(thread, threads), seed);
        std::iter::from_fn(|| {
            let next = arrivals.next_ns()?;
            arrivals.advance();
            Some(next)
        })
        .collect()
    }

    fn merged(kind: Kind, stages: &[Stage], threads: u32, seed: u64) -> Vec<u64> {
        let mut due: Vec<u64> =
            (0..threads).flat_map(|thread| all(kind, stages, thread, threads, seed)).collect();
        due.sort_unstable();
        due
    }

    /// `N(t)` for the stages.
    fn expected(stages: &[Stage], until: f64) -> f64 {
        let mut from = 0.0;
        let mut sum = 0.0;
        for stage in stages {
            let length = stage.duration_ns as f64 / 1e9;
            let t = (until - from).clamp(0.0, length);
            sum +=
                stage.from_per_s * t + (stage.to_per_s - stage.from_per_s) * t * t / (2.0 * length);
            from += length;
        }
        sum
    }

    fn schedules() -> Vec<Vec<Stage>> {
        vec![
            vec![stage(9.0, 1000.0, 1000.0)],
            vec![stage(3.0, 333.3, 333.3)],
            vec![stage(10.0, 0.0, 2000.0)],
            vec![stage(10.0, 2000.0, 0.0)],
            vec![
                stage(2.0, 0.0, 1000.0),
                stage(3.0, 1000.0, 1000.0),
                stage(1.0, 1000.0, 5000.0),
                stage(2.0, 0.0, 0.0),
                stage(1.0, 700.0, 300.0),
            ],
            vec![stage(0.1, 1e6, 1e6)],
        ]
    }

    /// What must hold for every schedule, of any kind and with any number of threads.
    #[test]
    fn the_contract_of_schedules() {
        for stages in schedules() {
            let length: u64 = stages.iter().map(|stage| stage.duration_ns).sum();
            for kind in [Kind::Constant, Kind::Jittered, Kind::Poisson] {
                for threads in [1, 2, 7] {
                    let name = format!("{kind:?} {stages:?} on {threads} threads");
                    let due = merged(kind, &stages, threads, 42);
                    for thread in 0..threads {
                        let part = all(kind, &stages, thread, threads, 42);
                        assert!(part.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: monotone");
                        assert_eq!(
                            part,
                            all(kind, &stages, thread, threads, 42),
                            "{name}: the same seed gives the same schedule"
                        );
                        let share = part.len() as f64 * f64::from(threads) / due.len() as f64;
                        assert!((share - 1.0).abs() < 0.15, "{name}: threads carry alike");
                    }
                    assert!(due.iter().all(|at| *at < length), "{name}: within the stages");
                    for tenth in 1..=10 {
                        let until = length as f64 / 1e9 * f64::from(tenth) / 10.0;
                        let seen = due.partition_point(|at| (*at as f64) < until * 1e9) as f64;
                        let mean = expected(&stages, until);
                        // Constant: one more at the most, the one at 0. Jittered: one more or less.
                        // Poisson: five standard deviations.
                        let bound =
                            if kind == Kind::Poisson { 5.0 * mean.sqrt() + 1.0 } else { 1.001 };
                        assert!(
                            (seen - mean).abs() <= bound,
                            "{name}: {seen} arrivals for {mean} until {until}"
                        );
                    }
                }
            }
        }
    }

    /// How many are passed over one by one before an instant.
    fn steps(arrivals: &mut Arrivals, instant: u64) -> u64 {
        let mut count = 0;
        while arrivals.next_ns().is_some_and(|due| due < instant) {
            arrivals.advance();
            count += 1;
        }
        count
    }

    #[test]
    fn skipping_is_the_same_as_stepping() {
        for stages in schedules() {
            let length: u64 = stages.iter().map(|stage| stage.duration_ns).sum();
            let kinds = [Kind::Constant, Kind::Jittered, Kind::Poisson];
            for (kind, threads) in kinds.into_iter().flat_map(|kind| [(kind, 1), (kind, 3)]) {
                let new = || Arrivals::new(kind, &stages, Lane::of_whole(threads - 1, threads), 7);
                let (mut stepped, mut skipped) = (new(), new());
                for part in [1, 3, 4, 7, 8, 9, 20] {
                    let instant = length * part / 9;
                    let count = steps(&mut stepped, instant);
                    assert_eq!(skipped.skip_to(instant, u64::MAX), count, "{kind:?} {stages:?}");
                    assert_eq!(skipped.next_ns(), stepped.next_ns(), "{kind:?} {stages:?}");
                }
                let mut few = new();
                assert!(few.skip_to(length, 100) == 100 && few.skip_to(length, 0) == 0);
                few.skip_to(length, u64::MAX);
                assert_eq!(few.next_ns(), None);
            }
        }
    }

    /// A thousand million a second, for an hour.
    #[test]
    fn a_rate_that_nobody_can_send_is_skipped_at_once() {
        let stages = [stage(3_600.0, 1e9, 1e9)];
        let half = 1_800_000_000_000;
        let kinds = [(Kind::Constant, 0.0), (Kind::Jittered, 1e-9), (Kind::Poisson, 1e-3)];
        for (kind, within) in kinds {
            let mut arrivals = Arrivals::new(kind, &stages, Lane::of_whole(0, 1), 7);
            let count = arrivals.skip_to(half, u64::MAX) as f64;
            assert!((count / 1.8e12 - 1.0).abs() <= within, "{kind:?}: {count}");
            assert!(arrivals.next_ns().is_some_and(|due| due >= half && due < half + 1_000));
            let rest = arrivals.skip_to(2 * half, u64::MAX) as f64;
            assert!((rest / 1.8e12 - 1.0).abs() <= within && arrivals.next_ns().is_none());
        }
    }

    #[test]
    fn constant_arrivals_are_equally_spaced_to_the_nanosecond_and_do_not_drift() {
        let due = all(Kind::Constant, &[stage(3600.0, 777.0, 777.0)], 0, 1, 1);
        assert_eq!(due.len(), 3600 * 777);
        for (n, at) in due.iter().enumerate() {
            let exact = (n as u128 * 1_000_000_000 * 2 / 777).div_ceil(2) as u64;
            assert!(at.abs_diff(exact) <= 1, "{n}: {at} for {exact}");
        }
        assert_eq!(
            merged(Kind::Constant, &[stage(1.0, 1e4, 1e4)], 3, 1),
            all(Kind::Constant, &[stage(1.0, 1e4, 1e4)], 0, 1, 1)
        );
    }

    /// One in each gap, whoever sends it, and uniform within it; as many as without.
    #[test]
    fn jittered_arrivals_lie_in_their_gaps_and_are_as_many() {
        for stages in schedules() {
            let [constant, jittered] =
                [Kind::Constant, Kind::Jittered].map(|kind| merged(kind, &stages, 1, 9));
            assert_eq!(jittered.len(), constant.len(), "{stages:?}");
            for threads in [2, 7] {
                assert_eq!(merged(Kind::Jittered, &stages, threads, 9), jittered, "{stages:?}");
            }
            let gaps = constant.windows(2).zip(&jittered);
            // Both are rounded to the nanosecond.
            assert!(gaps.into_iter().all(|(gap, at)| gap[0] <= *at + 1 && *at <= gap[1] + 1));
        }
        let due = merged(Kind::Jittered, &[stage(100.0, 1_000.0, 1_000.0)], 1, 9);
        assert_eq!(due.len(), 100_000);
        let mut within: Vec<f64> = due.iter().map(|at| (at % 1_000_000) as f64 / 1e6).collect();
        within.sort_unstable_by(f64::total_cmp);
        // Kolmogorov-Smirnov against the uniform distribution, 1 % level.
        let n = within.len() as f64;
        let distance = within.iter().enumerate().map(|(i, at)| ((i as f64 + 0.5) / n - at).abs());
        assert!(distance.fold(0.0, f64::max) < 1.63 / n.sqrt());
        assert_ne!(due, merged(Kind::Jittered, &[stage(100.0, 1_000.0, 1_000.0)], 1, 10));
    }

    #[test]
    fn poisson_gaps_are_exponential_and_independent() {
        for threads in [1, 3] {
            let due = merged(Kind::Poisson, &[stage(100.0, 1000.0, 1000.0)], threads, 5);
            let gaps: Vec<f64> =
                due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
            let n = gaps.len() as f64;
            let mean = gaps.iter().sum::<f64>() / n;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - 1.0).abs() < 0.02, "{mean}");
            assert!(
                (variance.sqrt() / mean - 1.0).abs() < 0.02,
                "coefficient of variation {}",
                variance.sqrt() / mean
            );
            // Kolmogorov-Smirnov against 1 - exp(-x), 1 % level.
            let mut sorted = gaps.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let distance = sorted
                .iter()
                .enumerate()
                .map(|(i, gap)| ((i as f64 + 0.5) / n - (1.0 - (-gap).exp())).abs())
                .fold(0.0, f64::max);
            assert!(distance < 1.63 / n.sqrt(), "{distance}");
            let covariance =
                gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
            assert!((covariance / variance).abs() < 0.02);
        }
    }

    #[test]
    fn another_seed_is_another_schedule_and_threads_differ() {
        let stages = [stage(1.0, 100.0, 100.0)];
        assert_ne!(all(Kind::Poisson, &stages, 0, 1, 1), all(Kind::Poisson, &stages, 0, 1, 2));
        assert_ne!(all(Kind::Poisson, &stages, 0, 2, 1), all(Kind::Poisson, &stages, 1, 2, 1));
    }
}
