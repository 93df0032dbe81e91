//! The one state of a run under way, which the terminal, the file for `pippin serve` and the keys
//! share.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::state::State;

/// The state, its clock, and whether it changed.
#[derive(Debug)]
pub struct Shared {
    state: Mutex<State>,
    /// When the first trial was near.
    began: OnceLock<Instant>,
    news: AtomicBool,
}

impl Shared {
    /// Nothing has begun yet.
    pub const fn new(state: State) -> Self {
        Self { state: Mutex::new(state), began: OnceLock::new(), news: AtomicBool::new(true) }
    }

    /// The clock begins, unless it runs already.
    pub fn begin(&self) {
        self.began.get_or_init(Instant::now);
    }

    /// The time since it began.
    pub fn now(&self) -> Duration {
        self.began.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// The state as it is.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; the change gets the time since it began.
    pub fn update<R>(&self, change: impl FnOnce(&mut State, Duration) -> R) -> R {
        let answer = change(&mut self.lock(), self.now());
        self.news.store(true, Ordering::Release);
        answer
    }

    /// Whether it changed since this was asked before.
    pub fn take_news(&self) -> bool {
        self.news.swap(false, Ordering::AcqRel)
    }
}
