//! Gates: conditions on measured figures, `fail_if = ["p99 > 50ms"]` or `require = ["p99 < 50ms"]`.
//!
//! ```text
//! condition = figure operator limit [ "vs" base ]
//! operator  = "<" | "<=" | ">" | ">="
//! limit     = time | size | rate | count      a value, in the figure's unit
//!           | percentage                      with "vs": a change against the base;
//!                                             without: of errors, answers and requests a share of
//!                                             the requests, of other figures a change against A of
//!                                             `pippin compare`
//! base      = a target of the same run, a stored run, or a revision of the own repository
//! ```
//! docs/gates.md lists the figures. Limits that a figure can never pass, or never miss, are refused.
mod reach;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::figure::{Figure, Unit};
use crate::text::units::{parse_bytes, parse_duration_ns};

/// A condition, and whether it must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The condition.
    pub condition: Condition,
    /// Whether the condition must hold; otherwise it must not.
    pub must_hold: bool,
}

impl Gate {
    /// Whether it is about instructions, which are counted only where somebody asks for them.
    #[must_use]
    pub fn is_on_instructions(&self) -> bool {
        self.condition.figure == Figure::Instructions
    }

    /// A gate that fails if the condition holds: `--fail-if`.
    ///
    /// # Errors
    /// If the text is not a condition.
    pub fn fail_if(text: &str) -> Result<Self, GateError> {
        Ok(Self { condition: text.parse()?, must_hold: false })
    }

    /// A gate that fails if the condition does not hold: `--require`.
    ///
    /// # Errors
    /// If the text is not a condition.
    pub fn require(text: &str) -> Result<Self, GateError> {
        Ok(Self { condition: text.parse()?, must_hold: true })
    }

    /// Whether a figure of this value passes the gate. `limit` is in the same unit.
    #[must_use]
    pub fn keeps(&self, value: f64, limit: f64) -> bool {
        self.condition.operator.holds(value, limit) == self.must_hold
    }

    /// Whether lower figures pass, and not higher ones.
    #[must_use]
    pub const fn lower_passes(&self) -> bool {
        let upwards = matches!(self.condition.operator, Operator::More | Operator::AtLeast);
        upwards != self.must_hold
    }
}

/// What a gate does that could not be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// It ends the command with an exit code of its own.
    #[default]
    Fail,
    /// It is only said.
    Warn,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.must_hold { "require" } else { "fail if" }, self.condition)
    }
}

/// A comparison of a figure with a limit. It is stored as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    /// The original text.
    pub text: String,
    /// The figure.
    pub figure: Figure,
    /// The operator.
    pub operator: Operator,
    /// The limit.
    pub limit: Limit,
    /// The base of a change; `None` if the limit is not a change, or if the command has its own
    /// base (`pippin compare`).
    pub base: Option<String>,
}

/// How a figure is compared with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Less than.
    Less,
    /// At most.
    AtMost,
    /// More than.
    More,
    /// At least.
    AtLeast,
}

/// Longer spellings first, because `<=` begins with `<`.
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::More),
];

impl Operator {
    /// Whether it holds between a figure and a limit.
    #[must_use]
    pub fn holds(self, figure: f64, limit: f64) -> bool {
        match self {
            Self::Less => figure < limit,
            Self::AtMost => figure <= limit,
            Self::More => figure > limit,
            Self::AtLeast => figure >= limit,
        }
    }
}

/// The limit of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A value in the figure's own unit: nanoseconds, bytes, per second, or a count.
    Value(f64),
    /// A share of the requests, as a fraction.
    Share(f64),
    /// A relative change against the base: -0.05 for `-5%`.
    Change(f64),
}

/// A text that is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a condition: {problem}")]
pub struct GateError {
    /// The text.
    pub text: String,
    /// The problem, and a right spelling.
    pub problem: String,
}

impl FromStr for Condition {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        read(text).map_err(|problem| GateError { text: text.into(), problem })
    }
}

fn read(text: &str) -> Result<Condition, String> {
    let example = "write it like \"p99 > 50ms\", \"errors > 0.1%\" or \"goodput < -5% vs main\"";
    let (at, (sign, operator)) = OPERATORS
        .iter()
        .filter_map(|entry| Some((text.find(entry.0)?, entry)))
        .min_by_key(|(at, _)| *at)
        .ok_or_else(|| format!("it needs one of `<`, `<=`, `>`, `>=`; {example}"))?;
    let (name, rest) = (text[..at].trim(), &text[at + sign.len()..]);
    if rest.contains(['<', '>']) {
        return Err(format!("it has two signs of comparison; {example}"));
    }
    let figure = Figure::named(name)?;
    let (limit, base) = match rest.split_once(" vs ") {
        Some((limit, base)) if !base.trim().is_empty() => (limit, Some(base.trim().to_string())),
        Some(_) => return Err("`vs` names nothing; give a target or a run".into()),
        None => (rest, None),
    };
    let limit = limit.trim();
    let limit = match (limit.strip_suffix('%'), &base) {
        (Some(share), None) if figure.can_be_share() => Limit::Share(percent(share)?),
        (Some(change), _) => Limit::Change(percent(change)?),
        (None, Some(_)) => {
            return Err(format!(
                "a limit with `vs` is a change in percent, and `{limit}` is not one"
            ));
        }
        (None, None) => Limit::Value(value(limit, figure.unit())?),
    };
    reach::check(figure, *operator, limit)?;
    Ok(Condition { text: text.trim().into(), figure, operator: *operator, limit, base })
}

