//! Pippin's engine as a separate process.
use clap::{Args, ValueEnum};
use pippin_lab::trial::{Trial, Watch};
use pippin_model::load::{
    Arrivals, BodyCheck, Check, Connections, IoChoice, LoadSpec, Protocol, Request, Schedule,
    StopRule,
};
use pippin_model::result::LoadResult;
use pippin_model::text::units::Spread;
use std::net::{IpAddr, SocketAddr};

use crate::figures::{Figures, Quantiles};
use crate::scenario::LARGE;

/// The arguments of the child process.
#[derive(Debug, Args)]
pub struct EngineArguments {
    #[arg(long)]
    address: SocketAddr,
    #[arg(long)]
    io: Io,
    #[arg(long)]
    connections: u32,
    #[arg(long)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    pipeline: u32,
    /// HTTP/2 without TLS, with this number of streams on each connection.
    #[arg(long)]
    streams: Option<u32>,
    /// Open loop at this rate.
    #[arg(long)]
    rate: Option<f64>,
    /// One connection for each request.
    #[arg(long)]
    close: bool,
    #[arg(long)]
    path: String,
    /// Devices with this think time instead of users.
    #[arg(long)]
    think_ms: Option<u64>,
    /// Source addresses from 127.0.0.1 on, and threads.
    #[arg(long, default_value_t = 1)]
    sources: u8,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Io {
    Epoll,
    #[value(name = "io_uring")]
    IoUring,
}

/// Drives the server and prints the engine's figures.
pub fn run(arguments: &EngineArguments) -> Result<(), String> {
    let mut trial = Trial::from_load(spec(arguments));
    let result = trial.measure(&Watch::nobody()).map_err(|error| error.to_string())?.load;
    let requests = result.measured.requests;
    if !requests.are_conserved() {
        return Err(format!("requests went missing: {requests:?}"));
    }
    println!("{}", serde_json::to_string(&figures(&result)).map_err(|error| error.to_string())?);
    Ok(())
}

/// A closed loop of one thread, still without requests.
pub fn closed(address: SocketAddr, connections: u32, duration_ns: u64) -> LoadSpec {
    LoadSpec {
        addresses: vec![address],
        connections: Connections::kept(connections),
        stop: StopRule::after(duration_ns),
        ..LoadSpec::default()
    }
}

fn spec(arguments: &EngineArguments) -> LoadSpec {
    let duration_ns = arguments.seconds * 1_000_000_000;
    let is_devices = arguments.think_ms.is_some();
    LoadSpec {
        source_addresses: if arguments.sources > 1 {
            (1..=arguments.sources).map(|last| IpAddr::from([127, 0, 0, last])).collect()
        } else {
            Vec::new()
        },
        requests: vec![request(arguments)].into(),
        schedule: schedule(arguments, duration_ns),
        connections: Connections {
            requests_per_connection: arguments.close.then_some(1),
            pipeline: arguments.pipeline,
            streams: arguments.streams.unwrap_or(1),
            ..Connections::kept(arguments.connections)
        },
        protocol: arguments.streams.map_or(Protocol::Http1, |_| Protocol::Http2),
        stop: StopRule { duration_ns: (!is_devices).then_some(duration_ns), requests: None },
        threads: u32::from(arguments.sources),
        io: match arguments.io {
            Io::Epoll => IoChoice::Epoll,
            Io::IoUring => IoChoice::IoUring,
        },
        ..closed(arguments.address, arguments.connections, duration_ns)
    }
}

fn request(arguments: &EngineArguments) -> Request {
    let path = arguments.path.as_str();
    let body = match path {
        "/device" => BodyCheck::Length { min: 1_024, max: 1_024 },
        "/large" => BodyCheck::Length { min: LARGE as u64, max: LARGE as u64 },
        "/slow" => BodyCheck::Exact(b"12345678901234567890".to_vec()),
        _ => BodyCheck::Exact(b"Hello World!".to_vec()),
    };
    Request {
        check: Check { status: vec![200], body, ..Check::default() },
        ..Request::get(path, &arguments.address.to_string())
    }
}

fn schedule(arguments: &EngineArguments, duration_ns: u64) -> Schedule {
    match (arguments.think_ms, arguments.rate) {
        (Some(think_ms), _) => Schedule::Devices {
            devices: arguments.connections,
            requests_per_device: 100,
            think: Spread { mean_ns: think_ms * 1_000_000, jitter: 0.05 },
            ramp_up_ns: duration_ns / 3,
            sustain_ns: duration_ns / 3,
            ramp_down_ns: duration_ns / 3,
        },
        (None, Some(rate)) => Schedule::open(rate, Arrivals::Constant, 0, duration_ns),
        (None, None) => Schedule::Closed { think: None },
    }
}

fn figures(result: &LoadResult) -> Figures {
    let response = |q| result.measured.spans.response_time.quantile_ns(q);
    Figures {
        completed: Some(result.measured.requests.completed),
        errors: Some(result.measured.errors_total()),
        p50_ns: response(0.5),
        p90_ns: response(0.9),
        p95_ns: response(0.95),
        p99_ns: response(0.99),
        max_ns: response(1.0),
        service: Quantiles::from_fn(|q| result.measured.spans.service_time.quantile_ns(q)),
        send_lag_p99_ns: result.measured.spans.send_lag.quantile_ns(0.99),
        spin_ns: Some(result.generator.spin_ns),
        // All of this process is measured.
        threads_cpu_per_request_ns: None,
        syscalls: result.generator.syscalls,
        io: Some(result.io.clone()),
        measured_per_s: result.measured.throughput_per_s(),
    }
}
