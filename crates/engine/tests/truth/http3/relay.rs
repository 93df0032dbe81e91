//! Datagrams between client and server, and what a network does to them.
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What goes on in place of a datagram: the `nth` in its direction, from 0.
pub(super) type Fate = Box<dyn FnMut(Direction, u64, &[u8]) -> Vec<Vec<u8>> + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    ToServer,
    ToClient,
}

/// How long a thread waits before it looks whether the relay has ended.
const LOOK: Duration = Duration::from_millis(20);
const DATAGRAM_BYTES: usize = 65_536;

/// Stands between clients and a server until it is dropped.
pub(super) struct Relay {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    front: UdpSocket,
    server: SocketAddr,
    /// The fate of datagrams, and how many have come in each direction.
    fate: Mutex<(Fate, [u64; 2])>,
    is_over: AtomicBool,
}

impl Relay {
    pub fn new(server: SocketAddr, fate: Fate) -> Self {
        let front = bound();
        let address = front.local_addr().unwrap();
        let fate = Mutex::new((fate, [0; 2]));
        let shared = Arc::new(Shared { front, server, fate, is_over: AtomicBool::new(false) });
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.to_server()
        });
        Self { address, shared, thread: Some(thread) }
    }
}

impl Relay {
    /// How many datagrams have come in this direction.
    pub fn count(&self, direction: Direction) -> u64 {
        self.shared.fate.lock().unwrap().1[direction as usize]
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bound() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LOOK)).unwrap();
    socket
}

impl Shared {
    fn goes_on(&self, direction: Direction, datagram: &[u8]) -> Vec<Vec<u8>> {
        let mut fate = self.fate.lock().unwrap();
        let (fate, counts) = &mut *fate;
        let count = &mut counts[direction as usize];
        let nth = std::mem::replace(count, *count + 1);
        fate(direction, nth, datagram)
    }

    /// Each client has a socket of its own to the server, as behind a router (NAT).
    fn to_server(self: &Arc<Self>) {
        let mut backs: HashMap<SocketAddr, (Arc<UdpSocket>, JoinHandle<()>)> = HashMap::new();
        let mut buffer = vec![0; DATAGRAM_BYTES];
        while !self.is_over.load(Relaxed) {
            let Ok((length, client)) = self.front.recv_from(&mut buffer) else { continue };
            let (back, _) = backs.entry(client).or_insert_with(|| {
                let back = Arc::new(bound());
                let (shared, theirs) = (Arc::clone(self), Arc::clone(&back));
                (back, std::thread::spawn(move || shared.to_client(&theirs, client)))
            });
            for datagram in self.goes_on(Direction::ToServer, &buffer[..length]) {
                let _ = back.send_to(&datagram, self.server);
            }
        }
        for (_, thread) in backs.into_values() {
            let _ = thread.join();
        }
    }

    fn to_client(&self, back: &UdpSocket, client: SocketAddr) {
        let mut buffer = vec![0; DATAGRAM_BYTES];
        while !self.is_over.load(Relaxed) {
            let Ok(length) = back.recv(&mut buffer) else { continue };
            for datagram in self.goes_on(Direction::ToClient, &buffer[..length]) {
                let _ = self.front.send_to(&datagram, client);
            }
        }
    }
}
