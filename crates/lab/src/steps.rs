//! The steps of a profile, one after the other: known beforehand, or found by a search.
use pippin_model::objective::Objective;
use pippin_model::profile::{Profile, Steps as Points};
use pippin_model::trial::{Step, TrialRecord};
use pippin_stats::capacity::Search;
use pippin_stats::objective;

/// The steps that are still to be made.
pub enum Steps {
    /// Known beforehand; `None` is the profile as it is.
    Known(std::vec::IntoIter<Option<Step>>),
    /// Rates that a search chooses.
    Search {
        /// Where the search is.
        search: Search,
        /// What a rate must hold.
        objective: Objective,
    },
}

impl Steps {
    /// All steps of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let known = match &profile.steps {
            Points::One => vec![None],
            Points::Connections(list) => {
                list.iter().map(|&count| Some(Step::Connections { count })).collect()
            }
            Points::Search { objective, precision } => {
                let start = profile.schedule.rate_per_s().unwrap_or(1.0);
                return Self::Search {
                    search: Search::new(start, *precision),
                    objective: objective.clone(),
                };
            }
        };
        Self::Known(known.into_iter())
    }

    /// How many there are; 1 for a search, whose number nobody knows beforehand.
    #[must_use]
    pub fn number(profile: &Profile) -> usize {
        match &profile.steps {
            Points::One | Points::Search { .. } => 1,
            Points::Connections(list) => list.len(),
        }
    }

    /// Takes note of how a step came out; whether its rate kept the objective, in a search.
    pub fn observe(&mut self, record: &TrialRecord) -> Option<bool> {
        let Self::Search { search, objective } = self else { return None };
        let (Some(Step::Rate { per_s }), Some(load)) = (record.spec.step, &record.load) else {
            return None;
        };
        let held = objective::misses(objective, &load.measured).is_empty();
        search.observe(per_s, held);
        Some(held)
    }
}

impl Iterator for Steps {
    /// `None` is the profile as it is.
    type Item = Option<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Known(steps) => steps.next(),
            Self::Search { search, .. } => search.next().map(|per_s| Some(Step::Rate { per_s })),
        }
    }
}
