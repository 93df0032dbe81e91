//! Observers are told what happens in the lab: a live view, plain lines, or nobody.
use pippin_model::host::usage::UsageSample;
use pippin_model::result::Window;
use pippin_model::run::RunHeader;
use pippin_model::target::TargetId;
use pippin_model::trial::{TrialRecord, TrialSpec};

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step of an installation, or the like, in words.
    Note(&'a str),
    /// What is measured is not stored, and why, in words.
    NotStored(&'a str),
    /// A target takes no part.
    Unavailable(&'a TargetId, &'a pippin_model::trial::Failure),
    /// Everything is installed; trials begin.
    RunStarted(&'a RunHeader),
    /// A trial begins: its number, counted from 1, of how many at the most.
    TrialStarted(&'a TrialSpec, usize, usize),
    /// A slice of an announced target begins: its round, counted from 1, and how many rounds are
    /// planned. Slices that replace disturbed ones have higher numbers.
    Slice(&'a TrialSpec, u32, u32),
    /// What the trial is doing now: "starting", "proving".
    Stage(&'a str),
    /// The warm-up of the load goes on, and what it waits for in words: "the JVM compiles, 24 % of a
    /// processor". At most once a second.
    WarmingUp(&'a str),
    /// Another second of load, and the newest sample of what the processes use.
    Window(&'a Window, Option<&'a UsageSample>),
    /// A trial is finished, judged and stored.
    TrialFinished(&'a TrialRecord),
}

/// Told what happens; called from several threads.
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);

    /// Whether the user wants this target skipped: its remaining trials are not made.
    fn skips(&self, _target: &TargetId) -> bool {
        false
    }
}

/// Tells each of these, in their order.
pub struct All<'a>(pub Vec<&'a dyn Observer>);

impl Observer for All<'_> {
    fn event(&self, event: &Event<'_>) {
        self.0.iter().for_each(|one| one.event(event));
    }

    fn skips(&self, target: &TargetId) -> bool {
        self.0.iter().any(|one| one.skips(target))
    }
}

/// Tells nobody.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: &Event<'_>) {}
}
