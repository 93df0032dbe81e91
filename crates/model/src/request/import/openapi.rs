//! OpenAPI 3.0 and 3.1 (<https://spec.openapis.org/oas/>), as JSON and as YAML: each operation whose
//! required values have examples. Nothing is made up: a request with invented values asks for what
//! is not there.
//!
//! | module | what it does |
//! |---|---|
//! | [`values`] | examples of schemas, parameters and bodies |
//! | [`written`] | parameters as they stand in paths, queries and headers |
mod values;
mod written;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::cell::{Cell, RefCell};

use self::written::Parameter;
use super::{Imported, WrongLine, kept};
use crate::request::form;
use crate::request::request_file::{FileRequest, Server, split_url};

/// The keys of a path that are operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// So many references may lead to each other.
const MOST_REFERENCES: usize = 32;
/// So many parts of schemas are looked at for one operation, and a part of an example for each
/// thousand bytes of it.
const MOST_PARTS: usize = 10_000;

/// All operations that can be asked with the examples of the file. The statuses of success that it
/// names are the right ones.
///
/// # Errors
/// If the text is no OpenAPI file of version 3.
pub fn parse(text: &str) -> Result<Imported, WrongLine> {
    let root = document(text)?;
    let version = match root.get("openapi") {
        Some(Value::String(version)) => version.clone(),
        Some(other) => other.to_string(),
        None if root.get("swagger").is_some() => {
            return Err((
                1,
                "this is OpenAPI 2 (Swagger), and only version 3 is read: convert it first".into(),
            ));
        }
        None => return Err((1, "this is not an OpenAPI file: it has no key `openapi`".into())),
    };
    if !version.starts_with('3') {
        return Err((1, format!("this is OpenAPI {version}, and only version 3 is read")));
    }
    let Some(paths) = root.get("paths").and_then(Value::as_object) else {
        return Err((1, "this OpenAPI file has no paths".into()));
    };
    let document = Document { root: &root, left: Cell::new(0), under_way: RefCell::default() };
    let mut imported = Imported::default();
    for (path, item) in paths {
        match document.resolved(item) {
            Ok(item) => document.path(path, item, &mut imported),
            Err(why) => imported.leave_out(why),
        }
    }
    Ok(imported)
}

fn document(text: &str) -> Result<Value, WrongLine> {
    let wrong = |line: usize, why: &str| {
        let why = why.lines().next().unwrap_or_default();
        (line.clamp(1, text.lines().count().max(1)), format!("this is not an OpenAPI file: {why}"))
    };
    // JSON is YAML too, and its own reader is faster.
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| wrong(error.line(), &error.to_string()));
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map_or(1, |place| place.line() as usize);
        wrong(line, &error.without_snippet().to_string())
    })
}

/// Headers of a request.
type Headers = Vec<(String, String)>;

/// A file.
struct Document<'a> {
    root: &'a Value,
    /// How many parts of schemas may still be looked at.
    left: Cell<usize>,
    /// The schemas of which an example is being made: a schema may hold itself.
    under_way: RefCell<Vec<*const Value>>,
}

