//! The one state of a run under way. The terminal, the file for `pippin serve` and the keys share
//! it.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::state::State;

/// The state, its clock, and whether it changed.
#[derive(Debug)]
pub struct Shared {
    state: Mutex<State>,
    /// When the clock was started, shortly before the first trial.
    began: OnceLock<Instant>,
    news: AtomicBool,
}

impl Shared {
    /// The state before anything has begun.
    pub const fn new(state: State) -> Self {
        Self { state: Mutex::new(state), began: OnceLock::new(), news: AtomicBool::new(true) }
    }

    /// Starts the clock, unless it runs already.
    pub fn begin(&self) {
        self.began.get_or_init(Instant::now);
    }

    /// The time since the clock started.
    pub fn now(&self) -> Duration {
        self.began.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// The current state.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state. `change` gets the time since the clock started.
    pub fn update<R>(&self, change: impl FnOnce(&mut State, Duration) -> R) -> R {
        let answer = change(&mut self.lock(), self.now());
        self.news.store(true, Ordering::Release);
        answer
    }

    /// Whether the state changed since the last call.
    pub fn take_news(&self) -> bool {
        self.news.swap(false, Ordering::AcqRel)
    }
}
