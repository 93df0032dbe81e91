//! Right answers: each finds its request, is counted once, and takes as long as it takes.
use std::sync::atomic::Ordering::Relaxed;

use h2::server::Builder;
use pippin_model::load::{
    BodyCheck, Connections, IdForm, IoChoice, LoadSpec, Request, RequestId, Schedule,
};
use pippin_model::text::units::Spread;
use pippin_testing::frames::{Connection, Server, answer};

use super::library::Library;
use super::streams;
use crate::support::{
    MS, assert_stamped, assert_takes, closed, closed_for, errors, get, on_each_loop, open,
    quantile_ms, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    answers_find_their_requests,
    values_are_drawn_for_each_stream,
    each_stream_is_a_user,
    streams_wait_beside_each_other,
    bodies_of_any_size_in_both_directions,
    heads_of_any_size,
    answers_of_one_read_share_its_stamp,
    the_server_may_allow_fewer_streams,
    an_open_loop_over_streams,
    users_of_a_connection_think,
    devices_have_a_connection_each,
    a_connection_for_each_request,
    each_stream_has_a_trace_of_its_own,
);

fn asking(path: &str, body: &str) -> Request {
    Request { target: path.into(), ..get(BodyCheck::Exact(body.into())) }
}

/// Many templates in turn with a body each, answered in the order in which their waits end: an
/// answer given to another request has the wrong body.
fn answers_find_their_requests(io: IoChoice) {
    let server = Library::new(Builder::new());
    let mut requests = Vec::new();
    for nth in 0..7 {
        requests.push(asking(&format!("/path/{nth}"), &format!("/path/{nth}")));
        requests.push(asking(&format!("/wait/{}/text{nth}", 7 - nth), &format!("text{nth}")));
    }
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 3, 3_000) };
    let result = run(&streams(spec, 9));
    assert_eq!((result.measured.requests.good, errors(&result)), (3_000, vec![]));
    assert_eq!(server.account.connections.load(Relaxed), 3);
    assert_eq!(server.account.requests.load(Relaxed), 3_000);
    assert_stamped(&result, 3_000);
}

/// A part of the path is drawn for each request, and each answer must have what its own request
/// had, in whatever order they come.
fn values_are_drawn_for_each_stream(io: IoChoice) {
    let server = Library::new(Builder::new());
    let drawn = |path: &str, part: &str, body: &str| Request {
        drawn: Some(part.into()),
        ..asking(path, body)
    };
    let requests = vec![
        drawn("/wait/3/abcdefgh", "abcdefgh", "abcdefgh"),
        asking("/wait/1/text", "text"),
        drawn("/page/12345678", "12345678", "/page/12345678"),
    ];
    let spec = LoadSpec { requests: requests.into(), ..closed(server.address, io, 2, 600) };
    let result = run(&streams(spec, 6));
    assert_eq!((result.measured.requests.good, errors(&result)), (600, vec![]));
    // Each of 12 users asks in turn, so that at least 384 requests have a value.
    let different = server.account.paths.lock().unwrap().len();
    assert!(different > 380, "{different} different paths");
}

/// What the server sees of each request is what the result calls it.
fn each_stream_has_a_trace_of_its_own(io: IoChoice) {
    let server = Library::new(Builder::new());
    let id = RequestId { form: IdForm::Traceparent, prefix: "0af7651916cd43dd8448eb21".into() };
    let spec = LoadSpec {
        requests: vec![asking("/a", "/a"), asking("/wait/1/text", "text")].into(),
        request_id: Some(id),
        samples: 10_000,
        ..closed(server.address, io, 2, 300)
    };
    let result = run(&streams(spec, 5));
    assert_eq!((result.measured.requests.good, errors(&result)), (300, vec![]));
    let rows = result.request_sample.unwrap();
    let mut rows: Vec<String> = rows.requests.iter().filter_map(|one| one.id.clone()).collect();
    let mut seen = server.account.traces.lock().unwrap().clone();
    rows.sort_unstable();
    seen.sort_unstable();
    assert_eq!((rows.len(), rows), (300, seen));
}

