//! The seam between a worker and a protocol: how requests become bytes, and bytes answers.
//!
//! A protocol knows nothing of times, and not what a right answer is. It is chosen at compile time,
//! so that the seam costs nothing: [`crate::protocol::http1::Http1`], [`crate::protocol::http2::Http2`],
//! [`crate::protocol::websocket::WebSocket`], [`crate::protocol::websocket::Broadcast`].
//!
//! | module | what it does |
//! |---|---|
//! | `http1` | rendered requests, and a strict decoder |
//! | `http2` | frames, header compression, flow control and streams, without a socket; a blocking client |
//! | `http3` | HTTP/3 frames and header fields over QUIC, without a socket; a blocking client |
//! | `websocket` | the opening handshake, frames and messages, without a socket; a blocking client |
//! | `collected` | an answer as a whole |
//! | `order` | in which order answers come |
//! | `outgoing` | bytes of a protocol that wait for the kernel |
mod collected;
pub mod http1;
pub mod http2;
pub mod http3;
pub(crate) mod order;
pub(crate) mod outgoing;
pub mod websocket;

use std::sync::Arc;

use pippin_model::load::LoadSpec;
use pippin_model::load::tls::TlsUse;
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::result::{ErrorKind, QuicUse};

use crate::digest::Challenge;
use crate::error::EngineError;
use crate::protocol::order::Order;
use crate::request::drawn::Value;
use crate::request::wire::{Span, Wire};
use crate::scenario::{Walker, WholeAnswer};
use crate::tls::Client;

/// A protocol, as one worker uses it.
pub(crate) trait Protocol: Sized {
    /// What one connection remembers of the bytes so far.
    type Session: Default;
    /// Requests whose bytes the kernel has not taken yet.
    type Out: Outgoing;
    /// How an answer finds its request: [`order::InOrder`] or [`order::ByTag`].
    type Order: Order;
    /// The handshake with which a connection begins; [`AtOnce`] if it has none.
    type Greeting: Greets<Self>;
    /// How the requests of one user depend on its values; [`Alike`] if they do not.
    type Variation: Varies<Self>;
    /// Who is to have the answer to a request; [`Asker`] if it is who sent it.
    type Reach: Reaches<Self>;
    const GREETS: bool = Self::Greeting::GREETS;
    const VARIES: bool = Self::Variation::VARIES;
    const REACHES_ALL: bool = Self::Reach::ALL;
    /// Whether the bytes of a request are handed out piece by piece. Only where answers come in order.
    const IN_PIECES: bool = false;
    /// Whether requests hold values that are drawn as they are sent ([`Protocol::render`]).
    const DRAWS: bool = false;
    /// Whether connections have timers of their own ([`Protocol::due`]). Not if answers come in order.
    const HAS_TIMERS: bool = false;
    /// Whether bytes come and go as datagrams: to connect asks nobody, and what lies in one datagram came at
    /// once.
    const IN_DATAGRAMS: bool = false;

    /// Renders everything that does not vary: the requests of a load, with what is known of them.
    ///
    /// # Errors
    /// If a request cannot be written, with its place and the part that is wrong.
    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError>;

    /// The protocol for one worker.
    fn new(spec: &LoadSpec, wire: &Arc<Wire>) -> Self;

    /// What the server asked the user of a connection before the load. Only where requests say who
    /// sends them by a digest.
    fn challenged(&mut self, _session: &mut Self::Session, _challenge: &Challenge) {}

    /// What all connections of the load share for TLS. Only where the protocol secures itself.
    fn secured_by(&mut self, _client: &Client) {}

    /// The instant of what comes next, in nanoseconds of the load's clock. Only where connections have
    /// timers.
    #[inline]
    fn at(&mut self, _now: u64) {}

    /// When the connection is to be asked by [`Protocol::decode`], or by its greeting, with an empty
    /// input if nothing comes before; `None` for never.
    #[inline]
    fn due(&self, _session: &mut Self::Session) -> Option<u64> {
        None
    }

    /// The connection is closed, or another one is about to be opened in its place: forgets what was
    /// the connection's, and keeps what is its user's.
    #[inline]
    fn reopened(session: &mut Self::Session) {
        *session = Self::Session::default();
    }

    /// A connection is open: appends its first bytes.
    #[inline]
    fn begin(&self, _session: &mut Self::Session, _out: &mut Self::Out) {}

    /// How many more requests the server accepts on a connection, on which `under_way` have no
    /// answer yet.
    #[inline]
    fn room(_session: &Self::Session, _under_way: u32) -> u32 {
        u32::MAX
    }

