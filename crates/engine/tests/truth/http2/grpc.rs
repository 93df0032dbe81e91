//! Calls of gRPC: the status in the trailers decides, whatever the status of HTTP says.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Request};
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::{DATA, HEADERS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, Server, frame};

use super::streams;
use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(
    the_status_of_a_call_decides,
    an_answer_of_grpc_needs_no_call_to_be_judged,
    other_answers_have_no_status_of_grpc,
);

const GRPC: &str = "application/grpc";

/// A field without an index: its name and its value as they are (RFC 7541 section 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| vec![text.len() as u8];
    [vec![0], length(name), name.into(), length(value), value.into()].concat()
}

fn fields(all: &[(&str, &str)]) -> Vec<u8> {
    all.iter().flat_map(|(name, value)| field(name, value)).collect()
}

/// An answer: its head, and its trailers if it has any. Without them the head is all there is, or
/// the body is the end.
struct Answer {
    head: Vec<(&'static str, &'static str)>,
    has_body: bool,
    trailers: Option<Vec<(&'static str, &'static str)>>,
}

impl Answer {
    fn frames(&self, stream: u32) -> Vec<u8> {
        let head = [OK.to_vec(), fields(&self.head)].concat();
        let end = |is_last: bool| if is_last { END_STREAM } else { 0 };
        let is_alone = !self.has_body && self.trailers.is_none();
        let mut all = frame(HEADERS, END_HEADERS | end(is_alone), stream, &head);
        if self.has_body {
            all.extend(frame(DATA, end(self.trailers.is_none()), stream, &[0, 0, 0, 0, 0]));
        }
        if let Some(trailers) = &self.trailers {
            all.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields(trailers)));
        }
        all
    }
}

/// Loads a server that gives these answers in turn, so that `requests` is a multiple of them.
fn load(io: IoChoice, request: Request, answers: Vec<Answer>) -> pippin_model::result::LoadResult {
    let count = answers.len() as u64 * 5;
    let server = Server::new(move |connection| {
        for answer in answers.iter().cycle() {
            let stream = connection.request()?;
            connection.send(&answer.frames(stream))?;
        }
        None
    })
    .unwrap();
    let requests = vec![request].into();
    run(&streams(LoadSpec { requests, ..closed(server.address, io, 1, count) }, 3))
}

fn call() -> Request {
    let header = |name: &str, value: &str| (name.to_string(), value.to_string());
    Request {
        method: "POST".into(),
        headers: vec![header("Content-Type", GRPC), header("TE", "trailers")],
        body: vec![0; 5],
        ..get(BodyCheck::Any)
    }
}

fn the_status_of_a_call_decides(io: IoChoice) {
    let of_type = vec![("content-type", GRPC)];
    let whole = |trailers: Vec<(&'static str, &'static str)>| Answer {
        head: of_type.clone(),
        has_body: true,
        trailers: Some(trailers),
    };
    let alone = |status, message| Answer {
        head: vec![("content-type", GRPC), ("grpc-status", status), ("grpc-message", message)],
        has_body: false,
        trailers: None,
    };
    let result = load(
        io,
        call(),
        vec![
            whole(vec![("grpc-status", "0")]),
            whole(vec![("grpc-status", "0"), ("grpc-message", "")]),
            alone("12", "Method%20not found%21"),
            whole(vec![("grpc-status", "13"), ("grpc-message", "no %zz")]),
            whole(vec![("grpc-status", "99")]),
            whole(vec![("x", "y")]),
            whole(vec![("grpc-status", "OK")]),
            Answer { head: of_type.clone(), has_body: true, trailers: None },
            // The status is in the trailers: what a head before a body says is not it.
            Answer {
                head: vec![("content-type", GRPC), ("grpc-status", "0")],
                has_body: true,
                trailers: Some(vec![("grpc-status", "5")]),
            },
            // A proxy's own page.
            Answer { head: vec![("content-type", "text/html")], has_body: true, trailers: None },
        ],
    );
    assert_eq!((result.measured.requests.completed, result.measured.requests.good), (50, 10));
    assert_eq!(result.measured.status.codes, [(200, 50)].into());
    assert_eq!(
        errors(&result),
        [
            (ErrorKind::GrpcUnknown, 5),
            (ErrorKind::GrpcNotFound, 5),
            (ErrorKind::GrpcUnimplemented, 5),
            (ErrorKind::GrpcInternal, 5),
            (ErrorKind::GrpcNoStatus, 20),
        ]
    );
    let why = |kind| result.measured.firsts[&kind].why.clone();
    assert_eq!(
        why(ErrorKind::GrpcUnimplemented).as_deref(),
        Some("grpc-status 12: Method not found!")
    );
    assert_eq!(why(ErrorKind::GrpcInternal).as_deref(), Some("grpc-status 13: no %zz"));
    assert_eq!(why(ErrorKind::GrpcUnknown).as_deref(), Some("grpc-status 99"));
    assert_eq!(why(ErrorKind::GrpcNoStatus), None);
}

fn an_answer_of_grpc_needs_no_call_to_be_judged(io: IoChoice) {
    let trailers = Some(vec![("grpc-status", "7")]);
    let answer = Answer { head: vec![("content-type", GRPC)], has_body: true, trailers };
    let result = load(io, get(BodyCheck::Any), vec![answer]);
    assert_eq!(errors(&result), [(ErrorKind::GrpcPermissionDenied, 5)]);
}

fn other_answers_have_no_status_of_grpc(io: IoChoice) {
    let answer =
        |trailers| Answer { head: vec![("content-type", "text/plain")], has_body: true, trailers };
    let all = vec![answer(None), answer(Some(vec![("grpc-status", "7")]))];
    let result = load(io, get(BodyCheck::Any), all);
    assert_eq!((result.measured.requests.good, errors(&result)), (10, vec![]));
}
