//! The workload `device`.
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::Mode;
use crate::http::Answer;

/// The threads of a server that blocks: this many requests may wait at a time.
pub struct Permits {
    free: Mutex<u32>,
    returned: Condvar,
}

impl Permits {
    /// So many.
    pub const fn new(count: u32) -> Self {
        Self { free: Mutex::new(count), returned: Condvar::new() }
    }

    /// Waits for a thread and does this on it.
    pub fn with(&self, work: impl FnOnce()) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        work();
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.returned.notify_one();
    }
}

/// The threads of the pool in this mode; 0 if there is none.
pub fn threads(mode: Mode) -> u32 {
    match mode {
        mode if mode.is("device-blocks") => 16,
        mode if mode.is("device-pool-64") => 64,
        mode if mode.is("device-pool-200") => 200,
        _ => 0,
    }
}

/// Requests that wait.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// 1,024 bytes after 100 ms +-5 %.
pub fn answer(mode: Mode, permits: &Permits) -> Answer {
    let waiting = WAITING.fetch_add(1, Ordering::SeqCst) + 1;
    wait(mode, permits, waiting);
    WAITING.fetch_sub(1, Ordering::SeqCst);
    Answer::text(&"x".repeat(1024))
}

fn wait(mode: Mode, permits: &Permits, waiting: usize) {
    match mode {
        mode if mode.is("device-at-once") => {}
        mode if mode.is("device-constant") => std::thread::sleep(Duration::from_millis(100)),
        mode if mode.is("device-impatient") && waiting > 10 => {
            std::thread::sleep(Duration::from_millis(20));
        }
        mode if mode.is("device-hurries-under-load") && waiting > 10 => {
            std::thread::sleep(Duration::from_millis(94));
        }
        mode if mode.is("device-capped-under-load") && waiting > 10 => {
            std::thread::sleep(drawn().min(Duration::from_micros(98_600)));
        }
        mode if mode.is("device-constant-under-load") && waiting > 10 => {
            std::thread::sleep(Duration::from_millis(100));
        }
        mode if mode.is("device-whole-milliseconds") => {
            std::thread::sleep(Duration::from_millis(drawn().as_millis() as u64));
        }
        mode if threads(mode) > 0 => permits.with(|| std::thread::sleep(drawn())),
        _ => std::thread::sleep(drawn()),
    }
}

/// Uniform from 95 to 105 ms. Each `RandomState` has keys of its own.
fn drawn() -> Duration {
    Duration::from_micros(95_000 + RandomState::new().build_hasher().finish() % 10_000)
}
