//! What a search looks for.
use serde::{Deserialize, Serialize};

use super::Profile;
use crate::schedule::Schedule;
use crate::text::units::{counted, format_count};
use crate::trial::Step;

/// What a search looks for the most of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Searched {
    /// Requests per second.
    #[default]
    Requests,
    /// Walks through a scenario, begun per second.
    Walks,
    /// Devices at the same time.
    Devices,
}

impl Searched {
    /// So many of it: `1,000 requests/s`, `12 walks/s`, `40 devices`.
    #[must_use]
    pub fn amount(self, number: f64) -> String {
        match self {
            Self::Requests => format!("{} requests/s", format_count(number)),
            Self::Walks => format!("{} walks/s", format_count(number)),
            Self::Devices => counted(number as u64, "device"),
        }
    }

    /// One number that is tried: `rate`, `number of devices`.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Requests | Self::Walks => "rate",
            Self::Devices => "number of devices",
        }
    }

    /// Whether only whole numbers make sense.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Devices)
    }

    /// The step at which so many are tried.
    #[must_use]
    pub fn step(self, number: f64) -> Step {
        match self {
            Self::Requests | Self::Walks => Step::Rate { per_s: number },
            Self::Devices => Step::Devices { count: number as u32 },
        }
    }
}

impl Profile {
    /// What a search with this profile looks for.
    #[must_use]
    pub const fn searched(&self) -> Searched {
        match (&self.schedule, self.walk_steps) {
            (Schedule::Devices { .. }, _) => Searched::Devices,
            (_, Some(_)) => Searched::Walks,
            (_, None) => Searched::Requests,
        }
    }

    /// Answers per second that so many of what is searched for bring, if all are right: a walk has
    /// as many as steps. `None` for devices, which have a number and no rate.
    #[must_use]
    pub fn answers_per_s(&self, number: f64) -> Option<f64> {
        let each = self.walk_steps.unwrap_or(1.0);
        (self.searched() != Searched::Devices).then_some(number * each)
    }

    /// The number with which a search begins.
    #[must_use]
    pub fn search_begins_at(&self) -> f64 {
        match self.schedule {
            Schedule::Devices { devices, .. } => devices.into(),
            _ => self.schedule.rate_per_s().unwrap_or(1.0),
        }
    }
}
