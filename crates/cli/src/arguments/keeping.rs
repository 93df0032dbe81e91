//! `pippin baseline` and `pippin store`.
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::completions;

/// `pippin baseline`
#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Give a run a name, which then stands for it wherever a run is asked for: "p99 < 5% vs released".
    Set(BaselineSetArguments),
    /// List the names and their runs.
    List,
    /// Take a name away. The run stays.
    Remove {
        /// The name.
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(completions::baselines))]
        name: String,
    },
}

/// `pippin baseline set`
#[derive(Debug, Args)]
pub struct BaselineSetArguments {
    /// A letter, then letters, digits, `-`, `_` and `.`. If another run has this
    /// name, it is taken from that run and given to this one.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// A run, the beginning of its name, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest", add = ArgValueCandidates::new(completions::runs))]
    pub run: String,
}

/// `pippin store`
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Show what the database of runs takes on the disk.
    Size,
    /// Remove runs from the database. Their pages and logs, which are files, stay.
    Remove {
        /// Runs, or the beginnings of their names.
        #[arg(value_name = "RUN", required = true, add = ArgValueCandidates::new(completions::runs))]
        runs: Vec<String>,
    },
    /// Keep the newest runs and remove all others. Baselines and runs under way always stay.
    Keep(StoreKeepArguments),
}

/// `pippin store keep`
#[derive(Debug, Args)]
pub struct StoreKeepArguments {
    /// How many runs to keep.
    #[arg(value_name = "N")]
    pub newest: usize,
    /// Remove the others. Without it, they are only counted.
    #[arg(long)]
    pub yes: bool,
}
