//! The life of a process that Pippin starts: supervised, bound to processors, asked until it is
//! ready, stopped cleanly, looked after.
pub mod affinity;
pub mod descendants;
pub mod group;
pub mod log;
mod orphans;
pub mod port;
pub mod ready;
pub mod supervised;
pub mod supervisor;
