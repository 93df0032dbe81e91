//! Scenarios: users who go through steps with values and cookies of their own. The server knows
//! what is right and answers 400 to everything else, so that a mixed-up value is an error. Steps that fail,
//! and arrivals that begin walks, are tested in virtual time (`worker/sim`).
use pippin_model::load::{IoChoice, LoadSpec};
use pippin_model::result::StepMeasured;
use pippin_model::scenario::file::Written;
use pippin_model::text::file::parse_toml;
use pippin_testing::scripted::{Answer, Received, Script, spawn};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::securing::late_reader;
use crate::support::{closed, errors, on_each_loop, run, trusting};

on_each_loop!(
    users_log_in_list_and_look,
    users_log_in_over_tls,
    users_take_rows_in_turn,
    a_large_request_goes_out_in_parts,
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
