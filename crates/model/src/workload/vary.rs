//! The values that vary from request to request.
use serde::{Deserialize, Serialize};

use super::MOST_SAMPLES;
use crate::workload::draw::Draw;

/// The values of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected `values = [\"a\", \"b\"]`, whole numbers as `from` and `to`, or `names = 40`"
)]
pub enum Vary {
    /// Random names from the trial's seed; percent-encoded in a path.
    Names {
        /// The maximum number of characters of a name.
        names: u32,
        /// Texts that are used before them.
        #[serde(default)]
        values: Vec<String>,
        /// Whether each has markup in it: a tag, an entity or a quote.
        #[serde(default)]
        markup: bool,
    },
    /// These texts in turn; percent-encoded in a path.
    Values {
        /// The texts.
        values: Vec<String>,
    },
    /// These numbers in turn, both ends included. If they are more than [`MOST_SAMPLES`], they are
    /// random, from the trial's seed.
    Range {
        /// The first.
        from: u32,
        /// The last.
        to: u32,
    },
}

impl Vary {
    /// The number of different values; `None` if they are random.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Names { .. } => None,
            Self::Values { values } => Some(values.len() as u64),
            Self::Range { from, to } => {
                let count = (u64::from(*to) + 1).saturating_sub(u64::from(*from));
                (count <= MOST_SAMPLES).then_some(count)
            }
        }
    }

    /// Whether every value is a whole number.
    pub(super) fn is_of_numbers(&self) -> bool {
        let is_number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Names { .. } => false,
            Self::Values { values } => values.iter().all(is_number),
            Self::Range { .. } => true,
        }
    }

    /// The value of the nth request.
    pub(super) fn drawn(&self, nth: usize, draw: &mut Draw) -> String {
        match self {
            Self::Names { names, values, markup } => {
                let name = || if *markup { draw.marked(*names) } else { draw.name(*names) };
                values.get(nth).cloned().unwrap_or_else(name)
            }
            Self::Values { values } => values[nth % values.len()].clone(),
            Self::Range { from, to } => {
                (u64::from(*from) + draw.below(u64::from(to - from) + 1)).to_string()
            }
        }
    }
}
