//! One connection sends, and every connection is to have the message: rooms whose lies and losses are
//! known. Their times are tested in virtual time (`worker/sim/broadcasts.rs`).
use pippin_engine::Control;
use pippin_model::load::websocket::Messages;
use pippin_model::load::{Connections, IoChoice, LoadSpec, Part, Schedule, Timeouts};
use pippin_model::result::ErrorKind;
use pippin_model::text::units::Spread;
use pippin_testing::messages::{CLOSE, Connection, FINAL, Server, frame, text};
use pippin_testing::room::{Delivery, Said, room};
use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::{message, messages, seen, serving_raw};
use crate::support::{MS, closed, closed_for, errors, ms, on_each_loop, run, trusting};
use pippin_testing::patience::in_time;

on_each_loop!(
    every_connection_gets_every_message,
    a_copy_that_was_changed,
    copies_that_come_twice,
    who_has_its_copy_may_leave,
    a_receiver_that_cannot_come_is_not_waited_for,
    the_sender_is_closed,
    broadcasts_over_tls,
);

/// This load as broadcasts of numbered texts of 64 bytes.
fn broadcasts(spec: LoadSpec) -> LoadSpec {
    let kind = Messages { binary: false, numbered: true, broadcast: true };
    LoadSpec { messages: Some(kind), ..messages(spec) }
}

fn a_room(script: impl Fn(Said<'_>) -> Vec<Delivery> + Send + Sync + 'static) -> Server {
    room(script).unwrap()
}

/// Requests that wait this many milliseconds for their answers.
fn patient(spec: LoadSpec, milliseconds: u64) -> LoadSpec {
    let request_ns = milliseconds * MS;
    LoadSpec { timeouts: Timeouts { request_ns, ..spec.timeouts }, ..spec }
}

fn every_connection_gets_every_message(io: IoChoice) {
    let server = a_room(|said| said.to_all());
    let result = run(&broadcasts(closed(server.address, io, 5, 40)));
    assert_eq!((result.measured.requests.good, errors(&result)), (40, vec![]));
    let (use_of, bytes) = (seen(&result), result.measured.bytes);
    assert_eq!((use_of.receivers, use_of.lost, use_of.unasked), (Some(5), 0, 0));
    assert_eq!(bytes.body, 40 * 64, "one copy of each");
    assert!(bytes.received >= 5 * 40 * 66, "{bytes:?}");
    assert_eq!((result.measured.connections.opened, server.account.opened()), (5, 5));
    // One connection sends all of them, and no two are alike.
    let mut sent = server.account.messages();
    sent.sort();
    sent.dedup();
    assert_eq!(sent.len(), 40);
    assert_eq!(server.account.closed(5), [1000; 5]);
}

/// Behind its number, the copy for one of them has another text; or is longer; or is binary.
fn a_copy_that_was_changed(io: IoChoice) {
    let changes: [fn(&mut Vec<u8>); 3] = [
        |copy| copy[60] ^= 1,
        |copy| *copy = text(&[&copy[2..], &b"!"[..]].concat()),
        |copy| copy[0] ^= 0b11,
    ];
    for change in changes {
        let server = a_room(move |said| {
            let mut copies = said.to_all();
            change(&mut copies[1].bytes);
            copies
        });
        let result = run(&broadcasts(closed(server.address, io, 3, 5)));
        assert_eq!(errors(&result), [(ErrorKind::WrongBody, 5)]);
        assert_eq!(seen(&result).lost, 0);
    }
}

fn copies_that_come_twice(io: IoChoice) {
    let server = a_room(|said| {
        let twice = |copy: Delivery| Delivery { bytes: copy.bytes.repeat(2), ..copy };
        said.to_all().into_iter().map(twice).collect()
    });
    let result = run(&broadcasts(closed(server.address, io, 3, 20)));
    assert_eq!((result.measured.requests.good, errors(&result)), (20, vec![]));
    // Those behind the last answers may not have been read any more.
    assert!((57..=60).contains(&seen(&result).unasked), "{:?}", seen(&result));
}

/// A member gets its copy and a Close, and 50 ms later the others get theirs: all have the message.
fn who_has_its_copy_may_leave(io: IoChoice) {
    let server = a_room(|said| {
        let leaver = usize::from(said.from == 0);
        let mut copies: Vec<Delivery> = (0..said.members)
            .map(|to| said.to(to, if to == leaver { ms(0) } else { ms(50) }))
            .collect();
        if said.nth % 3 == 2 {
            copies[leaver].bytes.extend(frame(FINAL | CLOSE, &1001_u16.to_be_bytes()));
        }
        copies
    });
    let result = run(&broadcasts(closed(server.address, io, 4, 9)));
    assert_eq!((result.measured.requests.good, errors(&result)), (9, vec![]));
    assert_eq!((seen(&result).lost, seen(&result).unasked), (0, 0));
    let left = seen(&result).close_codes.get(&1001).copied();
    // The last Close may come after the load.
    assert!((2..=3).contains(&left.unwrap_or(0)), "{left:?}");
}

/// The server has room for three: the messages wait for the fourth in vain, and the load ends.
fn a_receiver_that_cannot_come_is_not_waited_for(io: IoChoice) {
    let present = AtomicU64::new(0);
    let server = serving_raw(move |connection| {
        let head = connection.head()?;
        if present.fetch_add(1, Relaxed) >= 3 {
            return connection
                .send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        }
        connection.send(Connection::consent(&head).as_bytes())?;
        connection.drain()
    });
    let result = run(&patient(broadcasts(closed(server.address, io, 4, 2)), 100));
    let requests = result.measured.requests;
    assert_eq!((requests.scheduled, requests.sent, requests.unsent), (2, 0, 2));
    let kinds: Vec<ErrorKind> = errors(&result).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [ErrorKind::Upgrade]);
}

