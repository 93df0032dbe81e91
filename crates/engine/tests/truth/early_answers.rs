//! Servers that answer before they have read the request to its end.
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pippin_model::load::{BodyCheck, Check, IoChoice, LoadSpec, Request};
use pippin_testing::messages::{Connection, Server};

use crate::support::{closed, errors, get, ms, on_each_loop, run};

on_each_loop!(
    who_reads_no_further_gets_the_next_request_elsewhere,
    no_request_is_written_into_another,
    an_answer_before_a_reset_counts,
);

/// More than the buffers of both kernels hold.
const BODY_BYTES: usize = 12 << 20;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A server that does this after the head of the first request on each connection.
fn serving(script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static) -> Server {
    Server::raw(move |connection| {
        connection.head()?;
        script(connection)
    })
    .unwrap()
}

/// So many requests with a large body, by two users; right answers have this status.
fn uploads(address: SocketAddr, io: IoChoice, status: u16, count: u64) -> LoadSpec {
    let check = Check { status: vec![status], ..Check::default() };
    let body = vec![b'b'; BODY_BYTES];
    let request = Request { method: "POST".into(), body, check, ..get(BodyCheck::Any) };
    LoadSpec { requests: vec![request].into(), ..closed(address, io, 2, count) }
}

fn who_reads_no_further_gets_the_next_request_elsewhere(io: IoChoice) {
    let server = serving(|connection| {
        connection.send(OK)?;
        std::thread::sleep(ms(3_000));
        None
    });
    let result = run(&uploads(server.address, io, 200, 6));
    assert_eq!((result.measured.requests.good, errors(&result)), (6, vec![]));
    assert_eq!(result.measured.connections.opened, 6);
}

/// The server reads the body in spite of its answer, slowly, and looks for bytes of others in it.
fn no_request_is_written_into_another(io: IoChoice) {
    let strange = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&strange);
    let server = serving(move |connection| {
        connection.send(OK)?;
        let mut body = connection.writer()?.take(BODY_BYTES as u64);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            std::thread::sleep(ms(1));
            let length = body.read(&mut buffer).ok().filter(|length| *length > 0)?;
            seen.fetch_add(u64::from(buffer[..length].iter().any(|byte| *byte != b'b')), Relaxed);
        }
    });
    let result = run(&uploads(server.address, io, 200, 6));
    assert_eq!((result.measured.requests.good, errors(&result)), (6, vec![]));
    std::thread::sleep(ms(300));
    assert_eq!(strange.load(Relaxed), 0);
}

/// The server closes with bytes that it has not read, so that its kernel resets the connection.
fn an_answer_before_a_reset_counts(io: IoChoice) {
    let server = serving(|connection| connection.send(TOO_LARGE));
    let result = run(&uploads(server.address, io, 413, 20));
    assert_eq!((result.measured.status.class(4), errors(&result)), (20, vec![]));
}
