//! Histograms of time spans.
use serde::{Deserialize, Serialize};

use crate::result::histogram::Histogram;

/// The time spans of requests and connections (docs/methodology.md). An answer has arrived when the
/// kernel has received its last segment; see [`StampCounts`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spans {
    /// From SYN to SYN-ACK, as the kernel measured it. Otherwise from the call of `connect()` until
    /// the socket was writable. See [`ConnectionCounts::timed_by_kernel`].
    pub connect: Histogram,
    /// The TLS handshake.
    pub tls: Histogram,
    /// WebSocket: from the first byte of the opening handshake to the arrival of the server's
    /// answer.
    #[serde(default, skip_serializing_if = "Histogram::is_empty")]
    pub upgrade: Histogram,
    /// From handing the first byte of the request to the kernel to the arrival of the end of the
    /// head.
    pub headers: Histogram,
    /// From there to the arrival of the end of the body; 0 if both arrived together.
    pub body: Histogram,
    /// `done_at - sent_at`. A request that times out is recorded at its timeout.
    pub service_time: Histogram,
    /// `done_at - intended_at`. For users who wait for their answers (closed loops, devices),
    /// without the own lag.
    pub response_time: Histogram,
    /// `sent_at - intended_at`: the generator's own lateness plus the wait for a free connection.
    pub send_lag: Histogram,
    /// The part of the send lag that only the generator causes. It begins when the request is due
    /// *and* a connection is free, and ends when the request is sent. A connection is free as soon
    /// as its last answer has arrived, even if it was not read yet.
    pub own_lag: Histogram,
    /// From the arrival of an answer to the instant at which the generator read it.
    #[serde(default)]
    pub pick_up_lag: Histogram,
}

impl Spans {
    /// Adds all counts of another set.
    pub fn merge(&mut self, other: &Self) {
        let Self {
            connect,
            tls,
            upgrade,
            headers,
            body,
            service_time,
            response_time,
            send_lag,
            own_lag,
            pick_up_lag,
        } = other;
        self.connect.merge(connect);
        self.tls.merge(tls);
        self.upgrade.merge(upgrade);
        self.headers.merge(headers);
        self.body.merge(body);
        self.service_time.merge(service_time);
        self.response_time.merge(response_time);
        self.send_lag.merge(send_lag);
        self.own_lag.merge(own_lag);
        self.pick_up_lag.merge(pick_up_lag);
    }
}
