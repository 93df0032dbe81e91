//! How calm the host was in a run.
use pippin_model::trial::TrialRecord;
use pippin_stats::calm::{self, Calmness};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::words;

/// How calm the host was while slices were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calm {
    /// Slices that were measured.
    pub slices: u64,
    /// Slices that the host did not disturb.
    pub calm: u64,
    /// Slices on which the figures rest.
    pub used: u64,
    /// Of these, slices that were disturbed: there were too few calm ones.
    pub used_disturbed: u64,
    /// How many slices were disturbed by what: `steal`, `foreign`, `waiting`.
    pub disturbed_by: BTreeMap<String, u64>,
    /// What the hypervisor took of the roles' processors, as a share over all slices.
    pub steal: Option<f64>,
    /// What processes without a part in the measurement used of them.
    pub foreign: Option<f64>,
}

impl Calm {
    /// Of all trials of a run; `None` if none of them was measured in slices.
    #[must_use]
    pub fn of(trials: &[TrialRecord]) -> Option<Self> {
        let Calmness { slices, calm, used, used_disturbed, steal, foreign } = Calmness::of(trials)?;
        let disturbed_by = calm::counts(trials.iter().flat_map(|trial| &trial.slices))
            .into_iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect();
        Some(Self { slices, calm, used, used_disturbed, disturbed_by, steal, foreign })
    }

    /// In one line: `71 of 96 slices calm; steal 3.2 %, other processes 0.4 %`.
    #[must_use]
    pub fn line(&self) -> String {
        let share = |name: &str, share: Option<f64>| {
            format!("{name} {}", share.map_or_else(|| words::UNKNOWN.into(), words::percent))
        };
        let mut line = format!(
            "{} of {} slices calm; {}, {}",
            self.calm,
            self.slices,
            share("steal", self.steal),
            share("other processes", self.foreign)
        );
        if self.used_disturbed > 0 {
            line.push_str(&format!(
                "; too few were calm: {} of the {} slices that the figures rest on were disturbed",
                self.used_disturbed, self.used
            ));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_one_line() {
        let calm = Calm {
            slices: 96,
            calm: 71,
            used: 71,
            used_disturbed: 0,
            disturbed_by: BTreeMap::from([("steal".into(), 25)]),
            steal: Some(0.032),
            foreign: None,
        };
        assert_eq!(calm.line(), "71 of 96 slices calm; steal 3.2 %, other processes –");
        let noisy = Calm { calm: 3, used: 12, used_disturbed: 9, foreign: Some(0.0), ..calm };
        assert_eq!(
            noisy.line(),
            "3 of 96 slices calm; steal 3.2 %, other processes 0 %; too few were calm: 9 of the 12 slices that the figures rest on were disturbed"
        );
    }
}
