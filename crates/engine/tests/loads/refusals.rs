//! What cannot take effect is refused, with the fix.
use pippin_model::load::tls::{ClientCertificate, TlsSpec};
use pippin_model::load::*;
use pippin_model::text::units::Spread;

use crate::common::{counted, get, load, timed};

fn refusal(change: impl FnOnce(&mut LoadSpec)) -> String {
    let mut spec = counted("127.0.0.1:9".parse().unwrap(), 4, 100);
    change(&mut spec);
    load(&spec).unwrap_err().to_string()
}

fn tls(server_name: &str, extra_roots_pem: Option<&str>) -> TlsSpec {
    TlsSpec {
        server_name: server_name.into(),
        extra_roots_pem: extra_roots_pem.map(Into::into),
        verify: true,
        resume: false,
        client: None,
    }
}

/// A scenario of one step, whose values come from rows that are not there.
fn walking(spec: &mut LoadSpec, cells: &[&str]) {
    use pippin_model::scenario::Step;
    use pippin_model::scenario::data::{Rows, Values, Variable};
    let rows = Rows {
        file: "users.csv".into(),
        columns: vec!["name".into()],
        random: false,
        count: 1,
        digest: String::new(),
        cells: cells.iter().map(|cell| (*cell).into()).collect::<Vec<String>>().into(),
    };
    spec.scenario = Some(Scenario {
        variables: vec![Variable { name: "user".into(), values: Values::Rows(rows) }],
        steps: vec![Step { name: "s".into(), ..Step::default() }],
        ..Scenario::default()
    });
}

#[test]
fn a_scenario_is_refused_where_its_users_could_not_wait() {
    let cases: [(Change, &str); 6] = [
        (|spec| spec.connections.pipeline = 2, "a scenario does not go with HTTP pipelining"),
        (
            |spec| spec.protocol = Protocol::Http2,
            "a scenario does not go with another protocol than HTTP/1.1",
        ),
        (
            |spec| {
                let stage = Stage { duration_ns: 1, from_per_s: 1.0, to_per_s: 1.0 };
                spec.schedule =
                    Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] };
                spec.stop.requests = Some(1);
            },
            "a scenario does not go with a number of requests in an open loop: its arrivals are whole walks",
        ),
        (
            |spec| walking(spec, &[]),
            "the rows of users.csv are missing, because records do not keep them",
        ),
        (
            |spec| spec.requests = vec![get("/", BodyCheck::Any), get("/", BodyCheck::Any)].into(),
            "it has 1 steps for 2 requests",
        ),
        (
            |spec| spec.requests = vec![get("/{usr.name}", BodyCheck::Any)].into(),
            "no value is named `usr.name`",
        ),
    ];
    for (change, message) in cases {
        let refused = refusal(|spec| {
            walking(spec, &["ana"]);
            change(spec);
        });
        assert!(refused.contains(message), "{refused}");
    }
}

fn proxy(tunnel: Option<&str>) -> Proxy {
    Proxy { authority: "127.0.0.1:1".into(), tunnel: tunnel.map(str::to_string), credentials: None }
}

type Change = fn(&mut LoadSpec);

