//! Reads one answer from a blocking stream: for proofs and readiness checks, not for loads.
use std::io::{self, Read};

use super::{DecodeError, Decoder, Eof, HeadCache, HeadInfo, MAX_FIELDS, Rules, Sink};
use crate::blocking::{LATE, is_late};

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers in order, names as the server wrote them.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without chunk framing.
    pub body: Vec<u8>,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
    /// The interim answers that came before.
    pub interim: Vec<u16>,
}

impl Response {
    /// The value of the first header of this name, in whatever case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }
}

/// Why no answer could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The stream failed.
    #[error("reading the answer failed: {0}")]
    Io(io::Error),
    /// The time of the stream was over.
    #[error("{LATE}")]
    Late,
    /// The answer must be rejected.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The server closed before a complete answer.
    #[error("the server closed the connection {0}")]
    Closed(&'static str),
    /// More bytes than the answer has.
    #[error("the server sent {0} bytes after the end of its answer")]
    Surplus(usize),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        if is_late(&error) { Self::Late } else { Self::Io(error) }
    }
}

impl Sink for Response {
    fn interim(&mut self, status: u16) {
        self.interim.push(status);
    }

    fn head(&mut self, info: &HeadInfo, raw: &[u8]) {
        self.status = info.status;
        self.keep_alive = info.keep_alive;
        let mut headers = vec![httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut response = httparse::Response::new(&mut headers);
        // The decoder has parsed the same bytes with the same parser.
        if response.parse(raw).is_ok() {
            self.headers = response
                .headers
                .iter()
                .map(|header| (header.name.to_owned(), header.value.to_owned()))
                .collect();
        }
    }

    fn body(&mut self, piece: &[u8]) {
        self.body.extend_from_slice(piece);
    }
}

/// Reads one answer to its end.
///
/// # Errors
/// If the stream fails or ends early, or the answer must be rejected, or bytes follow that belong
/// to no answer.
pub fn read_response(stream: &mut impl Read, rules: &Rules) -> Result<Response, ReadError> {
    let mut decoder = Decoder::new();
    let mut cache = HeadCache::default();
    let mut response = Response::default();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let length = match stream.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if length == 0 {
            return match decoder.eof() {
                Eof::Complete => {
                    response.keep_alive = false;
                    Ok(response)
                }
                Eof::BeforeAnswer => Err(ReadError::Closed("before an answer")),
                Eof::InHead => Err(ReadError::Closed("inside the head of its answer")),
                Eof::InBody => Err(ReadError::Closed("inside the body of its answer")),
            };
        }
        let step = decoder.decode(&buffer[..length], rules, &mut cache, &mut response)?;
        if step.complete {
            return if step.used == length {
                Ok(response)
            } else {
                Err(ReadError::Surplus(length - step.used))
            };
        }
    }
}
