//! One JSON object on each line. `pippin import` writes this format.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

use super::{Bodies, FileRequest, WrongLine, split_url};
use crate::request::json_value::{self, JsonValue};
use crate::text::file::with_suggestion;

/// One line. It has exactly one of `url` and `path`, and at most one kind of body.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    headers: Headers,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// As it is written, so that numbers and the order of keys stay. `Some` for a null too.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_status: Option<OneOrMany<u16>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_contains: Option<OneOrMany<String>>,
    #[serde(default, with = "json_value::table", skip_serializing_if = "Vec::is_empty")]
    expect_json: Vec<JsonValue>,
}

/// A value that is there, whatever it is; without this serde takes a null for nothing.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

/// Headers in the order in which they are written.
#[derive(Debug, Default)]
struct Headers(Vec<(String, OneOrMany<String>)>);

impl Headers {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a value behind those of the same name.
    fn add(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, values)) => values.push(value.into()),
            None => self.0.push((name.into(), OneOrMany::One(value.into()))),
        }
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(InOrder)
    }
}

/// Reads [`Headers`].
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of headers: {\"X-Tag\": \"5\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut headers = Headers::default();
        while let Some(entry) = map.next_entry()? {
            headers.0.push(entry);
        }
        Ok(headers)
    }
}

/// One value or a list of them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// A value that may stand alone or in a list.
trait Item: Sized {
    /// What is expected, for messages.
    const EXPECTED: &'static str;

    /// From a text; `None` if it cannot be one.
    fn of_text(text: &str) -> Option<Self>;

    /// From a whole number; `None` if it cannot be one.
    fn of_number(number: u64) -> Option<Self>;
}

impl Item for String {
    const EXPECTED: &'static str =
        "a text, or a list of texts, as the value of a header: {\"X-Tag\": \"5\"}";

    fn of_text(text: &str) -> Option<Self> {
        Some(text.into())
    }

    fn of_number(_: u64) -> Option<Self> {
        None
    }
}

impl Item for u16 {
    const EXPECTED: &'static str =
        "a status as a number, or a list of them: \"expect_status\": [200, 204]";

    fn of_text(_: &str) -> Option<Self> {
        None
    }

    fn of_number(number: u64) -> Option<Self> {
        number.try_into().ok()
    }
}

impl<'de, T: Item> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Either(PhantomData))
    }
}

/// Reads [`OneOrMany`]. What serde derives for it would only say that no variant matched.
struct Either<T>(PhantomData<T>);

impl<'de, T: Item> Visitor<'de> for Either<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let wrong = || E::invalid_type(serde::de::Unexpected::Str(text), &self);
        T::of_text(text).map(OneOrMany::One).ok_or_else(wrong)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        let wrong = || E::invalid_type(serde::de::Unexpected::Unsigned(number), &self);
        T::of_number(number).map(OneOrMany::One).ok_or_else(wrong)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element::<OneOrMany<T>>()? {
            match one {
                OneOrMany::One(one) => all.push(one),
                OneOrMany::Many(_) => {
                    return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
                }
            }
        }
        Ok(OneOrMany::Many(all))
    }
}

impl<T> OneOrMany<T> {
    fn push(&mut self, value: T) {
        *self = match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::One(one) => Self::Many(vec![one, value]),
            Self::Many(mut many) => {
                many.push(value);
                Self::Many(many)
            }
        };
    }

    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// Passes each request to `add`, with its line. Blank lines are skipped.
///
/// # Errors
/// At the first wrong line.
pub fn parse(
    text: &str,
    bodies: &mut Bodies,
    add: &mut dyn FnMut(usize, FileRequest) -> Result<(), WrongLine>,
) -> Result<(), WrongLine> {
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        add(number, asked(line, bodies).map_err(|why| (number, why))?)?;
    }
    Ok(())
}

