//! Serves one behaviour on a free loopback port, with a thread for each connection.
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Act, Behaviour, Does, On, Speaks};
use crate::frames::{self, kind};
use crate::scripted::{Refusing, Unaccepting};
use pippin_reference::Error;
use pippin_reference::socket;

/// How long a read waits before it checks whether the server should stop.
const STOP_CHECK: Duration = Duration::from_millis(20);
/// Plaintext that is handed to TLS at a time.
const PIECE_BYTES: usize = 16 * 1024;
/// A client of HTTP/2 sends this first (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A running server; dropping it stops it. Its clients must have left by then.
#[derive(Debug)]
pub struct Server(Kind);

#[derive(Debug)]
enum Kind {
    Serving { address: SocketAddr, stop: Arc<AtomicBool>, acceptor: Option<JoinHandle<()>> },
    Refusing(Refusing),
    Unaccepting(Unaccepting),
}

impl Server {
    /// The address at which it listens, or at which connecting fails.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        match &self.0 {
            Kind::Serving { address, .. } => *address,
            Kind::Refusing(port) => port.address(),
            Kind::Unaccepting(port) => port.address(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Kind::Serving { stop, acceptor, .. } = &mut self.0 {
            stop.store(true, Ordering::Relaxed);
            // A panic there has been printed, and the client's counts show what is missing.
            _ = acceptor.take().map(JoinHandle::join);
        }
    }
}

/// Serves over TCP; behaviours with [`super::Over::Handshake`] too.
///
/// # Errors
/// If there is no free port, or no thread can be started.
pub fn spawn(behaviour: &Behaviour) -> Result<Server, Error> {
    start(behaviour, |stream| Ok(Box::new(stream)))
}

/// Serves over TLS, after a handshake as this configuration has it.
///
/// # Errors
/// If there is no free port, or no thread can be started.
pub fn spawn_secured(
    behaviour: &Behaviour,
    config: Arc<rustls::ServerConfig>,
) -> Result<Server, Error> {
    start(behaviour, move |stream| Ok(Box::new(Secured::accept(stream, Arc::clone(&config))?)))
}

type Accept = dyn Fn(TcpStream) -> io::Result<Box<dyn Wire>> + Send + Sync;

fn start(
    behaviour: &Behaviour,
    accept: impl Fn(TcpStream) -> io::Result<Box<dyn Wire>> + Send + Sync + 'static,
) -> Result<Server, Error> {
    match behaviour.does {
        Does::Refuse => return Ok(Server(Kind::Refusing(Refusing::new()?))),
        Does::NeverAccept => return Ok(Server(Kind::Unaccepting(Unaccepting::new()?))),
        Does::Answer(_) | Does::Script(_) => {}
    }
    let listener = socket::listen(SocketAddr::from(([127, 0, 0, 1], 0)), false)?;
    let address =
        listener.local_addr().map_err(|source| Error::System { action: "getsockname", source })?;
    let stop = Arc::new(AtomicBool::new(false));
    let (behaviour, stopped) = (*behaviour, Arc::clone(&stop));
    let acceptor = std::thread::Builder::new()
        .spawn(move || {
            accept_all(&listener, behaviour, &(Arc::new(accept) as Arc<Accept>), &stopped)
        })
        .map_err(|source| Error::System { action: "starting a thread", source })?;
    Ok(Server(Kind::Serving { address, stop, acceptor: Some(acceptor) }))
}

fn accept_all(
    listener: &TcpListener,
    behaviour: Behaviour,
    accept: &Arc<Accept>,
    stop: &Arc<AtomicBool>,
) {
    let mut threads = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if !is_readable(listener) {
            continue;
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        let (accept, stop) = (Arc::clone(accept), Arc::clone(stop));
        // An error means that the client has left, which ends the connection.
        threads.push(std::thread::spawn(move || _ = serve(stream, &behaviour, &accept, &stop)));
        threads.retain(|thread: &JoinHandle<()>| !thread.is_finished());
    }
    for thread in threads {
        _ = thread.join();
    }
}

/// Lets the client go first. Many threads that send without end would leave it no processor time
/// on a small machine, and nothing would be learned about it.
fn give_way() {
    // SAFETY: no pointers. On Linux, 0 is the calling thread (setpriority(2), NOTES).
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
}

/// Waits a little for somebody to accept. Returns whether there is one.
fn is_readable(listener: &TcpListener) -> bool {
    let mut polled = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one entry, which outlives the call.
    unsafe { libc::poll(&raw mut polled, 1, STOP_CHECK.as_millis() as i32) > 0 }
}

fn serve(
    stream: TcpStream,
    behaviour: &Behaviour,
    accept: &Arc<Accept>,
    stop: &AtomicBool,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(STOP_CHECK))?;
    let wire = accept(stream)?;
    let mut connection =
        Connection { wire, speaks: behaviour.speaks, input: Vec::new(), stream: 0, stop };
    match behaviour.does {
        Does::Answer(pieces) => {
            let answer = pieces.concat();
            loop {
                connection.request()?;
                connection.wire.send(&answer)?;
            }
        }
        Does::Script(script) => connection.follow(script),
        Does::Refuse | Does::NeverAccept => Ok(()),
    }
}

/// What carries the bytes of a connection.
trait Wire {
    /// The next bytes; 0 at the end. `WouldBlock` or `TimedOut` now and then while there are none.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Says that the end is meant.
    fn say_goodbye(&mut self) -> io::Result<()>;
    /// The connection below.
    fn bare(&mut self) -> &mut TcpStream;
}

impl Wire for TcpStream {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read(buffer)
    }
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
    fn say_goodbye(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn bare(&mut self) -> &mut TcpStream {
        self
    }
}

