//! The slow upstream of the workload `proxy`: answers a short body after 500 ms, holds up to 10,000
//! waiting calls, and counts its calls.
//!
//! | request | answer |
//! |---|---|
//! | `GET /slow` | after the delay, the body |
//! | `GET /count` | JSON: the calls so far and how late it was itself |
//! | `POST /reset` | counts anew |
use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::account::Account;
use crate::error::Error;
use crate::handle::{Running, lock};
use crate::prepared::Prepared;
use crate::request::{Method, Request};
use crate::server::{self, Reply, Service, Ticket};

/// What the upstream does.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// From the instant at which a call is noticed to its answer.
    pub delay: Duration,
    /// The body of `/slow`.
    pub body: Vec<u8>,
    /// The upstream reports itself as the bottleneck if the 99th percentile of its own lateness is
    /// above this fraction of the delay.
    pub bottleneck_fraction: f64,
}

impl Default for Config {
    /// The published experiment: 20 bytes after 500 ms; 2 % late counts as its own fault.
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(500),
            body: b"12345678901234567890".to_vec(),
            bottleneck_fraction: 0.02,
        }
    }
}

/// Serves until `stop` is set (noticed within 20 ms).
///
/// # Errors
/// If the event loop can't be set up.
pub fn serve(listener: TcpListener, config: &Config, stop: &AtomicBool) -> Result<Account, Error> {
    let account = Mutex::default();
    run(&listener, config, &account, stop)?;
    let account = lock(&account).clone();
    Ok(account)
}

/// Serves on a free loopback port and a thread of its own.
///
/// # Errors
/// If no port or no thread is to be had.
pub fn spawn(config: Config) -> Result<Running<Account>, Error> {
    Running::spawn(1, move |listener, accounts, stop| run(&listener, &config, &accounts[0], stop))
}

fn run(
    listener: &TcpListener,
    config: &Config,
    account: &Mutex<Account>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let delay_ns = u64::try_from(config.delay.as_nanos()).map_err(|_| Error::Config {
        what: format!("a delay of {} s", config.delay.as_secs()),
        fix: "use one that fits into 584 years",
    })?;
    let mut service = Upstream {
        delay_ns,
        late_beyond_ns: (delay_ns as f64 * config.bottleneck_fraction) as u64,
        slow: Prepared::new("200 OK", "text/plain", &config.body),
        reset: Prepared::new("200 OK", "text/plain", b"reset"),
        not_found: Prepared::not_found(),
    };
    server::run(listener.as_fd(), &mut service, account, &|| !stop.load(Ordering::Relaxed))
}

struct Upstream {
    delay_ns: u64,
    late_beyond_ns: u64,
    slow: Prepared,
    reset: Prepared,
    not_found: Prepared,
}

impl Service for Upstream {
    const WAITS: bool = true;

    fn answer(&mut self, request: &Request<'_>, account: &mut Account, out: &mut Vec<u8>) -> Reply {
        match (request.method, request.target) {
            (Method::Get | Method::Head, b"/slow") => return Reply::After(self.delay_ns),
            (Method::Get, b"/count") => {
                Prepared::new("200 OK", "application/json", self.count(account).as_bytes())
                    .answer(request, out)
            }
            (Method::Post, b"/reset") => {
                account.reset();
                self.reset.answer(request, out);
            }
            _ => self.not_found.answer(request, out),
        }
        Reply::Now
    }

    fn answer_after_wait(&mut self, ticket: &Ticket, out: &mut Vec<u8>) {
        self.slow.write(ticket.method, ticket.persistence, out);
    }
}

