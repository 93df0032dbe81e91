//! Users that come and go, as people write it: `10@30s,100@2m,0@30s`.
//!
//! Each part is a stage, `USERS@TIME`. Within that time the number of users goes linearly from the
//! previous number to this one. It is 0 before the first stage. A stage without time is a jump. k6's
//! ramping-vus with `startVUs` 0 has the same stages.
//!
//! Users are numbered from 0. User n is there while the level is above n: of 4 users that come within
//! 4 s, the first comes at once and the last after 3 s; of 4 that go within 4 s, the first goes after
//! 1 s and the last after 4 s. So the users at an instant are the level rounded up. Who has come first
//! goes last.
use serde::{Deserialize, Serialize};

use super::stages::{course, course_in_words};
use crate::text::units::{format_whole, parse_scaled};

const EXAMPLE: &str =
    "write stages like users:10@30s,100@2m,0@30s, or users:10@0s,10@1m for a jump";
/// What stages of users begin with, where stages of rates may stand as well.
pub const PREFIX: &str = "users:";
/// The most users.
const MOST: f64 = 100_000_000.0;

/// A part of a load with users that come and go. Their number goes linearly from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStage {
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// Users at its start.
    pub from: u32,
    /// Users at its end.
    pub to: u32,
}

impl UserStage {
    /// When a user comes that this stage brings, in nanoseconds after its start; `None` for others.
    #[must_use]
    pub fn comes_after_ns(&self, user: u64) -> Option<u64> {
        let (from, to) = (u64::from(self.from), u64::from(self.to));
        (from..to).contains(&user).then(|| self.part_ns(user - from, to - from))
    }

    /// When a user goes that this stage takes away, in nanoseconds after its start; `None` for
    /// others.
    #[must_use]
    pub fn goes_after_ns(&self, user: u64) -> Option<u64> {
        let (from, to) = (u64::from(self.from), u64::from(self.to));
        (to..from).contains(&user).then(|| self.part_ns(from - user, from - to))
    }

    fn part_ns(&self, nth: u64, of: u64) -> u64 {
        (u128::from(self.duration_ns) * u128::from(nth) / u128::from(of)) as u64
    }

