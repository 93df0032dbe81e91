//! How the rest of a run is best spent: on more starts, or on more rounds in each of them, and by how much
//! two targets must differ to be told apart then.
//!
//! The levels are those of Kalibera and Jones ("Rigorous benchmarking in reasonable time", 2013, section
//! 4): the part of the variance that comes from within a start falls with its rounds, the rest only with
//! the number of starts; and of the time of a repetition only that of its rounds rises with them.
use pippin_model::plan::goal::{FEWEST_REPETITIONS, Goal, MOST_REPETITIONS};
use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::interval::sequence::half_width;
use crate::interval::student_t::{t_975, t_at};
use crate::planning::forecast::{Costs, LONGEST_TIMES, WORTH};
use crate::planning::starts::Starts;
use crate::series::quantile::{median, variance};

/// How many times the plan's rounds a start may have.
const TIMES: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, LONGEST_TIMES];
/// Where no choice reaches the precision in time, more rounds are chosen if an interval then reaches at
/// most this part of what it would reach with those of the plan.
const NARROWER: f64 = 0.9;
/// How often two targets that differ by what is told apart are not: a power of 90 %.
const MISSED: f64 = 0.1;

/// What the rest of a run is spent on, and what is expected of it if starts go on to differ as they did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// How many times the plan's rounds each further start has.
    pub times: f64,
    /// How many more repetitions.
    pub repetitions: u32,
    /// How long they take for all targets, in nanoseconds.
    pub ns: f64,
    /// Whether every figure is then known as well as asked for; otherwise the time is over before.
    pub reaches: bool,
    /// The difference between two targets that is told apart after these with a power of 90 %, as
    /// [`told_apart`] says it.
    pub told_apart: Option<f64>,
}

/// One way to spend the rest.
struct Candidate {
    times: f64,
    repetitions: u32,
    ns: f64,
    reaches: bool,
    /// How far the widest interval then reaches.
    reach: f64,
}

impl Choice {
    /// What follows `made` repetitions. `None` if no more are needed, there is no time for another one, or
    /// what a repetition takes or every scatter is unknown.
    #[must_use]
    pub fn from_starts(starts: &[Starts], made: u32, goal: &Goal, costs: &Costs) -> Option<Self> {
        let levels: Vec<Level<'_>> = starts.iter().filter_map(Level::from_starts).collect();
        let repetition_ns = costs.repetition_ns.filter(|_| !levels.is_empty())?;
        let around_ns = (repetition_ns - costs.measured_ns).max(0.0);
        let left_ns = goal.longest_ns() as f64 - repetition_ns * f64::from(made);
        let most = f64::from(MOST_REPETITIONS.saturating_sub(made));
        let candidate = |times: f64| {
            let each_ns = around_ns + costs.measured_ns * times;
            let fit = (left_ns / each_ns).clamp(0.0, most) as u32;
            let widest = |more: u32| {
                levels.iter().map(|level| level.reach(made, more, times)).fold(0.0, f64::max)
            };
            let is_enough = |more: &u32| goal.within.is_some_and(|within| widest(*more) <= within);
            let needed = (0..=fit).find(is_enough);
            let repetitions = needed.unwrap_or(fit);
            Candidate {
                times,
                repetitions,
                ns: each_ns * f64::from(repetitions),
                reaches: needed.is_some(),
                reach: widest(repetitions),
            }
        };
        // Where it is unknown what is within a start, or loads have no rounds, nothing is gained for sure.
        let may_be_longer = costs.in_rounds && levels.iter().all(|level| level.inner.is_some());
        let longer = TIMES[1..].iter().filter(|_| may_be_longer);
        let chosen = better(candidate(TIMES[0]), longer.map(|times| candidate(*times)));
        (chosen.repetitions > 0).then(|| Self {
            times: chosen.times,
            repetitions: chosen.repetitions,
            ns: chosen.ns,
            reaches: chosen.reaches,
            told_apart: after(&levels, made, chosen.repetitions, chosen.times),
        })
    }
}

