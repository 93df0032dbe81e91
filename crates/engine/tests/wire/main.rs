//! The engine beside a capture of the same packets: counts must be equal, and the time spans are
//! those of the wire.
//!
//! They hold bounds in time of some microseconds, which a busy machine breaks, so `make test-wire`
//! runs them and `make test` does not. They need AF_PACKET (root, or CAP_NET_RAW). Where they are
//! not asked for or not allowed, each is listed as ignored with the reason, and counted so in the
//! summary. The tests of Rust's own harness cannot be ignored once they run, so these have another
//! one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test speaks to whoever runs it")]

mod busy_loop;
mod compare;
#[path = "../truth/http3/library.rs"]
#[allow(dead_code, reason = "shared with the truth tests")]
mod library;
mod processes;
#[path = "../truth/http3/serving.rs"]
#[allow(dead_code, reason = "shared with the truth tests")]
mod serving;
#[path = "../truth/support.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the truth tests")]
mod support;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use pippin_model::load::websocket::Messages;
use pippin_model::load::{BodyCheck, Connections, IoChoice, LoadSpec, Protocol, Request, Schedule};
use pippin_model::text::units::Spread;
use pippin_testing::scripted::{Answer, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use pippin_testing::wire::capture::Capture;
use pippin_testing::{frames, messages};

use busy_loop::BusyLoop;
use compare::Case;
use library::Library;
use processes::Processes;
use support::{MS, asking, closed, closed_for, get, open, trusting};

/// A test on one of the event loops.
type Test = fn(IoChoice);

const TESTS: &[(&str, Test)] = &[
    ("one_connection", one_connection),
    ("ten_connections", ten_connections),
    ("sixty_four_connections", sixty_four_connections),
    ("answers_picked_up_together", answers_picked_up_together),
    ("three_hundred_a_second", three_hundred_a_second),
    ("five_thousand_a_second", five_thousand_a_second),
    ("a_connection_for_each_request", a_connection_for_each_request),
    ("two_processes", two_processes),
    ("a_process_that_closes", a_process_that_closes),
    ("chunks", chunks),
    ("a_body_that_drips", a_body_that_drips),
    ("pipelining", pipelining),
    ("tls", tls),
    ("devices", devices),
    ("http2", http2),
    ("http2_picked_up_together", http2_picked_up_together),
    ("http2_at_a_rate", http2_at_a_rate),
    ("http3", http3),
    ("http3_one_connection", http3_one_connection),
    ("http3_at_a_rate", http3_at_a_rate),
    ("websocket", websocket),
    ("websocket_at_a_rate", websocket_at_a_rate),
    ("a_busy_processor", a_busy_processor),
    ("a_busy_processor_and_a_rate", a_busy_processor_and_a_rate),
];

fn main() -> ExitCode {
    processes::serve_if_asked();
    let arguments = Arguments::from_args();
    let obstacle = obstacle();
    let on_each_loop = TESTS.iter().flat_map(|(name, test)| {
        [("epoll", IoChoice::Epoll), ("io_uring", IoChoice::IoUring)].map(|(io_name, io)| {
            let name = format!("{io_name}::{name}");
            let trial = Trial::test(name.clone(), move || {
                run_alone(name, move || test(io));
                Ok(())
            });
            match obstacle {
                None => trial,
                Some(why) => trial.with_kind(why).with_ignored_flag(true),
            }
        })
    });
    libtest_mimic::run(&arguments, on_each_loop.collect()).exit_code()
}

/// Why the tests are not run; `None` if they are.
fn obstacle() -> Option<&'static str> {
    if std::env::var_os("PIPPIN_WIRE").is_none() {
        return Some("make test-wire runs it");
    }
    Capture::start(1).map(Capture::stop).is_err().then_some("needs AF_PACKET")
}

/// Runs a test in a thread of its name, for messages that tell by it whose they are.
fn run_alone(name: String, test: impl Fn() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name);
    if let Err(failure) = thread.spawn(|| pippin_testing::patience::patiently(test)).unwrap().join()
    {
        std::panic::resume_unwind(failure);
    }
}

