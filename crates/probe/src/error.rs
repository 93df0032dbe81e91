//! The errors of this crate. An unreadable kernel file is not an error but an unknown value.
use std::io;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The sampling thread could not be started.
    #[error(
        "cannot start the sampling thread: {0}; check `ulimit -u` and the control group's pids.max"
    )]
    Thread(#[source] io::Error),
    /// The sampling thread could not be bound to the requested processor.
    #[error(
        "cannot bind the sampling thread to processor {cpu}: {source}; choose one of those that `taskset -p $$` lists"
    )]
    Pin {
        /// The requested processor.
        cpu: u32,
        /// The error of sched_setaffinity(2).
        #[source]
        source: io::Error,
    },
}
