//! Right and wrong answers, and what ends a connection: counts that are exact.
use std::cell::RefCell;
use std::rc::Rc;

use pippin_model::load::{BodyCheck, Check, LoadSpec, Request, Schedule, WarmUp};
use pippin_model::result::{ErrorKind, Successes};
use pippin_model::text::units::Spread;

use super::pipelining::{own_name, page};
use super::times::{assert_ms, counts, errors};
use super::world::{Act, Script, answer, ok};
use super::{MS, Played, closed, play};

/// So many requests by users who wait for their answers.
fn counted(connections: u32, requests: u64) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    spec
}

/// Right answers have this status and this body.
fn checked(status: u16, body: BodyCheck) -> Request {
    let check = Check { status: vec![status], body, ..Check::default() };
    Request { check, ..Request::get("/", "sim") }
}

fn good(played: &Played) -> u64 {
    played.measured().requests.good
}

/// Every tenth of 200 answers is 503: they are complete and not good, and nothing failed.
#[test]
fn every_tenth_answer_is_an_error() {
    let script = Script::answering(|asked| {
        let is_busy = asked.nth % 10 == 9;
        vec![(MS, if is_busy { answer(503, "", "busy") } else { answer(200, "", "hello") })]
    });
    let requests = vec![checked(200, BodyCheck::Any)].into();
    let played = play(&LoadSpec { requests, ..counted(4, 200) }, script);
    assert_eq!((counts(&played), good(&played)), ([200, 200, 200, 0, 0, 0], 180));
    assert_eq!(errors(&played), [(ErrorKind::WrongStatus, 20)]);
    let measured = played.measured();
    assert_eq!(measured.status.codes, [(200, 180), (503, 20)].into());
    assert_eq!(measured.bytes.body, 180 * 5 + 20 * 4);
    let successes = Successes { completed: 180, body_bytes: 180 * 5 };
    assert_eq!(measured.successes, Some(successes));
    assert_eq!(measured.connections.opened, 4, "a wrong status is no reason to reconnect");
}

/// Two pages in turn on one connection, each with its own right answer.
#[test]
fn requests_take_turns() {
    let seen = Rc::new(RefCell::new(String::new()));
    let kept = Rc::clone(&seen);
    let script = Script::answering(move |asked| {
        kept.borrow_mut().push(char::from(asked.bytes[5]));
        vec![(MS, own_name(asked.bytes))]
    });
    let requests = ['a', 'b', 'c'].map(page).to_vec().into();
    let played = play(&LoadSpec { requests, ..counted(1, 99) }, script);
    assert_eq!((good(&played), errors(&played)), (99, vec![]));
    assert_eq!(*seen.borrow(), "abc".repeat(33));
}

/// The third of every three bodies differs in its last byte: 100 of 300.
#[test]
fn wrong_bodies() {
    let contains = BodyCheck::Contains { min: 5, max: 5, all: vec!["hel".into(), "lo".into()] };
    let checks = [
        (BodyCheck::Exact(b"hello".to_vec()), 100),
        (contains, 100),
        (BodyCheck::Length { min: 5, max: 5 }, 0),
        (BodyCheck::Length { min: 6, max: 9 }, 300),
        (BodyCheck::Exact(b"hell".to_vec()), 300),
        (BodyCheck::Exact(b"hello!".to_vec()), 300),
    ];
    for (check, wrong) in checks {
        let script = Script::answering(|asked| {
            vec![(MS, answer(200, "", if asked.nth % 3 == 2 { "hellO" } else { "hello" }))]
        });
        let requests = vec![checked(200, check.clone())].into();
        let played = play(&LoadSpec { requests, ..counted(2, 300) }, script);
        assert_eq!(counts(&played), [300, 300, 300, 0, 0, 0], "{check:?}");
        let seen = played.measured().errors.get(&ErrorKind::WrongBody).copied();
        assert_eq!((seen.unwrap_or(0), good(&played)), (wrong, 300 - wrong), "{check:?}");
    }
}

