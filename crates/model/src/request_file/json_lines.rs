//! One JSON object on each line. `pippin import` writes this format.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use super::{Asked, Bodies, WrongLine, split_url};
use crate::file::with_suggestion;

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
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, OneOrMany<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect_status: Option<OneOrMany<u16>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
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
    add: &mut dyn FnMut(usize, Asked) -> Result<(), WrongLine>,
) -> Result<(), WrongLine> {
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        add(number, asked(line, bodies).map_err(|why| (number, why))?)?;
    }
    Ok(())
}

fn asked(line: &str, bodies: &mut Bodies) -> Result<Asked, String> {
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
        .into_iter()
        .flat_map(|(name, values)| values.into_vec().into_iter().map(move |v| (name.clone(), v)))
        .collect();
    if is_json && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".into(), "application/json".into()));
    }
    let default = if body.is_some() { "POST" } else { "GET" };
    Ok(Asked {
        method: line.method.unwrap_or_else(|| default.into()),
        server,
        target,
        headers,
        body: body.unwrap_or_default(),
        weight,
        status: line.expect_status.map_or(Vec::new(), OneOrMany::into_vec),
    })
}

fn body(
    text: Option<String>,
    json: Option<Value>,
    base64: Option<String>,
    file: Option<String>,
    bodies: &mut Bodies,
) -> Result<Option<Vec<u8>>, String> {
    match (text, json, base64, file) {
        (None, None, None, None) => Ok(None),
        (Some(text), None, None, None) => Ok(Some(text.into_bytes())),
        (None, Some(json), None, None) => Ok(Some(json.to_string().into_bytes())),
        (None, None, Some(text), None) => STANDARD
            .decode(text)
            .map(Some)
            .map_err(|error| format!("`body_base64` is not Base64 (RFC 4648): {error}")),
        (None, None, None, Some(file)) => bodies.get(&file).map(Some),
        _ => Err("it has several of `body`, `json`, `body_base64`, `body_file`: keep one".into()),
    }
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
pub fn write(asked: &Asked) -> String {
    let mut headers: BTreeMap<String, OneOrMany<String>> = BTreeMap::new();
    for (name, value) in &asked.headers {
        let value = value.clone();
        match headers.remove(name) {
            None => headers.insert(name.clone(), OneOrMany::One(value)),
            Some(before) => {
                let mut all = before.into_vec();
                all.push(value);
                headers.insert(name.clone(), OneOrMany::Many(all))
            }
        };
    }
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
        ..Line::default()
    };
    // A map of texts and numbers can always be written as JSON.
    serde_json::to_string(&line).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Format, RequestFile, parse};
    use super::*;
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
            (r#"{"path": "/", "body_base64": "?"}"#, "not Base64"),
            (r#"{"path": "/", "body_file": "none"}"#, "begins at this file's folder"),
        ] {
            let (at, message) = read(&format!("{{\"path\":\"/\"}}\n{line}\n")).unwrap_err();
            assert!(at == 2 && message.contains(part), "{line}: {at} {message}");
        }
    }
}
