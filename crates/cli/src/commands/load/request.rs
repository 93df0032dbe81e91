//! The requests, and their right answers.
use pippin_engine::http1::request::check;
use pippin_lab::load::address::Url;
use pippin_model::load::websocket::Messages;
use pippin_model::load::{BodyCheck, Check, FirstWords, Request, Requests, Scenario};
use pippin_model::request::request_file::{self, Format, RequestFile};
use pippin_model::scenario::file::Written;
use pippin_model::scenario::mix::{self, Named};
use pippin_model::text::bounded;
use pippin_model::workload::Steps;
use pippin_model::{scenario, workload};
use std::path::Path;

use super::body::{self, Body};
use super::grpc;
use super::message;
use crate::arguments::LoadArguments;
use crate::arguments::request::{FileArguments, RequestArguments};
use crate::exit::CliError;
use crate::values::statuses_of;

/// The header that says who asks.
const AUTHORIZATION: &str = "Authorization";

/// All requests of a load.
pub struct LoadRequests {
    /// The server, with the path of the only request if there is no file.
    pub url: Url,
    /// The source of the requests, for titles: `requests of shop.jsonl`.
    pub file: Option<String>,
    pub requests: Requests,
    /// The messages over WebSocket.
    pub messages: Option<Messages>,
    /// What is said before them.
    pub first_words: Option<FirstWords>,
    /// The scenario whose steps the requests are.
    pub scenario: Option<Scenario>,
    /// How many redirections its users follow after each step.
    pub follow: u32,
}

/// The requests that the flags describe.
pub fn all(arguments: &LoadArguments) -> Result<LoadRequests, CliError> {
    if let Some(url) = arguments.url.as_deref().map(Url::of_any).transpose()?
        && url.is_websocket
    {
        return message::from_arguments(arguments, url);
    }
    message::refuse(&arguments.message)?;
    let FileArguments { requests, urls_from_file, scenario } = &arguments.files;
    match (requests, urls_from_file, scenario.as_slice()) {
        (Some(path), _, _) => of_file(arguments, path, None),
        (None, Some(path), _) => of_file(arguments, path, Some(Format::Urls)),
        (None, None, named @ [_, ..]) => of_scenarios(arguments, named),
        (None, None, []) => {
            let url = Url::parse(arguments.url.as_deref().unwrap_or_default())?;
            let mut request = from_arguments(&arguments.request, &url.authority, &url.target)?;
            if arguments.protocol.grpc {
                grpc::call(&mut request)?;
            }
            Ok(LoadRequests {
                url,
                file: None,
                requests: vec![request].into(),
                scenario: None,
                messages: None,
                first_words: None,
                follow: 0,
            })
        }
    }
}

/// The only request, with the check of its answer.
pub fn from_arguments(
    asked: &RequestArguments,
    host: &str,
    path: &str,
) -> Result<Request, CliError> {
    let made = body::from_arguments(asked)?;
    let default = if made.is_some() { "POST" } else { "GET" };
    let Body { bytes, media_type } = made.unwrap_or(Body { bytes: Vec::new(), media_type: None });
    let mut headers = headers(asked)?;
    if let Some(media_type) = media_type.filter(|_| !has(&headers, "content-type")) {
        headers.push(("Content-Type".into(), media_type));
    }
    let body = body_check(asked);
    let request = Request {
        method: asked.method.clone().unwrap_or_else(|| default.into()),
        target: path.into(),
        host: host.into(),
        headers,
        body: bytes,
        check: Check {
            status: statuses_of(&asked.expect_status),
            body,
            json: asked.expect_json.clone(),
            ..Check::default()
        },
        drawn: None,
        upload: None,
    };
    // Refused here, so that a load that cannot begin is not stored.
    check(&request).map_err(|error| CliError::User(error.to_string()))?;
    Ok(request)
}

/// What a right body is.
pub fn body_check(asked: &RequestArguments) -> BodyCheck {
    match &asked.expect_body {
        Some(body) => BodyCheck::Exact(body.clone().into_bytes()),
        None => BodyCheck::containing(asked.expect_contains.clone()),
    }
}

