//! Collections of Postman, version 2.1 (<https://schema.postman.com>). Variables are filled from the
//! collection and its folders, and from what the user gives. Scripts are not run.
//!
//! | module | what it does |
//! |---|---|
//! | [`variables`] | `{{name}}` in texts |
//! | [`content`] | bodies and logins |
mod content;
mod variables;

use serde_json::Value;
use std::collections::BTreeMap;

use self::variables::Variables;
use super::{Imported, WrongLine, kept};
use crate::request::request_file::{FileRequest, split_url};
use crate::workload::percent_encode;

/// Why a request is not taken.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    /// It is left out, for this reason.
    LeftOut(String),
    /// This variable has no value: the whole file is refused.
    Unknown(String),
    /// The variables hold each other, or become too long.
    Endless(String),
}

impl From<&str> for Stop {
    fn from(why: &str) -> Self {
        Self::LeftOut(why.into())
    }
}

/// All requests of a collection, in its order. `given` are values of variables, which replace those
/// of the collection.
///
/// # Errors
/// If the text is no such collection, or a variable has no value; with the line in which its name
/// stands first.
pub fn parse(text: &str, given: &BTreeMap<String, String>) -> Result<Imported, WrongLine> {
    let root: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| (error.line(), format!("this is not a Postman collection: {error}")))?;
    let schema = root.pointer("/info/schema").and_then(Value::as_str);
    let schema =
        schema.ok_or((1, "this is not a Postman collection: it has no info.schema".into()))?;
    if !schema.contains("/v2.1") {
        return Err((1, "only version 2.1 is read: export it as `Collection v2.1`".into()));
    }
    let mut variables = Variables::new(given);
    variables.add(root.get("variable"));
    let mut collection = Collection { imported: Imported::default() };
    let context = Context { variables, auth: root.get("auth") };
    collection.note_scripts(&root);
    collection.items(root.get("item"), &context).map_err(|stop| wrong(text, &stop))?;
    Ok(collection.imported)
}

/// The line in which a variable stands first, and what to do about it.
fn wrong(text: &str, stop: &Stop) -> WrongLine {
    let line = |name: &str| {
        let at = text.find(name).unwrap_or(0);
        1 + text[..at].bytes().filter(|byte| *byte == b'\n').count()
    };
    match stop {
        Stop::LeftOut(why) => (1, why.clone()),
        Stop::Endless(name) => {
            let why = format!("the variable {{{{{name}}}}} holds itself, or becomes too long");
            (line(&format!("{{{{{name}")), why)
        }
        Stop::Unknown(name) if name.starts_with(':') => (
            line(name),
            format!("the path has `{name}`, which has no value in the request's path variables"),
        ),
        Stop::Unknown(name) => {
            let made = if name.starts_with('$') {
                "is made anew by Postman at each request"
            } else {
                "has no value in the collection"
            };
            let why = format!(
                "the variable {{{{{name}}}}} {made}: give it one with --variable '{name}=VALUE'"
            );
            (line(&format!("{{{{{name}")), why)
        }
    }
}

struct Collection {
    imported: Imported,
}

/// What holds for the items of a folder.
#[derive(Clone)]
struct Context<'a> {
    variables: Variables,
    auth: Option<&'a Value>,
}

impl Collection {
    fn note_scripts(&mut self, holder: &Value) {
        let events = holder.get("event").and_then(Value::as_array);
        let has_lines = |event: &&Value| match event.pointer("/script/exec") {
            Some(Value::Array(lines)) => lines.iter().any(|line| line.as_str() != Some("")),
            Some(Value::String(line)) => !line.is_empty(),
            _ => false,
        };
        for _ in events.into_iter().flatten().filter(has_lines) {
            self.imported.leave_out("scripts, which are not run");
        }
    }

