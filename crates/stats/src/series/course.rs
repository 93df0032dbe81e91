//! What the start of a target looks like: flat, becoming faster, becoming slower, or never steady.
//!
//! Source: Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA 2017), section 4.2: the
//! series is cut by change points, stretches that are like the last one count with it, and the order
//! of the levels gives the class. The change points are those of
//! [`change_points`](crate::series::changepoint::change_points).
use pippin_model::result::WarmUpWindow;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::series::changepoint::change_points;
use crate::series::quantile::median;

/// Windows that the last level must last, so that it is one: a second.
const FEWEST_STEADY: usize = 5;
/// Fewest windows that show a start: below it no change point can be found.
const FEWEST: usize = 6;
/// Levels within this part of the last one are the same.
const ALIKE: f64 = 0.05;

/// What a start looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourseClass {
    /// As it is from its first second on.
    Flat,
    /// It begins slower than it ends.
    WarmsUp,
    /// It begins faster than it ends.
    SlowsDown,
    /// It left its last level again, or reached it too late.
    NoSteadyState,
}

impl CourseClass {
    /// Its name in tables: `warms_up`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::WarmsUp => "warms_up",
            Self::SlowsDown => "slows_down",
            Self::NoSteadyState => "no_steady_state",
        }
    }
}

/// What a level is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourseOf {
    /// Processor time for an answer, nanoseconds.
    CpuNs,
    /// Nanoseconds from answer to answer, where processor time cannot be seen.
    GapNs,
}

/// The start of a target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// What it looks like.
    pub class: CourseClass,
    /// What its levels are of.
    pub of: CourseOf,
    /// The level of the first stretch.
    pub first: f64,
    /// The level of the last stretch, and when it began, in nanoseconds after the first answer;
    /// `None` where it has no steady state.
    pub steady: Option<(f64, u64)>,
}

/// Of the windows from the first answer on, so many must show the processor time for an answer.
const ENOUGH: f64 = 0.9;

/// The start that these windows show, from the first answer on; `None` if there are too few, or if only
/// the rate is known and it `is_paced` by a schedule or by users who think: it says nothing then.
#[must_use]
pub fn course(windows: &[WarmUpWindow], is_paced: bool) -> Option<Course> {
    let begin = windows.iter().position(|window| window.answers_per_s > 0.0)?;
    let answered = || {
        let numbered = windows[begin..].iter().enumerate();
        numbered.filter(|(_, window)| window.answers_per_s > 0.0)
    };
    let cpu: Vec<(usize, f64)> =
        answered().filter_map(|(at, window)| Some((at, window.cpu_ns_per_answer()?))).collect();
    // The first window has no sample before it.
    let is_enough = cpu.len() as f64 >= ENOUGH * answered().skip(1).count() as f64;
    let (of, costs) = match (is_enough, is_paced) {
        (true, _) => (CourseOf::CpuNs, cpu),
        (false, true) => return None,
        (false, false) => {
            let gap = |(at, window): (usize, &WarmUpWindow)| (at, 1e9 / window.answers_per_s);
            (CourseOf::GapNs, answered().map(gap).collect())
        }
    };
    (costs.len() >= FEWEST).then(|| cut(of, &costs))
}

/// `numbered`: costs with the numbers of their windows.
fn cut(of: CourseOf, numbered: &[(usize, f64)]) -> Course {
    let costs: Vec<f64> = numbered.iter().map(|(_, cost)| *cost).collect();
    let edges = with_ends(&cuts(&costs), costs.len());
    let levels: Vec<f64> =
        edges.windows(2).filter_map(|ends| median(&costs[ends[0]..ends[1]])).collect();
    let (first, last) = (levels[0], levels[levels.len() - 1]);
    let is_last = |level: &f64| (level / last - 1.0).abs() <= ALIKE;
    let tail = levels.iter().rev().take_while(|level| is_last(level)).count();
    let begin = edges[levels.len() - tail];
    let was_there_before = levels[..levels.len() - tail].iter().any(is_last);
    let is_long_enough = costs.len() - begin >= FEWEST_STEADY;
    let class = match () {
        () if was_there_before || !is_long_enough => CourseClass::NoSteadyState,
        () if begin == 0 => CourseClass::Flat,
        () if first > last => CourseClass::WarmsUp,
        () => CourseClass::SlowsDown,
    };
    // The level is that of the whole last stretch.
    let at_ns = if begin == 0 { 0 } else { numbered[begin].0 as u64 * WarmUpWindow::NS };
    let steady = median(&costs[begin..]).zip(Some(at_ns));
    Course { class, of, first, steady: steady.filter(|_| class != CourseClass::NoSteadyState) }
}

