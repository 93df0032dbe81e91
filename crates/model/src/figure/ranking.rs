//! The figure by which targets are ranked.
use serde::{Deserialize, Serialize};

use super::{Better, Figure};
use crate::plan::profile::Profile;

/// The figure by which targets are ranked: goodput, or the response time if the schedule sets the
/// rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// Complete and right answers per second: closed loops, sweeps, capacity searches.
    #[default]
    Goodput,
    /// The response time that 99 % of all due requests kept, where a request without an answer is
    /// late: for open loops and devices, where every target that keeps up has the same goodput.
    ResponseP99,
}

impl RankedBy {
    /// The figure that ranks targets under such a load.
    #[must_use]
    pub const fn from_profile(profile: &Profile) -> Self {
        // A capacity search finds the rate; the schedule does not set it. Beyond its capacity, a
        // target decides how much it answers.
        if profile.schedule.sets_the_pace() && !profile.is_search() && !profile.is_overload() {
            Self::ResponseP99
        } else {
            Self::Goodput
        }
    }

    /// Its name in files: `goodput`, `response_p99`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::ResponseP99 => "response_p99",
        }
    }

    /// Whether a higher or a lower figure is better.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Self::Goodput => Better::More,
            Self::ResponseP99 => Better::Less,
        }
    }

    /// The figure of the register that is closest to it: for targets measured in rounds, it is
    /// taken within slices.
    #[must_use]
    pub const fn figure(self) -> Figure {
        match self {
            Self::Goodput => Figure::Goodput,
            Self::ResponseP99 => Figure::P99,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_name_is_the_same_in_every_file() {
        for criterion in [RankedBy::Goodput, RankedBy::ResponseP99] {
            assert_eq!(serde_json::to_value(criterion).unwrap(), criterion.name());
            assert_eq!(criterion.figure().better(), Some(criterion.better()));
        }
    }
}
