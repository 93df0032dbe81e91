//! Whether the fresh starts of a target lie beyond a limit, looked at after each of them.
//!
//! For each of the two answers there is a bet against its opposite. The bet begins at 1, and if the
//! opposite is true it stays below `1 / level` at all times together with a probability of
//! `1 - level` (Ville's inequality; Ramdas et al., "Game-theoretic statistics and safe anytime-valid
//! inference", 2023). So more starts can be made until one answer is known, and looking after each
//! start costs no truth. A bet is the mean of four, with [weights](Weights):
//!
//! - all on the side of each start. It doubles with each start on the expected side, and is lost with
//!   the first on the other: five starts that all lie beyond the limit decide at 5 %, whatever their
//!   scatter (the sign test, with a bet);
//! - part of it, which survives a start on the other side;
//! - all on each start being far beyond the limit, by a factor of two ([`Levels::far`]). It pays eight
//!   times, and is lost with the first start that is not. It supposes that a target that keeps its limit is measured
//!   so far beyond it in at most one start of eight. So five starts of a target that is several times
//!   slower decide at the level of an alarm, where the sign test needs eleven;
//! - on the mean over the scatter (Student's t), which knows most where starts scatter little. The
//!   likelihood ratio over a mixture of effects on the expected side, half of a normal distribution, with
//!   the right Haar prior for the scale (Lai 1976; Wang and Ramdas, "Anytime-valid t-tests and confidence
//!   sequences for Gaussian means with unknown variance", 2024, section 4).
//!
//! An answer also needs the mean of the distances on its own side. A start that is worse only moves
//! that mean further, so it never turns "beyond" into "within".
//!
//! A bet never spends its whole error, because it must hold at any time. So a comparison keeps a part of
//! the error of "within" for one last look ([`Levels::last_look`]), by a t test, when its time is over.
//!
//! Where a change that is little beyond the limit may stay unseen ([`Levels::unseen`]), "within" means:
//! the mean is within the limit, and the truth is surely no more than that beyond it. Noise then
//! needs fewer starts to be told from a change that matters, and "beyond" stays as strict as it was.
use crate::interval::student_t::two_sided_p;
use crate::series::quantile::{mean, variance};

/// The error of each answer of `pippin run` and `pippin compare`, if the truth is at the limit.
pub const LEVEL: f64 = 0.05;

/// The errors of the two answers, if the truth is at the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// How often "within" is said.
    pub within: f64,
    /// How often "beyond" is said: an alarm.
    pub beyond: f64,
    /// How far beyond the limit the truth may be where "within" is said, in the unit of the distances;
    /// 0: not at all.
    pub unseen: f64,
    /// Beyond this distance a start is far off; infinite where chance alone makes such starts.
    pub far: f64,
    /// How often "within" is said by one last look, when no more starts are made; 0 where there is none.
    /// Both errors together are that of "within".
    pub last_look: f64,
}

impl Levels {
    /// Those of a look after which more starts may follow.
    #[must_use]
    pub const fn before_the_end(self) -> Self {
        Self { last_look: 0.0, ..self }
    }
}

impl From<f64> for Levels {
    fn from(level: f64) -> Self {
        Self { within: level, beyond: level, unseen: 0.0, far: f64::INFINITY, last_look: 0.0 }
    }
}

impl Default for Levels {
    fn default() -> Self {
        LEVEL.into()
    }
}

/// Fewest starts for an answer. Two states that a target has by chance of its start look like a
/// change as long as no start of the other state was seen.
pub const FEWEST_STARTS: usize = 5;

/// The parts of a bet that are put on each question, which together are at most 1.
#[derive(Debug, Clone, Copy)]
struct Weights {
    /// All starts on one side.
    every: f64,
    /// Most starts on one side.
    most: f64,
    /// Every start far off.
    far: f64,
    /// The mean: weight, and one over the variance of the mixture of effects in squared standard
    /// deviations.
    mean: [(f64, f64); 2],
}

/// At 5 %, where the sign of five starts is to be enough.
const BY_SIGN: Weights =
    Weights { every: 0.6, most: 0.1, far: 0.0, mean: [(0.3, 0.1), (0.0, 1.0)] };