fn the_sender_is_closed(io: IoChoice) {
    let server = a_room(|said| {
        let mut copies = said.to_all();
        if said.nth == 2 {
            copies.retain(|copy| copy.to == said.from);
            copies[0].bytes = frame(FINAL | CLOSE, &1011_u16.to_be_bytes());
        }
        copies
    });
    let result = run(&broadcasts(closed(server.address, io, 4, 10)));
    assert_eq!(errors(&result), [(ErrorKind::CloseBeforeAnswer, 1)]);
    assert_eq!((result.measured.requests.good, seen(&result).lost), (9, 4));
    assert_eq!(server.account.opened(), 5);
}

fn broadcasts_over_tls(io: IoChoice) {
    let authority = Authority::new();
    let server = a_room(|said| said.to_all());
    let config = authority.server(&Certified { alpn: vec!["http/1.1"], ..Certified::default() });
    let front = Front::spawn(server.address, config, FrontBehaviour::default()).unwrap();
    let spec = broadcasts(closed_for(front.address(), io, 3, 300));
    let result = run(&LoadSpec { tls: Some(trusting(&authority)), ..spec });
    in_time(result.measured.requests.good > 10, || format!("{:?}", result.measured.requests));
    assert_eq!(errors(&result), vec![]);
}

/// What one thread with one sender cannot do is refused, with what to do.
#[test]
fn what_a_broadcast_cannot_be_is_refused() {
    let plain = || broadcasts(closed(([127, 0, 0, 1], 1).into(), IoChoice::Epoll, 4, 4));
    let devices = Schedule::Devices {
        devices: 4,
        requests_per_device: 1,
        think: Spread { mean_ns: MS, jitter: 0.0 },
        ramp_up_ns: MS,
        sustain_ns: MS,
        ramp_down_ns: MS,
    };
    let connections = Connections { requests_per_connection: Some(2), ..plain().connections };
    let refused = [
        (LoadSpec { threads: 2, ..plain() }, "several threads"),
        (LoadSpec { slice: Part { nth: 0, width: 1, of: 2 }, ..plain() }, "several agents"),
        (LoadSpec { connections, ..plain() }, "a number of requests per connection"),
        (LoadSpec { schedule: devices, ..plain() }, "devices"),
        (
            LoadSpec { requests: vec![message(Messages::payload(15))].into(), ..plain() },
            "messages without a number of 16 bytes",
        ),
    ];
    for (spec, what) in refused {
        let stop = AtomicBool::new(false);
        let error = pippin_engine::run(&spec, &Control::new(&stop, &|_| true)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("a broadcast") && error.contains(what), "{error}");
    }
}
