//! Answers of a load that are compared in full: kept while the load runs and compared when somebody
//! asks what was found, so that comparing them disturbs no answer.
use pippin_engine::Exchange;
use pippin_model::request::coding::Coding;
use pippin_model::trial::Packed;
use pippin_model::workload::draw::Draw;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Verdict;

/// Of so many right answers at least one is examined, by however many threads.
const SURELY_EXAMINED: u64 = 10_000;

/// A sample of the answers of a load, each with the same chance to be in it, and with a note on what was
/// right when it came.
pub struct Sampled<N = ()> {
    most: usize,
    kept: Mutex<Samples<N>>,
}

/// Answers that have not been compared, and what came of the others.
struct Samples<N> {
    answers: Vec<Exchanged<N>>,
    /// How many were examined since the last comparison.
    seen: u64,
    found: Found,
    draw: Draw,
}

/// What was found so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Answers that were compared.
    pub compared: u64,
    /// Those of them that said something else.
    pub wrong: u64,
    /// What the first of these said, in words.
    pub first: Option<String>,
    /// How many bytes those of each content coding had.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packed: BTreeMap<Coding, Packed>,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.wrong += other.wrong;
        self.first = self.first.take().or(other.first);
        for (coding, sizes) in other.packed {
            *self.packed.entry(coding).or_default() += sizes;
        }
    }

    /// What share of their bytes the answers had on the way, for each coding: `gzip 0.24, br 0.21`.
    /// `None` where none had a coding.
    #[must_use]
    pub fn ratios(&self) -> Option<String> {
        let ratio = |(coding, packed): (&Coding, &Packed)| {
            Some(format!("{} {:.2}", coding.name(), packed.ratio()?))
        };
        let ratios: Vec<String> = self.packed.iter().filter_map(ratio).collect();
        (!ratios.is_empty())
            .then(|| format!("packed bytes for each byte unpacked: {}", ratios.join(", ")))
    }

    /// All bytes of answers with a content coding; `None` where none had one.
    #[must_use]
    pub fn all_packed(&self) -> Option<Packed> {
        self.packed.values().copied().reduce(|mut sum, packed| {
            sum += packed;
            sum
        })
    }

    /// Whether every answer that was compared said what it must, in loads with so many right answers.
    /// `what` they are is for the words.
    ///
    /// # Errors
    /// How many did not, or that none was compared.
    pub fn verdict(&self, right: u64, what: &str) -> Verdict {
        self.verdict_from(SURELY_EXAMINED, right, what)
    }

    /// [`Found::verdict`] where one of so many right answers was surely compared.
    ///
    /// # Errors
    /// How many said something else, or that none was compared.
    pub fn verdict_from(&self, surely: u64, right: u64, what: &str) -> Verdict {
        match self {
            Self { compared: 0, .. } if right >= surely => {
                Err(format!("none of {right} {what} was compared in full"))
            }
            Self { wrong: 0, .. } => Ok(()),
            Self { wrong, first, .. } => {
                let first = first.as_ref().map(|words| format!("; the first: {words}"));
                Err(format!(
                    "{wrong} {what} of those that were compared in full said something else{}",
                    first.unwrap_or_default()
                ))
            }
        }
    }
}

/// A request and its answer.
pub struct Exchanged<N = ()> {
    /// Which of the load's requests it is.
    pub request: u32,
    /// What was drawn for it; empty where nothing was.
    pub drawn: String,
    /// The content coding that its head names.
    pub coding: Coding,
    /// The body.
    pub body: Box<[u8]>,
    /// What was noted when it came.
    pub note: N,
}

/// Random numbers that a target cannot know.
#[must_use]
pub fn unknown_to_targets() -> Draw {
    Draw::new(RandomState::new().build_hasher().finish())
}

impl Sampled {
    /// Keeps an answer, or not, as [`Sampled::take_with`] does.
    pub fn take(&self, exchange: &Exchange<'_>) {
        self.take_with(exchange, ());
    }
}

impl<N> Sampled<N> {
    /// At most so many are kept between two comparisons. `found` is what earlier loads have shown.
    #[must_use]
    pub fn new(most: usize, found: Found) -> Self {
        let draw = unknown_to_targets();
        Self { most, kept: Mutex::new(Samples { answers: Vec::new(), seen: 0, found, draw }) }
    }

    fn kept(&self) -> MutexGuard<'_, Samples<N>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer, or not, so that all have the same chance (Vitter 1985, "Random sampling
    /// with a reservoir", algorithm R).
    pub fn take_with(&self, exchange: &Exchange<'_>, note: N) {
        let mut kept = self.kept();
        kept.seen += 1;
        let seen = kept.seen;
        let place = match kept.answers.len() {
            length if length < self.most => length,
            _ => kept.draw.below(seen) as usize,
        };
        if place >= self.most {
            return;
        }
        let Exchange { request, drawn, coding, body, .. } = *exchange;
        let answer = Exchanged { request, drawn: drawn.into(), coding, body: body.into(), note };
        match kept.answers.get_mut(place) {
            Some(old) => *old = answer,
            None => kept.answers.push(answer),
        }
    }

    /// Compares what was kept; `differs` says what is wrong with an answer, and adds its bytes where
    /// it was packed. Returns what was found so far.
    pub fn compared(
        &self,
        mut differs: impl FnMut(&Exchanged<N>, &mut BTreeMap<Coding, Packed>) -> Option<String>,
    ) -> Found {
        let mut kept = self.kept();
        let answers = std::mem::take(&mut kept.answers);
        kept.seen = 0;
        let mut packed = BTreeMap::new();
        let mut wrong = answers.iter().filter_map(|answer| differs(answer, &mut packed));
        let first = wrong.next();
        let wrong = u64::from(first.is_some()) + wrong.count() as u64;
        kept.found.add(Found { compared: answers.len() as u64, wrong, first, packed });
        kept.found.clone()
    }

    /// Adds what a deputy has found.
    pub fn add(&self, found: Found) {
        self.kept().found.add(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_by_several_is_added_and_the_first_words_stay() {
        let mut found = Found::default();
        let of = |wrong: u64, words: &str| Found {
            compared: 10,
            wrong,
            first: (wrong > 0).then(|| words.into()),
            packed: BTreeMap::from([(Coding::Gzip, Packed { packed_bytes: 1, unpacked_bytes: 5 })]),
        };
        for other in [of(0, ""), of(1, "a"), of(2, "b")] {
            found.add(other);
        }
        assert_eq!((found.compared, found.wrong, found.first.as_deref()), (30, 3, Some("a")));
        assert_eq!(found.packed[&Coding::Gzip], Packed { packed_bytes: 3, unpacked_bytes: 15 });
        assert_eq!(found.ratios().unwrap(), "packed bytes for each byte unpacked: gzip 0.20");
        assert_eq!(Found::default().ratios(), None);
        assert_eq!(found.all_packed(), Some(Packed { packed_bytes: 3, unpacked_bytes: 15 }));
        assert_eq!(Found::default().all_packed(), None);
        assert_eq!(
            found.verdict(5, "pages").unwrap_err(),
            "3 pages of those that were compared in full said something else; the first: a"
        );
        assert_eq!(of(0, "").verdict(20_000, "pages"), Ok(()));
        assert!(Found::default().verdict(9_999, "pages").is_ok(), "too few to have one for sure");
        assert!(Found::default().verdict(10_000, "pages").is_err());
    }
}