/// For an alarm, where five starts are enough only by their distance. On recorded noise the scatter of
/// starts is a half to two times a change that matters, so effects of that size have the greatest part.
const BY_DISTANCE: Weights =
    Weights { every: 0.35, most: 0.05, far: 0.05, mean: [(0.25, 0.1), (0.3, 0.8)] };
/// For "within" where something may stay unseen.
const WITHIN: Weights =
    Weights { every: 0.05, most: 0.05, far: 0.0, mean: [(0.3, 0.3), (0.6, 1.5)] };
/// Levels from which on the sign of five starts can decide.
const COARSE: f64 = 0.05;
/// What the careful bet becomes with a start on the expected side, and with one on the other.
const CAREFUL: (f64, f64) = (1.6, 0.4);
/// What the bet on far starts pays for each.
const FAR_PAYS: f64 = 8.0;

impl Weights {
    /// For "beyond" at this error.
    const fn beyond(level: f64) -> Self {
        if level >= COARSE { BY_SIGN } else { BY_DISTANCE }
    }

    /// For "within" at these errors. Of equal figures, which are counts or rounded, the sign is all that
    /// is known.
    fn within(levels: Levels, distances: &[f64]) -> Self {
        let scatters = variance(distances).is_some_and(|variance| variance > 0.0);
        if levels.unseen > 0.0 && scatters { WITHIN } else { BY_SIGN }
    }
}

/// One start of a target, seen from a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// How far it lies beyond the limit; negative within it. In any unit, the same for all starts.
    pub distance: f64,
    /// Whether it lies beyond the limit. At a distance of 0, the limit's operator decides.
    pub is_beyond: bool,
}

/// On which side of a limit a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It keeps the limit.
    Within,
    /// It does not.
    Beyond,
}

/// The side on which these starts lie at these errors; `None` if they do not show it, or are
/// fewer than [`FEWEST_STARTS`].
#[must_use]
pub fn side(starts: &[Start], levels: impl Into<Levels>) -> Option<Side> {
    let levels = levels.into();
    let distances: Vec<f64> = starts.iter().map(|start| start.distance).collect();
    let centre = mean(&distances).filter(|_| starts.len() >= FEWEST_STARTS)?;
    let beyond = starts.iter().filter(|start| start.is_beyond).count();
    let within = starts.len() - beyond;
    if centre > 0.0 || (centre == 0.0 && within == 0) {
        let weights = Weights::beyond(levels.beyond);
        let far = starts.iter().all(|start| start.distance > levels.far);
        let far = if far { weights.far * FAR_PAYS.powi(starts.len() as i32) } else { 0.0 };
        let known = weights.of_sides(beyond, within) + far + weights.of_mean(&distances, centre);
        return (known >= 1.0 / levels.beyond).then_some(Side::Beyond);
    }
    let seen_beyond = |start: &&Start| {
        if levels.unseen > 0.0 { start.distance > levels.unseen } else { start.is_beyond }
    };
    let beyond = starts.iter().filter(seen_beyond).count();
    let weights = Weights::within(levels, &distances);
    let known = weights.of_sides(starts.len() - beyond, beyond)
        + weights.of_mean(&distances, levels.unseen - centre);
    let is_within = known >= 1.0 / levels.within
        || one_look(&distances, levels.unseen - centre) <= levels.last_look;
    is_within.then_some(Side::Within)
}

/// How likely starts without an effect have a mean at least so far on the expected side, looked at once:
/// Student's t test. 1 without scatter.
fn one_look(distances: &[f64], centre: f64) -> f64 {
    let n = distances.len() as f64;
    let known = variance(distances).filter(|variance| *variance > 0.0 && centre > 0.0);
    known.map_or(1.0, |variance| two_sided_p(centre / (variance / n).sqrt(), n - 1.0) / 2.0)
}

impl Weights {
    /// The two bets on the sides of the starts.
    fn of_sides(self, for_it: usize, against: usize) -> f64 {
        let every = if against == 0 { 2_f64.powi(for_it as i32) } else { 0.0 };
        let most = CAREFUL.0.powi(for_it as i32) * CAREFUL.1.powi(against as i32);
        self.every * every + self.most * most
    }

