//! The device server: waits 100 ms +-5 % without holding a thread, then answers 1,024 bytes. It can
//! hold 100,000 live connections.
//!
//! Each thread has an event loop, its own listener on the shared address (SO_REUSEPORT), and its
//! own descriptor table (`unshare(CLONE_FILES)`). The limit on descriptors (RLIMIT_NOFILE) applies
//! to a table, not to a process.
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::account::Account;
use crate::error::Error;
use crate::handle::{Running, merged};
use crate::prepared::Prepared;
use crate::request::{Method, Request};
use crate::server::{self, Reply, Service, Ticket};
use crate::socket;

/// What the device server does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The middle of the wait.
    pub wait: Duration,
    /// The largest deviation from it; uniformly distributed.
    pub spread: Duration,
    /// Length of the body.
    pub body_bytes: usize,
    /// Threads; each holds as many connections as a descriptor table has room for.
    pub threads: usize,
    /// Seeds the waits.
    pub seed: u64,
}

impl Default for Config {
    /// The workload `device` on one thread.
    fn default() -> Self {
        Self {
            wait: Duration::from_millis(100),
            spread: Duration::from_millis(5),
            body_bytes: 1_024,
            threads: 1,
            seed: 1,
        }
    }
}

/// How many threads `connections` need here. It reads the limit on descriptors and leaves a fifth
/// of each table free, because the kernel spreads connections by hash and not evenly.
///
/// # Errors
/// If the limit can't be read.
pub fn threads_for(connections: usize) -> Result<usize, Error> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } < 0 {
        return Err(Error::last("getrlimit RLIMIT_NOFILE"));
    }
    let per_table = usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) / 5 * 4;
    Ok(connections.div_ceil(per_table.max(1)).max(1))
}

/// Serves `GET /device` until `stop` is set (noticed within 20 ms). With several threads the
/// listener must come from [`socket::listen`] with `shared`, because each thread listens on its
/// address too.
///
/// # Errors
/// If a setting makes no sense, an event loop or thread can't be set up, or the address can't be
/// shared.
pub fn serve(listener: TcpListener, config: &Config, stop: &AtomicBool) -> Result<Account, Error> {
    let accounts: Vec<Mutex<Account>> = (0..config.threads).map(|_| Mutex::default()).collect();
    run(&listener, config, &accounts, stop)?;
    let accounts: Vec<Account> = accounts
        .into_iter()
        .map(|account| account.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
        .collect();
    Ok(merged(&accounts))
}

/// Serves on a free loopback port and threads of its own.
///
/// # Errors
/// As [`serve`], as far as it is known before the start.
pub fn spawn(config: Config) -> Result<Running<Account>, Error> {
    check(&config)?;
    Running::spawn(config.threads, move |listener, accounts, stop| {
        run(&listener, &config, accounts, stop)
    })
}

fn check(config: &Config) -> Result<(), Error> {
    if config.threads == 0 {
        return Err(Error::Config {
            what: "a device server of 0 threads".into(),
            fix: "give it at least one",
        });
    }
    if config.spread > config.wait {
        return Err(Error::Config {
            what: format!("a wait of {:?} +-{:?}", config.wait, config.spread),
            fix: "the spread can't be more than the wait",
        });
    }
    if config.wait > Duration::from_secs(86_400) {
        return Err(Error::Config {
            what: format!("a wait of {:?}", config.wait),
            fix: "use at most a day",
        });
    }
    Ok(())
}

fn run(
    listener: &TcpListener,
    config: &Config,
    accounts: &[Mutex<Account>],
    stop: &AtomicBool,
) -> Result<(), Error> {
    check(config)?;
    if let [account] = accounts {
        return server::run(listener.as_fd(), &mut Device::new(config, 0), account, &|| {
            !stop.load(Ordering::Relaxed)
        });
    }
    let address =
        listener.local_addr().map_err(|source| Error::System { action: "getsockname", source })?;
    let failed = AtomicBool::new(false);
    let go_on = || !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, account) in accounts.iter().enumerate() {
            let (go_on, failed) = (&go_on, &failed);
            threads.push(scope.spawn(move || {
                let result = run_thread(index, listener, address, config, account, go_on);
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                result
            }));
        }
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Err(Error::Panicked)))
    })
}

