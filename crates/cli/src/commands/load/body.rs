//! The body of a request from the flags, with its Content-Type.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pippin_model::request::form::{self, Written};
use pippin_model::text::bounded;
use std::path::Path;
use std::sync::OnceLock;

use crate::arguments::request::RequestArguments;
use crate::exit::CliError;

/// A body, and its media type if the flag implies one.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    pub bytes: Vec<u8>,
    pub media_type: Option<String>,
}

/// The body that the flags describe; `None` if there is none.
pub fn from_arguments(arguments: &RequestArguments) -> Result<Option<Body>, CliError> {
    let RequestArguments { body, json_body, form, data_urlencode, .. } = arguments;
    let made = if let Some(text) = body {
        Some((text_or_file("-b", text)?, None))
    } else if let Some(text) = json_body {
        Some((json(text_or_file("--json-body", text)?)?, Some("application/json".into())))
    } else if !form.is_empty() {
        let fields: Vec<Written> = form.iter().cloned().map(Written::Field).collect();
        let (bytes, media_type) =
            form::multipart(&fields, &mut |name| named("-F", name)).map_err(CliError::User)?;
        Some((bytes, Some(media_type)))
    } else if !data_urlencode.is_empty() {
        let mut files = |name: &str| named("--data-urlencode", name);
        let fields: Result<Vec<String>, String> =
            data_urlencode.iter().map(|field| form::urlencoded(field, &mut files)).collect();
        let bytes = fields.map_err(CliError::User)?.join("&").into_bytes();
        Some((bytes, Some("application/x-www-form-urlencoded".into())))
    } else {
        None
    };
    Ok(made.map(|(bytes, media_type)| Body { bytes, media_type }))
}

/// The value of `-u` as a header's value (RFC 7617).
pub fn basic(user: &str) -> Result<String, CliError> {
    who(user)?;
    Ok(format!("Basic {}", STANDARD.encode(user)))
}

/// The name and the password of `-u`.
pub fn who(user: &str) -> Result<(&str, &str), CliError> {
    user.split_once(':').ok_or_else(|| {
        CliError::User(format!("-u `{user}` has no password; write -u {user}:PASSWORD"))
    })
}

/// The text itself, or the content of the file that it names with `@`.
pub fn text_or_file(flag: &str, text: &str) -> Result<Vec<u8>, CliError> {
    text.strip_prefix('@').map_or_else(|| Ok(text.into()), |name| file(flag, name))
}

fn file(flag: &str, name: &str) -> Result<Vec<u8>, CliError> {
    named(flag, name).map_err(CliError::User)
}

fn named(flag: &str, name: &str) -> Result<Vec<u8>, String> {
    let bytes =
        if name == "-" { standard_input() } else { bounded::read(Path::new(name), bounded::DATA) };
    bytes.map_err(|error| format!("{flag}: {name}: {error}"))
}

/// Standard input. It can be read only once, but several requests may ask for it.
fn standard_input() -> std::io::Result<Vec<u8>> {
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes.clone());
    }
    let bytes = bounded::up_to(std::io::stdin().lock(), bounded::DATA)?;
    Ok(READ.get_or_init(|| bytes).clone())
}

fn json(bytes: Vec<u8>) -> Result<Vec<u8>, CliError> {
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&bytes);
    parsed.map(|_| bytes).map_err(|error| {
        CliError::User(format!("--json-body is not JSON: {error}; use -b for other bodies"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_body_is_refused_with_the_fix() {
        let refused = |result: Result<Vec<u8>, CliError>| result.unwrap_err().to_string();
        assert!(refused(json(b"{".to_vec())).contains("use -b"));
        assert!(refused(text_or_file("-b", "@/no/file")).contains("-b: /no/file: No such file"));
        assert!(basic("ana").unwrap_err().to_string().contains("-u ana:PASSWORD"));
    }
}
