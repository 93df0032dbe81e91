//! Steps that fail, and values that steps hand on: counts of each step that are exact.
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use pippin_model::load::{Arrivals, LoadSpec, Schedule, Stage, StopRule};
use pippin_model::result::{ErrorKind, StepMeasured};

use super::times::{assert_ms, counts, errors};
use super::users::{walk, walk_with};
use super::world::{Act, Acts, Script, answer};
use super::{MS, Played, closed, devices};

/// So many requests by users who go through steps.
fn counted(connections: u32, requests: u64) -> LoadSpec {
    let mut spec = closed(connections, 60_000);
    spec.stop.requests = Some(requests);
    spec
}

/// Completed, good and failed of each step.
fn by_step(played: &Played) -> Vec<(u64, u64, u64)> {
    let of = |step: &StepMeasured| (step.completed, step.good, step.failed);
    played.measured().steps.iter().map(of).collect()
}

/// Answers after 10 ms.
fn soon(act: Act) -> Acts {
    vec![(10 * MS, act)]
}

fn has(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

const TOKEN: &str = r#"
[[steps]]
get = "/a"
capture = { token = "json:$.token" }
[[steps]]
get = "/b/{token}"
"#;

/// Gives the value with each answer to the first step but every `nth`, and demands it at the second.
fn tokens(nth: u64) -> Script {
    let mut firsts = 0;
    Script::answering(move |asked| {
        if has(asked.bytes, "GET /a ") {
            firsts += 1;
            let body = if firsts % nth == 0 { "{\"tok\":1}" } else { "{\"token\":\"x/y\"}" };
            return soon(answer(200, "", body));
        }
        soon(answer(if has(asked.bytes, "GET /b/x%2Fy ") { 200 } else { 400 }, "", ""))
    })
}

/// Every third answer to the first step lacks the value. In 5 requests the user is so at step 1, 2,
/// 1, 2, 1: of 100 requests 60 are first steps, of which 20 find nothing, and 40 second ones.
#[test]
fn a_user_who_finds_nothing_starts_anew() {
    let played = walk(counted(1, 100), TOKEN, tokens(3));
    assert_eq!(counts(&played), [100, 100, 100, 0, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::NothingCaptured, 20)]);
    assert_eq!(by_step(&played), [(60, 40, 0), (40, 40, 0)]);
    let steps = &played.measured().steps;
    assert_eq!(steps[0].errors[&ErrorKind::NothingCaptured], 20);
    let example =
        "nothing to capture as `token` at json:$.token (status 200, 9 bytes: \"{\\\"tok\\\":1}\")";
    assert_eq!((steps[0].example.as_deref(), steps[1].example.as_deref()), (Some(example), None));
    assert_eq!(played.measured().connections.opened, 1);
}

/// Every second answer to the last of 2 steps is a closed connection: the user begins at step 1
/// again, on a new connection and without the cookies of the walk that failed. In 4 requests 1
/// fails.
#[test]
fn a_user_whose_request_fails_starts_anew() {
    let mut lasts = 0;
    let script = Script::answering(move |asked| {
        let has_cookie = has(asked.bytes, "Cookie: a=1");
        if has(asked.bytes, "GET /a ") {
            let status = if has_cookie { 400 } else { 200 };
            return soon(answer(status, "Set-Cookie: a=1\r\n", ""));
        }
        lasts += 1;
        match (lasts % 2 == 0, has_cookie) {
            (_, false) => soon(answer(400, "", "")),
            (true, true) => soon(Act::Close),
            (false, true) => soon(answer(200, "", "")),
        }
    });
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(counted(1, 40), steps, script);
    assert_eq!(counts(&played), [40, 40, 30, 10, 0, 0]);
    assert_eq!(errors(&played), [(ErrorKind::CloseBeforeAnswer, 10)]);
    assert_eq!(by_step(&played), [(20, 20, 0), (10, 10, 10)]);
    let example = played.measured().steps[1].example.as_deref();
    assert_eq!(example, Some("close before answer"));
}