    /// Whether a connection can carry no further requests, whatever the server says.
    #[inline]
    fn is_spent(_session: &Self::Session) -> bool {
        false
    }

    /// Appends what else may be sent, because the kernel has taken what was there.
    #[inline]
    fn refill(&self, _session: &mut Self::Session, _out: &mut Self::Out) {}

    /// Nobody waits for the answer to this request any more. Only where answers come in any order.
    fn cancel(&mut self, _session: &mut Self::Session, _tag: u32, _out: &mut Self::Out) {}

    /// Appends a request to what a connection is to send. `tag` tells requests under way on the
    /// same connection apart; it is below the number that may be under way. `value` is what was
    /// drawn for it, where values are drawn.
    fn render(
        &mut self,
        session: &mut Self::Session,
        template: u32,
        tag: u32,
        value: Value,
        out: &mut Self::Out,
    );

    /// Reads `input`, at most to the end of one answer. If answers come in order, at least one
    /// request is under way. Messages to the server go to `out`.
    ///
    /// # Errors
    /// The kind under which the request fails. The connection is then of no further use.
    fn decode<A: Answers>(
        &mut self,
        session: &mut Self::Session,
        input: &[u8],
        answers: &mut A,
        out: &mut Self::Out,
    ) -> Result<Step, ErrorKind>;

    /// What the end of the connection means for the answer under way.
    fn end(session: &mut Self::Session) -> End;
}

/// How the connections of a protocol begin and end, where they begin with a handshake of the
/// protocol's own. [`Protocol::begin`] writes its request, and no other request is sent before it is
/// done. Not if answers come in order.
pub(crate) trait Greets<P: Protocol> {
    const GREETS: bool = true;
    /// Whether it is a handshake of TLS too (QUIC).
    const SECURES: bool = false;
    /// Why there is no connection, where it ends in the handshake.
    const CLOSED: &'static str;

    /// Reads on in the handshake that [`Protocol::begin`] has begun, and appends what follows from it.
    fn greet(
        protocol: &mut P,
        session: &mut P::Session,
        input: &[u8],
        out: &mut P::Out,
    ) -> Greeting;

    /// The time for the handshake is over: what did not come.
    fn late(protocol: &P, session: &P::Session) -> String;

    /// We are about to close an open connection: appends the protocol's goodbye.
    fn leave(protocol: &P, session: &mut P::Session, out: &mut P::Out);

    /// Counts why a handshake failed.
    fn note_failure(protocol: &mut P, why: &str);

    /// What was seen of the handshakes.
    fn into_seen(protocol: P) -> Greeted;
}

/// Who is to have the answer to a request.
pub(crate) trait Reaches<P: Protocol> {
    /// Whether the first connection of a worker sends all requests, and the answer to each is
    /// complete when it has come on every connection. Not if answers come in order.
    const ALL: bool;

    /// Whether the answer under way has not come on this connection, which is to have it.
    fn lacks(protocol: &P, session: &P::Session) -> bool;
}

/// Who sent a request has its answer.
pub(crate) struct Asker;

impl<P: Protocol> Reaches<P> for Asker {
    const ALL: bool = false;

    fn lacks(_: &P, _: &P::Session) -> bool {
        false
    }
}

/// What was seen of handshakes of a protocol's own.
#[derive(Debug, Default)]
pub(crate) struct Greeted {
    pub websocket: Option<WebSocketUse>,
    pub tls: Option<TlsUse>,
    pub quic: Option<QuicUse>,
}

/// Connections can be used as soon as they are open.
pub(crate) struct AtOnce;

impl<P: Protocol> Greets<P> for AtOnce {
    const GREETS: bool = false;
    const CLOSED: &'static str = "";

    fn greet(_: &mut P, _: &mut P::Session, _: &[u8], _: &mut P::Out) -> Greeting {
        Greeting::Done { used: 0 }
    }

    fn late(_: &P, _: &P::Session) -> String {
        String::new()
    }

    fn leave(_: &P, _: &mut P::Session, _: &mut P::Out) {}

    fn note_failure(_: &mut P, _: &str) {}

    fn into_seen(_: P) -> Greeted {
        Greeted::default()
    }
}

/// Requests that are made from the values of their user, who goes through them in order
/// ([`crate::scenario`]). Answers are kept until they are checked.
pub(crate) trait Varies<P: Protocol> {
    const VARIES: bool = true;

