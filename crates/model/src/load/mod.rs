//! The input of the engine: plain data for files, the command line or the network.
//!
//! | module | what it does |
//! |---|---|
//! | [`credentials`] | a name and a password that servers or proxies ask for |
//! | [`first_words`] | what is said over a WebSocket before its messages |
//! | [`network`] | a network that is simulated between the load and its server |
//! | [`proxy`] | an HTTP proxy between the load and its server |
//! | [`spoken`] | the protocol of a target, as plans and manifests name it |
//! | [`surprises`] | what a server cannot foresee in a load |
//! | [`tls`] | how connections are secured, and what the handshakes agreed on |
//! | [`websocket`] | messages over WebSocket, and what was seen of them |
pub mod credentials;
pub mod first_words;
pub mod network;
pub mod proxy;
mod request_id;
pub mod spoken;
pub mod surprises;
pub mod tls;
pub mod websocket;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

pub use self::credentials::Credentials;
pub use self::first_words::FirstWords;
pub use self::proxy::Proxy;
pub use self::request_id::{IdForm, RequestId};
pub use self::surprises::Surprises;
use crate::load::network::Network;
use crate::load::tls::TlsSpec;
pub use crate::load::websocket::Messages;
pub use crate::request::requests::{Requests, Whole};
pub use crate::request::{BodyCheck, Check, EventForm, Request};
pub use crate::scenario::Scenario;
pub use crate::schedule::{Arrivals, Schedule, Stage};
use crate::text::units::{UnitError, parse_duration_ns};

/// One load: addresses x requests x schedule x stop rule, on given cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Where to connect. Connections use them in turn. Empty with a unix socket.
    pub addresses: Vec<SocketAddr>,
    /// The unix socket to connect to instead (unix(7)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<PathBuf>,
    /// The PROXY header at the start of each connection; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_header: Option<ProxyHeader>,
    /// The proxy that requests go through; `None` for none. The addresses are then the proxy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// The network that is simulated in between; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Who asks, where the server asks for it by digests (RFC 7616); `None` says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Credentials>,
    /// How connections are secured; `None` is plain TCP.
    pub tls: Option<TlsSpec>,
    /// The protocol.
    pub protocol: Protocol,
    /// The messages over WebSocket; `None` over other protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// What is said over each WebSocket before its messages; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_words: Option<FirstWords>,
    /// Local addresses to connect from, in turn; if empty, the kernel chooses. One address has
    /// about 28,000 ports towards one destination (`ip_local_port_range`), so many connections need
    /// many addresses.
    pub source_addresses: Vec<IpAddr>,
    /// The requests, sent in turn over the whole load.
    pub requests: Requests,
    /// Makes each request a step of a user, who goes through them in order with its own values.
    /// `None` sends the requests as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// What comes at places that a server cannot foresee; `None` sends and checks all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surprises: Option<Surprises>,
    /// When requests are due.
    pub schedule: Schedule,
    /// The number of connections and their use. For devices, the number of devices counts instead.
    pub connections: Connections,
    /// When the measured part ends. Devices end with their ramp instead.
    pub stop: StopRule,
    /// What to leave out at the start.
    pub warm_up: WarmUp,
    /// Limits in time.
    pub timeouts: Timeouts,
    /// Limits in size.
    pub limits: Limits,
    /// The number of threads. Each has its own connections and event loop.
    pub threads: u32,
    /// Processors for the threads, in turn; if empty, the scheduler chooses.
    pub cores: Vec<u32>,
    /// The event loop.
    pub io: IoChoice,
    /// Open loop: how long before a deadline a thread stops sleeping and polls, in nanoseconds;
    /// `None` is the engine's default.
    pub spin_ns: Option<u64>,
    /// Whether the result has a table of the paths, if the requests have more than one.
    #[serde(default)]
    pub by_request: bool,
    /// How many redirections a user follows after each step of its scenario; 0 follows none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub follow: u32,
    /// What each request is called, so that the server's log can show it; `None` sends no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// How many of the slowest requests the result names.
    #[serde(default)]
    pub slowest: u32,
    /// How many requests of the measured part the result has one by one; 0 keeps none. If more are
    /// sent, a random sample of them is kept.
    #[serde(default, skip_serializing_if = "is_none")]
    pub samples: u32,
    /// The seed of arrivals, think times and staggering.
    pub seed: u64,
    /// Which part of the load this is. Everything else describes the whole load, except `threads`
    /// and `cores`, which are those of this part.
    pub slice: Part,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// One user on one connection and one thread, without requests or addresses. Loads are made from
