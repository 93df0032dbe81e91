//! A blocking client for proofs, over HTTP/1.1, HTTP/2 or HTTP/3: one request at a time over the
//! engine's own decoders, everything of the answer kept.
use pippin_engine::Exchange;
use pippin_engine::blocking::Stream;
use pippin_engine::http1::Rules;
use pippin_engine::http1::client::{Response, read_response};
use pippin_engine::http1::request::render;
use pippin_engine::http2::client::Client as Http2;
use pippin_engine::http3::client::Client as Http3;
use pippin_model::load::{self, Limits, Protocol};
use pippin_model::request::coding::Coding;
use pippin_model::request::upload::{self, Content, Upload};
use pippin_model::workload::Sample;
use pippin_reference::monotonic_ns;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use crate::running::way::Way;

/// A request of a proof.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The length of the chunks in which the body is sent; `None` with `Content-Length`.
    chunk: Option<usize>,
    close: bool,
}

/// The end of a request that has not been sent.
#[derive(Debug)]
pub struct Held(pub Vec<u8>);

impl Request {
    /// GET of a percent-encoded path, on a connection that is kept.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// Any method.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        let (headers, body, chunk) = (Vec::new(), Vec::new(), None);
        Self { method: method.into(), path: path.into(), headers, body, chunk, close: false }
    }

    /// What a workload asks.
    #[must_use]
    pub fn of_sample(method: &str, sample: &Sample) -> Self {
        let number = sample.drawn.as_deref().and_then(upload::number);
        let (body, chunk) = match (sample.upload, number) {
            (Some(Upload { bytes, chunked, key }), Some(number)) => {
                (Content::from_key(key).whole(bytes, number), chunked.then_some(CHUNK))
            }
            _ => (sample.request_body.clone().into_bytes(), None),
        };
        let headers = sample.headers.clone();
        Self { headers, body, chunk, ..Self::new(method, &sample.path) }
    }

    /// This request with another path.
    #[must_use]
    pub fn to(self, path: &str) -> Self {
        Self { path: path.into(), ..self }
    }

    /// This request with another body.
    #[must_use]
    pub fn with_body(self, body: Vec<u8>) -> Self {
        Self { body, ..self }
    }

    /// This request with its body in chunks of this length, or with `Content-Length`.
    #[must_use]
    pub fn in_chunks(self, chunk: Option<usize>) -> Self {
        Self { chunk, ..self }
    }

    /// This request with another header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Its body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether its body is sent in chunks.
    #[must_use]
    pub const fn is_chunked(&self) -> bool {
        self.chunk.is_some()
    }

    /// Its body as it is sent over HTTP/1.1.
    fn framed(&self) -> Cow<'_, [u8]> {
        let Some(chunk) = self.chunk else { return (&self.body).into() };
        let mut framed = Vec::with_capacity(self.body.len() + 64);
        for part in self.body.chunks(chunk) {
            framed.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            framed.extend_from_slice(part);
            framed.extend_from_slice(b"\r\n");
        }
        framed.extend_from_slice(LAST_CHUNK);
        framed.into()
    }

    /// This request with `Connection: close`.
    #[must_use]
    pub const fn closing(mut self) -> Self {
        self.close = true;
        self
    }
}

/// The length of chunks, as clients send them that copy a file.
const CHUNK: usize = 16 * 1024;
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body without framing.
    pub body: Vec<u8>,
    /// Whether the connection cannot be used again (RFC 9112 section 9.3).
    pub closes: bool,
    /// Just before its request was sent, and when it was read (CLOCK_MONOTONIC, nanoseconds).
    sent_ns: u64,
    read_ns: u64,
    headers: Vec<(String, Vec<u8>)>,
}

impl Answer {
    /// As a referee sees it.
    #[must_use]
    pub fn exchange(&self) -> Exchange<'_> {
        let Self { body, sent_ns, read_ns, status, .. } = self;
        let (sent_ns, read_ns, status) = (*sent_ns, *read_ns, *status);
        let (length, coding) = (body.len() as u64, self.coding());
        Exchange { status, body, length, coding, sent_ns, read_ns, ..Exchange::default() }
    }

    /// Its content coding.
    #[must_use]
    pub fn coding(&self) -> Coding {
        self.values("content-encoding").fold(Coding::Plain, Coding::and_field)
    }

    /// The values of all header fields of this name, in whatever case.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let is_it = move |(given, _): &&(String, Vec<u8>)| given.eq_ignore_ascii_case(name);
        self.headers.iter().filter(is_it).map(|(_, value)| value.as_slice())
    }

    /// The first value of a header field, in whatever case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.values(name).next().map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Its head, as a scenario looks for values in it.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        head
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
    spoken: Spoken,
    /// For poll(2).
    descriptor: RawFd,
    host: String,
    scheme: &'static str,
    /// How long an exchange may take in all.
    limit: Duration,
    sent_ns: u64,
}

