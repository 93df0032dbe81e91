//! Values that are drawn anew for each request: the server gets another one each time, and only an
//! answer with that very one is right.
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use pippin_engine::{Control, Exchange, Referee};
use pippin_model::load::{BodyCheck, Connections, IdForm, IoChoice, LoadSpec, Request, RequestId};
use pippin_testing::scripted::{Answer, Received, Script, spawn};
use pippin_testing::tls::{Authority, Front, FrontBehaviour};

use crate::support::{closed, errors, examining_all, get, on_each_loop, run, trusting};

on_each_loop!(
    each_request_has_a_value_of_its_own,
    values_go_through_tls_and_over_a_connection_each,
    each_request_of_a_pipeline_has_a_value_of_its_own,
    a_referee_is_told_the_value,
    the_media_type_of_examined_answers_is_looked_at,
    each_request_has_a_name_that_the_server_sees,
);

/// How often each target came.
type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

fn target(received: &Received<'_>) -> String {
    let text = String::from_utf8_lossy(received.bytes);
    text.split(' ').nth(1).unwrap_or_default().to_string()
}

/// Answers with what follows the last slash.
fn echo(seen: &Counts) -> Script {
    let seen = Arc::clone(seen);
    Script::each(move |received, _| {
        let target = target(received);
        *seen.lock().unwrap().entry(target.clone()).or_default() += 1;
        let name = target.rsplit('/').next().unwrap_or_default();
        Answer::ok(format!("Hola {name}! Hola again, {name}").as_bytes())
    })
}

fn drawn(target: &str, drawn: &str, body: BodyCheck) -> Request {
    Request { target: target.into(), drawn: Some(drawn.into()), ..get(body) }
}

/// Three kinds in turn: letters in a body that is known as a whole, digits in texts that must be in
/// the body, and a request that is the same each time.
fn requests() -> Vec<Request> {
    let whole = "Hola Jo-abcdefgh! Hola again, Jo-abcdefgh";
    let all = vec!["Hola 12345678!".into(), "again".into(), "n, 12345678".into()];
    vec![
        drawn("/a/Jo-abcdefgh", "abcdefgh", BodyCheck::Exact(whole.into())),
        drawn("/b/12345678", "12345678", BodyCheck::Contains { min: 9, max: 99, all }),
        Request { target: "/c/x".into(), ..get(BodyCheck::Exact(b"Hola x! Hola again, x".into())) },
    ]
}

fn each_request_has_a_value_of_its_own(io: IoChoice) {
    let seen = Counts::default();
    let server = spawn(echo(&seen)).unwrap();
    let spec = LoadSpec {
        requests: requests().into(),
        threads: 2,
        ..closed(server.address(), io, 6, 3_000)
    };
    let result = run(&spec);
    let account = server.stop().unwrap();
    assert_eq!((result.measured.requests.good, errors(&result)), (3_000, Vec::new()));
    assert_eq!(result.measured.bytes.sent, account.bytes_in);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.values().sum::<u64>(), 3_000);
    let of = |prefix: &str| seen.iter().filter(|(target, _)| target.starts_with(prefix)).count();
    // Some 1,000 of 90 million and of 26^8: two that are equal would be a rare chance.
    let plain = seen["/c/x"];
    assert!((900..1_100).contains(&plain), "{plain}");
    assert!(of("/a/Jo-") + of("/b/") + 2 >= 3_000 - plain as usize, "{}", seen.len());
    let is_of_its_kind = |target: &String| match target.strip_prefix("/a/Jo-") {
        Some(letters) => letters.len() == 8 && letters.bytes().all(|b| b.is_ascii_lowercase()),
        None => target.starts_with("/c/") || target["/b/".len()..].parse::<u32>().is_ok(),
    };
    assert!(seen.keys().all(is_of_its_kind));
}

/// Names of requests that are sent alone, in a pipeline, and over a connection each: what the server
/// reads is what the result calls them, each once.
fn each_request_has_a_name_that_the_server_sees(io: IoChoice) {
    for (depth, is_kept) in [(1, true), (4, true), (1, false)] {
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&names);
        let server = spawn(Script::each(move |received, _| {
            let text = String::from_utf8_lossy(received.bytes).into_owned();
            let name = text.lines().find_map(|line| line.strip_prefix("X-Request-Id: "));
            assert!(seen.lock().unwrap().insert(name.unwrap().to_string()), "{text}");
            Answer::ok(b"ok")
        }))
        .unwrap();
        let id = RequestId { form: IdForm::XRequestId, prefix: "0af7651916cd43dd8448eb21".into() };
        let spec = LoadSpec {
            threads: 2,
            request_id: Some(id),
            samples: 10_000,
            ..closed(server.address(), io, 4, 400)
        };
        let mut spec = pipelined(spec, depth);
        spec.connections.requests_per_connection = (!is_kept).then_some(1);
        let result = run(&spec);
        assert_eq!((result.measured.requests.good, errors(&result)), (400, Vec::new()));
        let rows = result.request_sample.unwrap();
        let rows: BTreeSet<String> =
            rows.requests.iter().filter_map(|one| one.id.clone()).collect();
        assert_eq!((rows.len(), &rows), (400, &*names.lock().unwrap()), "{depth} {is_kept}");
    }
}

