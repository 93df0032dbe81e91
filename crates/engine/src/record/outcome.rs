//! What a thread hands in when it ends.
use std::collections::BTreeMap;

use pippin_model::load::tls::TlsUse;
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::result::QuicUse;

use crate::error::EngineError;
use crate::record::tally::Tally;

/// What a thread has measured.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Which of the threads it was.
    pub thread: u32,
    pub stretches: Vec<Tally>,
    /// At the start of each stretch, and at the end of the last one that began.
    pub marks: Vec<Mark>,
    /// Why no tunnel was opened, with the number of times.
    pub without_tunnel: BTreeMap<String, u64>,
    /// `None` in a load without TLS.
    pub tls: Option<TlsUse>,
    /// `None` in a load without WebSockets.
    pub websocket: Option<WebSocketUse>,
    /// `None` over other protocols than HTTP/3.
    pub quic: Option<QuicUse>,
    /// Why the thread ended before the load did.
    pub failure: Option<EngineError>,
}

/// What the thread had cost up to an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub cpu_ns: u64,
    pub spin_ns: u64,
    pub syscalls: u64,
    pub clock_steps: u64,
}
