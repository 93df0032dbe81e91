//! HTTP/2: every figure has its right value with many streams on a connection.
//!
//! | module | what it has |
//! |---|---|
//! | [`library`] | a server by other hands than ours (the crate `h2`) |
//! | [`answers`] | loads against right answers |
//! | [`going_on`] | sessions that break, and requests that nobody reads |
//! | [`agreeing`] | whether the server speaks HTTP/2 at all |
//!
//! Counts and times of streams that wait, are refused, reset or left out are tested in virtual time
//! (`worker/sim/http2`).
//!
//! Servers whose frames are written by hand are in `pippin_testing::frames`.
mod agreeing;
mod answers;
mod going_on;
mod library;

use pippin_model::load::{Connections, LoadSpec, Protocol};

/// REFUSED_STREAM, the payload of RST_STREAM (RFC 9113 section 7).
const REFUSED: [u8; 4] = [0, 0, 0, 7];
/// SETTINGS_MAX_CONCURRENT_STREAMS, 0: the payload of SETTINGS.
const NO_STREAMS: &[u8] = &[0, 3, 0, 0, 0, 0];

/// This load over HTTP/2, with this number of streams on each connection.
pub fn streams(spec: LoadSpec, streams: u32) -> LoadSpec {
    LoadSpec {
        protocol: Protocol::Http2,
        connections: Connections { streams, ..spec.connections },
        ..spec
    }
}