/// The headers that the flags add to every request.
pub fn headers(asked: &RequestArguments) -> Result<Vec<(String, String)>, CliError> {
    let mut headers: Vec<(String, String)> =
        asked.headers.iter().map(|field| (field.name.clone(), field.value.clone())).collect();
    let mut add = |flag: &str, name: &str, value: String| {
        if has(&headers, name) {
            return Err(CliError::User(format!(
                "{flag} and -H `{name}: ...` both set the header {name}: keep one"
            )));
        }
        headers.push((name.into(), value));
        Ok(())
    };
    if let Some(user) = &asked.user {
        add("-u", AUTHORIZATION, body::basic(user)?)?;
    }
    if let Some(wrong) = asked.cookie.iter().find(|cookie| !cookie.contains('=')) {
        return Err(CliError::User(format!(
            "--cookie `{wrong}` is not NAME=VALUE; cookies from a file are not read"
        )));
    }
    if !asked.cookie.is_empty() {
        add("--cookie", "Cookie", asked.cookie.join("; "))?;
    }
    if asked.compressed {
        add("--compressed", "Accept-Encoding", "gzip, deflate, br, zstd".into())?;
    }
    if asked.digest {
        // Each request gets another one while it is rendered.
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case(AUTHORIZATION));
    }
    Ok(headers)
}

pub(super) fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
}

fn of_file(
    arguments: &LoadArguments,
    path: &Path,
    format: Option<Format>,
) -> Result<LoadRequests, CliError> {
    let is_standard_input = path == Path::new("-");
    let path = if is_standard_input { Path::new("standard input") } else { path };
    if format.is_none()
        && !is_standard_input
        && !path.exists()
        && crate::values::requests(&path.to_string_lossy()).is_ok()
    {
        return Err(CliError::User(format!(
            "--requests names a file, and there is no {path}; a number of requests is -n {path}",
            path = path.display()
        )));
    }
    let file = if is_standard_input {
        let text = bounded::up_to(std::io::stdin().lock(), bounded::DATA)
            .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
            .map_err(CliError::io("read the requests of standard input"))?;
        request_file::of_text(path, &text, format)
    } else {
        request_file::read(path, format)
    };
    let file = file.map_err(|error| CliError::User(error.to_string()))?;
    let url = server(arguments, path, &file)?;
    let RequestFile { mut requests, weights, lines, .. } = file;
    complete(&mut requests, &url.authority, &arguments.request)?;
    for (request, line) in requests.iter().zip(lines) {
        check(request)
            .map_err(|error| CliError::User(format!("{}:{line}: {error}", path.display())))?;
    }
    let requests = Requests::weighted(requests, &weights)
        .map_err(|error| CliError::User(format!("{}: {error}", path.display())))?;
    let file = Some(format!("requests of {}", name_of(path)));
    Ok(LoadRequests {
        url,
        file,
        requests,
        scenario: None,
        messages: None,
        first_words: None,
        follow: 0,
    })
}

/// The name of a file, for titles.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Adds the server to each request of a file, and the headers and statuses of the flags.
fn complete(
    requests: &mut [Request],
    host: &str,
    asked: &RequestArguments,
) -> Result<(), CliError> {
    let added = headers(asked)?;
    let statuses = statuses_of(&asked.expect_status);
    for request in requests {
        request.host = host.into();
        request.headers.retain(|(name, _)| {
            !(has(&added, name) || asked.digest && name.eq_ignore_ascii_case(AUTHORIZATION))
        });
        request.headers.extend(added.iter().cloned());
        if request.check.status.is_empty() {
            request.check.status.clone_from(&statuses);
        }
    }
    Ok(())
}

/// The steps of files.
fn of_scenarios(arguments: &LoadArguments, named: &[Named]) -> Result<LoadRequests, CliError> {
    let url = server(arguments, &named[0].file, &RequestFile::default())?;
    let ((written, _), Steps { requests, scenario }) =
        steps(&arguments.request, named, &url.authority)?;
    let file = Some(in_words(named));
    Ok(LoadRequests {
        url,
        file,
        requests: requests.into(),
        scenario: Some(scenario),
        messages: None,
        first_words: None,
        follow: written.follow,
    })
}

