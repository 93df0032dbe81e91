//! The null server: a fixed body at once. What a client reaches against it is the client's own
//! ceiling.
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::account::Account;
use crate::error::Error;
use crate::handle::{Running, lock};
use crate::prepared::Prepared;
use crate::request::Request;
use crate::server::{self, Reply, Service, Ticket};

/// What the null server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Length of the body: `Hello World!` over and over, cut there.
    pub body_bytes: usize,
}

impl Default for Config {
    /// The 12 bytes of the workload `hello`.
    fn default() -> Self {
        Self { body_bytes: 12 }
    }
}

/// Answers whatever is asked on the listener until `stop` is set (noticed within 20 ms).
///
/// # Errors
/// If the event loop can't be set up.
pub fn serve(listener: TcpListener, config: Config, stop: &AtomicBool) -> Result<Account, Error> {
    let account = Mutex::default();
    run(&listener, config, &account, stop)?;
    let account = lock(&account).clone();
    Ok(account)
}

/// Serves on a free loopback port and a thread of its own.
///
/// # Errors
/// If there is no free port, or no thread can be started.
pub fn spawn(config: Config) -> Result<Running<Account>, Error> {
    Running::spawn(1, move |listener, accounts, stop| run(&listener, config, &accounts[0], stop))
}

fn run(
    listener: &TcpListener,
    config: Config,
    account: &Mutex<Account>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let body: Vec<u8> = b"Hello World!".iter().copied().cycle().take(config.body_bytes).collect();
    let mut service = Null { answer: Prepared::new("200 OK", "text/plain", &body) };
    server::run(listener.as_fd(), &mut service, account, &|| !stop.load(Ordering::Relaxed))
}

struct Null {
    answer: Prepared,
}

impl Service for Null {
    const WAITS: bool = false;

    fn answer(&mut self, request: &Request<'_>, _: &mut Account, out: &mut Vec<u8>) -> Reply {
        self.answer.answer(request, out);
        Reply::Now
    }

    fn answer_after_wait(&mut self, ticket: &Ticket, out: &mut Vec<u8>) {
        self.answer.write(ticket.method, ticket.persistence, out);
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, spawn};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn ask(stream: &mut TcpStream, request: &[u8], answer_bytes: usize) -> String {
        stream.write_all(request).unwrap();
        let mut answer = vec![0; answer_bytes];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    const KEPT: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";

    #[test]
    fn a_connection_is_kept_until_it_is_asked_to_close() {
        let server = spawn(Config::default()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        for _ in 0..3 {
            assert_eq!(ask(&mut stream, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", KEPT.len()), KEPT);
        }
        stream.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut last = String::new();
        stream.read_to_string(&mut last).unwrap();
        assert!(last.contains("Connection: close\r\n") && last.ends_with("Hello World!"), "{last}");
        let account = server.stop().unwrap();
        assert_eq!(
            (account.connections, account.requests, account.answers, account.peak_connections),
            (1, 4, 4, 1)
        );
        assert_eq!(account.bytes_out as usize, 3 * KEPT.len() + last.len());
    }

    #[test]
    fn pipelined_requests_are_answered_wherever_they_are_cut() {
        let server = spawn(Config::default()).unwrap();
        let requests = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n";
        for cut in 1..requests.len() {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.write_all(&requests[..cut]).unwrap();
            std::thread::sleep(std::time::Duration::from_micros(300));
            assert_eq!(
                ask(&mut stream, &requests[cut..], 3 * KEPT.len()),
                KEPT.repeat(3),
                "cut at {cut}"
            );
        }
        assert_eq!(server.stop().unwrap().requests, 3 * (requests.len() as u64 - 1));
    }

    #[test]
    fn a_long_answer_is_sent_whole_to_a_slow_reader() {
        let server = spawn(Config { body_bytes: 20_000_000 }).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(&b"GET / HTTP/1.1\r\n\r\n".repeat(2)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        assert!(all.len() > 60_000_000 && all.len() < 60_001_000, "{}", all.len());
        assert_eq!(server.stop().unwrap().answers, 3);
    }

    #[test]
    fn nonsense_is_answered_400_and_closed() {
        let server = spawn(Config::default()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"EHLO example.org\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert_eq!(server.stop().unwrap().bad_requests, 1);
    }
}
