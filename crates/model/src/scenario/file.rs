//! Scenarios in files: separate files, or keys of a workload in `pippin.toml` (docs/scenarios.md).
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::data::{Rows, Values, Variable};
use super::find::{Source, regex};
use super::mix::{Part, title};
use super::text::{self, Encoding, Piece, Text};
use super::{Assertion, Capture, Scenario, Step};
use crate::load::Request;
use crate::request::Check;
use crate::text::file::{FileError, Wrong, nearest, read_with_text};
use crate::text::units::{Spread, parse_bytes};
use crate::workload::{check_headers, percent_encode};

/// A scenario in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Whether each user keeps cookies.
    #[serde(default)]
    pub cookies: bool,
    /// How many redirections a user follows after each step, as `--follow` says it; 0 follows none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub follow: u32,
    /// The values that a user has before its first step.
    #[serde(default)]
    pub data: BTreeMap<String, WrittenData>,
    /// The steps.
    #[serde(default)]
    pub steps: Vec<WrittenStep>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// The most redirections that are followed after a step.
pub const MOST_FOLLOWED: u32 = 50;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected { from = 1, to = 100 }, { one_of = [\"a\", \"b\"] }, { letters = 8 } or { file = \"users.csv\" } (with order = \"random\" if rows are drawn)"
)]
pub enum WrittenData {
    /// A whole number, both ends included.
    Range {
        /// The least.
        from: u64,
        /// The greatest.
        to: u64,
    },
    /// One of these.
    OneOf {
        /// The texts.
        one_of: Vec<String>,
    },
    /// Random letters and digits.
    Letters {
        /// How many.
        letters: u32,
    },
    /// The rows of a file.
    File {
        /// Its path, relative to the folder of the scenario's file.
        file: String,
        /// The order of rows.
        #[serde(default)]
        order: Order,
    },
}

/// The order of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Users take one after the other.
    #[default]
    Turns,
    /// Random rows.
    Random,
}

/// A step in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the first six keys are methods with their path")]
pub struct WrittenStep {
    /// Its name in tables; by default method and path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
    /// Further headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A body of application/x-www-form-urlencoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<BTreeMap<String, String>>,
    /// A body of application/json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<serde_json::Value>,
    /// A body of any kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What must hold for the answer.
    #[serde(default)]
    pub expect: Expect,
    /// The values that later steps need from the answer: names, and where to find the values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capture: BTreeMap<String, String>,
    /// How long the user thinks after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<String>,
}

impl WrittenStep {
    /// Puts something else in place of what may be a secret: `of` for bodies, form fields, what right
    /// answers must have, and the values of headers that are not safe; `path` for paths.
    pub(crate) fn leave_out(
        &mut self,
        path: &dyn Fn(&str) -> String,
        is_safe: &dyn Fn(&str) -> bool,
        of: &dyn Fn(&[u8]) -> String,
    ) {
        let Self { get, head, post, put, patch, delete, headers, form, json, body, .. } = self;
        let Expect { contains, json: fields, header, regex, .. } = &mut self.expect;
        for target in [get, head, post, put, patch, delete].into_iter().flatten() {
            *target = path(target);
        }
        let headers = headers.iter_mut().filter(|(name, _)| !is_safe(name));
        let pairs = headers.chain(form.iter_mut().flatten()).chain(header);
        let expected = [contains, regex].into_iter().flatten().flat_map(OneOrMany::as_mut_slice);
        let texts = pairs.map(|(_, value)| value).chain(expected);
        texts.for_each(|text| *text = of(text.as_bytes()));
        for value in json.iter_mut().chain(fields.values_mut()) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            *value = of(text.as_bytes()).into();
        }
        if let Some(body) = body {
            *body = of(body.as_bytes());
        }
    }
}

/// The conditions on an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The right statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OneOrMany<Status>>,
    /// Texts that must be in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<OneOrMany<String>>,
    /// Paths, and the values there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub json: BTreeMap<String, serde_json::Value>,
    /// Headers, and texts in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub header: BTreeMap<String, String>,
    /// Regular expressions that must match in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<OneOrMany<String>>,
    /// The maximum number of bytes of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<Size>,
}

