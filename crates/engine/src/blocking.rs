//! A blocking stream to a server, with or without TLS: for proofs and for a check before a load,
//! not for loads.
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use pippin_model::load_spec::{LoadSpec, Protocol, ProxyHeader};
use pippin_model::tls::{Negotiated, TlsSpec};

use crate::error::{EngineError, Remedy};
use crate::proxy_header;
use crate::tls::{Client, Session, reason};

/// Where a stream goes.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    at: At<'a>,
    proxy_header: Option<ProxyHeader>,
}

#[derive(Debug, Clone, Copy)]
enum At<'a> {
    Tcp(SocketAddr),
    Unix(&'a Path),
}

impl From<SocketAddr> for Place<'_> {
    fn from(address: SocketAddr) -> Self {
        Self { at: At::Tcp(address), proxy_header: None }
    }
}

impl<'a> From<&'a Path> for Place<'a> {
    fn from(socket: &'a Path) -> Self {
        Self { at: At::Unix(socket), proxy_header: None }
    }
}

impl<'a> Place<'a> {
    /// All places to which connections of a load go.
    pub fn all_of(spec: &'a LoadSpec) -> impl Iterator<Item = Self> {
        let unix = spec.unix_socket.as_deref().map(At::Unix);
        let all = spec.addresses.iter().copied().map(At::Tcp).chain(unix);
        all.map(move |at| Self { at, proxy_header: spec.proxy_header })
    }

    fn open(&self, limit: Duration) -> io::Result<Socket> {
        let mut socket = match self.at {
            At::Tcp(address) => {
                let socket = TcpStream::connect_timeout(&address, limit)?;
                socket.set_nodelay(true)?;
                Socket::Tcp(socket)
            }
            At::Unix(path) => Socket::Unix(UnixStream::connect(path)?),
        };
        socket.limit_reads(limit)?;
        socket.limit_writes(limit)?;
        if let (Some(version), Socket::Tcp(tcp)) = (self.proxy_header, &socket) {
            let header = proxy_header::of(version, tcp.local_addr()?, tcp.peer_addr()?);
            socket.write_all(&header)?;
        }
        Ok(socket)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Tcp(address) => address.fmt(f),
            At::Unix(path) => path.display().fmt(f),
        }
    }
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn limit_reads(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.set_read_timeout(Some(limit)),
            Self::Unix(socket) => socket.set_read_timeout(Some(limit)),
        }
    }

    fn limit_writes(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.set_write_timeout(Some(limit)),
            Self::Unix(socket) => socket.set_write_timeout(Some(limit)),
        }
    }
}

impl Read for Socket {
    /// Reads. The kernel may interrupt a read that has a time limit although no handler asked for
    /// it (signal(7), socket interfaces with a timeout), which says nothing of the server.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Self::Tcp(socket) => socket.read(into),
                Self::Unix(socket) => socket.read(into),
            };
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                return result;
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => socket.write(bytes),
            Self::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
    /// Connects and makes the handshake, if there is one. `limit` is the timeout for this, and for
    /// each read and write afterwards.
    ///
    /// # Errors
    /// If nobody listens, there is no such server name, no root to trust, or the handshake fails.
    pub fn connect<'a>(
        place: impl Into<Place<'a>>,
        tls: Option<&TlsSpec>,
        protocol: Protocol,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let place = place.into();
        let address = || place.to_string();
        let client = tls.map(|spec| Client::new(spec, protocol)).transpose()?;
        let until = Instant::now() + limit;
        let mut socket = place
            .open(limit)
            .map_err(|error| EngineError::Unreachable { address: address(), error })?;
        let tls = match client {
            None => None,
            Some(client) => {
                let secured = secure(&mut socket, &client, until).map_err(|failed| {
                    let Failed { reason, remedy } = failed;
                    EngineError::Handshake { address: address(), reason, remedy }
                })?;
                socket
                    .limit_reads(limit)
                    .map_err(|error| EngineError::Unreachable { address: address(), error })?;
                Some(Box::new(secured))
            }
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
        self.socket.limit_reads(limit)
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
        match &self.socket {
            Socket::Tcp(socket) => socket.as_raw_fd(),
            Socket::Unix(socket) => socket.as_raw_fd(),
        }
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
        let reason = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => reason::HANDSHAKE_TIMEOUT.into(),
            _ => format!("{}: {error}", reason::RESET_IN_HANDSHAKE),
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

fn secure(socket: &mut Socket, client: &Client, until: Instant) -> Result<Secured, Failed> {
    let mut session = Session::new(client)?;
    let mut plaintext = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        hand_over(socket, &mut session)?;
        if session.is_secured() {
            break;
        }
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        socket.limit_reads(left)?;
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
