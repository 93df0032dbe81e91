//! How a server answers requests at the edges of HTTP/1.1. It is shown beside the result and does
//! not change the verdict.
use serde::{Deserialize, Serialize};

/// One question to a server, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conformance {
    /// The question in words: `"no Host field"`.
    pub probe: String,
    /// What kind of question it is.
    pub kind: Kind,
    /// Where the right answer is defined: `"RFC 9112 3.2"`.
    pub section: String,
    /// How strongly the specification requires it.
    pub level: Level,
    /// The answer: `"400"`, `"closed without an answer"`.
    pub found: String,
    /// Whether the answer is right.
    pub is_right: bool,
}

/// The kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What a server must understand.
    Compliance,
    /// Messages whose length two servers could read differently.
    Smuggling,
    /// Messages that break the rules.
    Malformed,
    /// Messages that are long, or have many parts.
    Limits,
}

impl Kind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Compliance, Self::Smuggling, Self::Malformed, Self::Limits];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compliance => "compliance",
            Self::Smuggling => "smuggling",
            Self::Malformed => "malformed requests",
            Self::Limits => "limits",
        }
    }
}

/// How strongly a specification requires something (RFC 2119).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// MUST.
    Must,
    /// SHOULD.
    Should,
    /// Common practice, or left to the server.
    Note,
}

impl Level {
    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Note => "note",
        }
    }
}

/// How many questions of a kind a server was asked, and how many it answered rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    /// The kind.
    pub kind: Kind,
    /// Right answers.
    pub right: u32,
    /// Questions.
    pub asked: u32,
}

/// The right answers of each kind, in the order of [`Kind::ALL`]; empty if nothing was asked.
#[must_use]
pub fn by_kind(all: &[Conformance]) -> Vec<KindCount> {
    let count = |kind| {
        let asked = all.iter().filter(|one| one.kind == kind);
        asked.fold(KindCount { kind, right: 0, asked: 0 }, |sum, one| KindCount {
            right: sum.right + u32::from(one.is_right),
            asked: sum.asked + 1,
            ..sum
        })
    };
    if all.is_empty() { Vec::new() } else { Kind::ALL.into_iter().map(count).collect() }
}

/// How many probes were answered rightly: `"30 of 32 answers right; wrong: 1 MUST, 1 note"`.
#[must_use]
pub fn in_words(all: &[Conformance]) -> String {
    let right = all.iter().filter(|one| one.is_right).count();
    let broken = |level| all.iter().filter(|one| !one.is_right && one.level == level).count();
    let parts: Vec<String> = [Level::Must, Level::Should, Level::Note]
        .into_iter()
        .filter(|&level| broken(level) > 0)
        .map(|level| format!("{} {}", broken(level), level.name()))
        .collect();
    let rest =
        if parts.is_empty() { String::new() } else { format!("; wrong: {}", parts.join(", ")) };
    format!("{right} of {} answers right{rest}", all.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_is_counted_by_level() {
        let one = |level, is_right| Conformance {
            probe: "p".into(),
            kind: Kind::Compliance,
            section: "s".into(),
            level,
            found: "400".into(),
            is_right,
        };
        assert_eq!(in_words(&[one(Level::Must, true)]), "1 of 1 answers right");
        let all = [one(Level::Must, false), one(Level::Note, false), one(Level::Should, true)];
        assert_eq!(in_words(&all), "1 of 3 answers right; wrong: 1 MUST, 1 note");
    }
}
