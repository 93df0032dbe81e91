//! What is asked, and what a right answer is.
use pippin_engine::http1::request::Request;
use pippin_model::load_spec::{BodyCheck, Check, RequestTemplate};
use pippin_model::workload;
use std::collections::BTreeMap;

use super::url::Url;
use crate::arguments::LoadArguments;
use crate::exit::CliError;

/// The request as it goes over the wire, with its check.
pub fn of(
    arguments: &LoadArguments,
    url: &Url,
    keep_alive: bool,
) -> Result<RequestTemplate, CliError> {
    let mut headers: Vec<(&str, &str)> =
        arguments.headers.iter().map(|field| (field.name.as_str(), field.value.as_str())).collect();
    if !keep_alive {
        headers.push(("Connection", "close"));
    }
    let request = Request {
        method: &arguments.method,
        target: &url.target,
        host: &url.authority,
        headers: &headers,
        body: arguments.body.as_deref().unwrap_or_default().as_bytes(),
    };
    let bytes = request.to_bytes().map_err(|error| CliError::User(error.to_string()))?;
    let body = arguments
        .expect_body
        .as_ref()
        .map_or(BodyCheck::Any, |body| BodyCheck::Exact(body.clone().into_bytes()));
    Ok(RequestTemplate {
        bytes,
        head_only: arguments.method == "HEAD",
        check: Check { status: arguments.expect_status.clone(), body },
    })
}

/// The same as a workload names it.
pub fn in_workload(arguments: &LoadArguments, url: &Url) -> workload::Request {
    workload::Request {
        method: arguments.method.clone(),
        path: url.target.clone(),
        vary: BTreeMap::new(),
    }
}