    fn items(&mut self, items: Option<&Value>, context: &Context<'_>) -> Result<(), Stop> {
        for item in items.and_then(Value::as_array).into_iter().flatten() {
            self.note_scripts(item);
            if item.get("item").is_some() {
                let mut context = context.clone();
                context.variables.add(item.get("variable"));
                context.auth = item.get("auth").filter(|it| !it.is_null()).or(context.auth);
                self.items(item.get("item"), &context)?;
                continue;
            }
            match request(item, context) {
                Ok(request) => self.imported.requests.push(request),
                Err(Stop::LeftOut(why)) => self.imported.leave_out(&why),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }
}

fn request(item: &Value, context: &Context<'_>) -> Result<FileRequest, Stop> {
    let variables = &context.variables;
    let request = item.get("request").ok_or("items without a request")?;
    let method = request.get("method").and_then(Value::as_str).unwrap_or("GET");
    let method = variables.fill(method)?.to_ascii_uppercase();
    let url = if request.is_string() { Some(request) } else { request.get("url") };
    let mut url = url_of(url.unwrap_or(&Value::Null), variables)?;
    let mut headers = headers_of(request.get("header"), variables)?;
    let auth = request.get("auth").filter(|it| !it.is_null()).or(context.auth);
    if let Some(auth) = auth {
        content::login(auth, variables, &mut headers, &mut url)?;
    }
    let never_pruned = item.pointer("/protocolProfileBehavior/disableBodyPruning");
    let has_body =
        !["GET", "HEAD"].contains(&method.as_str()) || never_pruned == Some(&Value::Bool(true));
    let body = match request.get("body").filter(|_| has_body) {
        Some(body) => content::body(body, variables, &mut headers)?,
        None => Vec::new(),
    };
    let no_http =
        || Stop::from("requests that are not over http or https, or have a user in the URL");
    let (server, target) = split_url(&url).map_err(|_| no_http())?;
    Ok(FileRequest {
        method,
        server: Some(server.ok_or_else(no_http)?),
        target,
        headers: kept(headers.into_iter()),
        body,
        weight: 1,
        status: Vec::new(),
        ..FileRequest::default()
    })
}

/// Whether an entry of a list is switched on.
fn is_on(entry: &&Value) -> bool {
    entry.get("disabled") != Some(&Value::Bool(true))
}

/// The entries of a list that are switched on, with their values filled in.
fn pairs(list: Option<&Value>, variables: &Variables) -> Result<Vec<(String, String)>, Stop> {
    let entries = list.and_then(Value::as_array).into_iter().flatten().filter(is_on);
    entries
        .map(|entry| {
            let text = |key: &str| variables::text(entry.get(key)).unwrap_or_default();
            Ok((variables.fill(&text("key"))?, variables.fill(&text("value"))?))
        })
        .collect()
}

fn headers_of(
    headers: Option<&Value>,
    variables: &Variables,
) -> Result<Vec<(String, String)>, Stop> {
    let mut read = match headers {
        Some(Value::String(lines)) => lines
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| Ok((variables.fill(name.trim())?, variables.fill(value.trim())?)))
            .collect::<Result<Vec<_>, Stop>>()?,
        other => pairs(other, variables)?,
    };
    read.retain(|(name, _)| !name.is_empty());
    Ok(read)
}

/// The URL with everything filled in. As in Postman, one without a scheme is http.
fn url_of(url: &Value, variables: &Variables) -> Result<String, Stop> {
    let written = match url {
        Value::String(raw) => raw.clone(),
        Value::Object(_) => match url.get("raw").and_then(Value::as_str) {
            Some(raw) if !raw.is_empty() => raw.into(),
            _ => of_parts(url),
        },
        _ => String::new(),
    };
    let filled = variables.fill(written.trim())?;
    if filled.is_empty() {
        return Err("requests without a URL".into());
    }
    let filled = if filled.contains("://") { filled } else { format!("http://{filled}") };
    let Some(path_variables) =
        url.get("variable").and_then(Value::as_array).filter(|all| !all.is_empty())
    else {
        return Ok(filled);
    };
    let (path, query) = filled.split_at(filled.find(['?', '#']).unwrap_or(filled.len()));
    let segments = path.split('/').map(|segment| {
        let Some(name) = segment.strip_prefix(':').filter(|name| !name.is_empty()) else {
            return Ok(segment.to_string());
        };
        let of_name = |one: &&Value| one.get("key").and_then(Value::as_str) == Some(name);
        let value =
            path_variables.iter().find(of_name).and_then(|one| variables::text(one.get("value")));
        let value = value.ok_or_else(|| Stop::Unknown(segment.into()))?;
        Ok(percent_encode(&variables.fill(&value)?))
    });
    Ok(segments.collect::<Result<Vec<_>, Stop>>()?.join("/") + query)
}

/// A URL of parts: protocol, host, port, path and query.
fn of_parts(url: &Value) -> String {
    let joined = |key: &str, between: &str| match url.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let parts = parts.iter().map(|part| variables::text(part.get("value").or(Some(part))));
            parts.map(Option::unwrap_or_default).collect::<Vec<_>>().join(between)
        }
        _ => String::new(),
    };
    let scheme = url.get("protocol").and_then(Value::as_str).unwrap_or("http");
    let port = variables::text(url.get("port")).filter(|port| !port.is_empty());
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let queries = url.get("query").and_then(Value::as_array).into_iter().flatten().filter(is_on);
    let of = |entry: &Value, key: &str| variables::text(entry.get(key)).unwrap_or_default();
    let query: Vec<String> =
        queries.map(|entry| format!("{}={}", of(entry, "key"), of(entry, "value"))).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let path = joined("path", "/");
    format!("{scheme}://{}{port}/{}{query}", joined("host", "."), path.trim_start_matches('/'))
}

#[cfg(test)]
mod tests;
