//! Bodies that are made while they are sent: what arrives, and servers that do not read it to its end.
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use pippin_model::load::{BodyCheck, Check, Connections, IoChoice, LoadSpec, Request};
use pippin_model::request::upload::Upload;
use pippin_model::result::ErrorKind;
use pippin_testing::messages::{Connection, Server};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use crate::support::{assert_timeouts, closed, errors, get, ms, on_each_loop, run, trusting};

on_each_loop!(
    each_body_arrives_whole_and_is_another_one,
    bodies_go_through_tls_and_over_a_connection_each,
    requests_without_a_body_come_between,
    who_answers_early_gets_the_next_request_elsewhere,
    who_closes_within_a_body_fails_that_request,
    who_never_reads_fails_in_time,
);

const KEY: u64 = 42;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// More than the buffers of both kernels hold.
const LARGE: u64 = 20_000_000;
/// After so many bytes a body repeats.
const PERIOD: usize = 256 * 1024;

fn upload(bytes: u64, chunked: bool) -> Request {
    Request {
        method: "POST".into(),
        drawn: Some("12345678".into()),
        upload: Some(Upload { bytes, chunked, key: KEY }),
        ..get(BodyCheck::Exact(b"hello".into()))
    }
}

/// This many requests of each of these lengths, in both ways, by three users.
fn uploads(address: SocketAddr, io: IoChoice, lengths: &[u64], count: u64) -> LoadSpec {
    let both = |bytes: &u64| [upload(*bytes, false), upload(*bytes, true)];
    let requests: Vec<Request> = lengths.iter().flat_map(both).collect();
    LoadSpec { requests: requests.into(), ..closed(address, io, 3, count) }
}

/// The body behind a head, read as RFC 9112 section 7.1 says.
fn body(head: &str, reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let mut body = Vec::new();
    if let Some(length) = field("Content-Length: ") {
        assert!(field("Transfer-Encoding: ").is_none(), "{head}");
        reader.take(length.parse().unwrap()).read_to_end(&mut body).ok()?;
        return Some(body);
    }
    if field("Transfer-Encoding: ") != Some("chunked") {
        return Some(body);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let length = u64::from_str_radix(line.trim_end(), 16).unwrap();
        reader.take(length).read_to_end(&mut body).ok()?;
        let mut end = [0; 2];
        reader.read_exact(&mut end).ok()?;
        assert_eq!(end, *b"\r\n");
        if length == 0 {
            return Some(body);
        }
    }
}

/// What a server saw: how bodies came, with their lengths, and the numbers in them.
#[derive(Default)]
struct ReceivedBody {
    ways: BTreeSet<(bool, usize)>,
    numbers: BTreeSet<Vec<u8>>,
    bodies: u64,
    faults: Vec<String>,
}

impl ReceivedBody {
    fn note(&mut self, head: &str, body: &[u8]) {
        self.ways.insert((head.contains("chunked"), body.len()));
        self.bodies += 1;
        if body.len() < 16 {
            return;
        }
        let (first, last) = (&body[..8], &body[body.len() - 8..]);
        let is_number = first.iter().all(u8::is_ascii_digit);
        if first != last || !is_number || !self.numbers.insert(first.into()) {
            self.faults.push(format!("the numbers {first:?} and {last:?} of {} bytes", body.len()));
        }
        let between = &body[8..body.len() - 8];
        if between.len() > PERIOD && between[PERIOD..] != between[..between.len() - PERIOD] {
            self.faults.push(format!("the bytes between them, of {}", body.len()));
        }
    }
}

/// A server that reads whole bodies, and what it has seen.
fn reading() -> (Server, Arc<Mutex<ReceivedBody>>) {
    let seen = Arc::new(Mutex::new(ReceivedBody::default()));
    let noted = Arc::clone(&seen);
    let server = Server::raw(move |connection: &mut Connection| {
        let mut writer = connection.writer()?;
        let mut reader = BufReader::new(connection.writer()?);
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).ok().filter(|length| *length > 0)?;
            }
            let body = body(&head, &mut reader)?;
            noted.lock().unwrap().note(&head, &body);
            writer.write_all(OK).ok()?;
            if head.contains("Connection: close") {
                return None;
            }
        }
    });
    (server.unwrap(), seen)
}