/// 4 connections with 8 streams are 32 users: never are more than 32 requests under way.
fn each_stream_is_a_user(io: IoChoice) {
    let server = Library::new(Builder::new());
    let spec = LoadSpec {
        requests: vec![asking("/wait/50/x", "x")].into(),
        ..closed(server.address, io, 4, 320)
    };
    let result = run(&streams(spec, 8));
    assert_eq!(result.measured.requests.good, 320);
    let peak = server.account.peak.load(Relaxed);
    assert!(peak <= 32, "{peak}");
    in_time(peak == 32, || format!("{peak} at once: the first was answered before the last came"));
    assert_eq!(result.measured.connections.peak, 4);
}

/// Four answers come in one segment, a hundred times: three of each have the stamp of the last.
fn answers_of_one_read_share_its_stamp(io: IoChoice) {
    let server = Server::new(|connection: &mut Connection| {
        loop {
            let asked = connection.requests(4)?;
            let answers: Vec<u8> = asked.iter().flat_map(|id| answer(*id, b"hello")).collect();
            connection.send(&answers)?;
        }
    });
    let server = server.unwrap();
    let result = run(&streams(closed(server.address, io, 1, 400), 4));
    assert_eq!((result.measured.requests.good, errors(&result)), (400, vec![]));
    let stamps = result.measured.stamps;
    assert_stamped(&result, 400);
    assert_eq!(stamps.shared, 300);
}

/// Each answer comes 40 ms after its request, whatever else is under way on the connection.
fn streams_wait_beside_each_other(io: IoChoice) {
    let server = Library::new(Builder::new());
    let spec = LoadSpec {
        requests: vec![asking("/wait/40/x", "x")].into(),
        ..closed(server.address, io, 1, 128)
    };
    let result = run(&streams(spec, 16));
    let service = &result.measured.spans.service_time;
    for q in [0.0, 0.5, 1.0] {
        assert_takes(&format!("service time at {q}"), quantile_ms(service, q), 39.9, 240.0);
    }
    // 8 rows of 40 ms.
    assert_takes("the load", result.measured.duration_ns as f64 / 1e6, 319.0, 1_500.0);
}

/// Bodies beyond both windows of both sides; the server's windows are small.
fn bodies_of_any_size_in_both_directions(io: IoChoice) {
    let mut builder = Builder::new();
    builder.initial_window_size(20_000).initial_connection_window_size(70_000);
    let server = Library::new(builder);
    let body = vec![b'u'; 300_000];
    let upload = Request {
        method: "POST".into(),
        target: "/echo".into(),
        body: body.clone(),
        ..get(BodyCheck::Exact(body))
    };
    let large =
        Request { target: "/bytes/1000000".into(), ..get(BodyCheck::Exact(vec![b'x'; 1_000_000])) };
    let empty = Request { target: "/bytes/0".into(), ..get(BodyCheck::Exact(vec![])) };
    let requests = vec![upload, large, asking("/a", "/a"), empty];
    let result = run(&streams(
        LoadSpec { requests: requests.into(), ..closed(server.address, io, 2, 80) },
        6,
    ));
    assert_eq!((result.measured.requests.good, errors(&result)), (80, vec![]));
    let uploaded = server.account.body_bytes.load(Relaxed);
    assert!(uploaded >= 20 * 300_000 && uploaded.is_multiple_of(300_000), "{uploaded}");
}

/// A head of 40 KB goes out in several frames, and comes back.
fn heads_of_any_size(io: IoChoice) {
    let mut builder = Builder::new();
    builder.max_header_list_size(1 << 20);
    let server = Library::new(builder);
    let path = format!("/{}", "p".repeat(20_000));
    let mut long = asking(&path, &path);
    long.headers.push(("X-Long".into(), "v".repeat(20_000)));
    let spec = LoadSpec {
        requests: vec![long, asking("/b", "/b")].into(),
        ..closed(server.address, io, 2, 40)
    };
    let result = run(&streams(spec, 4));
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
}

