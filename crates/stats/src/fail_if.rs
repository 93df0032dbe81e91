//! `--fail-if "goodput < -5%"`: the change at which a comparison fails.
use pippin_model::units::parse_percent;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::compare::{Change, Metric};

/// A bound on the relative change of a metric, from A to B.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FailIf {
    /// What is bounded.
    pub metric: Metric,
    /// Whether it fails above the limit; otherwise it fails below.
    pub above: bool,
    /// The relative change: -0.05 for `-5%`.
    pub limit: f64,
}

/// An error: the text is not such a bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a bound: {problem}; write it like \"goodput < -5%\" or \"p99 > 10%\"")]
pub struct FailIfError {
    /// What was read.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

/// How a change compares with a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Within the bound.
    Held,
    /// Past the bound, but the interval includes "no change": it may be chance.
    NotSignificant,
    /// Past the bound, and either significant or without an interval.
    Failed,
    /// The metric is unknown on a side.
    Unknown,
}

impl FromStr for FailIf {
    type Err = FailIfError;

    fn from_str(text: &str) -> Result<Self, FailIfError> {
        let error = |problem: String| FailIfError { text: text.into(), problem };
        let (name, rest, above) = match (text.split_once('<'), text.split_once('>')) {
            (Some((name, rest)), None) => (name, rest, false),
            (None, Some((name, rest))) => (name, rest, true),
            _ => return Err(error("it needs one `<` or `>`".into())),
        };
        let name = name.trim();
        let known = || Metric::ALL.map(Metric::name).join(", ");
        let metric = Metric::ALL
            .into_iter()
            .find(|metric| metric.name() == name)
            .ok_or_else(|| error(format!("`{name}` is none of {}", known())))?;
        let rest = rest.trim();
        let (sign, size) = match rest.strip_prefix('-') {
            Some(size) => (-1.0, size),
            None => (1.0, rest.strip_prefix('+').unwrap_or(rest)),
        };
        let size = parse_percent(size).map_err(|problem| error(problem.to_string()))?;
        Ok(Self { metric, above, limit: sign * size })
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {}%",
            self.metric.name(),
            if self.above { '>' } else { '<' },
            (self.limit * 1e6).round() / 1e4
        )
    }
}

impl FailIf {
    /// How a change of this bound's metric compares with it.
    #[must_use]
    pub fn standing(&self, change: &Change) -> Standing {
        let Some(relative) = change.relative() else { return Standing::Unknown };
        let is_past = if self.above { relative > self.limit } else { relative < self.limit };
        match (is_past, change.ratio) {
            (false, _) => Standing::Held,
            (true, Some(ratio)) if !ratio.is_significant() => Standing::NotSignificant,
            (true, _) => Standing::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::Basis;
    use crate::interval::Interval;
    use crate::ratio::Ratio;

    #[test]
    fn bounds_read_and_print() {
        for (text, metric, above, limit) in [
            ("goodput < -5%", Metric::Goodput, false, -0.05),
            ("p99 > 10%", Metric::P99, true, 0.1),
            ("memory>+2.5%", Metric::Memory, true, 0.025),
        ] {
            assert_eq!(text.parse(), Ok(FailIf { metric, above, limit }));
        }
        assert_eq!("goodput<-5%".parse::<FailIf>().unwrap().to_string(), "goodput < -5%");
        for (text, problem) in [
            ("goodput", "one `<` or `>`"),
            ("speed < -5%", "none of goodput"),
            ("p99 > 10", "percentage"),
            ("p99 > < 3%", "one `<`"),
        ] {
            let error = text.parse::<FailIf>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_bound_fails_only_on_what_is_not_chance() {
        let bound: FailIf = "goodput < -5%".parse().unwrap();
        let change = |b: f64, half: f64| {
            let interval =
                Interval { low: b / 100.0 - half, high: b / 100.0 + half, basis: Basis::Trials };
            Change {
                metric: Metric::Goodput,
                a: Some(100.0),
                b: Some(b),
                ratio: Some(Ratio { value: b / 100.0, interval }),
            }
        };
        assert_eq!(bound.standing(&change(94.0, 0.02)), Standing::Failed);
        assert_eq!(bound.standing(&change(96.0, 0.02)), Standing::Held);
        assert_eq!(bound.standing(&change(94.0, 0.09)), Standing::NotSignificant);
        assert_eq!(bound.standing(&Change { ratio: None, ..change(94.0, 0.0) }), Standing::Failed);
        assert_eq!(bound.standing(&Change { a: None, ..change(94.0, 0.0) }), Standing::Unknown);
    }
}
