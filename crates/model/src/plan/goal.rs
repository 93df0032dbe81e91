//! When a run has measured enough: once its figures are known to a precision, or after a time.
use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::target::TargetId;
use crate::text::units::{format_length, parse_duration_ns, parse_percent};

/// Fewest repetitions of a run with a goal, however long they take. Two states that a target has by
/// chance of its start look like one as long as no start of the other state was seen.
pub const FEWEST_REPETITIONS: u32 = 5;
/// Most repetitions of a run with a goal.
pub const MOST_REPETITIONS: u32 = 200;
/// How long repetitions are begun if the goal names no time: an hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The finest precision that may be asked for, as a fraction: words have two decimals of a percent.
const FINEST: f64 = 1e-4;

/// When a run has measured enough. It then makes as many repetitions as that takes, from
/// [`FEWEST_REPETITIONS`] to [`MOST_REPETITIONS`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// How far the interval of each figure that ranks a target may reach, as a fraction of the figure:
    /// 0.02 for ±2 %. Of changes, how far that of each may reach, as a fraction of the base. `None` goes
    /// on until the time is over.
    pub within: Option<f64>,
    /// The time after which no further repetition is begun, in nanoseconds; `None` is
    /// [`LONGEST_NS`].
    pub longest_ns: Option<u64>,
    /// The changes that are to be known, where targets are compared with each other; empty if it is
    /// the figures by which they are ranked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Changed>,
}

/// A change from one target of a run to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The target with which it is compared.
    pub base: TargetId,
    /// The target.
    pub target: TargetId,
    /// What changes.
    pub figure: Figure,
}

impl Goal {
    /// Reads the keys `within` and `for` of a plan; `None` if it has neither.
    ///
    /// # Errors
    /// If one of them is not a value of its kind. The message begins with the key.
    pub fn of_keys(within: Option<&str>, length: Option<&str>) -> Result<Option<Self>, String> {
        let within = within.map(|text| parse_within(text).map_err(|error| at("within", error)));
        let longest_ns = length.map(|text| match parse_duration_ns(text) {
            Ok(0) => Err("for must be longer than 0".into()),
            Ok(ns) => Ok(ns),
            Err(error) => Err(at("for", error.to_string())),
        });
        Ok(Self::from_parts(within.transpose()?, longest_ns.transpose()?))
    }

    /// The goal of these parts; `None` if both are absent.
    #[must_use]
    pub fn from_parts(within: Option<f64>, longest_ns: Option<u64>) -> Option<Self> {
        (within.is_some() || longest_ns.is_some()).then_some(Self {
            within,
            longest_ns,
            changes: Vec::new(),
        })
    }

    /// This goal, and what another one says where this one is silent.
    #[must_use]
    pub fn or(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or_default();
        Self {
            within: self.within.or(other.within),
            longest_ns: self.longest_ns.or(other.longest_ns),
            ..self
        }
    }

    /// The time after which no further repetition is begun, in nanoseconds.
    #[must_use]
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns.unwrap_or(LONGEST_NS)
    }

    /// What the command line asked for, in the words of the report.
    #[must_use]
    pub fn words(&self) -> String {
        let within = self.within.map(|within| {
            format!("as many repetitions as it takes for ±{} (--within)", percent(within))
        });
        let time =
            self.longest_ns.map(|ns| format!("none begun after {} (--for)", format_length(ns)));
        match (within, time) {
            (None, Some(time)) => format!("as many repetitions as fit, {time}"),
            (within, time) => within.into_iter().chain(time).collect::<Vec<_>>().join(", "),
        }
    }
}

fn at(key: &str, error: String) -> String {
    format!("{key}: {error}")
}

/// Reads how far an interval may reach to either side: `"2%"`.
///
/// # Errors
/// If it is not a percentage, below 0.01 %, or 50 % and more, which says nothing of a figure.
pub fn parse_within(text: &str) -> Result<f64, String> {
    let fraction = parse_percent(text).map_err(|error| error.to_string())?;
    if (FINEST..0.5).contains(&fraction) {
        Ok(fraction)
    } else {
        Err(format!("`{text}` must be at least 0.01 % and below 50 %; write it like \"2%\""))
    }
}

/// A fraction in percent with as many digits as a person would write: `2 %`, `0.5 %`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let hundredths = (fraction * 1e4).round() / 100.0;
    format!("{hundredths} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_give_a_goal_or_say_what_is_wrong() {
        assert_eq!(Goal::of_keys(None, None), Ok(None));
        let goal = Goal::of_keys(Some("2%"), Some("10m")).unwrap().unwrap();
        assert_eq!((goal.within, goal.longest_ns()), (Some(0.02), 600_000_000_000));
        let alone = Goal::of_keys(None, Some("30s")).unwrap().unwrap();
        assert_eq!((alone.within, alone.longest_ns()), (None, 30_000_000_000));
        assert_eq!(Goal::of_keys(Some("2%"), None).unwrap().unwrap().longest_ns(), LONGEST_NS);
        for (within, length, message) in [
            (Some("2"), None, "within: `2` is not a percentage"),
            (Some("0%"), None, "within: `0%` must be at least 0.01 %"),
            (Some("50%"), None, "within: `50%` must be at least 0.01 % and below 50 %"),
            (None, Some("10"), "for: `10` is not a duration"),
            (None, Some("0s"), "for must be longer than 0"),
        ] {
            let error = Goal::of_keys(within, length).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn a_goal_of_the_command_line_keeps_what_it_does_not_name() {
        let written = Goal::from_parts(Some(0.02), Some(9));
        let asked = Goal::from_parts(None, Some(5)).unwrap();
        assert_eq!(Some(asked.clone().or(written)), Goal::from_parts(Some(0.02), Some(5)));
        assert_eq!(asked.clone().or(None), asked);
    }

    #[test]
    fn words_say_what_was_asked_for() {
        let minutes = 600_000_000_000;
        let both = Goal::from_parts(Some(0.02), Some(minutes)).unwrap();
        assert_eq!(
            both.words(),
            "as many repetitions as it takes for ±2 % (--within), none begun after 10 min (--for)"
        );
        let time = Goal::from_parts(None, Some(minutes)).unwrap();
        assert_eq!(time.words(), "as many repetitions as fit, none begun after 10 min (--for)");
        assert_eq!((percent(0.005), percent(0.0333)), ("0.5 %".into(), "3.33 %".into()));
    }
}
