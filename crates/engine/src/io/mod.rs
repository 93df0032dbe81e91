//! Event loops: what a worker needs from the kernel, as one small trait that epoll(7) and
//! io_uring(7) both implement.
//!
//! The trait is about completions ("these bytes arrived", "the connection is open"). With epoll,
//! the loop reads when a socket is ready; the other way round, readiness would be expensive with
//! io_uring. A loop owns its sockets, and the worker names them by slot.
mod buffers;
pub(crate) mod chosen;
mod departing;
pub(crate) mod epoll;
pub(crate) mod socket;
mod stamps;
mod tcp_info;
#[cfg(test)]
mod test;
pub(crate) mod uring;
mod waiting;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use socket::Endpoints;
pub(crate) use tcp_info::Handshake;

/// The kernel's event loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loop {
    Epoll,
    Uring,
}

impl Loop {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        }
    }
}

/// Something that happened to the connection in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// `open` succeeded.
    Connected { slot: u32 },
    /// `open` failed, with this errno.
    ConnectFailed { slot: u32, errno: i32 },
    /// Bytes arrived: [`Io::received`] has them until the next call of [`Io::next_event`].
    Received { slot: u32 },
    /// A send that was [`Sending::Blocked`] may go on.
    Writable { slot: u32 },
    /// The server closed its side, or the connection broke with this errno.
    Closed { slot: u32, errno: Option<i32> },
}

impl Event {
    /// The slot of its connection.
    #[inline]
    pub const fn slot(self) -> u32 {
        match self {
            Self::Connected { slot }
            | Self::ConnectFailed { slot, .. }
            | Self::Received { slot }
            | Self::Writable { slot }
            | Self::Closed { slot, .. } => slot,
        }
    }
}

/// How an `open` began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// An event will tell.
    Pending,
    /// It failed at once, with this errno.
    Failed(i32),
}

/// How a `send` went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sending {
    /// The kernel has all of it.
    Done,
    /// The kernel took this many bytes. Send the rest after [`Event::Writable`].
    Blocked(u32),
    /// The connection is broken, with this errno.
    Failed(i32),
}

/// An event loop.
pub(crate) trait Io: Sized {
    /// A loop for `slots` connections to `endpoints`. `on` says which loop; only a type that can be either
    /// uses it.
    fn new(slots: u32, endpoints: &Arc<Endpoints>, on: Loop) -> io::Result<Self>;

    /// Begins to connect: the `nth` connection of the load decides which addresses are used.
    fn open(&mut self, slot: u32, nth: u64) -> Opening;

    /// Sends bytes at once, as many as the kernel takes.
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Sending;

    /// Whether the next [`Io::send`] asks the kernel to stamp when its bytes leave. Returns whether
    /// this loop can do that.
    fn stamp_next_send(&mut self, _is_asked: bool) -> bool {
        false
    }

    /// When the bytes that were to be stamped left on the connection in this slot, in nanoseconds of
    /// CLOCK_MONOTONIC. `None` if there is no stamp, or not yet.
    fn departed_at(&mut self, _slot: u32, _now: u64) -> Option<u64> {
        None
    }

    /// Closes. No more events come from this connection.
    fn close(&mut self, slot: u32);

    /// Waits for events, `timeout_ns` at the most. Events may lie unnoticed for `stay_ns`, which
    /// is not longer, so that several are found together. A kernel that cannot wait like that
    /// returns with the first.
    fn wait(&mut self, timeout_ns: u64, stay_ns: u64) -> io::Result<()>;

    /// The next event that the last wait found.
    fn next_event(&mut self) -> Option<Event>;

    /// The bytes of the last [`Event::Received`].
    fn received(&self) -> &[u8];

    /// The received bytes, for TLS to decrypt in place.
    fn received_mut(&mut self) -> &mut [u8];

    /// When the kernel received the last of these bytes, in nanoseconds of CLOCK_MONOTONIC, and not
    /// after `now`. `None` without a stamp.
    fn arrived_at(&mut self, now: u64) -> Option<u64>;

    /// How often the time of day was set, so that stamps were lost.
    fn clock_steps(&self) -> u64;

    /// How the connection in this slot was opened; call it at its [`Event::Connected`]. `None` if
    /// the kernel does not say.
    fn handshake(&mut self, slot: u32) -> Option<Handshake>;

    /// Local and remote address of the connection in this slot; `None` if they are not IPv4 or
    /// IPv6.
    fn ends(&self, slot: u32) -> Option<(SocketAddr, SocketAddr)>;

    /// Whether the server's close is already known although its event has not been taken yet.
    fn is_closing(&self, slot: u32) -> bool;

    /// Whether the bytes sent last on this connection never reached the server's kernel; `None` if
    /// it cannot be told.
    fn is_undelivered(&self, slot: u32) -> Option<bool>;

    /// Whether bytes sent on this connection have reached the server's kernel; `None` if it cannot
    /// be told.
    fn has_delivered(&self, slot: u32) -> Option<bool>;

    /// System calls made so far.
    fn syscalls(&self) -> u64;
}
