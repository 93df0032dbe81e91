//! Sessions of one server that later connections may resume, for all threads of a load.
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// The most tickets to keep. rustls' own store keeps 8 for a server, so of a thousand connections
/// that start together only 8 could resume.
const MOST: usize = 100_000;

/// The store. A load has one server name, so the methods ignore it.
#[derive(Debug, Default)]
pub(super) struct Tickets(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    group: Option<NamedGroup>,
    /// TLS 1.2: one session serves any number of connections.
    session: Option<Tls12ClientSessionValue>,
    /// TLS 1.3: each ticket is used once (RFC 8446 appendix C.4).
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    fn kept(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _server_name: ServerName<'static>, group: NamedGroup) {
        self.kept().group = Some(group);
    }

    fn kx_hint(&self, _server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().group
    }

    fn set_tls12_session(&self, _server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.kept().session = Some(value);
    }

    fn tls12_session(&self, _server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().session.clone()
    }

    fn remove_tls12_session(&self, _server_name: &ServerName<'static>) {
        self.kept().session = None;
    }

    fn insert_tls13_ticket(
        &self,
        _server_name: ServerName<'static>,
        value: Tls13ClientSessionValue,
    ) {
        let mut kept = self.kept();
        if kept.tickets.len() == MOST {
            kept.tickets.pop_front();
        }
        kept.tickets.push_back(value);
    }

    fn take_tls13_ticket(
        &self,
        _server_name: &ServerName<'static>,
    ) -> Option<Tls13ClientSessionValue> {
        // The newest: the others may have expired.
        self.kept().tickets.pop_back()
    }
}
