//! A rate that changes over time, as people write it: `30s:1000,2m:5000,30s:0`.
//!
//! Each part is a stage, `TIME:RATE`. Within that time the rate goes linearly from the previous
//! rate to this one. It is 0 before the first stage. A stage without time is a jump. k6's
//! ramping-arrival-rate with `startRate` 0 has the same stages. Numbers of users change in stages of
//! the same form ([`super::users`]).
use crate::schedule::Stage;
use crate::text::units::{
    format_count, format_length, format_whole, parse_duration_ns, parse_scaled,
};

const EXAMPLE: &str = "write stages like 30s:1000,2m:5000,30s:0, or 0s:1000 for a jump";
/// The highest rate, in requests per second.
const MOST_PER_S: f64 = 1e8;

/// Reads stages.
///
/// # Errors
/// If a part is not a stage or has no effect. The message names it and the fix.
pub fn parse(text: &str) -> Result<Vec<Stage>, String> {
    let stages = course(text, EXAMPLE, level)?;
    if stages.iter().all(|(_, from, to)| *from == 0.0 && *to == 0.0) {
        return Err("no stage has a rate above 0".into());
    }
    let stage = |(duration_ns, from_per_s, to_per_s)| Stage { duration_ns, from_per_s, to_per_s };
    Ok(stages.into_iter().map(stage).collect())
}

fn level(text: &str) -> Result<f64, String> {
    parse_scaled(text.strip_suffix("/s").unwrap_or(text))
        .filter(|rate| (0.0..=MOST_PER_S).contains(rate))
        .ok_or_else(|| {
            format!("`{text}` is not a rate from 0 to 100 million requests per second; {EXAMPLE}")
        })
}

/// A stretch of time in nanoseconds, with the levels at its start and at its end.
pub(super) type Stretch<L> = (u64, L, L);

/// Reads parts of the form `TIME:LEVEL` or `LEVEL@TIME`, separated by commas. Within its time, each
/// goes from the level of the one before to its own; the first begins at the lowest level. A part
/// without time is a jump.
///
/// # Errors
/// If a part cannot be read, or is a jump that has no effect.
pub(super) fn course<L: Copy + Default>(
    text: &str,
    example: &str,
    read: impl Fn(&str) -> Result<L, String>,
) -> Result<Vec<Stretch<L>>, String> {
    let mut stretches = Vec::new();
    let (mut level, mut is_jump) = (L::default(), false);
    for part in text.split(',').map(str::trim) {
        let (time, to) = match part.split_once('@') {
            Some((to, time)) => (time, to),
            None => {
                part.split_once(':').ok_or_else(|| format!("`{part}` is not a stage; {example}"))?
            }
        };
        let duration_ns = parse_duration_ns(time.trim()).map_err(|error| error.to_string())?;
        let to = read(to.trim())?;
        if duration_ns > 0 {
            stretches.push((duration_ns, level, to));
        } else if is_jump {
            return Err(format!(
                "`{part}` follows another jump, which then has no effect: leave one of them out"
            ));
        }
        (level, is_jump) = (to, duration_ns == 0);
    }
    if is_jump {
        return Err(
            "the last stage is a jump without any time after it: add a stage, or leave it out"
                .into(),
        );
    }
    Ok(stretches)
}

/// How many requests are due between two instants, in nanoseconds after the start of the schedule:
/// the integral of the rate.
#[must_use]
pub fn due_between(stages: &[Stage], from_ns: u64, to_ns: u64) -> f64 {
    (due_until(stages, to_ns) - due_until(stages, from_ns)).max(0.0)
}

fn due_until(stages: &[Stage], until_ns: u64) -> f64 {
    let (mut begin_ns, mut due) = (0, 0.0);
    for stage in stages {
        let spent_ns = until_ns.saturating_sub(begin_ns).min(stage.duration_ns);
        let mean_per_s = f64::midpoint(stage.from_per_s, stage.rate_after(spent_ns));
        due += mean_per_s * spent_ns as f64 / 1e9;
        begin_ns += stage.duration_ns;
    }
    due
}

/// The rate at an instant, in nanoseconds after the start of the schedule. At a jump, the rate
/// before it. After the last stage it is 0.
#[must_use]
pub fn rate_at(stages: &[Stage], at_ns: u64) -> f64 {
    let mut begin_ns = 0;
    for stage in stages {
        if at_ns <= begin_ns + stage.duration_ns {
            return stage.rate_after(at_ns - begin_ns);
        }
        begin_ns += stage.duration_ns;
    }
    0.0
}

/// All stages together, nanoseconds.
#[must_use]
pub fn length_ns(stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.duration_ns).fold(0, u64::saturating_add)
}

/// The stages in words, if `arrivals` is `requests`: `from 0 to 1,000 requests/s within 30 s, then
/// to 5,000 within 2 min, then 5,000 for 10 s`.
#[must_use]
pub fn in_words(stages: &[Stage], arrivals: &str) -> String {
    let stretches = stages.iter().map(|it| (it.duration_ns, it.from_per_s, it.to_per_s));
    course_in_words(stretches, rate_in_words, |_| format!(" {arrivals}/s"))
}

