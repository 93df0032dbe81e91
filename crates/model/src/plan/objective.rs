//! The condition of a capacity search: `"p99 < 50ms, errors < 0.1%"`.
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::text::units::{UnitError, format_ns, parse_duration_ns, parse_percent};

/// One limit on the response time or on the errors.
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

/// All limits. They must hold together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Objective(pub Vec<Bound>);

/// The limit on errors in an objective that names none.
const ERRORS_BELOW: f64 = 0.01;

impl Objective {
    /// Reads limits separated by commas: `p50`, `p99.9`, `max` with a duration, `errors` with a
    /// percentage. An objective that says nothing of errors has `errors < 1%`.
    ///
    /// # Errors
    /// If a part is not such a limit, there is none, or one can never hold.
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
        // The operator is "below", so a limit of 0 can never hold.
        let never_holds = |bound: &Bound| match bound {
            Bound::ResponseTime { below_ns, .. } => *below_ns == 0,
            Bound::Errors { below } => *below <= 0.0,
        };
        if bounds.iter().any(never_holds) {
            return Err(ObjectiveError::NeverHolds(text.into()));
        }
        // Refusing requests quickly is no capacity.
        if !bounds.iter().any(|bound| matches!(bound, Bound::Errors { .. })) {
            bounds.push(Bound::Errors { below: ERRORS_BELOW });
        }
        Ok(Self(bounds))
    }
}

/// In steps of this length, the windows show whether a queue grows, whatever the limits are.
const LONG_ENOUGH_NS: u64 = 4_000_000_000;
/// Shorter steps must be this many times as long as the shortest limit on the response time.
const TIMES_BOUND: u64 = 20;

impl Objective {
    /// The shortest step that can detect a rate that is 5 % too high, in nanoseconds. At such a
    /// rate each second adds 50 ms to the queue, so a short step may end before a limit is reached.
    #[must_use]
    pub fn shortest_step_ns(&self) -> u64 {
        let bounds = self.0.iter().filter_map(|bound| match bound {
            Bound::ResponseTime { below_ns, .. } => Some(*below_ns),
            Bound::Errors { .. } => None,
        });
        bounds.min().map_or(LONG_ENOUGH_NS, |ns| ns.saturating_mul(TIMES_BOUND)).min(LONG_ENOUGH_NS)
    }

    /// # Errors
    /// If steps of this length are too short for the objective.
    pub fn fits_steps_of(&self, step_ns: u64) -> Result<(), String> {
        let shortest = self.shortest_step_ns();
        if step_ns >= shortest {
            return Ok(());
        }
        Err(format!(
            "steps of {} are too short for `{self}`: a rate that is more than 5 % too high could pass; make them {} or longer",
            format_ns(step_ns),
            format_ns(shortest)
        ))
    }
}

/// A text that is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// It cannot be read.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A limit is 0.
    #[error("`{0}` can never hold, because nothing is below 0; name a limit above it")]
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
    fn a_step_must_be_long_enough_for_a_queue_to_reach_a_bound() {
        let shortest = |text: &str| Objective::parse(text).unwrap().shortest_step_ns();
        assert_eq!(shortest("p99 < 50ms, errors < 0.1%"), 1_000_000_000);
        assert_eq!(
            shortest("p50 < 10ms, p99 < 1s"),
            200_000_000,
            "the first bound is the first to be reached"
        );
        assert_eq!(shortest("p99 < 1s"), 4_000_000_000);
        assert_eq!(shortest("errors < 0.1%"), 4_000_000_000);
        let error = Objective::parse("p99 < 1s").unwrap().fits_steps_of(500_000_000).unwrap_err();
        assert!(error.contains("make them 4.00 s or longer"), "{error}");
    }

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
