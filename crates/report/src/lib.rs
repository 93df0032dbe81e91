//! A serialisable view of a run, rendered for the terminal, as Markdown, CSV, JSON, Prometheus
//! text, interval log and HTML with charts.
//!
//! | module | what it holds |
//! |---|---|
//! | [`view`] | everything that is rendered of a run |
//! | [`terminal`] | the table at the end of a run |
//! | [`html`] | the page of a run |
//! | [`history`] | a target over time: charts, changes, page |
//! | [`chart`], [`svg`], [`png`] | charts, in the page and as files |
//! | [`markdown`], [`csv`], [`json`], [`prometheus`], [`hlog`] | other forms (docs/formats.md) |
//! | `ranked` | the figure by which targets are ranked, in words |
//! | [`words`] | figures as people read them |
pub mod chart;
pub mod csv;
pub mod history;
pub mod hlog;
pub mod html;
pub mod json;
pub mod markdown;
pub mod png;
pub mod prometheus;
mod ranked;
pub mod svg;
pub mod terminal;
pub mod view;
pub mod words;