/// The files of scenarios with their shares, for titles: `scenario shop.toml`, `scenarios
/// browse.toml:70, buy.toml:5`.
pub fn in_words(named: &[Named]) -> String {
    let noun = if named.len() == 1 { "scenario" } else { "scenarios" };
    let texts: Vec<String> = named.iter().map(|one| one.text(&name_of(&one.file))).collect();
    format!("{noun} {}", texts.join(", "))
}

/// The steps of files, first for this host with the headers and statuses of the flags, then as
/// they are in the file, or the names of several.
pub fn steps(
    asked: &RequestArguments,
    named: &[Named],
    host: &str,
) -> Result<((Written, Vec<String>), Steps), CliError> {
    let read = |named: &[Named]| {
        mix::read(named, Path::new(""))
            .map_err(|error| CliError::User(format!("--scenario: {error}")))
    };
    let (written, mut requests, scenario) = match named {
        [Named { file, share: None }] => {
            let (written, requests, scenario) =
                scenario::file::read(file).map_err(|error| CliError::User(error.to_string()))?;
            ((written, Vec::new()), requests, scenario)
        }
        _ => {
            let (requests, scenario) = read(named)?;
            let texts = named.iter().map(|one| one.text(&one.file.display().to_string()));
            ((Written::default(), texts.collect()), requests, scenario)
        }
    };
    if scenario.cookies && !asked.cookie.is_empty() {
        return Err(CliError::User(
            "--cookie: a scenario says cookies = true, so that each user has its own; leave one of them out".into(),
        ));
    }
    check_added(asked, &scenario)?;
    complete(&mut requests, host, asked)?;
    Ok((written, Steps { requests, scenario }))
}

/// Checks the headers that flags add to every step.
fn check_added(asked: &RequestArguments, scenario: &Scenario) -> Result<(), CliError> {
    for (name, value) in headers(asked)? {
        let flag = if name == "Cookie" && !asked.cookie.is_empty() {
            format!("--cookie `{value}`")
        } else {
            format!("-H `{name}: {value}`")
        };
        scenario::file::check_added(scenario, &value).map_err(|why| {
            CliError::User(format!(
                "{flag} holds for every step. {why}. What only some steps need goes into their `headers`"
            ))
        })?;
    }
    Ok(())
}

/// The server for a file's requests: that of the command line, or the one that the file names.
fn server(arguments: &LoadArguments, path: &Path, file: &RequestFile) -> Result<Url, CliError> {
    let path = path.display();
    let in_file = file.server.as_ref();
    let Some(text) = &arguments.url else {
        let (server, _) = in_file.ok_or_else(|| {
            CliError::User(format!(
                "{path} only has paths: name the server too, for example pippin load http://127.0.0.1:8080"
            ))
        })?;
        return Ok(Url::parse(&server.to_string())?);
    };
    let url = Url::parse(text)?;
    if url.target != "/" {
        return Err(CliError::User(format!(
            "the path of {text} has no effect, because {path} has the paths; leave it out"
        )));
    }
    match in_file {
        Some((server, line))
            if server.authority != url.authority || server.is_https != url.is_https =>
        {
            Err(CliError::User(format!(
                "{path}:{line}: this goes to {server}, and the command line names {text}; keep the path only, or leave the URL out"
            )))
        }
        _ => Ok(url),
    }
}

/// The only request, in the form of a workload.
pub fn in_workload(asked: &RequestArguments, path: &str) -> Result<workload::Request, CliError> {
    let request = from_arguments(asked, "localhost", path)?;
    Ok(workload::Request {
        method: request.method,
        path: request.target,
        ..workload::Request::default()
    })
}

impl LoadRequests {
    /// The first request, in the form of a workload.
    pub fn in_workload(&self) -> workload::Request {
        let first = self.requests.first();
        workload::Request {
            method: first.map_or_else(|| "GET".into(), |request| request.method.clone()),
            path: first.map_or_else(|| "/".into(), |request| request.target.clone()),
            ..workload::Request::default()
        }
    }

    /// A title for the load: the URL, and the file if there is one.
    pub fn title(&self) -> String {
        match &self.file {
            None => self.url.whole(),
            Some(file) => format!("{} ({file})", self.url.whole()),
        }
    }
}