fn asked(line: &str, bodies: &mut Bodies) -> Result<FileRequest, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| in_words(&error))?;
    let (server, target) = match (&line.url, &line.path) {
        (Some(_), Some(_)) => return Err("it has both `url` and `path`: keep one".into()),
        (None, None) => return Err("it has no `url` or `path`: write {\"path\": \"/\"}".into()),
        (Some(text), None) | (None, Some(text)) => split_url(text)?,
    };
    if line.path.is_some() && server.is_some() {
        return Err("`path` begins with `/`: write a whole URL as `url`".into());
    }
    let weight = line.weight.unwrap_or(1);
    if weight == 0 {
        return Err("weight 0 is never sent: leave the line out, or write at least 1".into());
    }
    let is_json = line.json.is_some();
    let body = body(line.body, line.json, line.body_base64, line.body_file, bodies)?;
    let mut headers: Vec<(String, String)> = line
        .headers
        .0
        .into_iter()
        .flat_map(|(name, values)| values.into_vec().into_iter().map(move |v| (name.clone(), v)))
        .collect();
    if is_json && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".into(), "application/json".into()));
    }
    let default = if body.is_some() { "POST" } else { "GET" };
    Ok(FileRequest {
        method: line.method.unwrap_or_else(|| default.into()),
        server,
        target,
        headers,
        body: body.unwrap_or_default(),
        weight,
        status: line.expect_status.map_or(Vec::new(), OneOrMany::into_vec),
        contains: line.expect_contains.map_or(Vec::new(), OneOrMany::into_vec),
        json: line.expect_json,
    })
}

fn body(
    text: Option<String>,
    json: Option<Box<RawValue>>,
    base64: Option<String>,
    file: Option<String>,
    bodies: &mut Bodies,
) -> Result<Option<Vec<u8>>, String> {
    match (text, json, base64, file) {
        (None, None, None, None) => Ok(None),
        (Some(text), None, None, None) => Ok(Some(text.into_bytes())),
        (None, Some(json), None, None) => Ok(Some(compact(json.get()))),
        (None, None, Some(text), None) => STANDARD
            .decode(text)
            .map(Some)
            .map_err(|error| format!("`body_base64` is not Base64 (RFC 4648): {error}")),
        (None, None, None, Some(file)) => bodies.get(&file).map(Some),
        _ => Err("it has several of `body`, `json`, `body_base64`, `body_file`: keep one".into()),
    }
}

/// JSON without the spaces between its tokens, otherwise as it is written.
fn compact(json: &str) -> Vec<u8> {
    let (mut is_text, mut is_escaped) = (false, false);
    let is_kept = |byte: &u8| {
        let is_space = !is_text && matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        is_text ^= *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        !is_space
    };
    json.bytes().filter(is_kept).collect()
}

/// serde's message without its position, because the line is always 1.
fn in_words(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if error.is_data() {
        with_suggestion(message)
    } else {
        format!("not a JSON object: {message} (column {})", error.column())
    }
}

