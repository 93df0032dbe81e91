//! The messages over a WebSocket, and their right answers.
use pippin_engine::check_request;
use pippin_lab::load::address::Url;
use pippin_model::load::FirstWords;
use pippin_model::load::websocket::{Messages, NUMBER_BYTES};
use pippin_model::load::{BodyCheck, Check, Protocol, Request};

use super::body::text_or_file;
use super::request::{LoadRequests, body_check, headers};
use crate::arguments::LoadArguments;
use crate::arguments::message::MessageArguments;
use crate::exit::CliError;

/// The default size of a message in bytes.
const BYTES: usize = 64;

/// The messages that the flags describe, for a WebSocket at this URL.
pub fn from_arguments(arguments: &LoadArguments, url: Url) -> Result<LoadRequests, CliError> {
    refuse_http(arguments)?;
    let MessageArguments { message, message_size, binary, broadcast, any_answer, opening } =
        &arguments.message;
    let first_words = opening.as_deref().map(FirstWords::read).transpose();
    let first_words = first_words.map_err(|error| CliError::User(error.to_string()))?;
    refuse_with_broadcast(arguments)?;
    let payload = match message {
        Some(text) => text_or_file("--message", text)?,
        None => Messages::payload(message_size.unwrap_or(BYTES)),
    };
    if !binary && str::from_utf8(&payload).is_err() {
        return Err(CliError::User(
            "--message is not UTF-8, but a text message must be; add --binary".into(),
        ));
    }
    let body = match body_check(&arguments.request) {
        _ if *any_answer => BodyCheck::Any,
        BodyCheck::Any if arguments.request.expect_json.is_empty() => {
            BodyCheck::Exact(payload.clone())
        }
        expected => expected,
    };
    let request = Request {
        headers: headers(&arguments.request)?,
        body: payload,
        check: Check { body, json: arguments.request.expect_json.clone(), ..Check::default() },
        ..Request::get(&url.target, &url.authority)
    };
    check_request(&request, Protocol::WebSocket).map_err(CliError::User)?;
    let messages = Messages { binary: *binary, numbered: message.is_none(), broadcast: *broadcast };
    Ok(LoadRequests {
        url,
        file: None,
        requests: vec![request].into(),
        messages: Some(messages),
        first_words,
        scenario: None,
        follow: 0,
    })
}

/// Refuses options that a broadcast cannot have. Each message says what to do.
fn refuse_with_broadcast(arguments: &LoadArguments) -> Result<(), CliError> {
    if !arguments.message.broadcast {
        return Ok(());
    }
    const ONE_SEES: &str = "one thread of one generator must see when the last connection gets a message; leave it out";
    let given = [
        (
            "--devices",
            arguments.devices.is_some(),
            "one connection sends and the others only listen; write -c",
        ),
        ("--threads", arguments.threads.is_some_and(|threads| threads > 1), ONE_SEES),
        ("--agents", arguments.fleet.agents.is_some(), ONE_SEES),
        (
            "--requests-per-connection",
            arguments.shape.requests_per_connection.is_some(),
            "listening connections stay open; leave it out",
        ),
        (
            "--message-size",
            arguments.message.message_size.is_some_and(|bytes| bytes < NUMBER_BYTES),
            "copies are recognised by a number of 16 bytes; write 16 or more",
        ),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((flag, _, fix)) => {
            Err(CliError::User(format!("{flag} does not go with --broadcast: {fix}")))
        }
        None => Ok(()),
    }
}

/// Refuses flags that only HTTP has. Each message says what to do.
fn refuse_http(arguments: &LoadArguments) -> Result<(), CliError> {
    const MESSAGE: &str = "a WebSocket sends messages; write --message, or --message-size";
    let (request, files, shape) = (&arguments.request, &arguments.files, &arguments.shape);
    let given = [
        ("-m", request.method.is_some(), "a WebSocket is always opened by GET; leave it out"),
        ("-b", request.body.is_some(), MESSAGE),
        ("--json-body", request.json_body.is_some(), MESSAGE),
        ("-F", !request.form.is_empty(), MESSAGE),
        ("--data-urlencode", !request.data_urlencode.is_empty(), MESSAGE),
        ("--compressed", request.compressed, "messages are not compressed; leave it out"),
        (
            "--expect-status",
            !request.expect_status.is_empty(),
            "messages have no status; leave it out",
        ),
        ("--requests", files.requests.is_some(), MESSAGE),
        ("--urls-from-file", files.urls_from_file.is_some(), MESSAGE),
        ("--scenario", !files.scenario.is_empty(), "its steps are HTTP requests; leave it out"),
        (
            "--no-keep-alive",
            shape.no_keep_alive,
            "a WebSocket stays open; for a new one with each message write --requests-per-connection 1",
        ),
        (
            "--pipeline",
            shape.pipeline > 1,
            "each message waits for the answer to the one before; write more connections (-c)",
        ),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((flag, _, fix)) => {
            Err(CliError::User(format!("{flag} has no effect over WebSocket: {fix}")))
        }
        None => Ok(()),
    }
}

/// Refuses flags that only WebSocket has.
pub fn refuse(arguments: &MessageArguments) -> Result<(), CliError> {
    let given = [
        ("--message", arguments.message.is_some()),
        ("--message-size", arguments.message_size.is_some()),
        ("--binary", arguments.binary),
        ("--broadcast", arguments.broadcast),
        ("--any-answer", arguments.any_answer),
        ("--opening", arguments.opening.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(CliError::User(format!(
            "{flag} is about WebSocket, whose URLs are ws:// or wss://; leave it out, or write such a URL"
        ))),
        None => Ok(()),
    }
}
