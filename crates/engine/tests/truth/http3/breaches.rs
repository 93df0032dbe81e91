//! Servers that break the rules of HTTP/3, or go away: each request has one fate, and the load ends.
use pippin_model::load::{BodyCheck, Check, IoChoice, LoadSpec, Request, StopRule, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_testing::tls::Authority;
use std::net::UdpSocket;

use super::raw::{Behaviour, CONTROL, Ending, HELLO, OK, Raw};
use super::streams;
use crate::support::{MS, closed, get, on_each_loop, run, run_with_breaches};

on_each_loop!(
    what_is_allowed_is_no_error,
    answers_that_break_the_rules_are_malformed,
    connections_that_break_the_rules_are_closed,
    answers_that_do_not_end_are_late,
    servers_that_go_away_are_told,
    nobody_listens,
    somebody_else_listens,
);

fn spec(server: &Raw, io: IoChoice) -> LoadSpec {
    let request =
        Request { check: Check { status: vec![200], ..Check::default() }, ..get(BodyCheck::Any) };
    let spec = LoadSpec { requests: vec![request].into(), ..closed(server.address, io, 1, 12) };
    streams(spec, 3, &server.authority)
}

fn answering(pieces: &[&[u8]]) -> Behaviour {
    Behaviour { answer: pieces.concat(), ..Behaviour::default() }
}

/// A section of fields in a HEADERS frame.
fn headers(section: &[u8]) -> Vec<u8> {
    [&[0x01, section.len() as u8], section].concat()
}

/// `content-length: N` behind `:status 200`.
fn of_length(length: u8) -> Vec<u8> {
    headers(&[0, 0, 0xD9, 0x54, 1, b'0' + length])
}

fn what_is_allowed_is_no_error(io: IoChoice) {
    // A frame and a stream of types that nobody knows (RFC 9114 section 7.2.8 and 6.2.3), an interim
    // answer, trailers, and the streams of QPACK.
    let grease = &[0x21, 0x03, 1, 2, 3][..];
    let early_hints = headers(&[0, 0, 0xD8]);
    let trailers = headers(&[0, 0, 0x21, b'x', 1, b'y']);
    let rows: &[(&str, Behaviour)] = &[
        ("plain", Behaviour::default()),
        ("unknown frames", answering(&[grease, OK, grease, HELLO, grease])),
        ("an interim answer", answering(&[&early_hints, OK, HELLO])),
        ("trailers", answering(&[OK, HELLO, &trailers])),
        ("many pieces of a body", answering(&[OK, HELLO, b"\x00\x00", HELLO])),
        ("its length", answering(&[&of_length(5), HELLO])),
        ("a frame of two bytes of length", answering(&[OK, b"\x00\x40\x05hello"])),
        (
            "streams of QPACK and of unknown types",
            Behaviour {
                streams: vec![CONTROL.to_vec(), vec![0x02], vec![0x03], vec![0x21, 9, 9, 9]],
                ..Behaviour::default()
            },
        ),
        (
            "settings that we do not know",
            Behaviour {
                streams: vec![vec![0x00, 0x04, 0x02, 0x21, 0x05, 0x21, 0x00]],
                ..Behaviour::default()
            },
        ),
        ("no stream of its own", Behaviour { streams: Vec::new(), ..Behaviour::default() }),
    ];
    for (what, behaviour) in rows {
        let server = Raw::new(behaviour.clone());
        let result = run(&spec(&server, io));
        let requests = &result.measured.requests;
        assert_eq!(
            (requests.good, requests.failed),
            (12, 0),
            "{what}: {:?}",
            result.measured.errors
        );
        assert_eq!(result.measured.connections.opened, 1, "{what}");
    }
}

/// The connection goes on.
fn answers_that_break_the_rules_are_malformed(io: IoChoice) {
    let rows: &[(&str, Behaviour)] = &[
        ("no head", answering(&[])),
        ("less than its length", answering(&[&of_length(6), HELLO])),
        ("more than its length", answering(&[&of_length(4), HELLO])),
        ("a status of two digits", answering(&[&headers(&[0, 0, 0x58, 2, b'2', b'0']), HELLO])),
        ("no status", answering(&[&headers(&[0, 0, 0xC2]), HELLO])),
        ("an upgrade", answering(&[&headers(&[0, 0, 0x58, 3, b'1', b'0', b'1']), HELLO])),
        ("two heads", answering(&[OK, OK, HELLO])),
        ("a name in capitals", answering(&[&headers(&[0, 0, 0xD9, 0x21, b'X', 1, b'y']), HELLO])),
        ("an interim answer alone", answering(&[&headers(&[0, 0, 0xD8])])),
    ];
    for (what, behaviour) in rows {
        let server = Raw::new(behaviour.clone());
        let result = run(&spec(&server, io));
        assert_eq!(result.measured.requests.failed, 12, "{what}: {:?}", result.measured.errors);
        assert_eq!(result.measured.errors.get(&ErrorKind::Malformed), Some(&12), "{what}");
        assert_eq!(result.measured.connections.opened, 1, "{what}");
    }
}

/// No request is right, and none is lost.
fn connections_that_break_the_rules_are_closed(io: IoChoice) {
    let control =
        |bytes: &[u8]| Behaviour { streams: vec![bytes.to_vec()], ..Behaviour::default() };
    let rows: &[(&str, Behaviour)] = &[
        ("DATA before the head", answering(&[HELLO, OK])),
        ("SETTINGS on a request", answering(&[b"\x04\x00", OK, HELLO])),
        ("GOAWAY on a request", answering(&[b"\x07\x01\x00", OK, HELLO])),
        ("a push on a request", answering(&[b"\x05\x01\x00", OK, HELLO])),
        ("a frame of HTTP/2", answering(&[b"\x06\x00", OK, HELLO])),
        ("a section that is no section", answering(&[&headers(&[0, 0, 0xFF, 0xFF, 0xFF]), HELLO])),
        ("a dynamic table", answering(&[&headers(&[2, 0, 0x80]), HELLO])),
        ("an empty head", answering(&[b"\x01\x00", HELLO])),
        ("a frame that is cut off", answering(&[OK, b"\x00\x09hello"])),
        ("a type that is cut off", answering(&[OK, HELLO, b"\x40"])),
        ("DATA behind trailers", answering(&[OK, &headers(&[0, 0, 0x21, b'x', 1, b'y']), HELLO])),
        ("no SETTINGS first", control(b"\x00\x07\x01\x00")),
        ("SETTINGS twice", control(b"\x00\x04\x00\x04\x00")),
        ("DATA on the control stream", control(b"\x00\x04\x00\x00\x01x")),
        ("a request on the control stream", control(b"\x00\x04\x00\x01\x01x")),
        ("GOAWAY without a number", control(b"\x00\x04\x00\x07\x00")),
        ("GOAWAY that goes on", control(b"\x00\x04\x00\x07\x02\x00\x00")),
        ("a frame of HTTP/2 on the control stream", control(b"\x00\x04\x00\x02\x00")),
        (
            "two control streams",
            Behaviour { streams: vec![CONTROL.to_vec(), CONTROL.to_vec()], ..Behaviour::default() },
        ),
        ("a push stream", control(b"\x01\x00")),
        ("the end of the control stream", Behaviour { ends_first: true, ..Behaviour::default() }),
    ];
    for (what, behaviour) in rows {
        let server = Raw::new(behaviour.clone());
        let spec = LoadSpec {
            stop: StopRule { duration_ns: Some(5_000 * MS), requests: Some(12) },
            ..spec(&server, io)
        };
        let (result, breaches) = run_with_breaches(&spec);
        let measured = &result.measured;
        assert!(measured.requests.censored <= 3, "{what}: {measured:?}");
        let noticed = breaches + measured.requests.failed;
        assert!(noticed > 0, "{what}: {measured:?}");
        let other = measured.errors.keys().find(|kind| {
            !matches!(
                kind,
                ErrorKind::Malformed | ErrorKind::CloseBeforeAnswer | ErrorKind::CloseInBody
            )
        });
        assert_eq!(other, None, "{what}: {:?}", measured.errors);
        assert!(
            measured.errors.contains_key(&ErrorKind::Malformed),
            "{what}: {:?}",
            measured.errors
        );
    }
}

fn answers_that_do_not_end_are_late(io: IoChoice) {
    for answer in [vec![], OK.to_vec(), [OK, b"\x00\x09hello"].concat(), b"\x01".to_vec()] {
        let server = Raw::new(Behaviour { answer, ending: Ending::Open, ..Behaviour::default() });
        let timeouts =
            Timeouts { connect_ns: 2_000 * MS, request_ns: 300 * MS, ..Timeouts::default() };
        let stop = StopRule::requests(3);
        let result = run(&LoadSpec { stop, timeouts, ..spec(&server, io) });
        assert_eq!(
            result.measured.errors.get(&ErrorKind::Timeout),
            Some(&3),
            "{:?}",
            result.measured.errors
        );
    }
}

fn servers_that_go_away_are_told(io: IoChoice) {
    for (what, behaviour, right) in [
        (
            "reset within a body",
            Behaviour { ending: Ending::Reset(0x0102), ..answering(&[OK, b"\x00\x09hello"]) },
            ErrorKind::StreamReset,
        ),
        (
            "closed",
            Behaviour { closes: Some(0x0100), ..Behaviour::default() },
            ErrorKind::CloseBeforeAnswer,
        ),
        (
            "closed with an error",
            Behaviour { closes: Some(0x0102), ..Behaviour::default() },
            ErrorKind::CloseBeforeAnswer,
        ),
    ] {
        let server = Raw::new(behaviour);
        let result = run(&spec(&server, io));
        assert_eq!(result.measured.requests.failed, 12, "{what}: {:?}", result.measured.errors);
        assert_eq!(
            result.measured.errors.get(&right),
            Some(&12),
            "{what}: {:?}",
            result.measured.errors
        );
    }
}

/// The kernel of the server says so, and no time has to pass.
fn nobody_listens(io: IoChoice) {
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let authority = Authority::new();
    let result = run(&streams(closed(address, io, 1, 2), 1, &authority));
    assert_eq!(result.measured.requests.completed, 0);
    assert_eq!(result.measured.errors, [(ErrorKind::Tls, 2)].into());
}

/// What comes is no QUIC: it is ignored, and the handshake is late.
fn somebody_else_listens(io: IoChoice) {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let echo = std::thread::spawn(move || {
        server.set_read_timeout(Some(std::time::Duration::from_millis(1_500))).unwrap();
        let mut buffer = [0; 2_048];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            for answer in
                [&buffer[..length], &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[], &[0x40; 30]]
            {
                let _ = server.send_to(answer, from);
            }
        }
    });
    let timeouts = Timeouts { connect_ns: 200 * MS, request_ns: 300 * MS, ..Timeouts::default() };
    let spec = LoadSpec { timeouts, ..closed(address, io, 1, 2) };
    let result = run(&streams(spec, 1, &Authority::new()));
    assert_eq!(result.measured.requests.completed, 0);
    assert_eq!(result.measured.errors, [(ErrorKind::Tls, 2)].into());
    echo.join().unwrap();
}