/// Where the level changes, ascending. Of levels that come and go, the parts before and after a change
/// may have the same figures, so that no single cut shows it: then the halves of each stretch are looked
/// at, too.
fn cuts(costs: &[f64]) -> Vec<usize> {
    let logs: Vec<f64> = costs.iter().map(|cost| cost.ln()).collect();
    // The permutation test needs numbers; the same series is always cut alike.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut of_part = |from: usize, to: usize| -> Vec<usize> {
        let changes = change_points(&logs[from..to], &mut rng);
        let large = changes.iter().filter(|change| (change.after - change.before).abs() > ALIKE);
        large.map(|change| from + change.index).collect()
    };
    let mut all = of_part(0, logs.len());
    for ends in with_ends(&all, logs.len()).windows(2) {
        let middle = ends[0].midpoint(ends[1]);
        let level = |from: usize, to: usize| median(&logs[from..to]);
        let halves = level(ends[0], middle).zip(level(middle, ends[1]));
        if halves.is_some_and(|(one, other)| (one - other).abs() > 2.0 * ALIKE) {
            all.push(middle);
        }
        all.extend(of_part(ends[0], middle));
        all.extend(of_part(middle, ends[1]));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Where stretches begin and end that are cut at these places.
fn with_ends(cuts: &[usize], length: usize) -> Vec<usize> {
    std::iter::once(0).chain(cuts.iter().copied()).chain([length]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use CourseClass::{Flat, NoSteadyState, SlowsDown, WarmsUp};

    /// A busy target whose answers cost this much in each window, with noise of 3 %.
    fn windows(costs_us: &[f64], noise: &mut Noise) -> Vec<WarmUpWindow> {
        let window = |cost: &f64| WarmUpWindow {
            answers_per_s: 1e6 / (cost * (0.03 * noise.normal()).exp()),
            cores: Some(1.0),
            compiler: None,
        };
        costs_us.iter().map(window).collect()
    }

    fn stretches(parts: &[(f64, usize)]) -> Vec<f64> {
        parts.iter().flat_map(|&(cost, count)| vec![cost; count]).collect()
    }

    /// Of 100 starts with this course, so many are in the class; where they are steady from a known
    /// window on, most times are within a tenth of it.
    fn found(costs_us: &[f64], class: CourseClass, steady_at: Option<usize>) -> usize {
        let mut noise = Noise::new(7);
        (0..100)
            .filter(|_| {
                let course = course(&windows(costs_us, &mut noise), false).unwrap();
                let in_time = steady_at.is_none_or(|at| {
                    let wanted = at as f64 * WarmUpWindow::NS as f64;
                    course.steady.is_some_and(|(_, ns)| {
                        (ns as f64 - wanted).abs() <= (0.1 * wanted).max(WarmUpWindow::NS as f64)
                    })
                });
                course.class == class && in_time
            })
            .count()
    }

    #[test]
    fn starts_of_a_known_kind_are_told() {
        let collections: Vec<f64> =
            (0..60).map(|at| if at % 15 == 14 { 40.0 } else { 10.0 }).collect();
        let two_states = stretches(&[(10.0, 15), (14.0, 15), (10.0, 15), (14.0, 15)]);
        for (name, costs, class, steady_at) in [
            ("flat", stretches(&[(10.0, 30)]), Flat, Some(0)),
            ("warms up", stretches(&[(30.0, 20), (10.0, 40)]), WarmsUp, Some(20)),
            ("in two steps", stretches(&[(30.0, 20), (18.0, 20), (10.0, 30)]), WarmsUp, Some(40)),
            ("slows down", stretches(&[(10.0, 25), (12.0, 40)]), SlowsDown, Some(25)),
            ("two states", two_states, NoSteadyState, None),
            ("collections", collections, Flat, Some(0)),
            ("too late", stretches(&[(30.0, 40), (10.0, 4)]), NoSteadyState, None),
        ] {
            let right = found(&costs, class, steady_at);
            assert!(right >= 95, "{name}: {right} of 100");
        }
    }

    #[test]
    fn levels_and_their_unit_are_those_of_the_windows() {
        let costs = stretches(&[(30.0, 20), (10.0, 40)]);
        let seen = windows(&costs, &mut Noise::new(3));
        let known = course(&seen, false).unwrap();
        assert_eq!(known.of, CourseOf::CpuNs);
        assert!((known.first / 30_000.0 - 1.0).abs() < 0.03, "{known:?}");
        assert!((known.steady.unwrap().0 / 10_000.0 - 1.0).abs() < 0.03, "{known:?}");
        // Half a processor busy: half the cost, and the same time between answers.
        let half: Vec<WarmUpWindow> =
            seen.iter().map(|window| WarmUpWindow { cores: Some(0.5), ..*window }).collect();
        assert!((course(&half, false).unwrap().first / known.first - 0.5).abs() < 1e-9);
        // The first window has no sample before it. Where most have none, only the rate is known.
        let mut unseen = seen;
        unseen[0].cores = None;
        assert_eq!(course(&unseen, true).unwrap().of, CourseOf::CpuNs);
        unseen.iter_mut().for_each(|window| window.cores = None);
        assert_eq!(course(&unseen, false).unwrap().of, CourseOf::GapNs);
        assert_eq!(course(&unseen, true), None);
    }

    #[test]
    fn too_few_windows_show_nothing_and_silence_before_the_first_answer_counts_as_none() {
        let mut noise = Noise::new(1);
        let seen = windows(&[10.0; 20], &mut noise);
        assert_eq!(course(&seen[..5], false), None);
        assert_eq!(course(&[], false), None);
        let silent = WarmUpWindow { cores: Some(0.9), ..WarmUpWindow::default() };
        let late: Vec<WarmUpWindow> = std::iter::repeat_n(silent, 10).chain(seen).collect();
        assert_eq!(course(&late, false).unwrap().class, Flat);
    }
}