/// A change to a load, and a part of the message.
const REFUSED: [(Change, &str); 36] = [
    (
        |spec| {
            spec.addresses.clear();
            spec.unix_socket = Some("/tmp/x".into());
            spec.proxy = Some(proxy(None));
        },
        "a proxy is reached over TCP",
    ),
    (
        |spec| {
            spec.proxy_header = Some(ProxyHeader::V2);
            spec.proxy = Some(proxy(None));
        },
        "the proxy would read it, and not the server",
    ),
    (|spec| spec.proxy = Some(proxy(Some("a:80"))), "the proxy reads such requests itself"),
    (
        |spec| {
            spec.tls = Some(tls("localhost", None));
            spec.proxy = Some(proxy(None));
        },
        "name the host and port of the tunnel",
    ),
    (
        |spec| {
            spec.requests.iter_mut().for_each(|one| one.headers.push(("host".into(), "a".into())));
            spec.proxy = Some(proxy(None));
        },
        "the proxy takes the host from the URL",
    ),
    (
        |spec| {
            let own = ("proxy-authorization".to_string(), "Basic x".to_string());
            spec.requests.iter_mut().for_each(|one| one.headers.push(own.clone()));
            spec.proxy = Some(proxy(None));
        },
        "through a tunnel it would reach the server",
    ),
    (
        |spec| spec.unix_socket = Some("/tmp/x".into()),
        "an address to connect to does not go with a unix socket",
    ),
    (
        |spec| {
            spec.addresses.clear();
            spec.unix_socket = Some("/tmp/x".into());
            spec.proxy_header = Some(ProxyHeader::V1);
        },
        "it has no addresses to tell",
    ),
    (
        |spec| {
            spec.addresses.clear();
            spec.unix_socket = Some("/tmp/x".into());
            spec.source_addresses = vec!["127.0.0.1".parse().unwrap()];
        },
        "leave the source address out",
    ),
    (
        |spec| {
            spec.addresses.clear();
            spec.unix_socket = Some("x".repeat(200).into());
        },
        "its path must have 1 to 107 bytes",
    ),
    (
        |spec| {
            let client = ClientCertificate { chain_pem: "x".into(), key_pem: "y".into() };
            spec.tls = Some(TlsSpec { client: Some(client), ..tls("x", None) });
        },
        "the client's certificate cannot be used: there is no `-----BEGIN CERTIFICATE-----`",
    ),
    (|spec| spec.addresses.clear(), "give at least one, for example 127.0.0.1:8080"),
    (|spec| spec.requests.clear(), "no request to send: give at least one"),
    (
        |spec| spec.threads = 5,
        "5 threads for 4 connections: a thread needs at least one, so use at most 4 threads",
    ),
    (|spec| spec.threads = 0, "the number of threads is 0"),
    (|spec| spec.connections.count = 0, "the number of connections is 0"),
    (|spec| spec.connections.pipeline = 0, "the pipeline depth is 0"),
    (|spec| spec.stop = StopRule::default(), "give a duration or a number of requests"),
    (|spec| spec.stop.requests = Some(3), "ask for at most 3 connections"),
    (|spec| spec.warm_up = WarmUp::Fixed { duration_ns: 1 }, "choose warm-up none"),
    (
        |spec| spec.tls = Some(tls("no name", None)),
        "`no name` is neither a host name nor an IP address",
    ),
    (|spec| spec.tls = Some(tls("x", Some("-----"))), "give certificates in PEM form"),
    (|spec| spec.spin_ns = Some(1000), "only an open loop has deadlines"),
    (|spec| spec.addresses[0].set_port(0), "from 1 to 65535"),
    (|spec| spec.source_addresses = vec!["::1".parse().unwrap()], "one is IPv4 and the other IPv6"),
    (|spec| spec.source_addresses = vec!["192.0.2.1".parse().unwrap()], "add it to an interface"),
    (
        |spec| (spec.connections.pipeline, spec.connections.requests_per_connection) = (2, Some(5)),
        "leave one of them out",
    ),
    (|spec| spec.requests[0].check.status = vec![100], "no final answer has the status 100"),
    (
        |spec| spec.requests[0].check.body = BodyCheck::Length { min: 2, max: 1 },
        "least length 2 is above the greatest 1",
    ),
    (
        |spec| *spec = timed(spec.clone(), u64::MAX / 1_000_000),
        "the duration is 18446744073709000000: it must be at most 30 days",
    ),
    (
        |spec| {
            (spec.connections.count, spec.stop) =
                (1 << 24, StopRule { duration_ns: Some(1), requests: None })
        },
        "ports",
    ),
    (
        |spec| {
            (spec.connections.count, spec.stop) =
                (u32::MAX, StopRule { duration_ns: Some(1), requests: None })
        },
        "the number of connections is 4294967295: it must be at most 16,777,216",
    ),
    (
        |spec| {
            spec.schedule = Schedule::Closed { think: Some(Spread::exactly(1)) };
            spec.connections.pipeline = 2;
        },
        "HTTP pipelining does not go with think time",
    ),
    (
        |spec| (spec.schedule, spec.connections.count) = (constant(0.0), 1),
        "the rate of every stage is 0",
    ),
    (
        |spec| *spec = LoadSpec { schedule: constant(5.0), ..timed(spec.clone(), 1500) },
        "make the last stage 500000000 ns longer",
    ),
    (|spec| spec.schedule = devices(), "they end with their ramp"),
];

