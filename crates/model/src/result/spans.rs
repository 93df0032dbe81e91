//! The register of time spans, and their histograms. A new span is one entry here and the place in
//! the engine that records it.
use serde::{Deserialize, Serialize};

use crate::result::histogram::{Histogram, Summary};

/// Makes everything that has a place for each span from one list: the names with what they mean,
/// the histograms and their summaries.
macro_rules! spans {
    ($($(#[doc = $help:literal])+ $field:ident, $span:ident;)+) => {
        /// A time span of requests or connections (docs/methodology.md).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Span {
            $($(#[doc = $help])+ $span,)+
        }

        impl Span {
            /// All spans, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$span,)+];

            /// The name in JSON, CSV and gates: `response_time`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$span => stringify!($field),)+ }
            }

            /// What it is, in one or two sentences.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$span => concat!($($help),+).trim_ascii(),)+ }
            }

            /// Its histogram.
            #[must_use]
            pub const fn histogram(self, spans: &Spans) -> &Histogram {
                match self { $(Self::$span => &spans.$field,)+ }
            }

            /// Its summary.
            #[must_use]
            pub const fn summary(self, spans: &SpanSummaries) -> &Summary {
                match self { $(Self::$span => &spans.$field,)+ }
            }
        }

        /// The histograms of all time spans. An answer has arrived when the kernel has received its
        /// last segment; see [`StampCounts`](super::StampCounts). Empty ones are absent in JSON.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Spans {
            $($(#[doc = $help])+
            #[serde(skip_serializing_if = "Histogram::is_empty")]
            pub $field: Histogram,)+
        }

        impl Spans {
            /// Adds all counts of another set.
            pub fn merge(&mut self, other: &Self) {
                $(self.$field.merge(&other.$field);)+
            }

            /// Allocates the memory of all spans; see [`Histogram::reserve`].
            pub fn reserve(&mut self) {
                $(self.$field.reserve();)+
            }

            /// The summaries of all spans.
            #[must_use]
            pub fn summaries(&self) -> SpanSummaries {
                SpanSummaries { $($field: self.$field.summary(),)+ }
            }
        }

        /// The summaries of all time spans. One that a record from before it does not have is empty.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct SpanSummaries {
            $($(#[doc = $help])+ pub $field: Summary,)+
        }
    };
}

spans! {
    /// The TCP handshake: from SYN to SYN-ACK as the kernel measured it, otherwise from the call of
    /// `connect()` until the socket was writable.
    connect, Connect;
    /// Through a proxy: from the first byte of the request for a tunnel (CONNECT) to the arrival of
    /// the proxy's answer.
    tunnel, Tunnel;
    /// The TLS handshake.
    tls, Tls;
    /// WebSocket: from the first byte of the opening handshake to the arrival of the server's
    /// answer.
    upgrade, Upgrade;
    /// From handing the first byte of the request to the kernel to the arrival of the end of the
    /// head.
    headers, Headers;
    /// From the end of the head to the arrival of the end of the body; 0 if both arrived together.
    body, Body;
    /// From handing the first byte of a request to the kernel to the arrival of the first server-sent event of
    /// its answer.
    first_event, FirstEvent;
    /// Between the arrivals of two server-sent events that follow each other in one answer.
    event_gap, EventGap;
    /// From sending a request to the arrival of its answer. A request that times out is recorded at
    /// its timeout.
    service_time, ServiceTime;
    /// From the instant at which a request was due to the arrival of its answer. For users who wait
    /// for their answers (closed loops, devices), without the own lag.
    response_time, ResponseTime;
    /// The service time of requests that were the first of their batch. A batch is what a thread of
    /// the generator sends between two waits for events. They are in `service_time` too.
    first_in_batch, FirstInBatch;
    /// How late a request was sent: the generator's own lateness plus the wait for a free
    /// connection.
    send_lag, SendLag;
    /// The part of the send lag that only the generator causes. It begins when the request is due
    /// and a connection is free, and ends when the request is sent. A connection is free as soon as
    /// its last answer has arrived, even if it was not read yet.
    own_lag, OwnLag;
    /// From the arrival of an answer to the instant at which the generator read it.
    pick_up_lag, PickUpLag;
    /// Requests that had no answer when the load ended: how long they had been due by then. They are
    /// in no other span.
    open_age, OpenAge;
}
