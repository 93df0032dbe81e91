//! What is kept of the first error of each kind: the request, the answer and the reason.
use pippin_model::load::{BodyCheck, Check, LoadSpec, Request};
use pippin_model::result::ErrorKind;

use super::world::{Act, Acts, Script, answer};
use super::{MS, Played, closed, play};

/// So many requests of one user, to a server that does this with the n-th one.
fn load(requests: u64, answer: impl Fn(u64) -> Acts + 'static) -> Played {
    let body = BodyCheck::Exact(b"hello".to_vec());
    let check = Check { status: vec![200], body, ..Check::default() };
    let request = Request { check, ..Request::get("/", "sim") };
    let mut spec = LoadSpec { requests: vec![request].into(), ..closed(1, 60_000) };
    spec.stop.requests = Some(requests);
    play(&spec, Script::answering(move |asked| answer(asked.nth)))
}

/// Answer 4 is the first 404, answer 7 the first wrong body; later ones of each kind say other
/// things, which are not kept.
#[test]
fn the_first_answer_of_each_kind_is_kept() {
    let played = load(20, |nth| {
        let (status, body) = match nth {
            0..=3 => (200, "hello"),
            4 => (404, "no \"such\"\n"),
            5 | 6 => (404, "later"),
            7 => (200, "jello"),
            _ => (200, "yello"),
        };
        vec![(MS, answer(status, "", body))]
    });
    let firsts = &played.measured().firsts;
    let status = &firsts[&ErrorKind::WrongStatus];
    assert_eq!(status.status.as_deref(), Some("HTTP/1.1 404 x"));
    assert_eq!(status.body.as_deref(), Some("no \\\"such\\\"\\n"));
    assert_eq!(status.request.as_deref(), Some("GET /"));
    assert_eq!(firsts[&ErrorKind::WrongBody].body.as_deref(), Some("jello"));
    assert_eq!(firsts.len(), 2);
}

#[test]
fn what_must_be_rejected_says_why() {
    let says = |text: &str| (MS, Act::Send(text.as_bytes().to_vec()));
    let cases: [(Acts, ErrorKind, &str, &str); 6] = [
        (
            vec![says("220 smtp.example ESMTP\r\n")],
            ErrorKind::Malformed,
            "does not start with HTTP/1.",
            "220 smtp.example ESMTP\\r\\n",
        ),
        (
            vec![says("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx")],
            ErrorKind::Malformed,
            "Content-Length given twice",
            "x",
        ),
        (
            vec![says("HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\nabc")],
            ErrorKind::TooLarge,
            "body beyond the limit (limits: 5000 header fields, 300 KiB of head, 1024 MiB of body)",
            "abc",
        ),
        (
            vec![(MS, Act::Close)],
            ErrorKind::CloseBeforeAnswer,
            "closed the connection without a byte",
            "",
        ),
        (
            vec![(MS, Act::Break(libc::ECONNRESET))],
            ErrorKind::CloseBeforeAnswer,
            "reset the connection (RST) without",
            "",
        ),
        (
            vec![says("HTTP/1.1 200 OK\r\nConte"), (MS, Act::Close)],
            ErrorKind::CloseBeforeAnswer,
            "within the head of its answer",
            "",
        ),
    ];
    for (acts, kind, why, body) in cases {
        let played = load(3, move |_| acts.clone());
        let found = &played.measured().firsts[&kind];
        assert!(found.why.as_ref().is_some_and(|said| said.contains(why)), "{found:?}");
        assert_eq!(found.body.as_deref().unwrap_or_default(), body, "{found:?}");
        assert_eq!(found.request.as_deref(), Some("GET /"));
    }
}

/// 5,000 fields and 300 KiB pass, one field or one byte more does not: as much as curl takes.
#[test]
fn heads_have_limits() {
    let with = |fields: usize, filler: usize| {
        // `Content-Length` is a field too.
        let fields = format!("{}X: {}\r\n", "A: b\r\n".repeat(fields - 2), "y".repeat(filler));
        let played = load(2, move |_| vec![(MS, answer(200, &fields, "hello"))]);
        let measured = played.measured();
        (measured.requests.good, measured.firsts.get(&ErrorKind::TooLarge).cloned())
    };
    let head = "HTTP/1.1 200 x\r\nX: \r\nContent-Length: 5\r\n\r\n".len();
    assert_eq!(with(5_000, 1), (2, None));
    assert_eq!(with(2, 300 * 1_024 - head), (2, None));
    for (fields, filler, why) in
        [(5_001, 1, "more than 5,000 header fields"), (2, 300 * 1_024 - head + 1, "head beyond")]
    {
        let (good, first) = with(fields, filler);
        let why_said = first.unwrap().why.unwrap();
        assert!(good == 0 && why_said.starts_with(why), "{why_said}");
    }
}
