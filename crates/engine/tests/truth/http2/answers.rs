//! Right answers: each finds its request, and is counted once.
use std::sync::atomic::Ordering::Relaxed;

use h2::server::Builder;
use pippin_engine::{Control, Exchange, Referee};
use pippin_model::load::{BodyCheck, IdForm, IoChoice, LoadSpec, Request, RequestId, Surprises};
use pippin_model::request::coding::Coding;
use pippin_testing::frames::kind::{DATA, HEADERS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, Server, frame};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::library::Library;
use super::streams;
use crate::support::{
    asking, assert_stamped, closed, drawing, errors, examining_all, get, on_each_loop, open,
    out_of_order, run,
};
use pippin_testing::patience::in_time;

on_each_loop!(
    answers_find_their_requests,
    values_are_drawn_for_each_stream,
    bodies_of_any_size_in_both_directions,
    heads_of_any_size,
    each_stream_has_a_trace_of_its_own,
    an_open_loop_over_streams,
    the_referee_gets_the_coding_of_examined_answers,
);

/// Many templates in turn with a body each, answered in the order in which their waits end: an
/// answer given to another request has the wrong body.
fn answers_find_their_requests(io: IoChoice) {
    let server = Library::new(Builder::new());
    let spec = LoadSpec { requests: out_of_order().into(), ..closed(server.address, io, 3, 3_000) };
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
    let requests = vec![
        drawing("/wait/3/abcdefgh", "abcdefgh", "abcdefgh"),
        asking("/wait/1/text", "text"),
        drawing("/page/12345678", "12345678", "/page/12345678"),
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

/// 200 arrivals in a second, on one connection with 20 streams.
fn an_open_loop_over_streams(io: IoChoice) {
    let server = Library::new(Builder::new());
    let requests = vec![asking("/wait/10/x", "x")].into();
    let spec = LoadSpec { requests, ..open(server.address, io, 1, 200.0, 1_000) };
    let result = run(&streams(spec, 20));
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, errors(&result)), (200, vec![]));
    in_time(requests.good >= 150, || format!("{requests:?}"));
}

/// A field of a head: its name by the index (RFC 7541 appendix A), its value as it is.
fn field(index: u8, value: &str) -> Vec<u8> {
    let name = if index < 15 { vec![index] } else { vec![15, index - 15] };
    [name, vec![value.len() as u8], value.into()].concat()
}

/// Counts the codings of answers.
#[derive(Default)]
struct Codings(Mutex<BTreeMap<Coding, u32>>);

impl Referee for Codings {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        *self.0.lock().unwrap().entry(exchange.coding).or_default() += 1;
        true
    }
}

/// Each coding comes twice, so that every second head repeats the one before. An interim answer names
/// a coding that counts for nothing.
fn the_referee_gets_the_coding_of_examined_answers(io: IoChoice) {
    const STATUS: u8 = 8;
    const CONTENT_ENCODING: u8 = 26;
    let server = Server::new(|connection| {
        let codings = [Some("br"), Some("br"), Some("gzip"), Some("GZIP"), None];
        for coding in codings.into_iter().cycle() {
            let stream = connection.request()?;
            let of_coding = |coding| field(CONTENT_ENCODING, coding);
            let interim = [field(STATUS, "103"), of_coding("zstd")].concat();
            let head = [OK.to_vec(), coding.map_or(Vec::new(), of_coding)].concat();
            let frames = [
                frame(HEADERS, END_HEADERS, stream, &interim),
                frame(HEADERS, END_HEADERS, stream, &head),
                frame(DATA, END_STREAM, stream, b"hello"),
            ];
            connection.send(&frames.concat())?;
        }
        None
    })
    .unwrap();
    let seen = |examined_every: u32| {
        let codings = Arc::new(Codings::default());
        let surprises = Some(Surprises { examined_every, ..examining_all(None) });
        let requests = vec![get(BodyCheck::Refereed)].into();
        let load = LoadSpec { requests, surprises, ..closed(server.address, io, 1, 100) };
        let stop = AtomicBool::new(false);
        let referee = Some(Arc::clone(&codings) as _);
        let control = Control { referee, ..Control::new(&stop, &|_| true) };
        let result = pippin_engine::run(&streams(load, 4), &control).unwrap();
        assert_eq!(result.measured.requests.good, 100);
        codings.0.lock().unwrap().clone()
    };
    let all = [(Coding::Plain, 20), (Coding::Gzip, 40), (Coding::Brotli, 40)];
    assert_eq!(seen(1), BTreeMap::from(all));
    assert_eq!(seen(0), BTreeMap::from([(Coding::Unseen, 100)]));
}