/// Whether a read only ran out of time.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

struct Secured {
    stream: TcpStream,
    tls: rustls::ServerConnection,
}

impl Secured {
    fn accept(stream: TcpStream, config: Arc<rustls::ServerConfig>) -> io::Result<Self> {
        let tls = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
        let mut secured = Self { stream, tls };
        while secured.tls.is_handshaking() {
            match secured.tls.complete_io(&mut secured.stream) {
                Err(error) if !is_timeout(&error) => return Err(error),
                _ => {}
            }
        }
        secured.flush()?;
        Ok(secured)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream)?;
        }
        Ok(())
    }
}

impl Wire for Secured {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            if self.tls.read_tls(&mut self.stream)? == 0 {
                return Ok(0);
            }
            self.tls.process_new_packets().map_err(io::Error::other)?;
        }
    }
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(PIECE_BYTES) {
            self.tls.writer().write_all(piece)?;
            self.flush()?;
        }
        Ok(())
    }
    fn say_goodbye(&mut self) -> io::Result<()> {
        self.tls.send_close_notify();
        self.flush()
    }
    fn bare(&mut self) -> &mut TcpStream {
        &mut self.stream
    }
}

struct Connection<'a> {
    wire: Box<dyn Wire>,
    speaks: Speaks,
    /// What was received and belongs to no request yet.
    input: Vec<u8>,
    /// HTTP/2: the stream of the last request.
    stream: u32,
    stop: &'a AtomicBool,
}

impl Connection<'_> {
    fn follow(&mut self, script: &[Act]) -> io::Result<()> {
        let first = script.iter().position(|act| matches!(act, Act::Request));
        let again = first.map_or(&[Act::Silence][..], |first| &script[first..]);
        let mut acts = script.iter().chain(std::iter::repeat(again).flatten());
        loop {
            let Some(act) = acts.next() else { return Ok(()) };
            match act {
                Act::Close | Act::Cut | Act::Reset | Act::Silence => return self.end(*act),
                act => self.act(*act)?,
            }
        }
    }

    fn act(&mut self, act: Act) -> io::Result<()> {
        match act {
            Act::Request => self.request()?,
            Act::Something => self.fill()?,
            Act::Send(bytes) => self.wire.send(bytes)?,
            Act::Many(count, bytes) => self.wire.send(&bytes.repeat(count))?,
            Act::Endless(pause_ms, bytes) => {
                give_way();
                loop {
                    self.wire.send(bytes)?;
                    self.pause(pause_ms)?;
                }
            }
            Act::Drip(bytes) => bytes.chunks(1).try_for_each(|byte| self.wire.send(byte))?,
            Act::Urgent(byte) => self.urgent(byte)?,
            Act::Frame(frame) => {
                let stream = match frame.stream {
                    On::Asked => self.stream,
                    On::Number(number) => number,
                };
                self.wire.send(&frames::frame(frame.kind, frame.flags, stream, frame.payload))?;
            }
            Act::Bare(bytes) => self.wire.bare().write_all(bytes)?,
            Act::Pause(pause_ms) => self.pause(pause_ms)?,
            Act::Close | Act::Cut | Act::Reset | Act::Silence => {}
        }
        Ok(())
    }

    fn end(&mut self, act: Act) -> io::Result<()> {
        match act {
            Act::Reset => return socket::reset_on_close(self.wire.bare().as_fd()),
            Act::Silence => {}
            _ => {
                if matches!(act, Act::Close) {
                    self.wire.say_goodbye()?;
                }
                socket::finish_sending(self.wire.bare().as_fd());
            }
        }
        // Unread bytes would turn a close into a reset.
        let mut ignored = [0; 4_096];
        loop {
            match self.wire.bare().read(&mut ignored) {
                Ok(0) => return Ok(()),
                Err(error) if !is_timeout(&error) => return Err(error),
                _ => self.go_on()?,
            }
        }
    }

    /// An error if the server is to stop.
    fn go_on(&self) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }

    fn pause(&self, pause_ms: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(pause_ms));
        self.go_on()
    }

    /// Reads more; an error at the end of the connection.
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4_096];
        loop {
            match self.wire.receive(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.input.extend_from_slice(&buffer[..count]);
                    return Ok(());
                }
                Err(error) if is_timeout(&error) => self.go_on()?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a request, which has no body.
    fn request(&mut self) -> io::Result<()> {
        loop {
            let is_whole = match self.speaks {
                Speaks::Http1 => self.take_head(),
                Speaks::Http2 => self.take_frames(),
            };
            if is_whole {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn take_head(&mut self) -> bool {
        let end = self.input.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        end.is_some_and(|end| {
            self.input.drain(..end + 4);
            true
        })
    }

    /// Reads frames up to the next HEADERS, and ignores the others.
    fn take_frames(&mut self) -> bool {
        if self.input.starts_with(PREFACE) {
            self.input.drain(..PREFACE.len());
        }
        while let Some([a, b, c, kind, _, stream @ ..]) = self.input.first_chunk::<9>().copied() {
            let length = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
            if self.input.len() < length || PREFACE.starts_with(&self.input[..9]) {
                return false;
            }
            self.input.drain(..length);
            if kind == kind::HEADERS {
                self.stream = u32::from_be_bytes(stream);
                return true;
            }
        }
        false
    }

    /// RFC 9293 section 3.8.5: a byte beside the stream.
    fn urgent(&mut self, byte: u8) -> io::Result<()> {
        // SAFETY: the pointer is to one byte, which outlives the call.
        let sent = unsafe {
            libc::send(
                self.wire.bare().as_raw_fd(),
                (&raw const byte).cast(),
                1,
                libc::MSG_OOB | libc::MSG_NOSIGNAL,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