/// A value, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a value, or a list of values")]
pub enum OneOrMany<T> {
    /// A value.
    One(T),
    /// A list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// As a list.
    pub const fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many.as_slice(),
        }
    }

    const fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => std::slice::from_mut(one),
            Self::Many(many) => many.as_mut_slice(),
        }
    }
}

fn list<T>(values: &Option<OneOrMany<T>>) -> &[T] {
    values.as_ref().map_or(&[], OneOrMany::as_slice)
}

/// A status, or a class of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a status as 200, or a class as \"2xx\"")]
pub enum Status {
    /// `200`
    Number(u16),
    /// `"2xx"`
    Text(String),
}

/// A number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of bytes, or a size as \"64KiB\"")]
pub enum Size {
    /// `1000`
    Bytes(u64),
    /// `"64KiB"`
    Text(String),
}

/// Reads a file with a scenario. Returns its written form, its requests (with an empty host), and
/// the scenario.
///
/// # Errors
/// If it cannot be used. The message names the line and the fix.
pub fn read(path: &Path) -> Result<(Written, Vec<Request>, Scenario), FileError> {
    let (written, text): (Written, String) = read_with_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (requests, scenario) =
        written.resolve(folder).map_err(|wrong| wrong.in_file(path, &text))?;
    Ok((written, requests, scenario))
}

impl Written {
    /// The requests (with an empty host) and the scenario. Files of data are relative to `folder`.
    ///
    /// # Errors
    /// At the first thing that cannot be used.
    pub fn resolve(&self, folder: &Path) -> Result<(Vec<Request>, Scenario), Wrong> {
        if self.steps.is_empty() {
            return Err(Wrong::at(
                "steps",
                "there are no steps; begin with [[steps]] and, below it, get = \"/\"",
            ));
        }
        check_follow(self.follow)?;
        let variables: Vec<Variable> = self
            .data
            .iter()
            .map(|(name, data)| data.resolve(name, folder))
            .collect::<Result<_, _>>()?;
        let mut known =
            Known { variables: &variables, captured: BTreeSet::new(), cookies: self.cookies };
        let mut requests = Vec::new();
        let mut steps = Vec::new();
        for (nth, step) in self.steps.iter().enumerate() {
            let below = format!("steps[{nth}]");
            let (request, step) = step.resolve(&known).map_err(|wrong| wrong.below(&below))?;
            known.captured.extend(step.captures.iter().map(|capture| capture.name.clone()));
            requests.push(request);
            steps.push(step);
        }
        Ok((requests, Scenario { cookies: self.cookies, variables, steps, mix: Vec::new() }))
    }
}

/// Whether so many redirections can be followed.
pub(crate) fn check_follow(follow: u32) -> Result<(), Wrong> {
    if follow <= MOST_FOLLOWED {
        return Ok(());
    }
    let message = format!("follow = {follow} is not from 0 to {MOST_FOLLOWED}");
    Err(Wrong::at("follow", message))
}

impl WrittenData {
    fn resolve(&self, name: &str, folder: &Path) -> Result<Variable, Wrong> {
        let at = format!("data.{name}");
        let wrong = |message: String| Err(Wrong::at(&at, message));
        if text::name(name) != Some(name) || name.contains('.') {
            return wrong(format!(
                "`{name}` is not a valid name; use letters, digits, `_` and `-`"
            ));
        }
        let values = match self {
            Self::Range { from, to } if from > to => {
                return wrong(format!("`{name}`: from {from} is above to {to}"));
            }
            Self::Range { from, to } => Values::Range { from: *from, to: *to },
            Self::OneOf { one_of } if one_of.is_empty() => {
                return wrong(format!("`{name}`: one_of is empty; give at least one text"));
            }
            Self::OneOf { one_of } => Values::OneOf(one_of.clone()),
            Self::Letters { letters } if !(1..=1_000).contains(letters) => {
                return wrong(format!("`{name}`: letters = {letters} is not from 1 to 1000"));
            }
            Self::Letters { letters } => Values::Letters(*letters),
            Self::File { file, order } => {
                let rows = Rows::read(&folder.join(file), *order == Order::Random);
                Values::Rows(rows.map_err(|message| Wrong::at(&at, message))?)
            }
        };
        Ok(Variable { name: name.into(), values })
    }
}