const LENGTHS: [u64; 6] = [0, 1_000, 16_384, 16_390, 1_000_000, LARGE];

fn each_body_arrives_whole_and_is_another_one(io: IoChoice) {
    let (server, seen) = reading();
    let load = uploads(server.address, io, &LENGTHS, 24);
    let result = run(&LoadSpec { connections: Connections::kept(1), ..load });
    assert_eq!((result.measured.requests.good, errors(&result)), (24, vec![]));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.faults, Vec::<String>::new());
    assert_eq!((seen.bodies, seen.numbers.len()), (24, 20), "a number for each that has room");
    let both = |length: &u64| [(false, *length as usize), (true, *length as usize)];
    assert_eq!(seen.ways, LENGTHS.iter().flat_map(both).collect());
}

fn bodies_go_through_tls_and_over_a_connection_each(io: IoChoice) {
    let (server, seen) = reading();
    let authority = Authority::new();
    let config = authority.server(&Certified::default());
    let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
    for (address, tls) in [(front.address(), Some(trusting(&authority))), (server.address, None)] {
        let closing = Connections { requests_per_connection: Some(1), ..Connections::kept(3) };
        let load = uploads(address, io, &[1_000, 1_000_000], 12);
        let result = run(&LoadSpec { tls, connections: closing, ..load });
        assert_eq!((result.measured.requests.good, errors(&result)), (12, vec![]));
        assert_eq!(result.measured.connections.opened, 12);
    }
    let seen = seen.lock().unwrap();
    assert_eq!((seen.faults.clone(), seen.bodies), (vec![], 24));
}

fn requests_without_a_body_come_between(io: IoChoice) {
    let (server, seen) = reading();
    let plain = get(BodyCheck::Exact(b"hello".into()));
    let letters = Request {
        target: "/abcdefgh".into(),
        drawn: Some("abcdefgh".into()),
        method: "POST".into(),
        ..plain.clone()
    };
    let requests = vec![upload(100_000, true), plain, letters];
    let load = closed(server.address, io, 1, 12);
    let result = run(&LoadSpec { requests: requests.into(), ..load });
    assert_eq!((result.measured.requests.good, errors(&result)), (12, vec![]));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.faults.clone(), seen.numbers.len()), (vec![], 4));
}

/// A server that does this after the head of the first request on each connection.
fn serving(script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static) -> Server {
    Server::raw(move |connection| {
        connection.head()?;
        script(connection)
    })
    .unwrap()
}

fn who_answers_early_gets_the_next_request_elsewhere(io: IoChoice) {
    let server = serving(|connection| {
        connection.send(OK)?;
        std::thread::sleep(ms(3_000));
        None
    });
    let result = run(&uploads(server.address, io, &[LARGE], 6));
    assert_eq!((result.measured.requests.good, errors(&result)), (6, vec![]));
    assert_eq!(result.measured.connections.opened, 6);
}

/// The kernel of the server resets the connection, because there are bytes that nobody has read.
fn who_closes_within_a_body_fails_that_request(io: IoChoice) {
    let server = serving(|connection| {
        connection.writer()?.read_exact(&mut [0; 100_000]).ok()?;
        None
    });
    let result = run(&uploads(server.address, io, &[LARGE], 12));
    let failed: u64 = errors(&result).iter().map(|(_, count)| count).sum();
    assert_eq!((result.measured.requests.good, failed), (0, 12), "{:?}", errors(&result));
    let is_lost = |kind: &ErrorKind| !matches!(kind, ErrorKind::Timeout | ErrorKind::WrongBody);
    assert!(errors(&result).iter().all(|(kind, _)| is_lost(kind)), "{:?}", errors(&result));
}

fn who_never_reads_fails_in_time(io: IoChoice) {
    let server = serving(|_| {
        std::thread::sleep(ms(5_000));
        None
    });
    let mut load = uploads(server.address, io, &[LARGE], 3);
    load.timeouts.request_ns = 300_000_000;
    load.requests.iter_mut().for_each(|request| request.check = Check::default());
    let result = run(&load);
    assert_eq!(errors(&result), vec![(ErrorKind::Timeout, 3)]);
    assert_timeouts(&result, 3);
}
