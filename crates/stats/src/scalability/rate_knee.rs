//! The knee of several rates: the offered rate from which higher ones bring few more right answers.
//!
//! It is the knee of a sweep ([`crate::scalability::knee`]), on the curve of right answers over the offered
//! rate, up to the first rate with which the target does not keep up. As many requests as it answered
//! right there, it also answers if no more are offered. So that is a point of the curve too, and the knee
//! can lie between two rates of the plan.
use pippin_model::text::units::format_count;
use serde::{Deserialize, Serialize};

use crate::interval::student_t::NORMAL_975;
use crate::scalability::knee::{SURE, knee};
use crate::scalability::usl::Point;

/// What a target answered at one offered rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offered {
    /// The offered rate, in requests per second.
    pub per_s: f64,
    /// Right answers per second.
    pub right_per_s: f64,
    /// The standard error of the logarithm of that; `None` if it is unknown.
    pub error: Option<f64>,
}

impl Offered {
    /// The ends of the 95 % interval of the right answers per second; `None` if it is unknown.
    fn ends(&self) -> Option<(f64, f64)> {
        let factor = (NORMAL_975 * self.error?).exp();
        Some((self.right_per_s / factor, self.right_per_s * factor))
    }

    /// Whether more was surely answered right than at another rate. The unknown is not sure.
    fn is_surely_above(&self, other: &Self) -> bool {
        let doubt = self.error.zip(other.error).map(|(own, other)| SURE * own.hypot(other));
        doubt.is_some_and(|doubt| (self.right_per_s / other.right_per_s).ln() > doubt)
    }
}

/// The knee with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateKnee {
    /// The first rate, in requests per second, from which no higher one surely brings more than 10 % more
    /// right answers.
    pub per_s: f64,
    /// The lower end of its 95 % interval. The highest rate that the target can answer lies in the
    /// interval too. `None` if the rates have no intervals, so that nobody can tell.
    pub low_per_s: Option<f64>,
    /// The upper end. It is the rate that was missed if the target answered less there than at a lower
    /// one: what it can answer between both is unknown.
    pub high_per_s: Option<f64>,
}

impl RateKnee {
    /// `7,000 requests/s (6,850 to 7,150)`.
    #[must_use]
    pub fn words(&self) -> String {
        let at = format_count(self.per_s);
        match self.low_per_s.zip(self.high_per_s) {
            Some((low, high)) => {
                format!("{at} requests/s ({} to {})", format_count(low), format_count(high))
            }
            None => format!("{at} requests/s (by single figures without an interval)"),
        }
    }
}

/// The knee of the curve through the rates that were kept, ascending, and the first one that was missed.
/// `None` with fewer than three points, or if nothing was answered right at one of them.
#[must_use]
pub fn rate_knee(kept: &[Offered], missed: Offered) -> Option<RateKnee> {
    let highest = kept.last().map_or(0.0, |last| last.per_s);
    let answered = Offered { per_s: missed.right_per_s, ..missed };
    let is_between = highest < answered.per_s && answered.per_s < missed.per_s;
    let between = is_between.then_some(answered);
    let curve: Vec<Offered> = kept.iter().copied().chain(between).chain([missed]).collect();
    let points: Vec<Point> =
        curve.iter().map(|it| Point { n: it.per_s, x: it.right_per_s }).collect();
    let errors: Vec<Option<f64>> = curve.iter().map(|it| it.error).collect();
    let per_s = knee(&points, &errors)?.n;
    let ends = interval(&curve, per_s);
    Some(RateKnee {
        per_s,
        low_per_s: ends.map(|(low, _)| low),
        high_per_s: ends.map(|(_, high)| high),
    })
}

