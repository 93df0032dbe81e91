//! Scenarios: users who go through steps with values and cookies of their own. The server knows
//! what is right and answers 400 to everything else, so that a mixed-up value is an error.
use pippin_model::load::{Arrivals, IoChoice, LoadSpec, Schedule, Stage};
use pippin_model::result::{ErrorKind, StepMeasured};
use pippin_model::scenario::file::Written;
use pippin_model::text::file::parse_toml;
use pippin_model::text::units::Spread;
use pippin_testing::scripted::{Answer, Received, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::securing::late_reader;
use crate::support::{MS, closed, closed_for, errors, on_each_loop, run, trusting};
use pippin_testing::patience::in_time;

on_each_loop!(
    users_log_in_list_and_look,
    users_log_in_over_tls,
    a_user_who_finds_nothing_starts_anew,
    a_user_whose_request_fails_starts_anew,
    references_lead_on_from_the_step_before,
    cookies_outlive_connections,
    users_take_rows_in_turn,
    a_device_goes_through_the_steps_once,
    a_large_request_goes_out_in_parts,
    wrong_answers_are_counted_by_step,
    a_walk_that_finds_no_connection_shows_it,
    arrivals_begin_walks,
    a_walk_that_fails_is_no_other_arrivals_loss,
);

/// The steps of a scenario, as users write them, in place of the requests of a load.
fn walking(spec: LoadSpec, text: &str, folder: &Path) -> LoadSpec {
    let written: Written = parse_toml(Path::new("walk.toml"), text).unwrap();
    let (mut requests, scenario) = written.resolve(folder).unwrap();
    requests.iter_mut().for_each(|request| request.host = "truth".into());
    LoadSpec { requests: requests.into(), scenario: Some(scenario), ..spec }
}

fn walk(spec: LoadSpec, text: &str) -> LoadSpec {
    walking(spec, text, Path::new(""))
}

/// Completed, good and failed of each step.
fn counts(steps: &[StepMeasured]) -> Vec<(u64, u64, u64)> {
    steps.iter().map(|step| (step.completed, step.good, step.failed)).collect()
}

fn text<'a>(request: &Received<'a>) -> &'a str {
    str::from_utf8(request.bytes).unwrap()
}

const LOGIN: &str = r#"
cookies = true
[data]
name = { one_of = ["Ana M", "Bo"] }

[[steps]]
get = "/login"
expect = { status = 200, contains = "<form>" }
capture = { token = 'regex:value="([^"]+)"' }

[[steps]]
post = "/login"
form = { token = "{token}", name = "{name}" }
expect = { status = 302 }
capture = { next = "header:Location" }

[[steps]]
get = "{+next}"
expect = { header = { Content-Type = "json" }, json = { "$.items[0].seen" = true } }
capture = { id = "json:$.items[1].id" }

[[steps]]
name = "look"
get = "/items/{id}?name={name}"
expect = { contains = "{name} looks at {id}", regex = "looks at [0-9]+$", max_bytes = 40 }
"#;

/// A login with a token in a form and in a cookie, both other ones each time and bound to the
/// connection; then a list that only its cookie opens, and a detail page of it.
fn shop() -> Script {
    let mut issued = 0;
    Script::each(move |request, _| {
        let (text, connection) = (text(request), request.connection);
        let is_cookie = |cookie: String| text.contains(&format!("\r\nCookie: {cookie}\r\n"));
        let id = 700 + connection;
        if text.starts_with("GET /login ") && !text.contains("Cookie:") {
            issued += 1;
            return Answer::ok(
                format!("<form><input value=\"t{connection}-{issued}\">").as_bytes(),
            )
            .header(&format!("Set-Cookie: csrf=c{connection}; Path=/"));
        }
        let is_login = text.starts_with("POST /login ")
            && is_cookie(format!("csrf=c{connection}"))
            && text.contains("Content-Type: application/x-www-form-urlencoded\r\n")
            && [
                format!("name=Ana%20M&token=t{connection}-"),
                format!("name=Bo&token=t{connection}-"),
            ]
            .iter()
            .any(|body| text.contains(&format!("\r\n\r\n{body}")));
        if is_login {
            return Answer::new(302, b"")
                .header(&format!("Location: http://truth/list?of={connection}"))
                .header("Set-Cookie: csrf=; Max-Age=0; Path=/")
                .header(&format!("Set-Cookie: sid=s{connection}; HttpOnly; Path=/"));
        }
        if !is_cookie(format!("sid=s{connection}")) {
            return Answer::new(400, text.as_bytes());
        }
        if text.starts_with(&format!("GET /list?of={connection} ")) {
            let body = format!("{{\"items\":[{{\"seen\":true}},{{\"id\":{id}}}]}}");
            return Answer::ok(body.as_bytes()).header("Content-Type: application/json");
        }
        if text.starts_with(&format!("GET /items/{id}?name=Ana%20M ")) {
            return Answer::ok(format!("Ana M looks at {id}").as_bytes());
        }
        if text.starts_with(&format!("GET /items/{id}?name=Bo ")) {
            return Answer::ok(format!("Bo looks at {id}").as_bytes());
        }
        Answer::new(400, text.as_bytes())
    })
}

