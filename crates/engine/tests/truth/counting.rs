//! Counts are exact: the engine's and the server's agree to the byte.
use pippin_model::load::{BodyCheck, Check, IoChoice, LoadSpec, Request};
use pippin_model::result::{ErrorKind, Successes};
use pippin_testing::scripted::{Answer, Script, spawn};

use crate::support::{closed, errors, get, on_each_loop, run};

on_each_loop!(
    all_is_well,
    over_several_threads,
    every_tenth_answer_is_an_error,
    requests_take_turns,
    wrong_bodies,
    head_has_no_body,
    redirects_are_answers
);

/// 200 requests over 3 connections: 200 of everything, 3 connections, and no byte unaccounted for.
fn all_is_well(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let spec = LoadSpec {
        requests: vec![get(BodyCheck::Exact(b"hello".to_vec()))].into(),
        ..closed(server.address(), io, 3, 200)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    let requests = result.measured.requests;
    assert_eq!(
        (requests.scheduled, requests.sent, requests.completed, requests.good),
        (200, 200, 200, 200)
    );
    assert_eq!((requests.unsent, requests.failed, requests.censored), (0, 0, 0));
    assert_eq!((account.requests, account.answers, account.connections), (200, 200, 3));
    let connections = result.measured.connections;
    assert_eq!(
        (connections.asked, connections.peak, connections.opened, connections.reconnects),
        (3, 3, 3, 0)
    );
    assert_eq!((connections.closed_by_server, result.measured.closes.count()), (0, 0));
    let bytes = result.measured.bytes;
    assert_eq!(
        (bytes.received, bytes.sent, bytes.body),
        (account.bytes_out, account.bytes_in, 200 * 5)
    );
    assert_eq!(result.measured.spans.connect.count(), 3);
    assert_eq!(result.measured.status.codes, [(200, 200)].into());
    assert_eq!(errors(&result), []);
}

/// Two threads with 5 and 4 connections, 101 requests: nothing is lost or done twice in merging.
fn over_several_threads(io: IoChoice) {
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let result = run(&LoadSpec { threads: 2, ..closed(server.address(), io, 9, 101) });
    let account = server.stop().unwrap();
    assert_eq!(result.threads, 2);
    assert_eq!(
        (result.measured.requests.good, account.requests, account.connections),
        (101, 101, 9)
    );
    assert_eq!(result.measured.bytes.received, account.bytes_out);
    assert_eq!(result.generator.cpu_ns_by_thread.len(), 2);
    assert_eq!(result.generator.cpu_ns_by_thread.iter().sum::<u64>(), result.generator.cpu_ns);
}

/// Of 200 answers the 10th, 20th ... are 503: 20. They are complete, but not good, and nothing
/// failed.
fn every_tenth_answer_is_an_error(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        if request.number % 10 == 9 { Answer::new(503, b"busy") } else { Answer::ok(b"hello") }
    }))
    .unwrap();
    let result = run(&closed(server.address(), io, 4, 200));
    assert_eq!(server.stop().unwrap().by_status[&503], 20);
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.good, requests.failed), (200, 180, 0));
    assert_eq!(result.measured.status.codes, [(200, 180), (503, 20)].into());
    assert_eq!(errors(&result), [(ErrorKind::WrongStatus, 20)]);
    assert_eq!(result.measured.bytes.body, 180 * 5 + 20 * 4);
    let successes = Successes { completed: 180, body_bytes: 180 * 5 };
    assert_eq!(result.measured.successes, Some(successes));
    assert_eq!(result.measured.connections.opened, 4, "a wrong status is no reason to reconnect");
}

/// Two templates in turn on one connection; the server echoes which one it got, and each template
/// checks for its own answer: had the engine mixed up answers or checks, 100 would be wrong.
fn requests_take_turns(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        Answer::ok(if request.bytes.starts_with(b"GET /a ") { b"A" } else { b"B" })
    }))
    .unwrap();
    let template = |path: &str, body: &[u8]| Request {
        target: format!("/{path}"),
        ..get(BodyCheck::Exact(body.to_vec()))
    };
    let spec = LoadSpec {
        requests: vec![template("a", b"A"), template("b", b"B")].into(),
        ..closed(server.address(), io, 1, 100)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, account.requests), (100, 100));
}

/// The third of every three bodies differs in its last byte: 100 of 300.
fn wrong_bodies(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        Answer::ok(if request.number % 3 == 2 { b"hellO" } else { b"hello" })
    }))
    .unwrap();
    let checks = [
        (BodyCheck::Exact(b"hello".to_vec()), 100),
        (BodyCheck::Contains { min: 5, max: 5, all: vec!["hel".into(), "lo".into()] }, 100),
        (BodyCheck::Length { min: 5, max: 5 }, 0),
        (BodyCheck::Length { min: 6, max: 9 }, 300),
        (BodyCheck::Exact(b"hell".to_vec()), 300),
        (BodyCheck::Exact(b"hello!".to_vec()), 300),
    ];
    for (check, wrong) in checks {
        let result = run(&LoadSpec {
            requests: vec![get(check.clone())].into(),
            ..closed(server.address(), io, 2, 300)
        });
        let requests = result.measured.requests;
        assert_eq!(
            (requests.completed, requests.good, requests.failed),
            (300, 300 - wrong, 0),
            "{check:?}"
        );
        assert_eq!(
            result.measured.errors.get(&ErrorKind::WrongBody).copied().unwrap_or(0),
            wrong,
            "{check:?}"
        );
    }
}

/// HEAD, 204 and 304 have no body whatever Content-Length says; who waits for one hangs.
fn head_has_no_body(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        if request.bytes.starts_with(b"HEAD ") {
            Answer::ok(b"").declared_length(1_000)
        } else {
            Answer::raw(b"HTTP/1.1 204 No Content\r\n\r\n")
        }
    }))
    .unwrap();
    let head = Request { method: "HEAD".into(), ..get(BodyCheck::Exact(Vec::new())) };
    let no_content = Request {
        check: Check { status: vec![204], body: BodyCheck::Exact(Vec::new()), ..Check::default() },
        ..get(BodyCheck::Any)
    };
    let result = run(&LoadSpec {
        requests: vec![head, no_content].into(),
        ..closed(server.address(), io, 1, 50)
    });
    assert_eq!((result.measured.requests.good, result.measured.bytes.body), (50, 0));
    assert_eq!(result.measured.connections.opened, 1);
}

/// Without a list of right statuses, 200 to 399 are right: 301 is, 404 is not.
fn redirects_are_answers(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        Answer::new([200, 301, 404, 500][request.number as usize % 4], b"x")
    }))
    .unwrap();
    let any = Request { check: Check::default(), ..get(BodyCheck::Any) };
    let result =
        run(&LoadSpec { requests: vec![any].into(), ..closed(server.address(), io, 1, 40) });
    let exact = [200, 301, 404, 500].map(|code| (code, 10));
    assert_eq!(result.measured.status.codes, exact.into());
    assert_eq!(result.measured.requests.good, 20);
    assert_eq!(errors(&result), [(ErrorKind::WrongStatus, 20)]);
}
