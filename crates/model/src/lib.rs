//! Pippin's plain data types and their parsers. Nothing here starts, measures or prints anything.
//!
//! | module | what it holds |
//! |---|---|
//! | [`text`] | text that people write and read |
//! | [`target`] | names of targets and their `target.toml`; the register of their kinds; `pippin.toml` |
//! | [`workload`] | what a target must serve and how that is proved |
//! | [`plan`] | one experiment: targets, profile, objective, processors, published figures |
//! | [`schedule`] | when requests are due; rates that change; rates beyond what a target can do |
//! | [`request`] | one request and its right answer; all requests of a load; files of requests, and what is imported |
//! | [`scenario`] | what one user does: steps with checks and captured values, and where values come from |
//! | [`load`] | the engine's input, `LoadSpec` |
//! | [`result`] | the engine's output, `LoadResult` |
//! | [`figure`] | the register of figures: names, units, meaning, how each is read |
//! | [`verdict`] | caveats and verdicts; gates |
//! | [`trial`] | the record of one trial |
//! | [`run`] | one execution of a plan |
//! | [`host`] | what the kernel reports |
//! | `example` | made-up records of trials and runs, for the tests of every crate |
#[cfg(feature = "example")]
pub mod example;
pub mod figure;
pub mod host;
pub mod load;
pub mod plan;
pub mod request;
pub mod result;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod target;
pub mod text;
pub mod trial;
pub mod verdict;
pub mod workload;
