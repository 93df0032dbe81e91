//! What a target does beyond its capacity.
use pippin_model::trial::TrialRecord;
use pippin_stats::capacity::overload::{Overload, words};
use serde::{Deserialize, Serialize};

/// What was seen of one target, and the sentences about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverloadView {
    /// The figures.
    #[serde(flatten)]
    pub seen: Overload,
    /// What it does, without the target's name: `sheds: at 3 times ...`; `None` if that is not
    /// certain.
    pub sentence: Option<String>,
    /// How long it took to recover, without the target's name.
    pub recovered: String,
}

impl OverloadView {
    /// The view of the trials of one target; `None` if they are no overload.
    #[must_use]
    pub fn from_trials(trials: &[&TrialRecord]) -> Option<Self> {
        let seen = Overload::from_trials(trials)?;
        let (sentence, recovered) = (seen.sentence(), words::recovery(&[&seen]));
        Some(Self { seen, sentence, recovered })
    }

    /// Everything that the report says about the target, in sentences.
    #[must_use]
    pub fn sentences(&self, target: &str) -> String {
        sentences(target, &[&self.seen])
    }
}

/// Sentences about several targets that are alike ([`Overload::is_like`]).
#[must_use]
pub fn sentences(names: &str, seen: &[&Overload]) -> String {
    let recovered = words::recovery(seen);
    match words::behaviour(seen) {
        Some(does) => format!("{names} {does}. {}", upper(&recovered)),
        None => format!("{names}: {recovered}."),
    }
}

/// The text as a sentence, with a capital letter.
fn upper(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}
