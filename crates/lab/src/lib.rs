//! Starts and stops processes: targets, services, loads.
//!
//! | module | what it does |
//! |---|---|
//! | [`place`], [`project`] | where the user is, and where runs are kept; the targets of a project file |
//! | [`catalog`], [`target`] | finds targets, workloads and plans; a target, and how it comes to run |
//! | [`ad_hoc`], [`container`] | targets that the command line gives; container images |
//! | [`environment`], [`install`], [`versions`], [`short_command`] | gets targets ready |
//! | [`lifecycle`] | supervises processes: start, readiness, stop, what they leave |
//! | [`services`] | PostgreSQL and the slow upstream |
//! | [`running`], [`way`], [`certificate`] | a target that runs; how requests reach it; its certificate |
//! | [`keys`] | where a user writes how a target is started, for messages |
//! | [`verify`] | proves that a target does a workload's work |
//! | [`load`], [`pool`] | from a profile and a workload to what the engine runs; the requests of a load |
//! | [`trial`], [`proving`], [`single`] | one load with what is sampled beside it; what proves a target around it; requests one at a time before it |
//! | [`slices`] | the slices of a target: how long, how they are made, what they add up to |
//! | [`helping`] | which processes help a target from outside |
//! | [`generator`] | who applies a load |
//! | [`steps`], [`recording`] | the steps of a profile; the record of a run while it is made |
//! | [`run`], [`url`], [`address`] | all trials of a plan; a load of a URL; a URL and its addresses |
//! | [`check`], [`calibrate`] | `pippin targets check`; what the generator itself can do |
//! | [`revision`], [`commits`] | a target as it is in a revision of git; the commit that its files are of |
//! | [`conformance`] | how a target answers at the edges of HTTP/1.1 |
//! | [`demand`], [`descriptors`] | what a plan asks of this host; open files against connections |
//! | [`explaining`], [`perf`] | targets under a profiler |
//! | [`observer`] | who is told |
pub mod ad_hoc;
pub mod address;
pub mod calibrate;
pub mod catalog;
pub mod certificate;
pub mod check;
pub mod commits;
pub mod conformance;
pub mod container;
pub mod demand;
pub mod descriptors;
pub mod environment;
pub mod error;
pub mod explaining;
pub mod generator;
pub mod helping;
pub mod install;
pub mod keys;
pub mod lifecycle;
pub mod load;
pub mod observer;
pub mod perf;
pub mod place;
pub mod pool;
pub mod project;
pub mod proving;
pub mod recording;
pub mod revision;
pub mod run;
pub mod running;
pub mod scaffold;
pub mod services;
pub mod short_command;
pub mod single;
pub mod slices;
pub mod steps;
pub mod target;
pub mod trial;
pub mod url;
pub mod verify;
pub mod versions;
pub mod warming;
pub mod way;

pub use error::LabError;
