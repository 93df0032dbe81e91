//! epoll(7), edge-triggered. A connection is registered once. A request costs one write, one read
//! and a share of a wait.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::departing::Departing;
use super::socket::{self, Endpoints, errno};
use super::stamps::{self, Keeper};
use super::{Event, Handshake, Io, Loop, Opening, Sending, tcp_info, waiting};
use crate::time::clock::StampClock;

/// Large enough that a page of 50 KiB takes one read, small enough to stay in the second-level
/// cache.
const BUFFER_BYTES: usize = 64 * 1024;
/// How often the buffer is filled from one socket before others have their turn. Who sends faster
/// than we read would otherwise keep the thread for ever.
const FULL_READS: u32 = 4;
/// As many datagrams are read from one socket.
const DATAGRAMS: u32 = 64;
/// Events taken in one wait.
const BATCH: usize = 256;

const NO_FD: i32 = -1;

/// A slot's socket and the generation of its connection, so that events of a closed connection do
/// not reach its successor.
#[derive(Debug, Clone, Copy)]
struct Socket {
    fd: i32,
    generation: u32,
    connecting: bool,
    blocked: bool,
}

/// The loop.
pub(crate) struct Epoll {
    epoll: i32,
    sockets: Vec<Socket>,
    endpoints: Arc<Endpoints>,
    /// Whether a read has one datagram, which may be empty; and with which flags there is something to read.
    is_datagram: bool,
    reads_on: u32,
    events: Box<[libc::epoll_event; BATCH]>,
    ready: usize,
    next: usize,
    /// What is left of the present event.
    flags: u32,
    /// How often it has filled the buffer.
    full_reads: u32,
    buffer: Box<[u8]>,
    filled: usize,
    /// The arrival stamp of what was read last.
    stamp_unix_ns: Option<u64>,
    clock: StampClock,
    _keeper: Keeper,
    departing: Departing,
    syscalls: u64,
}

impl Io for Epoll {
    fn new(slots: u32, endpoints: &Arc<Endpoints>, _: Loop) -> io::Result<Self> {
        // SAFETY: no pointers.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        let empty = Socket { fd: NO_FD, generation: 0, connecting: false, blocked: false };
        Ok(Self {
            epoll,
            sockets: vec![empty; slots as usize],
            endpoints: Arc::clone(endpoints),
            is_datagram: endpoints.is_datagram(),
            // The error of a datagram that nobody received comes alone.
            reads_on: if endpoints.is_datagram() { IN | CLOSING | BROKEN } else { IN | CLOSING },
            events: Box::new([libc::epoll_event { events: 0, u64: 0 }; BATCH]),
            ready: 0,
            next: 0,
            flags: 0,
            full_reads: 0,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            filled: 0,
            stamp_unix_ns: None,
            clock: StampClock::new(),
            _keeper: Keeper::new()?,
            departing: Departing::new(),
            syscalls: 3,
        })
    }

    fn open(&mut self, slot: u32, nth: u64) -> Opening {
        let (fd, calls) = match self.endpoints.socket(nth, true) {
            Ok(opened) => opened,
            Err(error) => return Opening::Failed(error),
        };
        let target = self.endpoints.target(nth);
        self.syscalls += calls + 2;
        // SAFETY: the pointer and its length belong together.
        let result = unsafe { libc::connect(fd, target.as_ptr(), target.length()) };
        if result < 0 && errno() != libc::EINPROGRESS {
            let error = errno();
            socket::close(fd);
            return Opening::Failed(error);
        }
        let socket = &mut self.sockets[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        (socket.fd, socket.connecting, socket.blocked) = (fd, true, false);
        match self.register(slot, libc::EPOLL_CTL_ADD) {
            Ok(()) => Opening::Pending,
            Err(error) => {
                self.close(slot);
                Opening::Failed(error)
            }
        }
    }

    #[inline]
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        let socket = &mut self.sockets[slot as usize];
        let (sending, calls) = self.departing.send(socket.fd, bytes);
        self.syscalls += calls;
        socket.blocked |= matches!(sending, Sending::Blocked(_));
        sending
    }

    fn stamp_next_send(&mut self, is_asked: bool) -> bool {
        self.departing.stamp_next(is_asked);
        true
    }

    fn departed_at(&mut self, slot: u32, now: u64) -> Option<u64> {
        let (stamp, calls) = stamps::departure(self.sockets[slot as usize].fd);
        self.syscalls += calls;
        self.clock.monotonic(stamp?, now)
    }