/// Redirections as servers write them: a query alone, a path from the folder, and a whole URL with
/// a fragment. The next walk begins anew.
#[test]
fn references_lead_on_from_the_step_before() {
    let script = Script::answering(|asked| {
        let leads = [
            ("GET /shop/list?page=1 ", "?page=2"),
            ("GET /shop/list?page=2 ", "../up/one"),
            ("GET /up/one ", "http://sim/two#top"),
            ("GET /two ", ""),
        ];
        let to = leads.iter().find(|(line, _)| has(asked.bytes, line));
        soon(to.map_or_else(
            || answer(400, "", ""),
            |(_, to)| answer(302, &format!("Location: {to}\r\n"), ""),
        ))
    });
    let follow = "capture = { next = \"header:Location\" }\n[[steps]]\nget = \"{+next}\"\n";
    let steps = format!("[[steps]]\nget = \"/shop/list?page=1\"\n{}", follow.repeat(3));
    let played = walk(counted(1, 40), &steps, script);
    assert_eq!(errors(&played), [], "{:?}", played.measured().steps);
    assert_eq!(by_step(&played), [(10, 10, 0); 4]);
}

/// With a connection for each request, what a user has is not lost with its connection.
#[test]
fn cookies_outlive_connections() {
    let script = Script::answering(|asked| {
        let is_right = has(asked.bytes, "GET /a ") != has(asked.bytes, "Cookie: a=1\r\n");
        soon(answer(if is_right { 200 } else { 400 }, "Set-Cookie: a=1\r\n", ""))
    });
    let mut spec = counted(2, 20);
    spec.connections.requests_per_connection = Some(1);
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(spec, steps, script);
    assert_eq!((errors(&played), by_step(&played)), (vec![], vec![(10, 10, 0); 2]));
    assert_eq!(played.measured().connections.opened, 20);
}

/// Devices of 2 requests and 2 steps, 10 ms of thought between them and 10 ms for an answer: each
/// connection carries one walk from its beginning, in 30 ms, and the next device follows at once.
#[test]
fn a_device_goes_through_the_steps_once() {
    let script = Script::answering(|asked| {
        let (path, has_cookie) =
            [("GET /a ", false), ("GET /b ", true)][asked.of_connection as usize % 2];
        let is_right = has(asked.bytes, path)
            && asked.of_connection < 2
            && has(asked.bytes, "Cookie: a=1\r\n") == has_cookie;
        soon(answer(if is_right { 200 } else { 400 }, "Set-Cookie: a=1\r\n", ""))
    });
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(devices(1, 10, [30, 300, 30]), steps, script);
    assert!(played.stretches.iter().all(|phase| phase.errors.is_empty()));
    assert_eq!(by_step(&played), [(10, 10, 0); 2]);
}

/// Four steps, each of which fails in a way of its own in every second walk that comes to it: 15
/// requests make one round of 8, 4, 2 and 1.
#[test]
fn wrong_answers_are_counted_by_step() {
    let mut came = [0_u64; 4];
    let script = Script::answering(move |asked| {
        let step = usize::from(asked.bytes[5] - b'1');
        came[step] += 1;
        let is_wrong = came[step] % 2 == 1;
        soon(match (step, is_wrong) {
            (0, true) => answer(500, "", "ok"),
            (1, true) => answer(200, "X: 1\r\n", "no"),
            (2, true) => answer(200, "X: 2\r\n", "ok"),
            (3, true) => Act::Close,
            _ => answer(200, "X: 1\r\n", "ok"),
        })
    });
    let mut steps = String::new();
    for nth in 1..=4 {
        let expect = "{ status = 200, contains = \"ok\", header = { X = \"1\" } }";
        writeln!(steps, "[[steps]]\nget = \"/{nth}\"\nexpect = {expect}").unwrap();
    }
    let played = walk(counted(1, 150), &steps, script);
    assert_eq!(by_step(&played), [(80, 40, 0), (40, 20, 0), (20, 10, 0), (5, 5, 5)]);
    let steps = &played.measured().steps;
    let kinds: Vec<ErrorKind> = steps.iter().flat_map(|step| step.errors.keys().copied()).collect();
    let right = [
        ErrorKind::WrongStatus,
        ErrorKind::WrongBody,
        ErrorKind::WrongHeader,
        ErrorKind::CloseBeforeAnswer,
    ];
    assert_eq!(kinds, right);
    let examples: Vec<&str> = steps.iter().filter_map(|step| step.example.as_deref()).collect();
    let right = [
        "wrong status (status 500, 2 bytes: \"ok\")",
        "the body does not contain `ok` (status 200, 2 bytes: \"no\")",
        "the header X does not contain `1` (status 200, 2 bytes: \"ok\")",
        "close before answer",
    ];
    assert_eq!(examples, right);
}