fn pipelined(spec: LoadSpec, depth: u32) -> LoadSpec {
    LoadSpec { connections: Connections { pipeline: depth, ..spec.connections }, ..spec }
}

/// TLS in front of a server.
struct Secured {
    authority: Authority,
    front: Front,
}

impl Secured {
    fn before(server: SocketAddr) -> Self {
        let authority = Authority::new();
        let tls = authority.server(&Default::default());
        Self { front: Front::spawn(server, tls, FrontBehaviour::default()).unwrap(), authority }
    }

    /// The load with the drawn requests, plain and over TLS.
    fn with_and_without(&self, load: LoadSpec) -> [LoadSpec; 2] {
        let plain = LoadSpec { requests: requests().into(), ..load };
        let secured = LoadSpec {
            addresses: vec![self.front.address()],
            tls: Some(trusting(&self.authority)),
            ..plain.clone()
        };
        [plain, secured]
    }
}

/// 16 requests leave in one write, plain and over TLS, and each answer is judged by the value of
/// its own request.
fn each_request_of_a_pipeline_has_a_value_of_its_own(io: IoChoice) {
    let seen = Counts::default();
    let server = spawn(echo(&seen)).unwrap();
    let front = Secured::before(server.address());
    for spec in front.with_and_without(closed(server.address(), io, 3, 480)) {
        let result = run(&pipelined(spec, 16));
        assert_eq!((result.measured.requests.good, errors(&result)), (480, Vec::new()));
        assert_eq!(result.measured.connections.opened, 3);
    }
    // Of three requests, two have a value.
    let different = seen.lock().unwrap().len();
    assert!((630..=650).contains(&different), "{different}");
}

fn values_go_through_tls_and_over_a_connection_each(io: IoChoice) {
    let seen = Counts::default();
    let server = spawn(echo(&seen)).unwrap();
    let front = Secured::before(server.address());
    for spec in front.with_and_without(closed(server.address(), io, 4, 120)) {
        let closing = Connections { requests_per_connection: Some(1), ..spec.connections };
        for connections in [spec.connections, closing] {
            let result = run(&LoadSpec { connections, ..spec.clone() });
            assert_eq!((result.measured.requests.good, errors(&result)), (120, Vec::new()));
        }
    }
    assert!(seen.lock().unwrap().len() >= 4 * 80 - 2);
}

/// A referee that looks whether the body is about what was sent.
struct Knows(Mutex<Vec<(u32, String)>>);

impl Referee for Knows {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let (request, drawn) = (exchange.request, exchange.drawn.to_string());
        let is_right = String::from_utf8_lossy(exchange.body).contains(&format!("{drawn}! Hola"));
        self.0.lock().unwrap().push((request, drawn));
        is_right
    }
}

fn a_referee_is_told_the_value(io: IoChoice) {
    let server = spawn(echo(&Counts::default())).unwrap();
    let knows = Arc::new(Knows(Mutex::default()));
    let plain = Request { target: "/c/x".into(), ..get(BodyCheck::Refereed) };
    let spec = LoadSpec {
        requests: vec![drawn("/a/Jo-abcdefgh", "abcdefgh", BodyCheck::Refereed), plain].into(),
        ..closed(server.address(), io, 2, 100)
    };
    let stop = AtomicBool::new(false);
    let control =
        Control { referee: Some(Arc::clone(&knows) as _), ..Control::new(&stop, &|_| true) };
    let result = pippin_engine::run(&spec, &control).unwrap();
    assert_eq!(result.measured.requests.good, 100);
    let told = knows.0.lock().unwrap();
    assert!(told.iter().all(|(request, drawn)| drawn.len() == if *request == 0 { 8 } else { 0 }));
}

fn the_media_type_of_examined_answers_is_looked_at(io: IoChoice) {
    let server = spawn(Script::each(|received, _| {
        let kind = if received.number.is_multiple_of(2) { "html" } else { "plain" };
        let fields = format!("content-type: text/{kind}; charset=utf-8\r\nContent-Length: 5");
        Answer::raw(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nhello").as_bytes())
    }))
    .unwrap();
    let asks = |content_type: Option<&str>| {
        let surprises = Some(examining_all(content_type));
        let requests = vec![get(BodyCheck::Any)].into();
        let load = LoadSpec { requests, surprises, ..closed(server.address(), io, 1, 100) };
        run(&load).measured.requests.good
    };
    assert_eq!((asks(Some("text/html")), asks(Some("text/css")), asks(None)), (50, 0, 100));
}
