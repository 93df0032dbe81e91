//! What went wrong is said with the request, the answer and the reason, and once for each kind.
use pippin_model::load::{BodyCheck, IoChoice, LoadSpec, Request};
use pippin_model::result::{ErrorKind, FirstError, LoadResult};
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{closed, get, on_each_loop, run};

on_each_loop!(
    the_first_answer_of_each_kind_is_kept,
    what_must_be_rejected_says_why,
    as_many_fields_as_curl_takes,
    a_redirection_says_where_to,
    each_path_has_a_row_and_the_worst_is_first
);

fn first(result: &LoadResult, kind: ErrorKind) -> &FirstError {
    &result.measured.firsts[&kind]
}

/// Answer 4 is the first 404, answer 7 the first wrong body; later ones of each kind say other
/// things, which are not kept.
fn the_first_answer_of_each_kind_is_kept(io: IoChoice) {
    let server = spawn(Script::each(|request, _| match request.number {
        0..=3 => Answer::ok(b"hello"),
        4 => Answer::new(404, b"no \"such\"\n"),
        5 | 6 => Answer::new(404, b"later"),
        7 => Answer::ok(b"jello"),
        _ => Answer::ok(b"yello"),
    }))
    .unwrap();
    let result = run(&LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 1, 20)
    });
    let status = first(&result, ErrorKind::WrongStatus);
    assert!(status.status.as_ref().unwrap().starts_with("HTTP/1.1 404"), "{status:?}");
    assert_eq!(status.body.as_deref(), Some("no \\\"such\\\"\\n"));
    assert_eq!(status.request.as_deref(), Some("GET /"));
    assert_eq!(first(&result, ErrorKind::WrongBody).body.as_deref(), Some("jello"));
    assert_eq!(result.measured.firsts.len(), 2);
    assert!(result.has_firsts() && !result.without_firsts().has_firsts());
}

fn what_must_be_rejected_says_why(io: IoChoice) {
    let cases: [(Answer, ErrorKind, &str, &str); 6] = [
        (
            Answer::raw(b"220 smtp.example ESMTP\r\n"),
            ErrorKind::Malformed,
            "does not start with HTTP/1.",
            "220 smtp.example ESMTP\\r\\n",
        ),
        (
            Answer::raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
            ErrorKind::Malformed,
            "Content-Length given twice",
            "x",
        ),
        (
            Answer::raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\nabc"),
            ErrorKind::TooLarge,
            "body beyond the limit (limits: 5000 header fields, 300 KiB of head, 1024 MiB of body)",
            "abc",
        ),
        (Answer::close(), ErrorKind::CloseBeforeAnswer, "closed the connection without a byte", ""),
        (Answer::reset(), ErrorKind::CloseBeforeAnswer, "reset the connection (RST) without", ""),
        (
            Answer::raw(b"HTTP/1.1 200 OK\r\nConte").then_close(),
            ErrorKind::CloseBeforeAnswer,
            "within the head of its answer",
            "",
        ),
    ];
    for (answer, kind, why, body) in cases {
        let server = spawn(Script::always(answer)).unwrap();
        let result = run(&closed(server.address(), io, 1, 3));
        let found = first(&result, kind);
        assert!(found.why.as_ref().is_some_and(|said| said.contains(why)), "{found:?}");
        assert_eq!(found.body.as_deref().unwrap_or_default(), body, "{found:?}");
        assert_eq!(found.request.as_deref(), Some("GET /"));
    }
}

/// 5,000 fields and 300 KiB pass, one field or one byte more does not.
fn as_many_fields_as_curl_takes(io: IoChoice) {
    let with = |fields: usize, filler: usize| {
        // `Content-Length` is a field too.
        let lines = "A: b\r\n".repeat(fields - 2);
        let text = format!(
            "HTTP/1.1 200 OK\r\n{lines}X: {}\r\nContent-Length: 2\r\n\r\nok",
            "y".repeat(filler)
        );
        let server = spawn(Script::always(Answer::raw(text.as_bytes()))).unwrap();
        let result = run(&closed(server.address(), io, 1, 2));
        (result.measured.requests.good, result.measured.firsts.get(&ErrorKind::TooLarge).cloned())
    };
    let head = "HTTP/1.1 200 OK\r\nX: \r\nContent-Length: 2\r\n\r\n".len();
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

fn a_redirection_says_where_to(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        let place = format!("Location: https://a.example/{}", request.number);
        Answer::new(302, b"").header(&place)
    }))
    .unwrap();
    let any = Request { check: Default::default(), ..get(BodyCheck::Any) };
    let result =
        run(&LoadSpec { requests: vec![any].into(), ..closed(server.address(), io, 1, 10) });
    assert_eq!(result.measured.status.codes, [(302, 10)].into());
    assert_eq!(result.measured.redirected_to.as_deref(), Some("https://a.example/0"));
}

/// Three paths in turn, 30 requests: `/bad` fails each time, and the rest do not.
fn each_path_has_a_row_and_the_worst_is_first(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        Answer::new(if request.bytes.starts_with(b"GET /bad ") { 500 } else { 200 }, b"x")
    }))
    .unwrap();
    let request = |target: &str| Request { target: target.into(), ..get(BodyCheck::Any) };
    let requests = ["/a?q=1", "/bad", "/a?q=2"].map(request).to_vec();
    let result = run(&LoadSpec {
        requests: requests.into(),
        by_request: true,
        ..closed(server.address(), io, 2, 30)
    });
    let rows: Vec<(&str, u64, u64, u64)> = result
        .measured
        .by_request
        .iter()
        .map(|row| (row.name.as_str(), row.completed, row.good, row.response_time.count()))
        .collect();
    assert_eq!(rows, [("GET /bad", 10, 0, 10), ("GET /a", 20, 20, 20)]);
    assert_eq!(result.measured.by_request[0].errors, [(ErrorKind::WrongStatus, 10)].into());
}
