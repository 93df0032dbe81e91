//! One request at a time over a blocking stream: for proofs and for a check before a load, not for
//! loads.
use std::io::{self, Read, Write};

use pippin_model::load::{Limits, Request};
use pippin_model::result::ErrorKind;

use super::hpack::encode::blocks;
use super::protocol::{check, fields};
use super::sending::put_preface;
use super::session::{self, Session};
use super::stream::Stream;
use crate::blocking::{LATE, is_late};
use crate::protocol::collected::Collected;
use crate::protocol::http1::client::Response;
use crate::protocol::outgoing::Frames;
use crate::protocol::{Outgoing, Step};
use crate::request::drawn::Value;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The stream failed.
    #[error("{0}")]
    Io(io::Error),
    /// The time of the stream was over.
    #[error("{LATE}")]
    Late,
    /// The server answered in another protocol.
    #[error("the server answers HTTP/2 with HTTP/1 (`{0}`): it does not speak HTTP/2 here")]
    OtherProtocol(String),
    /// The server broke the rules, or its answer must be rejected.
    #[error("the server's answer is not right in HTTP/2: {0}")]
    Broken(&'static str),
    /// The server closed before a complete answer.
    #[error("the server closed the connection {0}")]
    Closed(&'static str),
    /// The request cannot be written.
    #[error("{0}")]
    Unsendable(String),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        if is_late(&error) { Self::Late } else { Self::Io(error) }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Client<S> {
    stream: S,
    session: Session,
    out: Frames,
    /// The body of the request under way.
    body: Vec<u8>,
    /// The first bytes, to recognise another protocol.
    first: Vec<u8>,
}

/// How much of the first bytes is kept.
const FIRST_BYTES: usize = 64;

impl<S: Read + Write> Client<S> {
    /// Sends the client's preface, and waits for the server's.
    ///
    /// # Errors
    /// If the server does not speak HTTP/2.
    pub fn new(stream: S, limits: Limits) -> Result<Self, ClientError> {
        let session_limits = session::Limits {
            head_bytes: limits.head_bytes as usize,
            body_bytes: limits.body_bytes,
        };
        let session = Session::new(1, session_limits);
        let mut client =
            Self { stream, session, out: Frames::default(), body: Vec::new(), first: Vec::new() };
        // Requests may differ, so they use no indices.
        client.session.sending.limit_table(0);
        put_preface(&mut client.out, limits.head_bytes);
        client.hand_over()?;
        while !client.session.has_settings {
            client.read(&mut Collected::default())?;
        }
        client.hand_over()?;
        Ok(client)
    }

    /// The stream below, for its limits in time.
    pub const fn stream_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    fn hand_over(&mut self) -> Result<(), ClientError> {
        if let crate::protocol::Bytes::Own(bytes) = self.out.bytes() {
            self.stream.write_all(bytes)?;
            let length = bytes.len() as u32;
            self.out.took(length);
        }
        Ok(())
    }

    /// Reads once; whether the answer is complete.
    fn read(&mut self, answers: &mut Collected) -> Result<bool, ClientError> {
        let mut buffer = vec![0; 16 * 1024];
        let length = match self.stream.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if length == 0 {
            return Err(ClientError::Closed(if self.session.has_settings {
                "before its answer was complete"
            } else {
                "without a word of HTTP/2"
            }));
        }
        if self.first.len() < FIRST_BYTES {
            self.first.extend_from_slice(&buffer[..length.min(FIRST_BYTES)]);
        }
        let mut input = &buffer[..length];
        let mut is_complete = false;
        loop {
            match self.session.decode(input, answers, &mut self.out) {
                Ok(Step::More) => return Ok(is_complete),
                Ok(Step::Complete { used, .. }) => (is_complete, input) = (true, &input[used..]),
                Ok(Step::Failed { kind, .. }) => return Err(ClientError::Broken(why(kind))),
                Ok(Step::Refused { .. }) => {
                    return Err(ClientError::Broken("it refuses the request"));
                }
                Err(fault) => return Err(self.fault(fault.kind)),
            }
        }
    }

    /// The message for a connection that broke the rules.
    fn fault(&self, kind: ErrorKind) -> ClientError {
        if self.session.has_settings || !self.first.starts_with(b"HTTP/") {
            return ClientError::Broken(why(kind));
        }
        let line = self.first.split(|byte| *byte == b'\r' || *byte == b'\n').next();
        ClientError::OtherProtocol(String::from_utf8_lossy(line.unwrap_or_default()).into_owned())
    }

    /// Sends a request and reads its whole answer; interim answers are passed over.
    ///
    /// # Errors
    /// If the request cannot be written, or there is no whole and right answer.
    pub fn exchange(&mut self, request: &Request, scheme: &str) -> Result<Response, ClientError> {
        self.send(request, scheme)?;
        self.answer()
    }

    /// Sends a request, as far as the server's windows let its body go.
    ///
    /// # Errors
    /// If it cannot be written, or the stream fails.
    pub fn send(&mut self, request: &Request, scheme: &str) -> Result<(), ClientError> {
        check(request).map_err(ClientError::Unsendable)?;
        let Some(block) = blocks(&[(fields(request, scheme), None)]).pop() else {
            return Err(ClientError::Unsendable("there is no request".into()));
        };
        let mut stream = Stream {
            to_send: request.body.len() as u32,
            has_no_body: request.method == "HEAD",
            ..Stream::default()
        };
        self.session.sending.open(&block, Value::default(), &mut stream, &mut self.out);
        self.session.sending.enqueue(0, &mut stream);
        self.session.streams = vec![stream];
        self.session.opened(0);
        self.body.clone_from(&request.body);
        self.go_on()
    }

    /// Reads the whole answer to the request that was sent last; interim answers are passed over.
    ///
    /// # Errors
    /// If there is no whole and right answer.
    pub fn answer(&mut self) -> Result<Response, ClientError> {
        let mut answers = Collected::default();
        while !self.read(&mut answers)? {
            self.go_on()?;
        }
        self.hand_over()?;
        Ok(answers.into_response())
    }

    /// Sends as much of the request's body as may go, and the session's own frames.
    fn go_on(&mut self) -> Result<(), ClientError> {
        let body = &self.body;
        self.session.sending.pump(&mut self.session.streams, |_| body, &mut self.out);
        self.hand_over()
    }
}

/// What is wrong, in words.
const fn why(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TooLarge => "it is larger than allowed",
        ErrorKind::StreamReset => "it ended the stream (RST_STREAM)",
        _ => "it breaks the rules of RFC 9113",
    }
}
