//! The seam to a referee: it knows which answers are right at each instant.
use pippin_model::load::LoadSpec;
use pippin_model::request::coding::Coding;

/// Judges the answers of which [`pippin_model::load::BodyCheck::needs_referee`] is true. All threads of a load
/// share it, on their hot path: it must be quick, and it must not block.
pub trait Referee: Send + Sync {
    /// Whether this is a right answer.
    fn is_right(&self, exchange: &Exchange<'_>) -> bool;

    /// A right answer is examined ([`pippin_model::load::Surprises::by_referee`]). What is
    /// found here does not change how it is counted.
    fn examine(&self, _exchange: &Exchange<'_>) {}

    /// What a deputy in another process needs, to judge the answers of this load in its place.
    /// `None` if only this process can judge them.
    fn briefing(&self, _load: &LoadSpec) -> Option<Briefing> {
        None
    }

    /// What a deputy has found. Its referee reads it with [`Self::take`].
    fn found(&self) -> String {
        String::new()
    }

    /// Adds what a deputy has found.
    ///
    /// # Errors
    /// If it cannot be read.
    fn take(&self, _found: &str) -> Result<(), String> {
        Ok(())
    }
}

/// What a deputy of a referee must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// For the deputy's eyes.
    pub text: String,
    /// Whether it holds instants of this machine's clock, so that no other machine can judge.
    pub is_timed: bool,
}

/// A request and the body of its complete answer. Instants are CLOCK_MONOTONIC in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exchange<'a> {
    /// Which of the load's requests it is, from 0.
    pub request: u32,
    /// The status of the answer.
    pub status: u16,
    /// The whole body, without framing; empty where it is digested.
    pub body: &'a [u8],
    /// The length of the body.
    pub length: u64,
    /// The digest of a body that is digested; `None` if it has no bytes.
    pub digest: Option<u64>,
    /// Its content coding, where the head was looked at: of answers that are examined.
    pub coding: Coding,
    /// What was drawn for it in the place of [`pippin_model::request::Request::drawn`]; empty where
    /// nothing was.
    pub drawn: &'a str,
    /// When the first byte of the request was about to be handed to the kernel.
    pub sent_ns: u64,
    /// When the answer was read: at its arrival or later.
    pub read_ns: u64,
}