/// A server that always gives this answer, and the load on it beside a capture.
fn compare(case: &Case, answer: Answer, spec: impl Fn(SocketAddr) -> LoadSpec) {
    let server = spawn(Script::always(answer)).unwrap();
    case.compare(&spec(server.address()));
    server.stop().unwrap();
}

fn hello() -> Answer {
    Answer::ok(b"hello")
}

fn one_connection(io: IoChoice) {
    compare(&Case::new("closed, 1"), hello(), |address| closed(address, io, 1, 5_000));
}

fn ten_connections(io: IoChoice) {
    compare(&Case::new("closed, 10"), hello(), |address| closed(address, io, 10, 10_000));
}

fn sixty_four_connections(io: IoChoice) {
    compare(&Case::new("closed, 64"), hello(), |address| closed(address, io, 64, 20_000));
}

/// Enough users, and answers slow enough, that answers may lie and several are picked up at once.
fn answers_picked_up_together(io: IoChoice) {
    let answer = hello().delay(Duration::from_millis(20));
    let case = Case::new("closed, 256, answers take 20 ms").rested();
    compare(&case, answer, |address| closed(address, io, 256, 20_000));
}

fn three_hundred_a_second(io: IoChoice) {
    let case = Case::new("open, 300/s").rested();
    compare(&case, hello(), |address| open(address, io, 16, 300.0, 2_000));
}

fn five_thousand_a_second(io: IoChoice) {
    let case = Case::new("open, 5,000/s").rested();
    compare(&case, hello(), |address| open(address, io, 64, 5e3, 2_000));
}

fn a_connection_for_each_request(io: IoChoice) {
    compare(&Case::new("a connection each"), hello(), |address| LoadSpec {
        connections: Connections {
            count: 1,
            requests_per_connection: Some(1),
            pipeline: 1,
            streams: 1,
        },
        ..closed(address, io, 1, 2_000)
    });
}

/// Servers in other processes answer while the generator is still sending.
fn two_processes(io: IoChoice) {
    let servers = Processes::start(2, false);
    let case = Case::new("two processes, 10").in_batches(io);
    case.compare(&closed(servers.address(), io, 10, 20_000));
}

/// One user, and each answer ends its connection.
fn a_process_that_closes(io: IoChoice) {
    let servers = Processes::start(1, true);
    let case = Case::new("a process that closes, 1").rested().closing();
    case.compare(&closed(servers.address(), io, 1, 2_000));
}

fn chunks(io: IoChoice) {
    let answer = Answer::ok(&[b'x'; 3_000]).chunked(100, &[]);
    compare(&Case::new("chunked, 10"), answer, |address| closed(address, io, 10, 5_000));
}

fn a_body_that_drips(io: IoChoice) {
    let answer = Answer::ok(&[b'x'; 100]).pause_in_body(Duration::from_millis(3));
    let case = Case::new("a body in two parts, 10");
    compare(&case, answer, |address| closed(address, io, 10, 2_000));
}

fn pipelining(io: IoChoice) {
    compare(&Case::new("10, pipelining 4"), hello(), |address| LoadSpec {
        connections: Connections {
            count: 10,
            requests_per_connection: None,
            pipeline: 4,
            streams: 1,
        },
        ..closed(address, io, 10, 20_000)
    });
}

/// TLS 1.2, whose records say without a key which of them carry HTTP: one each way a request.
fn tls(io: IoChoice) {
    let server = spawn(Script::always(hello())).unwrap();
    let authority = Authority::new();
    let certified = Certified { only_tls12: true, ..Certified::default() };
    let secured = authority.server(&certified);
    let front = Front::spawn(server.address(), secured, FrontBehaviour::default()).unwrap();
    let tls = trusting(&authority);
    Case::new("TLS, 10")
        .tls()
        .compare(&LoadSpec { tls: Some(tls), ..closed(front.address(), io, 10, 5_000) });
    assert_eq!(front.stop().handshakes, 10);
    server.stop().unwrap();
}

/// This load over HTTP/2, with this number of streams on each connection.
fn with_streams(spec: LoadSpec, streams: u32) -> LoadSpec {
    let connections = Connections { streams, ..spec.connections };
    LoadSpec { protocol: Protocol::Http2, connections, ..spec }
}

