//! Starts and ends processes: supervised, bound to processors, waited for until ready, stopped
//! cleanly.
pub mod affinity;
mod apart;
pub mod descendants;
pub mod group;
pub mod log;
mod orphans;
pub mod port;
pub mod ready;
pub mod supervised;
pub mod supervisor;
