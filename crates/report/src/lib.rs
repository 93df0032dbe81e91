//! A serialisable view of a run, rendered for the terminal, as Markdown, CSV, JSON, Prometheus
//! text, interval log and HTML with charts.
//!
//! | module | what it holds |
//! |---|---|
//! | [`view`] | everything of a run that is rendered |
//! | [`terminal`] | the table at the end of a run |
//! | [`html`] | the page of a run |
//! | [`history`] | a target over time: charts, changes, page |
//! | [`chart`] | charts as SVG |
//! | [`gates`] | the outcomes of gates: lines, JUnit XML, a summary for a pull request |
//! | [`digest`] | a short form of a run, for lists |
//! | [`exposition`] | how metrics are written in Prometheus' text format |
//! | [`flame`] | flame graphs |
//! | [`form`] | the forms of a run as files, one file each (docs/formats.md) |
//! | `ranked` | the figure by which targets are ranked, in words |
//! | [`verify`] | whether an exported run follows from its raw slices |
//! | [`words`] | figures as people read them |
pub mod chart;
pub mod digest;
pub mod exposition;
pub mod flame;
pub mod form;
pub mod gates;
pub mod history;
pub mod html;
mod ranked;
pub mod terminal;
pub mod verify;
pub mod view;
pub mod words;
