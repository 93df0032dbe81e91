//! `make soak`: whether Pippin's memory and descriptors stay constant in a long run.
//!
//! | part | what runs |
//! |---|---|
//! | `rate` | `pippin load` at 20,000 requests per second |
//! | `devices` | `pippin load` with 10,000 devices |
//! | `store` | run after run into one store, and `pippin serve` that shows them |
mod flat;
mod watched;

use clap::Args;
use pippin_model::text::units::{format_bytes, parse_duration_ns};
use pippin_reference::{device, null, socket};
use pippin_store::Store;
use serde::Serialize;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::results::{self, Machine};
use crate::sense;
use flat::{Flatness, Look};
use watched::Watched;

const RATE_PER_S: u32 = 20_000;
const DEVICES: u32 = 10_000;

/// `pippin-bench soak`
#[derive(Debug, Args)]
pub struct SoakArguments {
    /// How long each part runs.
    #[arg(long, default_value = "30m", value_name = "TIME", value_parser = length)]
    length: Duration,
    /// Only these parts (comma-separated): rate, devices, store.
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<String>,
    /// The program; `pippin` beside this one by default.
    #[arg(long, value_name = "FILE")]
    pippin: Option<PathBuf>,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

fn length(text: &str) -> Result<Duration, String> {
    let ns = parse_duration_ns(text).map_err(|error| error.to_string())?;
    let length = Duration::from_nanos(ns);
    if length < Duration::from_secs(20) {
        return Err("a slope of less than 20 s says nothing".into());
    }
    Ok(length)
}

/// The result of a part.
#[derive(Serialize)]
struct Row {
    part: &'static str,
    about: String,
    /// `None` if there were too few looks.
    flatness: Option<Flatness>,
    exit_code: Option<i32>,
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    seconds_of_a_part: u64,
    machine: Machine,
    rows: &'a [Row],
}

type Part = fn(&Path, Duration) -> Result<Row, String>;
const PARTS: [(&str, Part); 3] = [("rate", rate), ("devices", devices), ("store", store)];

/// Runs the parts one after the other, prints the results and keeps them.
pub fn run(arguments: &SoakArguments) -> Result<(), String> {
    let pippin = sense::program(arguments.pippin.as_deref())?;
    if let Some(wrong) =
        arguments.only.iter().find(|name| PARTS.iter().all(|(part, _)| part != name))
    {
        return Err(format!("there is no part `{wrong}`; there are rate, devices and store"));
    }
    let mut rows = Vec::new();
    for (name, part) in PARTS {
        if arguments.only.is_empty() || arguments.only.iter().any(|only| only == name) {
            let row = part(&pippin, arguments.length)?;
            println!("{}", told(&row));
            rows.push(row);
        }
    }
    let unix_seconds = results::unix_seconds();
    let kept = Results {
        schema: "pippin-soak/1",
        unix_seconds,
        seconds_of_a_part: arguments.length.as_secs(),
        machine: results::machine(),
        rows: &rows,
    };
    let path = results::write(&arguments.results, &format!("soak-{unix_seconds}"), &kept)?;
    eprintln!("kept in {}", path.display());
    let bad: Vec<&str> = rows.iter().filter(|row| !is_right(row)).map(|row| row.part).collect();
    if bad.is_empty() { Ok(()) } else { Err(format!("failed: {}", bad.join(", "))) }
}

/// Whether memory and descriptors stayed constant, and the program ended with a result, which a
/// busy machine may make INVALID (3). For the store's server, we end it ourselves.
fn is_right(row: &Row) -> bool {
    row.flatness.is_some_and(|flatness| flatness.is_flat)
        && matches!(row.exit_code, Some(0 | 3) | None)
}

fn told(row: &Row) -> String {
    let Some(flatness) = row.flatness else {
        return format!(
            "{:<8} {}: too few looks, exit code {:?}",
            row.part, row.about, row.exit_code
        );
    };
    format!(
        "{:<8} {}: memory {} to {} (at most {}), {:+.0} bytes per second (z {:.1}), descriptors {} then {}, exit code {:?}: {}",
        row.part,
        row.about,
        format_bytes(flatness.rss_first_bytes),
        format_bytes(flatness.rss_last_bytes),
        format_bytes(flatness.rss_most_bytes),
        flatness.bytes_a_second,
        flatness.z,
        flatness.descriptors.0,
        flatness.descriptors.1,
        row.exit_code,
        if flatness.is_flat { "flat" } else { "GROWS" }
    )
}

/// The interval for 300 looks.
fn every(length: Duration) -> Duration {
    length / 300
}

fn rate(pippin: &Path, length: Duration) -> Result<Row, String> {
    let serve = |listener, stop: &AtomicBool| {
        null::serve(listener, null::Config::default(), stop).map(drop)
    };
    let (seconds, rate) = (format!("{}s", length.as_secs()), RATE_PER_S.to_string());
    let words = ["-R", &rate, "-c", "64", "-d", &seconds];
    load(pippin, "rate", format!("{RATE_PER_S} requests per second"), length, 1, serve, &words)
}

fn devices(pippin: &Path, length: Duration) -> Result<Row, String> {
    let threads = device::threads_for(DEVICES as usize).map_err(|error| error.to_string())?;
    let serve = move |listener, stop: &AtomicBool| {
        let config = device::Config { threads, ..device::Config::default() };
        device::serve(listener, &config, stop).map(drop)
    };
    // A tenth for the ramp up and a tenth for the ramp down. The beginning is not judged anyway.
    let (ramp, hold) = (length.as_secs() / 10, length.as_secs() * 8 / 10);
    let (count, ramps) = (DEVICES.to_string(), format!("{ramp}s,{hold}s,1s"));
    let words = ["--devices", &count, "--think", "900ms +-5%", "--ramp", &ramps];
    load(pippin, "devices", format!("{DEVICES} devices"), length, threads, serve, &words)
}

/// Loads a server in this process.
fn load(
    pippin: &Path,
    part: &'static str,
    about: String,
    length: Duration,
    threads: usize,
    serve: impl FnOnce(TcpListener, &AtomicBool) -> Result<(), pippin_reference::Error> + Send,
    words: &[&str],
) -> Result<Row, String> {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = socket::listen(any, threads > 1).map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(listener, &stop));
        let mut command = Command::new(pippin);
        command.args(["load", &format!("http://{address}/"), "--quiet", "--no-store"]).args(words);
        let seen =
            Watched::start(&mut command).and_then(|process| process.until_its_end(every(length)));
        stop.store(true, Ordering::Relaxed);
        let served = server.join().map_err(|_| "the server panicked".to_string())?;
        served.map_err(|error| error.to_string())?;
        let (looks, exit_code) = seen?;
        Ok(Row { part, about, flatness: flat::from_looks(&looks), exit_code })
    })
}

