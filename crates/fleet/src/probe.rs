//! A run beside its targets for a coordinator elsewhere. The probe has the targets' machine: it
//! installs, starts, proves and samples them there, and lets agents load them over the network. The
//! coordinator names the plan, and keeps the trials.
//!
//! | module | what it does |
//! |---|---|
//! | [`beside`] | makes runs, on the targets' machine |
//! | [`afar`] | the member that asks for a run and takes what comes of it |
//! | [`conduct`] | a run that a probe makes, as it is told and kept here |
use pippin_model::plan::Plan;
use pippin_model::run::{RunHeader, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, TrialRecord, TrialSpec};
use serde::{Deserialize, Serialize};

pub mod afar;
pub mod beside;
pub mod conduct;

/// A run that a probe is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Errand {
    /// Its number, for this coordinator.
    pub run: u64,
    /// The plan. Targets and workload are those of the probe's own catalog.
    pub plan: Plan,
    /// Seeds order and loads.
    pub seed: u64,
    /// So many agents apply the loads.
    pub agents: u32,
    /// They may take so long to answer, nanoseconds.
    pub within_ns: u64,
}

/// What a probe tells of a run, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Something worth knowing.
    Note(String),
    /// A target takes no part.
    Unavailable(TargetId, Failure),
    /// Everything is installed; trials begin.
    Started(Box<RunHeader>),
    /// A trial begins: its number, counted from 1, of how many at the most.
    Trial(Box<TrialSpec>, usize, usize),
    /// What the trial is doing now.
    Stage(String),
    /// A trial is finished and judged.
    Finished(Box<TrialRecord>),
    /// The run ended so, or could not be made for this reason.
    Over(Result<RunState, String>),
}
