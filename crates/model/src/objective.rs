//! What a capacity search must hold: `"p99 < 50ms, errors < 0.1%"`.
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::units::{UnitError, format_ns, parse_duration_ns, parse_percent};

/// One bound on the response time or on the errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Bound {
    /// The quantile (0 to 1) of the response time must stay below `below_ns`.
    ResponseTime {
        /// The quantile, 0.99 for p99; 1.0 for the maximum.
        quantile: f64,
        /// The limit in nanoseconds.
        below_ns: u64,
    },
    /// The fraction of requests that failed or were answered wrongly must stay below this.
    Errors {
        /// The limit as a fraction.
        below: f64,
    },
}

/// All bounds, which must hold together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Objective(pub Vec<Bound>);

impl Objective {
    /// Reads bounds separated by commas: `p50`, `p99.9`, `max` with a duration, `errors` with a
    /// percentage.
    ///
    /// # Errors
    /// If a part is not such a bound, there is none, or one can never hold.
    pub fn parse(text: &str) -> Result<Self, ObjectiveError> {
        let error = || UnitError {
            text: text.into(),
            expected: "an objective",
            example: "\"p99 < 50ms, errors < 0.1%\"",
        };
        let mut bounds = Vec::new();
        for part in text.split(',') {
            let (what, limit) = part.split_once('<').ok_or_else(error)?;
            bounds.push(match what.trim() {
                "errors" => Bound::Errors { below: parse_percent(limit).map_err(|_| error())? },
                "max" => Bound::ResponseTime {
                    quantile: 1.0,
                    below_ns: parse_duration_ns(limit).map_err(|_| error())?,
                },
                what => {
                    let percent: f64 = what
                        .strip_prefix('p')
                        .and_then(|p| p.parse().ok())
                        .filter(|p| (0.0..=100.0).contains(p))
                        .ok_or_else(error)?;
                    Bound::ResponseTime {
                        quantile: percent / 100.0,
                        below_ns: parse_duration_ns(limit).map_err(|_| error())?,
                    }
                }
            });
        }
        // Bounds are below, not at or below, so that nothing is below 0.
        let never_holds = |bound: &Bound| match bound {
            Bound::ResponseTime { below_ns, .. } => *below_ns == 0,
            Bound::Errors { below } => *below <= 0.0,
        };
        if bounds.iter().any(never_holds) {
            return Err(ObjectiveError::NeverHolds(text.into()));
        }
        Ok(Self(bounds))
    }
}

/// A text that is no objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// It cannot be read.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A bound is 0.
    #[error("`{0}` can never hold, as nothing is below 0; name a limit above it")]
    NeverHolds(String),
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|bound| match bound {
                Bound::ResponseTime { quantile, below_ns } if *quantile >= 1.0 => {
                    format!("max < {}", format_ns(*below_ns))
                }
                Bound::ResponseTime { quantile, below_ns } => {
                    format!("p{} < {}", (quantile * 1e6).round() / 1e4, format_ns(*below_ns))
                }
                Bound::Errors { below } => format!("errors < {}%", (below * 1e6).round() / 1e4),
            })
            .collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_read_and_print() {
        let objective = Objective::parse("p99<50ms, errors < 0.1%").unwrap();
        assert_eq!(
            objective.0,
            [
                Bound::ResponseTime { quantile: 0.99, below_ns: 50_000_000 },
                Bound::Errors { below: 0.001 }
            ]
        );
        assert_eq!(objective.to_string(), "p99 < 50.0 ms, errors < 0.1%");
        for text in ["", "p99", "p101 < 1ms", "errors < 5", "q < 1ms"] {
            assert!(Objective::parse(text).is_err(), "{text}");
        }
    }
}
