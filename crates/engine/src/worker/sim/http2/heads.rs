//! What answers say besides their status: media types, and how calls of gRPC ended.
use pippin_model::load::{LoadSpec, Request, Surprises};
use pippin_model::result::ErrorKind;
use pippin_testing::frames::kind::{DATA, HEADERS};
use pippin_testing::frames::{END_HEADERS, END_STREAM, OK, frame};

use super::{counted, frames, play, server};
use crate::worker::sim::times::{counts, errors};
use crate::worker::sim::world::Script;
use crate::worker::sim::{MS, Played};

/// A field without an index: its name and its value as they are (RFC 7541 section 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| vec![text.len() as u8];
    [vec![0], length(name), name.into(), length(value), value.into()].concat()
}

type Fields = Vec<(&'static str, &'static str)>;

fn fields(all: &Fields) -> Vec<u8> {
    all.iter().flat_map(|(name, value)| field(name, value)).collect()
}

/// An answer: its head, and its trailers if it has any. Without them the head is all there is, or
/// the body is the end.
struct Answer {
    head: Fields,
    has_body: bool,
    trailers: Option<Fields>,
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

const GRPC: &str = "application/grpc";

/// Five rounds of these answers, by three users.
fn load(request: Request, answers: Vec<Answer>) -> Played {
    let count = answers.len() as u64;
    let script = server(move |asked| {
        vec![(MS, frames(&[answers[(asked.nth % count) as usize].frames(asked.tag)]))]
    });
    play(LoadSpec { requests: vec![request].into(), ..counted(1, 5 * count) }, 3, script)
}

fn call() -> Request {
    let header = |name: &str, value: &str| (name.to_string(), value.to_string());
    Request {
        method: "POST".into(),
        headers: vec![header("Content-Type", GRPC), header("TE", "trailers")],
        body: vec![0; 5],
        ..Request::get("/", "sim")
    }
}

/// The status in the trailers decides, whatever the status of HTTP says.
#[test]
fn the_status_of_a_call_decides() {
    let of_type = vec![("content-type", GRPC)];
    let whole = |trailers: Fields| Answer {
        head: of_type.clone(),
        has_body: true,
        trailers: Some(trailers),
    };
    let alone = |status, message| Answer {
        head: vec![("content-type", GRPC), ("grpc-status", status), ("grpc-message", message)],
        has_body: false,
        trailers: None,
    };
    let answers = vec![
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
    ];
    let played = load(call(), answers);
    let measured = played.measured();
    assert_eq!((counts(&played), measured.requests.good), ([50, 50, 50, 0, 0, 0], 10));
    assert_eq!(measured.status.codes, [(200, 50)].into());
    let right = [
        (ErrorKind::GrpcUnknown, 5),
        (ErrorKind::GrpcNotFound, 5),
        (ErrorKind::GrpcUnimplemented, 5),
        (ErrorKind::GrpcInternal, 5),
        (ErrorKind::GrpcNoStatus, 20),
    ];
    assert_eq!(errors(&played), right);
    let why = |kind| measured.firsts[&kind].why.as_deref();
    let unimplemented = "grpc-status 12: Method not found!";
    assert_eq!(why(ErrorKind::GrpcUnimplemented), Some(unimplemented));
    assert_eq!(why(ErrorKind::GrpcInternal), Some("grpc-status 13: no %zz"));
    assert_eq!(why(ErrorKind::GrpcUnknown), Some("grpc-status 99"));
    assert_eq!(why(ErrorKind::GrpcNoStatus), None);
}

/// An answer of gRPC is judged though nobody called; another answer has no status of gRPC.
#[test]
fn the_type_of_an_answer_says_whether_it_is_one_of_grpc() {
    let trailers = || Some(vec![("grpc-status", "7")]);
    let of =
        |kind, trailers| Answer { head: vec![("content-type", kind)], has_body: true, trailers };
    let played = load(Request::get("/", "sim"), vec![of(GRPC, trailers())]);
    assert_eq!(errors(&played), [(ErrorKind::GrpcPermissionDenied, 5)]);
    let all = vec![of("text/plain", None), of("text/plain", trailers())];
    let played = load(Request::get("/", "sim"), all);
    assert_eq!((played.measured().requests.good, errors(&played)), (10, vec![]));
}

/// Each answer is examined, and must have this media type.
fn examining(content_type: Option<&str>, script: Script) -> Played {
    let content_type = content_type.map(Into::into);
    let surprises = Surprises { examined_every: 1, content_type, ..Surprises::default() };
    let spec = LoadSpec { surprises: Some(surprises), ..counted(1, 100) };
    play(spec, 4, script)
}

/// Half of the answers are of the right type, one in four is of another, and one in four names none.
/// All follow an interim answer that has the right one, which counts for nothing.
#[test]
fn the_media_type_of_examined_answers_is_looked_at() {
    const TYPES: [Option<&str>; 4] =
        [Some("text/html; charset=utf-8"), Some("TEXT/HTML"), Some("text/plain"), None];
    let script = || {
        server(|asked| {
            let of_type = |kind| field("content-type", kind);
            let interim = [field(":status", "103"), of_type("text/html")].concat();
            let kind = TYPES[asked.nth as usize % 4].map_or(Vec::new(), of_type);
            let answer = [
                frame(HEADERS, END_HEADERS, asked.tag, &interim),
                frame(HEADERS, END_HEADERS, asked.tag, &[OK.to_vec(), kind].concat()),
                frame(DATA, END_STREAM, asked.tag, b"hello"),
            ];
            vec![(MS, frames(&answer))]
        })
    };
    let asks = |content_type: Option<&str>| {
        let played = examining(content_type, script());
        assert_eq!(played.measured().status.interim, 100);
        (played.measured().requests.good, errors(&played))
    };
    assert_eq!(asks(Some("text/html")), (50, vec![(ErrorKind::WrongBody, 50)]));
    assert_eq!(asks(Some("text/css")), (0, vec![(ErrorKind::WrongBody, 100)]));
    assert_eq!(asks(None), (100, vec![]));
}

/// A head that repeats the one before is looked at like the first.
#[test]
fn a_head_that_comes_again_has_its_media_type() {
    let asks = |content_type: &str| {
        let script = server(|asked| {
            let head = [OK.to_vec(), field("content-type", "text/html")].concat();
            let answer = [
                frame(HEADERS, END_HEADERS, asked.tag, &head),
                frame(DATA, END_STREAM, asked.tag, b"hello"),
            ];
            vec![(MS, frames(&answer))]
        });
        examining(Some(content_type), script).measured().requests.good
    };
    assert_eq!((asks("text/html"), asks("text/css")), (100, 0));
}
