//! An HTTP/2 server with hand-written frames (RFC 9113), right or wrong, as a test wants them. It
//! shares no code with the engine.
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Kinds of frames (section 6).
#[allow(missing_docs)]
pub mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}
use kind::{DATA, HEADERS, RST_STREAM, SETTINGS};

/// The last frame of a message.
pub const END_STREAM: u8 = 1;
/// The last frame of a header block.
pub const END_HEADERS: u8 = 4;

/// `:status: 200` by its index (RFC 7541 appendix A).
pub const OK: &[u8] = &[0x88];

/// A frame that the client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// The bytes of a frame.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A whole answer.
#[must_use]
pub fn answer(stream: u32, body: &[u8]) -> Vec<u8> {
    [frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, END_STREAM, stream, body)].concat()
}

/// What all connections of a server have seen.
#[derive(Debug, Default)]
pub struct Account {
    /// Connections that were accepted.
    pub connections: AtomicU64,
    /// Heads of requests that were read.
    pub requests: AtomicU64,
    /// Answers that were begun by [`Connection::answer`].
    pub answers: AtomicU64,
    /// RST_STREAM frames of the client ...
    pub resets: AtomicU64,
    /// ... and their error codes added up.
    pub reset_codes: AtomicU64,
}

impl Account {
    /// The present value of one of them.
    #[must_use]
    pub fn read(&self, counter: fn(&Self) -> &AtomicU64) -> u64 {
        counter(self).load(Relaxed)
    }
}

/// One connection.
pub struct Connection {
    stream: TcpStream,
    /// What all connections have seen.
    pub account: Arc<Account>,
    /// Its place among all connections, from 0.
    pub nth: u64,
}

impl Connection {
    /// Sends bytes as they are; `None` if the client has left.
    pub fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).ok()
    }

    /// The next line of text without its end; `None` at the end of the connection.
    pub fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).ok()?;
            line.push(byte[0]);
        }
        Some(String::from_utf8_lossy(&line).trim_end().into())
    }

    /// The next frame; `None` at the end of the connection.
    pub fn frame(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        let frame = Frame { kind, flags, stream: u32::from_be_bytes(stream), payload };
        if kind == RST_STREAM {
            let code = u32::from_be_bytes(*frame.payload.first_chunk()?);
            self.account.resets.fetch_add(1, Relaxed);
            self.account.reset_codes.fetch_add(u64::from(code), Relaxed);
        }
        Some(frame)
    }

    /// The stream of the next request; `None` at the end of the connection.
    pub fn request(&mut self) -> Option<u32> {
        loop {
            let frame = self.frame()?;
            if frame.kind == HEADERS {
                self.account.requests.fetch_add(1, Relaxed);
                return Some(frame.stream);
            }
        }
    }

    /// The streams of the next `count` requests.
    pub fn requests(&mut self, count: usize) -> Option<Vec<u32>> {
        (0..count).map(|_| self.request()).collect()
    }

    /// Answers a request; `None` if the client has left.
    pub fn answer(&mut self, stream: u32, body: &[u8]) -> Option<()> {
        // Counted before it is sent: the load may end as soon as it is read.
        self.account.answers.fetch_add(1, Relaxed);
        self.send(&answer(stream, body))
    }

    /// Answers every request with `hello` until the client leaves.
    pub fn serve(&mut self) -> Option<()> {
        loop {
            let stream = self.request()?;
            self.answer(stream, b"hello")?;
        }
    }

    /// Reads on until the client leaves, for a while.
    pub fn drain(&mut self) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_secs(5)));
        while self.frame().is_some() {}
    }
}

/// A server; its connections end with the client's.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What all connections have seen.
    pub account: Arc<Account>,
}

impl Server {
    /// The script runs on each connection after both sides have sent their settings. The server's
    /// are these (the payload of the frame).
    ///
    /// # Errors
    /// If there is no port.
    pub fn with(
        settings: &'static [u8],
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::raw(move |connection| {
            let mut preface = [0; 24];
            connection.stream.read_exact(&mut preface).ok()?;
            let is_right = &preface == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
            (is_right && connection.frame()?.kind == SETTINGS).then_some(())?;
            connection.send(&frame(SETTINGS, 0, 0, settings))?;
            script(connection)
        })
    }

    /// A server whose settings change nothing.
    ///
    /// # Errors
    /// If there is no port.
    pub fn new(
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::with(&[], script)
    }

    /// The script is what each connection does from its first byte on.
    ///
    /// # Errors
    /// If there is no port.
    pub fn raw(
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (account, script) = (Arc::new(Account::default()), Arc::new(script));
        let counted = Arc::clone(&account);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, account) = (Arc::clone(&script), Arc::clone(&counted));
                let Ok(stream) = stream else { return };
                let _ = stream.set_nodelay(true);
                let nth = account.connections.fetch_add(1, Relaxed);
                std::thread::spawn(move || {
                    let mut connection = Connection { stream, account, nth };
                    script(&mut connection)
                });
            }
        });
        Ok(Self { address, account })
    }
}
