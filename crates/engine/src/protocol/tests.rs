//! A second protocol in a few lines, which proves the seam: frames with a length and a tag, whose
//! answers come in any order. The real worker runs it, on both event loops, over TCP and over TLS.
//!
//! A frame is the length of what follows it (u32), the tag (u32) and a payload, all big-endian. The
//! answer has the tag of its request, a status (u16) and the same payload.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use pippin_model::load::tls::TlsSpec;
use pippin_model::load::{BodyCheck, Check, Connections, Request, StopRule};
use pippin_model::result::LoadResult;
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};

use super::*;
use crate::Control;
use crate::io::Loop;
use crate::io::chosen::Chosen;
use crate::io::epoll::Epoll;
use crate::io::uring::Uring;
use crate::protocol::order::ByTag;
use crate::protocol::outgoing::Frames;
use crate::request::wire::Template;
use crate::run::run_on;
use crate::transport::{Tcp, Tls};
use crate::worker::Over;

/// The protocol.
pub(crate) struct Echo {
    wire: Arc<Wire>,
}

impl Protocol for Echo {
    /// The beginning of a frame whose end has not come yet.
    type Session = Vec<u8>;
    type Out = Frames;
    type Order = ByTag;
    type Greeting = AtOnce;
    type Variation = Alike;
    type Reach = Asker;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let requests = spec.requests.iter().map(|request| {
            let check = request.check.clone();
            Ok((
                request.body.clone(),
                Template { check, may_repeat: false, head_only: false, places: None, upload: None },
            ))
        });
        Wire::new(requests, spec.requests.turns(), 1)
    }

    fn new(_: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self { wire: Arc::clone(wire) }
    }

    fn render(&mut self, _: &mut Vec<u8>, template: u32, tag: u32, _: Value, out: &mut Frames) {
        let payload = self.wire.bytes(self.wire.slice(template));
        put(&mut out.bytes, &[&tag.to_be_bytes(), payload]);
    }

    fn decode<A: Answers>(
        &mut self,
        partial: &mut Vec<u8>,
        input: &[u8],
        answers: &mut A,
        _: &mut Frames,
    ) -> Result<Step, ErrorKind> {
        let before = partial.len();
        partial.extend(input);
        let Some(header) = partial.first_chunk::<4>() else { return Ok(Step::More) };
        let end = 4 + u32::from_be_bytes(*header) as usize;
        if end < 10 {
            return Err(ErrorKind::Malformed);
        }
        if partial.len() < end {
            return Ok(Step::More);
        }
        let frame: Vec<u8> = partial.drain(..end).collect();
        partial.clear();
        let tag = u32::from_be_bytes([frame[4], frame[5], frame[6], frame[7]]);
        let template = answers.template(tag).ok_or(ErrorKind::Malformed)?;
        answers.head(tag, u16::from_be_bytes([frame[8], frame[9]]), false);
        answers.body(tag, template, &frame[10..]);
        Ok(Step::Complete { tag, used: end - before })
    }

    fn end(partial: &mut Vec<u8>) -> End {
        if partial.is_empty() { End::BeforeHead { untouched: true } } else { End::InBody }
    }
}

/// Appends a frame of these parts.
pub(crate) fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend((length as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend(*part));
}

/// How the server answers a row of requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// The last one first, a few bytes at a time.
    Reversed,
    /// Each with the payload of the next.
    Crossed,
    /// With a tag that no request has.
    Stray,
}

/// Requests under way on each connection: the server answers once it has this many.
const ROW: usize = 8;
const CONNECTIONS: u32 = 3;
const ROWS_EACH: usize = 10;
const REQUESTS: usize = CONNECTIONS as usize * ROWS_EACH * ROW;