/// Checks a header that is added to every step: each step must know the values it names, and none
/// may break its line.
///
/// # Errors
/// At the first step that cannot have it. The message begins with the name of that step.
pub fn check_added(scenario: &Scenario, value: &str) -> Result<(), String> {
    scenario.parts().into_iter().try_for_each(|part| check_added_to(part, value))
}

fn check_added_to(part: Part<'_>, value: &str) -> Result<(), String> {
    let Part { name, variables, cookies, .. } = part;
    let mut known = Known { variables, captured: BTreeSet::new(), cookies };
    for step in part.steps {
        known
            .check("", value, false)
            .and_then(|text| known.check_line("", &text))
            .map_err(|wrong| format!("step `{}`: {}", title(name, &step.name), wrong.message))?;
        known.captured.extend(step.captures.iter().map(|capture| capture.name.clone()));
    }
    Ok(())
}

/// The values that a step can name.
struct Known<'a> {
    variables: &'a [Variable],
    captured: BTreeSet<String>,
    cookies: bool,
}

impl Known<'_> {
    fn names(&self) -> Vec<String> {
        let of_data = self.variables.iter().flat_map(Variable::names);
        of_data.chain(self.captured.iter().cloned()).collect()
    }

    /// Checks that all names of a text are known.
    fn check(&self, at: &str, text: &str, is_path: bool) -> Result<Text, Wrong> {
        let text = Text::parse(text);
        let names = self.names();
        for piece in text.pieces() {
            let Piece::Value { name, is_path: as_path } = piece else { continue };
            if !names.contains(name) {
                let hint = match nearest(name, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{{{near}}}`?"),
                    None => format!(
                        "give it in [data] or capture it in an earlier step; the text {{{name}}} itself is written {{{{{name}}}}}"
                    ),
                };
                return Err(Wrong::at(at, format!("nothing is named `{name}` here: {hint}")));
            }
            if *as_path && !is_path {
                return Err(Wrong::at(
                    at,
                    format!("{{+{name}}} is for paths; write {{{name}}} here"),
                ));
            }
        }
        Ok(text)
    }

    /// Checks that no value can break the line of a header.
    fn check_line(&self, at: &str, text: &Text) -> Result<(), Wrong> {
        for name in text.names() {
            let mut texts = self.variables.iter().flat_map(|variable| variable.known_texts(name));
            if let Some(wrong) = texts.find(|text| text.chars().any(char::is_control)) {
                return Err(Wrong::at(
                    at,
                    format!("`{{{name}}}` can be {wrong:?}, which a header cannot hold"),
                ));
            }
        }
        Ok(())
    }
}

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

impl WrittenStep {
    fn resolve(&self, known: &Known<'_>) -> Result<(Request, Step), Wrong> {
        let (method, path) = self.method()?;
        check_path(known, &method.to_lowercase(), path)?;
        let (body, encoding, media_type) = self.body(known, method)?;
        let request = Request {
            method: method.into(),
            headers: self.headers(known, media_type)?,
            body: body.into_bytes(),
            check: Check { status: self.statuses()?, ..Check::default() },
            ..Request::get(path, "")
        };
        let think = self.think.as_deref().map(Spread::parse).transpose();
        let step = Step {
            name: self.name.clone().unwrap_or_else(|| format!("{method} {path}")),
            body: encoding,
            assertions: self.assertions(known)?,
            captures: self.captures(known)?,
            think: think.map_err(|error| Wrong::at("think", error.to_string()))?,
        };
        Ok((request, step))
    }

    fn method(&self) -> Result<(&'static str, &str), Wrong> {
        let methods = [
            ("GET", &self.get),
            ("HEAD", &self.head),
            ("POST", &self.post),
            ("PUT", &self.put),
            ("PATCH", &self.patch),
            ("DELETE", &self.delete),
        ];
        let mut given = methods
            .into_iter()
            .filter_map(|(method, path)| path.as_deref().map(|path| (method, path)));
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(Wrong::at(
                "",
                "a step needs its request: get, head, post, put, patch or delete, as get = \"/\"",
            )),
            (Some((first, _)), Some((second, _))) => Err(Wrong::at(
                second.to_lowercase(),
                format!(
                    "a step is one request, but this one has {first} and {second}; make two steps"
                ),
            )),
        }
    }

    /// The body, the encoding of values in it, and its type.
    fn body(
        &self,
        known: &Known<'_>,
        method: &str,
    ) -> Result<(String, Encoding, Option<&'static str>), Wrong> {
        let (key, made) = match (&self.form, &self.json, &self.body) {
            (None, None, None) => return Ok((String::new(), Encoding::Plain, None)),
            (Some(fields), None, None) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{}={}", percent_encode(name), encoded(value)))
                    .collect();
                ("form", (fields.join("&"), Encoding::Percent, Some(FORM)))
            }
            (None, Some(value), None) => {
                check_json("json", value)?;
                ("json", (value.to_string(), Encoding::Json, Some(JSON)))
            }
            (None, None, Some(text)) => ("body", (text.clone(), Encoding::Plain, None)),
            _ => {
                return Err(Wrong::at("", "a step has one of `form`, `json` and `body`; keep one"));
            }
        };
        if matches!(method, "GET" | "HEAD") {
            return Err(Wrong::at(
                key,
                format!(
                    "{method} has no body; write post = \"...\" for the path, or leave `{key}` out"
                ),
            ));
        }
        known.check(key, &made.0, false)?;
        Ok(made)
    }

    fn headers(
        &self,
        known: &Known<'_>,
        media_type: Option<&str>,
    ) -> Result<Vec<(String, String)>, Wrong> {
        check_headers("headers", &self.headers)?;
        for (name, value) in &self.headers {
            let at = format!("headers.{name}");
            known.check_line(&at, &known.check(&at, value, false)?)?;
            if known.cookies && name.eq_ignore_ascii_case("cookie") {
                return Err(Wrong::at(
                    at,
                    "with cookies = true the header Cookie is each user's own: leave one of them out",
                ));
            }
        }
        let mut headers: Vec<(String, String)> = self.headers.clone().into_iter().collect();
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(media_type) = media_type.filter(|_| !has_type) {
            headers.push(("Content-Type".into(), media_type.into()));
        }
        Ok(headers)
    }

    fn statuses(&self) -> Result<Vec<u16>, Wrong> {
        let mut all = BTreeSet::new();
        for status in list(&self.expect.status) {
            let range = match status {
                Status::Number(status @ 200..=599) => Some(*status..=*status),
                Status::Number(_) => None,
                Status::Text(text) => text
                    .strip_suffix("xx")
                    .and_then(|class| class.parse::<u16>().ok())
                    .filter(|class| (2..=5).contains(class))
                    .map(|class| class * 100..=class * 100 + 99),
            };
            all.extend(range.ok_or_else(|| {
                Wrong::at("expect.status", "write statuses from 200 to 599 as 200, or as \"2xx\"")
            })?);
        }
        Ok(all.into_iter().collect())
    }

    fn assertions(&self, known: &Known<'_>) -> Result<Vec<Assertion>, Wrong> {
        let Expect { contains, json, header, regex: expressions, max_bytes, .. } = &self.expect;
        let mut all = Vec::new();
        if let Some(size) = max_bytes {
            all.push(Assertion::MaxBytes(match size {
                Size::Bytes(bytes) => *bytes,
                Size::Text(text) => parse_bytes(text)
                    .map_err(|error| Wrong::at("expect.max_bytes", error.to_string()))?,
            }));
        }
        for (name, text) in header {
            let at = format!("expect.header.{name}");
            known.check(&at, text, false)?;
            Source::Header(name.clone()).finder().map_err(|why| Wrong::at(at, why))?;
            all.push(Assertion::Header { name: name.clone(), contains: text.clone() });
        }
        for text in list(contains) {
            known.check("expect.contains", text, false)?;
            all.push(Assertion::Contains(text.clone()));
        }
        for expression in list(expressions) {
            regex(expression).map_err(|why| Wrong::at("expect.regex", why))?;
            all.push(Assertion::Regex(expression.clone()));
        }
        for (path, value) in json {
            Source::Json(path.clone()).finder().map_err(|why| Wrong::at("expect.json", why))?;
            check_json("expect.json", value)?;
            let is = match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            known.check("expect.json", &is, false)?;
            all.push(Assertion::Json { path: path.clone(), is });
        }
        let is_bodyless = self.head.is_some();
        let of_body = |one: &&Assertion| !matches!(one, Assertion::Header { .. });
        if is_bodyless && all.iter().any(|one| of_body(&one)) {
            return Err(Wrong::at("expect", "an answer to HEAD has no body: check its headers"));
        }
        Ok(all)
    }

    fn captures(&self, known: &Known<'_>) -> Result<Vec<Capture>, Wrong> {
        let capture = |(name, from): (&String, &String)| {
            let at = format!("capture.{name}");
            if text::name(name) != Some(name) || name.contains('.') {
                return Err(Wrong::at(
                    at,
                    format!("`{name}` is not a valid name; use letters, digits, `_` and `-`"),
                ));
            }
            if known.variables.iter().any(|variable| variable.names().contains(name)) {
                return Err(Wrong::at(
                    at,
                    format!("`{name}` is the name of a value in [data]; capture it under another"),
                ));
            }
            let from = Source::parse(from).map_err(|why| Wrong::at(&at, why))?;
            if self.head.is_some() && matches!(from, Source::Json(_) | Source::Regex(_)) {
                let why = "an answer to HEAD has no body: capture from its headers or cookies";
                return Err(Wrong::at(at, why));
            }
            Ok(Capture { name: name.clone(), from })
        };
        self.capture.iter().map(capture).collect()
    }
}

/// Checks the path of a step.
fn check_path(known: &Known<'_>, key: &str, path: &str) -> Result<(), Wrong> {
    let text = known.check(key, path, true)?;
    if let Some((_, fragment)) = text.literals().find_map(|text| text.split_once('#')) {
        return Err(Wrong::at(
            key,
            format!("a server is never sent what is behind `#`: leave `#{fragment}` out"),
        ));
    }
    let example = text.example();
    if !example.starts_with('/') || example.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(Wrong::at(
            key,
            format!(
                "{path:?} is not a path; begin with `/` (or a captured path, as {{+next}}), and write everything but visible ASCII as %XX"
            ),
        ));
    }
    Ok(())
}

