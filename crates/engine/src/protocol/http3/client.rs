//! One request at a time over a blocking UDP socket: for proofs and for a check before a load, not for
//! loads.
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use pippin_model::load::tls::{Negotiated, TlsSpec};
use pippin_model::load::{self, Protocol, Request};

use super::check;
use super::datagrams::Datagrams;
use super::protocol::{negotiated, settings};
use super::qpack::Section;
use super::session::Session;
use crate::blocking::{LATE, Place, is_late};
use crate::error::EngineError;
use crate::protocol::collected::Collected;
use crate::protocol::http1::client::Response;
use crate::protocol::http2::{self, Limits};
use crate::protocol::{Bytes, Outgoing as _, Step};
use crate::tls;

/// The largest datagram that UDP has.
const DATAGRAM_BYTES: usize = 65_536;
/// The only request has the first place.
const TAG: u32 = 0;

/// A connection.
#[derive(Debug)]
pub struct Client {
    socket: UdpSocket,
    session: Session,
    out: Datagrams,
    /// The datagram that is read.
    datagram: Vec<u8>,
    /// The body of the request under way.
    body: Vec<u8>,
    until: Instant,
    /// The server has closed the connection, or is about to.
    is_closing: bool,
}

impl Client {
    /// Makes the handshake. `limit` bounds this and everything after it in all, until [`Client::allow`]
    /// gives more time.
    ///
    /// # Errors
    /// If the place is not reached over UDP, there is no root to trust, or the handshake fails or does not
    /// end in time.
    pub fn connect(
        place: &Place<'_>,
        tls: &TlsSpec,
        limits: load::Limits,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let client = tls::Client::new(tls, Protocol::Http3)?;
        let limits =
            Limits { head_bytes: limits.head_bytes as usize, body_bytes: limits.body_bytes };
        Self::open(place.udp()?, &client, limits, limit)
            .map_err(|why| EngineError::NoHttp3 { address: place.to_string(), why })
    }

    fn open(
        socket: UdpSocket,
        client: &tls::Client,
        limits: Limits,
        limit: Duration,
    ) -> Result<Self, String> {
        let session = Session::new(&settings(client, limits, 1)?, Instant::now())?;
        let mut connection = Self {
            socket,
            session,
            out: Datagrams::default(),
            datagram: vec![0; DATAGRAM_BYTES],
            body: Vec::new(),
            until: Instant::now() + limit,
            is_closing: false,
        };
        loop {
            let length = connection.receive()?;
            let Self { session, datagram, out, .. } = &mut connection;
            if session
                .greet(&datagram[..length], Instant::now(), out)
                .map_err(|error| error.to_string())?
            {
                connection.hand_over()?;
                return Ok(connection);
            }
        }
    }

    /// Gives what follows this time in all, from now on, whatever was left.
    pub fn allow(&mut self, limit: Duration) {
        self.until = Instant::now() + limit;
    }

    /// What the handshake agreed on.
    #[must_use]
    pub fn negotiated(&self) -> Negotiated {
        negotiated(&self.session)
    }

    /// Sends a request, as far as the server's windows let its body go.
    ///
    /// # Errors
    /// If it cannot be written, or the server takes no more requests on this connection, in words.
    pub fn send(&mut self, request: &Request) -> Result<(), String> {
        check(request)?;
        self.catch_up()?;
        let section = Section::new(&http2::fields(request, "https"), None);
        loop {
            if self.is_closing {
                return Err("the server closed the connection".into());
            }
            if !self.session.spare.is_empty() {
                break;
            }
            self.read(&mut Collected::default())?;
        }
        if let Some(stream) = self.session.open(TAG, 0, request.method == "HEAD") {
            stream.put_head(&section, &[], request.body.len());
        }
        self.body.clone_from(&request.body);
        self.go_on()
    }

    /// Reads the datagrams that have come: the server may have closed the connection meanwhile.
    fn catch_up(&mut self) -> Result<(), String> {
        loop {
            let has_come = || {
                self.socket.set_nonblocking(true)?;
                let has_come = self.socket.peek(&mut [0]).is_ok();
                self.socket.set_nonblocking(false)?;
                Ok(has_come)
            };
            if !has_come().map_err(|error| in_words(&error))? {
                return Ok(());
            }
            self.read(&mut Collected::default())?;
        }
    }

    /// Reads the whole answer to the request that was sent last; interim answers are passed over.
    ///
    /// # Errors
    /// If there is no whole and right answer, in words.
    pub fn answer(&mut self) -> Result<Response, String> {
        let mut answers = Collected::default();
        while !self.read(&mut answers)? {}
        answers.is_closing |= self.is_closing;
        Ok(answers.into_response())
    }

    /// Reads a datagram, or lets QUIC look at its timers; whether the answer is complete.
    fn read(&mut self, answers: &mut Collected) -> Result<bool, String> {
        let length = self.receive()?;
        let mut is_complete = false;
        let read = loop {
            let Self { session, datagram, out, .. } = self;
            match session.decode(&datagram[..length], Instant::now(), answers, out) {
                Ok(Step::More) => break Ok(is_complete),
                Ok(Step::Complete { .. }) => is_complete = true,
                Ok(Step::Failed { .. }) => break Err(session.why),
                Ok(Step::Refused { .. }) => break Err("it refuses the request"),
                Err(wrong) => break Err(wrong.why),
            }
        };
        self.is_closing |= answers.is_closing;
        self.go_on()?;
        read.map_err(String::from)
    }

    /// Sends as much of the request's body as may go, and QUIC's own frames.
    fn go_on(&mut self) -> Result<(), String> {
        self.session.write(TAG, &self.body);
        self.hand_over()
    }

    /// Sends what QUIC wants to send.
    fn hand_over(&mut self) -> Result<(), String> {
        loop {
            self.session.transmit(Instant::now(), &mut self.out);
            if self.out.is_empty() {
                return Ok(());
            }
            while let Bytes::Own(bytes) = self.out.bytes()
                && !bytes.is_empty()
            {
                let length = bytes.len() as u32;
                self.socket.send(bytes).map_err(|error| in_words(&error))?;
                self.out.took(length);
            }
        }
    }

    /// Waits for a datagram; its length is 0 if one of QUIC's timers came first.
    fn receive(&mut self) -> Result<usize, String> {
        self.hand_over()?;
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now);
        if left.is_zero() {
            return Err(LATE.into());
        }
        let due = self.session.due(now).map_or(left, |due| {
            // A socket cannot wait for no time.
            due.saturating_duration_since(now).max(Duration::from_millis(1))
        });
        let mut wait = || {
            self.socket.set_read_timeout(Some(due.min(left)))?;
            self.socket.recv(&mut self.datagram)
        };
        match wait() {
            Err(error) if is_late(&error) || error.kind() == ErrorKind::Interrupted => Ok(0),
            received => received.map_err(|error| in_words(&error)),
        }
    }
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "nobody listens on this UDP port".into(),
        _ => error.to_string(),
    }
}

impl AsRawFd for Client {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl Drop for Client {
    /// Says goodbye: else the server keeps the connection until its idle time is over.
    fn drop(&mut self) {
        self.session.leave(Instant::now(), &mut self.out);
        _ = self.hand_over();
    }
}