/// RFC 9113 section 5.1.2: the server takes 3 at a time. Users wait for their turn, which is part
/// of their response time and not of the generator's lag.
fn the_server_may_allow_fewer_streams(io: IoChoice) {
    let mut builder = Builder::new();
    builder.max_concurrent_streams(3);
    let server = Library::new(builder);
    let spec = LoadSpec {
        requests: vec![asking("/wait/20/x", "x")].into(),
        ..closed(server.address, io, 2, 120)
    };
    let result = run(&streams(spec, 9));
    assert_eq!((result.measured.requests.good, errors(&result)), (120, vec![]));
    let peak = server.account.peak.load(Relaxed);
    assert!(peak <= 6, "{peak}");
    in_time(peak == 6, || format!("{peak} at once: the first was answered before the last came"));
    assert_takes(
        "service time",
        quantile_ms(&result.measured.spans.service_time, 0.5),
        19.9,
        150.0,
    );
    // Of 9 users 6 wait for two others.
    assert_takes(
        "response time",
        quantile_ms(&result.measured.spans.response_time, 0.5),
        55.0,
        400.0,
    );
}

/// 10 arrivals of 100 ms each fit on one connection with 10 streams, and not on one with 5.
fn an_open_loop_over_streams(io: IoChoice) {
    let server = Library::new(Builder::new());
    let load = |count| {
        let requests = vec![asking("/wait/100/x", "x")];
        run(&streams(
            LoadSpec { requests: requests.into(), ..open(server.address, io, 1, 100.0, 1_000) },
            count,
        ))
    };
    let enough = load(20);
    assert_eq!(enough.measured.requests.scheduled, 100);
    in_time(enough.measured.requests.unsent == 0, || format!("{:?}", enough.measured.requests));
    assert_takes("response", quantile_ms(&enough.measured.spans.response_time, 0.5), 99.9, 300.0);
    // 5 streams carry 50 a second: the arrivals pile up for half of the time.
    let few = load(5);
    assert_eq!(few.measured.requests.scheduled, 100);
    assert!(few.measured.requests.completed <= 50, "{:?}", few.measured.requests);
    assert_takes("response", quantile_ms(&few.measured.spans.response_time, 0.9), 300.0, 700.0);
}

/// 10 users of one connection think for 50 ms: some 10 x 1000/50 requests in a second.
fn users_of_a_connection_think(io: IoChoice) {
    let server = Server::new(Connection::serve).unwrap();
    let think = Spread { mean_ns: 50 * MS, jitter: 0.1 };
    let spec = LoadSpec {
        schedule: Schedule::Closed { think: Some(think) },
        ..closed_for(server.address, io, 1, 1_000)
    };
    let result = run(&streams(spec, 10));
    let good = result.measured.requests.good;
    assert!(good <= 210 && errors(&result).is_empty(), "{good}: {:?}", errors(&result));
    in_time(good >= 100, || format!("{good} requests"));
}

fn devices_have_a_connection_each(io: IoChoice) {
    let server = Server::new(Connection::serve).unwrap();
    let spec = LoadSpec {
        schedule: Schedule::Devices {
            devices: 10,
            requests_per_device: 5,
            think: Spread { mean_ns: 20 * MS, jitter: 0.1 },
            ramp_up_ns: 200 * MS,
            sustain_ns: 400 * MS,
            ramp_down_ns: 200 * MS,
        },
        stop: pippin_model::load::StopRule { duration_ns: None, requests: None },
        ..closed(server.address, io, 10, 1)
    };
    let result = run(&streams(spec, 1));
    assert_eq!(result.phases.len(), 3);
    assert_eq!(errors(&result), vec![]);
    let sustained = &result.phases[1].measured;
    in_time(sustained.requests.good > 50, || format!("{:?}", sustained.requests));
    let connections = server.account.of(|account| &account.connections);
    in_time(connections > 10, || format!("devices were replaced: {connections}"));
}

fn a_connection_for_each_request(io: IoChoice) {
    let server = Server::new(Connection::serve).unwrap();
    let spec = closed(server.address, io, 3, 60);
    let connections = Connections { requests_per_connection: Some(4), ..spec.connections };
    let result = run(&streams(LoadSpec { connections, ..spec }, 1));
    assert_eq!((result.measured.requests.good, errors(&result)), (60, vec![]));
    // 4 requests on each; the last ones may be spread over three connections.
    let connections = server.account.of(|account| &account.connections);
    assert!((15..=17).contains(&connections), "{connections}");
}