/// 3 users, 4 steps, 10 walks each at the least: everything is right, each step is sent as often as
/// its users came to it, and each user stays on its connection.
fn users_log_in_list_and_look(io: IoChoice) {
    let server = spawn(shop()).unwrap();
    let result = run(&walk(closed(server.address(), io, 3, 120), LOGIN));
    let account = server.stop().unwrap();
    let measured = &result.measured;
    assert_eq!(errors(&result), [], "{:?}", measured.steps);
    assert_eq!((measured.requests.good, account.requests, account.connections), (120, 120, 3));
    assert_eq!(measured.bytes.sent, account.bytes_in);
    let names: Vec<&str> = measured.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["GET /login", "POST /login", "GET {+next}", "look"]);
    let good: Vec<u64> = measured.steps.iter().map(|step| step.good).collect();
    assert_eq!(good.iter().sum::<u64>(), 120);
    // The end cuts off the walk of each of 3 users at the most.
    assert!(good.is_sorted_by(|a, b| a >= b) && good[0] - good[3] <= 3, "{good:?}");
    assert!(measured.steps.iter().all(|step| step.example.is_none()
        && step.service_time.count() == step.completed
        && step.response_time.count() == step.completed));
}

/// Users log in over TLS, by two threads.
fn users_log_in_over_tls(io: IoChoice) {
    let authority = Authority::new();
    let server = spawn(shop()).unwrap();
    let secured = authority.server(&Certified::default());
    let front = Front::spawn(server.address(), secured, FrontBehaviour::default()).unwrap();
    let plain = closed(front.address(), io, 2, 80);
    let spec = LoadSpec { tls: Some(trusting(&authority)), threads: 2, ..plain };
    let result = run(&walk(spec, LOGIN));
    assert_eq!(errors(&result), [], "{:?}", result.measured.steps);
    assert_eq!(counts(&result.measured.steps), [(20, 20, 0); 4]);
    assert_eq!(server.stop().unwrap().connections, 2);
}

const TOKEN: &str = r#"
[[steps]]
get = "/a"
capture = { token = "json:$.token" }
[[steps]]
get = "/b/{token}"
"#;

/// Every third answer to the first step lacks the value. In 5 requests the user is so at step 1, 2,
/// 1, 2, 1: of 100 requests 60 are first steps, of which 20 find nothing, and 40 second ones.
fn a_user_who_finds_nothing_starts_anew(io: IoChoice) {
    let mut firsts = 0;
    let server = spawn(Script::each(move |request, _| {
        if text(request).starts_with("GET /a ") {
            firsts += 1;
            return Answer::ok(if firsts % 3 == 0 {
                b"{\"tok\":1}"
            } else {
                b"{\"token\":\"x/y\"}"
            });
        }
        Answer::new(if text(request).starts_with("GET /b/x%2Fy ") { 200 } else { 400 }, b"")
    }))
    .unwrap();
    let result = run(&walk(closed(server.address(), io, 1, 100), TOKEN));
    assert_eq!(server.stop().unwrap().connections, 1);
    assert_eq!(errors(&result), [(ErrorKind::NothingCaptured, 20)]);
    let requests = result.measured.requests;
    assert_eq!((requests.completed, requests.good, requests.failed), (100, 80, 0));
    let steps = &result.measured.steps;
    assert_eq!(counts(steps), [(60, 40, 0), (40, 40, 0)]);
    assert_eq!(steps[0].errors[&ErrorKind::NothingCaptured], 20);
    let example = steps[0].example.as_deref().unwrap();
    assert_eq!(
        example,
        "nothing to capture as `token` at json:$.token (status 200, 9 bytes: \"{\\\"tok\\\":1}\")"
    );
    assert_eq!(steps[1].example, None);
}

