//! A chart as a file of its own, for a README or a blog.
use crate::chart::{self, Chart};
use crate::view::View;

/// There is no such chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no chart `{asked}` of this run; there are {}", there_are.join(", "))]
pub struct UnknownChart {
    /// The name that was asked for.
    pub asked: String,
    /// The names of the charts that this run has figures for.
    pub there_are: Vec<String>,
}

/// The names of the charts that this run has figures for.
#[must_use]
pub fn names(view: &View) -> Vec<String> {
    chart::all(view).into_iter().map(|chart| chart.name).collect()
}

/// The chart of this name as SVG, on white paper, with its title and what it shows in words.
///
/// # Errors
/// If the run has no such chart; the message names those it has.
pub fn of(view: &View, name: &str) -> Result<String, UnknownChart> {
    let charts = chart::all(view);
    let found: Option<&Chart> = charts.iter().find(|chart| chart.name == name);
    match found {
        Some(chart) => Ok(chart::canvas::standalone(&chart.wide, &chart.title, &chart.alternative)),
        None => Err(UnknownChart { asked: name.into(), there_are: charts.into_iter().map(|chart| chart.name).collect() }),
    }
}
