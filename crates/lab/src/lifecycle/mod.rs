//! Starts and ends processes: supervised, bound to processors, waited for until ready, stopped
//! cleanly.
//!
//! | module | what it does |
//! |---|---|
//! | [`environment`] | the variables that children get |
//! | [`ready`], [`elsewhere`] | waits for a right answer; who answers at another address |
//! | [`life`] | whether a process lives, for who must know at once |
//! | [`short_command`] | short commands within a time limit |
pub mod affinity;
mod apart;
pub mod descendants;
pub mod elsewhere;
pub mod environment;
pub mod group;
pub mod life;
pub mod log;
mod orphans;
pub mod port;
pub mod ready;
pub mod short_command;
pub mod supervised;
pub mod supervisor;