/// The server answers the first step and closes, and refuses every later connection. The second step
/// is never sent, and its row says why; what is tried every 10 ms from then on begins no walk.
#[test]
fn a_walk_that_finds_no_connection_shows_it() {
    let script = Script::answering(|_| {
        vec![(10 * MS, answer(200, "Connection: close\r\n", "")), (10 * MS, Act::Close)]
    });
    let script = script.connecting(|number| match number {
        0 => vec![(0, Act::Accept)],
        _ => vec![(0, Act::Refuse(libc::ECONNREFUSED))],
    });
    let steps = "[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let played = walk(closed(1, 100), steps, script);
    assert_eq!(by_step(&played), [(1, 1, 0), (0, 0, 0)]);
    let [first, second] = &played.measured().steps[..] else { panic!("two steps") };
    let refused = [(ErrorKind::ConnectRefused, 1)].into();
    assert_eq!((first.errors.len(), &second.errors), (0, &refused));
    assert_eq!(second.example.as_deref(), Some("connect refused"));
    // At 10, 20, ... 90 ms.
    assert_eq!(counts(&played), [10, 1, 1, 0, 0, 9]);
    assert_eq!(errors(&played), [(ErrorKind::ConnectRefused, 9)]);
}

/// 100 arrivals a second for 0.4 s, then a rest in which all walks end.
fn arriving(connections: u32) -> LoadSpec {
    let stage = |ms: u64, per_s| Stage { duration_ns: ms * MS, from_per_s: per_s, to_per_s: per_s };
    let stages = vec![stage(400, 100.0), stage(600, 0.0)];
    let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages };
    let stop = StopRule { duration_ns: None, requests: None };
    LoadSpec { schedule, stop, ..closed(connections, 1) }
}

/// 40 arrivals of walks with 2 steps and a thought of 30 ms between them. Each takes the row of its
/// number. Only the first step is an arrival; the second one is due when its user has thought, and goes
/// over the same connection.
#[test]
fn arrivals_begin_walks() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&seen);
    let script = Script::answering(move |asked| {
        let path = str::from_utf8(asked.bytes).unwrap().split(' ').nth(1).unwrap();
        kept.borrow_mut().push((asked.at / MS, asked.connection, path.to_string()));
        soon(answer(200, "", ""))
    });
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (10..60).map(|n| format!("r{n}\n")).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("name\n{rows}")).unwrap();
    let steps = "[data]\nrow = { file = \"rows.csv\" }\n[[steps]]\nget = \"/a/{row.name}\"\nthink = \"30ms\"\n\
                 [[steps]]\nget = \"/b/{row.name}\"\n";
    let played = walk_with(arriving(12), steps, folder.path(), script);
    assert_eq!((counts(&played), errors(&played)), ([80, 80, 80, 0, 0, 0], vec![]));
    let (firsts, seconds): (Vec<_>, Vec<_>) =
        seen.take().into_iter().partition(|(.., path)| path.starts_with("/a/"));
    let arrivals: Vec<_> = firsts.iter().map(|(ms, _, path)| (*ms, path.clone())).collect();
    let right: Vec<_> = (0..40).map(|n| (10 * n, format!("/a/r{}", 10 + n))).collect();
    assert_eq!(arrivals, right);
    let then = |(ms, on, path): &(u64, u64, String)| (ms + 40, *on, path.replace("/a/", "/b/"));
    assert_eq!(seconds, firsts.iter().map(then).collect::<Vec<_>>());
    for step in &played.measured().steps {
        assert_ms(&step.response_time, [10; 40]);
    }
}

/// Every fourth answer to the first of 2 steps lacks the value: of 40 arrivals 10 walks end there,
/// and the others are whole.
#[test]
fn a_walk_that_fails_is_no_other_arrivals_loss() {
    let played = walk(arriving(4), TOKEN, tokens(4));
    assert_eq!(errors(&played), [(ErrorKind::NothingCaptured, 10)]);
    assert_eq!(by_step(&played), [(40, 30, 0), (30, 30, 0)]);
    assert_eq!(counts(&played), [70, 70, 70, 0, 0, 0]);
}