impl<'a> Document<'a> {
    /// What a reference leads to (`$ref`).
    fn resolved(&self, mut value: &'a Value) -> Result<&'a Value, &'static str> {
        for _ in 0..MOST_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            let Some(pointer) = reference.strip_prefix('#') else {
                return Err("operations that refer to other files");
            };
            let pointer = percent_decode_str(pointer).decode_utf8_lossy();
            value = self
                .root
                .pointer(&pointer)
                .ok_or("operations that refer to what is not in the file")?;
        }
        Err("operations that refer to themselves")
    }

    fn path(&self, path: &str, item: &'a Value, imported: &mut Imported) {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            self.left.set(MOST_PARTS);
            match self.request(path, item, method, operation) {
                Ok(request) => {
                    imported.requests.push(request);
                    if self.needs_credentials(operation) {
                        imported.leave_out(
                            "credentials, which the file does not hold: give them with -H or -u",
                        );
                    }
                }
                Err(why) => imported.leave_out(&why),
            }
        }
    }

    fn needs_credentials(&self, operation: &Value) -> bool {
        let security = operation.get("security").or_else(|| self.root.get("security"));
        let ways = security.and_then(Value::as_array);
        ways.is_some_and(|ways| {
            let is_free = |way: &Value| way.as_object().is_some_and(serde_json::Map::is_empty);
            !ways.is_empty() && !ways.iter().any(is_free)
        })
    }

    /// The request of an operation; otherwise the reason why there is none.
    fn request(
        &self,
        path: &str,
        item: &'a Value,
        method: &str,
        operation: &'a Value,
    ) -> Result<FileRequest, String> {
        let (server, base) = self.server(item, operation)?;
        let mut target = format!("{base}/{}", path.trim_start_matches('/'));
        let (mut query, mut cookies) = (Vec::new(), Vec::new());
        let (body, mut headers) = self.body(operation)?;
        headers.extend(self.accepted(operation).map(|kinds| ("Accept".to_string(), kinds)));
        for parameter in self.parameters(item, operation)? {
            let Parameter { name, place, .. } = &parameter;
            match *place {
                "path" => {
                    let value = parameter.in_path()?;
                    target = target.replace(&format!("{{{name}}}"), &value);
                }
                "query" => query.extend(parameter.in_query()?),
                "cookie" => cookies.push(format!("{name}={}", parameter.in_header()?)),
                // These three are described elsewhere (OpenAPI, Parameter Object).
                _ if ["accept", "content-type", "authorization"]
                    .iter()
                    .any(|other| name.eq_ignore_ascii_case(other)) => {}
                _ => headers.push(((*name).to_string(), parameter.in_header()?)),
            }
        }
        if let Some((_, rest)) = target.split_once('{')
            && let Some((name, _)) = rest.split_once('}')
        {
            return Err(format!(
                "operations whose path has the parameter `{name}`, which is not described"
            ));
        }
        if !query.is_empty() {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(&query.join("&"));
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".into(), cookies.join("; ")));
        }
        let (_, target) = split_url(&target)?;
        Ok(FileRequest {
            method: method.to_ascii_uppercase(),
            server,
            target,
            headers: kept(headers.into_iter()),
            body,
            weight: 1,
            status: statuses(operation),
            ..FileRequest::default()
        })
    }

    /// The server that comes first for an operation, and the path before its own.
    fn server(&self, item: &Value, operation: &Value) -> Result<(Option<Server>, String), String> {
        let first = |holder: &Value| holder.get("servers")?.as_array()?.first().cloned();
        let Some(server) = [operation, item, self.root].into_iter().find_map(first) else {
            return Ok((None, String::new()));
        };
        let mut url = server.get("url").and_then(Value::as_str).unwrap_or("/").to_string();
        for (name, variable) in
            server.get("variables").and_then(Value::as_object).into_iter().flatten()
        {
            if let Some(value) = variable.get("default").and_then(written::scalar) {
                url = url.replace(&format!("{{{name}}}"), &value);
            }
        }
        if url.contains('{') {
            return Err(format!("operations of the server {url}, whose variables have no default"));
        }
        let url = match url {
            url if url.starts_with("//") => format!("https:{url}"),
            url if url.contains("://") || url.starts_with('/') => url,
            url => format!("/{url}"),
        };
        let (server, base) = split_url(&url).map_err(|_| {
            "operations of servers whose address is not one of http or https".to_string()
        })?;
        let base = base.split('?').next().unwrap_or_default();
        Ok((server, base.trim_end_matches('/').into()))
    }

    /// Its parameters with their values: those of the operation replace those of its path.
    fn parameters(
        &self,
        item: &'a Value,
        operation: &'a Value,
    ) -> Result<Vec<Parameter<'a>>, String> {
        let mut all: Vec<Parameter<'a>> = Vec::new();
        for holder in [item, operation] {
            let listed = holder.get("parameters").and_then(Value::as_array);
            for parameter in listed.into_iter().flatten() {
                let parameter = Parameter::read(self.resolved(parameter)?)?;
                all.retain(|other| (other.name, other.place) != (parameter.name, parameter.place));
                all.push(parameter);
            }
        }
        for parameter in &mut all {
            self.fill(parameter)?;
        }
        all.retain(|parameter| !parameter.value.is_null());
        Ok(all)
    }

    /// The body, and the header that names its type.
    fn body(&self, operation: &'a Value) -> Result<(Vec<u8>, Headers), String> {
        let Some(body) = operation.get("requestBody") else { return Ok(Default::default()) };
        let body = self.resolved(body)?;
        let is_required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
        let content = body.get("content").and_then(Value::as_object);
        let media = || content.into_iter().flatten();
        // JSON first: it is what most examples are written for.
        let chosen = media()
            .filter(|(kind, _)| is_json(kind))
            .chain(media().filter(|(kind, _)| !is_json(kind)))
            .find_map(|(kind, media)| self.written(kind, media));
        match chosen {
            Some((bytes, kind)) => Ok((bytes, vec![("Content-Type".into(), kind)])),
            None if is_required => Err("operations without an example of their body".into()),
            None => Ok(Default::default()),
        }
    }

    /// The example of a media type as bytes, with the type.
    fn written(&self, kind: &str, media: &'a Value) -> Option<(Vec<u8>, String)> {
        let value = self.of_media(media)?;
        let field =
            |(name, value): (&String, &Value)| Some((name.clone(), written::scalar(value)?));
        let fields = || value.as_object()?.iter().map(field).collect::<Option<Vec<_>>>();
        if is_json(kind) {
            return Some((serde_json::to_vec(&value).ok()?, kind.into()));
        }
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => {
                Some((form::pairs(fields()?).into(), kind.into()))
            }
            "multipart/form-data" => form::multipart_of_texts(fields()?),
            _ => Some((value.as_str()?.into(), kind.into())),
        }
    }

    /// The types of its answers of success.
    fn accepted(&self, operation: &'a Value) -> Option<String> {
        let responses = operation.get("responses")?.as_object()?;
        let (_, first) = responses.iter().find(|(status, _)| status.starts_with('2'))?;
        let content = self.resolved(first).ok()?.get("content")?.as_object()?;
        let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// The statuses of success that an operation names.
fn statuses(operation: &Value) -> Vec<u16> {
    let responses = operation.get("responses").and_then(Value::as_object);
    let named = responses.into_iter().flatten().filter_map(|(status, _)| status.parse().ok());
    named.filter(|status| (200..400).contains(status)).collect()
}

#[cfg(test)]
mod tests;
