//! The workload `proxy`.
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::Mode;
use crate::http::Answer;

/// What a cheat keeps of the upstream's answers.
#[derive(Default)]
pub struct Upstream {
    cached: Mutex<Option<String>>,
    /// Whether a call is under way, and how many have ended.
    calls: Mutex<(bool, u64)>,
    ended: Condvar,
    shared: Mutex<String>,
    /// Requests that are being served.
    under_way: AtomicUsize,
}

/// More at once than the proof of the count sends.
const LOAD: usize = 6;

impl Upstream {
    /// What the upstream says.
    pub fn answer(&self, mode: Mode) -> Answer {
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let body = match mode {
            mode if mode.is("upstream-shared-under-load") && under_way >= LOAD => self.shared(),
            mode if mode.is("upstream-twice") => ask().and_then(|_| ask()),
            mode if mode.is("upstream-cached") => self.cached(),
            mode if mode.is("upstream-shared") => self.shared(),
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

    /// Requests that come while a call is under way wait for its answer.
    fn shared(&self) -> Result<String, String> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.0 {
            let number = calls.1;
            while calls.0 && calls.1 == number {
                calls = self.ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
            }
            return Ok(self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone());
        }
        calls.0 = true;
        drop(calls);
        let body = ask();
        if let Ok(body) = &body {
            self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone_from(body);
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls = (false, calls.1 + 1);
        self.ended.notify_all();
        body
    }
}

fn ask() -> Result<String, String> {
    let url = std::env::var("UPSTREAM_URL").map_err(|_| "UPSTREAM_URL is not set")?;
    let host = url.trim_start_matches("http://");
    let mut answer = String::new();
    TcpStream::connect(host)
        .and_then(|mut stream| {
            stream.write_all(
                format!("GET /slow HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
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
