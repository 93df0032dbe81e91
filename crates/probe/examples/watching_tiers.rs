//! What it costs to watch a server and its tiers while many connections are open to it:
//!
//! ```text
//! cargo run --release -p pippin-probe --example watching_tiers -- 10000
//! ```
//!
//! A child of this program is the server: it holds all connections and one to another child, behind
//! it. Each 50 ms a connection closes and another opens, so that no look is spared because nothing
//! has changed. It prints which part of a processor the sampler used, with tiers and without.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to be run by hand")]
use pippin_model::host::usage::Role;
use pippin_probe::server::{Place, behind};
use pippin_probe::{Roots, Sampler, Serving};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MEASURED: Duration = Duration::from_secs(10);

/// Holds every connection, and one to the server behind, until its standard input ends.
fn serve(upstream: Option<SocketAddr>) {
    let behind = upstream.map(|address| TcpStream::connect(address).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            held.push(stream);
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop(behind);
}

fn child(arguments: &[String]) -> (Child, SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

/// The part of a processor that the sampler uses.
fn cost(address: SocketAddr, connections: &mut Vec<TcpStream>, follows: bool) -> f64 {
    let place = Place::Addresses(vec![address]);
    let servers = behind(&place).unwrap();
    let roots = servers.processes.iter().map(|server| server.root).collect();
    let roots = Roots {
        roles: BTreeMap::from([(Role::Target, roots)]),
        serving: Some(Serving { place, servers, follows }),
        address: Some(address),
        ..Roots::default()
    };
    let sampler = Sampler::start(roots, Duration::from_millis(200), None).unwrap();
    let (begun, before_ns) = (Instant::now(), sampler.cpu_ns());
    while begun.elapsed() < MEASURED {
        connections.remove(0);
        connections.push(TcpStream::connect(address).unwrap());
        std::thread::sleep(Duration::from_millis(50));
    }
    (sampler.cpu_ns() - before_ns) as f64 / begun.elapsed().as_nanos() as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // SAFETY: the pointer is valid for the calls.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
    if arguments.first().is_some_and(|word| word == "serve") {
        return serve(arguments.get(1).map(|address| address.parse().unwrap()));
    }
    let number = arguments.first().map_or(10_000, |number| number.parse().unwrap());
    let (mut application, upstream) = child(&[]);
    let (mut server, address) = child(&[upstream.to_string()]);
    let mut connections: Vec<TcpStream> =
        (0..number).map(|_| TcpStream::connect(address).unwrap()).collect();
    let [without, with] = [false, true].map(|follows| cost(address, &mut connections, follows));
    println!(
        "{number} connections: {:.2} % of a processor with tiers, {:.2} % without",
        with * 100.0,
        without * 100.0
    );
    drop(connections);
    for child in [&mut server, &mut application] {
        drop(child.stdin.take());
        let _ = child.wait();
    }
}
