//! A second protocol, to prove the seam: frames with a length and a tag, whose answers come in any
//! order. It runs through the real worker, on both event loops, over TCP and over TLS.
//!
//! A frame is the length of what follows it (u32), the tag (u32) and a payload, all big-endian. The
//! answer has the tag of its request, a status (u16) and a payload.
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use pippin_model::load_result::{ErrorKind, LoadResult};
use pippin_model::load_spec::{
    BodyCheck, Check, Connections, IoChoice, Limits, LoadSpec, Part, Request, Schedule, StopRule,
    Timeouts, WarmUp,
};
use pippin_model::tls::TlsSpec;
use pippin_reference::tls::{Authority, Certified, Front, Manner};

use super::*;
use crate::Control;
use crate::io::epoll::Epoll;
use crate::io::uring::Uring;
use crate::run::run_on;
use crate::transport::{Tcp, Tls};
use crate::wire::Template;
use crate::worker::Over;

/// The protocol.
struct Echo {
    wire: Arc<Wire>,
}

/// Frames that wait for the kernel.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing for Frames {
    const IS_WIRE: bool = false;
    fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
    fn bytes(&self) -> Bytes<'_> {
        Bytes::Own(&self.bytes[self.sent..])
    }
    fn took(&mut self, count: u32) {
        self.sent += count as usize;
        if self.is_empty() {
            (self.sent, self.bytes) = (0, Vec::new());
        }
    }
}

impl Protocol for Echo {
    /// The beginning of a frame whose end has not come.
    type Session = Vec<u8>;
    type Out = Frames;
    const IN_ORDER: bool = false;

    fn wire(spec: &LoadSpec) -> Result<Wire, EngineError> {
        let requests = spec.requests.iter().map(|request| {
            let check = request.check.clone();
            let template = Template { check, may_repeat: false, head_only: false };
            Ok((request.body.clone(), template))
        });
        Wire::new(requests, spec.requests.turns(), 1)
    }

    fn new(_: &LoadSpec, wire: &Arc<Wire>) -> Self {
        Self { wire: Arc::clone(wire) }
    }

    fn render(&self, _: &mut Vec<u8>, template: u32, tag: u32, out: &mut Frames) {
        let payload = self.wire.bytes(self.wire.slice(template));
        out.bytes.extend((payload.len() as u32 + 4).to_be_bytes());
        out.bytes.extend(tag.to_be_bytes());
        out.bytes.extend(payload);
    }

    fn decode<A: Answers>(
        &mut self,
        partial: &mut Vec<u8>,
        input: &[u8],
        answers: &mut A,
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
        answers.head(u16::from_be_bytes([frame[8], frame[9]]), false);
        if end > 10 {
            answers.body(template, &frame[10..]);
        }
        Ok(Step::Complete { tag, used: end - before })
    }

    fn end(partial: &mut Vec<u8>) -> End {
        if partial.is_empty() { End::BeforeHead { untouched: true } } else { End::InBody }
    }
}

/// How the server answers a row of requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// The last one first, a byte at a time at the start of each answer.
    Reversed,
    /// Each with the payload of the next.
    Crossed,
    /// The first one twice.
    Twice,
    /// Closes after the first half of the row.
    Half,
}

const ROW: usize = 8;

/// Answers rows of [`ROW`] requests on so many connections; how many frames it read.
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
                let payloads: Vec<Vec<u8>> =
                    row.iter().map(|(_, payload)| payload.clone()).collect();
                for (i, (_, payload)) in row.iter_mut().enumerate() {
                    *payload = payloads[(i + 1) % ROW].clone();
                }
            }
            Manners::Twice => row[1] = row[0].clone(),
            Manners::Half => row.truncate(ROW / 2),
        }
        for (tag, payload) in row {
            let mut frame = (payload.len() as u32 + 6).to_be_bytes().to_vec();
            frame.extend(tag.to_be_bytes());
            frame.extend(200_u16.to_be_bytes());
            frame.extend(payload);
            // The client may have closed: then nobody reads on.
            if frame.chunks(7).any(|piece| stream.write_all(piece).is_err()) {
                return read;
            }
        }
        if manners == Manners::Half {
            stream.shutdown(Shutdown::Both).unwrap();
            return read;
        }
    }
    read
}

/// The next row of requests; `None` if the client has closed.
fn row(stream: &mut TcpStream) -> Option<Vec<(u32, Vec<u8>)>> {
    (0..ROW)
        .map(|_| {
            let mut header = [0; 8];
            stream.read_exact(&mut header).ok()?;
            let (length, tag) = header.split_at(4);
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            let mut payload = vec![0; length - 4];
            stream.read_exact(&mut payload).ok()?;
            Some((u32::from_be_bytes(tag.try_into().unwrap()), payload))
        })
        .collect()
}

