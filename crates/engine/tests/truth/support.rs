//! Loads for the tests, and what must hold in every one of them.
use pippin_testing::patience::in_time;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pippin_engine::{Control, Gate};
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{
    Arrivals, BodyCheck, Check, Connections, IoChoice, LoadSpec, Protocol, Request, Schedule,
    Stage, StopRule, Surprises, Timeouts,
};
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ErrorKind, LoadResult, Measured};
use pippin_testing::tls::Authority;

/// Makes a test on each event loop of functions that take it.
macro_rules! on_each_loop {
    ($($name:ident),+ $(,)?) => {
        mod epoll {
            $(#[test] fn $name() { pippin_testing::patience::patiently(|| super::$name(pippin_model::load::IoChoice::Epoll)); })+
        }
        mod io_uring {
            $(#[test] fn $name() { pippin_testing::patience::patiently(|| super::$name(pippin_model::load::IoChoice::IoUring)); })+
        }
    };
}
pub(crate) use on_each_loop;

/// TLS to 127.0.0.1 for a client that trusts this authority.
pub fn trusting(authority: &Authority) -> TlsSpec {
    TlsSpec {
        server_name: "127.0.0.1".into(),
        extra_roots_pem: Some(authority.pem()),
        verify: true,
        resume: false,
        client: None,
    }
}

/// What this returns. It must return within this time: a test of what could wait for ever fails
/// instead of waiting with it.
#[track_caller]
pub fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let result = receiver.recv_timeout(limit);
    in_time(result.is_ok(), || format!("not done after {limit:?}"));
    result.unwrap()
}

pub const MS: u64 = 1_000_000;

pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// `GET /` whose answer must be a 200 with this body.
pub fn get(body: BodyCheck) -> Request {
    Request {
        check: Check { status: vec![200], body, ..Check::default() },
        ..Request::get("/", "truth")
    }
}

/// `GET` of this path, whose answer must be a 200 with this body.
pub fn asking(path: &str, body: &str) -> Request {
    Request { target: path.into(), ..get(BodyCheck::Exact(body.into())) }
}

/// Requests to a server whose path says what it answers, in turn: those that come at once, and those that
/// wait the shorter the later they are sent. An answer given to another request has the wrong body.
pub fn out_of_order() -> Vec<Request> {
    let pair = |nth: u32| {
        let (path, text) = (format!("/path/{nth}"), format!("text{nth}"));
        [asking(&path, &path), asking(&format!("/wait/{}/{text}", 7 - nth), &text)]
    };
    (0..7).flat_map(pair).collect()
}

/// As [`asking`], with a part of the path and of the body that is drawn for each request.
pub fn drawing(path: &str, part: &str, body: &str) -> Request {
    Request { drawn: Some(part.into()), ..asking(path, body) }
}

/// A closed loop with this number of requests and connections.
pub fn closed(address: SocketAddr, io: IoChoice, connections: u32, requests: u64) -> LoadSpec {
    LoadSpec {
        addresses: vec![address],
        requests: vec![get(BodyCheck::Any)].into(),
        connections: Connections::kept(connections),
        stop: StopRule::requests(requests),
        timeouts: Timeouts {
            connect_ns: 5_000 * MS,
            request_ns: 5_000 * MS,
            ..Timeouts::default()
        },
        io,
        ..LoadSpec::default()
    }
}

/// A closed loop for this number of milliseconds.
pub fn closed_for(
    address: SocketAddr,
    io: IoChoice,
    connections: u32,
    milliseconds: u64,
) -> LoadSpec {
    LoadSpec { stop: StopRule::after(milliseconds * MS), ..closed(address, io, connections, 1) }
}

/// A constant rate for this number of milliseconds.
pub fn open(
    address: SocketAddr,
    io: IoChoice,
    connections: u32,
    rate_per_s: f64,
    milliseconds: u64,
) -> LoadSpec {
    let stage =
        Stage { duration_ns: milliseconds * MS, from_per_s: rate_per_s, to_per_s: rate_per_s };
    LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] },
        ..closed_for(address, io, connections, milliseconds)
    }
}

/// CLOCK_MONOTONIC.
pub fn clock_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs the load and checks what holds for every load.
pub fn run(spec: &LoadSpec) -> LoadResult {
    run_from(spec, None)
}

