//! Bodies and logins of a collection.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::variables::{self, Variables};
use super::{Stop, is_on, pairs};
use crate::request::form;

/// Headers of a request.
type Headers = Vec<(String, String)>;

/// The body; a header that names its type is added unless there is one.
pub(super) fn body(
    body: &Value,
    variables: &Variables,
    headers: &mut Headers,
) -> Result<Vec<u8>, Stop> {
    if !is_on(&body) {
        return Ok(Vec::new());
    }
    let (bytes, kind) = match body.get("mode").and_then(Value::as_str) {
        Some("raw") => {
            let raw = body.get("raw").and_then(Value::as_str).unwrap_or_default();
            (variables.fill(raw)?.into_bytes(), kind_of_raw(body))
        }
        Some("urlencoded") => {
            let form = form::pairs(pairs(body.get("urlencoded"), variables)?);
            (form.into_bytes(), Some("application/x-www-form-urlencoded".into()))
        }
        Some("formdata") => return parts(body, variables, headers),
        Some("graphql") => (graphql(body, variables)?, Some("application/json".into())),
        Some("file") => return Err("requests whose body is a file of the sender's machine".into()),
        Some(other) => return Err(Stop::LeftOut(format!("requests whose body is `{other}`"))),
        None => return Ok(Vec::new()),
    };
    let is_named = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    headers.extend(kind.filter(|_| !is_named).map(|kind| ("Content-Type".into(), kind)));
    Ok(bytes)
}

fn kind_of_raw(body: &Value) -> Option<String> {
    let kind = match body.pointer("/options/raw/language").and_then(Value::as_str)? {
        "json" => "application/json",
        "xml" => "application/xml",
        "html" => "text/html",
        "javascript" => "application/javascript",
        _ => "text/plain",
    };
    Some(kind.into())
}

/// A form with parts. Its boundary is another one, in its header too.
fn parts(body: &Value, variables: &Variables, headers: &mut Headers) -> Result<Vec<u8>, Stop> {
    let entries = body.get("formdata").and_then(Value::as_array).into_iter().flatten();
    if entries.filter(is_on).any(|entry| entry.get("type").and_then(Value::as_str) == Some("file"))
    {
        return Err("requests whose form has a file of the sender's machine".into());
    }
    let made = form::multipart_of_texts(pairs(body.get("formdata"), variables)?);
    let (bytes, kind) = made.ok_or("requests whose form has a part without a name")?;
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    headers.push(("Content-Type".into(), kind));
    Ok(bytes)
}

fn graphql(body: &Value, variables: &Variables) -> Result<Vec<u8>, Stop> {
    let of = |key: &str| body.pointer(&format!("/graphql/{key}")).and_then(Value::as_str);
    let query = variables.fill(of("query").unwrap_or_default())?;
    let given = variables.fill(of("variables").unwrap_or_default())?;
    let given: Value = if given.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(&given)
            .map_err(|_| Stop::from("requests whose GraphQL variables are no JSON"))?
    };
    Ok(json!({ "query": query, "variables": given }).to_string().into_bytes())
}

/// Adds what a login sends: a header, or a field of the query.
pub(super) fn login(
    auth: &Value,
    variables: &Variables,
    headers: &mut Headers,
    url: &mut String,
) -> Result<(), Stop> {
    let kind = auth.get("type").and_then(Value::as_str).unwrap_or("noauth");
    let of = |name: &str| {
        let entries = auth.get(kind).and_then(Value::as_array).into_iter().flatten();
        let mut named = entries.filter(|it| it.get("key").and_then(Value::as_str) == Some(name));
        let value = named.next().and_then(|entry| variables::text(entry.get("value")));
        variables.fill(&value.unwrap_or_default())
    };
    let (name, value) = match kind {
        "noauth" => return Ok(()),
        "basic" => {
            let login = STANDARD.encode(format!("{}:{}", of("username")?, of("password")?));
            ("Authorization".into(), format!("Basic {login}"))
        }
        "bearer" => ("Authorization".into(), format!("Bearer {}", of("token")?)),
        "apikey" if of("in")? == "query" => {
            let field = form::pairs([(of("key")?, of("value")?)]);
            let (before, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
            let joint = if before.contains('?') { '&' } else { '?' };
            *url = format!("{before}{joint}{field}{fragment}");
            return Ok(());
        }
        "apikey" => (of("key")?, of("value")?),
        "oauth2" if !of("accessToken")?.is_empty() => {
            ("Authorization".into(), format!("Bearer {}", of("accessToken")?))
        }
        other => return Err(Stop::LeftOut(format!("requests that log in by `{other}`"))),
    };
    headers.retain(|(own, _)| !own.eq_ignore_ascii_case(&name));
    headers.push((name, value));
    Ok(())
}
