//! A nonce for each user before the load, over blocking connections: no request of the load is spent
//! on it. And whether the server takes name and password at all.
use std::io::Write as _;
use std::time::Duration;

use pippin_model::load::{LoadSpec, Protocol, Request};

use super::challenge::{FIELD, UNAUTHORIZED};
use super::{Authorizer, Challenge};
use crate::blocking::{Place, Stream};
use crate::error::EngineError;
use crate::protocol::http1::Rules;
use crate::protocol::http1::client::{ReadError, Response, read_response};
use crate::protocol::http1::request::{asking, origin, render_to};

/// How many requests of the load are sent without credentials at the most, until one is refused.
const ASKED_AT_MOST: usize = 16;
/// How many threads ask for nonces.
const THREADS: usize = 16;

/// A challenge for each of so many users; none if the load has no digest.
///
/// # Errors
/// If the server asks for nothing, or for what cannot be answered, or cannot be reached.
pub(crate) fn challenges(
    spec: &LoadSpec,
    users: u32,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Challenge>, EngineError> {
    if spec.digest.is_none() {
        return Ok(Vec::new());
    }
    let limit = Duration::from_nanos(spec.timeouts.request_ns);
    let mut asker = Asker::new(spec, limit)?;
    let (request, first) = asker.first_challenge()?;
    let others = users.saturating_sub(1) as usize;
    let threads = others.min(THREADS);
    let ask = |nth: usize| {
        let mut asker = Asker::new(spec, limit)?;
        let own = (nth..others).step_by(threads.max(1)).take_while(|_| !is_stopped());
        own.map(|_| asker.challenge(&request)).collect::<Result<Vec<_>, _>>()
    };
    let mut all = vec![first];
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..threads).map(|nth| scope.spawn(move || ask(nth))).collect();
        for thread in asking {
            all.extend(thread.join().unwrap_or_else(|_| {
                Err(no("a thread that fetched nonces ended, which is a fault of Pippin".into()))
            })?);
        }
        Ok::<_, EngineError>(())
    })?;
    Ok(all)
}

/// Whether the server asks for a digest, and takes name and password. The second is only tried where
/// a request changes nothing (RFC 9110 section 9.2.1).
///
/// # Errors
/// As [`challenges`]; or if the server refuses them.
pub(crate) fn try_credentials(spec: &LoadSpec, limit: Duration) -> Result<(), EngineError> {
    let Some(credentials) = &spec.digest else { return Ok(()) };
    let mut asker = Asker::new(spec, limit)?;
    let (request, challenge) = asker.first_challenge()?;
    if !changes_nothing(&request) {
        return Ok(());
    }
    let mut line = Vec::new();
    Authorizer::new(credentials, 0).grant(&challenge).put(
        &request.method,
        &request.target,
        &mut line,
    );
    let answer = asker.ask(&request, &line)?;
    if answer.status != UNAUTHORIZED || challenge_of(&answer).is_ok_and(|asked| asked.is_stale) {
        return Ok(());
    }
    Err(no(format!(
        "the server refuses this name and password for its realm \"{}\" (`{} {}`: status 401)",
        challenge.realm.escape_debug(),
        request.method,
        request.target.escape_debug()
    )))
}

/// Whether a request has a safe method (RFC 9110 section 9.2.1).
fn changes_nothing(request: &Request) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS")
}

fn no(why: String) -> EngineError {
    EngineError::Digest { why }
}

fn challenge_of(answer: &Response) -> Result<Challenge, EngineError> {
    let values = answer
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(FIELD))
        .filter_map(|(_, value)| str::from_utf8(value).ok());
    Challenge::among(values).map_err(|why| no(format!("the server {why}")))
}

/// Sends requests one after the other, over the same connection as long as the server keeps it.
struct Asker<'a> {
    spec: &'a LoadSpec,
    place: Place<'a>,
    limit: Duration,
    stream: Option<Stream>,
}

impl<'a> Asker<'a> {
    fn new(spec: &'a LoadSpec, limit: Duration) -> Result<Self, EngineError> {
        let place = Place::all_of(spec).next().ok_or(EngineError::NoAddresses)?;
        Ok(Self { spec, place, limit, stream: None })
    }

    /// The first request of the load for which the server asks who sends it, without its body. Those
    /// that change nothing are asked first, and others only if the server asks for none of them.
    fn first_challenge(&mut self) -> Result<(Request, Challenge), EngineError> {
        let mut said = String::new();
        let spec = self.spec;
        let all = || spec.requests.iter().map(|one| asking(spec, one));
        let others = all().filter(|request| !changes_nothing(request));
        let first = all().filter(changes_nothing).chain(others);
        for request in first.take(ASKED_AT_MOST) {
            let answer = self.ask(&request, b"")?;
            if answer.status == UNAUTHORIZED {
                return Ok((request, challenge_of(&answer)?));
            }
            if said.is_empty() {
                let target = request.target.escape_debug();
                said = format!("`{} {target}`: status {}", request.method, answer.status);
            }
        }
        let many = if spec.requests.len() > ASKED_AT_MOST {
            format!(", of which the first {ASKED_AT_MOST} were tried")
        } else {
            String::new()
        };
        Err(no(format!(
            "the server does not ask who sends the request ({said}{many}); load a path that is protected, or leave the digest out"
        )))
    }

    fn challenge(&mut self, request: &Request) -> Result<Challenge, EngineError> {
        let answer = self.ask(request, b"")?;
        match answer.status {
            UNAUTHORIZED => challenge_of(&answer),
            status => Err(no(format!(
                "the server asked who sends `{} {}`, and later answered it with status {status}",
                request.method,
                request.target.escape_debug()
            ))),
        }
    }

    /// Sends a request without a body, with this line in its head, and reads the answer.
    fn ask(&mut self, request: &Request, line: &[u8]) -> Result<Response, EngineError> {
        let mut bytes = render_to(request, &origin(self.spec, request), false)
            .map_err(|why| no(why.to_string()))?;
        let end = bytes.len() - 2;
        bytes.splice(end..end, line.iter().copied());
        let is_kept = self.stream.is_some();
        let head_only = request.method == "HEAD";
        match self.exchange(&bytes, head_only)? {
            // The server may have closed it meanwhile.
            Err(ReadError::Closed(_) | ReadError::Io(_)) if is_kept => {
                self.stream = None;
                self.exchange(&bytes, head_only)?
            }
            answer => answer,
        }
        .map_err(|why| no(why.to_string()))
    }

    fn exchange(
        &mut self,
        bytes: &[u8],
        head_only: bool,
    ) -> Result<Result<Response, ReadError>, EngineError> {
        let LoadSpec { tls, limits, .. } = self.spec;
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => Stream::connect(self.place, tls.as_ref(), Protocol::Http1, self.limit)?,
        };
        stream.allow(self.limit);
        let rules =
            Rules { head_only, head_bytes: limits.head_bytes, body_bytes: limits.body_bytes };
        let answer = stream
            .write_all(bytes)
            .map_err(ReadError::from)
            .and_then(|()| read_response(&mut stream, &rules));
        match &answer {
            Ok(answer) if answer.keep_alive => self.stream = Some(stream),
            _ => stream.say_goodbye(),
        }
        Ok(answer)
    }
}
