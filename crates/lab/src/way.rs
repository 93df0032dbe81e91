//! How requests reach a target.
use pippin_model::load_spec::{LoadSpec, Protocol};
use pippin_model::tls::TlsSpec;
use pippin_model::websocket::Messages;
use std::net::SocketAddr;

use crate::load;

/// Where a target is, and what is spoken with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Its addresses; connections are dealt out over them in turn.
    addresses: Vec<SocketAddr>,
    /// The first of them.
    address: SocketAddr,
    /// How connections are secured; `None` speaks plain TCP.
    pub tls: Option<TlsSpec>,
    /// What is spoken over them.
    pub protocol: Protocol,
    /// What messages are like, where loads go over WebSocket. Other requests go over HTTP/1.1 then.
    messages: Option<Messages>,
}

impl Way {
    /// HTTP/1.1 over plain TCP.
    #[must_use]
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            addresses: vec![address],
            address,
            tls: None,
            protocol: Protocol::Http1,
            messages: None,
        }
    }

    /// The same place, spoken with in another way.
    #[must_use]
    pub fn over(self, tls: Option<TlsSpec>, protocol: Protocol) -> Self {
        Self { tls, protocol, ..self }
    }

    /// The same place, whose loads go over WebSocket if there are messages.
    #[must_use]
    pub fn with(self, messages: Option<Messages>) -> Self {
        let protocol = if messages.is_some() { Protocol::WebSocket } else { self.protocol };
        Self { protocol, messages, ..self }
    }

    /// To one of several addresses of the same server; `None` if there is none.
    #[must_use]
    pub fn to(
        addresses: Vec<SocketAddr>,
        tls: Option<TlsSpec>,
        protocol: Protocol,
    ) -> Option<Self> {
        Some(Self { address: *addresses.first()?, addresses, tls, protocol, messages: None })
    }

    /// Its first address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it is HTTP/1.1 over plain TCP.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.tls.is_none() && self.protocol == Protocol::Http1
    }

    /// Lets a load go this way.
    pub fn aim(&self, load: &mut LoadSpec) {
        load.addresses.clone_from(&self.addresses);
        load.tls.clone_from(&self.tls);
        load.protocol = self.protocol;
        load.messages = self.messages;
    }

    /// One user on one connection, as [`load::base`].
    #[must_use]
    pub fn base(&self, cores: Vec<u32>, seed: u64) -> LoadSpec {
        let mut load = load::base(self.address, cores, seed);
        self.aim(&mut load);
        load
    }
}
