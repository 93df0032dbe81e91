//! A blocking stream to a server, with or without TLS: for proofs and for a look before a load, not
//! for load.
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use pippin_model::load_spec::Protocol;
use pippin_model::tls::{Negotiated, TlsSpec};

use crate::error::{EngineError, Remedy};
use crate::tls::{Client, Session, reason};

/// A connection over which HTTP can be spoken.
#[derive(Debug)]
pub struct Stream {
    socket: TcpStream,
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
    /// Connects and does the handshake, if there is one. `limit` bounds that, and each read and
    /// write afterwards.
    ///
    /// # Errors
    /// If nobody listens, there is no such server name, no root to trust, or the handshake fails.
    pub fn connect(
        address: SocketAddr,
        tls: Option<&TlsSpec>,
        protocol: Protocol,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let client = tls.map(|spec| Client::new(spec, protocol)).transpose()?;
        let until = Instant::now() + limit;
        let open = || {
            let socket = TcpStream::connect_timeout(&address, limit)?;
            socket.set_read_timeout(Some(limit))?;
            socket.set_write_timeout(Some(limit))?;
            socket.set_nodelay(true)?;
            Ok(socket)
        };
        let mut socket = open().map_err(|error| EngineError::Unreachable { address, error })?;
        let tls = match client {
            None => None,
            Some(client) => Some(Box::new(secure(&mut socket, &client, until).map_err(
                |Failed { reason, remedy }| EngineError::Handshake { address, reason, remedy },
            )?)),
        };
        Ok(Self { socket, tls })
    }

    /// What the handshake agreed on; `None` without TLS.
    #[must_use]
    pub fn negotiated(&self) -> Option<&Negotiated> {
        self.tls.as_ref().map(|secured| &secured.negotiated)
    }

    /// Bounds each read from now on.
    ///
    /// # Errors
    /// If the kernel refuses, or the bound is 0.
    pub fn set_read_timeout(&self, limit: Duration) -> io::Result<()> {
        self.socket.set_read_timeout(Some(limit))
    }

    /// Says that nothing more will be sent. That it cannot be said is no error.
    pub fn say_goodbye(&mut self) {
        if let Some(secured) = &mut self.tls {
            secured.session.say_goodbye();
            let _ = hand_over(&mut self.socket, &mut secured.session);
        }
    }
}

/// A handshake that did not come to its end.
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
        let reason = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => reason::HANDSHAKE_TIMEOUT.into(),
            _ => format!("{}: {error}", reason::RESET_IN_HANDSHAKE),
        };
        Self { reason, remedy: None }
    }
}

/// Sends what a session wants to send.
fn hand_over(socket: &mut TcpStream, session: &mut Session) -> io::Result<()> {
    socket.write_all(session.outgoing())?;
    session.took(session.outgoing().len());
    Ok(())
}

fn secure(socket: &mut TcpStream, client: &Client, until: Instant) -> Result<Secured, Failed> {
    let mut session = Session::new(client)?;
    let mut plaintext = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    let limit = socket.read_timeout()?;
    loop {
        hand_over(socket, &mut session)?;
        if session.is_secured() {
            break;
        }
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        socket.set_read_timeout(Some(left))?;
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
    socket.set_read_timeout(limit)?;
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
