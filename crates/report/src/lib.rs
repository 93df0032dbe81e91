//! A serialisable view of a run, rendered for the terminal, as Markdown, CSV and HTML with charts.
pub mod load_report;
