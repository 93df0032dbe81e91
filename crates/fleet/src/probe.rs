//! A run on the targets' machine, for a coordinator on another one. The probe installs, starts,
//! proves and samples the targets on its machine, and lets agents load them over the network. The
//! coordinator names the plan and keeps the trials.
//!
//! | module | what it does |
//! |---|---|
//! | [`worker`] | makes runs on the targets' machine |
//! | [`client`] | the member that asks for a run and receives its results |
//! | [`conduct`] | a probe's run, shown and kept on this machine |
use pippin_model::plan::Plan;
use pippin_model::run::{RunHeader, RunState};
use pippin_model::target::TargetId;
use pippin_model::trial::{Failure, TrialRecord, TrialSpec};
use serde::{Deserialize, Serialize};

use crate::coordinator::Wanted;

pub mod client;
pub mod conduct;
pub mod worker;

/// A run that a probe is asked to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOrder {
    /// Its number for this coordinator.
    pub run: u64,
    /// The plan. Targets and workload are those of the probe's own catalog.
    pub plan: Plan,
    /// The seed for order and loads.
    pub seed: u64,
    /// Who applies the loads.
    pub wanted: Wanted,
}

/// What a probe reports about a run, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Something worth knowing.
    Note(String),
    /// A target does not take part.
    Unavailable(TargetId, Failure),
    /// Everything is installed; trials begin.
    Started(Box<RunHeader>),
    /// A trial begins: its number, counted from 1, and the maximum number of trials.
    Trial(Box<TrialSpec>, usize, usize),
    /// What the trial is doing now.
    Stage(String),
    /// A trial is finished and judged.
    Finished(Box<TrialRecord>),
    /// How the run ended, or why it could not be made.
    Over(Result<RunState, String>),
}
