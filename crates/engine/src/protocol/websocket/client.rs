//! One message at a time over a blocking stream: for proofs and for a check before a load, not for
//! loads.
use std::io::{self, Read, Write};

use pippin_model::load::Request;

use super::frame::{self, Breach, code, opcode};
use super::handshake::{self, Opening, Refusal};
use super::random::Random;
use super::session::{Decoded, Session, Sink};
use crate::blocking::{LATE, is_late};

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The stream failed.
    #[error("{0}")]
    Io(io::Error),
    /// The time of the stream was over: what did not come or end in time.
    #[error("{0}")]
    Late(&'static str),
    /// The handshake cannot be written.
    #[error("{0}")]
    Unsendable(String),
    /// The server refused the WebSocket.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server broke the rules.
    #[error("the server breaks the rules of WebSocket: {0}")]
    Broken(String),
    /// The server ended the connection.
    #[error("the server closed the WebSocket with code {0}")]
    Closed(u16),
    /// The connection ended without a word.
    #[error("the server closed the connection {0}")]
    Ended(&'static str),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        if is_late(&error) { Self::Late(LATE) } else { Self::Io(error) }
    }
}

impl From<Breach> for ClientError {
    fn from(breach: Breach) -> Self {
        Self::Broken(breach.to_string())
    }
}

/// A message of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// Text, and not binary.
    pub is_text: bool,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// A WebSocket.
#[derive(Debug)]
pub struct Client<S> {
    stream: S,
    session: Session,
    random: Random,
    /// What came and was not decoded.
    rest: Vec<u8>,
    pongs: Vec<Vec<u8>>,
}

/// Limits of what a server may send here.
const HEAD_BYTES: usize = 64 * 1024;
const MESSAGE_BYTES: u64 = 64 << 20;

impl<S: Read + Write> Client<S> {
    /// Makes the opening handshake that a request describes; the request's body is not used.
    ///
    /// # Errors
    /// If the server refuses the WebSocket, or does not agree to it in time.
    pub fn open(stream: S, asked: &Request) -> Result<Self, ClientError> {
        Self::agree(stream, asked).map_err(|error| match error {
            ClientError::Late(_) => ClientError::Late(handshake::LATE),
            other => other,
        })
    }

    fn agree(mut stream: S, asked: &Request) -> Result<Self, ClientError> {
        let opening = Opening::from_request(asked).map_err(ClientError::Unsendable)?;
        let random = Random::new();
        let mut request = Vec::new();
        let mut answer = opening.put(random.nonce(), &mut request);
        stream.write_all(&request)?;
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = stream.read(&mut buffer)?;
            if length == 0 {
                return Err(ClientError::Ended("in the handshake of the WebSocket"));
            }
            let input = &buffer[..length];
            if let Some(used) = answer.read(&opening, input, HEAD_BYTES)? {
                let rest = input[used..].to_vec();
                let session = Session::default();
                return Ok(Self { stream, session, random, rest, pongs: Vec::new() });
            }
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the stream fails.
    pub fn send(&mut self, message: &Message) -> Result<(), ClientError> {
        self.send_in_fragments(message, 1)
    }

    /// Sends a message in this number of fragments, cut anywhere.
    ///
    /// # Errors
    /// If the stream fails.
    pub fn send_in_fragments(
        &mut self,
        message: &Message,
        count: usize,
    ) -> Result<(), ClientError> {
        let mut kind = if message.is_text { opcode::TEXT } else { opcode::BINARY };
        let mut rest = message.payload.as_slice();
        for left in (1..count).rev() {
            let (piece, behind) = rest.split_at(rest.len() / (left + 1));
            self.put(kind, piece)?;
            rest = behind;
            kind = opcode::CONTINUATION;
        }
        self.put(opcode::FINAL | kind, rest)
    }

    /// The next message; pings before it are answered.
    ///
    /// # Errors
    /// If none comes, or the server breaks a rule.
    pub fn receive(&mut self) -> Result<Message, ClientError> {
        let mut collected = Collected::default();
        loop {
            let input = std::mem::take(&mut self.rest);
            let seen = self.session.decode(&input, MESSAGE_BYTES, &mut collected)?;
            for payload in std::mem::take(&mut collected.pings) {
                self.put(opcode::FINAL | opcode::PONG, &payload)?;
            }
            self.pongs.append(&mut collected.pongs);
            match seen {
                Decoded::Message { used } => {
                    self.rest = input[used..].to_vec();
                    return Ok(collected.message);
                }
                Decoded::Close { code } => return Err(ClientError::Closed(code)),
                Decoded::More => self.read()?,
            }
        }
    }

    /// Sends a ping and then a message; the payloads of the pongs that came before its answer.
    ///
    /// # Errors
    /// As [`Client::receive`].
    pub fn ping(
        &mut self,
        payload: &[u8],
        message: &Message,
    ) -> Result<(Vec<Vec<u8>>, Message), ClientError> {
        self.pongs.clear();
        self.put(opcode::FINAL | opcode::PING, payload)?;
        self.send(message)?;
        let answer = self.receive()?;
        Ok((std::mem::take(&mut self.pongs), answer))
    }

    /// The stream below, for its limits in time.
    pub const fn stream_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Says that the connection ends, and does not wait for what the server says to that. A failure
    /// is ignored.
    pub fn leave(mut self) {
        let _ = self.put(opcode::FINAL | opcode::CLOSE, &code::NORMAL.to_be_bytes());
    }

    /// Ends the connection in order: the code with which the server does the same.
    ///
    /// # Errors
    /// If it does not.
    pub fn close(mut self) -> Result<u16, ClientError> {
        self.put(opcode::FINAL | opcode::CLOSE, &code::NORMAL.to_be_bytes())?;
        loop {
            match self.receive() {
                Ok(_) => {}
                Err(ClientError::Closed(code)) => return Ok(code),
                Err(error) => return Err(error),
            }
        }
    }

    fn put(&mut self, first: u8, payload: &[u8]) -> Result<(), ClientError> {
        let mut bytes = Vec::with_capacity(payload.len() + 14);
        frame::put(&mut bytes, first, payload, self.random.mask());
        Ok(self.stream.write_all(&bytes)?)
    }

    fn read(&mut self) -> Result<(), ClientError> {
        let mut buffer = vec![0; 16 * 1024];
        let length = self.stream.read(&mut buffer)?;
        if length == 0 {
            return Err(ClientError::Ended("without a Close frame"));
        }
        buffer.truncate(length);
        self.rest = buffer;
        Ok(())
    }
}

/// What comes until a message is complete.
#[derive(Default)]
struct Collected {
    message: Message,
    pings: Vec<Vec<u8>>,
    pongs: Vec<Vec<u8>>,
}

impl Sink for Collected {
    fn begin(&mut self, is_text: bool) {
        self.message = Message { is_text, payload: Vec::new() };
    }
    fn piece(&mut self, piece: &[u8]) {
        self.message.payload.extend_from_slice(piece);
    }
    fn ping(&mut self, payload: &[u8]) -> Result<(), Breach> {
        self.pings.push(payload.to_vec());
        Ok(())
    }
    fn pong(&mut self, payload: &[u8]) {
        self.pongs.push(payload.to_vec());
    }
}
