//! The capacity searches of one target, one for each repetition, from its trials.
use pippin_model::plan::profile::Searched as Kind;
use pippin_model::trial::{Step, TrialRecord};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::step::missed;
use super::{Outcome, Search, StepOutcome};
use crate::interval::bootstrap::Sample;
use crate::summary::{Estimate, estimate};

/// All searches of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// One for each repetition, in their order.
    pub searches: Vec<Searched>,
    /// The capacity over the repetitions: a rate, or a number of devices. `None` if any search did
    /// not confirm one, because the others alone would look more certain than they are. One repetition has
    /// no interval.
    pub rate_per_s: Option<Estimate>,
}

/// The search of one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Counted from 1.
    pub repetition: u32,
    /// What it searched for.
    pub of: Kind,
    /// How it ended. A rate that held is at most the rate of right answers that was seen at it.
    pub outcome: Outcome,
    /// The highest offered rate that held, if any did.
    pub offered_per_s: Option<f64>,
    /// What was missed at the lowest rate that missed above it, in words: the limits, and what the
    /// answers were that do not count. Empty if no rate missed.
    pub beyond: Vec<String>,
    /// Steps made.
    pub steps: u32,
}

impl Searched {
    /// How it ended, in words, without a full stop: `1,000 requests/s, confirmed (1,016 requests/s
    /// missed: errors 94.0 % (objective below 1.000 %); errors and answers: 9,400 status 503)`.
    #[must_use]
    pub fn words(&self) -> String {
        let ended = self.outcome.words(self.of);
        if self.beyond.is_empty() {
            return ended;
        }
        let beyond = self.beyond.join("; ");
        match ended.strip_suffix(" missed)") {
            Some(found) => format!("{found} missed: {beyond})"),
            None => format!("{ended}: {beyond}"),
        }
    }
}

