//! What the tests of both event loops have in common.
use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use pippin_model::load::{LoadSpec, Request};

use super::socket::Endpoints;
use super::{Event, Io, Loop, Sending};

const LONG_NS: u64 = 5_000_000_000;

/// A loop that has opened a connection in each slot, and the server's ends.
pub(super) fn opened<I: Io>(slots: u32) -> (I, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = LoadSpec {
        addresses: vec![listener.local_addr().unwrap()],
        requests: vec![Request::get("/", "x")].into(),
        ..LoadSpec::default()
    };
    let endpoints = Arc::new(Endpoints::from_spec(&spec).unwrap());
    let mut io = I::new(slots, &endpoints, Loop::Epoll).unwrap();
    let mut open = |slot| {
        io.open(slot, u64::from(slot));
        io.wait(LONG_NS, 0).unwrap();
        assert!(matches!(io.next_event(), Some(Event::Connected { .. })));
        listener.accept().unwrap().0
    };
    let peers = (0..slots).map(&mut open).collect();
    (io, peers)
}

/// How many connections have received something after one wait, if each does so a moment after the
/// one before.
pub(super) fn found_together<I: Io>(
    (mut io, mut peers): (I, Vec<TcpStream>),
    stay_ns: u64,
) -> usize {
    // Who lets nothing lie must have found the first when the second comes, however late it wakes.
    let gap = Duration::from_millis(if stay_ns == 0 { 300 } else { 20 });
    let server = std::thread::spawn(move || {
        for peer in &mut peers {
            std::thread::sleep(gap);
            peer.write_all(b"x").unwrap();
        }
        peers
    });
    io.wait(LONG_NS, stay_ns).unwrap();
    let found = std::iter::from_fn(|| io.next_event()).count();
    drop(server.join().unwrap());
    found
}

/// How often, in twenty waits, a connection was said to have room and had none, whose send the kernel
/// stamped and could not take as a whole.
pub(super) fn rooms_without_room<I: Io>((mut io, mut peers): (I, Vec<TcpStream>)) -> usize {
    let bytes = vec![b'x'; 32 << 20];
    io.stamp_next_send(true);
    let Sending::Blocked(taken) = io.send(0, &bytes) else { panic!("the kernel took all of it") };
    io.stamp_next_send(false);
    // So all that was sent with the stamp leaves, and the kernel stamps it.
    peers[0].read_exact(&mut vec![0; taken as usize]).unwrap();
    let mut has_no_room = || {
        io.wait(10_000_000, 0).unwrap();
        matches!(io.next_event(), Some(Event::Writable { .. }))
            && matches!(io.send(0, &bytes), Sending::Blocked(0))
    };
    (0..20).filter(|_| has_no_room()).count()
}