    fn close(&mut self, slot: u32) {
        let socket = &mut self.sockets[slot as usize];
        if socket.fd != NO_FD {
            // Closing the only descriptor of a socket also takes it out of the epoll set.
            socket::close(socket.fd);
            self.syscalls += 1;
            socket.fd = NO_FD;
            socket.generation = socket.generation.wrapping_add(1);
        }
    }

    /// A thread that sleeps by a timer is not woken by packets. Where events lie already, it has
    /// no reason to sleep.
    fn wait(&mut self, timeout_ns: u64, stay_ns: u64) -> io::Result<()> {
        if stay_ns == 0 {
            return self.wait_for_one(timeout_ns);
        }
        self.wait_for_one(0)?;
        if self.ready > 0 {
            return Ok(());
        }
        self.syscalls += 1;
        std::thread::sleep(Duration::from_nanos(stay_ns));
        self.wait_for_one(timeout_ns.saturating_sub(stay_ns))
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        while self.next < self.ready {
            if let Some(event) = self.take() {
                return Some(event);
            }
            self.next += 1;
            self.flags = 0;
        }
        None
    }

    #[inline]
    fn received(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.filled]
    }

    #[inline]
    fn arrived_at(&mut self, now: u64) -> Option<u64> {
        self.clock.monotonic(self.stamp_unix_ns?, now)
    }

    fn clock_steps(&self) -> u64 {
        self.clock.steps()
    }

    fn handshake(&mut self, slot: u32) -> Option<Handshake> {
        self.syscalls += 1;
        tcp_info::handshake(self.sockets[slot as usize].fd)
    }

    fn ends(&self, slot: u32) -> Option<(SocketAddr, SocketAddr)> {
        socket::ends(self.sockets[slot as usize].fd)
    }

    #[inline]
    fn is_closing(&self, slot: u32) -> bool {
        self.flags & CLOSING != 0
            && self.next < self.ready
            && self.events[self.next].u64 as u32 == slot
    }

    fn is_undelivered(&self, slot: u32) -> Option<bool> {
        tcp_info::is_undelivered(self.sockets[slot as usize].fd)
    }

    fn has_delivered(&self, slot: u32) -> Option<bool> {
        tcp_info::has_delivered(self.sockets[slot as usize].fd)
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

const IN: u32 = libc::EPOLLIN as u32;
const OUT: u32 = libc::EPOLLOUT as u32;
const URGENT: u32 = libc::EPOLLPRI as u32;
const BROKEN: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// A socket that broke is hung up too. An error alone may be the stamp of a send.
const CLOSING: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP) as u32;
/// Set in `flags` while an event is being processed.
const TAKEN: u32 = 1 << 29;

impl Epoll {
    /// Waits for an event, `timeout_ns` at the most.
    fn wait_for_one(&mut self, timeout_ns: u64) -> io::Result<()> {
        (self.ready, self.next, self.flags) = (0, 0, 0);
        self.ready =
            waiting::wait(self.epoll, &mut self.events[..], timeout_ns, &mut self.syscalls)?;
        Ok(())
    }

    /// Asks for the events of a socket. If it is registered already, those that are there now come
    /// again.
    fn register(&self, slot: u32, operation: i32) -> Result<(), i32> {
        let Socket { fd, generation, .. } = self.sockets[slot as usize];
        let flags =
            libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLPRI | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event {
            events: flags as u32,
            u64: u64::from(slot) | u64::from(generation) << 32,
        };
        // SAFETY: `event` is valid for the call.
        let result = unsafe { libc::epoll_ctl(self.epoll, operation, fd, &raw mut event) };
        if result < 0 { Err(errno()) } else { Ok(()) }
    }

    /// Takes the next part of the present kernel event. It may have several: open, writable, bytes,
    /// closed.
    #[inline]
    fn take(&mut self) -> Option<Event> {
        let event = self.events[self.next];
        let (slot, generation) = (event.u64 as u32, (event.u64 >> 32) as u32);
        let socket = &mut self.sockets[slot as usize];
        if socket.generation != generation {
            return None;
        }
        if self.flags & TAKEN == 0 {
            self.flags = event.events | TAKEN;
            self.full_reads = 0;
        }
        if socket.connecting {
            return self.connected(slot);
        }
        // What has come is read first: a write may fail because the server has answered and gone.
        if self.flags & self.reads_on != 0
            && let Some(event) = self.read(slot)
        {
            return Some(event);
        }
        let socket = &mut self.sockets[slot as usize];
        if socket.blocked && self.flags & OUT != 0 {
            self.flags &= !OUT;
            socket.blocked = false;
            return Some(Event::Writable { slot });
        }
        None
    }

