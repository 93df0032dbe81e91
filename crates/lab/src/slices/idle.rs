//! What a target burns while others are measured.

/// Processors that a target may keep busy while nobody asks it: half a percent of one.
pub const LIMIT: f64 = 0.005;
/// How long to watch at least: right after its slice, a target may still tidy up.
const FEWEST_NS: u64 = 2_000_000_000;

/// What one target used while others were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idle {
    cpu_ns: u64,
    watched_ns: u64,
}

impl Idle {
    /// Adds a slice of another target.
    pub const fn add(&mut self, cpu_ns: u64, watched_ns: u64) {
        self.cpu_ns += cpu_ns;
        self.watched_ns += watched_ns;
    }

    /// Processors that it kept busy; `None` if it was never watched.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.cpu_ns as f64 / self.watched_ns as f64)
    }

    /// Whether it disturbs the others. This takes some seconds to find out.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.watched_ns >= FEWEST_NS && self.cores().is_some_and(|cores| cores > LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_percent_of_a_processor_is_idle_and_more_is_not() {
        let mut idle = Idle::default();
        assert_eq!((idle.cores(), idle.is_busy()), (None, false));
        idle.add(500_000_000, 1_000_000_000);
        assert!(!idle.is_busy(), "too early to tell");
        idle.add(0, 99_000_000_000);
        assert_eq!((idle.cores(), idle.is_busy()), (Some(0.005), false));
        idle.add(1_000_000, 0);
        assert!(idle.is_busy());
    }
}
