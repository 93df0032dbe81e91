//! Bodies of forms as curl makes them: `multipart/form-data` (RFC 7578) and
//! `application/x-www-form-urlencoded`.
//!
//! | module | what it does |
//! |---|---|
//! | [`field`] | the value of a field with its pieces |
pub mod field;

use crate::workload::{percent_encode, percent_encode_bytes};
use field::{Field, Kind};

/// Reads a file that a field names.
pub type Files<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// Fields of curl's `--data-urlencode`: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE`,
/// `NAME@FILE`. A space is `+`, as in forms.
///
/// # Errors
/// If a file cannot be read.
pub fn urlencoded(field: &str, files: Files<'_>) -> Result<String, String> {
    // A `=` anywhere counts before a `@`, so that a name may hold a `@`.
    let at = field.find('=').or_else(|| field.find('@'));
    let (name, content) = match at {
        Some(at) if field[at..].starts_with('@') => (&field[..at], files(&field[at + 1..])?),
        Some(at) => (&field[..at], field[at + 1..].into()),
        None => ("", field.into()),
    };
    let value = percent_encode_bytes(&content).replace("%20", "+");
    Ok(if name.is_empty() { value } else { format!("{name}={value}") })
}

/// A part of a form.
struct Part {
    name: String,
    file_name: Option<String>,
    media_type: Option<String>,
    content: Vec<u8>,
}

/// Fields with their values, percent-encoded: `a=1&b=x%20y`.
pub fn pairs<N: AsRef<str>, V: AsRef<str>>(fields: impl IntoIterator<Item = (N, V)>) -> String {
    let each = fields.into_iter().map(|(name, value)| {
        format!("{}={}", percent_encode(name.as_ref()), percent_encode(value.as_ref()))
    });
    each.collect::<Vec<_>>().join("&")
}

/// A form of fields of curl's `-F`, with its media type.
///
/// # Errors
/// If a field is wrong, or a file cannot be read.
pub fn multipart(form: &[Written], files: Files<'_>) -> Result<(Vec<u8>, String), String> {
    let parts: Vec<Part> = form.iter().map(|field| part(field, files)).collect::<Result<_, _>>()?;
    Ok(written(&parts))
}

/// A form of texts, with its media type; `None` if one has no name.
pub fn multipart_of_texts<N: Into<String>, V: Into<String>>(
    fields: impl IntoIterator<Item = (N, V)>,
) -> Option<(Vec<u8>, String)> {
    let text = |(name, value): (N, V)| {
        let (name, content) = (name.into(), value.into().into_bytes());
        (!name.is_empty()).then_some(Part { name, file_name: None, media_type: None, content })
    };
    let parts: Vec<Part> = fields.into_iter().map(text).collect::<Option<_>>()?;
    Some(written(&parts))
}

fn written(parts: &[Part]) -> (Vec<u8>, String) {
    let boundary = boundary(parts);
    let mut bytes = Vec::new();
    for Part { name, file_name, media_type, content } in parts {
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
    (bytes, format!("multipart/form-data; boundary={boundary}"))
}

/// A field as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// `NAME=VALUE`, `NAME=@FILE` or `NAME=<FILE`, with pieces (`-F`).
    Field(String),
    /// `NAME=VALUE`, where no character has a meaning (`--form-string`).
    Text(String),
}

