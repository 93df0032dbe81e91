//! A chart as its own file, for a README or a blog.
use crate::chart::canvas::{self, Standalone};
use crate::chart::{self, Chart, palette, provenance, summary};
use crate::form::{Form, Write};
use crate::view::View;

/// This form.
pub const FORM: Form = Form {
    name: "svg",
    about: "One chart",
    media_type: "image/svg+xml",
    extension: "svg",
    write: Write::Chart(|view, name, ground| Ok(render(view, name, ground)?.into_bytes())),
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

/// The names of the charts that this run has figures for. The first is the run in one picture.
#[must_use]
pub fn names(view: &View) -> Vec<String> {
    let charts = chart::all(view).into_iter().map(|chart| chart.name);
    std::iter::once(summary::NAME.to_string()).chain(charts).collect()
}

/// The chart of this name as SVG, with its ground, heading and alternative text.
///
/// # Errors
/// If the run has no such chart. The message names the charts it has.
pub fn render(view: &View, name: &str, ground: Ground) -> Result<String, UnknownChart> {
    let on_paper = if name == summary::NAME {
        summary::render(view)
    } else {
        let charts = chart::all(view);
        let found = charts.iter().find(|chart| chart.name == name);
        let unknown = || UnknownChart { asked: name.into(), there_are: names(view) };
        on_paper(view, found.ok_or_else(unknown)?)
    };
    Ok(match ground {
        Ground::Light => on_paper,
        Ground::Dark => palette::on_dark(&on_paper, view.measured().count()),
    })
}

fn on_paper(view: &View, chart: &Chart) -> String {
    let heading = format!("{} · {}", view.run.title, chart.title);
    let words = Standalone {
        heading: &heading,
        foot: [&view.run.load, &provenance(view)],
        title: &chart.title,
        alternative: &chart.alternative,
    };
    canvas::standalone(&chart.drawings.wide, &words)
}