/// Every second answer to the last of 2 steps is a closed connection: the user begins at step 1
/// again, on a new connection and without the cookies of the walk that failed. In 4 requests 1
/// fails.
fn a_user_whose_request_fails_starts_anew(io: IoChoice) {
    let mut lasts = 0;
    let server = spawn(Script::each(move |request, _| {
        let text = text(request);
        if text.starts_with("GET /a ") {
            let status = if text.contains("Cookie") { 400 } else { 200 };
            return Answer::new(status, b"").header("Set-Cookie: a=1");
        }
        lasts += 1;
        match (lasts % 2 == 0, text.contains("Cookie: a=1")) {
            (_, false) => Answer::new(400, b""),
            (true, true) => Answer::close(),
            (false, true) => Answer::ok(b""),
        }
    }))
    .unwrap();
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let result = run(&walk(closed(server.address(), io, 1, 40), steps));
    assert_eq!(server.stop().unwrap().requests, 40);
    assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 10)]);
    assert_eq!(counts(&result.measured.steps), [(20, 20, 0), (10, 10, 10)]);
    let example = result.measured.steps[1].example.as_deref();
    assert_eq!(example, Some("close before answer"));
}

/// Redirections as servers write them: a query alone, a path from the folder, and a whole URL with
/// a fragment. The next walk begins anew.
fn references_lead_on_from_the_step_before(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        let leads = [
            ("GET /shop/list?page=1 ", "?page=2"),
            ("GET /shop/list?page=2 ", "../up/one"),
            ("GET /up/one ", "http://truth/two#top"),
            ("GET /two ", ""),
        ];
        match leads.iter().find(|(line, _)| text(request).starts_with(line)) {
            Some((_, to)) => Answer::new(302, b"").header(&format!("Location: {to}")),
            None => Answer::new(400, b""),
        }
    }))
    .unwrap();
    let follow = "capture = { next = \"header:Location\" }\n[[steps]]\nget = \"{+next}\"\n";
    let steps = format!("[[steps]]\nget = \"/shop/list?page=1\"\n{}", follow.repeat(3));
    let result = run(&walk(closed(server.address(), io, 1, 40), &steps));
    assert_eq!(server.stop().unwrap().requests, 40);
    assert_eq!(errors(&result), [], "{:?}", result.measured.steps);
    assert_eq!(counts(&result.measured.steps), [(10, 10, 0); 4]);
}

/// With a connection for each request, what a user has is not lost with its connection.
fn cookies_outlive_connections(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        let text = text(request);
        let is_first = text.starts_with("GET /a ");
        let status = if text.contains("Cookie: a=1\r\n") == is_first { 400 } else { 200 };
        Answer::new(status, b"").header("Set-Cookie: a=1")
    }))
    .unwrap();
    let mut spec = closed(server.address(), io, 2, 20);
    spec.connections.requests_per_connection = Some(1);
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let result = run(&walk(spec, steps));
    assert_eq!(server.stop().unwrap().connections, 20);
    assert_eq!(errors(&result), []);
    assert_eq!(result.measured.requests.good, 20);
}

/// 2 users on 2 threads and 20 requests: each of 20 rows is sent once, whatever thread was faster.
fn users_take_rows_in_turn(io: IoChoice) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let server = spawn(Script::each(move |request, _| {
        let line = text(request).lines().next().unwrap_or_default().to_string();
        kept.lock().unwrap().push(line);
        Answer::ok(b"")
    }))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (10..30).map(|n| format!("r{n}\n")).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("name\n{rows}")).unwrap();
    let steps = "[data]\nrow = { file = \"rows.csv\" }\n[[steps]]\nget = \"/{row.name}\"\n";
    let spec = LoadSpec { threads: 2, ..closed(server.address(), io, 2, 20) };
    let result = run(&walking(spec, steps, folder.path()));
    server.stop().unwrap();
    assert_eq!(result.measured.requests.good, 20);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let rows: Vec<String> = (10..30).map(|n| format!("GET /r{n} HTTP/1.1")).collect();
    assert_eq!(seen, rows);
}

