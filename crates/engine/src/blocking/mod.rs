//! A blocking stream to a server, with or without TLS: for proofs and for a check before a load,
//! not for loads.
//!
//! - [`place`]: where connections go to and come from; [`socket`]: reads and writes that share one
//!   limit in time.
mod place;
mod socket;

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use pippin_model::load::Protocol;
use pippin_model::load::tls::{Negotiated, TlsSpec};

use crate::error::{EngineError, Remedy};
use crate::tls::{Client, Session, reason};
pub use place::Place;
use socket::Socket;

/// Why a read or a write ended whose time was over.
pub(crate) const LATE: &str = "the server did not answer in time";

/// Whether an error of a stream says that its time was over.
pub(crate) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A connection over which HTTP can be spoken.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    tls: Option<Box<Secured>>,
}

#[derive(Debug)]
struct Secured {
    session: Session,
    /// What the server sent and nobody has read.
    plaintext: Vec<u8>,
    negotiated: Negotiated,
}

impl Stream {
    /// Connects and makes the handshake, if there is one. `limit` bounds this and everything after
    /// it in all, until [`Stream::allow`] gives more time. Reads and writes fail with `TimedOut`
    /// when it is over.
    ///
    /// # Errors
    /// If nobody listens, the source address cannot be used, there is no such server name, no root
    /// to trust, or the handshake fails or does not end in time.
    pub fn connect<'a>(
        place: impl Into<Place<'a>>,
        tls: Option<&TlsSpec>,
        protocol: Protocol,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let place = place.into();
        let address = || place.to_string();
        let client = tls.map(|spec| Client::new(spec, protocol)).transpose()?;
        let mut socket = place.open(Instant::now() + limit)?;
        place.introduce(&mut socket)?;
        let tls = client
            .map(|client| secure(&mut socket, &client).map(Box::new))
            .transpose()
            .map_err(|Failed { reason, remedy }| EngineError::Handshake {
                address: address(),
                reason,
                remedy,
            })?;
        Ok(Self { socket, tls })
    }

    /// Gives what follows this time in all, from now on, whatever was left.
    pub fn allow(&mut self, limit: Duration) {
        self.socket.allow(limit);
    }

    /// What the handshake agreed on; `None` without TLS.
    #[must_use]
    pub fn negotiated(&self) -> Option<&Negotiated> {
        self.tls.as_ref().map(|secured| &secured.negotiated)
    }

    /// Tells the server that nothing more will be sent. A failure is ignored.
    pub fn say_goodbye(&mut self) {
        if let Some(secured) = &mut self.tls {
            secured.session.say_goodbye();
            let _ = hand_over(&mut self.socket, &mut secured.session);
        }
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// A handshake that failed.
struct Failed {
    reason: String,
    remedy: Option<Remedy>,
}

impl From<rustls::Error> for Failed {
    fn from(error: rustls::Error) -> Self {
        Self { reason: reason::in_words(&error), remedy: reason::remedy(&error) }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        let reason = if is_late(&error) {
            reason::HANDSHAKE_TIMEOUT.into()
        } else {
            format!("{}: {error}", reason::RESET_IN_HANDSHAKE)
        };
        Self { reason, remedy: None }
    }
}

/// Sends what a session wants to send.
fn hand_over(socket: &mut Socket, session: &mut Session) -> io::Result<()> {
    socket.write_all(session.outgoing())?;
    session.took(session.outgoing().len());
    Ok(())
}

fn secure(socket: &mut Socket, client: &Client) -> Result<Secured, Failed> {
    let mut session = Session::new(client)?;
    let mut plaintext = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        hand_over(socket, &mut session)?;
        if session.is_secured() {
            break;
        }
        let length = socket.read(&mut buffer)?;
        if length == 0 {
            return Err(Failed { reason: reason::CLOSED_IN_HANDSHAKE.into(), remedy: None });
        }
        if let Err(error) = session.receive(&mut buffer[..length], &mut plaintext) {
            // The alert is a courtesy.
            let _ = hand_over(socket, &mut session);
            return Err(error.into());
        }
    }
    let negotiated = session.negotiated();
    match client.objection(&negotiated) {
        Some(reason) => Err(Failed { reason, remedy: Some(Remedy::OtherProtocol) }),
        None => Ok(Secured { session, plaintext, negotiated }),
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(secured) = &mut self.tls else { return self.socket.read(into) };
        let mut buffer = vec![0; 16 * 1024];
        while secured.plaintext.is_empty() {
            let length = self.socket.read(&mut buffer)?;
            if length == 0 {
                return Ok(0);
            }
            secured
                .session
                .receive(&mut buffer[..length], &mut secured.plaintext)
                .map_err(|error| io::Error::other(reason::in_words(&error)))?;
            hand_over(&mut self.socket, &mut secured.session)?;
            if secured.session.is_closed_by_peer() {
                break;
            }
        }
        let length = into.len().min(secured.plaintext.len());
        into[..length].copy_from_slice(&secured.plaintext[..length]);
        secured.plaintext.drain(..length);
        Ok(length)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(secured) = &mut self.tls else { return self.socket.write(bytes) };
        secured.session.seal(bytes).map_err(|error| io::Error::other(reason::in_words(&error)))?;
        hand_over(&mut self.socket, &mut secured.session)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
