//! What networks do to datagrams, and what servers of QUIC may do: no request is lost, and none is counted
//! twice.
use pippin_model::load::{IoChoice, LoadSpec, Request, Timeouts};
use pippin_model::result::ErrorKind;
use quinn_proto::RandomConnectionIdGenerator;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::library::Library;
use super::relay::{Direction, Fate, Relay};
use super::serving::Setup;
use super::streams;
use crate::support::{MS, asking, closed, errors, on_each_loop, run};

on_each_loop!(
    datagrams_are_counted,
    datagrams_are_lost_doubled_and_forged,
    servers_use_what_quic_allows,
    a_network_that_goes_dead,
);

/// Answers of many datagrams and of one, and a request of many.
fn requests() -> Vec<Request> {
    let sent =
        Request { method: "POST".into(), body: vec![b'x'; 20_000], ..asking("/echo", "20000") };
    vec![asking("/size/20000", &"x".repeat(20_000)), asking("/hello", "/hello"), sent]
}

fn spec(address: std::net::SocketAddr, server: &Library, io: IoChoice) -> LoadSpec {
    // A datagram that is lost is sent again after some round trips, and after more than that at the end.
    let timeouts =
        Timeouts { connect_ns: 20_000 * MS, request_ns: 20_000 * MS, ..Timeouts::default() };
    let spec = LoadSpec { requests: requests().into(), timeouts, ..closed(address, io, 1, 30) };
    streams(spec, 3, &server.authority)
}

fn every(step: u64, direction: Direction, change: fn(&[u8]) -> Vec<Vec<u8>>) -> Fate {
    Box::new(move |way, nth, datagram| {
        // The first ones are the handshake, whose loss costs seconds.
        if way == direction && nth > 4 && nth % step == 0 {
            change(datagram)
        } else {
            vec![datagram.to_vec()]
        }
    })
}

fn beside(more: fn(&[u8]) -> Vec<u8>) -> Fate {
    Box::new(move |_, _, datagram| vec![more(datagram), datagram.to_vec(), more(datagram)])
}

/// Each second datagram comes behind the one after it.
fn exchanged() -> Fate {
    let mut held: [Option<Vec<u8>>; 2] = [None, None];
    Box::new(move |way, nth, datagram| {
        if nth < 5 {
            return vec![datagram.to_vec()];
        }
        match held[way as usize].take() {
            None if nth % 2 == 0 => {
                held[way as usize] = Some(datagram.to_vec());
                Vec::new()
            }
            None => vec![datagram.to_vec()],
            Some(before) => vec![datagram.to_vec(), before],
        }
    })
}

/// Each datagram comes once more behind the ten after it.
fn repeated_late() -> Fate {
    let mut last: [Vec<Vec<u8>>; 2] = Default::default();
    Box::new(move |way, nth, datagram| {
        let last = &mut last[way as usize];
        last.push(datagram.to_vec());
        let old = last.get((nth as usize).wrapping_sub(10)).cloned();
        [Some(datagram.to_vec()), old].into_iter().flatten().collect()
    })
}

fn cut(datagram: &[u8]) -> Vec<Vec<u8>> {
    vec![datagram[..datagram.len() / 2].to_vec()]
}

fn changed(datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut datagram = datagram.to_vec();
    let middle = datagram.len() / 2;
    datagram[middle] ^= 0x10;
    vec![datagram]
}

/// A packet that offers a version that nobody has (RFC 9000 section 17.2.1). It means nothing once an answer
/// came (section 6.2).
fn version_negotiation(datagram: &[u8]) -> Vec<u8> {
    let id = datagram.get(1..9).unwrap_or(&[0; 8]);
    [&[0x80, 0, 0, 0, 0, 8][..], id, &[8], id, &[0x1A, 0x2A, 0x3A, 0x4A]].concat()
}

/// It looks as a stateless reset does (section 10.3), with a token that nobody has given.
fn false_reset(_: &[u8]) -> Vec<u8> {
    [&[0x41][..], &[0xA5; 40]].concat()
}