/// HEAD and 204 have no body whatever Content-Length says; who waits for one hangs.
#[test]
fn head_has_no_body() {
    let script = Script::answering(|asked| {
        let text = match asked.bytes.starts_with(b"HEAD ") {
            true => "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
            false => "HTTP/1.1 204 No Content\r\n\r\n",
        };
        vec![(MS, Act::Send(text.into()))]
    });
    let nothing = |status| checked(status, BodyCheck::Exact(Vec::new()));
    let head = Request { method: "HEAD".into(), ..nothing(200) };
    let requests = vec![head, nothing(204)].into();
    let played = play(&LoadSpec { requests, ..counted(1, 50) }, script);
    assert_eq!((good(&played), played.measured().bytes.body), (50, 0));
    assert_eq!(played.measured().connections.opened, 1);
}

/// Without a list of right statuses, 200 to 399 are right: 301 is, 404 is not.
#[test]
fn redirects_are_answers() {
    const STATUSES: [u16; 4] = [200, 301, 404, 500];
    let script = Script::answering(|asked| {
        vec![(MS, answer(STATUSES[asked.nth as usize % 4], "Location: /b\r\n", "x"))]
    });
    let played = play(&counted(1, 40), script);
    assert_eq!(played.measured().status.codes, STATUSES.map(|status| (status, 10)).into());
    assert_eq!((good(&played), errors(&played)), (20, vec![(ErrorKind::WrongStatus, 20)]));
    assert_eq!(played.measured().redirected_to.as_deref(), Some("/b"), "where to");
}

/// Six requests fail, each in this way, after 10 ms; what is never answered, after 60 ms.
#[test]
fn each_kind_of_failure_is_told_apart() {
    type Case = (&'static str, bool, ErrorKind);
    let cases: [Case; 8] = [
        ("", true, ErrorKind::CloseBeforeAnswer),
        ("HTTP/1.1 200 OK\r\nContent-", true, ErrorKind::CloseBeforeAnswer),
        ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello", true, ErrorKind::CloseInBody),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
            true,
            ErrorKind::CloseInBody,
        ),
        ("220 smtp.example ESMTP\r\n", false, ErrorKind::Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n", false, ErrorKind::TooLarge),
        ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello", false, ErrorKind::Timeout),
        ("", false, ErrorKind::Timeout),
    ];
    for (text, closes, kind) in cases {
        let script = Script::answering(move |_| {
            let says = (!text.is_empty()).then(|| (10 * MS, Act::Send(text.into())));
            says.into_iter().chain(closes.then_some((10 * MS, Act::Close))).collect()
        });
        let mut spec = counted(2, 6);
        spec.timeouts.request_ns = 60 * MS;
        let played = play(&spec, script);
        assert_eq!((counts(&played), played.read), ([6, 6, 0, 6, 0, 0], 6), "{text}");
        assert_eq!(errors(&played), [(kind, 6)], "{text}");
        let timed = if kind == ErrorKind::Timeout { 6 } else { 0 };
        assert_ms(&played.measured().spans.service_time, vec![60; timed]);
    }
}

/// Nobody listens: each request is given up, and the load ends.
#[test]
fn nobody_listens_and_a_counted_load_ends() {
    let refuses = |_| vec![(0, Act::Refuse(libc::ECONNREFUSED))];
    let played = play(&counted(2, 10), Script::after(MS).connecting(refuses));
    assert_eq!(counts(&played), [10, 0, 0, 0, 0, 10]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectRefused, 10)]);
}

/// 30 requests over connections that carry so many each and take 5 ms to open. The only request of a
/// connection says so; the last of several does not.
#[test]
fn one_connection_for_each_request_or_for_several() {
    for (limit, connections) in [(1, 30), (7, 5), (30, 1)] {
        let script = Script::answering(move |asked| {
            let says = memchr::memmem::find(asked.bytes, b"\r\nConnection: close\r\n").is_some();
            assert_eq!(says, limit == 1);
            vec![(10 * MS, ok())]
        });
        let mut spec = counted(1, 30);
        spec.connections.requests_per_connection = Some(limit);
        let played = play(&spec, script.connecting(|_| vec![(5 * MS, Act::Accept)]));
        let measured = played.measured();
        assert_eq!((counts(&played), good(&played)), ([30, 30, 30, 0, 0, 0], 30));
        let seen = measured.connections;
        assert_eq!((seen.opened, seen.reconnects), (connections, connections - 1));
        assert_eq!((seen.closed_by_server, measured.spans.connect.count()), (0, connections));
        assert_ms(&measured.spans.service_time, [10; 30]);
        // The first connection of a load that keeps connections is open before it begins.
        let opens = connections as usize - usize::from(limit > 1);
        let waits = [[15].repeat(opens), [10].repeat(30 - opens)].concat();
        assert_ms(&measured.spans.response_time, waits);
    }
}

