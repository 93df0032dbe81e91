//! How requests reach a target.
use pippin_engine::Place;
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::websocket::Messages;
use pippin_model::load::{LoadSpec, Protocol, Proxy};
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::load;

/// Where a target listens, and which protocol it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Its addresses; connections are dealt out over them in turn.
    addresses: Vec<SocketAddr>,
    /// The first of them.
    address: SocketAddr,
    /// The unix socket to connect to in their place.
    unix_socket: Option<PathBuf>,
    /// The proxy that leads to it; the addresses are then the proxy's.
    proxy: Option<Proxy>,
    /// How connections are secured; `None` speaks plain TCP.
    pub tls: Option<TlsSpec>,
    /// What is spoken over them.
    pub protocol: Protocol,
    /// The kind of messages, if loads use WebSocket. Other requests then use HTTP/1.1.
    messages: Option<Messages>,
}

impl Way {
    /// HTTP/1.1 over plain TCP.
    #[must_use]
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            addresses: vec![address],
            address,
            unix_socket: None,
            proxy: None,
            tls: None,
            protocol: Protocol::Http1,
            messages: None,
        }
    }

    /// This place with another protocol.
    #[must_use]
    pub fn over(self, tls: Option<TlsSpec>, protocol: Protocol) -> Self {
        Self { tls, protocol, ..self }
    }

    /// This place, whose loads go over WebSocket if there are messages.
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
        let address = *addresses.first()?;
        Some(Self { addresses, ..Self::plain(address).over(tls, protocol) })
    }

    /// This way to another address.
    #[must_use]
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { addresses: vec![address], address, ..self.clone() }
    }

    /// This way behind a unix socket, if there is one. The address is then only a name.
    #[must_use]
    pub fn behind(self, unix_socket: Option<PathBuf>) -> Self {
        Self { unix_socket, ..self }
    }

    /// This way through a proxy, if there is one.
    #[must_use]
    pub fn through(self, proxy: Option<Proxy>) -> Self {
        Self { proxy, ..self }
    }

    /// Whether it is behind a unix socket.
    #[must_use]
    pub const fn is_unix(&self) -> bool {
        self.unix_socket.is_some()
    }

    /// Where to connect.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        match &self.unix_socket {
            Some(path) => path.as_path().into(),
            None => self.address.into(),
        }
    }

    /// What it listens on, in words.
    #[must_use]
    pub fn listens_on(&self) -> String {
        match &self.unix_socket {
            Some(path) => path.display().to_string(),
            None => format!("port {}", self.address.port()),
        }
    }

    /// Its first address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it is HTTP/1.1 over plain TCP, with nobody between.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.is_unix()
            && self.proxy.is_none()
            && self.tls.is_none()
            && self.protocol == Protocol::Http1
    }

    /// Lets a load go this way.
    pub fn aim(&self, load: &mut LoadSpec) {
        load.unix_socket.clone_from(&self.unix_socket);
        load.addresses = if self.is_unix() { Vec::new() } else { self.addresses.clone() };
        load.proxy.clone_from(&self.proxy);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_goes_where_the_target_listens() {
        let address = ([127, 0, 0, 1], 8080).into();
        let by_port = Way::plain(address).base(Vec::new(), 1);
        assert_eq!((by_port.addresses.as_slice(), &by_port.unix_socket), (&[address][..], &None));
        let path = PathBuf::from("/run/app.socket");
        let way = Way::plain(address).behind(Some(path.clone()));
        let by_socket = way.base(Vec::new(), 1);
        assert_eq!((by_socket.addresses.as_slice(), by_socket.unix_socket), (&[][..], Some(path)));
        assert_eq!((way.place().to_string(), way.is_plain()), ("/run/app.socket".into(), false));
    }

    #[test]
    fn messages_go_over_websocket() {
        let way = Way::plain(([127, 0, 0, 1], 8080).into());
        let messages = Messages { binary: true, numbered: true, broadcast: false };
        let load = way.clone().with(Some(messages)).base(Vec::new(), 1);
        assert_eq!((load.protocol, load.messages), (Protocol::WebSocket, Some(messages)));
        let load = way.with(None).base(Vec::new(), 1);
        assert_eq!((load.protocol, load.messages), (Protocol::Http1, None));
    }
}
