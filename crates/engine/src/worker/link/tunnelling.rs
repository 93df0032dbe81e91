//! Connections to a proxy that is asked for a tunnel to the server. A load without a proxy, and
//! one whose proxy reads the requests itself, use nothing of this.
use std::collections::{BTreeMap, HashMap};

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::Link;
use crate::io::{Io, Sending};
use crate::protocol::Protocol;
use crate::protocol::http1::tunnel::{self, Answer, CLOSED, EARLY, NoTunnel, RESET};
use crate::transport::Transport;
use crate::worker::seats::{Seating as _, SeatsOf};
use crate::worker::{Core, Stack, Worker};

/// The tunnels of a thread.
#[derive(Default)]
pub(in crate::worker) struct Tunnels {
    /// What asks for one; empty if the load asks for none.
    request: Vec<u8>,
    /// The answers that are under way, by slot.
    answers: HashMap<u32, Answer>,
    /// Why none was opened, with the number of times.
    pub failures: BTreeMap<String, u64>,
}

impl Tunnels {
    pub fn from_spec(spec: &LoadSpec) -> Self {
        let request = spec.proxy.as_ref().and_then(tunnel::request).unwrap_or_default();
        Self { request, ..Self::default() }
    }

    pub const fn are_asked_for(&self) -> bool {
        !self.request.is_empty()
    }
}

impl<S: Stack> Worker<'_, S> {
    /// The connection to the proxy is open.
    pub(in crate::worker) fn ask_for_tunnel(&mut self, slot: u32, now: u64) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        connection.link = Link::Tunnelling;
        connection.free_at = now;
        core.tunnels.answers.insert(slot, Answer::default());
        // A new connection has room for it.
        let sending = self.io.send(slot, &core.tunnels.request);
        core.recorder.bytes_out(core.tunnels.request.len() as u32);
        if sending != Sending::Done {
            self.no_tunnel(slot, RESET.into(), now);
        }
    }

    /// Bytes of the proxy arrived.
    pub(in crate::worker) fn received_of_proxy(&mut self, slot: u32, now: u64) {
        let input = self.io.received();
        let core = &mut self.core;
        core.recorder.bytes_in(input.len());
        let most = core.spec.limits.head_bytes as usize;
        match core.tunnels.answers.entry(slot).or_default().read(input, most) {
            Ok(false) => {}
            Ok(true) => self.tunnelled(slot, now),
            Err(why) => self.no_tunnel(slot, why, now),
        }
    }

    /// From here on the connection leads to the server.
    fn tunnelled(&mut self, slot: u32, now: u64) {
        let core = &mut self.core;
        let connection = &mut core.connections[slot as usize];
        let waits_for_client =
            S::Transport::SECURES || S::Protocol::GREETS || !SeatsOf::<S>::IS_SHARED;
        let answer = core.tunnels.answers.get(&slot);
        if waits_for_client && answer.is_some_and(|answer| !answer.present().is_empty()) {
            return self.no_tunnel(slot, EARLY.into(), now);
        }
        let took_ns = core.arrived.saturating_sub(connection.free_at);
        core.recorder.tunnelled(took_ns, !connection.was_opened);
        connection.owed_ns += core.stops.within(connection.free_at, now);
        connection.free_at = now;
        let answer = core.tunnels.answers.remove(&slot).unwrap_or_default();
        self.leads_to_server(slot, now);
        // A server of HTTP/2 need not wait for its client (RFC 9113 section 3.4).
        if !answer.present().is_empty() && self.core.is_up(slot) {
            let reading = SeatsOf::<S>::read(&mut self.core, slot, answer.present(), now);
            SeatsOf::<S>::has_read(self, slot, reading, now);
        }
    }

    /// For the load, this is a connection that could not be opened.
    pub(in crate::worker) fn no_tunnel(&mut self, slot: u32, why: NoTunnel, now: u64) {
        self.io.close(slot);
        let core = &mut self.core;
        let answer = core.tunnels.answers.remove(&slot).unwrap_or_default();
        *core.tunnels.failures.entry(why.to_string()).or_default() += 1;
        core.blame.take(why.why, answer.present());
        self.connect_failed(slot, ErrorKind::Proxy, now);
    }

    /// The proxy ended the connection before its answer did.
    pub(in crate::worker) fn closed_by_proxy(&mut self, slot: u32, errno: Option<i32>, now: u64) {
        let why = if errno.is_none() { CLOSED } else { RESET };
        self.no_tunnel(slot, why.into(), now);
    }
}

impl<S: Stack> Core<'_, S> {
    /// Whether a proxy was asked for a tunnel and has not answered.
    #[inline]
    pub(in crate::worker) fn is_tunnelling(&self, slot: u32) -> bool {
        S::TUNNELS && self.connections[slot as usize].link == Link::Tunnelling
    }
}
