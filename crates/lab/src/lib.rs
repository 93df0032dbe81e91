//! Starts and stops processes: targets, services, loads.
//!
//! | module | what it does |
//! |---|---|
//! | [`target`] | finds targets, workloads and plans: the user's own, then those inside the binary; targets of the command line, of a project, of a revision |
//! | [`install`] | installs targets; the output of their version commands |
//! | [`lifecycle`] | supervises processes: environment, processors, control groups, readiness, stop, leftovers, free ports |
//! | [`services`] | PostgreSQL and the slow upstream |
//! | [`running`] | a running target; how requests reach it; its certificate; who helps it |
//! | [`verify`] | the proofs, one file for each family; those that judge the answers of the load are in `live` |
//! | [`load`] | makes a `LoadSpec` from a profile and a workload, or from a URL |
//! | `network` | a network that is simulated between load and target |
//! | [`trial`] | one load with the samples taken beside it |
//! | [`slices`] | the slices of a target: how long, how they are made, what they add up to, which targets are up together |
//! | [`run`] | all trials of a plan: steps, records, observers; targets under a profiler |
//! | [`check`] | `pippin targets check`; how a target answers at the edges of HTTP/1.1 |
//! | [`host`] | what this host can do, and what a plan needs of it |
//! | [`scaffold`] | `pippin targets new`: skeletons, and copies of other targets |
pub mod check;
pub mod error;
pub mod host;
pub mod install;
pub mod lifecycle;
pub mod load;
mod network;
pub mod run;
pub mod running;
pub mod scaffold;
pub mod services;
pub mod slices;
pub mod target;
pub mod trial;
pub mod verify;

pub use error::LabError;