/// The server closes behind the fifth answer of a connection, and says so or not. Each user thinks for
/// 10 ms, so that no request crosses the close.
#[test]
fn a_keep_alive_limit_is_found_and_is_no_error() {
    for announced in ["", "Connection: close\r\n"] {
        let script = Script::answering(move |asked| match asked.of_connection {
            4 => vec![(MS, answer(200, announced, "ok")), (MS, Act::Close)],
            _ => vec![(MS, ok())],
        });
        let schedule = Schedule::Closed { think: Some(Spread::exactly(10 * MS)) };
        let played = play(&LoadSpec { schedule, ..counted(2, 100) }, script);
        let measured = played.measured();
        assert_eq!((good(&played), errors(&played)), (100, vec![]));
        assert_eq!(measured.closes.requests_range(), Some((5, 5)));
        let seen = measured.connections;
        assert_eq!((seen.opened, seen.reconnects, seen.closed_by_server), (20, 18, 20));
    }
}

/// The answer ends with its connection; or bytes follow it that belong to no answer.
#[test]
fn the_end_of_an_answer_may_be_that_of_its_connection() {
    let script = |text: &'static str| {
        Script::answering(move |_| vec![(MS, Act::Send(text.into())), (MS, Act::Close)])
    };
    let played = play(&counted(1, 10), script("HTTP/1.1 200 OK\r\n\r\nuntil the end"));
    assert_eq!((good(&played), played.measured().connections.closed_by_server), (10, 10));
    let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\noksurplus";
    let played = play(&counted(1, 10), script(surplus));
    assert_eq!((counts(&played), good(&played)), ([10, 10, 10, 0, 0, 0], 0));
    assert_eq!(errors(&played), [(ErrorKind::Malformed, 10)]);
}

/// Three paths in turn: `/b` fails each time, and its row comes first.
#[test]
fn each_path_has_a_row_and_the_worst_is_first() {
    let script = Script::answering(|asked| {
        let is_bad = asked.bytes.starts_with(b"GET /b ");
        vec![(MS, answer(if is_bad { 500 } else { 200 }, "", "x"))]
    });
    let asks = |target: &str| Request { target: target.into(), ..checked(200, BodyCheck::Any) };
    let requests = ["/a?q=1", "/b", "/a?q=2"].map(asks).to_vec().into();
    let played = play(&LoadSpec { requests, by_request: true, ..counted(2, 30) }, script);
    let rows = played.measured().by_request.iter();
    let rows: Vec<_> = rows
        .map(|row| (row.name.as_str(), row.completed, row.good, row.response_time.count()))
        .collect();
    assert_eq!(rows, [("GET /b", 10, 0, 10), ("GET /a", 20, 20, 20)]);
}

/// 2 users whose answers take 2 ms; each connection is closed behind its third answer, with a word, in
/// the warm-up too: every 6 ms, and so from 204 to 294 ms within the measured part. What happened before
/// is not counted.
#[test]
fn closes_are_those_of_the_measured_part() {
    let script = Script::answering(|asked| match asked.of_connection {
        2 => vec![(2 * MS, answer(200, "Connection: close\r\n", "ok")), (2 * MS, Act::Close)],
        _ => vec![(2 * MS, ok())],
    });
    let warm_up = WarmUp::Fixed { duration_ns: 200 * MS };
    let played = play(&LoadSpec { warm_up, ..closed(2, 100) }, script);
    let (seen, closes) = (played.measured().connections, &played.measured().closes);
    assert_eq!((seen.opened_before, seen.reconnects, seen.opened), (2, 32, 34));
    assert_eq!((seen.closed_by_server, closes.count()), (32, 32));
    assert_eq!((closes.requests_range(), closes.by_idle_ns.count()), (Some((3, 3)), 0));
}
