//! One load from the command line, for profiling the engine without the rest of Pippin. Arguments
//! are `key=value`: `to=ADDRESS c=64 d=2 warm=0.3 t=1 core=1 io=epoll|io_uring|auto
//! mode=closed|open|devices rate=5000 poisson=1 pipeline=1 h2=1 h3=1 streams=8 close=1 think=0.9 n=COUNT
//! sources=4 path=/ spin=ns per=100 up=1 down=1 tls=SERVER_NAME resume=1`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a tool for profiling
#![allow(clippy::print_stdout, clippy::print_stderr)] // not a part of the program
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

use pippin_engine::{Control, run};
use pippin_model::load::tls::TlsSpec;
use pippin_model::load::*;
use pippin_model::result::LoadResult;
use pippin_model::result::histogram::Histogram;
use pippin_model::text::units::Spread;

struct Arguments(HashMap<String, String>);

impl Arguments {
    fn text(&self, key: &str, otherwise: &str) -> String {
        self.0.get(key).cloned().unwrap_or_else(|| otherwise.into())
    }
    fn number(&self, key: &str, otherwise: f64) -> f64 {
        self.0.get(key).map_or(otherwise, |text| text.parse().expect("a number"))
    }
    fn ns(&self, key: &str, otherwise: f64) -> u64 {
        (self.number(key, otherwise) * 1e9) as u64
    }
    fn given(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }
}

fn main() {
    let mut given = HashMap::new();
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').expect("key=value");
        given.insert(key.to_owned(), value.to_owned());
    }
    let arguments = Arguments(given);
    let stop = AtomicBool::new(false);
    let result = run(&spec(&arguments), &Control::new(&stop, &|_| true))
        .unwrap_or_else(|error| panic!("{error}"));
    print(&result);
}

fn spec(a: &Arguments) -> LoadSpec {
    let close = a.given("close");
    let get = Request::get(&a.text("path", "/"), "localhost");
    let (rate, duration, warm) = (
        a.number("rate", 1000.0),
        a.ns("d", 2.0),
        if a.given("n") { 0 } else { a.ns("warm", 0.3) },
    );
    let think = Spread { mean_ns: a.ns("think", 0.0), jitter: 0.05 };
    let is_devices = a.text("mode", "closed") == "devices";
    LoadSpec {
        addresses: a
            .text("to", "127.0.0.1:8080")
            .split(',')
            .map(|to| to.parse().expect("an address like 127.0.0.1:8080"))
            .collect(),
        protocol: match (a.given("h2"), a.given("h3")) {
            (true, _) => Protocol::Http2,
            (_, true) => Protocol::Http3,
            _ => Protocol::Http1,
        },
        tls: a.given("tls").then(|| TlsSpec {
            server_name: a.text("tls", "localhost"),
            extra_roots_pem: None,
            verify: false,
            resume: a.given("resume"),
            client: None,
        }),
        source_addresses: (0..a.number("sources", 0.0) as u8)
            .map(|n| IpAddr::from([127, 0, 1, n + 1]))
            .collect(),
        requests: vec![Request { check: Check { status: vec![200], ..get.check }, ..get }].into(),
        schedule: match a.text("mode", "closed").as_str() {
            "closed" => Schedule::Closed { think: a.given("think").then_some(think) },
            "open" => Schedule::Open {
                arrivals: if a.given("poisson") { Arrivals::Poisson } else { Arrivals::Constant },
                stages: vec![Stage {
                    duration_ns: duration + warm,
                    from_per_s: rate,
                    to_per_s: rate,
                }],
            },
            _ => Schedule::Devices {
                devices: a.number("c", 64.0) as u32,
                requests_per_device: a.number("per", 100.0) as u32,
                think,
                ramp_up_ns: a.ns("up", 1.0),
                sustain_ns: duration,
                ramp_down_ns: a.ns("down", 1.0),
            },
        },
        connections: Connections {
            count: a.number("c", 64.0) as u32,
            requests_per_connection: close.then_some(1),
            pipeline: a.number("pipeline", 1.0) as u32,
            streams: a.number("streams", 1.0) as u32,
        },
        stop: if is_devices {
            StopRule::default()
        } else {
            StopRule {
                duration_ns: (!a.given("n")).then_some(duration),
                requests: a.given("n").then(|| a.number("n", 0.0) as u64),
            }
        },
        warm_up: if warm == 0 || is_devices {
            WarmUp::None
        } else {
            WarmUp::Fixed { duration_ns: warm }
        },
        threads: a.number("t", 1.0) as u32,
        cores: if a.given("core") { vec![a.number("core", 1.0) as u32] } else { vec![] },
        io: match a.text("io", "epoll").as_str() {
            "io_uring" => IoChoice::IoUring,
            "auto" => IoChoice::Auto,
            _ => IoChoice::Epoll,
        },
        spin_ns: a.given("spin").then(|| a.number("spin", 0.0) as u64),
        ..LoadSpec::default()
    }
}

fn print(result: &LoadResult) {
    let measured = &result.measured;
    println!(
        "{:?}\n{:?} {:?} {:?}",
        measured.requests, measured.errors, measured.connections, measured.bytes
    );
    let spans = &measured.spans;
    let all: [(&str, &Histogram); 9] = [
        ("connect", &spans.connect),
        ("tls", &spans.tls),
        ("headers", &spans.headers),
        ("body", &spans.body),
        ("service", &spans.service_time),
        ("response", &spans.response_time),
        ("send_lag", &spans.send_lag),
        ("own_lag", &spans.own_lag),
        ("pick_up", &spans.pick_up_lag),
    ];
    for (name, histogram) in all {
        let us = |q| histogram.quantile_ns(q).unwrap_or(0) as f64 / 1e3;
        let (p50, p90, p95, p99, max) = (us(0.5), us(0.9), us(0.95), us(0.99), us(1.0));
        println!(
            "{name:9} n {:8} us: mean {:.1} p50 {p50:.1} p90 {p90:.1} p95 {p95:.1} p99 {p99:.1} max {max:.1}",
            histogram.count(),
            histogram.mean_ns().unwrap_or(0.0) / 1e3
        );
    }
    for phase in &result.phases {
        println!("{} {} {:?}", phase.name, phase.measured.duration_ns, phase.measured.requests);
    }
    if let Some(tls) = &result.tls {
        println!("{tls:?}");
    }
    let completed = measured.requests.completed.max(1) as f64;
    println!(
        "{} {:.0}/s, cpu/request {:.3} us, of it spin {:.3} us, syscalls/request {:.2}, rss {} MiB",
        result.io,
        measured.throughput_per_s().unwrap_or(0.0),
        result.generator.cpu_ns as f64 / completed / 1e3,
        result.generator.spin_ns as f64 / completed / 1e3,
        result.generator.syscalls.unwrap_or(0) as f64 / completed,
        result.generator.max_rss_bytes.unwrap_or(0) >> 20
    );
}