/// Devices of 2 requests and 2 steps: each connection carries one walk from its beginning.
fn a_device_goes_through_the_steps_once(io: IoChoice) {
    let server = spawn(Script::each(|request, _| {
        let text = text(request);
        let (path, cookie) = [("GET /a ", ""), ("GET /b ", "Cookie: a=1\r\n")]
            [request.number_on_connection as usize % 2];
        let is_right = text.starts_with(path)
            && request.number_on_connection < 2
            && text.contains("Cookie") != cookie.is_empty()
            && text.contains(cookie);
        Answer::new(if is_right { 200 } else { 400 }, b"").header("Set-Cookie: a=1")
    }))
    .unwrap();
    let schedule = Schedule::Devices {
        devices: 5,
        requests_per_device: 2,
        think: Spread::exactly(10 * MS),
        ramp_up_ns: 50 * MS,
        sustain_ns: 200 * MS,
        ramp_down_ns: 50 * MS,
    };
    let steps = "cookies = true\n[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let mut spec = LoadSpec { schedule, ..closed_for(server.address(), io, 5, 300) };
    spec.stop.duration_ns = None;
    let result = run(&walk(spec, steps));
    let account = server.stop().unwrap();
    in_time(account.requests > 10, || format!("{} requests", account.requests));
    assert_eq!(account.by_status.keys().collect::<Vec<_>>(), [&200], "{:?}", result.measured.steps);
    let of_phases = result.phases.iter().map(|phase| phase.measured.steps[0].good);
    let walks: u64 = of_phases.sum();
    in_time(walks >= 5, || format!("{walks} walks"));
}

/// More bytes than the kernel takes at once, before a server that takes its time to read them; the
/// value is the same each time.
fn a_large_request_goes_out_in_parts(io: IoChoice) {
    let large = "x".repeat(8_000_000);
    let head = "POST / HTTP/1.1\r\nHost: truth\r\nContent-Length: 8000001\r\n\r\n";
    let address = late_reader(format!("{head}{large}7").into_bytes());
    let steps = format!(
        "[data]\nn = {{ from = 7, to = 7 }}\n[[steps]]\npost = \"/\"\nbody = \"{large}{{n}}\"\n\
         expect = {{ contains = \"as sent\" }}\n"
    );
    let result = run(&walk(closed(address, io, 2, 6), &steps));
    assert_eq!((errors(&result), result.measured.requests.good), (vec![], 6));
    assert_eq!(result.measured.bytes.sent, 6 * (head.len() as u64 + 8_000_001));
}

/// Four steps, each of which fails in a way of its own in every second walk that comes to it: 15
/// requests make one round of 8, 4, 2 and 1.
fn wrong_answers_are_counted_by_step(io: IoChoice) {
    let mut came = [0_u64; 4];
    let server = spawn(Script::each(move |request, _| {
        let step = usize::from(request.bytes[5] - b'1');
        came[step] += 1;
        let is_wrong = came[step] % 2 == 1;
        match (step, is_wrong) {
            (0, true) => Answer::new(500, b"ok"),
            (1, true) => Answer::ok(b"no").header("X: 1"),
            (2, true) => Answer::ok(b"ok").header("X: 2"),
            (3, true) => Answer::close(),
            _ => Answer::ok(b"ok").header("X: 1"),
        }
    }))
    .unwrap();
    let step = |n: u32| {
        format!(
            "[[steps]]\nget = \"/{n}\"\nexpect = {{ status = 200, contains = \"ok\", header = {{ X = \"1\" }} }}\n"
        )
    };
    let steps: String = (1..=4).map(step).collect();
    let result = run(&walk(closed(server.address(), io, 1, 150), &steps));
    server.stop().unwrap();
    let steps = &result.measured.steps;
    assert_eq!(counts(steps), [(80, 40, 0), (40, 20, 0), (20, 10, 0), (5, 5, 5)]);
    let kinds: Vec<Vec<ErrorKind>> =
        steps.iter().map(|step| step.errors.keys().copied().collect()).collect();
    assert_eq!(
        kinds,
        [
            [ErrorKind::WrongStatus],
            [ErrorKind::WrongBody],
            [ErrorKind::WrongHeader],
            [ErrorKind::CloseBeforeAnswer]
        ]
    );
    let examples: Vec<&str> = steps.iter().filter_map(|step| step.example.as_deref()).collect();
    assert_eq!(
        examples,
        [
            "wrong status (status 500, 2 bytes: \"ok\")",
            "the body does not contain `ok` (status 200, 2 bytes: \"no\")",
            "the header X does not contain `1` (status 200, 2 bytes: \"ok\")",
            "close before answer",
        ]
    );
}