/// Held against a network that counts.
fn datagrams_are_counted(io: IoChoice) {
    use Direction::{ToClient, ToServer};
    let rows: [(bool, Fate); 2] = [
        (false, Box::new(|_, _, datagram| vec![datagram.to_vec()])),
        (true, every(6, ToServer, |_| Vec::new())),
    ];
    for (loses, fate) in rows {
        let server = Library::new();
        let relay = Relay::new(server.address, fate);
        let result = run(&spec(relay.address, &server, io));
        assert_eq!((result.measured.requests.good, errors(&result)), (30, vec![]));
        let quic = result.quic.unwrap();
        // The last one says goodbye, and comes when the load is over.
        for _ in 0..100 {
            if relay.count(ToServer) < quic.sent {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        assert_eq!(quic.sent, relay.count(ToServer));
        assert!(quic.received > 0 && quic.received <= relay.count(ToClient), "{quic:?}");
        assert!(quic.lost > 0 || !loses, "{quic:?}");
    }
}

fn datagrams_are_lost_doubled_and_forged(io: IoChoice) {
    use Direction::{ToClient, ToServer};
    let nothing = |_: &[u8]| Vec::new();
    let rows: [(&str, Fate); 14] = [
        ("each seventh of the server is lost", every(7, ToClient, nothing)),
        ("each seventh of the client is lost", every(7, ToServer, nothing)),
        ("each fifth of the server is cut off", every(5, ToClient, cut)),
        ("each fifth of the client is cut off", every(5, ToServer, cut)),
        ("each fifth of the server is changed", every(5, ToClient, changed)),
        ("each fifth of the client is changed", every(5, ToServer, changed)),
        ("each comes twice", Box::new(|_, _, datagram| vec![datagram.to_vec(); 2])),
        ("each comes again behind ten others", repeated_late()),
        ("pairs come in the wrong order", exchanged()),
        ("empty ones between them", beside(|_| Vec::new())),
        ("bytes of nobody between them", beside(|_| vec![0x5A; 100])),
        ("long headers of nobody between them", beside(|_| vec![0xC3; 1_200])),
        (
            "other versions are offered in the middle",
            Box::new(|way, nth, datagram| {
                let offers = way == ToClient && nth > 2;
                let offer = offers.then(|| version_negotiation(datagram));
                offer.into_iter().chain([datagram.to_vec()]).collect()
            }),
        ),
        ("somebody says that the server knows nothing", beside(false_reset)),
    ];
    for (what, fate) in rows {
        let server = Library::new();
        let relay = Relay::new(server.address, fate);
        let result = run(&spec(relay.address, &server, io));
        assert_eq!((result.measured.requests.good, errors(&result)), (30, vec![]), "{what}");
        assert_eq!(result.measured.connections.opened, 1, "{what}");
        assert_eq!(server.account.requests.load(Relaxed), 30, "{what}: none was sent twice");
    }
}

fn servers_use_what_quic_allows(io: IoChoice) {
    let rows: [(&str, Setup); 10] = [
        ("an address that must be proved (Retry)", Setup { asks_again: true, ..Setup::default() }),
        ("new keys with each answer", Setup { updates_keys: true, ..Setup::default() }),
        (
            "a stream at a time",
            Setup::with_transport(|it| _ = it.max_concurrent_bidi_streams(1_u32.into())),
        ),
        (
            "no stream of the client's own",
            Setup::with_transport(|it| _ = it.max_concurrent_uni_streams(0_u32.into())),
        ),
        (
            "windows of 1,000 bytes",
            Setup::with_transport(|it| {
                it.stream_receive_window(1_000_u32.into()).receive_window(2_000_u32.into());
            }),
        ),
        (
            "a PING each millisecond",
            Setup::with_transport(|it| {
                it.keep_alive_interval(Some(Duration::from_millis(1)));
            }),
        ),
        (
            "datagrams of 1,200 bytes",
            Setup::with_transport(|it| {
                it.mtu_discovery_config(None);
            }),
        ),
        (
            "connection ids of no bytes",
            Setup::with_endpoint(|it| {
                it.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
            }),
        ),
        (
            "connection ids of 20 bytes",
            Setup::with_endpoint(|it| {
                it.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(20)));
            }),
        ),
        (
            "new connection ids each 5 ms",
            Setup::with_endpoint(|it| {
                it.cid_generator(|| {
                    let mut ids = RandomConnectionIdGenerator::new(8);
                    ids.set_lifetime(Duration::from_millis(5));
                    Box::new(ids)
                });
            }),
        ),
    ];
    for (what, setup) in rows {
        let server = Library::set_up(setup);
        let result = run(&spec(server.address, &server, io));
        assert_eq!((result.measured.requests.good, errors(&result)), (30, vec![]), "{what}");
        assert_eq!(result.measured.connections.opened, 1, "{what}");
    }
}

/// What is under way is late, and so is the handshake of each connection after it.
fn a_network_that_goes_dead(io: IoChoice) {
    let server = Library::new();
    let until_then = |way, nth, datagram: &[u8]| match (way, nth) {
        (Direction::ToClient, 80..) => Vec::new(),
        _ => vec![datagram.to_vec()],
    };
    let relay = Relay::new(server.address, Box::new(until_then));
    // On a busy machine an answer takes long, too, as long as the network lives.
    let timeouts =
        Timeouts { connect_ns: 2_000 * MS, request_ns: 1_000 * MS, ..Timeouts::default() };
    let stop = pippin_model::load::StopRule::requests(24);
    let result = run(&LoadSpec { timeouts, stop, ..spec(relay.address, &server, io) });
    let requests = &result.measured.requests;
    assert!(requests.good > 0 && requests.failed > 0, "{:?}", result.measured.errors);
    assert!(
        result.measured.errors.contains_key(&ErrorKind::Timeout),
        "{:?}",
        result.measured.errors
    );
}
