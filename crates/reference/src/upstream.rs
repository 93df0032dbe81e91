//! The slow upstream of the workload `proxy`: answers each call after 500 ms with another number of
//! 20 digits, holds up to 10,000 waiting calls, and counts its calls.
//!
//! | request | answer |
//! |---|---|
//! | `GET /slow` | after the delay, a number that was issued when the call was noticed |
//! | `GET /count` | JSON: the calls so far and how late it was itself |
//! | `POST /reset/SECRET` | counts anew |
use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::account::Account;
use crate::error::Error;
use crate::handle::{Running, lock};
use crate::numbers::{DIGITS, MOST, Numbers};
use crate::prepared::Prepared;
use crate::request::{Method, Request};
use crate::server::{self, Reply, Service, Ticket};

/// What the upstream does.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// From the instant at which a call is noticed to its answer.
    pub delay: Duration,
    /// The key of its numbers.
    pub key: u128,
    /// What `POST /reset/SECRET` must say.
    pub secret: String,
    /// The upstream reports itself as the bottleneck if the 99th percentile of its own lateness is
    /// above this fraction of the delay.
    pub bottleneck_fraction: f64,
}

impl Default for Config {
    /// The published experiment: 20 bytes after 500 ms; 2 % late counts as its own fault. Everybody
    /// knows the key and the secret.
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(500),
            key: 0,
            secret: "secret".into(),
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
/// If there is no free port, or no thread can be started.
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
        numbers: Numbers::new(config.key),
        issued: 0,
        reset_target: format!("/reset/{}", config.secret).into_bytes(),
        slow: Prepared::new("200 OK", "text/plain", &[b'0'; DIGITS]),
        reset: Prepared::new("200 OK", "text/plain", b"reset"),
        not_found: Prepared::not_found(),
    };
    server::run(listener.as_fd(), &mut service, account, &|| !stop.load(Ordering::Relaxed))
}

struct Upstream {
    delay_ns: u64,
    late_beyond_ns: u64,
    numbers: Numbers,
    /// How many numbers were issued so far; a reset does not change this.
    issued: u32,
    reset_target: Vec<u8>,
    slow: Prepared,
    reset: Prepared,
    not_found: Prepared,
}

impl Service for Upstream {
    const WAITS: bool = true;

    fn answer(&mut self, request: &Request<'_>, account: &mut Account, out: &mut Vec<u8>) -> Reply {
        match (request.method, request.target) {
            (Method::Get | Method::Head, b"/slow") => {
                let nth = self.issued;
                self.issued = (nth + 1) % MOST;
                return Reply::After { wait_ns: self.delay_ns, nth };
            }
            (Method::Get, b"/count") => {
                Prepared::new("200 OK", "application/json", self.count(account).as_bytes())
                    .answer(request, out)
            }
            (Method::Post, target) if target == self.reset_target => {
                account.reset();
                self.reset.answer(request, out);
            }
            _ => self.not_found.answer(request, out),
        }
        Reply::Now
    }

    fn answer_after_wait(&mut self, ticket: &Ticket, out: &mut Vec<u8>) {
        self.slow.write(ticket.method, ticket.persistence, out);
        if ticket.method != Method::Head {
            let number = self.numbers.issue(ticket.nth, ticket.due_ns - self.delay_ns);
            let at = out.len() - DIGITS;
            out[at..].copy_from_slice(&number);
        }
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
            ("answered", account.answered_gets.to_string()),
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
    use crate::clock::monotonic_ns;
    use crate::numbers::Numbers;
    use std::collections::BTreeSet;
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

    fn body(answer: &str) -> &[u8] {
        answer.split_once("\r\n\r\n").unwrap().1.as_bytes()
    }

    const SLOW: &str = "GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n";
    const COUNT: &str = "GET /count HTTP/1.1\r\nConnection: close\r\n\r\n";

    fn quick() -> Config {
        Config { delay: Duration::from_millis(60), ..Config::default() }
    }

    #[test]
    fn waits_and_then_answers_twenty_bytes() {
        let server = spawn(quick()).unwrap();
        let begin = monotonic_ns();
        let answer = exchange(server.address(), SLOW);
        assert!(monotonic_ns() - begin >= 60_000_000);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let issue = Numbers::new(0).read(body(&answer)).unwrap();
        assert_eq!(issue.nth, 0);
        // It was issued when the call came, and not when it was answered.
        assert!(issue.is_not_before(begin) && issue.is_not_after(monotonic_ns() - 60_000_000));
        let account = server.stop().unwrap();
        assert_eq!((account.calls, account.waiting, account.late.count()), (1, 0, 1));
    }

    #[test]
    fn many_wait_at_the_same_time() {
        // Long enough for all to come before the first is answered, on a busy machine too.
        let server = spawn(Config { delay: Duration::from_secs(1), ..Config::default() }).unwrap();
        let begin = Instant::now();
        let mut streams: Vec<TcpStream> =
            (0..200).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        streams.iter_mut().for_each(|stream| stream.write_all(SLOW.as_bytes()).unwrap());
        let mut seen = BTreeSet::new();
        for stream in &mut streams {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(seen.insert(Numbers::new(0).read(body(&answer)).unwrap().nth));
        }
        // One after the other they would take 200 s.
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
        let account = server.account();
        assert_eq!(account.calls, 200);
        assert!(account.peak_waiting > 100, "{}", account.peak_waiting);
    }

    #[test]
    fn counts_calls_and_forgets_them_on_reset() {
        let server = spawn(quick()).unwrap();
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":0,\"answered\":0,\"waiting\":0,\"peak_waiting\":0,")
        );
        assert!(exchange(server.address(), COUNT).contains("\"late_max_ns\":null"));
        exchange(server.address(), SLOW);
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":1,\"answered\":1,\"waiting\":0,\"peak_waiting\":1,")
        );
        let reset = |target: &str| {
            let request =
                format!("POST {target} HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            exchange(server.address(), &request)
        };
        assert!(reset("/reset").starts_with("HTTP/1.1 404 "));
        assert!(exchange(server.address(), COUNT).contains("\"calls\":1,"));
        assert!(reset("/reset/secret").starts_with("HTTP/1.1 200 "));
        assert!(
            exchange(server.address(), COUNT)
                .contains("{\"calls\":0,\"answered\":0,\"waiting\":0,\"peak_waiting\":0,")
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
        let parts: Vec<&str> = answers.split("\r\n\r\n").collect();
        let number =
            |part: &str| Numbers::new(0).read(&part.as_bytes()[..20]).map(|issue| issue.nth);
        assert_eq!((number(parts[1]), number(parts[3])), (Some(0), Some(1)));
        assert!(parts[2].contains("\"calls\":1"), "{answers}");
    }

    #[test]
    fn a_client_that_goes_away_is_counted_and_forgotten() {
        let server = spawn(quick()).unwrap();
        for _ in 0..10 {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.write_all(b"GET /slow HTTP/1.1\r\n\r\n").unwrap();
        }
        let seen = || {
            let account = server.account();
            (account.calls, account.waiting, account.live_connections)
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while seen() != (10, 0, 0) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(seen(), (10, 0, 0));
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