impl Capacity {
    /// The searches of one target, from its trials in the order in which they were made. `None` if
    /// they are not a search, or none has a result.
    ///
    /// The search is deterministic, so its trials are enough to know how it ended.
    pub fn from_trials<R: Rng + ?Sized>(trials: &[&TrialRecord], rng: &mut R) -> Option<Self> {
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
    let trials: Vec<&TrialRecord> = trials.collect();
    let mut search: Option<Search> = None;
    for trial in &trials {
        let tried = trial.spec.step.and_then(Step::tried);
        let (Some(tried), Some(seen)) = (tried, StepOutcome::from_trial(trial)) else { continue };
        let Some(new) = Search::from_profile(&trial.spec.profile) else { continue };
        search.get_or_insert(new).observe(tried, seen);
    }
    let (search, of) = (search?, trials.first()?.spec.profile.searched());
    let outcome = search.outcome();
    let offered_per_s = outcome.held_per_s();
    let right = offered_per_s.and_then(|rate| right_per_s(&trials, rate));
    Some(Searched {
        repetition: repetition + 1,
        of,
        outcome: outcome.at_most(right.unwrap_or(0.0)),
        offered_per_s,
        beyond: outcome.missed_per_s().map_or_else(Vec::new, |rate| missed_at(&trials, rate)),
        steps: search.steps(),
    })
}

fn at(rate: f64) -> impl Fn(&&&TrialRecord) -> bool {
    move |trial| trial.spec.step.and_then(Step::tried) == Some(rate)
}

/// The highest rate of right answers that was seen in a step at this rate that held; a walk has as
/// many answers as steps. Devices have a number and no rate: a step that held shows all of them.
fn right_per_s(trials: &[&TrialRecord], rate: f64) -> Option<f64> {
    let held = trials
        .iter()
        .filter(at(rate))
        .filter(|trial| StepOutcome::from_trial(trial) == Some(StepOutcome::Held));
    let right = |trial: &&TrialRecord| match trial.spec.profile.answers_per_s(1.0) {
        Some(each) => Some(trial.load.as_ref()?.measured.goodput_per_s()? / each),
        None => Some(rate),
    };
    held.filter_map(right).reduce(f64::max)
}

/// What the last step at this rate that missed has missed.
fn missed_at(trials: &[&TrialRecord], rate: f64) -> Vec<String> {
    let mut missed = trials.iter().rev().filter(at(rate)).map(|trial| missed(trial));
    missed.find(|missed| !missed.is_empty()).unwrap_or_default()
}

/// The trials behind the figures of a search: for each repetition, the last trial at the rate of
/// its outcome that held.
#[must_use]
pub fn confirming<'a>(trials: &[&'a TrialRecord]) -> Vec<&'a TrialRecord> {
    let of = |searched: &Searched| {
        let rate = searched.offered_per_s?;
        trials.iter().rev().copied().find(|trial| {
            trial.spec.repetition + 1 == searched.repetition
                && trial.spec.step.and_then(Step::tried) == Some(rate)
                && StepOutcome::from_trial(trial) == Some(StepOutcome::Held)
        })
    };
    searches(trials).iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::test_noise::Noise;
    use pippin_model::example::ExampleTrial;
    use pippin_model::plan::objective::Objective;
    use pippin_model::plan::profile::Steps;
    use pippin_model::result::ErrorKind;
    use proptest::prelude::*;

    /// The steps of a search on a target that can keep this many requests/s.
    fn made(capacity: f64, repetition: u32) -> Vec<TrialRecord> {
        let mut search = Search::new(100.0, 0.02);
        let mut records = Vec::new();
        while let Some(rate) = search.next() {
            let ms = if rate <= capacity { 1.0 } else { 90.0 };
            let record =
                ExampleTrial::search_step(rate).response_ms(ms).repetition(repetition).build();
            search.observe(rate, StepOutcome::from_trial(&record).unwrap());
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
        let found = Capacity::from_trials(&trials, &mut Noise::new(1).0).unwrap();
        assert_eq!(found.searches.len(), 3);
        let rate = found.rate_per_s.unwrap();
        assert!((990.0..=1_020.0).contains(&rate.median) && rate.interval.is_some(), "{rate:?}");
        assert_eq!(confirming(&trials).len(), 3);
        assert!(!found.is_invalid());
        // Interrupted: the last repetition confirmed nothing, so the whole search has no figure.
        let cut = &trials[..trials.len() - 1];
        let found = Capacity::from_trials(cut, &mut Noise::new(1).0).unwrap();
        assert!(matches!(found.searches[2].outcome, Outcome::Unfinished { .. }), "{found:?}");
        assert_eq!((found.rate_per_s, found.samples()), (None, vec![]));
        assert_eq!(
            Capacity::from_trials(&[&ExampleTrial::hello().build()], &mut Noise::new(1).0),
            None
        );
    }

    /// A server that answers so many requests/s rightly and refuses the rest at once, searched with
    /// this objective.
    fn refusing(right_per_s: f64, objective: &str) -> Vec<TrialRecord> {
        let mut search = Search::new(100.0, 0.02);
        let mut records = Vec::new();
        while let Some(rate) = search.next() {
            let mut record = ExampleTrial::search_step(rate).response_ms(1.0).build();
            let Steps::Search { objective: of, .. } = &mut record.spec.profile.steps else {
                panic!("a search")
            };
            *of = Objective::parse(objective).unwrap();
            let measured = &mut record.load.as_mut().unwrap().measured;
            let good = (right_per_s * measured.duration_ns as f64 / 1e9) as u64;
            let refused = measured.requests.completed.saturating_sub(good);
            measured.requests.good -= refused;
            measured.answered.good = measured.requests.good;
            measured.status.add(503, refused);
            *measured.errors.entry(ErrorKind::WrongStatus).or_default() += refused;
            search.observe(rate, StepOutcome::from_trial(&record).unwrap());
            records.push(record);
        }
        records
    }

    #[test]
    fn a_search_ends_where_answers_are_refused_and_says_what_they_were() {
        let records = refusing(40.0, "p99 < 100ms");
        let found = searches(&records.iter().collect::<Vec<_>>()).remove(0);
        let capacity = found.outcome.confirmed_per_s().unwrap();
        assert!((38.0..=40.0).contains(&capacity), "{found:?}");
        let words = found.words();
        assert!(words.contains("confirmed (") && words.contains(" status 503"), "{words}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Whatever the objective allows: a capacity is never above the rate of right answers.
        #[test]
        fn a_capacity_is_never_above_the_rate_of_right_answers_that_was_seen(
            right_per_s in 5.0_f64..5_000.0,
            objective in 0_usize..4,
        ) {
            let objectives =
                ["p99 < 100ms", "p50 < 100ms", "p50 < 100ms, errors < 60%", "errors < 100%"];
            let records = refusing(right_per_s, objectives[objective]);
            let trials: Vec<&TrialRecord> = records.iter().collect();
            let seen = records
                .iter()
                .filter_map(|record| record.load.as_ref()?.measured.goodput_per_s())
                .fold(0.0, f64::max);
            let found = Capacity::from_trials(&trials, &mut Noise::new(1).0).unwrap();
            for search in &found.searches {
                let claimed = search.outcome.held_per_s().unwrap_or(0.0);
                prop_assert!(claimed <= seen, "{claimed} of {seen}: {search:?}");
            }
            prop_assert!(found.rate_per_s.is_none_or(|rate| rate.median <= seen));
        }
    }
}
