//! A load beside a capture of its packets, and what must be alike.
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{LoadResult, Measured, StampCounts};

use pippin_testing::wire::capture::Capture;
use pippin_testing::wire::exchanges::{self, Cut, Wire};

use crate::support::run;
use pippin_testing::patience::in_time;

/// By how much a quantile may miss the wire's, beside a tenth of it. A release build on a quiet
/// machine keeps to half of it.
const CLOSE_NS: u64 = 10_000;
/// No answer comes sooner after its request left than 2 us. A histogram rounds down by up to 2 %.
const LEAST_EXCHANGE_NS: u64 = 1_960;
/// The allowance where a connection rests between two requests: then the send call takes longer
/// than its estimate allows for.
const AFTER_A_REST_NS: u64 = 40_000;

/// What is compared, and how close it must be.
pub struct Case {
    what: &'static str,
    most_ns: u64,
    /// Answers are read together, so that times may be too long.
    is_shared: bool,
    /// The server closes behind its answers, so that times are upper bounds.
    is_closing: bool,
    followed: Followed,
}

/// How a capture is put together to requests and answers.
enum Followed {
    /// Streams of TCP, whose directions are cut so.
    Streams(Cut, Cut),
    /// Datagrams of QUIC, which are told by their lengths.
    Datagrams,
}

impl Case {
    /// HTTP in the clear.
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            most_ns: CLOSE_NS,
            is_shared: false,
            is_closing: false,
            followed: Followed::Streams(exchanges::get, exchanges::answer),
        }
    }

    /// Connections rest between requests.
    pub fn rested(self) -> Self {
        Self { most_ns: AFTER_A_REST_NS, ..self }
    }

    /// Many requests are under way on a connection, and answers that are read together have one
    /// arrival (`shared_stamps`).
    pub fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// The server closes behind each answer, and the kernel may join the end of the connection to it
    /// (`end_stamps`).
    pub fn closing(self) -> Self {
        Self { is_closing: true, ..self }
    }

    /// Many requests are sent at once, which io_uring does in batches.
    pub fn in_batches(self, io: IoChoice) -> Self {
        if io == IoChoice::IoUring { self.rested() } else { self }
    }

    /// HTTP in records of TLS 1.2.
    pub fn tls(self) -> Self {
        Self { followed: Followed::Streams(exchanges::record, exchanges::record), ..self }
    }

    /// Messages over WebSocket.
    pub fn websocket(self) -> Self {
        Self { followed: Followed::Streams(exchanges::message, exchanges::message), ..self }
    }

    /// HTTP/2 in the clear.
    pub fn http2(self) -> Self {
        Self { followed: Followed::Streams(exchanges::h2_request, exchanges::h2_answer), ..self }
    }

    /// HTTP/3, in datagrams.
    pub fn http3(self) -> Self {
        Self { followed: Followed::Datagrams, ..self }
    }

    /// Runs the load beside a capture, and compares both.
    pub fn compare(&self, spec: &LoadSpec) {
        let port = spec.addresses[0].port();
        let capture = Capture::start(port).unwrap();
        let result = run(spec);
        let segments = capture.stop().unwrap();
        let wire = match self.followed {
            Followed::Streams(request, answer) => {
                exchanges::follow(&segments, port, request, answer)
            }
            Followed::Datagrams => exchanges::follow_datagrams(&segments, port),
        };
        let wire = wire.unwrap();
        let told = Figures::from_result(&result);
        print(&format!("{} {}", result.io, self.what), &told, &wire);
        assert_eq!(wire.connections, told.connections, "connections");
        assert_eq!(wire.requests, told.requests, "requests");
        assert_eq!(told.good + told.censored, told.requests, "answers");
        let answered = wire.service.len() as u64;
        // Nobody waits for what the end of the load cuts off; the wire may have its answer.
        assert!(
            (told.good..=told.good + told.censored).contains(&answered),
            "{answered} answers on the wire, {} told, {} cut off",
            told.good,
            told.censored
        );
        assert_eq!(told.user_space, 0, "every answer has a stamp");
        if let Followed::Streams(..) = self.followed {
            assert_eq!(told.timed_by_kernel, told.connections);
        }
        assert_close("connect", &told.connect, &wire.connect, CLOSE_NS);
        assert!(!self.is_shared || told.shared > 0, "no answers were read together");
        assert!(!self.is_closing || told.stamps.with_end == told.good, "{:?}", told.stamps);
        told.assert_single_requests(&wire);
        for (what, ours, wire) in
            [("headers", &told.headers, &wire.head), ("service time", &told.service, &wire.service)]
        {
            if self.is_shared || self.is_closing {
                assert_no_shorter(what, ours, wire, self.most_ns);
            } else {
                assert_close(what, ours, wire, self.most_ns);
            }
        }
    }
}