fn http2(io: IoChoice) {
    let server = frames::Server::new(frames::Connection::serve).unwrap();
    let spec = with_streams(closed(server.address, io, 10, 20_000), 8);
    Case::new("HTTP/2, 10 x 8 streams").http2().shared().compare(&spec);
}

fn http2_picked_up_together(io: IoChoice) {
    let server = frames::Server::new(frames::Connection::serve).unwrap();
    let spec = with_streams(closed(server.address, io, 10, 50_000), 32);
    Case::new("HTTP/2, 10 x 32 streams").http2().shared().compare(&spec);
}

fn http2_at_a_rate(io: IoChoice) {
    let server = frames::Server::new(frames::Connection::serve).unwrap();
    let spec = with_streams(open(server.address, io, 4, 300.0, 2_000), 4);
    Case::new("HTTP/2, open, 300/s").http2().rested().compare(&spec);
}

/// A load over HTTP/3 whose requests and answers have lengths by which they are known.
fn over_http3(case: &Case, spec: impl Fn(SocketAddr) -> LoadSpec) {
    let server = Library::new();
    let mut request = asking("/size/700", &"x".repeat(700));
    // Capitals are Huffman's longest letters here, so that none of them is saved.
    request.headers.push(("x-length".into(), "XZ".repeat(300)));
    let tls = Some(trusting(&server.authority));
    let requests = vec![request].into();
    case.compare(&LoadSpec { protocol: Protocol::Http3, tls, requests, ..spec(server.address) });
}

fn http3(io: IoChoice) {
    let case = Case::new("HTTP/3, 10").http3();
    over_http3(&case, |address| closed(address, io, 10, 10_000));
}

fn http3_one_connection(io: IoChoice) {
    over_http3(&Case::new("HTTP/3, 1").http3(), |address| closed(address, io, 1, 3_000));
}

fn http3_at_a_rate(io: IoChoice) {
    let case = Case::new("HTTP/3, open, 300/s").http3().rested();
    over_http3(&case, |address| open(address, io, 4, 300.0, 2_000));
}

/// This load over WebSocket, of texts that must come back.
fn of_messages(spec: LoadSpec) -> LoadSpec {
    let payload = Messages::payload(64);
    let mut request = Request { body: payload.clone(), ..get(BodyCheck::Exact(payload)) };
    request.check.status.clear();
    let messages = Some(Messages { numbered: true, ..Messages::default() });
    let requests = vec![request].into();
    LoadSpec { protocol: Protocol::WebSocket, messages, requests, ..spec }
}

fn websocket(io: IoChoice) {
    let server = messages::Server::echo().unwrap();
    let spec = of_messages(closed(server.address, io, 10, 10_000));
    Case::new("WebSocket, 10").websocket().compare(&spec);
}

fn websocket_at_a_rate(io: IoChoice) {
    let server = messages::Server::echo().unwrap();
    let spec = of_messages(open(server.address, io, 16, 300.0, 2_000));
    Case::new("WebSocket, open, 300/s").websocket().rested().compare(&spec);
}

fn devices(io: IoChoice) {
    compare(&Case::new("20 devices").rested(), hello(), |address| {
        let mut spec = closed_for(address, io, 20, 1_000);
        spec.stop.duration_ns = None;
        spec.schedule = Schedule::Devices {
            devices: 20,
            requests_per_device: 5,
            think: Spread { mean_ns: 20 * MS, jitter: 0.05 },
            ramp_up_ns: 300 * MS,
            sustain_ns: 1_000 * MS,
            ramp_down_ns: 300 * MS,
        };
        spec
    });
}

fn a_busy_processor(io: IoChoice) {
    let busy = BusyLoop::start();
    let case = Case::new("closed, 10, its processor busy").in_batches(io);
    compare(&case, hello(), |address| LoadSpec {
        cores: vec![busy.processor()],
        ..closed(address, io, 10, 10_000)
    });
    busy.stop();
}

fn a_busy_processor_and_a_rate(io: IoChoice) {
    let busy = BusyLoop::start();
    let case = Case::new("open, 300/s, its processor busy").rested();
    compare(&case, hello(), |address| LoadSpec {
        cores: vec![busy.processor()],
        ..open(address, io, 16, 300.0, 2_000)
    });
    busy.stop();
}