impl Choice {
    /// How many repetitions a whole run probably needs, and which differences it then shows, judged by the
    /// starts of an earlier run and what they cost. `None` if what a repetition takes, or every scatter, is
    /// unknown.
    #[must_use]
    pub fn of_whole_run(starts: &[Starts], goal: &Goal, costs: &Costs) -> Option<Self> {
        const TIMES: f64 = 1.0;
        let levels: Vec<Level<'_>> = starts.iter().filter_map(Level::from_starts).collect();
        let each_ns = costs.repetition_ns.filter(|_| !levels.is_empty())?;
        let fit = (goal.longest_ns() as f64 / each_ns) as u32;
        let fit = fit.clamp(FEWEST_REPETITIONS, MOST_REPETITIONS);
        let widest =
            |count| levels.iter().map(|level| level.reach(0, count, TIMES)).fold(0.0, f64::max);
        let needed = goal
            .within
            .and_then(|within| (FEWEST_REPETITIONS..=fit).find(|count| widest(*count) <= within));
        let repetitions = needed.unwrap_or(fit);
        Some(Self {
            times: TIMES,
            repetitions,
            ns: each_ns * f64::from(repetitions),
            reaches: needed.is_some(),
            told_apart: after(&levels, 0, repetitions, TIMES),
        })
    }

    /// How long a further repetition takes.
    #[must_use]
    pub fn each(&self) -> Duration {
        Duration::from_nanos((self.ns / f64::from(self.repetitions.max(1))) as u64)
    }
}

/// The best way if it is clearly better than the plan's own rounds. What reaches the precision in time is
/// better than what does not; of those that do, the fastest is the best, and of the others that which
/// comes nearest.
fn better(plain: Candidate, longer: impl Iterator<Item = Candidate>) -> Candidate {
    let (reaching, short): (Vec<Candidate>, Vec<Candidate>) =
        longer.partition(|candidate| candidate.reaches);
    let fastest = reaching.into_iter().min_by(|a, b| a.ns.total_cmp(&b.ns));
    let nearest = short.into_iter().min_by(|a, b| a.reach.total_cmp(&b.reach));
    let is_worth = |other: &Candidate| match (other.reaches, plain.reaches) {
        (true, true) => other.ns <= WORTH * plain.ns,
        (true, false) => true,
        (false, true) => false,
        (false, false) => other.reach <= NARROWER * plain.reach,
    };
    let best = fastest.or(nearest).filter(is_worth);
    best.unwrap_or(plain)
}

/// The levels of variance of a figure.
struct Level<'a> {
    starts: &'a Starts,
    /// The variance of one start.
    total: f64,
    /// The part of it that comes from within the start; `None` if it is unknown.
    inner: Option<f64>,
}

impl<'a> Level<'a> {
    /// `None` if more starts are no help, or their scatter is unknown.
    fn from_starts(starts: &'a Starts) -> Option<Self> {
        let total = starts.useful_scatter()?.powi(2);
        let inner = starts.within_a_start.map(|within| within.powi(2).min(total));
        Some(Self { starts, total, inner })
    }

    /// How far the interval reaches after `made` starts as they were, and `more` with so many times the
    /// rounds.
    fn reach(&self, made: u32, more: u32, times: f64) -> f64 {
        let variance = mixed((self.total, self.inner.unwrap_or(0.0)), made, more, times);
        half_width((made + more) as usize)
            .map_or(f64::INFINITY, |half| self.starts.reach_of(half * variance.sqrt()))
    }
}

/// The mean variance of `made` starts as they were and `more` with so many times the rounds.
fn mixed((total, inner): (f64, f64), made: u32, more: u32, times: f64) -> f64 {
    let later = total - inner * (1.0 - 1.0 / times);
    let (made, more) = (f64::from(made), f64::from(more));
    (made * total + more * later) / (made + more).max(1.0)
}

/// By how much two targets must differ, as a fraction, so that their starts so far tell them apart in nine
/// of ten cases: the median over all pairs at the same step. A pair counts as told apart if Student's t
/// over the ratios within repetitions says so with 95 %. Of changes, how large one must be. `None` if
/// there is no pair, or the scatter is unknown.
#[must_use]
pub fn told_apart(starts: &[Starts], made: u32) -> Option<f64> {
    let levels: Vec<Level<'_>> = starts.iter().filter_map(Level::from_starts).collect();
    after(&levels, made, 0, 1.0)
}

