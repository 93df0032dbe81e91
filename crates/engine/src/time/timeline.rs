//! The instants that all threads of a load agree on, and how far each has come.
use std::sync::atomic::{AtomicU64, Ordering};

/// Not decided yet.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Instants on CLOCK_MONOTONIC; [`UNKNOWN`] until the coordinator sets them, always some time
/// ahead.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// Connections may be opened.
    begin: AtomicU64,
    /// The schedule starts.
    start: AtomicU64,
    /// What comes later is measured.
    measure_from: AtomicU64,
    /// The load ends.
    end: AtomicU64,
}

/// What a thread knows of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instants {
    pub start: u64,
    pub measure_from: u64,
    pub end: u64,
}

impl Timeline {
    pub fn new() -> Self {
        let unknown = || AtomicU64::new(UNKNOWN);
        Self { begin: unknown(), start: unknown(), measure_from: unknown(), end: unknown() }
    }

    pub fn begin_at(&self, instant: u64) {
        self.begin.store(instant, Ordering::Release);
    }

    pub fn begin(&self) -> u64 {
        self.begin.load(Ordering::Acquire)
    }

    pub fn start_at(&self, instant: u64) {
        self.start.store(instant, Ordering::Release);
    }

    pub fn measure_from(&self, instant: u64) {
        self.measure_from.store(instant, Ordering::Release);
    }

    /// The load ends at this instant, or earlier if that was decided before.
    pub fn end_at(&self, instant: u64) {
        self.end.fetch_min(instant, Ordering::AcqRel);
    }

    /// Ends the load at once, whatever its state.
    pub fn end_now(&self, now: u64) {
        self.start.fetch_min(now, Ordering::AcqRel);
        self.end_at(now);
        self.begin.fetch_min(now, Ordering::AcqRel);
    }

    #[inline]
    pub fn instants(&self) -> Instants {
        Instants {
            start: self.start.load(Ordering::Acquire),
            measure_from: self.measure_from.load(Ordering::Acquire),
            end: self.end.load(Ordering::Acquire),
        }
    }
}

/// A counter on a cache line of its own, written by one thread and read by the coordinator.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    pub fn set(&self, completed: u64) {
        self.0.store(completed, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
