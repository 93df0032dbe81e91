//! The body of a request from the flags, with its Content-Type.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pippin_model::workload::percent_encode;
use std::fs;
use std::io::Read;
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
pub fn of(arguments: &RequestArguments) -> Result<Option<Body>, CliError> {
    let RequestArguments { body, json_body, form, data_urlencode, .. } = arguments;
    let made = if let Some(text) = body {
        Some((text_or_file("-b", text)?, None))
    } else if let Some(text) = json_body {
        Some((json(text_or_file("--json-body", text)?)?, Some("application/json".into())))
    } else if !form.is_empty() {
        Some(multipart(form).map(|(bytes, media_type)| (bytes, Some(media_type)))?)
    } else if !data_urlencode.is_empty() {
        Some((urlencoded(data_urlencode)?, Some("application/x-www-form-urlencoded".into())))
    } else {
        None
    };
    Ok(made.map(|(bytes, media_type)| Body { bytes, media_type }))
}

/// The value of `-u` as a header's value (RFC 7617).
pub fn basic(user: &str) -> Result<String, CliError> {
    if !user.contains(':') {
        return Err(CliError::User(format!(
            "-u `{user}` has no password; write -u {user}:PASSWORD"
        )));
    }
    Ok(format!("Basic {}", STANDARD.encode(user)))
}

/// The text itself, or the content of the file that it names with `@`.
pub fn text_or_file(flag: &str, text: &str) -> Result<Vec<u8>, CliError> {
    text.strip_prefix('@').map_or_else(|| Ok(text.into()), |name| file(flag, name))
}

fn file(flag: &str, name: &str) -> Result<Vec<u8>, CliError> {
    let bytes = if name == "-" { standard_input() } else { fs::read(name) };
    bytes.map_err(|error| CliError::User(format!("{flag}: {name}: {error}")))
}

/// Standard input. It can be read only once, but several requests may ask for it.
fn standard_input() -> std::io::Result<Vec<u8>> {
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes.clone());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(READ.get_or_init(|| bytes).clone())
}

fn json(bytes: Vec<u8>) -> Result<Vec<u8>, CliError> {
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&bytes);
    parsed.map(|_| bytes).map_err(|error| {
        CliError::User(format!("--json-body is not JSON: {error}; use -b for other bodies"))
    })
}

/// As curl's option of this name: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE`, `NAME@FILE`.
fn urlencoded(fields: &[String]) -> Result<Vec<u8>, CliError> {
    let mut encoded = Vec::new();
    for field in fields {
        let at = field.find(['=', '@']);
        let (name, content) = match at {
            Some(at) if field[at..].starts_with('@') => {
                let content = file("--data-urlencode", &field[at + 1..])?;
                let content = String::from_utf8(content).map_err(|_| {
                    CliError::User(format!("--data-urlencode {field}: the file is not UTF-8"))
                })?;
                (&field[..at], content)
            }
            Some(at) => (&field[..at], field[at + 1..].to_string()),
            None => ("", field.clone()),
        };
        let value = percent_encode(&content);
        encoded.push(if name.is_empty() { value } else { format!("{name}={value}") });
    }
    Ok(encoded.join("&").into_bytes())
}

/// A part of a form.
struct Part {
    name: String,
    file_name: Option<String>,
    media_type: Option<String>,
    content: Vec<u8>,
}

/// multipart/form-data (RFC 7578), with its media type.
fn multipart(form: &[String]) -> Result<(Vec<u8>, String), CliError> {
    let parts: Vec<Part> = form.iter().map(|text| part(text)).collect::<Result<_, _>>()?;
    let boundary = boundary(&parts);
    let mut bytes = Vec::new();
    for Part { name, file_name, media_type, content } in &parts {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name));
        if let Some(file_name) = file_name {
            head.push_str(&format!("; filename=\"{}\"", quoted(file_name)));
        }
        if let Some(media_type) = media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((bytes, format!("multipart/form-data; boundary={boundary}")))
}

