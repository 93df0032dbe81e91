//! The whole run as the store keeps it, as JSON on one line. `pippin compare` reads it.
use crate::form::{Form, FormError, Write};

/// This form.
pub const FORM: Form = Form {
    name: "record",
    about: "The whole run as it is stored; `pippin compare` reads it",
    media_type: "application/json",
    extension: "record.json",
    write: Write::Record(|record| {
        let mut text = serde_json::to_vec(record)
            .map_err(|error| FormError::Encoding { form: "record", reason: error.to_string() })?;
        text.push(b'\n');
        Ok(text)
    }),
};