/// A request as a line, without the line end.
#[must_use]
pub fn write(asked: &FileRequest) -> String {
    let mut headers = Headers::default();
    asked.headers.iter().for_each(|(name, value)| headers.add(name, value));
    let text = str::from_utf8(&asked.body).ok().map(str::to_string);
    let line = Line {
        method: (asked.method != "GET" || !asked.body.is_empty()).then(|| asked.method.clone()),
        url: asked.server.as_ref().map(|server| format!("{server}{}", asked.target)),
        path: asked.server.is_none().then(|| asked.target.clone()),
        headers,
        body_base64: text.is_none().then(|| STANDARD.encode(&asked.body)),
        body: text.filter(|text| !text.is_empty()),
        weight: (asked.weight != 1).then_some(asked.weight),
        expect_status: (!asked.status.is_empty()).then(|| OneOrMany::Many(asked.status.clone())),
        expect_contains: (!asked.contains.is_empty())
            .then(|| OneOrMany::Many(asked.contains.clone())),
        expect_json: asked.json.clone(),
        ..Line::default()
    };
    // A map of texts and numbers can always be written as JSON.
    serde_json::to_string(&line).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Format, RequestFile, parse};
    use super::*;
    use crate::load::BodyCheck;
    use std::path::Path;

    fn read(text: &str) -> Result<RequestFile, WrongLine> {
        parse(text, Format::JsonLines, &mut Bodies::beside(Path::new("/no/x")))
    }

    #[test]
    fn a_line_says_everything_about_a_request() {
        let file = read(
            r#"{"path": "/a", "weight": 9}

            {"url": "http://h/b", "json": {"n": 1}, "headers": {"X": ["1", "2"]}, "expect_status": 201}"#,
        )
        .unwrap();
        let [a, b] = &file.requests[..] else { panic!("{file:?}") };
        assert_eq!((a.method.as_str(), a.target.as_str(), file.weights[0]), ("GET", "/a", 9));
        assert_eq!((b.method.as_str(), b.body.as_slice()), ("POST", &br#"{"n":1}"#[..]));
        let header = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(
            b.headers,
            [header("X", "1"), header("X", "2"), header("Content-Type", "application/json")]
        );
        assert_eq!((b.check.status.as_slice(), file.lines[1]), (&[201][..], 3));
    }

    #[test]
    fn a_line_says_what_a_right_answer_has() {
        let read = |line: &str| read(line).unwrap().requests[0].check.clone();
        let check = read(
            r#"{"path": "/", "expect_contains": "a", "expect_json": {"/id": 7, "/errors": null}}"#,
        );
        let all = vec!["a".into()];
        assert_eq!(check.body, BodyCheck::Contains { min: 0, max: u64::MAX, all });
        let written: Vec<String> = check.json.iter().map(ToString::to_string).collect();
        assert_eq!(written, ["/errors=null", "/id=7"]);
        let two = read(r#"{"path": "/", "expect_contains": ["a", "b"]}"#);
        assert!(matches!(two.body, BodyCheck::Contains { all, .. } if all == ["a", "b"]));
        let none = read(r#"{"path": "/"}"#);
        assert_eq!((none.body, none.json), (BodyCheck::Any, vec![]));
    }

    #[test]
    fn json_is_sent_as_it_is_written_without_spaces() {
        let sent = |json: &str| {
            let file = read(&format!(r#"{{"path": "/", "json": {json}}}"#)).unwrap();
            let request = &file.requests[0];
            assert_eq!(request.method, "POST");
            assert!(request.headers.iter().any(|(name, _)| name == "Content-Type"));
            String::from_utf8(request.body.clone()).unwrap()
        };
        let numbers = r#"{"b":1,"a":12345678901234567890123,"f":1.10,"e":1E5,"z":-0}"#;
        assert_eq!(sent(numbers), numbers);
        let spaced = "{ \"b\" : [1 ,\t\"a \\\" b\\\\\" , 2] }";
        assert_eq!(sent(spaced), r#"{"b":[1,"a \" b\\",2]}"#);
        assert_eq!(sent("null"), "null");
        assert_eq!(sent("\"x y\""), "\"x y\"");
    }

    #[test]
    fn a_wrong_line_is_named_with_the_fix() {
        for (line, part) in [
            ("{", "not a JSON object"),
            ("[]", "invalid"),
            (r#"{"header": {}}"#, "did you mean `headers`"),
            (r#"{"weight": 1}"#, "has no `url` or `path`"),
            (r#"{"path": "/", "url": "http://a/"}"#, "keep one"),
            (r#"{"path": "http://a/"}"#, "write a whole URL as `url`"),
            (r#"{"path": "/", "weight": 0}"#, "weight 0"),
            (r#"{"path": "/", "body": "", "json": 1}"#, "keep one"),
            (r#"{"path": "/", "body": "", "json": null}"#, "keep one"),
            (r#"{"path": "/", "expect_status": "2xx"}"#, "expected a status as a number"),
            (r#"{"path": "/", "expect_status": 70000}"#, "expected a status as a number"),
            (r#"{"path": "/", "expect_status": -1}"#, "expected a status as a number"),
            (r#"{"path": "/", "expect_status": [200, [201]]}"#, "or a list of them"),
            (r#"{"path": "/", "expect_json": {"id": 7}}"#, "does not begin with `/`"),
            (r#"{"path": "/", "expect_contains": 7}"#, "expected a text"),
            (r#"{"path": "/", "headers": {"X": 5}}"#, "integer `5`, expected a text"),
            (r#"{"path": "/", "headers": {"X": ["a", null]}}"#, "expected a text"),
            (r#"{"path": "/", "body_base64": "?"}"#, "not Base64"),
            (r#"{"path": "/", "body_file": "none"}"#, "begins at this file's folder"),
        ] {
            let (at, message) = read(&format!("{{\"path\":\"/\"}}\n{line}\n")).unwrap_err();
            assert!(at == 2 && message.contains(part), "{line}: {at} {message}");
        }
    }
}