/// Runs a load whose schedule starts at this instant of CLOCK_MONOTONIC.
pub fn run_from(spec: &LoadSpec, start_at_ns: Option<u64>) -> LoadResult {
    let result = run_unchecked(spec, start_at_ns);
    stretches(&result).for_each(|measured| {
        check(measured);
        let errors = errors_but_wrong_answers(measured);
        assert_eq!(errors, measured.requests.failed, "{measured:?}");
    });
    result
}

/// Runs a load against a server that breaks the rules while nothing is asked: an error of no
/// request. Returns how many there were, too.
pub fn run_with_breaches(spec: &LoadSpec) -> (LoadResult, u64) {
    let result = run_unchecked(spec, None);
    stretches(&result).for_each(check);
    let errors = errors_but_wrong_answers(&result.measured);
    let breaches = errors.checked_sub(result.measured.requests.failed);
    let Some(breaches) = breaches else { panic!("a failed request has no error: {result:?}") };
    (result, breaches)
}

/// The measured stretches of a load.
fn stretches(result: &LoadResult) -> impl Iterator<Item = &Measured> {
    result.phases.iter().map(|phase| &phase.measured).chain([&result.measured])
}

/// Errors that are no wrong answer and no connection that did not open.
fn errors_but_wrong_answers(measured: &Measured) -> u64 {
    let Measured { requests, errors, .. } = measured;
    let of_sent: u64 =
        errors.iter().filter(|(kind, _)| !kind.is_before_sending()).map(|(_, count)| count).sum();
    of_sent.saturating_sub(requests.completed - requests.good)
}

fn run_unchecked(spec: &LoadSpec, start_at_ns: Option<u64>) -> LoadResult {
    let stop = AtomicBool::new(false);
    let gate = Gate::new();
    gate.open_at(start_at_ns.unwrap_or(0));
    let gate = start_at_ns.map(|_| &gate);
    let control = Control { gate, ..Control::new(&stop, &|_| true) };
    let result = pippin_engine::run(spec, &control).unwrap();
    let loop_name = match spec.io {
        IoChoice::Epoll => "epoll",
        IoChoice::IoUring => "io_uring",
        IoChoice::Auto => &result.io,
    };
    assert_eq!(result.io, loop_name);
    assert!(!result.interrupted);
    check_statuses(spec, &result);
    check_windows(&result);
    check_tls(spec, &result);
    result
}

/// Each connection that carried requests had one handshake if the load has TLS, and none otherwise.
fn check_tls(spec: &LoadSpec, result: &LoadResult) {
    assert_eq!(spec.tls.is_some(), result.tls.is_some());
    let measured = &result.measured;
    let handshakes = if spec.tls.is_some() { measured.connections.opened } else { 0 };
    assert_eq!(measured.spans.tls.count(), handshakes);
}

/// Every complete answer has one status, unless the protocol has none.
fn check_statuses(spec: &LoadSpec, result: &LoadResult) {
    for Measured { status, requests, .. } in stretches(result) {
        let statuses: u64 = status.codes.values().sum();
        let has_status = spec.protocol != Protocol::WebSocket;
        let expected = if has_status { requests.completed } else { 0 };
        assert_eq!(statuses, expected, "{status:?} {requests:?}");
    }
}

/// What holds for every measured stretch.
pub fn check(measured: &Measured) {
    let Measured { requests, errors, connections, bytes, spans, .. } = measured;
    assert!(requests.are_conserved(), "{requests:?}");
    // Every complete answer has one of each span.
    let count = |kind| errors.get(&kind).copied().unwrap_or(0);
    assert_eq!(
        (spans.headers.count(), spans.body.count()),
        (requests.completed, requests.completed)
    );
    // A timeout has no answer, but it took its time: leaving it out would hide the slowest
    // requests.
    let timed = requests.completed + count(ErrorKind::Timeout);
    assert_eq!(
        (spans.service_time.count(), spans.response_time.count()),
        (timed, timed),
        "{requests:?} {errors:?}"
    );
    // Everything that was sent was sent with some lag.
    assert_eq!(
        (spans.send_lag.count(), spans.own_lag.count()),
        (requests.sent, requests.sent),
        "{requests:?}"
    );
    assert!(connections.reconnects <= connections.opened, "{connections:?}");
    assert!(bytes.body <= bytes.received, "{bytes:?}");
    let successes = measured.successes.unwrap();
    assert!(successes.completed <= measured.answered.completed, "{successes:?}");
    assert!(successes.body_bytes <= bytes.body, "{successes:?} {bytes:?}");
    // Nobody answers before being asked, and a request can't be done before it was due.
    assert_ordered(&spans.service_time, &spans.response_time);
    assert_ordered(&spans.own_lag, &spans.send_lag);
    // A request takes from its sending to its head, and from there to its end. Failed ones have no
    // parts, so only where all was well.
    if timed == requests.completed && timed > 0 {
        let parts = spans.headers.mean_ns().unwrap() + spans.body.mean_ns().unwrap();
        let whole = spans.service_time.mean_ns().unwrap();
        assert!(
            (parts - whole).abs() <= whole * 0.005 + 500.0,
            "headers + body = {parts} ns, service time = {whole} ns"
        );
    }
}

