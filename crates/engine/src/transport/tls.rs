//! TLS over TCP: passes the bytes of a connection through its [`Session`].
use pippin_model::load::tls::TlsUse;

use super::{Broken, Handshake, Received, Transport};
use crate::io::{Io, Sending};
use crate::protocol::Bytes;
use crate::request::wire::Wire;
use crate::shared::Shared;
use crate::tls::{Client, Session, config, reason};

/// How much of a large request is encrypted before the kernel has taken what came before.
const PORTION_BYTES: usize = 64 * 1024;

/// What a thread needs for TLS.
pub(crate) struct Tls {
    /// `None` only in a load without TLS, which does not use this transport.
    client: Option<Client>,
    /// The plaintext of the bytes that arrived last.
    plaintext: Vec<u8>,
    /// Bytes of ciphertext sent since [`Transport::take_sent`].
    sent: u32,
    seen: TlsUse,
}

/// A connection's session; empty before its handshake and after its end.
pub(crate) type State = Option<Box<Session>>;

impl Transport for Tls {
    type State = State;
    const SECURES: bool = true;

    fn new(shared: &Shared) -> Self {
        let seen = shared.spec.tls.as_ref().map(config::nothing_yet).unwrap_or_default();
        Self { client: shared.tls.clone(), plaintext: Vec::new(), sent: 0, seen }
    }

    fn begin<I: Io>(&mut self, io: &mut I, state: &mut State, slot: u32) -> Handshake {
        let Some(client) = &self.client else {
            return Handshake::Failed("TLS is not set up".into());
        };
        match Session::new(client) {
            Ok(session) => {
                *state = Some(Box::new(session));
                self.step(io, state, slot)
            }
            Err(error) => Handshake::Failed(reason::in_words(&error)),
        }
    }

    fn receive<I: Io>(&mut self, io: &mut I, state: &mut State) -> Received {
        let input = io.received_mut();
        let bytes = input.len();
        self.plaintext.clear();
        let Some(session) = state else {
            return Received { bytes, handshake: Handshake::UnderWay, broken: None };
        };
        let was_secured = session.is_secured();
        let result = session.receive(input, &mut self.plaintext);
        let handshake = match &result {
            _ if session.is_secured() => {
                let objection = if was_secured { None } else { self.secured(session) };
                objection.map_or(Handshake::Done, Handshake::Failed)
            }
            Ok(()) if session.is_closed_by_peer() => {
                Handshake::Failed(reason::CLOSED_IN_HANDSHAKE.into())
            }
            Ok(()) => Handshake::UnderWay,
            Err(error) => Handshake::Failed(reason::in_words(error)),
        };
        let broken = result.err().map(|error| Broken {
            why: reason::in_words(&error),
            is_close: matches!(error, rustls::Error::AlertReceived(_)),
        });
        Received { bytes, handshake, broken }
    }

    fn input<'a, I: Io>(&'a self, _: &'a I) -> &'a [u8] {
        &self.plaintext
    }

    fn send<I: Io>(
        &mut self,
        io: &mut I,
        state: &mut State,
        slot: u32,
        bytes: Bytes<'_>,
        wire: &Wire,
    ) -> Sending {
        let bytes = match bytes {
            Bytes::Wire(slice) => wire.bytes(slice),
            Bytes::Own(bytes) => bytes,
        };
        let mut at = 0;
        while at < bytes.len() {
            let Some(session) = state.as_mut().filter(|session| !session.is_blocked) else { break };
            let end = (at + PORTION_BYTES).min(bytes.len());
            if session.seal(&bytes[at..end]).is_err() {
                return Sending::Failed(libc::EPROTO);
            }
            at = end;
            match self.flush(io, state, slot) {
                Sending::Done => {}
                Sending::Blocked(_) => break,
                failed @ Sending::Failed(_) => return failed,
            }
        }
        if at == bytes.len() && !is_blocked(state) {
            Sending::Done
        } else {
            Sending::Blocked(at as u32)
        }
    }

    fn flush<I: Io>(&mut self, io: &mut I, state: &mut State, slot: u32) -> Sending {
        let Some(session) = state else { return Sending::Done };
        if session.is_blocked {
            return Sending::Blocked(0);
        }
        let outgoing = session.outgoing();
        if outgoing.is_empty() {
            return Sending::Done;
        }
        let sending = io.send(slot, outgoing);
        let taken = match sending {
            Sending::Done => outgoing.len() as u32,
            Sending::Blocked(taken) => taken,
            Sending::Failed(_) => 0,
        };
        session.is_blocked = matches!(sending, Sending::Blocked(_));
        session.took(taken as usize);
        self.sent += taken;
        sending
    }

    fn unblock(state: &mut State) {
        if let Some(session) = state {
            session.is_blocked = false;
        }
    }

    fn leave<I: Io>(&mut self, io: &mut I, state: &mut State, slot: u32) {
        if let Some(session) = state {
            session.say_goodbye();
            self.flush(io, state, slot);
        }
        *state = None;
    }

    fn is_closed_by_peer(state: &State) -> bool {
        state.as_ref().is_some_and(|session| session.is_closed_by_peer())
    }

    fn end_is_authentic(state: &State) -> bool {
        Self::is_closed_by_peer(state)
    }

    fn note_failure(&mut self, why: &str) {
        self.seen.fail(why);
    }

    fn take_sent(&mut self) -> u32 {
        std::mem::take(&mut self.sent)
    }

    fn into_seen(self) -> Option<TlsUse> {
        Some(self.seen)
    }
}

impl Tls {
    /// The handshake is done: why the load cannot go over this connection, if it cannot.
    fn secured(&mut self, session: &Session) -> Option<String> {
        let negotiated = session.negotiated();
        let objection = self.client.as_ref().and_then(|client| client.objection(&negotiated));
        if objection.is_none() {
            self.seen.add(&negotiated);
        }
        objection
    }

    /// Sends what the handshake wants to send.
    fn step<I: Io>(&mut self, io: &mut I, state: &mut State, slot: u32) -> Handshake {
        match self.flush(io, state, slot) {
            Sending::Failed(_) => Handshake::Failed(reason::RESET_IN_HANDSHAKE.into()),
            _ => Handshake::UnderWay,
        }
    }
}

fn is_blocked(state: &State) -> bool {
    state.as_ref().is_some_and(|session| session.is_blocked)
}
