//! Whether a supervised process lives, for whoever must know at once.
use pippin_model::trial::Exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::trial::unix_now_ns;

/// Whether the main process of a target or service has ended, how, and when that was known.
#[derive(Debug, Default)]
pub struct Life {
    is_over: AtomicBool,
    ended_unix_ns: AtomicU64,
    exit: OnceLock<Exit>,
}

impl Life {
    /// Set as soon as it has ended.
    #[must_use]
    pub const fn is_over(&self) -> &AtomicBool {
        &self.is_over
    }

    /// When its end was known, nanoseconds since 1970; `None` while it lives.
    #[must_use]
    pub fn ended_unix_ns(&self) -> Option<u64> {
        let at = self.ended_unix_ns.load(Ordering::Acquire);
        (at > 0).then_some(at)
    }

    /// How it ended; `None` while it lives.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.exit.get().copied()
    }

    /// Notes its end, and the time.
    pub(super) fn note_end(&self, exit: Exit) {
        let _ = self.exit.set(exit);
        self.ended_unix_ns.store(unix_now_ns(), Ordering::Release);
    }

    /// Says that it has ended, once everything about its end can be read.
    pub(super) fn say_end(&self) {
        self.is_over.store(true, Ordering::Release);
    }
}