fn part(text: &str) -> Result<Part, CliError> {
    let wrong = |why: &str| {
        CliError::User(format!("-F `{text}`: {why}; write NAME=VALUE, NAME=@FILE or NAME=<FILE"))
    };
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
    if name.is_empty() {
        return Err(wrong("it has no name"));
    }
    let mut pieces = value.split(';');
    let mut content = pieces.next().unwrap_or_default().to_string();
    let (mut file_name, mut media_type) = (None, None);
    for piece in pieces {
        match piece.trim_start().split_once('=') {
            Some(("type", value)) => media_type = Some(value.to_string()),
            Some(("filename", value)) => file_name = Some(value.trim_matches('"').to_string()),
            // Other semicolons belong to the value, as in curl.
            _ => content = format!("{content};{piece}"),
        }
    }
    if media_type.as_deref().is_some_and(|kind| kind.bytes().any(|byte| byte.is_ascii_control())) {
        return Err(wrong("its type has control characters"));
    }
    let content = if let Some(path) = content.strip_prefix('@') {
        let base = path.rsplit('/').next().unwrap_or(path);
        file_name.get_or_insert_with(|| base.to_string());
        media_type.get_or_insert_with(|| media_type_of(base).to_string());
        file("-F", path)?
    } else if let Some(path) = content.strip_prefix('<') {
        file("-F", path)?
    } else {
        content.into_bytes()
    };
    Ok(Part { name: name.into(), file_name, media_type, content })
}

/// The media type that curl would choose for this file.
fn media_type_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

/// A name for use within quotes (HTML, multipart/form-data encoding algorithm).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A line that occurs in no part. The same form always gets the same one, so that loads can be
/// repeated exactly.
fn boundary(parts: &[Part]) -> String {
    (0_u64..)
        .map(|number| format!("------------------------pippin{number:010}"))
        .find(|line| {
            !parts
                .iter()
                .any(|part| part.content.windows(line.len()).any(|piece| piece == line.as_bytes()))
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(form: &[&str]) -> (String, String) {
        let form: Vec<String> = form.iter().map(|part| (*part).into()).collect();
        let (bytes, media_type) = multipart(&form).unwrap();
        (String::from_utf8(bytes).unwrap(), media_type)
    }

    #[test]
    fn a_form_has_fields_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "hello").unwrap();
        let path = path.display();
        let (body, media_type) =
            text(&["name=Ana;x", &format!("file=@{path}"), &format!("text=<{path};type=text/x")]);
        let line = media_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        assert_eq!(
            body,
            format!(
                "--{line}\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAna;x\r\n\
                 --{line}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                 Content-Type: text/plain\r\n\r\nhello\r\n\
                 --{line}\r\nContent-Disposition: form-data; name=\"text\"\r\n\
                 Content-Type: text/x\r\n\r\nhello\r\n--{line}--\r\n"
            )
        );
    }

    #[test]
    fn the_boundary_is_in_no_part() {
        let first = boundary(&[]);
        let (body, media_type) = text(&[&format!("a={first}")]);
        assert!(!media_type.ends_with(&first) && body.contains(&first));
    }

    #[test]
    fn fields_are_encoded_as_curl_does() {
        let fields = ["a=b c", "=x&y", "plain"].map(String::from);
        assert_eq!(urlencoded(&fields).unwrap(), b"a=b%20c&x%26y&plain");
    }

    #[test]
    fn what_cannot_be_a_body_is_refused_with_the_fix() {
        let refused = |result: Result<Vec<u8>, CliError>| result.unwrap_err().to_string();
        assert!(refused(json(b"{".to_vec())).contains("use -b"));
        assert!(refused(text_or_file("-b", "@/no/file")).contains("-b: /no/file: No such file"));
        for wrong in ["x", "=x", "a=@/no/file"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
        assert!(basic("ana").unwrap_err().to_string().contains("-u ana:PASSWORD"));
    }
}
