//! A TLS session after its handshake, driven as a worker does, with a server in memory.
use pippin_engine::fuzz::Secured;
use pippin_testing::tls::{Authority, Certified};
use rustls::{ServerConfig, ServerConnection};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read as _, Write as _};
use std::sync::{Arc, LazyLock};

/// A server of TLS 1.3 and one of TLS 1.2.
static CONFIGS: LazyLock<[Arc<ServerConfig>; 2]> = LazyLock::new(|| {
    let authority = Authority::new();
    [false, true]
        .map(|only_tls12| authority.server(&Certified { only_tls12, ..Certified::default() }))
});

/// Both ends, and the bytes between them.
struct Ends {
    client: Secured,
    server: ServerConnection,
    /// The size of the pieces in which the client gets the server's bytes.
    size: usize,
    /// What the server has sent and the client has not received yet.
    on_the_way: Vec<u8>,
    written: Vec<u8>,
    read: Vec<u8>,
    /// Whether a bit was changed in transit: everything after it is lost.
    is_changed: bool,
    has_failed: bool,
    is_closed: bool,
}

impl Ends {
    fn new(version: u8, size: u8) -> Option<Self> {
        let config = Arc::clone(&CONFIGS[usize::from(version & 1)]);
        let mut ends = Self {
            client: Secured::new()?,
            server: ServerConnection::new(config).ok()?,
            size: usize::from(size).max(1),
            on_the_way: Vec::new(),
            written: Vec::new(),
            read: Vec::new(),
            is_changed: false,
            has_failed: false,
            is_closed: false,
        };
        for _ in 0..10 {
            if ends.client.is_secured() && !ends.server.is_handshaking() {
                return Some(ends);
            }
            ends.hand_to_server();
            ends.hand_to_client();
        }
        panic!("the handshake does not end");
    }

    /// Passes the client's bytes to the server. Returns what the server reads.
    fn hand_to_server(&mut self) -> Vec<u8> {
        let bytes = self.client.take_outgoing(self.size);
        let (mut rest, mut plaintext) = (bytes.as_slice(), Vec::new());
        while !rest.is_empty() && self.server.read_tls(&mut rest).is_ok_and(|count| count > 0) {
            assert!(self.server.process_new_packets().is_ok(), "the client breaks the rules");
            // Without a close alert, the end is an error ("would block").
            let _ = self.server.reader().read_to_end(&mut plaintext);
        }
        plaintext
    }

    fn collect(&mut self) {
        while self.server.wants_write() && self.server.write_tls(&mut self.on_the_way).is_ok() {}
    }

    fn hand_to_client(&mut self) {
        self.collect();
        for piece in std::mem::take(&mut self.on_the_way).chunks(self.size) {
            let taken = self.client.receive(piece, &mut self.read);
            assert!(self.is_changed || taken.is_ok(), "valid input is refused: {taken:?}");
            self.has_failed |= taken.is_err();
        }
    }

    /// One event.
    fn act(&mut self, what: u8, how_much: u8) {
        let how_much = usize::from(how_much);
        match what % 8 {
            0..=2 if !self.is_closed => {
                let first = self.written.len();
                self.written.extend((first..=first + how_much * 41).map(|place| place as u8));
                // Writing to memory accepts everything.
                let _ = self.server.writer().write_all(&self.written[first..]);
                self.collect();
            }
            // Only TLS 1.3 has key updates.
            3 if !self.is_closed => _ = self.server.refresh_traffic_keys(),
            4 => {
                self.server.send_close_notify();
                self.is_closed = true;
            }
            5 => self.hand_to_client(),
            6 if !self.is_changed && !self.is_closed => {
                let request = vec![b'x'; how_much];
                assert!(self.client.seal(&request), "an intact session cannot send");
                assert_eq!(self.hand_to_server(), request);
            }
            7 if !self.on_the_way.is_empty() => {
                let place = how_much * self.on_the_way.len() / 256;
                self.on_the_way[place] ^= 1 << (how_much % 8);
                self.is_changed = true;
            }
            _ => {}
        }
    }
}

/// The client reads exactly what the server writes, however it is cut, and nothing of what was
/// changed in transit. The first bytes say which version is used and how to cut. Each further pair
/// of bytes is an event.
pub fn session(input: &[u8]) -> u64 {
    let [version, size, script @ ..] = input else { return 0 };
    let Some(mut ends) = Ends::new(*version, *size) else { return 0 };
    for act in script.chunks_exact(2) {
        ends.act(act[0], act[1]);
    }
    ends.hand_to_client();
    assert!(ends.written.starts_with(&ends.read), "not the bytes that were written");
    assert!(ends.is_changed || ends.written.len() == ends.read.len(), "bytes are missing");
    ends.client.say_goodbye();
    let mut hasher = DefaultHasher::new();
    let size = |bytes: &[u8]| usize::BITS - bytes.len().leading_zeros();
    let said = (size(&ends.written), size(&ends.read), ends.is_changed, ends.has_failed);
    (version & 1, said, ends.is_closed).hash(&mut hasher);
    hasher.finish()
}