fn run_thread(
    index: usize,
    first: &TcpListener,
    address: SocketAddr,
    config: &Config,
    account: &Mutex<Account>,
    go_on: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let mut service = Device::new(config, index as u64);
    if index == 0 {
        own_descriptor_table(Some(first.as_raw_fd()))?;
        // SAFETY: this thread's table has the first listener under its number until the thread
        // ends; `first` outlives the scope.
        let listener = unsafe { BorrowedFd::borrow_raw(first.as_raw_fd()) };
        return server::run(listener, &mut service, account, go_on);
    }
    own_descriptor_table(None)?;
    let listener = socket::listen(address, true)?;
    server::run(listener.as_fd(), &mut service, account, go_on)
}

/// Gives the calling thread its own descriptor table, with the standard streams and `keep` only.
/// Copies of the other descriptors would take up entries and keep sockets of other threads open.
fn own_descriptor_table(keep: Option<RawFd>) -> Result<(), Error> {
    // SAFETY: no pointers are passed; the other threads keep their table.
    if unsafe { libc::unshare(libc::CLONE_FILES) } < 0 {
        return Err(Error::last("unshare(CLONE_FILES)"));
    }
    let first_closed = 3;
    match keep {
        Some(fd) if fd >= first_closed => {
            close_range(first_closed, fd - 1)?;
            close_range(fd + 1, RawFd::MAX)
        }
        _ => close_range(first_closed, RawFd::MAX),
    }
}

/// close_range(2), Linux 5.9.
fn close_range(first: RawFd, last: RawFd) -> Result<(), Error> {
    if first > last {
        return Ok(());
    }
    // SAFETY: closes this thread's copies only; whatever owns the originals has them in another
    // table.
    if unsafe { libc::syscall(libc::SYS_close_range, first as u32, last as u32, 0_u32) } < 0 {
        return Err(Error::last("close_range"));
    }
    Ok(())
}

struct Device {
    answer: Prepared,
    not_found: Prepared,
    least_ns: u64,
    most_ns: u64,
    random: Xoshiro256PlusPlus,
}

impl Device {
    fn new(config: &Config, thread: u64) -> Self {
        let body: Vec<u8> = (b'a'..=b'z').cycle().take(config.body_bytes).collect();
        Self {
            answer: Prepared::new("200 OK", "text/plain", &body),
            not_found: Prepared::not_found(),
            // At most two days: fits by far.
            least_ns: (config.wait - config.spread).as_nanos() as u64,
            most_ns: (config.wait + config.spread).as_nanos() as u64,
            random: Xoshiro256PlusPlus::seed_from_u64(config.seed.wrapping_add(thread)),
        }
    }
}

impl Service for Device {
    const WAITS: bool = true;

    fn answer(&mut self, request: &Request<'_>, _: &mut Account, out: &mut Vec<u8>) -> Reply {
        if request.target == b"/device" && matches!(request.method, Method::Get | Method::Head) {
            return Reply::After {
                wait_ns: self.random.random_range(self.least_ns..=self.most_ns),
                nth: 0,
            };
        }
        self.not_found.answer(request, out);
        Reply::Now
    }

    fn answer_after_wait(&mut self, ticket: &Ticket, out: &mut Vec<u8>) {
        self.answer.write(ticket.method, ticket.persistence, out);
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, run, spawn, threads_for};
    use crate::account::Account;
    use crate::socket;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    const REQUEST: &[u8] = b"GET /device HTTP/1.1\r\nHost: a\r\n\r\n";
    const ANSWER_BYTES: usize =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n".len() + 1_024;

