//! The view as JSON; `docs/schema/report.schema.json` describes it.
use crate::form::{Form, FormError, Write};
use crate::view::{SCHEMA, View};

/// This form.
pub const FORM: Form = Form {
    name: "json",
    about: "Everything that the report shows (docs/schema/report.schema.json)",
    media_type: "application/json",
    extension: "json",
    write: Write::View(|view| {
        of(view)
            .map(String::into_bytes)
            .map_err(|error| FormError::Encoding { form: "json", reason: error.to_string() })
    }),
};

/// A text that is no report of this version.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It is no JSON, or not of this form.
    #[error("not a report in JSON: {0}; `pippin export --format json` writes one")]
    Form(#[from] serde_json::Error),
    /// It is of another version.
    #[error(
        "a report of schema {found}, but this Pippin reads schema {SCHEMA}; export it again with this version"
    )]
    Version {
        /// What it says.
        found: u32,
    },
}

/// The view as JSON, indented.
///
/// # Errors
/// If a value cannot be written, which no value of a view is known to cause.
pub fn of(view: &View) -> Result<String, JsonError> {
    let mut text = serde_json::to_string_pretty(view)?;
    text.push('\n');
    Ok(text)
}

/// Reads what [`of`] wrote.
///
/// # Errors
/// If the text is something else.
pub fn read(text: &str) -> Result<View, JsonError> {
    /// The version alone, which is looked at before the rest.
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let found = serde_json::from_str::<Version>(text)?.schema;
    if found != SCHEMA {
        return Err(JsonError::Version { found });
    }
    Ok(serde_json::from_str(text)?)
}