/// What is spoken over it.
#[derive(Debug)]
enum Spoken {
    Http1(Stream),
    Http2(Box<Http2<Stream>>),
    Http3(Box<Http3>),
}

const LIMITS: Limits = Limits { head_bytes: 64 * 1024, body_bytes: 16 * 1024 * 1024 };

/// Nothing of a request is held back.
fn whole(sent: Result<(), impl Display>) -> Result<Held, String> {
    sent.map(|()| Held(Vec::new())).map_err(|error| format!("send the request: {error}"))
}

fn stream(way: &Way, limit: Duration) -> Result<Stream, String> {
    Stream::connect(way.place(), way.tls.as_ref(), way.protocol, limit)
        .map_err(|error| error.to_string())
}

impl Client {
    /// Connects; `limit` bounds this in all, and then each exchange in all: a server that sends a
    /// byte now and then takes no longer than a silent one.
    ///
    /// # Errors
    /// A message for people.
    pub fn connect(way: &Way, limit: Duration) -> Result<Self, String> {
        let address = way.address();
        let mut spoken = match way.protocol {
            // A WebSocket is opened over HTTP/1.1, and other requests use HTTP/1.1 too.
            Protocol::Http1 | Protocol::WebSocket => Spoken::Http1(stream(way, limit)?),
            Protocol::Http2 => {
                let client = Http2::new(stream(way, limit)?, LIMITS)
                    .map_err(|error| format!("HTTP/2 with {address}: {error}"))?;
                Spoken::Http2(Box::new(client))
            }
            Protocol::Http3 => {
                let tls = way.tls.as_ref().ok_or("HTTP/3 needs TLS")?;
                let client = Http3::connect(&way.place(), tls, LIMITS, limit)
                    .map_err(|error| error.to_string())?;
                Spoken::Http3(Box::new(client))
            }
        };
        let descriptor = match &mut spoken {
            Spoken::Http1(stream) => stream.as_raw_fd(),
            Spoken::Http2(client) => client.stream_mut().as_raw_fd(),
            Spoken::Http3(client) => client.as_raw_fd(),
        };
        let scheme = if way.tls.is_some() { "https" } else { "http" };
        Ok(Self { spoken, descriptor, host: address.to_string(), scheme, limit, sent_ns: 0 })
    }

    /// Its file descriptor.
    #[must_use]
    pub const fn descriptor(&self) -> RawFd {
        self.descriptor
    }