    /// The users that are there so many nanoseconds after its start.
    fn held_after_ns(&self, spent_ns: u64) -> u32 {
        let (least, most) = (self.from.min(self.to), self.from.max(self.to));
        let is_there = |user: &u32| match self.comes_after_ns((*user).into()) {
            Some(at) => at <= spent_ns,
            None => self.goes_after_ns((*user).into()).is_some_and(|at| at > spent_ns),
        };
        // Who has a lower number comes earlier and goes later.
        let (mut low, mut high) = (least, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_there(&middle) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The time that its users spend in it, all together, in nanoseconds: of those that come, and of
    /// those that go, the time grows evenly from user to user.
    fn spent_ns(&self) -> f64 {
        let changing = f64::from(self.from.abs_diff(self.to));
        let staying = f64::from(self.from.min(self.to));
        let mean = if changing > 0.0 { staying + f64::midpoint(changing, 1.0) } else { staying };
        mean * self.duration_ns as f64
    }
}

/// Reads stages, with or without [`PREFIX`].
///
/// # Errors
/// If a part is not a stage or has no effect. The message names it and the fix.
pub fn parse(text: &str) -> Result<Vec<UserStage>, String> {
    let text = text.trim();
    let stages = course(text.strip_prefix(PREFIX).unwrap_or(text), EXAMPLE, level)?;
    if stages.iter().all(|(_, from, to)| *from == 0 && *to == 0) {
        return Err("no stage has a user".into());
    }
    let stage = |(duration_ns, from, to)| UserStage { duration_ns, from, to };
    Ok(stages.into_iter().map(stage).collect())
}

fn level(text: &str) -> Result<u32, String> {
    parse_scaled(text)
        .filter(|users| users.fract() == 0.0 && (0.0..=MOST).contains(users))
        .map(|users| users as u32)
        .ok_or_else(|| {
            format!("`{text}` is not a whole number of users from 0 to 100 million; {EXAMPLE}")
        })
}

/// The most users that are there at the same time.
#[must_use]
pub fn most(stages: &[UserStage]) -> u32 {
    stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0)
}

/// The users that are there at an instant, in nanoseconds after the start of the schedule; after the
/// last stage nobody.
#[must_use]
pub fn held_at(stages: &[UserStage], at_ns: u64) -> u32 {
    let mut spent_ns = at_ns;
    for stage in stages {
        if spent_ns < stage.duration_ns {
            return stage.held_after_ns(spent_ns);
        }
        spent_ns -= stage.duration_ns;
    }
    0
}

/// All stages together, nanoseconds.
#[must_use]
pub fn length_ns(stages: &[UserStage]) -> u64 {
    stages.iter().map(|stage| stage.duration_ns).fold(0, u64::saturating_add)
}

/// How many users are there on average over all stages.
#[must_use]
pub fn mean(stages: &[UserStage]) -> f64 {
    stages.iter().map(UserStage::spent_ns).sum::<f64>() / length_ns(stages).max(1) as f64
}

/// How often a user comes in all stages; one that goes and comes again counts twice.
#[must_use]
pub fn comings(stages: &[UserStage]) -> u64 {
    let mut before = 0;
    let mut count = 0;
    for stage in stages {
        let jump = stage.from.saturating_sub(before);
        count += u64::from(jump) + u64::from(stage.to.saturating_sub(stage.from));
        before = stage.to;
    }
    count
}

/// The stages in words: `from 0 to 10 users within 30 s, then to 100 within 2 min`.
#[must_use]
pub fn in_words(stages: &[UserStage]) -> String {
    let stretches = stages.iter().map(|it| (it.duration_ns, it.from, it.to));
    let unit = |level: u32| if level == 1 { " user".into() } else { " users".into() };
    course_in_words(stretches, |users| format_whole(users.into()), unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn stage(seconds: u64, from: u32, to: u32) -> UserStage {
        UserStage { duration_ns: seconds * S, from, to }
    }

    #[test]
    fn stages_begin_at_0_go_on_where_the_last_ended_and_jump() {
        let right = vec![stage(30, 0, 10), stage(120, 10, 100), stage(30, 100, 0)];
        for text in ["users:10@30s,100@2m,0@30s", "10@30s, 100@2m, 0@30s", "30s:10,2m:100,30s:0"] {
            assert_eq!(parse(text), Ok(right.clone()), "{text}");
        }
        let jump = vec![stage(60, 50, 50), stage(5, 200, 200)];
        assert_eq!(parse("users:50@0s,50@1m,200@0s,200@5s"), Ok(jump));
    }

    #[test]
    fn what_is_no_stage_or_has_no_effect_is_told() {
        for (text, says) in [
            ("users:", "`` is not a stage; write stages like users:10@30s"),
            ("users:10", "`10` is not a stage"),
            ("users:1.5@30s", "`1.5` is not a whole number of users"),
            ("users:-1@30s", "`-1` is not a whole number of users"),
            ("users:many@30s", "`many` is not a whole number of users"),
            ("users:10@later", "duration"),
            ("users:0@30s", "no stage has a user"),
            ("users:5@0s,6@0s,6@1s", "`6@0s` follows another jump"),
            ("users:5@1s,6@0s", "the last stage is a jump"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    /// 4 come within 4 s, stay for 2 s, and 2 of them go within 2 s.
    #[test]
    fn who_comes_first_goes_last() {
        let stages = parse("4@4s,4@2s,2@2s").unwrap();
        let come: Vec<_> = (0..5).map(|user| stages[0].comes_after_ns(user)).collect();
        assert_eq!(come, [Some(0), Some(S), Some(2 * S), Some(3 * S), None]);
        let go: Vec<_> = (0..4).map(|user| stages[2].goes_after_ns(user)).collect();
        assert_eq!(go, [None, None, Some(2 * S), Some(S)]);
        let held: Vec<u32> = (0..9).map(|s| held_at(&stages, s * S)).collect();
        assert_eq!(held, [1, 2, 3, 4, 4, 4, 4, 3, 0]);
        assert_eq!((held_at(&stages, S - 1), held_at(&stages, 7 * S - 1)), (1, 4));
        assert_eq!((most(&stages), length_ns(&stages), comings(&stages)), (4, 8 * S, 4));
        // 1, 2, 3, 4 users for a second each, 4 for two, then 4 and 3 for one.
        assert_eq!(mean(&stages), f64::from(1 + 2 + 3 + 4 + 4 + 4 + 4 + 3) / 8.0);
    }

    #[test]
    fn words_say_where_the_number_goes() {
        let words = |text| in_words(&parse(text).unwrap());
        assert_eq!(
            words("10@30s,1000@2m"),
            "from 0 to 10 users within 30 s, then to 1,000 within 2 min"
        );
        assert_eq!(words("1@0s,1@9s,5@0s,5@1s"), "1 user for 9 s, then 5 for 1 s");
    }

    fn any_stages() -> impl Strategy<Value = Vec<UserStage>> {
        proptest::collection::vec((1_u64..5_000, 0_u32..40, 0_u32..40), 1..6).prop_map(|all| {
            let stage = |(ms, from, to)| UserStage { duration_ns: ms * 1_000_000, from, to };
            all.into_iter().map(stage).collect()
        })
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9smk@:,. -]{0,24}") {
            let _ = parse(&text);
        }

        /// The users at an instant are the level, rounded up: worked out here with fractions.
        #[test]
        fn the_users_of_an_instant_are_the_level_rounded_up(
            stages in any_stages(), at_ms in 0_u64..30_000,
        ) {
            let at_ns = at_ms * 1_000_000 + 7;
            let mut begin_ns = 0;
            let mut level = None;
            for stage in &stages {
                if level.is_none() && at_ns < begin_ns + stage.duration_ns {
                    let share = (at_ns - begin_ns) as f64 / stage.duration_ns as f64;
                    level = Some(f64::from(stage.from) + (f64::from(stage.to) - f64::from(stage.from)) * share);
                }
                begin_ns += stage.duration_ns;
            }
            let level = level.unwrap_or(0.0);
            let held = f64::from(held_at(&stages, at_ns));
            // Instants are whole nanoseconds: at a change of users, one more or less.
            let is_a_change = (level - level.round()).abs() < 1e-5;
            prop_assert!(held == level.ceil() || is_a_change && (held - level).abs() < 1.1, "{held} {level}");
            prop_assert!(held <= f64::from(most(&stages)));
        }

        #[test]
        fn the_mean_is_that_of_all_instants(stages in any_stages()) {
            let (count, length_ns) = (20_000, length_ns(&stages));
            let at = |nth: u64| (u128::from(length_ns) * u128::from(2 * nth + 1) / (2 * count)) as u64;
            let sum: f64 = (0..count as u64).map(|nth| f64::from(held_at(&stages, at(nth)))).sum();
            let mean = mean(&stages);
            // Each change of users is seen within one of the instants.
            prop_assert!((sum / count as f64 - mean).abs() < 0.03, "{} {mean}", sum / count as f64);
        }
    }
}
