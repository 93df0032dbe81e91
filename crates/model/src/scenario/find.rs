//! Where to find values in an answer: `json:$.id`, `json:/items/0/id`, `header:Location`,
//! `cookie:session`, `regex:value="([^"]+)"`.
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json_path::JsonPath;
use std::cell::OnceCell;
use std::fmt;

/// A place in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The first node of a path (RFC 9535), or of a pointer (RFC 6901), in a body of JSON.
    Json(String),
    /// The value of the first header of this name.
    Header(String),
    /// The value of a cookie that this answer sets.
    Cookie(String),
    /// The first group of the first match in the body; the whole match if there is no group.
    Regex(String),
}

impl Source {
    /// Reads `json:$.id` and so on.
    ///
    /// # Errors
    /// If the kind is unknown, or its path or expression is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let forms = "json:$.id, json:/id, header:NAME, cookie:NAME and regex:EXPRESSION";
        let source = match text.split_once(':') {
            Some(("json", path)) => Self::Json(path.trim().into()),
            Some(("header", name)) => Self::Header(name.trim().into()),
            Some(("cookie", name)) => Self::Cookie(name.trim().into()),
            Some(("regex", expression)) => Self::Regex(expression.into()),
            _ => return Err(format!("`{text}` is not a place in an answer; there are {forms}")),
        };
        source.finder()?;
        Ok(source)
    }

    /// The finder for it.
    ///
    /// # Errors
    /// If the path, the name or the expression is wrong.
    pub fn finder(&self) -> Result<Finder, String> {
        Ok(match self {
            Self::Json(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                Finder::Pointer(pointer.clone())
            }
            Self::Json(path) => Finder::Path(JsonPath::parse(path).map_err(|error| {
                format!("`{path}` is not a JSON path: {error}; write $.items[0].id or /items/0/id")
            })?),
            Self::Header(name) | Self::Cookie(name)
                if name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic()) =>
            {
                return Err(format!("`{self}` names no header or cookie"));
            }
            Self::Header(name) => Finder::Header(name.clone()),
            Self::Cookie(name) => Finder::Cookie(name.clone()),
            Self::Regex(expression) => Finder::Regex(regex(expression)?),
        })
    }
}

/// A regular expression over bytes.
///
/// # Errors
/// If the text is not a regular expression.
pub fn regex(expression: &str) -> Result<Regex, String> {
    Regex::new(expression).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
        format!("`{expression}` is not a regular expression: {why}")
    })
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(path) => write!(f, "json:{path}"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Cookie(name) => write!(f, "cookie:{name}"),
            Self::Regex(expression) => write!(f, "regex:{expression}"),
        }
    }
}

/// An answer in which values are searched.
#[derive(Debug)]
pub struct Answer<'a> {
    head: &'a [u8],
    /// The body without framing.
    pub body: &'a [u8],
    json: OnceCell<Option<Value>>,
}

impl<'a> Answer<'a> {
    /// `head`: from the status line to the empty line.
    #[must_use]
    pub const fn new(head: &'a [u8], body: &'a [u8]) -> Self {
        Self { head, body, json: OnceCell::new() }
    }

    /// The values of all headers of this name, in order.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &'a str> {
        fields(self.head)
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))
            .filter_map(|(_, value)| str::from_utf8(value).ok())
    }

    /// The body as JSON, read once; `None` if it is not JSON.
    fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(self.body).ok()).as_ref()
    }
}

/// The header fields of a valid head.
fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// Finds a value.
#[derive(Debug, Clone)]
pub enum Finder {
    /// By a pointer of RFC 6901.
    Pointer(String),
    /// By a path of RFC 9535.
    Path(JsonPath),
    /// In a header.
    Header(String),
    /// In `Set-Cookie`.
    Cookie(String),
    /// In the body.
    Regex(Regex),
}

impl Finder {
    /// The value; `None` if there is none. A JSON null, and a value that is not UTF-8, count as
    /// none.
    #[must_use]
    pub fn find(&self, answer: &Answer<'_>) -> Option<String> {
        match self {
            Self::Pointer(pointer) => answer.json()?.pointer(pointer).and_then(text_of),
            Self::Path(path) => path.query(answer.json()?).first().and_then(text_of),
            Self::Header(name) => answer.headers(name).next().map(Into::into),
            Self::Cookie(name) => answer.headers("set-cookie").find_map(|line| {
                let (found, value) = line.split(';').next()?.split_once('=')?;
                (found.trim() == name).then(|| value.trim().into())
            }),
            Self::Regex(regex) => {
                let found = regex.captures(answer.body)?;
                let group = found.get(1).or_else(|| found.get(0))?;
                str::from_utf8(group.as_bytes()).ok().map(Into::into)
            }
        }
    }
}

/// A JSON value as text: a string without its quotes, everything else as written.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 302 Found\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: sid=x=y; HttpOnly\r\nLocation:  /next?a=1 \r\nX: 1\r\nX: 2\r\n\r\n";
    const BODY: &[u8] = br#"{"id": 7, "name": "Ana", "none": null, "items": [{"id": "a"}, {"id": "b"}], "ok": true, "csrf": "<input value=\"t0k\">"}"#;

    fn find(source: &str) -> Option<String> {
        Source::parse(source).unwrap().finder().unwrap().find(&Answer::new(HEAD, BODY))
    }

    #[test]
    fn values_are_found_where_they_are_and_nowhere_else() {
        let cases = [
            ("json:$.id", Some("7")),
            ("json:$.items[1].id", Some("b")),
            ("json:$.items[?@.id=='a'].id", Some("a")),
            ("json:/items/0/id", Some("a")),
            ("json:$.ok", Some("true")),
            ("json:$.none", None),
            ("json:$.other", None),
            ("json:/items/2", None),
            ("header:location", Some("/next?a=1")),
            ("header:X", Some("1")),
            ("header:Age", None),
            ("cookie:sid", Some("x=y")),
            ("cookie:Path", None),
            ("cookie:SID", None),
            ("regex:value=.\"([a-z0-9]+)", Some("t0k")),
            ("regex:A.a", Some("Ana")),
            ("regex:zzz", None),
        ];
        for (source, value) in cases {
            assert_eq!(find(source).as_deref(), value, "{source}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_has_no_values() {
        let finder = Source::parse("json:$.id").unwrap().finder().unwrap();
        assert_eq!(finder.find(&Answer::new(HEAD, b"{\"id\": 7")), None);
    }

    #[test]
    fn what_cannot_be_a_place_is_refused_with_the_fix() {
        let cases = [
            ("$.id", "json:$.id"),
            ("xpath://a", "there are json:"),
            ("json:$.a[", "is not a JSON path"),
            ("json:id", "is not a JSON path"),
            ("regex:(", "is not a regular expression: unclosed group"),
            ("header:", "names no header"),
        ];
        for (source, message) in cases {
            let error = Source::parse(source).unwrap_err();
            assert!(error.contains(message), "{source}: {error}");
        }
    }
}
