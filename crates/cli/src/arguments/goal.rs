//! The flags that say when a run has measured enough.
use clap::Args;
use pippin_model::plan::goal::{Goal, parse_within};

use crate::exit::CliError;
use crate::values::{self, Time};

/// When a run has measured enough.
#[derive(Debug, Args)]
pub struct GoalArguments {
    /// Repeat until every figure that ranks a target is known to this, as 2%; of a comparison, the
    /// change of each figure with a gate, or of the one that ranks. At least 5 and at most 200 times,
    /// in place of the plan's number.
    #[arg(long, value_name = "SHARE", value_parser = parse_within)]
    pub within: Option<f64>,
    /// Begin no repetition that would end after this time, as 10m; 1h with --within alone. The first
    /// 5 are made in any case.
    #[arg(long = "for", value_name = "TIME", value_parser = values::length)]
    pub length: Option<Time>,
}

impl GoalArguments {
    /// The goal; `None` if none is given.
    ///
    /// # Errors
    /// If a number of repetitions is given too.
    pub fn goal(&self, repeat: Option<u32>) -> Result<Option<Goal>, CliError> {
        let goal = Goal::from_parts(self.within, self.length.map(Time::ns));
        let given = if self.within.is_some() { "--within" } else { "--for" };
        match (repeat, goal) {
            (Some(_), Some(_)) => Err(CliError::User(format!(
                "--repeat makes that many repetitions, and {given} as many as it takes: leave one of them out"
            ))),
            (_, goal) => Ok(goal),
        }
    }
}