    /// The bets on a mean that lies so far on the expected side.
    fn of_mean(self, distances: &[f64], centre: f64) -> f64 {
        self.mean
            .iter()
            .map(|(weight, mixture)| weight * of_mean(distances, centre, *mixture))
            .sum()
    }
}

/// The bet on the mean, which lies so far on the expected side. Without scatter it says nothing: equal
/// figures are counts, or rounded.
///
/// With `r` the mean over the root mean square, and effects from half of a normal distribution of the
/// variance `1 / mixture`, the integral over scale and effect is
/// `sqrt(g / (n + g)) c^(-n/2) 2 T(r n / sqrt((n + g) c))` with `g` the mixture, `c = 1 - n r^2 / (n + g)`
/// and `T` Student's distribution with `n` degrees of freedom.
fn of_mean(distances: &[f64], centre: f64, mixture: f64) -> f64 {
    let n = distances.len() as f64;
    let known = variance(distances).filter(|variance| *variance > 0.0 && variance.is_finite());
    known.map_or(0.0, |variance| {
        let part = n * centre * centre / variance / (n - 1.0);
        let square = part / (1.0 + part);
        let rest = 1.0 - n * square / (n + mixture);
        let both_sides = (mixture / (n + mixture)).sqrt() * rest.powf(-n / 2.0);
        let t = n * (square / ((n + mixture) * rest)).sqrt();
        let tail = two_sided_p(t, n);
        both_sides * if centre > 0.0 { 2.0 - tail } else { tail }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use proptest::prelude::*;

    fn starts(distances: &[f64]) -> Vec<Start> {
        let start = |distance: &f64| Start { distance: *distance, is_beyond: *distance > 0.0 };
        distances.iter().map(start).collect()
    }

    fn decide(distances: &[f64]) -> Option<Side> {
        side(&starts(distances), LEVEL)
    }

    #[test]
    fn five_starts_beyond_the_limit_decide_whatever_their_scatter() {
        let slower = [5.0_f64, 5.0, 50.0, 6.0, 5.0].map(f64::ln);
        assert_eq!(decide(&slower), Some(Side::Beyond));
        assert_eq!(decide(&slower[..4]), None, "four do not");
        assert_eq!(decide(&slower.map(|distance| -distance)), Some(Side::Within));
        assert_eq!(decide(&[0.0; 5]), Some(Side::Within), "at the limit, the operator decides");
    }

    #[test]
    fn one_outlier_delays_the_answer_and_does_not_turn_it() {
        let calm = [0.050, 0.051, 0.049, 0.052, 0.050, 0.048, 0.050, 0.051, 0.049];
        assert_eq!(decide(&calm), Some(Side::Beyond));
        let mut outlier = calm;
        outlier[3] = -0.4;
        assert_eq!(decide(&outlier), None);
        outlier[3] = 4.0;
        assert_eq!(decide(&outlier), Some(Side::Beyond));
    }

    /// Five starts that are far beyond the limit are an alarm however far they scatter, and four are not.
    /// What is beyond it by less than a factor of two needs more of them.
    #[test]
    fn five_starts_far_beyond_the_limit_are_an_alarm() {
        let alarm = Levels { beyond: 0.001, far: 2.0_f64.ln(), ..Levels::from(LEVEL) };
        let of = |times: &[f64]| {
            side(&starts(&times.iter().map(|times| times.ln()).collect::<Vec<_>>()), alarm)
        };
        assert_eq!(of(&[3.0, 40.0, 2.1, 9.0, 5.0]), Some(Side::Beyond));
        assert_eq!(of(&[3.0, 40.0, 2.1, 9.0]), None);
        assert_eq!(of(&[3.0, 40.0, 1.9, 9.0, 5.0]), None);
        let without = Levels { far: f64::INFINITY, ..alarm };
        let far = starts(&[1.1, 3.7, 0.74, 2.2, 1.6]);
        assert_eq!(side(&far, without), None);
    }

    /// The last look adds its own error and no more: exactly at the limit of what may stay unseen, both
    /// together pass in one of twenty at most, and equal sides that were open pass.
    #[test]
    fn a_last_look_passes_what_is_open_and_keeps_the_error() {
        let mut noise = Noise::new(17);
        let end = Levels {
            within: 0.03,
            beyond: 0.001,
            unseen: 1.03_f64.ln(),
            far: f64::INFINITY,
            last_look: 0.02,
        };
        let mut passed = |change: f64, levels: Levels| {
            const RUNS: usize = 4_000;
            let passes = (0..RUNS).filter(|_| {
                let mut seen = Vec::new();
                for made in 1..=17 {
                    seen.push(0.055 * noise.normal() + change.ln() - 1.02_f64.ln());
                    let levels = if made == 17 { levels } else { levels.before_the_end() };
                    if let Some(found) = side(&starts(&seen), levels) {
                        return found == Side::Within;
                    }
                }
                false
            });
            passes.count() as f64 / RUNS as f64
        };
        let [missed, equal, without] = [
            passed(1.0506, end),
            passed(1.0, end),
            passed(1.0, Levels { within: 0.05, ..end.before_the_end() }),
        ];
        println!(
            "5.06 % more passes in {missed}, nothing in {equal}, without a last look in {without}"
        );
        assert!(missed <= 0.05, "{missed}");
        assert!(equal > 0.9 && without < equal - 0.1, "{equal} {without}");
    }

    /// Two states that differ by a factor of two, by chance of each start, on both sides: the worst that
    /// the bet on far starts is made for.
    #[test]
    fn two_states_are_no_alarm() {
        let mut noise = Noise::new(15);
        let alarm = Levels { beyond: 0.001, far: 2.0_f64.ln(), ..Levels::from(LEVEL) };
        let mut state = || if noise.uniform() < 0.5 { 3.0_f64.ln() } else { 0.0 };
        let [failed, ..] = shares(alarm, &mut || state() - state() - 1.02_f64.ln());
        assert!(failed <= 0.002, "{failed}");
    }

    /// The bet on the mean costs nothing: under noise alone it is 1 in the mean.
    #[test]
    fn the_bet_on_the_mean_is_fair() {
        let mut noise = Noise::new(16);
        for (n, mixture) in [(2, 0.3), (5, 1.2), (12, 2.0)] {
            let bets: Vec<f64> = (0..200_000)
                .map(|_| {
                    let distances: Vec<f64> = (0..n).map(|_| noise.normal()).collect();
                    of_mean(&distances, mean(&distances).unwrap(), mixture)
                })
                .collect();
            let paid = mean(&bets).unwrap();
            assert!((0.9..=1.1).contains(&paid), "{n} {mixture}: {paid}");
        }
    }

    proptest! {
        /// The law: a start that is worse, or one more beyond the limit, never makes "within" of
        /// "beyond".
        #[test]
        fn worse_starts_never_turn_beyond_into_within(
            seen in prop::collection::vec(-1.0_f64..3.0, 5..30),
            worse in prop::collection::vec(0.0_f64..100.0, 30),
            more in prop::collection::vec(0.001_f64..10.0, 0..5),
        ) {
            if decide(&seen) == Some(Side::Beyond) {
                let now = seen.iter().zip(&worse).map(|(seen, worse)| seen + worse).chain(more);
                prop_assert_ne!(decide(&now.collect::<Vec<_>>()), Some(Side::Within));
            }
        }

        #[test]
        fn fewer_starts_than_five_know_nothing(seen in prop::collection::vec(-9.0_f64..9.0, 0..5)) {
            prop_assert_eq!(decide(&seen), None);
        }
    }

    /// How often starts from `draw` end beyond, within and undecided, looked at after each start
    /// from the planned ones on.
    fn shares(level: impl Into<Levels>, draw: &mut dyn FnMut() -> f64) -> [f64; 3] {
        let level = level.into();
        const RUNS: usize = 4_000;
        let mut ends = [0_usize; 3];
        for _ in 0..RUNS {
            let mut seen: Vec<f64> = (0..FEWEST_STARTS).map(|_| draw()).collect();
            let end = loop {
                match side(&starts(&seen), level) {
                    Some(Side::Beyond) => break 0,
                    Some(Side::Within) => break 1,
                    None if seen.len() >= 15 => break 2,
                    None => seen.push(draw()),
                }
            };
            ends[end] += 1;
        }
        ends.map(|count| count as f64 / RUNS as f64)
    }

    /// The table of docs/gates.md: the gate `cpu > 2% vs main`, starts that scatter by 1 %.
    #[test]
    fn wrong_answers_are_rare_whatever_starts_do() {
        let mut noise = Noise::new(11);
        let limit = 1.02_f64.ln();
        // What is simulated, the change of the ratio, and what is drawn for each start.
        type Draw = fn(&mut Noise) -> f64;
        let normal: Draw = |noise| 0.01 * noise.normal();
        let outlier: Draw = |noise| {
            let far = if noise.uniform() < 0.1 { 0.5 } else { 0.0 };
            0.01 * noise.normal() + if noise.uniform() < 0.5 { far } else { -far }
        };
        // A start is slow at its beginning, by a random part, on one side or the other.
        let slow: Draw = |noise| 0.01 * noise.normal() + 0.03 * (noise.uniform() - noise.uniform());
        let states: Draw = |noise| {
            let mut state = || if noise.uniform() < 0.5 { 0.69 } else { 0.0 };
            let apart = state() - state();
            apart + 0.01 * noise.normal()
        };
        let kinds = [
            ("normal", normal),
            ("one outlier in ten", outlier),
            ("slow start", slow),
            ("two states by start", states),
        ];
        println!("| starts | change | failed | passed | undecided |\n|---|---:|---:|---:|---:|");
        for (name, draw) in kinds {
            for change in [0.0_f64, 0.05, 0.10] {
                let [failed, passed, open] =
                    shares(LEVEL, &mut || draw(&mut noise) + (1.0 + change).ln() - limit);
                println!(
                    "| {name} | {:+.0} % | {:.1} % | {:.1} % | {:.1} % |",
                    change * 100.0,
                    failed * 100.0,
                    passed * 100.0,
                    open * 100.0
                );
                let wrong = if change > 0.02 { passed } else { failed };
                assert!(wrong <= 0.01, "{name} {change}: {wrong}");
            }
        }
    }

    /// DESIGN: H0 is "rises by at most 2 %", 0.003 per comparison, power at 5 %.
    #[test]
    fn at_the_level_of_ci_alarms_are_rare_and_five_percent_are_found() {
        let mut noise = Noise::new(12);
        let level = 0.003 / 3.0;
        let limit = 1.02_f64.ln();
        let mut of = |change: f64| {
            shares(level, &mut || 0.005 * noise.normal() + (1.0 + change).ln() - limit)
        };
        let [at_limit, equal, more] = [0.02, 0.0, 0.05].map(&mut of);
        println!("at the limit {at_limit:?}, equal {equal:?}, 5 % more {more:?}");
        assert!(at_limit[0] <= 0.001 && equal[0] <= 0.001, "{at_limit:?} {equal:?}");
        assert!(more[0] >= 0.95, "{more:?}");
    }

    /// What may stay unseen: of changes of 5 %, at most one in twenty passes a limit of 2 % at which 3 %
    /// more may stay unseen, and noise passes it sooner.
    #[test]
    fn what_may_stay_unseen_is_passed_in_one_of_twenty_at_most() {
        let mut noise = Noise::new(14);
        let limit = 1.02_f64.ln();
        let strict = Levels { beyond: 0.001, ..Levels::from(LEVEL) };
        let levels = Levels { unseen: 1.03_f64.ln(), ..strict };
        let mut of = |levels: Levels, change: f64| {
            shares(levels, &mut || 0.02 * noise.normal() + change.ln() - limit)
        };
        let [_, passed, _] = of(levels, 1.0506);
        let [failed, equal, _] = of(levels, 1.0);
        let [_, strictly, _] = of(strict, 1.0);
        println!(
            "passed at 5 % {passed}, equal: failed {failed}, passed {equal}, strictly {strictly}"
        );
        assert!(passed <= 0.05 && failed <= 0.001, "{passed} {failed}");
        assert!(equal > 0.9 && strictly < equal, "{equal} {strictly}");
    }

    #[test]
    fn at_the_limit_either_answer_is_wrong_in_one_of_twenty_at_most() {
        let mut noise = Noise::new(13);
        let [failed, passed, _] = shares(LEVEL, &mut || 0.01 * noise.normal());
        println!("at the limit: failed {failed}, passed {passed}");
        assert!(failed <= 0.05 && passed <= 0.05, "{failed} {passed}");
    }
}
