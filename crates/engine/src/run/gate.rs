//! Holds a load, with its connections open, until its schedule starts, so that several generators
//! can start together.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::time::timeline::UNKNOWN;

/// Holds a load back until its start is known.
#[derive(Debug)]
pub struct Gate {
    is_reached: AtomicBool,
    start_at_ns: AtomicU64,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that is closed until [`Self::open_at`].
    #[must_use]
    pub const fn new() -> Self {
        Self { is_reached: AtomicBool::new(false), start_at_ns: AtomicU64::new(UNKNOWN) }
    }

    /// Starts the schedule at this instant of CLOCK_MONOTONIC, in nanoseconds; at once if it has
    /// passed when the connections are open.
    pub fn open_at(&self, start_ns: u64) {
        self.start_at_ns.store(start_ns, Ordering::Release);
    }

    /// Whether the load waits for its start: its connections are open, or have failed.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Acquire)
    }

    /// Reports that the load waits here; for generators without the engine.
    pub fn reach(&self) {
        self.is_reached.store(true, Ordering::Release);
    }

    /// The start, if it is known.
    #[must_use]
    pub fn start(&self) -> Option<u64> {
        let start = self.start_at_ns.load(Ordering::Acquire);
        (start != UNKNOWN).then_some(start)
    }
}