/// this by replacing fields.
impl Default for LoadSpec {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            unix_socket: None,
            proxy_header: None,
            proxy: None,
            network: None,
            digest: None,
            tls: None,
            protocol: Protocol::Http1,
            messages: None,
            first_words: None,
            source_addresses: Vec::new(),
            requests: Requests::default(),
            scenario: None,
            surprises: None,
            schedule: Schedule::Closed { think: None },
            connections: Connections::kept(1),
            stop: StopRule::default(),
            warm_up: WarmUp::None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            threads: 1,
            cores: Vec::new(),
            io: IoChoice::Auto,
            spin_ns: None,
            by_request: false,
            follow: 0,
            slowest: 0,
            samples: 0,
            request_id: None,
            seed: 1,
            slice: Part::WHOLE,
        }
    }
}

impl LoadSpec {
    /// Whether one connection sends and every connection must get each message.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.messages.is_some_and(|messages| messages.broadcast)
    }

    /// Whether any request has a part that is drawn for each sending.
    #[must_use]
    pub fn draws(&self) -> bool {
        self.requests.iter().any(|request| request.drawn.is_some())
    }

    /// Whether any request has a body that is made while it is sent.
    #[must_use]
    pub fn uploads(&self) -> bool {
        self.requests.iter().any(|request| request.upload.is_some())
    }

    /// How many requests at the end of the list are sent only as surprises.
    #[must_use]
    pub fn others(&self) -> u32 {
        self.surprises.as_ref().map_or(0, |surprises| surprises.others)
    }

    /// The turns of one cycle, without the requests that are sent only as surprises.
    #[must_use]
    pub fn usual_turns(&self) -> u64 {
        (self.requests.turn_count() as u64).saturating_sub(u64::from(self.others()))
    }

    /// The form for records: long lists become samples, and credentials are left out.
    #[must_use]
    pub fn for_record(&self) -> Self {
        let requests = self.requests.for_record();
        let scenario = self.scenario.as_ref().map(Scenario::for_record);
        Self { requests, scenario, ..self.clone() }
    }

    /// The number of requests and the digest of them and of the scenario.
    #[must_use]
    pub fn known_requests(&self) -> Whole {
        let mut known = self.requests.known();
        if self.digest.is_some() {
            // A field that no list of requests has.
            let digest = Sha256::digest(format!("{} by digest", known.digest));
            known.digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        }
        match &self.scenario {
            None => known,
            // To follow redirections is to ask more.
            Some(scenario) if self.follow > 0 => {
                let asked = format!("{} follow {}", known.digest, self.follow);
                Whole { digest: scenario.digest(&asked), ..known }
            }
            Some(scenario) => Whole { digest: scenario.digest(&known.digest), ..known },
        }
    }
}

/// A part of a load. Several generators, each with another part, apply the whole load together.
///
/// The arrivals, devices, connections and counted requests of a load are distributed in turn to
/// `of` units, in a fixed order that puts neighbours far apart. This part has `width` units, from
/// the `nth` on. Parts that cover the units `0..of` exactly once are the whole load, whatever the
/// number of threads of each. With Poisson arrivals each thread draws its own process; together
/// they have the whole rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its first unit, from 0.
    pub nth: u32,
    /// The number of its units.
    pub width: u32,
    /// The number of units of the whole load.
    pub of: u32,
}

impl Part {
    /// The only part of a load.
    pub const WHOLE: Self = Self { nth: 0, width: 1, of: 1 };

    /// The positions of this part's items among each `of` items of the whole load, ascending. Item
    /// `n` belongs to the unit `n s mod of`, where `s` is coprime to `of` and near its golden
    /// section. So the items of each part are spread evenly among the others (three-distance
    /// theorem).
    #[must_use]
    pub fn places(&self) -> Vec<u32> {
        let of = u64::from(self.of.max(1));
        let step = scatter(of);
        let own = u64::from(self.nth)..u64::from(self.nth) + u64::from(self.width);
        (0..of).filter(|n| own.contains(&(n * step % of))).map(|n| n as u32).collect()
    }

    /// How many of `total` items belong to this part. It counts no places, so that the time does
    /// not depend on the numbers, which may be those of a load that nobody has checked.
    #[must_use]
    pub fn share(&self, total: u64) -> u64 {
        let of = u64::from(self.of.max(1));
        let first = u64::from(self.nth).min(of);
        let end = (u64::from(self.nth) + u64::from(self.width)).min(of);
        let (rows, rest, step) = (total / of, total % of, scatter(of));
        // How many of the first `rest` items have a unit of at least `unit`, but for a sum that is
        // the same for every unit: floor((n s + of - unit) / of) is one more for those.
        let at_least = |unit: u64| sum_of_floors(rest, step, of - unit, of);
        rows * (end - first) + (at_least(first) - at_least(end)) as u64
    }
}

