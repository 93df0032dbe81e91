//! A closed loop against one address, for profiling: `closed ADDRESS CONNECTIONS SECONDS [CORE] [close|pipelineN]`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a tool for profiling
use std::sync::atomic::AtomicBool;

use pippin_engine::{Control, run};
use pippin_model::load_spec::*;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let address = arguments[1].parse().expect("an address like 127.0.0.1:8080");
    let count = arguments[2].parse().expect("a number of connections");
    let seconds: f64 = arguments[3].parse().expect("a number of seconds");
    let cores = arguments.get(4).and_then(|core| core.parse().ok()).into_iter().collect();
    let mode = arguments.get(5).map_or("", String::as_str);
    let io = match arguments.get(6).map_or("epoll", String::as_str) {
        "io_uring" => IoChoice::IoUring,
        "auto" => IoChoice::Auto,
        _ => IoChoice::Epoll,
    };
    let close = mode == "close";
    let pipeline = mode.strip_prefix("pipeline").and_then(|depth| depth.parse().ok()).unwrap_or(1);
    let head = if close { "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" } else { "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" };
    let spec = LoadSpec {
        addresses: vec![address],
        tls_server_name: None,
        source_addresses: vec![],
        requests: vec![RequestTemplate { bytes: head.into(), head_only: false, check: Check { status: vec![200], body: BodyCheck::Any } }],
        schedule: Schedule::Closed { think: None },
        connections: Connections { count, requests_per_connection: close.then_some(1), pipeline },
        stop: StopRule { duration_ns: Some((seconds * 1e9) as u64), requests: None },
        warm_up: WarmUp::Fixed { duration_ns: 300_000_000 },
        timeouts: Timeouts::default(),
        limits: Limits::default(),
        threads: 1,
        cores,
        io,
        spin_ns: None,
        seed: 1,
    };
    let stop = AtomicBool::new(false);
    let result = run(&spec, &Control { stop: &stop, on_window: None, steady: |_| true }).unwrap_or_else(|error| panic!("{error}"));
    let measured = &result.measured;
    println!("{:?} {:?} {:?} {:?}", measured.requests, measured.errors, measured.connections, measured.bytes);
    println!("response {:?}", measured.spans.response_time.summary());
    println!("service {:?}", measured.spans.service_time.summary());
    println!("headers {:?}", measured.spans.headers.summary());
    println!("connect {:?}", measured.spans.connect.summary());
    println!("send_lag {:?}", measured.spans.send_lag.summary());
    let completed = measured.requests.completed as f64;
    println!(
        "{} {:.0}/s, cpu/request {:.3} us, syscalls/request {:.2}, rss {} MiB",
        result.io,
        measured.throughput_per_s().unwrap_or(0.0),
        result.generator.cpu_ns as f64 / completed / 1e3,
        result.generator.syscalls.unwrap_or(0) as f64 / completed,
        result.generator.max_rss_bytes.unwrap_or(0) >> 20
    );
}
