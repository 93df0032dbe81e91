//! HTTP/2: every figure has its right value with many streams on a connection, and a hostile server
//! gets no further than one error.
//!
//! | module | against what |
//! |---|---|
//! | [`server`] | a server whose frames are written by hand |
//! | [`library`] | a server by other hands than ours (the crate `h2`) |
//! | [`answers`] | loads against right answers: counts and times |
//! | [`refusals`] | streams that are refused, reset or late |
//! | [`hostile`] | servers that break the rules |
//! | [`agreeing`] | whether the server speaks HTTP/2 at all |
mod agreeing;
mod answers;
mod hostile;
mod library;
mod refusals;
mod server;

use pippin_model::load_spec::{Connections, LoadSpec, Protocol};

/// The same load over HTTP/2, with so many streams a connection.
fn streams(spec: LoadSpec, streams: u32) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::Http2,
        connections: Connections { streams, ..spec.connections },
        ..spec
    }
}
