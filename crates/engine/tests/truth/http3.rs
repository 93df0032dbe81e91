//! HTTP/3: every figure has its right value over QUIC.
//!
//! | module | what it has |
//! |---|---|
//! | [`library`] | a server by other hands than ours (the crates `h3` and `quinn`) |
//! | [`raw`] | a server that sends whatever bytes it is told to, over `quinn` |
//! | [`answers`] | loads against right answers |
//! | [`breaches`] | servers that break the rules, or go away |
//! | [`client`] | the blocking client, with which proofs ask |
//! | [`networks`] | what networks do to datagrams, and what servers of QUIC may do |
//! | [`relay`] | a network that does so |
//! | [`serving`] | how servers of QUIC are run |
mod answers;
mod breaches;
mod client;
mod library;
mod networks;
mod raw;
mod relay;
mod serving;

use pippin_model::load::{Connections, LoadSpec, Protocol};
use pippin_testing::tls::Authority;

use crate::support::trusting;

/// This load over HTTP/3, with this number of streams on each connection.
fn streams(spec: LoadSpec, streams: u32, authority: &Authority) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::Http3,
        tls: Some(trusting(authority)),
        connections: Connections { streams, ..spec.connections },
        ..spec
    }
}
