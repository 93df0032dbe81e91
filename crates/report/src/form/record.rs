//! The whole run as the store keeps it, with the report that follows from it, as JSON on one line.
//! `pippin compare` reads the run; `pippin verify` computes the report anew and compares.
use pippin_model::run::RunRecord;
use serde::Serialize;

use crate::form::{Form, FormError, Write};
use crate::view::View;

/// This form.
pub const FORM: Form = Form {
    name: "record",
    about: "The whole run as it is stored, and its report; for `pippin compare` and `pippin verify`",
    media_type: "application/json",
    extension: "record.json",
    write: Write::Record(|record| {
        render(record, &View::of(record))
            .map_err(|error| FormError::Encoding { form: "record", reason: error.to_string() })
    }),
};

/// A run with its report.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    report: &'a View,
}

/// A run and the report `view` of it.
///
/// # Errors
/// If a value cannot be written. No value of a run is known to cause this.
pub fn render(record: &RunRecord, view: &View) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&Whole { record, report: view })?;
    text.push(b'\n');
    Ok(text)
}
