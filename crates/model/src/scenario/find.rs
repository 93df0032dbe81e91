//! Where to find values in an answer: `json:$.id`, `json:/items/0/id`, `header:Location`,
//! `cookie:session`, `regex:value="([^"]+)"`.
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_json_path::JsonPath;
use std::cell::OnceCell;
use std::collections::BTreeMap;
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

    /// Whether the body is JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json().is_some()
    }

    /// The value at a pointer (RFC 6901) as [`Finder::find`] gives it.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<String> {
        text_of(self.json()?.pointer(pointer)?, || self.written(pointer))
    }

    /// The JSON value at a pointer, with its numbers as they are written.
    fn written(&self, pointer: &str) -> Option<String> {
        as_value(raw_at(self.body, pointer)?)
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
    /// none. A JSON string comes without its quotes, a number as the answer writes it, a list or an
    /// object without spaces and with its keys sorted.
    #[must_use]
    pub fn find(&self, answer: &Answer<'_>) -> Option<String> {
        match self {
            Self::Pointer(pointer) => answer.at(pointer),
            Self::Path(path) => {
                let json = answer.json()?;
                text_of(path.query(json).first()?, || {
                    let pointer = path.query_located(json).first()?.location().to_json_pointer();
                    answer.written(&pointer)
                })
            }
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

/// A JSON value as text. `written` gives the text with numbers as the answer writes them; it is asked
/// only where a parsed number may be another, because it reads the body again.
fn text_of(value: &Value, written: impl FnOnce() -> Option<String>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other if may_round(other) => written(),
        other => Some(other.to_string()),
    }
}

/// Whether the value is or holds a number that is kept as a floating-point number: 1.10 would become
/// 1.1, and 12345678901234567890123 would lose its last digits.
fn may_round(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(may_round),
        Value::Object(fields) => fields.values().any(may_round),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// The value at a pointer (RFC 6901). The last of several fields with one name counts, as in
/// [`Value`].
fn raw_at<'a>(body: &'a [u8], pointer: &str) -> Option<&'a RawValue> {
    let root: &RawValue = serde_json::from_slice(body).ok()?;
    pointer.split('/').skip(1).try_fold(root, |raw, token| {
        if raw.get().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
            items.get(token.parse::<usize>().ok()?).copied()
        } else {
            let mut fields = fields_of(raw)?;
            fields.remove(&token.replace("~1", "/").replace("~0", "~"))
        }
    })
}

fn fields_of(raw: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The text that [`Value`] would have, but with numbers as they are written. The body was parsed
/// before, so that it cannot be nested more than 128 times.
fn as_value(raw: &RawValue) -> Option<String> {
    match raw.get().as_bytes().first()? {
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
            let items: Vec<String> = items.into_iter().map(as_value).collect::<Option<_>>()?;
            Some(format!("[{}]", items.join(",")))
        }
        b'{' => {
            let field = |(name, raw): (String, &RawValue)| {
                Some(format!("{}:{}", Value::String(name), as_value(raw)?))
            };
            let fields: Vec<String> =
                fields_of(raw)?.into_iter().map(field).collect::<Option<_>>()?;
            Some(format!("{{{}}}", fields.join(",")))
        }
        b'"' => Some(serde_json::from_str::<Value>(raw.get()).ok()?.to_string()),
        _ => Some(raw.get().into()),
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
    fn numbers_are_taken_as_the_answer_writes_them() {
        let body = br#" {"id": 12345678901234567890123, "f": 1.10, "e": 1E5, "z": -0, "n": 7,
            "a/b": {"~": [0, 2.50]}, "f2": 1.0, "f2": 2.0,
            "o": {"z": [1, 1.00], "a": "\u00fc \" , "}} "#;
        let answer = Answer::new(HEAD, body);
        let cases = [
            ("json:$.id", "12345678901234567890123"),
            ("json:/id", "12345678901234567890123"),
            ("json:$.f", "1.10"),
            ("json:$.e", "1E5"),
            ("json:$.z", "-0"),
            ("json:$.n", "7"),
            ("json:/a~1b/~0/1", "2.50"),
            ("json:$['a/b']['~'][1]", "2.50"),
            ("json:$['a/b']['~'][?@ > 2]", "2.50"),
            ("json:$.f2", "2.0"),
            // Keys are sorted and spaces dropped, with such a number or without.
            ("json:$.o", r#"{"a":"ü \" , ","z":[1,1.00]}"#),
        ];
        for (source, value) in cases {
            let finder = Source::parse(source).unwrap().finder().unwrap();
            assert_eq!(finder.find(&answer).as_deref(), Some(value), "{source}");
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