/// The sum of floor((step n + offset) / of) over the `count` numbers n from 0: the points of whole
/// numbers below a line. Seen from the other axis, the points beside it are those below a flatter
/// line, so that Euclid's algorithm for `step` and `of` says how many turns it takes.
fn sum_of_floors(count: u64, step: u64, offset: u64, of: u64) -> u128 {
    let [mut count, mut step, mut offset, mut of] = [count, step, offset, of].map(u128::from);
    let mut sum = 0;
    while count > 0 {
        sum += count * (count - 1) / 2 * (step / of) + count * (offset / of);
        (step, offset) = (step % of, offset % of);
        let last = step * count + offset;
        (count, offset) = (last / of, last % of);
        (step, of) = (of, step);
    }
    sum
}

/// How many of `total` items are at these positions of each `of`.
#[must_use]
pub fn share_of(places: &[u32], of: u32, total: u64) -> u64 {
    // A part of nothing has no places beyond those of a whole load.
    let of = u64::from(of.max(1));
    let (rows, rest) = (total / of, total % of);
    rows * places.len() as u64 + places.partition_point(|place| u64::from(*place) < rest) as u64
}

/// A number that is coprime to `of`, near `of` times 0.618.
fn scatter(of: u64) -> u64 {
    let golden = (of as f64 * 0.618_033_988_749_895) as u64;
    (golden.max(1)..of).find(|step| greatest_common_divisor(*step, of) == 1).unwrap_or(1)
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl Default for Part {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// The header of HAProxy's PROXY protocol. With it, a load balancer tells a server whose connection
/// it forwards (haproxy.org, proxy-protocol.txt). It has the addresses of the connection itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProxyHeader {
    /// A line of text (section 2.1).
    V1,
    /// Binary (section 2.2).
    V2,
}

/// The protocol of a load's connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2 (RFC 9113): over TLS by ALPN (`h2`), otherwise with prior knowledge (`h2c`).
    #[serde(rename = "h2")]
    Http2,
    /// HTTP/3 (RFC 9114) over QUIC (RFC 9000), which has TLS in it.
    #[serde(rename = "h3")]
    Http3,
    /// WebSocket over HTTP/1.1 (RFC 6455). A message is a request, and the next message is its
    /// answer. For a broadcast, the answer is its copies on all connections.
    #[serde(rename = "websocket")]
    WebSocket,
}

impl Protocol {
    /// Its usual name: `HTTP/1.1`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::Http3 => "HTTP/3",
            Self::WebSocket => "WebSocket",
        }
    }
}

/// How connections are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// The number of connections.
    pub count: u32,
    /// Requests before a connection is closed and replaced; `None` keeps it, `Some(1)` is one
    /// connection for each request. HTTP/1.1 then sends `Connection: close`, as ab does.
    pub requests_per_connection: Option<u32>,
    /// How many requests may be under way on one connection (HTTP pipelining); usually 1.
    pub pipeline: u32,
    /// How many users share a connection, each with its own stream for each request; 1 unless the
    /// protocol is HTTP/2 or HTTP/3.
    pub streams: u32,
}

impl Connections {
    /// What messages call several requests on a connection at a time.
    pub const PIPELINING: &str = "HTTP pipelining";
    /// What messages call several users of a connection.
    pub const STREAMS: &str = "more than one stream a connection";

    /// Connections that live as long as the server allows, with one request under way on each.
    #[must_use]
    pub const fn kept(count: u32) -> Self {
        Self { count, requests_per_connection: None, pipeline: 1, streams: 1 }
    }

    /// These users over another protocol, and the factor by which the connections were
    /// multiplied for it. Without HTTP/2, each user of a shared connection gets its own connection.
    #[must_use]
    pub const fn over(&self, protocol: Protocol) -> (Self, u32) {
        match protocol {
            Protocol::Http1 | Protocol::WebSocket if self.streams > 1 => {
                let count = self.count.saturating_mul(self.streams);
                (Self { count, streams: 1, ..*self }, self.streams)
            }
            Protocol::Http1 | Protocol::Http2 | Protocol::Http3 | Protocol::WebSocket => (*self, 1),
        }
    }

    /// How many requests may be under way at the same time, over all connections.
    #[must_use]
    pub fn most_under_way(&self) -> u64 {
        let on_each = u64::from(self.pipeline.max(1)) * u64::from(self.streams.max(1));
        u64::from(self.count).saturating_mul(on_each)
    }