/// The interval of a knee. From below it is bounded by the knee, and by what was answered there and at the
/// rate that was missed; from above by the most that was answered at any rate.
fn interval(curve: &[Offered], per_s: f64) -> Option<(f64, f64)> {
    let ends: Vec<(f64, f64)> = curve.iter().map(Offered::ends).collect::<Option<_>>()?;
    let place = curve.iter().position(|it| it.per_s == per_s)?;
    let (missed, (last_low, _)) = (curve.last()?, ends.last()?);
    let low = ends[place].0.min(per_s);
    if curve.iter().any(|it| it.is_surely_above(missed)) {
        return Some((low, missed.per_s));
    }
    let most = ends.iter().map(|(_, high)| *high).fold(0.0, f64::max);
    Some((low.min(*last_low), most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::{Search, StepOutcome};
    use crate::scalability::ladder::LEAST_ACHIEVED;
    use crate::simulated::test_noise::Noise;

    /// The rates of the plans `efficiency`.
    const RATES: [f64; 6] = [1_000.0, 2_000.0, 5_000.0, 10_000.0, 20_000.0, 50_000.0];
    /// What a load differs by from the next, as the standard deviation of the logarithm.
    const NOISE: f64 = 0.02;
    const RUNS: u32 = 1_000;

    /// What a server can answer per second, from load to load.
    fn varied(capacity: f64, noise: &mut Noise) -> f64 {
        capacity * (NOISE * noise.normal()).exp()
    }

    /// A server climbs until it misses a rate. What it answers beyond its capacity is `beyond` of that.
    fn climbed(capacity: f64, beyond: f64, noise: &mut Noise) -> Option<RateKnee> {
        let mut kept = Vec::new();
        for per_s in RATES {
            let most = varied(capacity, noise);
            let is_beyond = most < per_s;
            let right_per_s = if is_beyond { most * beyond } else { per_s };
            // Where all that is offered is answered, loads do not differ.
            let here =
                Offered { per_s, right_per_s, error: Some(if is_beyond { NOISE } else { 0.0 }) };
            if right_per_s < LEAST_ACHIEVED * per_s {
                return rate_knee(&kept, here);
            }
            kept.push(here);
        }
        None
    }

    fn covers(knee: RateKnee, value: f64) -> bool {
        knee.low_per_s.unwrap() <= value && value <= knee.high_per_s.unwrap()
    }

    #[test]
    fn the_interval_holds_the_capacity_of_a_server_wherever_it_lies_between_the_rates() {
        let mut noise = Noise::new(41);
        for capacity in
            [1_500.0, 2_000.0, 3_000.0, 5_000.0, 5_200.0, 5_500.0, 7_000.0, 9_000.0, 9_800.0]
        {
            let found: Vec<RateKnee> =
                (0..RUNS).filter_map(|_| climbed(capacity, 1.0, &mut noise)).collect();
            let held = found.iter().filter(|knee| covers(**knee, capacity)).count();
            // By its definition, the knee may lie a tenth below.
            let near = |knee: &&RateKnee| (0.85..1.08).contains(&(knee.per_s / capacity));
            let close = found.iter().filter(near).count();
            println!(
                "{capacity}: {} have a knee, {held} hold the capacity, {close} close",
                found.len()
            );
            assert!(found.len() >= 990 && held * 100 >= found.len() * 93, "{capacity}: {held}");
            assert!(close >= 980, "{capacity}: {close} are close");
        }
    }

    #[test]
    fn a_search_for_the_capacity_of_the_same_server_ends_within_the_interval() {
        const ABOUT: f64 = 1.0 + NOISE;
        let mut noise = Noise::new(42);
        let mut agree = 0;
        for run in 0..RUNS {
            let capacity = 1_500.0 + 7.5 * f64::from(run);
            let knee = climbed(capacity, 1.0, &mut noise).unwrap();
            let mut search = Search::new(1_000.0, 0.02);
            while let Some(rate) = search.next() {
                let holds = rate <= varied(capacity, &mut noise);
                let missed = StepOutcome::Missed { by_far: false, disturbed: false };
                search.observe(rate, if holds { StepOutcome::Held } else { missed });
            }
            // The ends of a search are as uncertain as the loads that they rest on.
            let found = search.outcome();
            let held =
                found.held_per_s().is_none_or(|held| held <= knee.high_per_s.unwrap() * ABOUT);
            let missed = found.missed_per_s();
            agree +=
                u32::from(held && missed.is_none_or(|it| knee.low_per_s.unwrap() <= it * ABOUT));
        }
        println!("{agree} of {RUNS} agree");
        assert!(agree * 100 >= RUNS * 93, "{agree} of {RUNS} agree");
    }

    #[test]
    fn a_server_that_answers_less_when_more_is_offered_has_a_wide_interval() {
        let mut noise = Noise::new(43);
        let found: Vec<RateKnee> =
            (0..RUNS).map(|_| climbed(7_000.0, 0.4, &mut noise).unwrap()).collect();
        assert!(found.iter().all(|knee| covers(*knee, 7_000.0)));
        assert!(
            found.iter().all(|knee| (knee.per_s, knee.high_per_s) == (5_000.0, Some(10_000.0)))
        );
    }

    fn offered(per_s: f64, right_per_s: f64, error: Option<f64>) -> Offered {
        Offered { per_s, right_per_s, error }
    }

    #[test]
    fn it_needs_three_points_and_says_where_it_has_no_interval() {
        let kept = [1_000.0, 2_000.0].map(|per_s| offered(per_s, per_s, Some(0.0)));
        let missed = offered(5_000.0, 3_100.0, Some(0.01));
        let found = rate_knee(&kept, missed).unwrap();
        assert_eq!(found.words(), "3,100 requests/s (3,040 to 3,161)");
        assert_eq!(rate_knee(&kept[..1], missed).map(|knee| knee.per_s), Some(3_100.0));
        assert_eq!(rate_knee(&[], missed), None, "two points are no curve");
        assert_eq!(rate_knee(&kept, offered(5_000.0, 0.0, Some(0.0))), None, "nothing was right");
        let single = rate_knee(&kept, Offered { error: None, ..missed }).unwrap();
        assert_eq!(single.words(), "3,100 requests/s (by single figures without an interval)");
    }

    #[test]
    fn it_is_the_knee_of_a_sweep_over_the_same_points() {
        let kept: Vec<Offered> =
            RATES[..3].iter().map(|per_s| offered(*per_s, *per_s, Some(0.001))).collect();
        // 8 % more are no knee, 12 % more are one.
        for (right, at) in [(5_400.0, 5_000.0), (5_600.0, 5_600.0)] {
            let found = rate_knee(&kept, offered(10_000.0, right, Some(0.001))).unwrap();
            assert_eq!(found.per_s, at, "{right}");
        }
    }
}
