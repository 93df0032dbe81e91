//! A server of a few lines: a thread a connection, and a closure that says what each request gets.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!";

/// What the server counted.
#[derive(Default)]
pub struct Account {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
}

impl Account {
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Starts a server. `answer` gets the stream, the request's head, its number on the connection from
/// 0, and its number in all; it returns whether the connection stays open.
pub fn serve(
    answer: impl Fn(&mut TcpStream, &str, u64, u64) -> bool + Send + Sync + 'static,
) -> (SocketAddr, Arc<Account>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let account = Arc::new(Account::default());
    let (answer, counted) = (Arc::new(answer), Arc::clone(&account));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            counted.connections.fetch_add(1, Ordering::SeqCst);
            let (answer, counted) = (Arc::clone(&answer), Arc::clone(&counted));
            std::thread::spawn(move || converse(stream, &*answer, &counted));
        }
    });
    (address, account)
}

fn converse(
    mut stream: TcpStream,
    answer: &(impl Fn(&mut TcpStream, &str, u64, u64) -> bool + ?Sized),
    account: &Account,
) {
    stream.set_nodelay(true).unwrap();
    let (mut kept, mut buffer, mut nth) = (Vec::new(), [0; 4096], 0);
    loop {
        while let Some(end) = kept.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(kept.drain(..end + 4).collect()).unwrap();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "))
                .map_or(0, |length| length.parse().unwrap());
            let already = length.min(kept.len());
            kept.drain(..already);
            stream.read_exact(&mut vec![0; length - already]).unwrap();
            let total = account.requests.fetch_add(1, Ordering::SeqCst);
            if !answer(&mut stream, &head, nth, total) {
                return;
            }
            nth += 1;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(length) => kept.extend_from_slice(&buffer[..length]),
        }
    }
}

/// A server that answers everything at once with `Hello World!`.
pub fn hello() -> (SocketAddr, Arc<Account>) {
    serve(|stream, _, _, _| stream.write_all(HELLO).is_ok())
}