/// Checks that JSON can hold a value of TOML: not a date, a time, `nan` or `inf` (RFC 8259).
fn check_json(at: &str, value: &serde_json::Value) -> Result<(), Wrong> {
    // The key under which `toml` hands a date to other formats.
    const DATE: &str = "$__toml_private_datetime";
    match value {
        // TOML has no null: `serde_json` makes it of the numbers that JSON does not have.
        serde_json::Value::Null => {
            Err(Wrong::at(at, "JSON has no nan and no inf; write a number, or a text in quotes"))
        }
        serde_json::Value::Object(fields) => match fields.get(DATE) {
            Some(date) => {
                let date = date.as_str().unwrap_or_default();
                Err(Wrong::at(at, format!("JSON has no dates; write it as a text, \"{date}\"")))
            }
            None => {
                fields.iter().try_for_each(|(key, value)| check_json(&format!("{at}.{key}"), value))
            }
        },
        serde_json::Value::Array(list) => list
            .iter()
            .enumerate()
            .try_for_each(|(nth, value)| check_json(&format!("{at}[{nth}]"), value)),
        _ => Ok(()),
    }
}

/// A value of a form: percent-encoded except for its placeholders.
fn encoded(value: &str) -> String {
    let text = Text::parse(value);
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => percent_encode(text),
        Piece::Value { name, is_path } => format!("{{{}{name}}}", if *is_path { "+" } else { "" }),
    };
    text.pieces().iter().map(piece).collect()
}

#[cfg(test)]
mod tests;