    /// Sends a request and reads its whole answer; interim answers (1xx) are passed over.
    ///
    /// # Errors
    /// A message that says what came instead.
    pub fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        match self.send(request) {
            Ok(()) => self.answer(request),
            // A server that does not want the body may have said so before it closed.
            Err(unsent) => self.answer(request).map_err(|_| unsent),
        }
    }

    /// Gives what follows its time.
    fn allow(&mut self) {
        match &mut self.spoken {
            Spoken::Http1(stream) => stream.allow(self.limit),
            Spoken::Http2(client) => client.stream_mut().allow(self.limit),
            Spoken::Http3(client) => client.allow(self.limit),
        }
    }

    /// Sends a request. The time for its answer begins here.
    ///
    /// # Errors
    /// A message that says what went wrong.
    pub fn send(&mut self, request: &Request) -> Result<(), String> {
        self.send_but(request, 0).map(drop)
    }

    /// Sends a request without so many bytes at the end of its body; all of these are returned, with
    /// the end of their framing. Over HTTP/2 and HTTP/3 nothing is held back.
    ///
    /// # Errors
    /// A message that says what went wrong.
    pub fn send_but(&mut self, request: &Request, held: usize) -> Result<Held, String> {
        let mut asked = load::Request {
            method: request.method.clone(),
            headers: request.headers.clone(),
            ..load::Request::get(&request.path, &self.host)
        };
        self.allow();
        match &mut self.spoken {
            Spoken::Http1(stream) => {
                // Only the head is made of it.
                let bytes = request.body.len() as u64;
                let chunked = request.is_chunked();
                let has_body = bytes > 0 || chunked;
                asked.upload = has_body.then_some(Upload { bytes, chunked, key: 0 });
                let mut bytes = render(&asked, request.close).map_err(|error| error.to_string())?;
                let body = request.framed();
                let framing = if chunked { b"\r\n".len() + LAST_CHUNK.len() } else { 0 };
                let held = if held == 0 { 0 } else { held.saturating_add(framing) };
                let (sent, rest) = body.split_at(body.len().saturating_sub(held));
                bytes.extend_from_slice(sent);
                self.sent_ns = monotonic_ns();
                stream.write_all(&bytes).map_err(|error| format!("send the request: {error}"))?;
                Ok(Held(rest.into()))
            }
            // Here a client does not announce that a connection carries one request only.
            Spoken::Http2(client) => {
                asked.body.clone_from(&request.body);
                self.sent_ns = monotonic_ns();
                whole(client.send(&asked, self.scheme))
            }
            Spoken::Http3(client) => {
                asked.body.clone_from(&request.body);
                self.sent_ns = monotonic_ns();
                whole(client.send(&asked))
            }
        }
    }

    /// Sends what was held back. The time for the answer begins here.
    ///
    /// # Errors
    /// A message that says what went wrong.
    pub fn send_rest(&mut self, rest: &[u8]) -> Result<(), String> {
        self.allow();
        let Spoken::Http1(stream) = &mut self.spoken else { return Ok(()) };
        stream.write_all(rest).map_err(|error| format!("send the rest of the body: {error}"))
    }

    /// Reads the whole answer to a request that was sent; interim answers (1xx) are passed over.
    ///
    /// # Errors
    /// A message that says what came instead.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, String> {
        let rules = Rules {
            head_only: request.method == "HEAD",
            head_bytes: LIMITS.head_bytes,
            body_bytes: LIMITS.body_bytes,
        };
        let response = match &mut self.spoken {
            Spoken::Http1(stream) => {
                read_response(stream, &rules).map_err(|error| error.to_string())?
            }
            Spoken::Http2(client) => client.answer().map_err(|error| error.to_string())?,
            Spoken::Http3(client) => client.answer()?,
        };
        let Response { status, headers, body, keep_alive, .. } = response;
        let (sent_ns, read_ns) = (self.sent_ns, monotonic_ns());
        Ok(Answer { status, body, closes: !keep_alive, sent_ns, read_ns, headers })
    }

    /// What the server sends within `limit` although nothing was asked; for finding a body where
    /// there must be none. HTTP/2 and HTTP/3 say themselves where an answer ends.
    pub fn surplus(&mut self, limit: Duration) -> Vec<u8> {
        let Spoken::Http1(stream) = &mut self.spoken else { return Vec::new() };
        let mut buffer = [0; 4096];
        stream.allow(limit);
        let count = stream.read(&mut buffer).unwrap_or(0);
        buffer[..count].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::within;
    use pippin_model::load::tls::TlsSpec;
    use pippin_testing::frames::{Connection, Server, frame, kind};
    use pippin_testing::messages;
    use pippin_testing::scripted::{self, Script, spawn};
    use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

    #[test]
    fn a_proof_asks_in_every_protocol() {
        let authority = Authority::new();
        let old = spawn(Script::always(scripted::Answer::ok(b"hello"))).unwrap();
        let new = Server::new(Connection::serve).unwrap();
        let front = |behind, alpn| {
            let config = authority.server(&Certified { alpn: vec![alpn], ..Certified::default() });
            Front::spawn(behind, config, FrontBehaviour::default()).unwrap()
        };
        let fronts = (front(old.address(), "http/1.1"), front(new.address, "h2"));
        let tls = Some(TlsSpec {
            server_name: "127.0.0.1".into(),
            extra_roots_pem: Some(authority.pem()),
            verify: true,
            resume: false,
            client: None,
        });
        for (address, tls, protocol) in [
            (old.address(), None, Protocol::Http1),
            (fronts.0.address(), tls.clone(), Protocol::Http1),
            (new.address, None, Protocol::Http2),
            (fronts.1.address(), tls, Protocol::Http2),
        ] {
            let way = Way::plain(address).over(tls, protocol);
            let mut client = Client::connect(&way, Duration::from_secs(5)).unwrap();
            for _ in 0..3 {
                let answer = client.exchange(&Request::get("/")).unwrap();
                assert_eq!((answer.status, answer.body.as_slice()), (200, &b"hello"[..]));
                assert!(!answer.closes && answer.exchange().read_ns >= answer.exchange().sent_ns);
            }
        }
        let way = Way::plain(old.address()).over(None, Protocol::Http2);
        let error = Client::connect(&way, Duration::from_secs(5)).err().unwrap();
        assert!(error.starts_with("HTTP/2 with "), "{error}");
    }

    /// Each read is in time, and all of them together are not.
    #[test]
    fn an_answer_that_never_ends_takes_no_longer_than_allowed() {
        let gap = Duration::from_millis(20);
        let old = spawn(Script::always(scripted::Answer::ok(b"x").endless(gap, true))).unwrap();
        let new = Server::new(move |connection| {
            connection.request()?;
            loop {
                connection.send(&frame(kind::PING, 0, 0, b"for ever"))?;
                std::thread::sleep(gap);
            }
        });
        for (address, protocol) in
            [(old.address(), Protocol::Http1), (new.unwrap().address, Protocol::Http2)]
        {
            let error = within(Duration::from_secs(20), move || {
                let way = Way::plain(address).over(None, protocol);
                let mut client = Client::connect(&way, Duration::from_millis(1_500)).unwrap();
                client.exchange(&Request::get("/")).unwrap_err()
            });
            assert!(error.contains("the server did not answer in time"), "{error}");
        }
    }

    /// The server closes with bytes that it has not read, so that the rest cannot be sent.
    #[test]
    fn a_refusal_before_the_end_of_a_body_is_an_answer() {
        const REFUSAL: &[u8] =
            b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let server = messages::Server::raw(|connection| {
            connection.head()?;
            connection.send(REFUSAL)
        })
        .unwrap();
        for chunk in [None, Some(CHUNK)] {
            let body = vec![b'x'; 20_000_000];
            let request = Request::new("POST", "/").with_body(body).in_chunks(chunk);
            let way = Way::plain(server.address);
            let mut client = Client::connect(&way, Duration::from_secs(5)).unwrap();
            assert_eq!(client.exchange(&request).unwrap().status, 413);
        }
    }

    #[test]
    fn the_end_of_a_body_can_be_held_back() {
        let server = messages::Server::raw(|connection| {
            let mut seen = [0; 4096];
            let length = connection.writer()?.read(&mut seen).ok()?;
            let text = String::from_utf8_lossy(&seen[..length]).into_owned();
            let (_, body) = text.split_once("\r\n\r\n")?;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            connection.send(format!("{head}{body}").as_bytes())
        })
        .unwrap();
        let request = Request::new("POST", "/").with_body(b"abcdefghij".into());
        for (chunk, held, sent, rest) in [
            (None, 0, "abcdefghij", ""),
            (None, 3, "abcdefg", "hij"),
            (None, usize::MAX, "", "abcdefghij"),
            (Some(7), 0, "7\r\nabcdefg\r\n3\r\nhij\r\n0\r\n\r\n", ""),
            (Some(7), 2, "7\r\nabcdefg\r\n3\r\nh", "ij\r\n0\r\n\r\n"),
        ] {
            let request = request.clone().in_chunks(chunk);
            let way = Way::plain(server.address);
            let mut client = Client::connect(&way, Duration::from_secs(5)).unwrap();
            let Held(held) = client.send_but(&request, held).unwrap();
            assert_eq!(String::from_utf8_lossy(&held), rest);
            assert_eq!(String::from_utf8_lossy(&client.answer(&request).unwrap().body), sent);
        }
    }

    /// The time of an answer is its own: that of the connection may be over.
    #[test]
    fn what_came_before_takes_no_time_from_an_exchange() {
        let limit = Duration::from_millis(1_500);
        let server = spawn(Script::always(scripted::Answer::ok(b"hello"))).unwrap();
        let mut client = Client::connect(&Way::plain(server.address()), limit).unwrap();
        for _ in 0..2 {
            std::thread::sleep(limit);
            assert_eq!(client.exchange(&Request::get("/")).unwrap().body, b"hello");
        }
        assert_eq!(client.surplus(Duration::from_millis(10)), b"");
    }
}
