//! Two WebSocket servers for tests. One has hand-written frames (RFC 6455), right or wrong, as a
//! test wants them. The other is the crate `tungstenite`. Neither shares code with the engine.
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tungstenite::Message;
use tungstenite::handshake::derive_accept_key;

/// Kinds of frames (section 5.2).
pub const TEXT: u8 = 1;
/// See [`TEXT`].
pub const BINARY: u8 = 2;
/// See [`TEXT`].
pub const CLOSE: u8 = 8;
/// See [`TEXT`].
pub const PING: u8 = 9;
const PONG: u8 = 10;
const CONTINUATION: u8 = 0;
/// The last frame of a message.
pub const FINAL: u8 = 0x80;

/// The bytes of a frame; `first` is its kind, with [`FINAL`] or without.
#[must_use]
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(length as u8),
        length @ ..65_536 => {
            bytes.push(126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

/// A whole text.
#[must_use]
pub fn text(payload: &[u8]) -> Vec<u8> {
    frame(FINAL | TEXT, payload)
}

/// What all connections have seen.
#[derive(Debug, Default)]
pub struct Account {
    connections: AtomicU64,
    messages: Mutex<Vec<Vec<u8>>>,
    pongs: Mutex<Vec<Vec<u8>>>,
    closes: Mutex<Vec<u16>>,
}

impl Account {
    /// Connections that were accepted.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.connections.load(Relaxed)
    }

    /// The payloads of all messages of the client.
    #[must_use]
    pub fn messages(&self) -> Vec<Vec<u8>> {
        all(&self.messages)
    }

    /// The payloads of its pongs.
    #[must_use]
    pub fn pongs(&self) -> Vec<Vec<u8>> {
        all(&self.pongs)
    }

    /// The codes of its Close frames, 0 for none. Returns as soon as there are `connections` of
    /// them, or after 5 s.
    #[must_use]
    pub fn closed(&self, connections: usize) -> Vec<u16> {
        for _ in 0..2_000 {
            if all(&self.closes).len() >= connections {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        all(&self.closes)
    }
}

fn all<T: Clone>(of: &Mutex<Vec<T>>) -> Vec<T> {
    of.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn push<T>(to: &Mutex<Vec<T>>, one: T) {
    to.lock().unwrap_or_else(PoisonError::into_inner).push(one);
}

/// One connection.
pub struct Connection {
    stream: TcpStream,
    account: Arc<Account>,
    /// Its place among all connections, from 0.
    pub nth: u64,
}

impl Connection {
    /// Sends bytes as they are; `None` if the client has left.
    pub fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).ok()
    }

    /// Another handle of the connection, to write to; `None` if the process has no more
    /// descriptors.
    #[must_use]
    pub fn writer(&self) -> Option<TcpStream> {
        self.stream.try_clone().ok()
    }

    /// The head of the client's handshake.
    pub fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        String::from_utf8(head).ok()
    }

    /// The right answer (101) to a request's head (section 4.2.2).
    #[must_use]
    pub fn consent(head: &str) -> String {
        let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
        let key = key.unwrap_or_default().trim();
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
            derive_accept_key(key.as_bytes())
        )
    }

    /// The next frame, unmasked: its first byte and its payload.
    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut start = [0; 2];
        self.stream.read_exact(&mut start).ok()?;
        // A client's frame must have a mask: otherwise the connection ends, and the test fails.
        (start[1] & 0x80 != 0).then_some(())?;
        let length = match start[1] & 0x7F {
            126 => {
                let mut bytes = [0; 2];
                self.stream.read_exact(&mut bytes).ok()?;
                usize::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                self.stream.read_exact(&mut bytes).ok()?;
                u64::from_be_bytes(bytes) as usize
            }
            length => usize::from(length),
        };
        let mut mask = [0; 4];
        self.stream.read_exact(&mut mask).ok()?;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
        Some((start[0], payload))
    }

    /// The payload of the next message; `None` when the client closes.
    pub fn message(&mut self) -> Option<Vec<u8>> {
        loop {
            let (first, payload) = self.frame()?;
            match first & 0x0F {
                // Fragments pass for messages.
                CONTINUATION | TEXT | BINARY => {
                    push(&self.account.messages, payload.clone());
                    return Some(payload);
                }
                PONG => push(&self.account.pongs, payload),
                CLOSE => {
                    let code = payload.first_chunk().map_or(0, |code| u16::from_be_bytes(*code));
                    push(&self.account.closes, code);
                    return None;
                }
                // A ping; other kinds do not exist.
                _ => {}
            }
        }
    }

    /// Reads on until the client has closed or left.
    pub fn drain(&mut self) -> Option<()> {
        while self.message().is_some() {}
        None
    }

    /// Answers every message with what this makes of it.
    pub fn answer(&mut self, with: impl Fn(&[u8]) -> Vec<u8>) -> Option<()> {
        loop {
            let payload = self.message()?;
            let answer = with(&payload);
            self.send(&answer)?;
        }
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
    /// The script is what each connection does after the handshake.
    ///
    /// # Errors
    /// If there is no port.
    pub fn new(
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::raw(move |connection| {
            let head = connection.head()?;
            connection.send(Connection::consent(&head).as_bytes())?;
            script(connection)
        })
    }

    /// A right server.
    ///
    /// # Errors
    /// If there is no port.
    pub fn echo() -> io::Result<Self> {
        Self::new(|connection| connection.answer(text))
    }

    /// The script is what each connection does from its first byte on.
    ///
    /// # Errors
    /// If there is no port.
    pub fn raw(
        script: impl Fn(&mut Connection) -> Option<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (account, script) = (Arc::new(Account::default()), Arc::new(script));
        let counted = Arc::clone(&account);
        let address = serve(move |stream| {
            let nth = counted.connections.fetch_add(1, Relaxed);
            let account = Arc::clone(&counted);
            script(&mut Connection { stream, account, nth })
        })?;
        Ok(Self { address, account })
    }
}

/// An echo server made with the crate `tungstenite`.
///
/// # Errors
/// If there is no port.
pub fn library() -> io::Result<SocketAddr> {
    serve(|stream| {
        let mut socket = tungstenite::accept(stream).ok()?;
        loop {
            // It answers pings and closes by itself.
            let message = socket.read().ok()?;
            if matches!(message, Message::Text(_) | Message::Binary(_)) {
                socket.send(message).ok()?;
            }
        }
    })
}

/// Serves each connection in a thread of its own.
fn serve(
    connection: impl Fn(TcpStream) -> Option<()> + Send + Sync + 'static,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let connection = Arc::new(connection);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = Arc::clone(&connection);
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || connection(stream));
        }
    });
    Ok(address)
}