    /// Appends the request of a step.
    fn render_for(
        protocol: &mut P,
        session: &mut P::Session,
        step: u32,
        user: &mut Walker,
        out: &mut P::Out,
    );

    /// The answer that is complete now; `None` unless requests vary.
    fn kept(session: &P::Session) -> Option<&WholeAnswer>;
}

/// Requests are the same whoever sends them.
pub(crate) struct Alike;

impl<P: Protocol> Varies<P> for Alike {
    const VARIES: bool = false;

    fn render_for(_: &mut P, _: &mut P::Session, _: u32, _: &mut Walker, _: &mut P::Out) {}

    fn kept(_: &P::Session) -> Option<&WholeAnswer> {
        None
    }
}

/// How far [`Protocol::decode`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// All of the input is read, and no answer is complete.
    More,
    /// The answer to the request with this tag is complete; it took `used` bytes of the input.
    Complete { tag: u32, used: usize },
    /// The request with this tag fails, and the connection goes on. Not if answers come in order.
    Failed { tag: u32, used: usize, kind: ErrorKind },
    /// The server has not processed the request with this tag: it may be sent again. Not if answers
    /// come in order.
    Refused { tag: u32, used: usize },
}

/// How far a protocol's own handshake is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// All of the input is read.
    UnderWay,
    /// It took `used` bytes of the input.
    Done { used: usize },
    /// Why there is none.
    Failed(String),
}

/// What the end of a connection means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The head of the answer was not complete.
    BeforeHead {
        /// Not a byte of it had come.
        untouched: bool,
    },
    /// The answer had begun and was not complete.
    InBody,
    /// The answer ends with the connection: it is complete.
    Complete,
}

/// What a worker learns of answers while they are read.
pub(crate) trait Answers {
    /// The tag of the request that was sent first, of those under way.
    fn oldest(&self) -> u32;
    /// The template of a request under way; `None` if no such request is.
    fn template(&self, tag: u32) -> Option<u32>;
    /// An interim answer came (1xx).
    fn interim(&mut self);
    /// Whether every field of the answer to this request is wanted. A head that repeats the one
    /// before is not decoded otherwise.
    #[inline]
    fn wants_fields(&mut self, _tag: u32) -> bool {
        false
    }
    /// A field of a head that is being read; only where answers come in any order, and only if it
    /// is wanted.
    #[inline]
    fn field(&mut self, _tag: u32, _name: &[u8], _value: &[u8]) {}
    /// The head is complete. `is_last`: the server takes no further requests on this connection.
    fn head(&mut self, tag: u32, status: u16, is_last: bool);
    /// The bytes of the head that is complete; only where answers come in order.
    #[inline]
    fn head_bytes(&mut self, _raw: &[u8]) {}
    /// Why the answer that is being read must be rejected.
    fn refused(&mut self, _why: &'static str) {}
    /// A piece of the body of the answer to this request.
    fn body(&mut self, tag: u32, template: u32, piece: &[u8]);
    /// The present connection has the whole answer to this request; only where every connection is
    /// to have it.
    #[inline]
    fn heard(&mut self, _tag: u32) {}
    /// The answer to this request is wrong, whatever its body; only where answers come in any
    /// order.
    fn wrong(&mut self, _tag: u32) {}
    /// The complete answer to this request is wrong in this way; only where answers come in any
    /// order.
    fn failed(&mut self, _tag: u32, _kind: ErrorKind, _words: String) {}
    /// The server takes no further requests on this connection.
    fn closing(&mut self) {}
}

/// The bytes of requests, waiting for the kernel.
pub(crate) trait Outgoing: Default {
    fn is_empty(&self) -> bool;
    fn bytes(&self) -> Bytes<'_>;
    /// The kernel has taken `count` of them.
    fn took(&mut self, count: u32);
    /// The connection is closed: nothing of it is to be sent any more.
    #[inline]
    fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Where bytes lie.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bytes<'a> {
    Wire(Span),
    Own(&'a [u8]),
}

impl Bytes<'_> {
    #[inline]
    pub const fn len(self) -> u32 {
        match self {
            Self::Wire(slice) => slice.end - slice.start,
            Self::Own(bytes) => bytes.len() as u32,
        }
    }
}

impl Outgoing for Span {
    #[inline]
    fn is_empty(&self) -> bool {
        self.start == self.end
    }
    #[inline]
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Wire(*self)
    }
    #[inline]
    fn took(&mut self, count: u32) {
        self.start += count;
    }
}

#[cfg(test)]
pub(crate) mod tests;
