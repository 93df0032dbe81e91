//! The server of one measurement: a separate process with its own counters.
mod nginx;

use clap::{Args, ValueEnum};
use pippin_reference::{device, null, socket, upstream};
use pippin_testing::scripted;
use pippin_testing::scripted::{Answer, Received, Script};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::process::Process;
use crate::scenario::{Scenario, Serving};

/// The arguments of the child process.
#[derive(Debug, Args)]
pub struct ServeArguments {
    kind: Kind,
    /// The stalling server stalls when this request comes.
    #[arg(long, default_value_t = 0)]
    stall_at: u64,
    #[arg(long, default_value_t = 0)]
    stall_ms: u64,
    /// The number of connections of the device server.
    #[arg(long, default_value_t = 0)]
    connections: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Null,
    Stall,
    Upstream,
    Device,
    Asking,
    /// nginx over HTTP/2.
    Nginx,
    /// nginx over HTTP/1.1.
    NginxHttp1,
}

/// The server's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub connections: u64,
    pub peak_connections: u64,
    pub requests: u64,
    pub answers: u64,
    /// How late the server itself was with delayed answers.
    pub late_p99_ns: Option<u64>,
    pub descriptors_exhausted: u64,
}

impl From<&pippin_reference::Account> for Account {
    fn from(account: &pippin_reference::Account) -> Self {
        Self {
            connections: account.connections,
            peak_connections: account.peak_connections,
            requests: account.requests,
            answers: account.answers,
            late_p99_ns: account.late.p99_ns(),
            descriptors_exhausted: account.descriptors_exhausted,
        }
    }
}

impl From<&scripted::Account> for Account {
    fn from(account: &scripted::Account) -> Self {
        Self {
            connections: account.connections,
            peak_connections: account.peak_connections,
            requests: account.requests,
            answers: account.answers,
            late_p99_ns: None,
            descriptors_exhausted: 0,
        }
    }
}

/// Asks for a digest where a request says so, and takes any.
fn asking(request: &Received<'_>) -> Answer {
    let has = |text: &[u8]| request.bytes.windows(text.len()).any(|part| part == text);
    if has(b"X-Asks: yes") && !has(b"Authorization: Digest ") {
        let nonce = format!("{:032x}", request.number);
        let field =
            format!("WWW-Authenticate: Digest realm=\"bench\", nonce=\"{nonce}\", qop=\"auth\"");
        return Answer::new(401, b"").header(&field);
    }
    Answer::ok(b"Hello World!")
}

/// Serves until SIGTERM. Prints its address first and its counters last.
pub fn serve(arguments: &ServeArguments) -> Result<(), String> {
    let text = |error: pippin_reference::Error| error.to_string();
    let term = Term::block();
    match arguments.kind {
        Kind::Nginx => return nginx::serve(&term, " http2"),
        Kind::NginxHttp1 => return nginx::serve(&term, ""),
        _ => {}
    }
    let threads = device::threads_for(arguments.connections).map_err(text)?;
    let listener =
        socket::listen(SocketAddr::from(([127, 0, 0, 1], 0)), threads > 1).map_err(text)?;
    println!("{}", listener.local_addr().map_err(|error| error.to_string())?);
    let stop = AtomicBool::new(false);
    let account = std::thread::scope(|scope| {
        scope.spawn(|| {
            term.wait();
            stop.store(true, Ordering::Relaxed);
        });
        match arguments.kind {
            Kind::Null => null::serve(listener, null::Config::default(), &stop)
                .map(|account| Account::from(&account)),
            Kind::Upstream => upstream::serve(listener, &upstream::Config::default(), &stop)
                .map(|account| Account::from(&account)),
            Kind::Device => device::serve(
                listener,
                &device::Config { threads, ..device::Config::default() },
                &stop,
            )
            .map(|account| Account::from(&account)),
            Kind::Stall => {
                let script = Script::always(Answer::ok(b"Hello World!")).stall_at_request(
                    arguments.stall_at,
                    Duration::from_millis(arguments.stall_ms),
                );
                scripted::serve(listener, script, &stop).map(|account| Account::from(&account))
            }
            Kind::Asking => {
                scripted::serve(listener, Script::each(|request, _| asking(request)), &stop)
                    .map(|account| Account::from(&account))
            }
            // It is a program of its own.
            Kind::Nginx | Kind::NginxHttp1 => Ok(Account::default()),
        }
    });
    let account = account.map_err(text)?;
    println!("{}", serde_json::to_string(&account).map_err(|error| error.to_string())?);
    Ok(())
}

/// Waits for SIGTERM.
struct Term(libc::sigset_t);

impl Term {
    /// Blocks it in this thread and in those that it starts later.
    fn block() -> Self {
        // SAFETY: the set is plain data that sigemptyset(3) fills.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            Self(set)
        }
    }

    fn wait(&self) {
        let mut signal = 0;
        // SAFETY: both are live.
        unsafe { libc::sigwait(&raw const self.0, &raw mut signal) };
    }
}

/// This program as a server; its kind is to be added.
fn serve_command() -> Result<Command, String> {
    let this = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let mut command = Command::new(this);
    command.arg("serve");
    Ok(command)
}

/// A running server process.
pub struct Server {
    process: Process,
    pub address: SocketAddr,
}

/// How long a server may take to print its address.
const START_LIMIT: Duration = Duration::from_secs(20);

impl Server {
    /// Starts the server of a scenario on a core.
    pub fn start(scenario: &Scenario, seconds: u32, core: u32) -> Result<Self, String> {
        let mut command = serve_command()?;
        match scenario.server {
            Serving::Null => command.arg("null"),
            Serving::Upstream => command.arg("upstream"),
            Serving::Asking => command.arg("asking"),
            Serving::Nginx | Serving::Download | Serving::Upload => {
                command.arg(if scenario.streams.is_some() { "nginx" } else { "nginx-http1" })
            }
            Serving::Device => {
                command.args(["device", "--connections", &scenario.connections.to_string()])
            }
            Serving::Stall { stall_ms } => {
                let middle = u64::from(scenario.rate_per_s.unwrap_or(0)) * u64::from(seconds) / 2;
                command.args([
                    "stall",
                    "--stall-at",
                    &middle.to_string(),
                    "--stall-ms",
                    &stall_ms.to_string(),
                ])
            }
        };
        Self::spawn(&command, core)
    }

    /// Starts the server that answers at once, on a core.
    pub fn null(core: u32) -> Result<Self, String> {
        let mut command = serve_command()?;
        command.arg("null");
        Self::spawn(&command, core)
    }

    fn spawn(command: &Command, core: u32) -> Result<Self, String> {
        let mut process = Process::start(command, core)
            .map_err(|error| format!("starting the server: {error}"))?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let said = process.stdout();
            if let Some((address, _)) = said.split_once('\n') {
                let address = address.parse().map_err(|_| {
                    format!("the server printed `{address}` instead of its address")
                })?;
                return Ok(Self { process, address });
            }
            if !process.is_running() || Instant::now() > deadline {
                return Err("the server did not print its address".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Stops it. Returns its counters and its CPU time.
    pub fn stop(self) -> Result<(Account, u64), String> {
        let ended = self.process.stop()?;
        let text = ended.stdout.lines().last().unwrap_or_default();
        let account = serde_json::from_str(text)
            .map_err(|error| format!("the server's account `{text}`: {error}"))?;
        Ok((account, ended.used.cpu_ns))
    }
}