/// At every quantile, `less` is not above `more` (but for the histograms' precision).
fn assert_ordered(less: &Histogram, more: &Histogram) {
    for percent in [0, 1, 10, 50, 90, 99, 100] {
        let q = f64::from(percent) / 100.0;
        if let (Some(less), Some(more)) = (less.quantile_ns(q), more.quantile_ns(q)) {
            assert!(less <= more + more / 500 + 100, "at {q}: {less} > {more}");
        }
    }
}

/// The windows of the measured part add up to the whole.
fn check_windows(result: &LoadResult) {
    if !result.phases.is_empty() {
        return;
    }
    let measured = || result.windows.iter().filter(|window| window.from_ns >= 0);
    let completed = measured().map(|window| window.completed).sum::<u64>();
    // A window counts what was completed in it; a request that was due in the warm-up may be
    // completed after it, one on each connection.
    let carried = if result.warm_up.duration_ns > 0 { result.measured.connections.peak } else { 0 };
    let all = result.measured.requests.completed;
    assert!((all..=all + carried).contains(&completed), "{completed} in the windows, {all} in all");
    // What was sent again counts once, in the windows too. What is late at the very end of the time
    // is sent after the last window.
    if result.warm_up.duration_ns == 0 {
        let sent: u64 = measured().map(|window| window.sent).sum();
        let all = result.measured.requests.sent;
        assert!(sent <= all, "{sent} sent in the windows, {all} in all");
    }
    let length: u64 = measured().map(|window| window.duration_ns).sum();
    assert_eq!(length, result.measured.duration_ns, "{:?}", result.windows);
    for pair in result.windows.windows(2) {
        assert_eq!(pair[0].from_ns + i64::try_from(pair[0].duration_ns).unwrap(), pair[1].from_ns);
    }
}

/// The errors of a load as a list.
pub fn errors(result: &LoadResult) -> Vec<(ErrorKind, u64)> {
    result.measured.errors.iter().map(|(kind, count)| (*kind, *count)).collect()
}

/// Demands that no more requests than these timed out: no other answer comes late unless the
/// machine keeps the server from its work.
#[track_caller]
pub fn assert_timeouts(result: &LoadResult, most: u64) {
    let timeouts = result.measured.errors.get(&ErrorKind::Timeout).copied().unwrap_or(0);
    in_time(timeouts <= most, || format!("{timeouts} requests timed out in place of {most}"));
}

/// Demands that all these answers have a stamp of the kernel. It begins to stamp some time after
/// the first socket has asked for it.
#[track_caller]
pub fn assert_stamped(result: &LoadResult, answers: u64) {
    let stamps = result.measured.stamps;
    assert_eq!(stamps.kernel + stamps.user_space, answers, "{stamps:?}");
    in_time(stamps.user_space == 0, || {
        format!("answers without a stamp of the kernel: {stamps:?}")
    });
}

/// A quantile in milliseconds.
pub fn quantile_ms(histogram: &Histogram, q: f64) -> f64 {
    histogram.quantile_ns(q).unwrap() as f64 / 1e6
}

/// Demands that a time is within bounds, both included. No machine makes it shorter than the least;
/// a busy one may make it longer than the most.
#[track_caller]
pub fn assert_takes(what: &str, value: f64, least: f64, most: f64) {
    assert!(value >= least, "{what}: {value} is below {least}, which no machine can do");
    in_time(value <= most, || format!("{what}: {value} is above {most}"));
}

/// Demands that a figure is within bounds, both included, which a busy machine may break on either
/// side.
#[track_caller]
pub fn assert_within(what: &str, value: f64, least: f64, most: f64) {
    in_time((least..=most).contains(&value), || {
        format!("{what}: {value} is not within {least} to {most}")
    });
}

/// Each answer is examined, and must have this media type.
pub fn examining_all(content_type: Option<&str>) -> Surprises {
    let content_type = content_type.map(Into::into);
    Surprises { examined_every: 1, content_type, ..Surprises::default() }
}
