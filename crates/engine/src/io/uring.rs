//! io_uring(7): one multishot `recvmsg` for the life of a connection. Answers cost a share of one
//! system call. Each send is a call of its own: the ring performs sends one after the other, and
//! nothing tells when each of them left (docs/decisions/arrival-stamps.md).
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};

use super::buffers::Buffers;
use super::departing::Departing;
use super::socket::{self, Endpoints};
use super::stamps::{self, CONTROL_BYTES, Keeper};
use super::{Event, Handshake, Io, Loop, Opening, Sending, tcp_info};
use crate::time::clock::StampClock;

const NO_FD: i32 = -1;
const GROUP: u16 = 0;
/// What precedes the bytes in each buffer: `struct io_uring_recvmsg_out` and the control message
/// (io_uring_prep_recvmsg_multishot(3)).
const OUT_BYTES: usize = 16;
const AHEAD_BYTES: usize = OUT_BYTES + CONTROL_BYTES;
/// Room for 64 KiB behind it, in whole cache lines: each receive of a long body costs about as much as any other.
const BUFFER_BYTES: usize = 64 * 1024 + AHEAD_BYTES.next_multiple_of(64);
const SUBMISSIONS: u32 = 256;
/// IORING_ENTER_GETEVENTS.
const GET_EVENTS: u32 = 1;

/// The kind of a completion: the lowest bits of its user data. Above them are 24 bits of generation
/// and 32 of slot.
const CONNECT: u64 = 0;
const RECEIVE: u64 = 1;
const SILENT: u64 = 2;
const ROOM: u64 = 3;

#[derive(Debug, Clone, Copy)]
struct Socket {
    fd: i32,
    generation: u32,
    /// A receive is with the kernel.
    is_armed: bool,
    /// A send did not fit, and the kernel will say when there is room.
    waits_for_room: bool,
}

#[derive(Debug, Clone, Copy)]
struct Completion {
    data: u64,
    result: i32,
    flags: u32,
}

/// The loop. The ring is dropped before the buffers.
pub(crate) struct Uring {
    ring: IoUring,
    buffers: Buffers,
    sockets: Vec<Socket>,
    endpoints: Arc<Endpoints>,
    completions: Vec<Completion>,
    next: usize,
    /// The buffer behind the present event, to be given back before the next one.
    held: Option<u16>,
    /// Bytes in it, those that lie ahead included.
    filled: usize,
    clock: StampClock,
    _keeper: Keeper,
    /// Tells the kernel how much room to leave for the control message.
    message: Box<libc::msghdr>,
    departing: Departing,
    syscalls: u64,
    /// The kernel can let completions lie for a while (IORING_FEAT_MIN_TIMEOUT, Linux 6.12).
    can_stay: bool,
    /// So many completions are worth waking for at once.
    enough: usize,
}

/// Whether this kernel lets this process use what the loop needs.
pub(crate) fn probe() -> io::Result<()> {
    let ring = ring(8, 16)?;
    let buffers = Buffers::new(4, 4096)?;
    buffers.register(&ring.submitter(), GROUP)?;
    drop(ring);
    Ok(())
}

/// DEFER_TASKRUN (Linux 6.1): completions are processed when we ask for them, and never interrupt
/// us.
fn ring(submissions: u32, completions: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .setup_submit_all()
        .setup_clamp()
        .setup_cqsize(completions)
        .build(submissions)
}

impl Io for Uring {
    fn new(slots: u32, endpoints: &Arc<Endpoints>, _: Loop) -> io::Result<Self> {
        let ring = ring(SUBMISSIONS, (slots * 2).next_power_of_two().clamp(1024, 32_768))?;
        let can_stay = ring.params().is_feature_min_timeout();
        let count = (slots * 2).next_power_of_two().clamp(16, 256) as u16;
        let buffers = Buffers::new(count, BUFFER_BYTES)?;
        buffers.register(&ring.submitter(), GROUP)?;
        // SAFETY: a msghdr of zeros is one without buffers.
        let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        message.msg_controllen = CONTROL_BYTES as _;
        let empty = Socket { fd: NO_FD, generation: 0, is_armed: false, waits_for_room: false };
        Ok(Self {
            ring,
            buffers,
            sockets: vec![empty; slots as usize],
            endpoints: Arc::clone(endpoints),
            completions: Vec::with_capacity(1024),
            next: 0,
            held: None,
            filled: 0,
            clock: StampClock::new(),
            _keeper: Keeper::new()?,
            message,
            departing: Departing::new(),
            syscalls: 5,
            can_stay,
            enough: usize::from(count / 2),
        })
    }

