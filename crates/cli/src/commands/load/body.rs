//! The body of a request from the flags, with its Content-Type.
mod field;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pippin_model::text::bounded;
use pippin_model::workload::percent_encode;
use std::path::Path;
use std::sync::OnceLock;

use field::{Field, Kind};

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
    let bytes =
        if name == "-" { standard_input() } else { bounded::read(Path::new(name), bounded::DATA) };
    bytes.map_err(|error| CliError::User(format!("{flag}: {name}: {error}")))
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

/// As curl's option of this name: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE`, `NAME@FILE`.
fn urlencoded(fields: &[String]) -> Result<Vec<u8>, CliError> {
    let mut encoded = Vec::new();
    for field in fields {
        // A `=` anywhere counts before a `@`, so that a name may hold a `@`.
        let at = field.find('=').or_else(|| field.find('@'));
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

/// Reads a part as curl does.
fn part(text: &str) -> Result<Part, CliError> {
    let wrong = |why: &str| {
        CliError::User(format!("-F `{text}`: {why}; write NAME=VALUE, NAME=@FILE or NAME=<FILE"))
    };
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
    if name.is_empty() {
        return Err(wrong("it has no name"));
    }
    let field = Field::read(value).map_err(|why| wrong(&why))?;
    let Field { kind, value, file_name, media_type } = field;
    if media_type.as_deref().is_some_and(|kind| kind.bytes().any(|byte| byte.is_ascii_control())) {
        return Err(wrong("its type has control characters"));
    }
    let path = (kind != Kind::Text).then_some(value.as_str());
    let base = path.map(|path| path.rsplit('/').next().unwrap_or(path));
    let file_name = file_name.or_else(|| base.filter(|_| kind == Kind::Upload).map(Into::into));
    let media_type = media_type.or_else(|| implied_type(file_name.as_deref(), base));
    let content = path.map(|path| file("-F", path)).transpose()?;
    let content = content.unwrap_or_else(|| value.into_bytes());
    Ok(Part { name: name.into(), file_name, media_type, content })
}

/// The media type that curl sends where none is given: that of the name which is sent, else that of
/// the file's own name. A text without a file name needs none.
fn implied_type(sent: Option<&str>, own: Option<&str>) -> Option<String> {
    let known = [sent, own].into_iter().flatten().find_map(media_type_of);
    let found = match (sent, own) {
        (None, _) => known.filter(|kind| *kind != "text/plain"),
        (Some(_), None) => known,
        (Some(_), Some(_)) => known.or(Some("application/octet-stream")),
    };
    found.map(Into::into)
}

/// The media type that curl knows for the ending of a file's name.
fn media_type_of(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => return None,
    })
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
            text(&["name=Ana", &format!("file=@{path}"), &format!("text=<{path};type=text/x")]);
        let line = media_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        assert_eq!(
            body,
            format!(
                "--{line}\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAna\r\n\
                 --{line}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                 Content-Type: text/plain\r\n\r\nhello\r\n\
                 --{line}\r\nContent-Disposition: form-data; name=\"text\"\r\n\
                 Content-Type: text/x\r\n\r\nhello\r\n--{line}--\r\n"
            )
        );
    }

    /// Each as curl 7.88.1 sends it: the content, the name of the file, the type.
    #[test]
    fn a_part_is_what_curl_sends() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["f.txt", "a;b.txt", "a.bin", "a.html"] {
            std::fs::write(folder.path().join(name), "FILE").unwrap();
        }
        let at = folder.path().display();
        let cases = [
            ("n=a;type=text/html;charset=utf-8".into(), "a", None, Some("text/html;charset=utf-8")),
            ("n=\"a;b\"".into(), "a;b", None, None),
            (r#"n="say \"hi\"""#.into(), "say \"hi\"", None, None),
            ("n=a;filename=x.png".into(), "a", Some("x.png"), Some("image/png")),
            (
                format!("f=@{at}/f.txt;filename=\"x;y.txt\""),
                "FILE",
                Some("x;y.txt"),
                Some("text/plain"),
            ),
            (format!("f=@\"{at}/a;b.txt\""), "FILE", Some("a;b.txt"), Some("text/plain")),
            (format!("f=@{at}/f.txt;filename=x"), "FILE", Some("x"), Some("text/plain")),
            (format!("f=@{at}/a.bin"), "FILE", Some("a.bin"), Some("application/octet-stream")),
            (format!("f=<{at}/f.txt"), "FILE", None, None),
            (format!("f=<{at}/a.html"), "FILE", None, Some("text/html")),
        ];
        for (given, content, file_name, media_type) in cases {
            let Part { content: sent, file_name: name, media_type: kind, .. } =
                part(&given).unwrap();
            let sent = String::from_utf8(sent).unwrap();
            assert_eq!(
                (sent.as_str(), name.as_deref(), kind.as_deref()),
                (content, file_name, media_type),
                "{given}"
            );
        }
    }

    #[test]
    fn the_boundary_is_in_no_part() {
        let first = boundary(&[]);
        let (body, media_type) = text(&[&format!("a={first}")]);
        assert!(!media_type.ends_with(&first) && body.contains(&first));
    }

    #[test]
    fn fields_are_encoded_as_curl_does() {
        let fields = ["a=b c", "=x&y", "plain", "a@b=c@d"].map(String::from);
        assert_eq!(urlencoded(&fields).unwrap(), b"a=b%20c&x%26y&plain&a@b=c%40d");
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