    /// Whether a connection serves more than one request.
    #[must_use]
    pub const fn keep_alive(&self) -> bool {
        !matches!(self.requests_per_connection, Some(1))
    }
}

/// When the measured part of a load ends: at the first of these limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRule {
    /// A time in nanoseconds after the start of measuring.
    pub duration_ns: Option<u64>,
    /// A number of scheduled requests.
    pub requests: Option<u64>,
}

impl StopRule {
    /// After a time, in nanoseconds.
    #[must_use]
    pub const fn after(duration_ns: u64) -> Self {
        Self { duration_ns: Some(duration_ns), requests: None }
    }

    /// After a number of requests.
    #[must_use]
    pub const fn requests(count: u64) -> Self {
        Self { duration_ns: None, requests: Some(count) }
    }
}

/// What to leave out at the start of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// Nothing. ab does the same. Required if requests are counted.
    None,
    /// This many nanoseconds.
    Fixed {
        /// Length in nanoseconds.
        duration_ns: u64,
    },
    /// Until the target is steady, at most this long. Where its processes can be seen, steady means
    /// that throughput and processor time per request are flat and its compiler rests; elsewhere that
    /// throughput is flat.
    Auto {
        /// The longest time in nanoseconds.
        at_most_ns: u64,
    },
}

impl WarmUp {
    /// Until the target is steady, at most 60 s.
    pub const AUTO: Self = Self::Auto { at_most_ns: 60_000_000_000 };
    /// Until the target is steady, at most 30 s: somebody waits for a single load.
    pub const AUTO_OF_A_LOAD: Self = Self::Auto { at_most_ns: 30_000_000_000 };

    /// Reads `auto`, `none` or a time.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        match text {
            "auto" => Ok(Self::AUTO),
            "none" => Ok(Self::None),
            time => parse_duration_ns(time).map(|duration_ns| Self::Fixed { duration_ns }),
        }
    }

    /// How long it usually takes, in nanoseconds: most targets are steady within 5 s.
    #[must_use]
    pub fn usual_ns(&self) -> u64 {
        match *self {
            Self::Auto { at_most_ns } => at_most_ns.min(5_000_000_000),
            fixed => fixed.at_most_ns(),
        }
    }

    /// The longest it may take, in nanoseconds.
    #[must_use]
    pub const fn at_most_ns(&self) -> u64 {
        match *self {
            Self::None => 0,
            Self::Fixed { duration_ns } => duration_ns,
            Self::Auto { at_most_ns } => at_most_ns,
        }
    }
}

/// Time limits, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// For `connect()` and the TLS handshake together.
    pub connect_ns: u64,
    /// From the first byte sent to the last byte of the answer.
    pub request_ns: u64,
    /// Open loop: how long a due request waits for a free connection before it is given up, unsent.
    /// `None` waits as long as the load lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ns: Option<u64>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ns: 10_000_000_000, request_ns: 30_000_000_000, patience_ns: None }
    }
}

/// Size limits, in bytes. A larger answer is an error of the kind "too large".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Of status line and headers.
    pub head_bytes: u32,
    /// Of the body.
    pub body_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head_bytes: 300 * 1024, body_bytes: 1 << 30 }
    }
}

/// The event loop to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoChoice {
    /// io_uring if the kernel allows it, otherwise epoll.
    #[default]
    Auto,
    /// epoll(7), edge-triggered.
    Epoll,
    /// io_uring(7).
    IoUring,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_number_of_users_overflows() {
        let kept = Connections::kept(u32::MAX);
        let most = Connections { pipeline: u32::MAX, streams: u32::MAX, ..kept };
        assert_eq!(most.most_under_way(), u64::MAX);
        assert_eq!(Connections::kept(7).most_under_way(), 7);
    }

    proptest! {
        /// A share is the number of a part's places, also of parts that reach beyond the whole.
        #[test]
        fn a_share_is_the_number_of_its_places(
            (nth, width, of) in (0..2_000_u32, 0..2_000_u32, 0..2_000_u32),
            total in prop_oneof![0..5_000_u64, 0..u64::from(u32::MAX)],
        ) {
            let part = Part { nth, width, of };
            prop_assert_eq!(part.share(total), share_of(&part.places(), of, total));
        }

        /// The shares of two parts that meet add up, however large the numbers are.
        #[test]
        fn shares_add_up(of in 1..u32::MAX, cut in any::<u32>(), total in any::<u32>()) {
            let (cut, total) = (cut % of, u64::from(total));
            let first = Part { nth: 0, width: cut, of };
            let second = Part { nth: cut, width: of - cut, of };
            prop_assert_eq!(first.share(total) + second.share(total), total);
        }
    }
}