    #[test]
    fn waits_within_its_spread_and_serves_all_at_once() {
        let server = spawn(Config { threads: 3, ..Config::default() }).unwrap();
        let begin = Instant::now();
        let mut streams: Vec<TcpStream> =
            (0..300).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        for round in 1..=2 {
            let mut sent = Vec::new();
            for stream in &mut streams {
                sent.push(Instant::now());
                stream.write_all(REQUEST).unwrap();
            }
            for (stream, sent) in streams.iter_mut().zip(sent) {
                let mut answer = vec![0; ANSWER_BYTES];
                stream.read_exact(&mut answer).unwrap();
                assert!(
                    sent.elapsed() >= Duration::from_millis(95),
                    "round {round}: {:?}",
                    sent.elapsed()
                );
            }
        }
        // One after the other they would take 60 s.
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        let account = server.stop().unwrap();
        assert_eq!((account.calls, account.answers, account.connections), (600, 600, 300));
        assert_eq!(account.late.count(), 600);
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        use super::Device;
        use crate::request::{Parsed, parse};
        use crate::server::{Reply, Service as _};
        let Parsed::Complete(request) = parse(REQUEST) else { panic!("not a request") };
        let waits = |seed| {
            let mut device = Device::new(&Config { seed, ..Config::default() }, 0);
            let wait = |_| match device.answer(
                &request,
                &mut crate::Account::default(),
                &mut Vec::new(),
            ) {
                Reply::After { wait_ns, .. } => wait_ns,
                Reply::Now => panic!("did not wait"),
            };
            (0..10_000).map(wait).collect::<Vec<u64>>()
        };
        let (first, second) = (waits(7), waits(7));
        assert_eq!(first, second);
        assert_ne!(first, waits(8));
        // Uniform on 95 to 105 ms: mean 100 ms, deviation 10 / sqrt(12) = 2.89 ms, that of the mean
        // of 10,000 is 0.029 ms.
        let mean = first.iter().sum::<u64>() as f64 / 1e4;
        assert!((mean - 100e6).abs() < 5.0 * 0.029e6, "{mean}");
        assert!(first.iter().all(|wait| (95_000_000..=105_000_000).contains(wait)));
        assert!(
            first.iter().min().unwrap() < &95_100_000 && first.iter().max().unwrap() > &104_900_000
        );
    }

    #[test]
    fn threads_end_and_give_the_port_back() {
        let config = Config { threads: 4, ..Config::default() };
        let accounts: Vec<Mutex<Account>> = (0..config.threads).map(|_| Mutex::default()).collect();
        for _ in 0..10 {
            // No other test listens on this loopback address, so nobody else gets the port.
            let listener = socket::listen(SocketAddr::from(([127, 0, 9, 1], 0)), true).unwrap();
            let address = listener.local_addr().unwrap();
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let server = scope.spawn(|| run(&listener, &config, &accounts, &stop));
                drop(TcpStream::connect(address).unwrap());
                stop.store(true, Ordering::Relaxed);
                server.join().unwrap().unwrap();
            });
            drop(listener);
            // A server that begins in another test has copies of all descriptors for a moment.
            let limit = Instant::now() + Duration::from_secs(60);
            while TcpStream::connect(address).is_ok() {
                assert!(Instant::now() < limit, "somebody still listens on {address}");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn more_connections_need_more_tables() {
        assert_eq!(threads_for(1).unwrap(), 1);
        assert!(threads_for(usize::MAX / 2).unwrap() > 100);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(
            spawn(Config { threads: 0, ..Config::default() })
                .unwrap_err()
                .to_string()
                .contains("at least one")
        );
        let error = spawn(Config { spread: Duration::from_secs(1), ..Config::default() })
            .unwrap_err()
            .to_string();
        assert!(error.contains("100ms +-1s"), "{error}");
    }
}
