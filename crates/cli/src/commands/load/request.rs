//! What is asked, and what a right answer is.
use pippin_engine::check_request;
use pippin_model::load_spec::{BodyCheck, Check, Protocol, Request};
use pippin_model::workload;
use std::collections::BTreeMap;

use crate::arguments::load::RequestArguments;
use crate::exit::CliError;
use crate::values::statuses_of;

/// The request, with the check of its answer.
pub fn of(
    arguments: &RequestArguments,
    host: &str,
    path: &str,
    protocol: Protocol,
) -> Result<Request, CliError> {
    let headers = arguments.headers.iter().map(|field| (field.name.clone(), field.value.clone()));
    let body = arguments
        .expect_body
        .as_ref()
        .map_or(BodyCheck::Any, |body| BodyCheck::Exact(body.clone().into_bytes()));
    let request = Request {
        method: arguments.method.clone(),
        target: path.into(),
        host: host.into(),
        headers: headers.collect(),
        body: arguments.body.clone().unwrap_or_default().into_bytes(),
        check: Check { status: statuses_of(&arguments.expect_status), body, ..Check::default() },
    };
    // Refused here, so that nothing is stored of a load that cannot begin.
    check_request(&request, protocol).map_err(CliError::User)?;
    Ok(request)
}

/// The same as a workload names it.
pub fn in_workload(arguments: &RequestArguments, path: &str) -> workload::Request {
    workload::Request { method: arguments.method.clone(), path: path.into(), vary: BTreeMap::new() }
}