    fn connected(&mut self, slot: u32) -> Option<Event> {
        let socket = &mut self.sockets[slot as usize];
        if self.flags & BROKEN != 0 {
            self.syscalls += 1;
            let errno = socket::pending_error(socket.fd);
            if errno != 0 {
                self.close(slot);
                return Some(Event::ConnectFailed { slot, errno });
            }
        }
        if self.flags & (OUT | BROKEN) == 0 {
            return None;
        }
        socket.connecting = false;
        self.flags &= !OUT;
        Some(Event::Connected { slot })
    }

    #[inline]
    fn read(&mut self, slot: u32) -> Option<Event> {
        let is_datagram = self.is_datagram;
        if self.full_reads == if is_datagram { DATAGRAMS } else { FULL_READS } {
            return self.put_off(slot);
        }
        let fd = self.sockets[slot as usize].fd;
        self.syscalls += 1;
        match socket::receive(fd, &mut self.buffer) {
            // An empty datagram says nothing.
            Ok((0, _)) if is_datagram => {
                self.full_reads += 1;
                self.read(slot)
            }
            Ok((0, _)) => {
                self.flags = TAKEN | self.flags & OUT;
                Some(Event::Closed { slot, errno: None })
            }
            Ok((length, stamp_unix_ns)) => {
                (self.filled, self.stamp_unix_ns) = (length, stamp_unix_ns);
                if !is_datagram && self.filled < self.buffer.len() && self.flags & URGENT == 0 {
                    // A short read means that the socket is empty; later data is a new edge
                    // (epoll(7), questions and answers, 9). But a read also ends before urgent data
                    // (tcp(7)), and more may follow.
                    self.flags &= !IN;
                } else {
                    self.full_reads += 1;
                }
                Some(Event::Received { slot })
            }
            Err(libc::EAGAIN | libc::EINTR) => {
                self.flags = TAKEN | self.flags & OUT;
                None
            }
            Err(error) => {
                self.flags = TAKEN | self.flags & OUT;
                Some(Event::Closed { slot, errno: Some(error) })
            }
        }
    }
}

impl Epoll {
    /// The rest of a socket's bytes come with another event.
    #[cold]
    fn put_off(&mut self, slot: u32) -> Option<Event> {
        self.flags = TAKEN;
        self.syscalls += 1;
        let errno = self.register(slot, libc::EPOLL_CTL_MOD).err()?;
        Some(Event::Closed { slot, errno: Some(errno) })
    }
}

impl Drop for Epoll {
    fn drop(&mut self) {
        for socket in &self.sockets {
            if socket.fd != NO_FD {
                socket::close(socket.fd);
            }
        }
        socket::close(self.epoll);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::test::{found_together, opened, rooms_without_room};
    use std::io::Write;

    #[test]
    fn what_comes_within_the_stay_is_found_together() {
        assert_eq!(found_together(opened::<Epoll>(2), 0), 1, "the first wakes");
        assert_eq!(found_together(opened::<Epoll>(2), 1_000_000_000), 2);
    }

    /// A server that sends faster than it is read. All of it comes, but not in one turn.
    #[test]
    fn a_socket_that_is_never_empty_leaves_others_their_turn() {
        const ALL: usize = 1_024 * BUFFER_BYTES;
        let (mut io, mut peers) = opened::<Epoll>(1);
        let mut peer = peers.remove(0);
        let server = std::thread::spawn(move || {
            let bytes = vec![b'x'; 4 * BUFFER_BYTES];
            (0..ALL / bytes.len()).for_each(|_| peer.write_all(&bytes).unwrap());
            peer
        });
        let mut read = 0;
        while read < ALL {
            io.wait(100_000_000, 0).unwrap();
            let mut full_reads = 0;
            while let Some(event) = io.next_event() {
                if let Event::Received { .. } = event {
                    read += io.received().len();
                    full_reads += u32::from(io.received().len() == BUFFER_BYTES);
                }
            }
            assert!(full_reads <= FULL_READS, "{full_reads}");
        }
        drop(server.join().unwrap());
    }

    #[test]
    fn a_stamp_that_nobody_read_does_not_end_the_wait_for_room() {
        assert!(rooms_without_room(opened::<Epoll>(1)) <= 1);
    }
}