impl Upstream {
    /// The account as JSON; what is not known is null.
    fn count(&self, account: &Account) -> String {
        let number =
            |value: Option<u64>| value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        let p99_ns = account.late.p99_ns();
        let bottleneck = p99_ns.map_or_else(
            || "null".to_owned(),
            |late_ns| (late_ns > self.late_beyond_ns).to_string(),
        );
        let mut json = String::from("{");
        for (key, value) in [
            ("calls", account.calls.to_string()),
            ("waiting", account.waiting.to_string()),
            ("peak_waiting", account.peak_waiting.to_string()),
            ("abandoned", account.abandoned.to_string()),
            ("connections", account.connections.to_string()),
            ("live_connections", account.live_connections.to_string()),
            ("peak_connections", account.peak_connections.to_string()),
            ("delay_ns", self.delay_ns.to_string()),
            ("late_count", account.late.count().to_string()),
            ("late_p99_ns", number(p99_ns)),
            ("late_max_ns", number(account.late.max_ns())),
            ("longest_turn_ns", account.longest_turn_ns.to_string()),
            ("bottleneck", bottleneck),
        ] {
            // Writing to a string can't fail.
            _ = write!(json, "{}\"{key}\":{value}", if json.len() > 1 { "," } else { "" });
        }
        json.push('}');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, spawn};
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::time::{Duration, Instant};

    fn exchange(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    const SLOW: &str = "GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n";
    const COUNT: &str = "GET /count HTTP/1.1\r\nConnection: close\r\n\r\n";

    fn quick() -> Config {
        Config { delay: Duration::from_millis(60), ..Config::default() }
    }

    #[test]
    fn waits_and_then_answers_twenty_bytes() {
        let server = spawn(quick()).unwrap();
        let begin = Instant::now();
        let answer = exchange(server.address(), SLOW);
        assert!(begin.elapsed() >= Duration::from_millis(60));
        assert!(
            answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n12345678901234567890"),
            "{answer}"
        );
        let account = server.stop().unwrap();
        assert_eq!((account.calls, account.waiting, account.late.count()), (1, 0, 1));
    }

    #[test]
    fn many_wait_at_the_same_time() {
        let server = spawn(quick()).unwrap();
        let begin = Instant::now();
        let mut streams: Vec<TcpStream> =
            (0..200).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        streams.iter_mut().for_each(|stream| stream.write_all(SLOW.as_bytes()).unwrap());
        for stream in &mut streams {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("12345678901234567890"));
        }
        // One after the other they would take 12 s.
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        let account = server.account();
        assert_eq!(account.calls, 200);
        assert!(account.peak_waiting > 100, "{}", account.peak_waiting);
    }

    #[test]
    fn counts_calls_and_forgets_them_on_reset() {
        let server = spawn(quick()).unwrap();
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":0,\"waiting\":0,\"peak_waiting\":0,")
        );
        assert!(exchange(server.address(), COUNT).contains("\"late_max_ns\":null"));
        exchange(server.address(), SLOW);
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":1,\"waiting\":0,\"peak_waiting\":1,")
        );
        exchange(
            server.address(),
            "POST /reset HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":0,\"waiting\":0,\"peak_waiting\":0,")
        );
    }

    #[test]
    fn pipelined_calls_are_answered_in_order_each_after_its_wait() {
        let server = spawn(quick()).unwrap();
        let begin = Instant::now();
        let answers = exchange(
            server.address(),
            &format!("GET /slow HTTP/1.1\r\n\r\nGET /count HTTP/1.1\r\n\r\n{SLOW}"),
        );
        assert!(begin.elapsed() >= Duration::from_millis(120));
        assert_eq!(answers.matches("12345678901234567890").count(), 2);
        let count = answers.find("\"calls\":1").unwrap();
        assert!(
            answers.find("12345678901234567890").unwrap() < count
                && count < answers.rfind("12345678901234567890").unwrap()
        );
    }

    #[test]
    fn a_client_that_goes_away_is_counted_and_forgotten() {
        let server = spawn(quick()).unwrap();
        for _ in 0..10 {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.write_all(b"GET /slow HTTP/1.1\r\n\r\n").unwrap();
        }
        std::thread::sleep(Duration::from_millis(200));
        let account = server.account();
        assert_eq!((account.calls, account.waiting, account.live_connections), (10, 0, 0));
    }

    #[test]
    fn anything_else_is_not_found() {
        let server = spawn(quick()).unwrap();
        assert!(
            exchange(server.address(), "GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
                .starts_with("HTTP/1.1 404 ")
        );
    }
}
