//! What the tests of both event loops have in common.
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use pippin_model::load::{LoadSpec, Request};

use super::socket::Endpoints;
use super::{Event, Io};

const LONG_NS: u64 = 5_000_000_000;

/// A loop that has opened a connection in each slot, and the server's ends.
pub(super) fn opened<I: Io>(slots: u32) -> (I, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = LoadSpec {
        addresses: vec![listener.local_addr().unwrap()],
        requests: vec![Request::get("/", "x")].into(),
        ..LoadSpec::default()
    };
    let mut io = I::new(slots, &Arc::new(Endpoints::from_spec(&spec).unwrap())).unwrap();
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
    let server = std::thread::spawn(move || {
        for peer in &mut peers {
            std::thread::sleep(Duration::from_millis(20));
            peer.write_all(b"x").unwrap();
        }
        peers
    });
    io.wait(LONG_NS, stay_ns).unwrap();
    let found = std::iter::from_fn(|| io.next_event()).count();
    drop(server.join().unwrap());
    found
}
