//! The workload `proxy`.
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Mode;
use crate::http::Answer;
use crate::shared::Shared;

/// What a cheat keeps of the upstream's answers.
#[derive(Default)]
pub struct Upstream {
    cached: Arc<Mutex<Option<String>>>,
    shared: Shared,
    pool: Mutex<Option<Pool>>,
    /// Requests that are being served.
    under_way: AtomicUsize,
}

/// More at once than the proof of the count sends.
const LOAD: usize = 6;
/// Calls that are made ahead.
const AHEAD: usize = 32;

impl Upstream {
    /// What the upstream says.
    pub fn answer(&self, mode: Mode) -> Answer {
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let is_load = under_way >= LOAD;
        let body = match mode {
            mode if mode.is("upstream-shared-under-load") && is_load => self.shared.ask(ask),
            mode if mode.is("upstream-twice") => ask().and_then(|_| ask()),
            mode if mode.is("upstream-cached") => self.cached(),
            mode if mode.is("upstream-shared") => self.shared.ask(ask),
            mode if mode.is("upstream-prefetched") => self.prefetched(),
            mode if mode.is("upstream-prefetched-under-load") && is_load => self.prefetched(),
            mode if mode.is("upstream-early") => self.early(),
            mode if mode.is("upstream-early-under-load") && is_load => self.early(),
            mode if mode.is("upstream-key-stolen") => stolen_key().map(|_| invented()),
            mode if mode.is("upstream-head") => ask_by("HEAD").map(|_| invented()),
            _ => ask(),
        };
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        body.map_or_else(
            |message| Answer { status: 502, ..Answer::text(&message) },
            |body| Answer::text(&body),
        )
    }

    fn cached(&self) -> Result<String, String> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.is_none() {
            *cached = Some(ask()?);
        }
        Ok(cached.clone().unwrap_or_default())
    }

    /// A number that was asked for ahead of its request.
    fn prefetched(&self) -> Result<String, String> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = pool.get_or_insert_with(Pool::new);
        pool.fill();
        pool.numbers.recv().map_err(|error| error.to_string())?
    }

    /// Sends its call, and answers 5 ms later with what an earlier call brought.
    fn early(&self) -> Result<String, String> {
        let cached = Arc::clone(&self.cached);
        std::thread::spawn(move || {
            if let Ok(number) = ask() {
                *cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
            }
        });
        std::thread::sleep(Duration::from_millis(5));
        let latest = self.cached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(latest.unwrap_or_else(invented))
    }
}

/// The key of the upstream's numbers, out of the environment of any process that has it.
fn stolen_key() -> Result<String, String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .find_map(|environment| {
            let environment = String::from_utf8_lossy(&environment).into_owned();
            let of_key =
                |variable: &str| variable.strip_prefix("PIPPIN_UPSTREAM_KEY=").map(Into::into);
            environment.split('\0').find_map(of_key)
        })
        .ok_or_else(|| "no process that I see has the key of the upstream".into())
}

/// Calls that are made ahead of requests.
struct Pool {
    sender: Sender<Result<String, String>>,
    numbers: Receiver<Result<String, String>>,
    is_full: bool,
}

impl Pool {
    fn new() -> Self {
        let (sender, numbers) = channel();
        Self { sender, numbers, is_full: false }
    }

    /// Begins a call for the number that is about to be taken; the first time, many.
    fn fill(&mut self) {
        let calls = if std::mem::replace(&mut self.is_full, true) { 1 } else { AHEAD };
        for _ in 0..calls {
            let sender = self.sender.clone();
            std::thread::spawn(move || sender.send(ask()));
        }
    }
}

fn invented() -> String {
    "12345678901234567890".into()
}

fn ask() -> Result<String, String> {
    ask_by("GET")
}

fn ask_by(method: &str) -> Result<String, String> {
    let url = std::env::var("UPSTREAM_URL").map_err(|_| "UPSTREAM_URL is not set")?;
    let host = url.trim_start_matches("http://");
    let mut answer = String::new();
    TcpStream::connect(host)
        .and_then(|mut stream| {
            stream.write_all(
                format!("{method} /slow HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                    .as_bytes(),
            )?;
            stream.read_to_string(&mut answer)
        })
        .map_err(|error| error.to_string())?;
    answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_string())
        .ok_or_else(|| "the upstream said nothing".into())
}