    fn open(&mut self, slot: u32, nth: u64) -> Opening {
        let (fd, calls) = match self.endpoints.socket(nth, false) {
            Ok(opened) => opened,
            Err(error) => return Opening::Failed(error),
        };
        self.syscalls += calls;
        let socket = &mut self.sockets[slot as usize];
        socket.generation = socket.generation.wrapping_add(1);
        (socket.fd, socket.is_armed, socket.waits_for_room) = (fd, false, false);
        let data = self.data(slot, CONNECT);
        let endpoints = Arc::clone(&self.endpoints);
        let target = endpoints.target(nth);
        // The address lies in `endpoints`, which this loop keeps alive.
        self.push(
            opcode::Connect::new(Fd(fd), target.as_ptr(), target.length()).build().user_data(data),
        );
        Opening::Pending
    }

    #[inline]
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        let (sending, calls) = self.departing.send(self.sockets[slot as usize].fd, bytes);
        self.syscalls += calls;
        if let Sending::Blocked(_) = sending {
            self.wait_for_room(slot);
        }
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
        let socket = self.sockets[slot as usize];
        if socket.fd == NO_FD {
            return;
        }
        // Pending operations would keep the socket open after its descriptor is closed.
        if socket.waits_for_room {
            self.cancel(slot, ROOM);
        }
        self.cancel(slot, if socket.is_armed { RECEIVE } else { CONNECT });
        self.push(
            opcode::Close::new(Fd(socket.fd)).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS),
        );
        let socket = &mut self.sockets[slot as usize];
        socket.fd = NO_FD;
        socket.is_armed = false;
        socket.generation = socket.generation.wrapping_add(1);
    }

    fn wait(&mut self, timeout_ns: u64, stay_ns: u64) -> io::Result<()> {
        self.give_back();
        self.syscalls += 1;
        let queued = self.ring.submission().len() as u32;
        let submitter = self.ring.submitter();
        let result = if timeout_ns == 0 {
            // SAFETY: no argument is passed, and the entries in the queue are complete.
            unsafe { submitter.enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None) }
        } else {
            let timeout = Timespec::new()
                .sec(timeout_ns / 1_000_000_000)
                .nsec((timeout_ns % 1_000_000_000) as u32);
            let arguments = SubmitArgs::new().timespec(&timeout);
            if stay_ns > 0 && self.can_stay {
                let stay_us = (stay_ns / 1_000) as u32;
                submitter.submit_with_args(self.enough, &arguments.min_wait_usec(stay_us))
            } else {
                submitter.submit_with_args(1, &arguments)
            }
        };
        if let Err(error) = result
            && !is_passing(&error)
        {
            return Err(error);
        }
        self.completions.clear();
        self.next = 0;
        let completions = self.ring.completion().map(|entry| Completion {
            data: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        });
        self.completions.extend(completions);
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.give_back();
        while let Some(completion) = self.completions.get(self.next).copied() {
            self.next += 1;
            if let Some(event) = self.take(completion) {
                return Some(event);
            }
        }
        None
    }

    #[inline]
    fn received(&self) -> &[u8] {
        self.held.map_or(&[], |id| &self.buffers.bytes(id, self.filled)[AHEAD_BYTES..])
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        let filled = self.filled;
        self.held.map_or(&mut [], |id| &mut self.buffers.bytes_mut(id, filled)[AHEAD_BYTES..])
    }

    #[inline]
    fn arrived_at(&mut self, now: u64) -> Option<u64> {
        let (out, rest) = self.buffers.bytes(self.held?, self.filled).split_at(OUT_BYTES);
        // The second number is the length of the control message; without one, old bytes lie there.
        let length = u32::from_ne_bytes(out[4..8].try_into().ok()?) as usize;
        self.clock.monotonic(stamps::read(&rest[..length.min(CONTROL_BYTES)])?, now)
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
        // The end of the stream is completed right behind the last bytes. Datagrams have none, and may be empty.
        self.completions.get(self.next).is_some_and(|next| {
            !self.endpoints.is_datagram()
                && next.data == self.data(slot, RECEIVE)
                && usize::try_from(next.result).is_ok_and(|filled| filled <= AHEAD_BYTES)
        })
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

/// Errors of io_uring_enter that mean "try later" (EBUSY: the completion queue is full) or
/// "timeout".
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN))
}

