//! Pippin's plain data types and their parsers. Nothing here starts, measures or prints anything.
//!
//! | module | what it holds |
//! |---|---|
//! | [`units`] | durations, sizes, rates, percentages with jitter, as hand-written files spell them |
//! | [`printable`] | text from elsewhere without control characters |
//! | [`file`] | reading TOML with errors that name the place and the nearest known key |
//! | [`target`], [`manifest`], [`spoken`] | names of targets and their `target.toml`; their protocols |
//! | [`register`] | kinds of targets, and how long their parts are supported |
//! | [`workload`] | what a target must serve and how that is proved |
//! | [`objective`], [`profile`], [`cpus`], [`plan`], [`plan_options`] | one experiment |
//! | [`project`] | `pippin.toml`: a user's own targets, workloads and plans |
//! | [`published`] | figures published elsewhere, shown beside your own |
//! | [`gate`] | conditions on measured figures |
//! | [`histogram`], [`bins`] | the one histogram type; its coarse form for every window |
//! | [`schedule`] | when requests are due |
//! | [`request`], [`requests`] | one request and its right answer; all requests of a load, with the order of sending |
//! | [`scenario`] | what one user does: steps with checks and captured values, and the sources of values |
//! | [`request_file`] | files of requests: vegeta's HTTP format, JSON lines, lists of URLs |
//! | [`import`] | HAR, access logs and curl commands as requests |
//! | [`load_spec`], [`load_result`], [`tls`], [`websocket`] | the input and the output of the engine |
//! | [`overload`] | the rates that go beyond what a target can do |
//! | [`stages`] | a rate that changes over time |
//! | [`surprises`] | what a server cannot foresee in a load |
//! | [`usage`], [`fingerprint`] | the kernel's figures about processes; the host |
//! | [`caveat`], [`trial`] | judgement, and the record of one measured window |
//! | [`conformance`] | answers at the edges of HTTP/1.1 |
//! | [`outside`] | help that a target had beyond its own processes and processors |
//! | [`explained`] | what a profiler saw of a target |
//! | [`agent`] | one agent of a fleet in a trial |
//! | [`run`], [`comparable`] | one execution of a plan; what must be equal to compare two |
//! | [`commit`] | the commit of git in which a target was measured |
//! | [`digest`] | a run in short, for lists |
//! | [`slice`], [`sequence`] | a short stretch of a trial, one of many; joining such stretches |
//! | [`live`] | the state of a run under way |
//! | [`time_series`] | a load second by second, for other programs |
//! | `example` | made-up records for tests (feature `example`) |
pub mod agent;
pub mod bins;
pub mod caveat;
pub mod commit;
pub mod comparable;
pub mod conformance;
pub mod cpus;
pub mod digest;
pub mod draw;
#[cfg(feature = "example")]
pub mod example;
pub mod explained;
pub mod file;
pub mod fingerprint;
pub mod gate;
pub mod histogram;
pub mod import;
pub mod live;
pub mod load_result;
pub mod load_spec;
pub mod manifest;
pub mod objective;
pub mod outside;
pub mod overload;
pub mod plan;
pub mod plan_options;
pub mod printable;
pub mod profile;
pub mod project;
pub mod published;
pub mod register;
pub mod request;
pub mod request_file;
pub mod requests;
pub mod run;
pub mod scenario;
pub mod schedule;
pub mod sequence;
pub mod slice;
pub mod spoken;
pub mod stages;
pub mod surprises;
pub mod target;
pub mod time_series;
pub mod tls;
pub mod trial;
pub mod units;
pub mod usage;
pub mod websocket;
pub mod workload;