/// The server answers the first step, closes and listens no more. The second step is never sent, and
/// its row says why; later attempts begin no walk.
fn a_walk_that_finds_no_connection_shows_it(io: IoChoice) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        assert!(stream.read(&mut [0; 1_024]).unwrap() > 0);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer).unwrap();
    });
    let steps = "[[steps]]\nget = \"/a\"\n[[steps]]\nget = \"/b\"\n";
    let result = run(&walk(closed_for(address, io, 1, 100), steps));
    server.join().unwrap();
    let [first, second] = result.measured.steps.as_slice() else { panic!("two steps") };
    assert_eq!(counts(&result.measured.steps), [(1, 1, 0), (0, 0, 0)]);
    assert_eq!(
        (first.errors.len(), second.errors.clone()),
        (0, [(ErrorKind::ConnectRefused, 1)].into())
    );
    assert_eq!(second.example.as_deref(), Some("connect refused"));
}

/// 100 arrivals a second for 0.4 s, then a rest in which all walks end.
fn arriving(address: SocketAddr, io: IoChoice, connections: u32) -> LoadSpec {
    let stage = |milliseconds: u64, rate_per_s| Stage {
        duration_ns: milliseconds * MS,
        from_per_s: rate_per_s,
        to_per_s: rate_per_s,
    };
    let stages = vec![stage(400, 100.0), stage(600, 0.0)];
    LoadSpec {
        schedule: Schedule::Open { arrivals: Arrivals::Constant, stages },
        ..closed_for(address, io, connections, 1_000)
    }
}

/// 40 arrivals on 2 threads, of walks with 2 steps and a thought of 30 ms between them: each takes
/// the row of its number, both steps on the same connection, and only the first step is an arrival.
fn arrivals_begin_walks(io: IoChoice) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let server = spawn(Script::each(move |request, _| {
        let path = text(request).split(' ').nth(1).unwrap_or_default().to_string();
        kept.lock().unwrap().push((request.connection, path));
        Answer::ok(b"")
    }))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (10..60).map(|n| format!("r{n}\n")).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("name\n{rows}")).unwrap();
    let steps = "[data]\nrow = { file = \"rows.csv\" }\n[[steps]]\nget = \"/a/{row.name}\"\nthink = \"30ms\"\n\
                 [[steps]]\nget = \"/b/{row.name}\"\n";
    let spec = LoadSpec { threads: 2, ..arriving(server.address(), io, 12) };
    let result = run(&walking(spec, steps, folder.path()));
    let account = server.stop().unwrap();
    let measured = &result.measured;
    assert_eq!((errors(&result), counts(&measured.steps)), (vec![], vec![(40, 40, 0); 2]));
    assert_eq!((measured.requests.scheduled, measured.requests.unsent), (80, 0));
    let mut seen = seen.lock().unwrap().clone();
    for connection in 0..account.connections {
        let of_one = seen.iter().filter(|(own, _)| *own == connection);
        let of_one: Vec<&str> = of_one.map(|(_, path)| path.as_str()).collect();
        assert!(
            of_one.chunks(2).all(|walk| walk[0].replace("/a/", "/b/") == walk[1]),
            "{of_one:?}"
        );
    }
    seen.retain(|(_, path)| path.starts_with("/a/"));
    let mut rows: Vec<&str> = seen.iter().map(|(_, path)| &path[3..]).collect();
    rows.sort_unstable();
    assert_eq!(rows, (10..50).map(|n| format!("r{n}")).collect::<Vec<_>>());
}

/// Every fourth answer to the first of 2 steps lacks the value: of 40 arrivals 10 walks end there,
/// and the others are whole.
fn a_walk_that_fails_is_no_other_arrivals_loss(io: IoChoice) {
    let mut firsts = 0;
    let server = spawn(Script::each(move |request, _| {
        if text(request).starts_with("GET /a ") {
            firsts += 1;
            let body: &[u8] = if firsts % 4 == 0 { b"{}" } else { b"{\"token\":\"x/y\"}" };
            return Answer::ok(body);
        }
        Answer::new(if text(request).starts_with("GET /b/x%2Fy ") { 200 } else { 400 }, b"")
    }))
    .unwrap();
    let result = run(&walk(arriving(server.address(), io, 4), TOKEN));
    server.stop().unwrap();
    assert_eq!(errors(&result), [(ErrorKind::NothingCaptured, 10)]);
    assert_eq!(counts(&result.measured.steps), [(40, 30, 0), (30, 30, 0)]);
    assert_eq!(result.measured.requests.scheduled, 70);
}