impl Uring {
    #[inline]
    fn data(&self, slot: u32, operation: u64) -> u64 {
        let generation = u64::from(self.sockets[slot as usize].generation & 0x00FF_FFFF);
        u64::from(slot) << 32 | generation << 8 | operation
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        loop {
            // SAFETY: what an entry points to (addresses) is kept alive by this loop's own `Arc`.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return;
            }
            self.syscalls += 1;
            // The queue is full: hand it over. If the kernel cannot take it now, it can after a
            // moment.
            let _ = self.ring.submit();
        }
    }

    #[inline]
    fn give_back(&mut self) {
        if let Some(id) = self.held.take() {
            self.buffers.give_back(id);
        }
    }

    #[inline]
    fn take(&mut self, completion: Completion) -> Option<Event> {
        let Completion { data, result, flags } = completion;
        let buffer = cqueue::buffer_select(flags);
        let (slot, operation) = ((data >> 32) as u32, data & 0xFF);
        if operation == SILENT || data != self.data(slot, operation) {
            // The connection is closed already; its buffer is free again.
            if let Some(id) = buffer {
                self.buffers.give_back(id);
            }
            return None;
        }
        match operation {
            CONNECT if result < 0 => {
                self.close(slot);
                Some(Event::ConnectFailed { slot, errno: -result })
            }
            CONNECT => {
                self.arm(slot);
                Some(Event::Connected { slot })
            }
            ROOM => self.has_room(slot, result),
            _ => self.received_some(slot, result, flags, buffer),
        }
    }

    /// Cancels pending operations, without completions.
    fn cancel(&mut self, slot: u32, operation: u64) {
        let data = self.data(slot, operation);
        self.push(
            opcode::AsyncCancel::new(data).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS),
        );
    }

    fn arm(&mut self, slot: u32) {
        let data = self.data(slot, RECEIVE);
        let socket = &mut self.sockets[slot as usize];
        socket.is_armed = true;
        let fd = socket.fd;
        self.push(
            opcode::RecvMsgMulti::new(Fd(fd), &raw const *self.message, GROUP)
                .build()
                .user_data(data),
        );
    }

    /// Asks to be told when the kernel takes more.
    fn wait_for_room(&mut self, slot: u32) {
        let data = self.data(slot, ROOM);
        let socket = &mut self.sockets[slot as usize];
        if !std::mem::replace(&mut socket.waits_for_room, true) {
            let fd = socket.fd;
            self.push(opcode::PollAdd::new(Fd(fd), libc::POLLOUT as u32).build().user_data(data));
        }
    }

    /// There is room, or the connection broke; the next send will show which. A stamp of a departure that
    /// nobody has read yet ends the kernel's wait too (POLLERR): it is taken away, or each wait would end at once.
    fn has_room(&mut self, slot: u32, ready: i32) -> Option<Event> {
        let socket = &mut self.sockets[slot as usize];
        socket.waits_for_room = false;
        if ready & i32::from(libc::POLLERR) != 0 {
            let (stamp, calls) = stamps::departure(socket.fd);
            self.syscalls += calls;
            if stamp.is_some() && ready & i32::from(libc::POLLOUT) == 0 {
                self.wait_for_room(slot);
                return None;
            }
        }
        Some(Event::Writable { slot })
    }

    #[inline]
    fn received_some(
        &mut self,
        slot: u32,
        result: i32,
        flags: u32,
        buffer: Option<u16>,
    ) -> Option<Event> {
        if !cqueue::more(flags) {
            self.sockets[slot as usize].is_armed = false;
        }
        self.held = buffer;
        match usize::try_from(result) {
            Ok(filled) if filled > AHEAD_BYTES => {
                self.filled = filled;
                if !cqueue::more(flags) {
                    self.arm(slot);
                }
                Some(Event::Received { slot })
            }
            // All buffers were in use. They are free again when this batch is processed.
            _ if result == -libc::ENOBUFS => {
                self.arm(slot);
                None
            }
            // An empty datagram says nothing.
            Ok(_) if self.endpoints.is_datagram() => {
                if !cqueue::more(flags) {
                    self.arm(slot);
                }
                None
            }
            Ok(_) => Some(Event::Closed { slot, errno: None }),
            _ => Some(Event::Closed { slot, errno: Some(-result) }),
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Submits closes that no wait has submitted; otherwise the descriptors would stay open.
        let _ = self.ring.submit();
        for socket in &self.sockets {
            if socket.fd != NO_FD {
                // Pending receives hold the socket, so only a shutdown ends the connection.
                socket::shut_down(socket.fd);
                socket::close(socket.fd);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::test::{found_together, opened, rooms_without_room};

    #[test]
    fn what_comes_within_the_stay_is_found_together() {
        assert_eq!(found_together(opened::<Uring>(2), 0), 1, "the first wakes");
        let (io, peers) = opened::<Uring>(2);
        // A kernel that cannot let them lie returns with the first.
        let most = if io.can_stay { 2 } else { 1 };
        assert_eq!(found_together((io, peers), 1_000_000_000), most);
    }

    #[test]
    fn a_stamp_that_nobody_read_does_not_end_the_wait_for_room() {
        assert!(rooms_without_room(opened::<Uring>(1)) <= 1);
    }
}
