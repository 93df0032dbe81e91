//! The seam between a worker and what carries its bytes: TCP, or TLS over it.
//!
//! A transport knows nothing of requests. It is chosen at compile time. The address family is the
//! event loop's business ([`crate::io::socket`]), so that a unix socket needs no transport of its
//! own.
//!
//! | module | what it does |
//! |---|---|
//! | `proxy_header` | the header of the PROXY protocol |
pub(crate) mod proxy_header;
mod tls;

use pippin_model::load::tls::TlsUse;

use crate::io::{Io, Sending};
use crate::protocol::Bytes;
use crate::request::wire::Wire;
use crate::shared::Shared;
pub(crate) use tls::Tls;

/// A transport, as one worker uses it.
pub(crate) trait Transport: Sized {
    /// What it remembers of one connection.
    type State: Default;
    /// A connection is of use only after a handshake, and bytes change on their way.
    const SECURES: bool;

    fn new(shared: &Shared) -> Self;

    /// The socket of a connection is open. Only where [`Transport::SECURES`].
    fn begin<I: Io>(&mut self, io: &mut I, state: &mut Self::State, slot: u32) -> Handshake;

    /// Takes the bytes that the event loop has received; [`Transport::input`] then has what they
    /// hold.
    fn receive<I: Io>(&mut self, io: &mut I, state: &mut Self::State) -> Received;

    /// The content of the bytes of the last [`Transport::receive`].
    fn input<'a, I: Io>(&'a self, io: &'a I) -> &'a [u8];

    /// Sends bytes of requests; [`Sending::Blocked`] counts those of `bytes` that were taken.
    fn send<I: Io>(
        &mut self,
        io: &mut I,
        state: &mut Self::State,
        slot: u32,
        bytes: Bytes<'_>,
        wire: &Wire,
    ) -> Sending;

    /// Sends bytes of the transport's own that wait. [`Sending::Blocked`] if not all could be sent.
    fn flush<I: Io>(&mut self, io: &mut I, state: &mut Self::State, slot: u32) -> Sending;

    /// The kernel takes more bytes of this connection.
    fn unblock(state: &mut Self::State);

    /// Sends a goodbye before we close the connection, and forgets it.
    fn leave<I: Io>(&mut self, io: &mut I, state: &mut Self::State, slot: u32);

    /// Whether the server has said that nothing more will come.
    fn is_closed_by_peer(state: &Self::State) -> bool;

    /// Whether the server itself ended the connection, and nobody between.
    fn end_is_authentic(state: &Self::State) -> bool;

    /// Counts why a handshake failed or a connection broke.
    fn note_failure(&mut self, why: &str);

    /// Bytes on the wire that were sent since the last call, where they are not those of requests.
    fn take_sent(&mut self) -> u32;

    /// What was seen of TLS.
    fn into_seen(self) -> Option<TlsUse>;
}

/// How far a handshake is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Handshake {
    UnderWay,
    Done,
    Failed(String),
}

/// What [`Transport::receive`] found.
pub(crate) struct Received {
    /// Bytes on the wire.
    pub bytes: usize,
    /// How far the handshake is, if one was under way.
    pub handshake: Handshake,
    /// Why nothing more can be read.
    pub broken: Option<Broken>,
}

/// A connection that broke within its transport.
pub(crate) struct Broken {
    pub why: String,
    /// The server said so, in order.
    pub is_close: bool,
}

/// TCP as it is.
pub(crate) struct Tcp;

impl Transport for Tcp {
    type State = ();
    const SECURES: bool = false;

    fn new(_: &Shared) -> Self {
        Self
    }
    fn begin<I: Io>(&mut self, _: &mut I, (): &mut (), _: u32) -> Handshake {
        Handshake::Done
    }
    #[inline]
    fn receive<I: Io>(&mut self, io: &mut I, (): &mut ()) -> Received {
        Received { bytes: io.received().len(), handshake: Handshake::Done, broken: None }
    }
    #[inline]
    fn input<'a, I: Io>(&'a self, io: &'a I) -> &'a [u8] {
        io.received()
    }
    #[inline]
    fn send<I: Io>(
        &mut self,
        io: &mut I,
        (): &mut (),
        slot: u32,
        bytes: Bytes<'_>,
        wire: &Wire,
    ) -> Sending {
        match bytes {
            Bytes::Wire(slice) => io.send(slot, wire.bytes(slice)),
            Bytes::Own(bytes) => io.send(slot, bytes),
        }
    }
    fn flush<I: Io>(&mut self, _: &mut I, (): &mut (), _: u32) -> Sending {
        Sending::Done
    }
    fn unblock((): &mut ()) {}
    fn leave<I: Io>(&mut self, _: &mut I, (): &mut (), _: u32) {}
    #[inline]
    fn is_closed_by_peer((): &()) -> bool {
        false
    }
    fn end_is_authentic((): &()) -> bool {
        true
    }
    fn note_failure(&mut self, _: &str) {}
    #[inline]
    fn take_sent(&mut self) -> u32 {
        0
    }
    fn into_seen(self) -> Option<TlsUse> {
        None
    }
}
