//! What is done again and again while a load runs, so that right answers change.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work on a thread of its own, beside a load.
pub struct Meanwhile {
    stop: Sender<()>,
    is_paused: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// When the work is to do something.
pub struct Turns {
    every: Duration,
    stopped: Receiver<()>,
    is_paused: Arc<AtomicBool>,
}

impl Meanwhile {
    /// Begins, on a thread of this name, with a turn so often.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn start(
        name: &str,
        every: Duration,
        work: impl FnOnce(&Turns) + Send + 'static,
    ) -> Result<Self, String> {
        let (stop, stopped) = channel();
        let is_paused = Arc::new(AtomicBool::new(false));
        let turns = Turns { every, stopped, is_paused: Arc::clone(&is_paused) };
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || work(&turns))
            .map_err(|error| format!("start a thread: {error}"))?;
        Ok(Self { stop, is_paused, thread })
    }

    /// Whether to leave everything as it is for now.
    pub fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Ends, and waits for what is done at the end.
    pub fn stop(self) {
        drop(self.stop);
        // It does nothing that panics.
        let _ = self.thread.join();
    }
}

impl Turns {
    /// Waits for the next turn that is not paused. Returns false at the end.
    pub fn next(&self) -> bool {
        while self.stopped.recv_timeout(self.every) == Err(RecvTimeoutError::Timeout) {
            if !self.is_paused.load(Ordering::Relaxed) {
                return true;
            }
        }
        false
    }
}