fn after(levels: &[Level<'_>], made: u32, more: u32, times: f64) -> Option<f64> {
    let is_change = |level: &&Level<'_>| level.starts.change.is_some();
    let alone = levels.iter().filter(is_change);
    let alone = alone.map(|level| (level.total, level.inner.unwrap_or(0.0)));
    let pairs = (0..levels.len()).flat_map(|place| {
        let (first, rest) = (&levels[place], &levels[place + 1..]);
        rest.iter().filter_map(move |second| apart(first, second))
    });
    let variances: Vec<f64> =
        alone.chain(pairs).map(|levels| mixed(levels, made, more, times)).collect();
    let (starts, degrees) = (f64::from(made + more), f64::from(made + more) - 1.0);
    let variance = median(&variances).filter(|_| degrees > 0.0)?;
    let quantiles = t_975(degrees) + t_at(2.0 * MISSED, degrees);
    Some((quantiles * (variance / starts).sqrt()).exp_m1())
}

/// The variance of the ratio of two targets from repetition to repetition, and the part of it that comes
/// from within their starts. What the host does to both cancels out. `None` if they are no pair.
fn apart(first: &Level<'_>, second: &Level<'_>) -> Option<(f64, f64)> {
    let (first_starts, second_starts) = (first.starts, second.starts);
    let is_pair = first_starts.change.is_none()
        && second_starts.change.is_none()
        && first_starts.step == second_starts.step
        && first_starts.logs.len() == second_starts.logs.len();
    let both = first_starts.logs.iter().zip(&second_starts.logs);
    let ratios: Vec<f64> = both.map(|(first, second)| first - second).collect();
    let total = variance(&ratios).filter(|_| is_pair)?;
    Some((total, (first.inner.unwrap_or(0.0) + second.inner.unwrap_or(0.0)).min(total)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::starts::Change;
    use crate::simulated::test_noise::Noise;
    use pippin_model::figure::Figure;

    const MINUTE: u64 = 60_000_000_000;
    /// A repetition of 30 s, of which the rounds take 2 s.
    const DEAR: Costs = Costs { repetition_ns: Some(30e9), measured_ns: 2e9, in_rounds: true };

    fn starts(logs: &[f64], within_a_start: Option<f64>) -> Starts {
        Starts {
            target: "go/net-http".parse().unwrap(),
            step: None,
            change: None,
            logs: logs.to_vec(),
            within_a_start,
            rounding: 0.0,
            stuck: None,
        }
    }

    fn goal(within: Option<f64>, minutes: u64) -> Goal {
        Goal::from_parts(within, Some(minutes * MINUTE)).unwrap()
    }

    /// Starts of a variance of 2.5e-4, so that they scatter by 1.58 %.
    const FIVE: [f64; 5] = [0.0, 0.02, -0.02, 0.01, -0.01];

    #[test]
    fn more_rounds_are_chosen_where_they_take_less_time() {
        let chosen = |within_a_start, costs: &Costs| {
            let starts = [starts(&FIVE, within_a_start)];
            Choice::from_starts(&starts, 5, &goal(Some(0.01), 600), costs).unwrap()
        };
        let (inner, outer) = (chosen(Some(0.0155), &DEAR), chosen(Some(0.002), &DEAR));
        assert!(inner.times > 1.0 && inner.reaches && inner.repetitions < outer.repetitions);
        assert!(inner.ns < WORTH * outer.ns, "{inner:?}, {outer:?}");
        assert_eq!(
            (outer.times, outer.reaches),
            (1.0, true),
            "starts differ, however long they are"
        );
        assert_eq!(chosen(None, &DEAR).times, 1.0, "what is within a start is unknown");
        let cheap = Costs { repetition_ns: Some(2.1e9), ..DEAR };
        assert_eq!(chosen(Some(0.0155), &cheap).times, 1.0, "another start costs as much");
        let whole = Costs { in_rounds: false, ..DEAR };
        assert_eq!(chosen(Some(0.0155), &whole).times, 1.0, "the loads have no rounds");
    }

    #[test]
    fn it_needs_as_many_repetitions_as_the_widest_row_and_no_more_than_fit() {
        let narrow = starts(&FIVE.map(|log| log / 4.0), None);
        let both = [narrow.clone(), starts(&FIVE, None)];
        let two = Choice::from_starts(&both, 5, &goal(Some(0.02), 60), &DEAR).unwrap();
        let one = Choice::from_starts(&both[1..], 5, &goal(Some(0.02), 60), &DEAR).unwrap();
        // As the forecast of this scatter says.
        assert_eq!((two.repetitions, one.repetitions, two.reaches), (5, 5, true));
        assert_eq!(two.ns, 150e9);
        // 4 minutes are 8 repetitions, of which 5 were made.
        let short = Choice::from_starts(&both, 5, &goal(Some(0.02), 4), &DEAR).unwrap();
        assert_eq!((short.repetitions, short.reaches), (3, false));
        let alone = Choice::from_starts(&both, 5, &goal(None, 4), &DEAR).unwrap();
        assert_eq!((alone.repetitions, alone.reaches), (3, false));
        assert_eq!(Choice::from_starts(&both, 5, &goal(None, 2), &DEAR), None, "no time is left");
        let unknown = Costs { repetition_ns: None, ..DEAR };
        assert_eq!(Choice::from_starts(&both, 5, &goal(None, 4), &unknown), None);
        let stuck = Starts { stuck: Some("it failed".into()), ..narrow };
        assert_eq!(Choice::from_starts(&[stuck], 5, &goal(None, 4), &DEAR), None);
    }

    #[test]
    fn a_whole_run_is_expected_to_be_as_an_earlier_one_was() {
        let two = [starts(&FIVE, None), starts(&[0.0; 5], None)];
        let whole =
            |within, minutes| Choice::of_whole_run(&two, &goal(within, minutes), &DEAR).unwrap();
        // As many as an interval of these starts takes; of 5 it reaches 3.6 %.
        let near = whole(Some(0.02), 60);
        let level = Level::from_starts(&two[0]).unwrap();
        assert!(near.reaches && level.reach(0, near.repetitions, 1.0) <= 0.02);
        assert!(level.reach(0, near.repetitions - 1, 1.0) > 0.02);
        assert_eq!(near.ns, f64::from(near.repetitions) * 30e9);
        let by_time = whole(None, 10);
        assert_eq!((by_time.repetitions, by_time.reaches), (20, false));
        assert_eq!(
            by_time.told_apart,
            after(
                &[Level::from_starts(&two[0]).unwrap(), Level::from_starts(&two[1]).unwrap()],
                20,
                0,
                1.0
            )
        );
        let short = whole(Some(0.001), 1);
        assert_eq!(
            (short.repetitions, short.reaches),
            (FEWEST_REPETITIONS, false),
            "they are made in any case"
        );
        let unknown = Costs { repetition_ns: None, ..DEAR };
        assert_eq!(Choice::of_whole_run(&two, &goal(None, 10), &unknown), None);
        assert_eq!(Choice::of_whole_run(&[starts(&[0.1], None)], &goal(None, 10), &DEAR), None);
    }

    #[test]
    fn what_fits_into_a_time_is_spent_where_it_helps() {
        let chosen = |within_a_start| {
            let starts = [starts(&FIVE, Some(within_a_start))];
            Choice::from_starts(&starts, 5, &goal(None, 10), &DEAR).unwrap()
        };
        assert!(chosen(0.0155).times > 1.0, "{:?}", chosen(0.0155));
        assert_eq!(chosen(0.002).times, 1.0);
    }

    #[test]
    fn pairs_are_of_one_step_and_a_change_is_one() {
        assert_eq!(told_apart(&[starts(&FIVE, None)], 5), None, "one target is no pair");
        let same = starts(&FIVE, None);
        let still = starts(&[0.0; 5], None);
        let pair = told_apart(&[same.clone(), still.clone()], 5).unwrap();
        // 2.776 + 1.533 standard errors of 0.707 %.
        assert!((pair - 0.0309).abs() < 0.0003, "{pair}");
        let both = told_apart(&[same.clone(), same.clone()], 5).unwrap();
        assert!(both < 1e-9, "what moves both cancels out: {both}");
        let change = Change { base: "c/nginx".parse().unwrap(), figure: Figure::Goodput };
        let change = Starts { change: Some(change), ..same };
        assert!((told_apart(&[change], 5).unwrap() - pair).abs() < 1e-9);
    }

    /// Nine of ten runs tell apart what they are said to.
    #[test]
    fn the_power_is_what_is_said() {
        let mut noise = Noise::new(17);
        let mut drawn =
            |count: usize| -> Vec<f64> { (0..count).map(|_| 0.01 * noise.normal()).collect() };
        // The scatter of the pair is known from many starts.
        let known = [starts(&drawn(2_000), None), starts(&drawn(2_000), None)];
        let levels: Vec<Level<'_>> = known.iter().filter_map(Level::from_starts).collect();
        for made in [5, 10, 20_u32] {
            let differ = after(&levels, made, 0, 1.0).unwrap().ln_1p();
            let told = (0..2_000).filter(|_| {
                let (first, second) = (drawn(made as usize), drawn(made as usize));
                let ratios: Vec<f64> =
                    first.iter().zip(&second).map(|(a, b)| a - b + differ).collect();
                let error = (variance(&ratios).unwrap() / f64::from(made)).sqrt();
                let centre = ratios.iter().sum::<f64>() / f64::from(made);
                centre > t_975(f64::from(made) - 1.0) * error
            });
            let share = told.count() as f64 / 2_000.0;
            assert!((0.87..0.93).contains(&share), "{made} starts: {share}");
        }
    }
}