/// Serves this many connections. Returns how many frames it has read.
fn serve(listener: TcpListener, connections: usize, manners: Manners) -> JoinHandle<usize> {
    std::thread::spawn(move || {
        let accepted: Vec<_> = (0..connections)
            .map(|_| listener.accept().unwrap().0)
            .map(|stream| std::thread::spawn(move || converse(stream, manners)))
            .collect();
        accepted.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn converse(mut stream: TcpStream, manners: Manners) -> usize {
    stream.set_nodelay(true).unwrap();
    let mut read = 0;
    while let Some(mut row) = row(&mut stream) {
        read += row.len();
        match manners {
            Manners::Reversed => row.reverse(),
            Manners::Crossed => {
                let payloads: Vec<Vec<u8>> = row.iter().map(|(_, bytes)| bytes.clone()).collect();
                for (nth, (_, payload)) in row.iter_mut().enumerate() {
                    payload.clone_from(&payloads[(nth + 1) % ROW]);
                }
            }
            Manners::Stray => row = vec![(1_000, Vec::new())],
        }
        let mut frames = Vec::new();
        for (tag, payload) in row {
            put(&mut frames, &[&tag.to_be_bytes(), &200_u16.to_be_bytes(), &payload]);
        }
        // A client that has closed reads no further.
        if frames.chunks(777).any(|piece| stream.write_all(piece).is_err()) {
            break;
        }
    }
    read
}

/// The next row of requests; `None` if the client has closed.
fn row(stream: &mut TcpStream) -> Option<Vec<(u32, Vec<u8>)>> {
    (0..ROW)
        .map(|_| {
            let (mut length, mut tag) = ([0; 4], [0; 4]);
            stream.read_exact(&mut length).ok()?;
            stream.read_exact(&mut tag).ok()?;
            let mut payload = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut payload).ok()?;
            Some((u32::from_be_bytes(tag), payload))
        })
        .collect()
}

/// Each connection has a thread, so that each gets the same number of rows. The payloads are of
/// different lengths, and each must come back.
fn load(address: SocketAddr, tls: Option<TlsSpec>) -> LoadSpec {
    let requests = (1..=5_usize).map(|n| {
        let body = vec![b'a' + n as u8; n * 1_000];
        let exact = BodyCheck::Exact(body.clone());
        let check = Check { status: vec![200], body: exact, ..Check::default() };
        Request { body, check, ..Request::get("", "") }
    });
    LoadSpec {
        addresses: vec![address],
        tls,
        requests: requests.collect(),
        connections: Connections { streams: ROW as u32, ..Connections::kept(CONNECTIONS) },
        stop: StopRule::requests(REQUESTS as u64),
        threads: CONNECTIONS,
        ..LoadSpec::default()
    }
}

type Run = fn(&LoadSpec, &Control<'_>, Loop) -> Result<LoadResult, EngineError>;

/// Runs a load against such a server on both event loops, and hands on what was measured and how
/// many frames the server has read.
fn measured(connections: usize, manners: Manners, test: impl Fn(LoadResult, usize)) {
    let runs: [(Run, Loop); 3] = [
        (run_on::<Over<Epoll, Tcp, Echo>>, Loop::Epoll),
        (run_on::<Over<Uring, Tcp, Echo>>, Loop::Uring),
        (run_on::<Over<Chosen, Tcp, Echo>>, Loop::Uring),
    ];
    for (run, on) in runs {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, connections, manners);
        let stop = AtomicBool::new(false);
        let result = run(&load(address, None), &Control::new(&stop, &|_| true), on).unwrap();
        assert!(result.measured.requests.are_conserved(), "{:?}", result.measured.requests);
        test(result, server.join().unwrap());
    }
}

fn errors(result: &LoadResult) -> Vec<(ErrorKind, u64)> {
    result.measured.errors.iter().map(|(kind, count)| (*kind, *count)).collect()
}

#[test]
fn answers_find_their_requests_in_any_order() {
    measured(CONNECTIONS as usize, Manners::Reversed, |result, read| {
        let requests = result.measured.requests;
        let all = REQUESTS as u64;
        assert_eq!((read, requests.sent, requests.good), (REQUESTS, all, all), "{requests:?}");
        assert_eq!(result.measured.spans.service_time.count(), all);
        // Requests and answers carry the same payloads, behind headers of 8 and 10 bytes.
        let bytes = result.measured.bytes;
        assert_eq!(bytes.sent, bytes.body + all * 8);
        assert_eq!(bytes.received, bytes.body + all * 10);
    });
}

#[test]
fn the_answer_to_another_request_is_wrong() {
    measured(CONNECTIONS as usize, Manners::Crossed, |result, read| {
        assert_eq!((read, result.measured.requests.completed), (REQUESTS, REQUESTS as u64));
        assert_eq!(errors(&result), [(ErrorKind::WrongBody, REQUESTS as u64)]);
    });
}

#[test]
fn an_answer_to_no_request_breaks_the_connection() {
    // Each row is the last one of its connection.
    measured(REQUESTS / ROW, Manners::Stray, |result, read| {
        let requests = result.measured.requests;
        assert_eq!((read, requests.completed), (REQUESTS, 0), "{requests:?}");
        assert_eq!(requests.failed, REQUESTS as u64);
        assert_eq!(result.measured.errors[&ErrorKind::Malformed], (REQUESTS / ROW) as u64);
    });
}

#[test]
fn the_protocol_does_not_see_what_carries_it() {
    let authority = Authority::new();
    let runs: [(Run, Loop); 2] = [
        (run_on::<Over<Epoll, Tls, Echo>>, Loop::Epoll),
        (run_on::<Over<Uring, Tls, Echo>>, Loop::Uring),
    ];
    for (run, on) in runs {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = listener.local_addr().unwrap();
        let server = serve(listener, CONNECTIONS as usize, Manners::Reversed);
        let certified = authority.server(&Certified::default());
        let front = Front::spawn(upstream, certified, FrontBehaviour::default()).unwrap();
        let tls = TlsSpec {
            server_name: "localhost".into(),
            extra_roots_pem: Some(authority.pem()),
            verify: true,
            resume: false,
            client: None,
        };
        let stop = AtomicBool::new(false);
        let spec = load(front.address(), Some(tls));
        let result = run(&spec, &Control::new(&stop, &|_| true), on).unwrap();
        assert_eq!(result.measured.requests.good, REQUESTS as u64, "{:?}", errors(&result));
        assert_eq!(result.measured.spans.tls.count(), u64::from(CONNECTIONS));
        drop(front);
        assert_eq!(server.join().unwrap(), REQUESTS);
    }
}
