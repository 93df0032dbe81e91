//! A blocking socket whose reads and writes end together at one instant. A limit for each of them
//! bounds nothing: a server that sends a byte now and then would hold its client for ever.
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use super::LATE;

/// The kernel takes 0 for no limit.
const SHORTEST: Duration = Duration::from_millis(1);

/// The time until this instant.
///
/// # Errors
/// `TimedOut` if nothing is left.
pub(super) fn left(until: Instant) -> io::Result<Duration> {
    match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(late()),
        left => Ok(left.max(SHORTEST)),
    }
}

fn late() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, LATE)
}

#[derive(Debug)]
pub(super) struct Socket {
    socket: socket2::Socket,
    /// Reads and writes fail from here on.
    until: Instant,
}

impl Socket {
    pub(super) const fn new(socket: socket2::Socket, until: Instant) -> Self {
        Self { socket, until }
    }

    /// Gives what follows this time in all, from now on.
    pub(super) fn allow(&mut self, limit: Duration) {
        self.until = Instant::now() + limit;
    }

    /// Local and remote address; `None` on a unix socket.
    pub(super) fn ends(&self) -> io::Result<Option<(SocketAddr, SocketAddr)>> {
        let ends = (self.socket.local_addr()?.as_socket(), self.socket.peer_addr()?.as_socket());
        Ok(ends.0.zip(ends.1))
    }

    /// Repeats a call that the kernel interrupts although no handler asked for it (signal(7),
    /// socket interfaces with a timeout), which says nothing of the server.
    fn in_time(
        &self,
        mut call: impl FnMut(&socket2::Socket, Duration) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match call(&self.socket, left(self.until)?) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A server that sends all the time is in time at each read, and never done.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(late()),
                result => return result,
            }
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.in_time(|mut socket, left| {
            socket.set_read_timeout(Some(left))?;
            socket.read(into)
        })
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time(|socket, left| {
            socket.set_write_timeout(Some(left))?;
            // A broken connection is an error and no signal.
            socket.send_with_flags(bytes, libc::MSG_NOSIGNAL)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}
