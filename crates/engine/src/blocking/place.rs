//! Where a connection goes to and where it comes from.
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use pippin_model::load::{Limits, LoadSpec, Proxy, ProxyHeader};
use socket2::{Domain, SockAddr, Type};

use super::socket::{Socket, left};
use crate::error::EngineError;
use crate::io::socket::{KernelAddress, set_option};
use crate::protocol::http1::tunnel;
use crate::transport::proxy_header;

/// How much of the proxy's answer is shown.
const LINE_BYTES: usize = 80;
const QUEUE_FULL: &str = "its queue is full: the server accepts no connections";

/// Where a stream goes, and from which address.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    at: At<'a>,
    /// `None`: the kernel chooses.
    source: Option<IpAddr>,
    proxy_header: Option<ProxyHeader>,
    proxy: Option<&'a Proxy>,
}

#[derive(Debug, Clone, Copy)]
enum At<'a> {
    Tcp(SocketAddr),
    Unix(&'a Path),
}

impl From<SocketAddr> for Place<'_> {
    fn from(address: SocketAddr) -> Self {
        Self { at: At::Tcp(address), source: None, proxy_header: None, proxy: None }
    }
}

impl<'a> From<&'a Path> for Place<'a> {
    fn from(socket: &'a Path) -> Self {
        Self { at: At::Unix(socket), source: None, proxy_header: None, proxy: None }
    }
}

impl<'a> Place<'a> {
    /// All places to which connections of a load go. They come from the first source address of the
    /// load, if it has any.
    pub fn all_of(spec: &'a LoadSpec) -> impl Iterator<Item = Self> {
        let unix = spec.unix_socket.as_deref().map(At::Unix);
        let all = spec.addresses.iter().copied().map(At::Tcp).chain(unix);
        let source = spec.source_addresses.first().copied();
        let proxy = spec.proxy.as_ref();
        all.map(move |at| Self { at, source, proxy_header: spec.proxy_header, proxy })
    }

    /// This place, reached from this address of this machine; `None` lets the kernel choose.
    #[must_use]
    pub const fn coming_from(self, source: Option<IpAddr>) -> Self {
        Self { source, ..self }
    }

    /// Opens a connection within `limit`, sends nothing, and closes it: whether somebody listens.
    ///
    /// # Errors
    /// [`EngineError::Unreachable`] if nobody listens, or no connection is open in time. Its error
    /// is `WouldBlock` if the queue of a unix socket is full, so that somebody listens. Other
    /// errors are about the source address, or about the path of the unix socket.
    pub fn reach(&self, limit: Duration) -> Result<(), EngineError> {
        self.open(Instant::now() + limit).map(drop)
    }

    /// Sends a datagram of one byte, which no QUIC begins with, and returns whether its kernel says that
    /// nobody listens there. Another machine's kernel may say so later, or never.
    ///
    /// # Errors
    /// [`EngineError::Unreachable`] if nobody listens, or the place is not reached over UDP. Other errors are
    /// about the source address.
    pub fn reach_by_udp(&self) -> Result<(), EngineError> {
        let socket = self.udp()?;
        let ask = || {
            socket.send(&[0])?;
            match socket.take_error()? {
                Some(error) => Err(error),
                None => Ok(()),
            }
        };
        ask().map_err(|error| EngineError::Unreachable { address: self.to_string(), error })
    }

    /// A UDP socket that is connected to it.
    pub(crate) fn udp(&self) -> Result<UdpSocket, EngineError> {
        let unreachable = |error| EngineError::Unreachable { address: self.to_string(), error };
        let (At::Tcp(address), None, None) = (self.at, self.proxy, self.proxy_header) else {
            let why = "it goes over UDP: give an address, and no proxy";
            return Err(unreachable(io::Error::new(ErrorKind::InvalidInput, why)));
        };
        let socket = self.bound(address, Type::DGRAM)?;
        socket.connect(&address.into()).map_err(unreachable)?;
        Ok(socket.into())
    }

