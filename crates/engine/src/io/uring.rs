//! io_uring(7): one multishot receive for the life of a connection, sends handed over in batches, nothing heard of sends that succeed.
//! A request costs a share of one system call.
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};

use super::buffers::Buffers;
use super::socket::{self, Endpoints};
use super::{Event, Io, Opening, Sending};
use crate::wire::{Slice, Wire};

const NO_FD: i32 = -1;
const GROUP: u16 = 0;
const BUFFER_BYTES: usize = 16 * 1024;
const SUBMISSIONS: u32 = 256;
/// IORING_ENTER_GETEVENTS.
const GET_EVENTS: u32 = 1;

/// What a completion is about; the lowest bits of its user data. Above them: 24 bits of generation, 32 of slot.
const CONNECT: u64 = 0;
const RECEIVE: u64 = 1;
const SEND: u64 = 2;
const SILENT: u64 = 3;
const SEND_BYTES: u64 = 4;

#[derive(Debug, Clone, Copy)]
struct Socket {
    fd: i32,
    generation: u32,
    /// A receive is with the kernel.
    is_armed: bool,
    /// A send is with the kernel whose completion is awaited (pipelining and TLS only).
    is_sending: bool,
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
    wire: Arc<Wire>,
    endpoints: Arc<Endpoints>,
    completions: Vec<Completion>,
    next: usize,
    /// The buffer behind the present event, to be given back before the next one.
    held: Option<u16>,
    filled: usize,
    /// A connection carries several requests at the same time, so that sends must not overtake each other.
    pipelines: bool,
    /// What the kernel reads while a send of TLS is with it, by slot; without memory in a load without TLS.
    sending: Vec<Vec<u8>>,
    /// The same, of connections that are closed meanwhile; by the send's user data.
    orphans: HashMap<u64, Vec<u8>>,
    syscalls: u64,
}

/// Whether this kernel lets this process use what the loop needs.
pub(crate) fn probe() -> io::Result<()> {
    let ring = ring(8, 16)?;
    let buffers = Buffers::new(4, 4096)?;
    buffers.register(&ring.submitter(), GROUP)?;
    drop(ring);
    Ok(())
}

