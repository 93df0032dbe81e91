//! What HTTP itself asks of a server.
use std::time::Duration;

use super::http::{Client, Request};
use super::{Subject, Verdict};

/// A path that does not exist is 404.
///
/// # Errors
/// What came instead.
pub fn not_found(subject: &mut Subject<'_>, path: &str) -> Verdict {
    let method = &subject.workload.request.method;
    match subject.ask_for(path)?.status {
        404 => Ok(()),
        status => Err(format!("{method} {path}: status {status} instead of 404")),
    }
}

/// HEAD sends no body (RFC 9110 section 9.3.2); 404, 405 and 501 are accepted where a framework has
/// no HEAD.
///
/// # Errors
/// What came instead.
pub fn head(subject: &mut Subject<'_>) -> Verdict {
    let sample = subject.first()?;
    let path = &sample.path;
    let mut client = Client::connect(subject.way, subject.limit)?;
    let answer = client
        .exchange(&subject.of_sample("HEAD", sample))
        .map_err(|error| format!("HEAD {path}: {error}"))?;
    if ![subject.workload.answer.status, 404, 405, 501].contains(&answer.status) {
        return Err(format!("HEAD {path}: status {}", answer.status));
    }
    match client.surplus(Duration::from_millis(60)) {
        surplus if surplus.is_empty() => Ok(()),
        surplus => Err(format!("HEAD {path}: {} bytes of a body", surplus.len())),
    }
}

/// A server that does not announce that it closes answers again on the same connection (RFC 9112
/// section 9.3). So this proof alone asks without `Connection: close`, whatever the load does.
///
/// # Errors
/// What came instead.
pub fn keep_alive(subject: &mut Subject<'_>) -> Verdict {
    let sample = subject.first()?.clone();
    let mut client = Client::connect(subject.way, subject.limit)?;
    for round in 1..=3 {
        let reply = client
            .exchange(&Request::of_sample(&subject.workload.request.method, &sample))
            .map_err(|error| format!("request {round} on one connection: {error}"))?;
        if let Some(difference) = subject.differs(&sample, &reply) {
            return Err(format!("request {round} on one connection: {difference}"));
        }
        if reply.closes {
            return Ok(());
        }
    }
    Ok(())
}
