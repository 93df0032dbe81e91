//! Doubts about a figure, and the verdict that follows from them.
//!
//! | module | what it does |
//! |---|---|
//! | [`gate`] | conditions on figures that decide the exit code |
pub mod gate;

use serde::{Deserialize, Serialize};
use std::fmt;

/// How serious a caveat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; no doubt about the figure.
    Note,
    /// The figure may be misleading.
    Suspect,
    /// The figure is not what it claims to be.
    Invalid,
}

/// One named doubt, with its evidence in figures and advice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caveat {
    /// A stable name: `generator_busy`.
    pub id: String,
    /// How serious it is.
    pub severity: Severity,
    /// What was seen, in figures: "generator core 97 % busy over 30 s (limit 95 %)".
    pub evidence: String,
    /// What to do about it.
    pub advice: String,
}

/// Whether a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// No doubt was found.
    Valid,
    /// At least one caveat of severity suspect.
    Suspect,
    /// At least one caveat of severity invalid: shown struck through, never ranked.
    Invalid,
}

impl Caveat {
    /// Its name in words, the same wherever a caveat is told: `generator busy`.
    #[must_use]
    pub fn name(&self) -> String {
        in_words(&self.id)
    }
}

/// The name of a caveat in words: `generator busy`, where files for programs have its `id`,
/// `generator_busy`.
#[must_use]
pub fn in_words(id: &str) -> String {
    id.replace('_', " ")
}

impl Verdict {
    /// The verdict that follows from these caveats.
    #[must_use]
    pub fn of<'a>(caveats: impl IntoIterator<Item = &'a Caveat>) -> Self {
        match caveats.into_iter().map(|caveat| caveat.severity).max() {
            Some(Severity::Invalid) => Self::Invalid,
            Some(Severity::Suspect) => Self::Suspect,
            Some(Severity::Note) | None => Self::Valid,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Valid => "VALID",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_caveat_decides() {
        let caveat = |severity| Caveat {
            id: "x".into(),
            severity,
            evidence: String::new(),
            advice: String::new(),
        };
        assert_eq!(Verdict::of([]), Verdict::Valid);
        assert_eq!(Verdict::of([&caveat(Severity::Note)]), Verdict::Valid);
        assert_eq!(
            Verdict::of([&caveat(Severity::Suspect), &caveat(Severity::Note)]),
            Verdict::Suspect
        );
        assert_eq!(
            Verdict::of([&caveat(Severity::Suspect), &caveat(Severity::Invalid)]),
            Verdict::Invalid
        );
        assert_eq!(format!("[{:8}]", Verdict::Valid), "[VALID   ]");
    }
}
