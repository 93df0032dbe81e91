//! The steps of a profile in turn: known beforehand, or chosen by a search.
use pippin_model::profile::{Profile, Steps as Points};
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::units::format_count;
use pippin_stats::capacity::{Outcome, Search, Seen, step};
use std::time::{Duration, Instant};

use crate::observer::Event;
use crate::trial::Watch;

/// How often to check during a rest whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// The steps that are still to be made.
pub enum Steps {
    /// Known beforehand; `None` is the profile as it is.
    Known(std::vec::IntoIter<Option<Step>>),
    /// Rates that a search chooses.
    Search(Search),
}

impl Steps {
    /// All steps of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let known = match &profile.steps {
            Points::One | Points::Overload { .. } => vec![None],
            Points::Connections(list) => {
                list.iter().map(|&count| Some(Step::Connections { count })).collect()
            }
            Points::Search { precision, .. } => {
                let start = profile.schedule.rate_per_s().unwrap_or(1.0);
                return Self::Search(Search::new(start, *precision));
            }
        };
        Self::Known(known.into_iter())
    }

    /// How many there are; 1 for a search, because its number is not known beforehand.
    #[must_use]
    pub fn number(profile: &Profile) -> usize {
        match &profile.steps {
            Points::One | Points::Search { .. } | Points::Overload { .. } => 1,
            Points::Connections(list) => list.len(),
        }
    }

    /// How the search ended; `None` if there was none.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Known(_) => None,
            Self::Search(search) => Some(search.outcome()),
        }
    }

    /// Takes note of how a judged step came out. In a search, it tells the outcome and lets the
    /// target rest after a rate that it could not keep.
    pub fn observe(&mut self, record: &TrialRecord, watch: &Watch<'_>) {
        let (Self::Search(search), Some(Step::Rate { per_s })) = (self, record.spec.step) else {
            return;
        };
        let Some(seen) = Seen::of(record) else { return };
        search.observe(per_s, seen);
        let rate = format_count(per_s);
        let text = match search.next() {
            Some(_) => format!("{rate} requests/s: {}", seen.words()),
            None => {
                format!(
                    "{rate} requests/s: {}; capacity: {}",
                    seen.words(),
                    search.outcome().words()
                )
            }
        };
        watch.observer.event(&Event::Note(&text));
        if search.next().is_some() {
            rest(Duration::from_nanos(step::rest_ns(record)), watch);
        }
    }
}

fn rest(length: Duration, watch: &Watch<'_>) {
    let until = Instant::now() + length;
    while !watch.is_over() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(GLANCE));
    }
}

impl Iterator for Steps {
    /// `None` is the profile as it is.
    type Item = Option<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Known(steps) => steps.next(),
            Self::Search(search) => search.next().map(|per_s| Some(Step::Rate { per_s })),
        }
    }
}