/// What the engine says of the whole load: the capture knows no phases.
#[derive(Default)]
struct Figures {
    requests: u64,
    good: u64,
    censored: u64,
    connections: u64,
    timed_by_kernel: u64,
    user_space: u64,
    shared: u64,
    stamps: StampCounts,
    connect: Histogram,
    headers: Histogram,
    service: Histogram,
}

impl Figures {
    fn from_result(result: &LoadResult) -> Self {
        let mut told = Self::default();
        if result.phases.is_empty() {
            told.add(&result.measured);
        }
        result.phases.iter().for_each(|phase| told.add(&phase.measured));
        told
    }

    fn add(&mut self, measured: &Measured) {
        self.requests += measured.requests.sent;
        self.good += measured.requests.good;
        self.censored += measured.requests.censored;
        self.connections += measured.connections.opened;
        self.timed_by_kernel += measured.connections.timed_by_kernel;
        self.user_space += measured.stamps.user_space;
        self.shared += measured.stamps.shared;
        self.stamps.merge(&measured.stamps);
        self.connect.merge(&measured.spans.connect);
        self.headers.merge(&measured.spans.headers);
        self.service.merge(&measured.spans.service_time);
    }
}

impl Figures {
    /// What holds of each request: no time is shorter than an exchange takes unless it is counted, the
    /// least is not shorter than the wire's by more than the call that sent it, and no request that
    /// the kernel was asked about left before that call.
    fn assert_single_requests(&self, wire: &Wire) {
        let least = self.service.min_ns().unwrap();
        assert!(least >= LEAST_EXCHANGE_NS || self.stamps.impossible > 0, "{least} ns");
        assert_eq!(self.stamps.sampled_outside, 0, "{:?}", self.stamps);
        let of_wire = Wire::quantile(&wire.service, 0.0).unwrap();
        in_time(least + CLOSE_NS >= of_wire, || format!("{least} ns, and {of_wire} on the wire"));
    }
}

/// The median is within a tenth of the wire's, or within `most_ns`.
fn assert_close(what: &str, ours: &Histogram, wire: &[u64], most_ns: u64) {
    // One connection's handshake goes through code that nobody has run for a while.
    if wire.len() < 10 {
        return;
    }
    let (ours, wire) = (ours.quantile_ns(0.5).unwrap(), Wire::quantile(wire, 0.5).unwrap());
    let most = (wire / 10).max(most_ns);
    in_time(ours.abs_diff(wire) <= most, || {
        format!("{what}: {ours} ns, and {wire} ns on the wire")
    });
}

/// The median is at most so much shorter than the wire's.
fn assert_no_shorter(what: &str, ours: &Histogram, wire: &[u64], most_ns: u64) {
    let (ours, wire) = (ours.quantile_ns(0.5).unwrap(), Wire::quantile(wire, 0.5).unwrap());
    in_time(ours + most_ns >= wire, || format!("{what}: {ours} ns, and {wire} ns on the wire"));
}

/// A row for each span: the wire's quantiles, and ours.
fn print(what: &str, told: &Figures, wire: &Wire) {
    let pairs = [
        ("connect", &wire.connect, &told.connect),
        ("headers", &wire.head, &told.headers),
        ("service", &wire.service, &told.service),
    ];
    if told.shared > 0 {
        println!("{what}: {} of {} answers have the stamp of a later one", told.shared, told.good);
    }
    let StampCounts { early, impossible, sampled, sampled_off, .. } = told.stamps;
    println!(
        "{what}: {early} early, {impossible} impossible; of {sampled} sampled sends {sampled_off} off by more than 5 us"
    );
    // A UDP socket has no connect.
    for (span, wire, ours) in pairs.into_iter().filter(|(_, wire, _)| !wire.is_empty()) {
        let us = |ns: u64| ns as f64 / 1e3;
        let row: Vec<String> = [0.0, 0.01, 0.5, 0.9, 0.99, 1.0]
            .iter()
            .map(|q| {
                format!(
                    "{:.1} / {:.1}",
                    us(Wire::quantile(wire, *q).unwrap()),
                    us(ours.quantile_ns(*q).unwrap())
                )
            })
            .collect();
        println!("| {what} | {span} | {} |", row.join(" | "));
    }
}
