//! What a judge answers, and what it protects.
use pippin_model::verdict::Caveat;
use std::fmt;

/// What a judge answers: `Ok(Some(caveat))` if it found a doubt, `Ok(None)` if it looked and the
/// result is clear of it, `Err` if the record lacks the evidence, so that it cannot tell.
pub type Answer = Result<Option<Caveat>, Unknown>;

/// Why a judge cannot tell, in words that follow a colon: "no response time was recorded".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

impl Unknown {
    /// Cannot tell, because of this.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The caveat of an answer; `None` if it is clear or cannot be told.
#[must_use]
pub fn found(answer: Answer) -> Option<Caveat> {
    answer.ok().flatten()
}

/// What must be sound for a result to be true. A judge that cannot tell leaves it unprotected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protects {
    /// The machine: nobody else used it, and its clocks ran evenly.
    Host,
    /// The generator: it offered the load that was asked for, and timed it.
    Generator,
    /// The answers: they came, they were right, and the target made them itself.
    Answers,
    /// The figures: enough was measured, and it did not change meanwhile.
    Statistics,
}

impl Protects {
    /// The name in the evidence of `unknown`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Generator => "generator",
            Self::Answers => "answers",
            Self::Statistics => "statistics",
        }
    }
}

/// What an explanation rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// The target's own counters prove it, whatever else the machine did.
    Counters,
    /// It is inferred from times and processor use. Other programs on the machine cause the same
    /// signs, so nothing is said while they disturb it.
    Inference,
}
