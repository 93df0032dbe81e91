//! A blocking HTTP/1.1 client for proofs: one request at a time over the engine's own decoder,
//! everything of the answer kept.
use pippin_engine::Exchange;
use pippin_engine::http1::Rules;
use pippin_engine::http1::client::{ReadError, Response, read_response};
use pippin_engine::http1::request::render;
use pippin_model::load_spec;
use pippin_model::workload::Sample;
use pippin_reference::monotonic_ns;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A request of a proof.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    close: bool,
}

impl Request {
    /// GET of a percent-encoded path, on a connection that is kept.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self::of("GET", path)
    }

    /// Any method.
    #[must_use]
    pub fn of(method: &str, path: &str) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        Self { method: method.into(), path: path.into(), headers, body, close: false }
    }

    /// What a workload asks.
    #[must_use]
    pub fn of_sample(method: &str, sample: &Sample) -> Self {
        Self {
            headers: sample.headers.clone(),
            body: sample.request_body.clone().into_bytes(),
            ..Self::of(method, &sample.path)
        }
    }

    /// The same with `Connection: close`.
    #[must_use]
    pub const fn closing(mut self) -> Self {
        self.close = true;
        self
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body without framing.
    pub body: Vec<u8>,
    /// Whether the connection cannot be used again (RFC 9112 section 9.3).
    pub closes: bool,
    /// When its request was about to be sent, and when it was read (CLOCK_MONOTONIC, nanoseconds).
    sent_ns: u64,
    read_ns: u64,
    headers: Vec<(String, Vec<u8>)>,
}

impl Answer {
    /// As a referee sees it.
    #[must_use]
    pub fn exchange(&self) -> Exchange<'_> {
        Exchange { body: &self.body, sent_ns: self.sent_ns, read_ns: self.read_ns }
    }

    /// The first value of a header field, in whatever case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }

    /// The body as text, shortened for messages.
    #[must_use]
    pub fn excerpt(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let short: String = text.chars().take(120).collect();
        if short.len() < text.len() {
            format!("{short:?}... ({} bytes)", self.body.len())
        } else {
            format!("{short:?}")
        }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    address: SocketAddr,
    sent_ns: u64,
}

const HEAD_LIMIT: u32 = 64 * 1024;
const BODY_LIMIT: u64 = 16 * 1024 * 1024;

impl Client {
    /// Connects; `limit` bounds the connect and each read and write.
    ///
    /// # Errors
    /// A message for people.
    pub fn connect(address: SocketAddr, limit: Duration) -> Result<Self, String> {
        let stream = TcpStream::connect_timeout(&address, limit)
            .map_err(|error| format!("connect to {address}: {error}"))?;
        let set = stream
            .set_read_timeout(Some(limit))
            .and_then(|()| stream.set_write_timeout(Some(limit)))
            .and_then(|()| stream.set_nodelay(true));
        set.map_err(|error| format!("set up the connection to {address}: {error}"))?;
        Ok(Self { stream, address, sent_ns: 0 })
    }

    /// Sends a request and reads its whole answer; interim answers (1xx) are passed over.
    ///
    /// # Errors
    /// A message that says what came instead.
    pub fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        self.send(request)?;
        self.answer(request)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// A message that says what went wrong.
    pub fn send(&mut self, request: &Request) -> Result<(), String> {
        let asked = load_spec::Request {
            method: request.method.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            ..load_spec::Request::get(&request.path, &self.address.to_string())
        };
        let bytes = render(&asked, request.close).map_err(|error| error.to_string())?;
        self.sent_ns = monotonic_ns();
        self.stream.write_all(&bytes).map_err(|error| format!("send the request: {error}"))
    }

    /// Bounds each read and write from now on.
    ///
    /// # Errors
    /// If the limit is 0.
    pub fn set_limit(&self, limit: Duration) -> Result<(), String> {
        self.stream
            .set_read_timeout(Some(limit))
            .and_then(|()| self.stream.set_write_timeout(Some(limit)))
            .map_err(|error| error.to_string())
    }

    /// Reads the whole answer to a request that was sent; interim answers (1xx) are passed over.
    ///
    /// # Errors
    /// A message that says what came instead.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, String> {
        let rules = Rules {
            head_only: request.method == "HEAD",
            head_bytes: HEAD_LIMIT,
            body_bytes: BODY_LIMIT,
        };
        let Response { status, headers, body, keep_alive, .. } =
            read_response(&mut self.stream, &rules).map_err(|error| in_words(&error))?;
        let (sent_ns, read_ns) = (self.sent_ns, monotonic_ns());
        Ok(Answer { status, body, closes: !keep_alive, sent_ns, read_ns, headers })
    }

    /// What the server sends within `limit` although nothing was asked; for finding a body where
    /// there must be none.
    pub fn surplus(&mut self, limit: Duration) -> Vec<u8> {
        let mut buffer = [0; 4096];
        let count = self
            .stream
            .set_read_timeout(Some(limit))
            .and_then(|()| self.stream.read(&mut buffer))
            .unwrap_or(0);
        buffer[..count].to_vec()
    }
}

fn in_words(error: &ReadError) -> String {
    match error {
        ReadError::Io(io) if matches!(io.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            "no answer in time".into()
        }
        other => other.to_string(),
    }
}
