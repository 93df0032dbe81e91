//! The live view of `pippin run` and `pippin load`, drawn on standard error.
//!
//! | module | what it does |
//! |---|---|
//! | [`state`] | what is shown: applies events, knows no terminal and no clock |
//! | [`turns`] | targets that are measured in turn |
//! | [`eta`] | the planned length of a trial and its progress |
//! | [`draw`], [`trials`], [`help`] | from the state to a frame |
//! | [`look`] | colours and characters that the terminal can show |
//! | [`terminal`] | raw mode and alternate screen, restored on every exit |
//! | [`screen`] | the thread that draws and reads keys |
//! | [`keys`] | keys as the terminal sends them |
//! | [`shared`] | the one state that all of these read, and its clock |
//! | [`observer`] | from the lab's events to the state |
//! | [`publish`], [`snapshot`] | what `pippin serve` shows of a run under way |
//! | [`choice`] | whether a live view can be shown at all |
pub mod choice;
mod draw;
mod eta;
mod help;
mod keys;
mod look;
mod observer;
mod publish;
#[cfg(test)]
mod samples;
mod screen;
mod shared;
mod snapshot;
mod state;
pub mod terminal;
mod trials;
mod turns;

pub use observer::{Follower, Outlet};
pub use state::{LiveUse, Subject, use_between};