/// Stretches in words, if a level is so many things: `from 0 to 10 things within 30 s, then 10 for
/// 2 min`.
pub(super) fn course_in_words<L: Copy + PartialEq>(
    stretches: impl Iterator<Item = Stretch<L>>,
    level: fn(L) -> String,
    unit: impl Fn(L) -> String,
) -> String {
    let mut last = None;
    let mut parts = Vec::new();
    for (duration_ns, from, to) in stretches {
        let unit = if parts.is_empty() { unit(to) } else { String::new() };
        let time = format_length(duration_ns);
        let goes_on = last == Some(from);
        last = Some(to);
        let (is_flat, from, to) = (from == to, level(from), level(to));
        parts.push(match (is_flat, goes_on) {
            (true, _) => format!("{to}{unit} for {time}"),
            (false, true) => format!("to {to}{unit} within {time}"),
            (false, false) => format!("from {from} to {to}{unit} within {time}"),
        });
    }
    parts.join(", then ")
}

fn rate_in_words(per_s: f64) -> String {
    if per_s.fract() == 0.0 { format_whole(per_s as u64) } else { format_count(per_s) }
}

impl Stage {
    /// The rate this many nanoseconds after its start.
    fn rate_after(&self, spent_ns: u64) -> f64 {
        let share = spent_ns as f64 / self.duration_ns.max(1) as f64;
        self.from_per_s + (self.to_per_s - self.from_per_s) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn stage(seconds: u64, from_per_s: f64, to_per_s: f64) -> Stage {
        Stage { duration_ns: seconds * S, from_per_s, to_per_s }
    }

    #[test]
    fn stages_begin_at_0_go_on_where_the_last_ended_and_jump() {
        assert_eq!(
            parse("30s:1000, 2m:5k/s,30s:0"),
            Ok(vec![stage(30, 0.0, 1e3), stage(120, 1e3, 5e3), stage(30, 5e3, 0.0)])
        );
        assert_eq!(parse("1000@30s,5k/s@2m, 0 @ 30s"), parse("30s:1000,2m:5000,30s:0"));
        // A burst: a jump up, some time, a jump down.
        assert_eq!(
            parse("0s:100,10s:100,0s:900,2s:900,0s:100,10s:100"),
            Ok(vec![stage(10, 100.0, 100.0), stage(2, 900.0, 900.0), stage(10, 100.0, 100.0)])
        );
    }

    #[test]
    fn what_is_no_stage_or_has_no_effect_is_told() {
        for (text, says) in [
            ("", "`` is not a stage"),
            ("30s", "`30s` is not a stage; write stages like"),
            ("30:1000", "duration"),
            ("30s:fast", "`fast` is not a rate"),
            ("30s:-1", "`-1` is not a rate"),
            ("30s:1e9", "`1e9` is not a rate"),
            ("30s:NaN", "`NaN` is not a rate"),
            ("0s:5,0s:6,1s:6", "`0s:6` follows another jump"),
            ("1s:5,0s:6", "the last stage is a jump"),
            ("1s:0,1s:0", "no stage has a rate above 0"),
            ("1s:5,", "`` is not a stage"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_due_is_the_area_below_the_rate() {
        let stages = parse("10s:1000,0s:200,5s:200,5s:0").unwrap();
        assert_eq!(due_between(&stages, 0, 10 * S), 5_000.0);
        assert_eq!(due_between(&stages, 5 * S, 10 * S), 3_750.0);
        assert_eq!(due_between(&stages, 10 * S, 15 * S), 1_000.0);
        assert_eq!(due_between(&stages, 0, 60 * S), 6_500.0);
        assert_eq!(
            [0, 5, 12, 20, 21].map(|s| rate_at(&stages, s * S)),
            [0.0, 500.0, 200.0, 0.0, 0.0]
        );
        assert_eq!(length_ns(&stages), 20 * S);
    }

    #[test]
    fn words_say_where_the_rate_goes() {
        let words = |text| in_words(&parse(text).unwrap(), "requests");
        assert_eq!(
            words("30s:1000,2m:5000"),
            "from 0 to 1,000 requests/s within 30 s, then to 5,000 within 2 min"
        );
        assert_eq!(
            words("0s:100,9s:100,0s:900,1s:900"),
            "100 requests/s for 9 s, then 900 for 1 s"
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9smk:,. -]{0,24}") {
            let _ = parse(&text);
        }

        #[test]
        fn parts_of_the_time_add_up(
            rates in proptest::collection::vec(0.0..5_000.0, 1..6), cut in 0_u64..20,
        ) {
            let stages: Vec<Stage> = rates.iter().map(|to| stage(3, 100.0, *to)).collect();
            let (cut, end) = (cut * S, length_ns(&stages));
            let whole = due_between(&stages, 0, end);
            let parts = due_between(&stages, 0, cut) + due_between(&stages, cut, end.max(cut));
            prop_assert!((whole - parts).abs() < 1e-6 * whole.max(1.0), "{whole} {parts}");
        }
    }
}