/// 3 users send 10 rows each; the payloads are of different lengths, and each must come back.
fn load(address: SocketAddr, tls: Option<TlsSpec>) -> LoadSpec {
    let requests = (1..=5_usize).map(|n| {
        let body = vec![b'a' + n as u8; n * 1_000];
        let check =
            Check { status: vec![200], body: BodyCheck::Exact(body.clone()), ..Check::default() };
        Request { body, check, ..Request::get("", "") }
    });
    LoadSpec {
        addresses: vec![address],
        tls,
        source_addresses: Vec::new(),
        requests: requests.collect(),
        schedule: Schedule::Closed { think: None },
        connections: Connections { count: 3, requests_per_connection: None, pipeline: ROW as u32 },
        stop: StopRule { duration_ns: None, requests: Some(3 * 10 * ROW as u64) },
        warm_up: WarmUp::None,
        timeouts: Timeouts { connect_ns: 5_000_000_000, request_ns: 5_000_000_000 },
        limits: Limits::default(),
        threads: 1,
        cores: Vec::new(),
        io: IoChoice::Auto,
        spin_ns: None,
        seed: 1,
        slice: Part::WHOLE,
    }
}

type Run = fn(&LoadSpec, &Control<'_>) -> Result<LoadResult, EngineError>;

/// Runs a load against such a server on both event loops; what was measured, and how many frames
/// the server read.
fn measured(connections: usize, manners: Manners, test: impl Fn(LoadResult, usize)) {
    let runs: [Run; 2] = [run_on::<Over<Epoll, Tcp, Echo>>, run_on::<Over<Uring, Tcp, Echo>>];
    for run in runs {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, connections, manners);
        let stop = AtomicBool::new(false);
        let result = run(&load(address, None), &Control::new(&stop, |_| true)).unwrap();
        assert!(result.measured.requests.are_conserved(), "{:?}", result.measured.requests);
        test(result, server.join().unwrap());
    }
}

fn errors(result: &LoadResult) -> Vec<(ErrorKind, u64)> {
    result.measured.errors.iter().map(|(kind, count)| (*kind, *count)).collect()
}

#[test]
fn answers_find_their_requests_in_any_order() {
    measured(3, Manners::Reversed, |result, read| {
        let requests = result.measured.requests;
        assert_eq!((read, requests.sent, requests.good), (240, 240, 240), "{:?}", errors(&result));
        assert_eq!(result.measured.spans.service_time.count(), 240);
        assert_eq!(result.measured.spans.send_lag.count(), 240);
        // Requests and answers carry the same payloads, behind headers of 8 and 10 bytes.
        assert_eq!(result.measured.bytes.sent, result.measured.bytes.body + 240 * 8);
        assert_eq!(result.measured.bytes.received, result.measured.bytes.body + 240 * 10);
    });
}

#[test]
fn an_answer_with_the_tag_of_another_request_is_wrong() {
    measured(3, Manners::Crossed, |result, read| {
        assert_eq!((read, result.measured.requests.completed), (240, 240));
        assert_eq!(errors(&result), [(ErrorKind::WrongBody, 240)]);
    });
}

#[test]
fn a_second_answer_to_the_same_request_is_malformed() {
    // Each row ends with the second answer on its connection.
    measured(30, Manners::Twice, |result, _| {
        let requests = result.measured.requests;
        assert_eq!((requests.completed, requests.failed), (30, 210), "{:?}", errors(&result));
        assert_eq!(
            errors(&result),
            [(ErrorKind::CloseBeforeAnswer, 180), (ErrorKind::Malformed, 30)]
        );
    });
}

#[test]
fn what_was_not_answered_before_the_end_fails() {
    measured(30, Manners::Half, |result, _| {
        let requests = result.measured.requests;
        assert_eq!((requests.good, requests.failed), (120, 120), "{:?}", errors(&result));
        assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 120)]);
    });
}

#[test]
fn the_protocol_does_not_see_what_carries_it() {
    let authority = Authority::new();
    for run in [run_on::<Over<Epoll, Tls, Echo>>, run_on::<Over<Uring, Tls, Echo>>] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = listener.local_addr().unwrap();
        let server = serve(listener, 3, Manners::Reversed);
        let certified = authority.server(&Certified::default());
        let front = Front::spawn(upstream, certified, Manner::default()).unwrap();
        let tls = TlsSpec {
            server_name: "localhost".into(),
            extra_roots_pem: Some(authority.pem()),
            verify: true,
            resume: false,
        };
        let stop = AtomicBool::new(false);
        let spec = load(front.address(), Some(tls));
        let result = run(&spec, &Control::new(&stop, |_| true)).unwrap();
        assert_eq!(result.measured.requests.good, 240, "{:?}", errors(&result));
        assert_eq!(result.measured.spans.tls.count(), 3);
        drop(front);
        assert_eq!(server.join().unwrap(), 240);
    }
}