    /// A connection; nothing was sent over it. It is open before `until`, which bounds it from then
    /// on.
    pub(super) fn open(&self, until: Instant) -> Result<Socket, EngineError> {
        let unreachable = |error| EngineError::Unreachable { address: self.to_string(), error };
        match self.at {
            At::Tcp(address) => {
                let socket = self.bound(address, Type::STREAM)?;
                let connect = || {
                    socket.connect_timeout(&address.into(), left(until)?)?;
                    socket.set_tcp_nodelay(true)
                };
                connect().map_err(unreachable)?;
                Ok(Socket::new(socket, until))
            }
            At::Unix(path) => {
                KernelAddress::unix(path)
                    .map_err(|error| EngineError::UnixSocket { path: path.into(), error })?;
                connect_unix(path, until).map_err(unreachable)
            }
        }
    }

    /// A socket for this address, bound to the source address if there is one.
    fn bound(&self, address: SocketAddr, kind: Type) -> Result<socket2::Socket, EngineError> {
        let socket = socket2::Socket::new(Domain::for_address(address), kind, None)
            .map_err(|error| EngineError::Unreachable { address: self.to_string(), error })?;
        if let Some(source) = self.source {
            if source.is_ipv4() != address.is_ipv4() {
                return Err(EngineError::SourceFamily { from_address: source, to: address });
            }
            // As in a load: the port is chosen by connect(2), for the pair of addresses.
            set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
            socket
                .bind(&SocketAddr::new(source, 0).into())
                .map_err(|error| EngineError::SourceAddress { address: source, error })?;
        }
        Ok(socket)
    }

    /// Sends what a connection begins with, if anything: the header of the PROXY protocol, or the
    /// request for a tunnel, whose answer is read.
    pub(super) fn introduce(&self, socket: &mut Socket) -> Result<(), EngineError> {
        let unreachable = |error| EngineError::Unreachable { address: self.to_string(), error };
        if let (Some(version), Some((from, to))) =
            (self.proxy_header, socket.ends().map_err(unreachable)?)
        {
            socket.write_all(&proxy_header::encode(version, from, to)).map_err(unreachable)?;
        }
        let Some(proxy) = self.proxy else { return Ok(()) };
        let Some(request) = tunnel::request(proxy) else { return Ok(()) };
        ask_for_tunnel(socket, &request).map_err(|why| EngineError::NoTunnel {
            proxy: proxy.authority.clone(),
            to: proxy.tunnel.clone().unwrap_or_default(),
            why,
        })
    }
}

/// Asks for a tunnel, and reads the answer byte by byte: what comes behind it is not the proxy's.
fn ask_for_tunnel(socket: &mut Socket, request: &[u8]) -> Result<(), String> {
    let broken = |error: io::Error| match error.kind() {
        ErrorKind::TimedOut => tunnel::LATE.to_string(),
        _ => format!("{}: {error}", tunnel::RESET),
    };
    socket.write_all(request).map_err(broken)?;
    let (mut answer, mut byte) = (tunnel::Answer::default(), [0]);
    loop {
        if socket.read(&mut byte).map_err(broken)? == 0 {
            return Err(tunnel::CLOSED.into());
        }
        match answer.read(&byte, Limits::default().head_bytes as usize) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(why) => return Err(in_words(&why.to_string(), answer.present())),
        }
    }
}

/// A refusal with the first line of what the proxy said.
fn in_words(why: &str, answer: &[u8]) -> String {
    let line = answer.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES)]);
    format!("{why}: `{}`", line.escape_debug())
}

/// connect(2) waits as long as the queue of the listener is full, or until the send timeout is over
/// (socket(7)).
fn connect_unix(path: &Path, until: Instant) -> io::Result<Socket> {
    let address = SockAddr::unix(path)?;
    let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
    loop {
        socket.set_write_timeout(Some(left(until)?))?;
        match socket.connect(&address) {
            Ok(()) => return Ok(Socket::new(socket, until)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(io::Error::new(ErrorKind::WouldBlock, QUEUE_FULL));
            }
            Err(error) => return Err(error),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Proxy { authority, tunnel: Some(tunnel), .. }) = self.proxy {
            return write!(f, "{tunnel}, through the proxy at {authority}");
        }
        match self.at {
            At::Tcp(address) => address.fmt(f),
            At::Unix(path) => path.display().fmt(f),
        }
    }
}
