//! A chart as its own file, for a README or a blog.
use crate::chart::{self, Chart, palette};
use crate::form::{Form, Write};
use crate::view::View;

/// This form.
pub const FORM: Form = Form {
    name: "svg",
    about: "One chart",
    media_type: "image/svg+xml",
    extension: "svg",
    write: Write::Chart(|view, name, ground| Ok(of(view, name, ground)?.into_bytes())),
};

/// There is no such chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no chart `{asked}` of this run; there are {}", there_are.join(", "))]
pub struct UnknownChart {
    /// The name that was asked for.
    pub asked: String,
    /// The names of the charts that this run has figures for.
    pub there_are: Vec<String>,
}

/// What a chart is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// White paper.
    Light,
    /// The dark ground of the page.
    Dark,
}

/// The names of the charts that this run has figures for.
#[must_use]
pub fn names(view: &View) -> Vec<String> {
    chart::all(view).into_iter().map(|chart| chart.name).collect()
}

/// The chart of this name as SVG, with its ground, heading and alternative text.
///
/// # Errors
/// If the run has no such chart. The message names the charts it has.
pub fn of(view: &View, name: &str, ground: Ground) -> Result<String, UnknownChart> {
    let charts = chart::all(view);
    let found: Option<&Chart> = charts.iter().find(|chart| chart.name == name);
    let Some(chart) = found else {
        return Err(UnknownChart {
            asked: name.into(),
            there_are: charts.into_iter().map(|chart| chart.name).collect(),
        });
    };
    let heading = format!("{} · {}", view.run.title, chart.title);
    let on_paper =
        chart::canvas::standalone(&chart.drawings.wide, &heading, &chart.title, &chart.alternative);
    Ok(match ground {
        Ground::Light => on_paper,
        Ground::Dark => palette::on_dark(&on_paper, view.measured().count()),
    })
}
