//! Right answers: each finds its request, and is counted once.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Request};
use pippin_model::result::ErrorKind;
use pippin_testing::patience::in_time;
use std::sync::atomic::Ordering::Relaxed;

use super::library::Library;
use super::streams;
use crate::support::{
    asking, assert_stamped, closed, drawing, errors, get, on_each_loop, open, out_of_order, run,
};

on_each_loop!(
    answers_find_their_requests,
    values_are_drawn_for_each_stream,
    bodies_of_any_size_in_both_directions,
    statuses_and_resets_are_counted,
    an_open_loop_over_streams,
    a_server_that_says_goodbye_loses_no_request,
);

fn answers_find_their_requests(io: IoChoice) {
    let server = Library::new();
    let spec = LoadSpec { requests: out_of_order().into(), ..closed(server.address, io, 3, 3_000) };
    let result = run(&streams(spec, 9, &server.authority));
    assert_eq!((result.measured.requests.good, errors(&result)), (3_000, vec![]));
    assert_eq!(server.account.connections.load(Relaxed), 3);
    assert_eq!(server.account.requests.load(Relaxed), 3_000);
    assert_stamped(&result, 3_000);
    // Several answers of one datagram came at once.
    assert_eq!(result.measured.stamps.shared, 0);
    let tls = result.tls.unwrap();
    assert_eq!(tls.negotiated[0].alpn.as_deref(), Some("h3"));
    assert_eq!((tls.negotiated[0].handshakes, tls.negotiated[0].version.as_str()), (3, "TLSv1.3"));
}

fn values_are_drawn_for_each_stream(io: IoChoice) {
    let server = Library::new();
    let requests = vec![
        drawing("/wait/3/abcdefgh", "abcdefgh", "abcdefgh"),
        asking("/wait/1/text", "text"),
        drawing("/page/12345678", "12345678", "/page/12345678"),
    ];
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 2, 600) };
    let result = run(&streams(spec, 6, &server.authority));
    assert_eq!((result.measured.requests.good, errors(&result)), (600, vec![]));
    let different = server.account.paths.lock().unwrap().len();
    assert!(different > 380, "{different} different paths");
}

fn bodies_of_any_size_in_both_directions(io: IoChoice) {
    let server = Library::new();
    let sent = |bytes: usize| Request {
        method: "POST".into(),
        body: vec![b'x'; bytes],
        ..asking("/echo", &bytes.to_string())
    };
    let received = |bytes: usize| asking(&format!("/size/{bytes}"), &"x".repeat(bytes));
    let sizes = [0, 1, 1_000, 70_000, 1_000_000];
    let requests: Vec<Request> =
        sizes.iter().flat_map(|bytes| [sent(*bytes), received(*bytes)]).collect();
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 2, 100) };
    let result = run(&streams(spec, 4, &server.authority));
    assert_eq!((result.measured.requests.good, errors(&result)), (100, vec![]));
}

fn statuses_and_resets_are_counted(io: IoChoice) {
    let server = Library::new();
    let any = |path: &str| Request { target: path.into(), ..get(BodyCheck::Any) };
    let requests =
        vec![any("/ok"), any("/status/503"), any("/status/204"), any("/reset"), any("/status/301")];
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 1, 100) };
    let result = run(&streams(spec, 3, &server.authority));
    let measured = &result.measured;
    let resets = measured.errors[&ErrorKind::StreamReset];
    let codes = &measured.status.codes;
    assert_eq!(measured.requests.failed, resets);
    assert_eq!(measured.requests.completed + resets, 100);
    assert_eq!(measured.requests.good, codes[&200]);
    // Three users ask in turn, so that each is asked for about as often.
    let asked: Vec<u64> =
        [200, 204, 301, 503].iter().map(|code| codes[code]).chain([resets]).collect();
    assert!(asked.iter().all(|count| (15..=25).contains(count)), "{asked:?}");
    assert_eq!(measured.connections.opened, 1, "the connection goes on");
}

fn an_open_loop_over_streams(io: IoChoice) {
    let server = Library::new();
    let spec = LoadSpec {
        requests: vec![asking("/wait/5/text", "text")].into(),
        ..open(server.address, io, 2, 500.0, 1_000)
    };
    let result = run(&streams(spec, 8, &server.authority));
    // What is under way at the end has no answer, and what still waits for a stream is never sent.
    let requests = &result.measured.requests;
    let all = requests.good + requests.censored + requests.unsent;
    assert_eq!((all, errors(&result)), (500, vec![]));
    in_time(requests.unsent == 0, || format!("{requests:?}"));
    assert!(requests.censored <= 16, "2 connections have 8 streams each: {requests:?}");
    in_time(requests.good > 480, || format!("{requests:?}"));
    let least = result.measured.spans.service_time.quantile_ns(0.0).unwrap();
    assert!(least >= 5_000_000, "{least} ns");
}

fn a_server_that_says_goodbye_loses_no_request(io: IoChoice) {
    let server = Library::closing_after(20);
    let spec = LoadSpec {
        requests: vec![asking("/path", "/path")].into(),
        ..closed(server.address, io, 2, 400)
    };
    let result = run(&streams(spec, 4, &server.authority));
    assert_eq!((result.measured.requests.good, errors(&result)), (400, vec![]));
    assert!(result.measured.connections.reconnects > 5, "{:?}", result.measured.connections);
}
