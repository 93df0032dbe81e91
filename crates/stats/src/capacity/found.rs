//! The capacity searches of one target, one for each repetition, from its trials.
use pippin_model::plan::profile::{Profile, Steps};
use pippin_model::trial::{Step, TrialRecord};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{Outcome, Search, StepOutcome};
use crate::interval::bootstrap::Sample;
use crate::summary::{Estimate, estimate};

/// All searches of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// One for each repetition, in their order.
    pub searches: Vec<Searched>,
    /// The capacity over the repetitions, requests per second. `None` if any search did not confirm
    /// a rate, because the others alone would look more certain than they are. One repetition has
    /// no interval.
    pub rate_per_s: Option<Estimate>,
}

/// The search of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Counted from 1.
    pub repetition: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Steps made.
    pub steps: u32,
}

impl Capacity {
    /// The searches of one target, from its trials in the order in which they were made. `None` if
    /// they are not a search, or none has a result.
    ///
    /// The search is deterministic, so its trials are enough to know how it ended.
    pub fn of<R: Rng + ?Sized>(trials: &[&TrialRecord], rng: &mut R) -> Option<Self> {
        let searches = searches(trials);
        if searches.is_empty() {
            return None;
        }
        let rates: Option<Vec<Sample>> = searches
            .iter()
            .map(|search| search.outcome.confirmed_per_s().map(Sample::alone))
            .collect();
        Some(Self { rate_per_s: rates.and_then(|rates| estimate(&rates, rng)), searches })
    }

    /// The capacities of the repetitions, if all are confirmed.
    #[must_use]
    pub fn samples(&self) -> Vec<Sample> {
        let rates = self.searches.iter().map(|search| search.outcome.confirmed_per_s());
        rates.map(|rate| rate.map(Sample::alone)).collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether a search ended without a rate that certainly keeps the objective.
    #[must_use]
    pub fn has_missed_objective(&self) -> bool {
        self.searches.iter().any(|search| {
            matches!(search.outcome, Outcome::NeverHeld { .. } | Outcome::Unsettled { .. })
        })
    }

    /// Whether a search is INVALID.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.searches.iter().any(|search| matches!(search.outcome, Outcome::Invalid { .. }))
    }
}

/// The search of every repetition, from the trials of one target.
#[must_use]
pub fn searches(trials: &[&TrialRecord]) -> Vec<Searched> {
    let mut repetitions: Vec<u32> = trials.iter().map(|trial| trial.spec.repetition).collect();
    repetitions.dedup();
    repetitions
        .into_iter()
        .filter_map(|repetition| {
            let of = trials.iter().filter(|trial| trial.spec.repetition == repetition);
            searched(repetition, of.copied())
        })
        .collect()
}

fn searched<'a>(
    repetition: u32,
    trials: impl Iterator<Item = &'a TrialRecord>,
) -> Option<Searched> {
    let mut search: Option<Search> = None;
    for trial in trials {
        let (Some(Step::Rate { per_s }), Some(seen)) = (trial.spec.step, StepOutcome::of(trial))
        else {
            continue;
        };
        let Profile { schedule, steps: Steps::Search { precision, .. }, .. } = &trial.spec.profile
        else {
            continue;
        };
        search
            .get_or_insert_with(|| Search::new(schedule.rate_per_s().unwrap_or(per_s), *precision))
            .observe(per_s, seen);
    }
    let search = search?;
    Some(Searched { repetition: repetition + 1, outcome: search.outcome(), steps: search.steps() })
}

/// The trials behind the figures of a search: for each repetition, the last trial at the rate of
/// its outcome that held.
#[must_use]
pub fn confirming<'a>(trials: &[&'a TrialRecord]) -> Vec<&'a TrialRecord> {
    let of = |searched: &Searched| {
        let rate = match searched.outcome {
            Outcome::Found { rate_per_s, .. } => rate_per_s,
            Outcome::AlwaysHeld { tried_per_s } => tried_per_s,
            Outcome::Unsettled { held_per_s, .. }
            | Outcome::Invalid { held_per_s, .. }
            | Outcome::Unfinished { held_per_s, .. } => held_per_s?,
            Outcome::NeverHeld { .. } => return None,
        };
        trials.iter().rev().copied().find(|trial| {
            trial.spec.repetition + 1 == searched.repetition
                && trial.spec.step == Some(Step::Rate { per_s: rate })
                && StepOutcome::of(trial) == Some(StepOutcome::Held)
        })
    };
    searches(trials).iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::ExampleTrial;

    /// The steps of a search on a target that can keep this many requests/s.
    fn made(capacity: f64, repetition: u32) -> Vec<TrialRecord> {
        let mut search = Search::new(100.0, 0.02);
        let mut records = Vec::new();
        while let Some(rate) = search.next() {
            let ms = if rate <= capacity { 1.0 } else { 90.0 };
            let record =
                ExampleTrial::search_step(rate).response_ms(ms).repetition(repetition).build();
            search.observe(rate, StepOutcome::of(&record).unwrap());
            records.push(record);
        }
        records
    }

    #[test]
    fn the_trials_of_a_search_tell_how_it_ended() {
        let records: Vec<TrialRecord> = (0u32..3)
            .flat_map(|repetition| made(1_000.0 + 20.0 * f64::from(repetition), repetition))
            .collect();
        let trials: Vec<&TrialRecord> = records.iter().collect();
        let found = Capacity::of(&trials, &mut Noise::new(1).0).unwrap();
        assert_eq!(found.searches.len(), 3);
        let rate = found.rate_per_s.unwrap();
        assert!((990.0..=1_020.0).contains(&rate.median) && rate.interval.is_some(), "{rate:?}");
        assert_eq!(confirming(&trials).len(), 3);
        assert!(!found.is_invalid());
        // Interrupted: the last repetition confirmed nothing, so the whole search has no figure.
        let cut = &trials[..trials.len() - 1];
        let found = Capacity::of(cut, &mut Noise::new(1).0).unwrap();
        assert!(matches!(found.searches[2].outcome, Outcome::Unfinished { .. }), "{found:?}");
        assert_eq!((found.rate_per_s, found.samples()), (None, vec![]));
        assert_eq!(Capacity::of(&[&ExampleTrial::hello().build()], &mut Noise::new(1).0), None);
    }
}