/// A second at this rate.
fn constant(per_s: f64) -> Schedule {
    Schedule::open(per_s, Arrivals::Constant, 0, 1_000_000_000)
}

fn devices() -> Schedule {
    Schedule::Devices {
        devices: 4,
        requests_per_device: 1,
        think: Spread::exactly(1),
        ramp_up_ns: 1,
        sustain_ns: 1,
        ramp_down_ns: 1,
    }
}

#[test]
fn each_refusal_says_what_to_change() {
    for (change, message) in REFUSED {
        let refused = refusal(change);
        assert!(refused.contains(message), "{refused}");
    }
}

/// The message names the request, its place in the list and the part that is wrong.
#[test]
fn a_request_that_cannot_be_written_is_named() {
    type Change = fn(&mut Request);
    let cases: [(Change, &str); 6] = [
        (
            |request| request.method = "GE T".into(),
            "request 2 of 3 (`GE T /b`) cannot be sent: method `GE T`",
        ),
        (
            |request| request.target = "/b\r\nX: y".into(),
            "request 2 of 3 (`GET /b\\r\\nX: y`) cannot be sent: path",
        ),
        (|request| request.host.clear(), "request 2 of 3 (`GET /b`) cannot be sent: host"),
        (
            |request| request.headers = vec![("A".into(), "b\r\nC: d".into())],
            "request 2 of 3 (`GET /b`) cannot be sent: value of header `A`",
        ),
        (
            |request| {
                (request.method, request.check.body) =
                    ("HEAD".into(), BodyCheck::Length { min: 1, max: 9 })
            },
            "the check of request 2 of 3 (`HEAD /b`) cannot pass: an answer to HEAD has no body",
        ),
        (
            |request| request.check.status = vec![100],
            "the check of request 2 of 3 (`GET /b`) cannot pass: no final answer has the status 100",
        ),
    ];
    for (change, message) in cases {
        let refused = refusal(|spec| {
            spec.requests =
                ["/a", "/b", "/c"].map(|path| get(path, BodyCheck::Any)).to_vec().into();
            change(&mut spec.requests[1]);
        });
        assert!(refused.contains(message), "{refused}");
    }
}

/// One thread cannot begin: the others must not wait for it.
#[test]
fn a_processor_that_does_not_exist_is_named() {
    let refused = refusal(|spec| (spec.threads, spec.cores) = (2, vec![0, 1000]));
    assert!(
        refused.contains("processor 1000") && refused.contains("processors that this machine has"),
        "{refused}"
    );
}

#[test]
fn a_digest_is_refused_where_it_could_not_be_sent() {
    let who = || Some(Credentials::new("ana", "secret").unwrap());
    let cases: [(Change, &str); 5] = [
        (
            |spec| spec.protocol = Protocol::Http2,
            "digest authentication does not go with another protocol",
        ),
        (|spec| spec.slice = Part { nth: 0, width: 1, of: 2 }, "does not go with several agents"),
        (
            |spec| {
                let own = Request {
                    headers: vec![("authorization".into(), "x".into())],
                    ..Request::get("/", "a")
                };
                spec.requests = vec![own].into();
            },
            "does not go with a header Authorization of your own",
        ),
        // As records have it.
        (|spec| spec.digest = Some(Credentials::default()), "name and password are in no record"),
        (|spec| spec.digest = Some(Credentials::new("aña", "x").unwrap()), "a name beyond ASCII"),
    ];
    for (change, part) in cases {
        let refused = refusal(|spec| {
            spec.digest = who();
            change(spec);
        });
        assert!(refused.contains(part) && !refused.contains("secret"), "{refused}");
    }
    let nobody = refusal(|spec| spec.digest = who());
    assert!(nobody.contains("no connection to 127.0.0.1:9"), "{nobody}");
}
