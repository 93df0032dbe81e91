//! The forms in which a run can be written. Each has one file and one line in [`FORMS`]; `pippin
//! export`, its `--help` and `pippin serve` read that table.
pub mod csv;
pub mod hlog;
pub mod json;
pub mod markdown;
pub mod png;
pub mod prometheus;
pub mod record;
pub mod svg;

use pippin_model::run::RunRecord;

use crate::view::View;
use svg::{Ground, UnknownChart};

/// Every form; docs/formats.md describes them.
pub const FORMS: [&Form; 9] = [
    &markdown::FORM,
    &csv::FORM,
    &json::FORM,
    &record::FORM,
    &hlog::FORM,
    &prometheus::FORM,
    &crate::html::FORM,
    &svg::FORM,
    &png::FORM,
];

/// A form of a run.
#[derive(Debug)]
pub struct Form {
    /// Its name on the command line and in addresses: `csv`.
    pub name: &'static str,
    /// What it is, for `--help`.
    pub about: &'static str,
    /// Its media type (RFC 6838).
    pub media_type: &'static str,
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// The function that writes it.
    pub write: Write,
}

/// What a form is made from.
#[derive(Debug, Clone, Copy)]
pub enum Write {
    /// The view.
    View(fn(&View) -> Result<Vec<u8>, FormError>),
    /// The record itself, with every window, histogram and sample.
    Record(fn(&RunRecord) -> Result<Vec<u8>, FormError>),
    /// One chart, by its name.
    Chart(fn(&View, &str, Ground) -> Result<Vec<u8>, FormError>),
}

/// Why a run was not written in a form.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    /// The run has no chart of this name.
    #[error(transparent)]
    UnknownChart(#[from] UnknownChart),
    /// The form shows one chart, but no chart was named.
    #[error("`{form}` is one chart, and {}", charts(there_are))]
    ChartNeeded {
        /// The form.
        form: &'static str,
        /// The names of the charts that this run has figures for.
        there_are: Vec<String>,
    },
    /// The form shows the whole run, but a chart was named.
    #[error("`{0}` is the whole run, so a chart cannot be named")]
    NotAChart(&'static str),
    /// It could not be encoded. No run is known to cause this.
    #[error("the run cannot be written as `{form}`: {reason}")]
    Encoding {
        /// The form.
        form: &'static str,
        /// Why.
        reason: String,
    },
}

fn charts(there_are: &[String]) -> String {
    match there_are {
        [] => "this run has no figures for any".into(),
        some => format!("none is named; there are {}", some.join(", ")),
    }
}

impl Form {
    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMS.into_iter().find(|form| form.name == name)
    }

    /// Whether it shows one chart and not the whole run.
    #[must_use]
    pub const fn is_chart(&self) -> bool {
        matches!(self.write, Write::Chart(_))
    }

    /// The run in this form. A chart needs a name and a ground; the other forms take none.
    ///
    /// # Errors
    /// See [`FormError`].
    pub fn render(
        &self,
        record: &RunRecord,
        chart: Option<(&str, Ground)>,
    ) -> Result<Vec<u8>, FormError> {
        match (self.write, chart) {
            (Write::View(write), None) => write(&View::of(record)),
            (Write::Record(write), None) => write(record),
            (Write::Chart(write), Some((name, ground))) => write(&View::of(record), name, ground),
            (Write::Chart(_), None) => Err(FormError::ChartNeeded {
                form: self.name,
                there_are: svg::names(&View::of(record)),
            }),
            (_, Some(_)) => Err(FormError::NotAChart(self.name)),
        }
    }
}
