//! A serialisable view of a run, rendered for the terminal, as Markdown, CSV, JSON and HTML with charts.
//!
//! | module | what it holds |
//! |---|---|
//! | [`view`] | everything that is rendered of a run |
//! | [`terminal`] | the table at the end of a run |
//! | [`words`] | figures as people read them |
//! | [`load_report`] | the result of `pippin load` |
pub mod chart;
pub mod html;
pub mod load_report;
pub mod terminal;

pub mod view;
pub mod words;