/// Makes run after run. The store's server shows each as soon as it exists.
fn store(pippin: &Path, length: Duration) -> Result<Row, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("pippin.db");
    let target = pippin_testing::scripted::spawn(pippin_testing::scripted::Script::always(
        pippin_testing::scripted::Answer::ok(b"hello"),
    ))
    .map_err(|error| error.to_string())?;
    let url = format!("http://{}/", target.address());
    let make = || {
        let mut load = Command::new(pippin);
        load.args(["load", &url, "-n", "20", "-c", "1", "--quiet", "--store"]).arg(&file);
        load.output().map_err(|error| error.to_string())
    };
    make()?;
    let port = free_port()?;
    let mut command = Command::new(pippin);
    command.args(["serve", "--bind", &format!("127.0.0.1:{port}"), "--store"]).arg(&file);
    let server = Watched::start(&mut command)?;
    let (begun, mut looks) = (Instant::now(), Vec::<Look>::new());
    while begun.elapsed() < length {
        make()?;
        if !shows_runs(port) {
            return Err("pippin serve does not show the list of runs".into());
        }
        looks.push(server.look().ok_or("pippin serve has ended")?);
    }
    let runs = Store::open(&file).and_then(|store| store.list());
    let runs = runs.map_err(|error| error.to_string())?.len();
    let about = format!("{runs} runs in a store, and the server that shows them");
    Ok(Row { part: "store", about, flatness: flat::from_looks(&looks), exit_code: None })
}

fn free_port() -> Result<u16, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    Ok(free.map_err(|error| error.to_string())?.port())
}

/// Whether the first page loads. The server may need a moment to start.
fn shows_runs(port: u16) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        write!(stream, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    let tries = (0..50).map(|_| ask().unwrap_or_default());
    let mut shown =
        tries.map(|answer| answer.starts_with("HTTP/1.1 200") && answer.contains("-load"));
    shown.any(|is_shown| {
        if !is_shown {
            std::thread::sleep(Duration::from_millis(100));
        }
        is_shown
    })
}