/// Reads a part as curl does.
fn part(written: &Written, files: Files<'_>) -> Result<Part, String> {
    let (Written::Field(text) | Written::Text(text)) = written;
    let wrong =
        |why: &str| format!("-F `{text}`: {why}; write NAME=VALUE, NAME=@FILE or NAME=<FILE");
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
    if name.is_empty() {
        return Err(wrong("it has no name"));
    }
    if let Written::Text(_) = written {
        return Ok(Part {
            name: name.into(),
            file_name: None,
            media_type: None,
            content: value.into(),
        });
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
    let content = path.map(files).transpose()?;
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

/// A line that occurs in no part, as long as curl's. The same form always gets the same one, so
/// that loads can be repeated exactly.
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

    /// Files of the tests, by name.
    fn file(name: &str) -> Result<Vec<u8>, String> {
        match name {
            "at/a.txt" => Ok("hello".into()),
            "at/f.txt" | "at/a;b.txt" | "at/a.bin" | "at/a.html" => Ok("FILE".into()),
            _ => Err(format!("there is no {name}")),
        }
    }

    fn text(form: &[&str]) -> (String, String) {
        let form: Vec<Written> = form.iter().map(|part| Written::Field((*part).into())).collect();
        let (bytes, media_type) = multipart(&form, &mut file).unwrap();
        (String::from_utf8(bytes).unwrap(), media_type)
    }

    #[test]
    fn a_form_has_fields_and_files() {
        let (body, media_type) =
            text(&["name=Ana", "file=@at/a.txt", "text=<at/a.txt;type=text/x"]);
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
        let cases = [
            ("n=a;type=text/html;charset=utf-8", "a", None, Some("text/html;charset=utf-8")),
            ("n=\"a;b\"", "a;b", None, None),
            (r#"n="say \"hi\"""#, "say \"hi\"", None, None),
            ("n=a;filename=x.png", "a", Some("x.png"), Some("image/png")),
            ("f=@at/f.txt;filename=\"x;y.txt\"", "FILE", Some("x;y.txt"), Some("text/plain")),
            ("f=@\"at/a;b.txt\"", "FILE", Some("a;b.txt"), Some("text/plain")),
            ("f=@at/f.txt;filename=x", "FILE", Some("x"), Some("text/plain")),
            ("f=@at/a.bin", "FILE", Some("a.bin"), Some("application/octet-stream")),
            ("f=<at/f.txt", "FILE", None, None),
            ("f=<at/a.html", "FILE", None, Some("text/html")),
        ];
        for (given, content, file_name, media_type) in cases {
            let found = part(&Written::Field(given.into()), &mut file).unwrap();
            let sent = String::from_utf8(found.content).unwrap();
            assert_eq!(
                (sent.as_str(), found.file_name.as_deref(), found.media_type.as_deref()),
                (content, file_name, media_type),
                "{given}"
            );
        }
        let text = part(&Written::Text("a=@b;c".into()), &mut file).unwrap();
        assert_eq!(text.content, b"@b;c");
    }

    /// A name may hold what separates a name from its value where both are one text.
    #[test]
    fn fields_of_pairs_keep_their_names() {
        let fields = [("a=b", "1 2"), ("c", "=&")];
        assert_eq!(pairs(fields), "a%3Db=1%202&c=%3D%26");
        let (bytes, _) = multipart_of_texts(fields).unwrap();
        let body = String::from_utf8(bytes).unwrap();
        for part in ["name=\"a=b\"\r\n\r\n1 2\r\n", "name=\"c\"\r\n\r\n=&\r\n"] {
            assert!(body.contains(part), "{part}: {body}");
        }
        assert_eq!(multipart_of_texts([("", "x")]), None);
    }

    #[test]
    fn the_boundary_is_in_no_part() {
        let first = boundary(&[]);
        let (body, media_type) = text(&[&format!("a={first}")]);
        assert!(!media_type.ends_with(&first) && body.contains(&first));
    }

    #[test]
    fn fields_are_encoded_as_curl_does() {
        let cases = [
            ("a=b c", "a=b+c"),
            ("=x&y", "x%26y"),
            ("plain", "plain"),
            ("a@b=c@d", "a@b=c%40d"),
            ("n@at/a.txt", "n=hello"),
        ];
        for (field, wanted) in cases {
            assert_eq!(urlencoded(field, &mut file).unwrap(), wanted);
        }
    }

    #[test]
    fn what_cannot_be_a_part_is_refused() {
        for wrong in ["x", "=x", "a=@/no/file"] {
            assert!(part(&Written::Field(wrong.into()), &mut file).is_err(), "{wrong}");
        }
    }
}
