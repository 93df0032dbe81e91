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
        render(view)
            .map(String::into_bytes)
            .map_err(|error| FormError::Encoding { form: "json", reason: error.to_string() })
    }),
};

/// Why a text is not a report of this version.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It is not JSON, or not of this form.
    #[error("not a report in JSON: {0}; `pippin export --format json` writes one")]
    Form(#[from] serde_json::Error),
    /// It is of another version.
    #[error(
        "a report of schema {found}, but this Pippin reads schema {SCHEMA}; export it again with this version"
    )]
    Version {
        /// The version in the text.
        found: u32,
    },
}

/// The view as JSON, indented.
///
/// # Errors
/// If a value cannot be written. No value of a view is known to cause this.
pub fn render(view: &View) -> Result<String, JsonError> {
    let mut text = serde_json::to_string_pretty(view)?;
    text.push('\n');
    Ok(text)
}

/// Reads the output of [`render`].
///
/// # Errors
/// If the text is something else.
pub fn read(text: &str) -> Result<View, JsonError> {
    /// Only the version, which is checked before the rest is read.
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