/// DEFER_TASKRUN (Linux 6.1): completions are worked off when we ask for them and never interrupt us.
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
    const NAME: &'static str = "io_uring";

    fn new(slots: u32, wire: &Arc<Wire>, endpoints: &Arc<Endpoints>) -> io::Result<Self> {
        let ring = ring(SUBMISSIONS, (slots * 2).next_power_of_two().clamp(1024, 32_768))?;
        let buffers = Buffers::new((slots * 2).next_power_of_two().clamp(16, 256) as u16, BUFFER_BYTES)?;
        buffers.register(&ring.submitter(), GROUP)?;
        let empty = Socket { fd: NO_FD, generation: 0, is_armed: false, is_sending: false };
        Ok(Self {
            ring,
            buffers,
            sockets: vec![empty; slots as usize],
            wire: Arc::clone(wire),
            endpoints: Arc::clone(endpoints),
            completions: Vec::with_capacity(1024),
            next: 0,
            held: None,
            filled: 0,
            pipelines: endpoints.carries_pipelines(),
            sending: Vec::new(),
            orphans: HashMap::new(),
            syscalls: 3,
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
        (socket.fd, socket.is_armed, socket.is_sending) = (fd, false, false);
        let data = self.data(slot, CONNECT);
        let endpoints = Arc::clone(&self.endpoints);
        let target = endpoints.target(nth);
        // The address lies in `endpoints`, which this loop keeps alive.
        self.push(opcode::Connect::new(Fd(fd), target.as_ptr(), target.length()).build().user_data(data));
        Opening::Pending
    }

    #[inline]
    fn send(&mut self, slot: u32, slice: Slice) -> Sending {
        let socket = &mut self.sockets[slot as usize];
        let fd = socket.fd;
        if self.pipelines && std::mem::replace(&mut socket.is_sending, true) {
            return Sending::Blocked(0);
        }
        let data = self.data(slot, SEND);
        let bytes = self.wire.bytes(slice);
        let entry = opcode::Send::new(Fd(fd), bytes.as_ptr(), bytes.len() as u32).flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build().user_data(data);
        // The bytes lie in `wire`, which this loop keeps alive.
        self.push(if self.pipelines { entry } else { entry.flags(Flags::SKIP_SUCCESS) });
        Sending::Queued
    }

    fn send_bytes(&mut self, slot: u32, bytes: &[u8]) -> Sending {
        let socket = &mut self.sockets[slot as usize];
        let fd = socket.fd;
        if std::mem::replace(&mut socket.is_sending, true) {
            return Sending::Blocked(0);
        }
        if self.sending.is_empty() {
            self.sending.resize_with(self.sockets.len(), Vec::new);
        }
        let buffer = &mut self.sending[slot as usize];
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let (start, length) = (buffer.as_ptr(), buffer.len() as u32);
        let data = self.data(slot, SEND_BYTES);
        // The bytes stay where they are until this send is complete: `is_sending` keeps the next one off, and closing makes them orphans.
        self.push(opcode::Send::new(Fd(fd), start, length).flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build().user_data(data));
        Sending::Queued
    }

    fn close(&mut self, slot: u32) {
        let socket = self.sockets[slot as usize];
        if socket.fd == NO_FD {
            return;
        }
        self.give_up_sending(slot);
        if socket.is_armed {
            // A receive under way would keep the socket open behind the closed descriptor.
            let receive = self.data(slot, RECEIVE);
            self.push(opcode::AsyncCancel::new(receive).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS));
        } else {
            let connect = self.data(slot, CONNECT);
            self.push(opcode::AsyncCancel::new(connect).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS));
        }
        self.push(opcode::Close::new(Fd(socket.fd)).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS));
        let socket = &mut self.sockets[slot as usize];
        socket.fd = NO_FD;
        socket.is_armed = false;
        socket.generation = socket.generation.wrapping_add(1);
    }

    fn submit(&mut self) -> io::Result<()> {
        if self.ring.submission().is_empty() {
            return Ok(());
        }
        self.syscalls += 1;
        match self.ring.submit() {
            Err(error) if !is_passing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn wait(&mut self, timeout_ns: u64) -> io::Result<()> {
        self.give_back();
        self.syscalls += 1;
        let queued = self.ring.submission().len() as u32;
        let submitter = self.ring.submitter();
        let result = if timeout_ns == 0 {
            // SAFETY: no argument is passed, and the entries in the queue are complete.
            unsafe { submitter.enter::<libc::sigset_t>(queued, 0, GET_EVENTS, None) }
        } else {
            let timeout = Timespec::new().sec(timeout_ns / 1_000_000_000).nsec((timeout_ns % 1_000_000_000) as u32);
            submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
        };
        if let Err(error) = result
            && !is_passing(&error)
        {
            return Err(error);
        }
        self.completions.clear();
        self.next = 0;
        let completions = self.ring.completion().map(|entry| Completion { data: entry.user_data(), result: entry.result(), flags: entry.flags() });
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
        self.held.map_or(&[], |id| self.buffers.bytes(id, self.filled))
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        self.held.map_or(&mut [], |id| self.buffers.bytes_mut(id, self.filled))
    }

    #[inline]
    fn is_closing(&self, slot: u32) -> bool {
        // The end of the stream is completed right behind the last bytes.
        self.completions.get(self.next).is_some_and(|next| next.data == self.data(slot, RECEIVE) && next.result == 0)
    }

    fn is_undelivered(&self, slot: u32) -> Option<bool> {
        socket::is_undelivered(self.sockets[slot as usize].fd)
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

/// Errors of io_uring_enter that say "later" (EBUSY: the completion queue is full) or "time is up".
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
            // SAFETY: what an entry points to (addresses, requests) is kept alive by this loop's own `Arc`s.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return;
            }
            self.syscalls += 1;
            // The queue is full: hand it over. If the kernel cannot take it now, it can after a moment.
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
            // Of a connection that is closed already; its buffers are free again.
            if let Some(id) = buffer {
                self.buffers.give_back(id);
            }
            if operation == SEND_BYTES {
                self.orphans.remove(&data);
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
            SEND | SEND_BYTES => self.sent(slot, result),
            _ => self.received_some(slot, result, flags, buffer),
        }
    }

    fn arm(&mut self, slot: u32) {
        let data = self.data(slot, RECEIVE);
        let socket = &mut self.sockets[slot as usize];
        socket.is_armed = true;
        let fd = socket.fd;
        self.push(opcode::RecvMulti::new(Fd(fd), GROUP).build().user_data(data));
    }

    /// The connection closes while the kernel may still read what it was to send.
    fn give_up_sending(&mut self, slot: u32) {
        let is_of_tls = !self.sending.is_empty() && std::mem::take(&mut self.sockets[slot as usize].is_sending);
        if is_of_tls {
            let data = self.data(slot, SEND_BYTES);
            self.orphans.insert(data, std::mem::take(&mut self.sending[slot as usize]));
            // One that the kernel has taken at once is complete and not touched by this; one that waits for the server would hold the socket open.
            self.push(opcode::AsyncCancel::new(data).build().user_data(SILENT).flags(Flags::SKIP_SUCCESS));
        }
    }

    /// A send of a pipelined or secured connection is complete, or any send has failed.
    fn sent(&mut self, slot: u32, result: i32) -> Option<Event> {
        self.sockets[slot as usize].is_sending = false;
        if result < 0 { Some(Event::Closed { slot, errno: Some(-result) }) } else { Some(Event::Writable { slot }) }
    }

    #[inline]
    fn received_some(&mut self, slot: u32, result: i32, flags: u32, buffer: Option<u16>) -> Option<Event> {
        if !cqueue::more(flags) {
            self.sockets[slot as usize].is_armed = false;
        }
        self.held = buffer;
        match result {
            1.. => {
                self.filled = result as usize;
                if !cqueue::more(flags) {
                    self.arm(slot);
                }
                Some(Event::Received { slot })
            }
            // All buffers were in use; they are free again when this batch is worked off.
            _ if result == -libc::ENOBUFS => {
                self.arm(slot);
                None
            }
            0 => Some(Event::Closed { slot, errno: None }),
            _ => Some(Event::Closed { slot, errno: Some(-result) }),
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Closes, and the goodbyes before them, that no wait has handed over: without this, the descriptors would stay with the process.
        let _ = self.submit();
        for socket in &self.sockets {
            if socket.fd != NO_FD {
                // Receives under way hold the socket: only this ends the connection.
                socket::shut_down(socket.fd);
                socket::close(socket.fd);
            }
        }
    }
}