/// A percentage with a sign, as a fraction. `parse_percent` does not accept signs.
fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    let number = number.filter(|number| number.is_finite() && number.abs() < 1e6);
    number.map(|number| number / 100.0).ok_or_else(|| format!("`{text}%` is not a percentage"))
}

fn value(text: &str, unit: Unit) -> Result<f64, String> {
    let plain = |text: &str| {
        let number: Option<f64> = text.trim().replace('_', "").parse().ok();
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    match unit {
        Unit::Time => parse_duration_ns(text).map(|ns| ns as f64).map_err(|e| e.to_string()),
        Unit::Bytes => parse_bytes(text).map(|bytes| bytes as f64).map_err(|e| e.to_string()),
        Unit::PerSecond => plain(text.strip_suffix("/s").unwrap_or(text))
            .ok_or_else(|| format!("`{text}` is not a rate; write it like \"1000/s\" or \"-5%\"")),
        Unit::Count | Unit::Cores | Unit::Joules => plain(text)
            .ok_or_else(|| format!("`{text}` is not a number; write it like \"0\" or \"0.1%\"")),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.text
    }
}

impl TryFrom<String> for Condition {
    type Error = GateError;

    fn try_from(text: String) -> Result<Self, GateError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Codes, Point, Span};
    use crate::result::ErrorKind;
    use proptest::prelude::*;

    fn condition(text: &str) -> Condition {
        text.parse().unwrap()
    }

    #[test]
    fn conditions_are_read() {
        let span = |q| Figure::Span(Span::ResponseTime, Point::Quantile(q));
        for (text, figure, operator, limit) in [
            ("p99>50ms", span(0.99), Operator::More, Limit::Value(50e6)),
            ("p99.9 <= 1s", span(99.9 / 100.0), Operator::AtMost, Limit::Value(1e9)),
            (
                "service_time.max > 2s",
                Figure::Span(Span::ServiceTime, Point::Max),
                Operator::More,
                Limit::Value(2e9),
            ),
            ("errors > 0.1%", Figure::Errors, Operator::More, Limit::Share(0.001)),
            (
                "errors.timeout > 0",
                Figure::ErrorsOf(ErrorKind::Timeout),
                Operator::More,
                Limit::Value(0.0),
            ),
            (
                "status.5xx >= 1",
                Figure::Status(Codes::class(5)),
                Operator::AtLeast,
                Limit::Value(1.0),
            ),
            ("goodput < 1000/s", Figure::Goodput, Operator::Less, Limit::Value(1_000.0)),
            ("cpu > 10%", Figure::Cpu, Operator::More, Limit::Change(0.1)),
            ("memory > 1MiB", Figure::Memory, Operator::More, Limit::Value(1_048_576.0)),
        ] {
            let read = condition(text);
            assert_eq!((read.figure, read.operator, read.limit), (figure, operator, limit));
            assert_eq!((read.base.clone(), read.to_string()), (None, text.to_string()));
        }
        let change = condition("goodput < -5% vs main");
        assert_eq!((change.limit, change.base), (Limit::Change(-0.05), Some("main".into())));
        assert_eq!(condition("errors > 10% vs main").limit, Limit::Change(0.1));
    }

    #[test]
    fn what_is_no_condition_is_told_with_what_would_be() {
        for (text, problem) in [
            ("p99", "needs one of"),
            ("p99 > < 3ms", "two signs"),
            ("speed < 3", "no figure `speed`"),
            ("p999 < 3ms", "between 0 and 100"),
            ("p99 > 50", "duration"),
            ("goodput < 5ms", "not a rate"),
            ("errors > x%", "not a percentage"),
            ("p99 > 5ms vs main", "a change in percent"),
            ("p99 > 5% vs ", "names nothing"),
            ("errors.tiemout > 0", "did you mean `timeout`"),
            ("service.p99 > 1ms", "service_time"),
        ] {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn both_senses_say_what_must_be() {
        assert_eq!(Gate::fail_if("p99 > 1ms").unwrap().to_string(), "fail if p99 > 1ms");
        assert_eq!(Gate::require("p99 < 1ms").unwrap().to_string(), "require p99 < 1ms");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Condition>();
        }

        #[test]
        fn percentages_come_back(change in -9_000i32..9_000) {
            let text = format!("p99 > {}%", f64::from(change) / 100.0);
            let Limit::Change(found) = condition(&text).limit else { panic!("{text}") };
            prop_assert!((found - f64::from(change) / 10_000.0).abs() < 1e-9);
        }
    }
}
