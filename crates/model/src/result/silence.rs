//! When nobody was answered.
use serde::{Deserialize, Serialize};

/// The resolution: one millisecond.
const SLOT_NS: u64 = 1_000_000;
/// Slots of a window, which lasts at most a second; the rest is never used.
const SLOTS: usize = 1_024;
/// Shorter silences are not kept.
pub const SHORTEST_SILENCE_NS: u64 = 20 * SLOT_NS;

/// A stretch of at least 20 ms in which no answer arrived on any connection, within one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// Its begin, as an offset from that of its window, nanoseconds.
    pub from_ns: u64,
    /// Its length in nanoseconds, known to a millisecond at each end. One that touches the end of
    /// its window may go on in the next.
    pub length_ns: u64,
}

/// In which milliseconds of a window an answer arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrivals([u64; SLOTS / 64]);

impl Default for Arrivals {
    fn default() -> Self {
        Self([0; SLOTS / 64])
    }
}

impl Arrivals {
    /// An answer arrived so long after the begin of the window. Returns where its millisecond
    /// begins: others in it need not be noted.
    pub const fn note(&mut self, into_ns: u64) -> u64 {
        let slot = into_ns / SLOT_NS;
        let slot = if slot < SLOTS as u64 { slot as usize } else { SLOTS - 1 };
        self.0[slot / 64] |= 1 << (slot % 64);
        slot as u64 * SLOT_NS
    }

    /// Whether an instant lies in the millisecond that begins at `slot_ns`.
    #[must_use]
    pub const fn is_within(at_ns: u64, slot_ns: u64) -> bool {
        at_ns.wrapping_sub(slot_ns) < SLOT_NS
    }

    /// Adds what a peer noted in the same window.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, others)| *own |= others);
    }

    /// The silences of a window of this length.
    #[must_use]
    pub fn silences(&self, duration_ns: u64) -> Vec<Silence> {
        let has = |slot: u64| self.0[slot as usize / 64] >> (slot % 64) & 1 == 1;
        let slots = duration_ns.div_ceil(SLOT_NS).min(SLOTS as u64);
        let mut found = Vec::new();
        let mut from = 0;
        for slot in 0..=slots {
            if slot < slots && !has(slot) {
                continue;
            }
            let (from_ns, to_ns) = (from * SLOT_NS, (slot * SLOT_NS).min(duration_ns));
            if to_ns.saturating_sub(from_ns) >= SHORTEST_SILENCE_NS {
                found.push(Silence { from_ns, length_ns: to_ns - from_ns });
            }
            from = slot + 1;
        }
        found
    }
}

/// The silences of two peers together: where both are silent.
#[must_use]
pub fn in_both(one: &[Silence], other: &[Silence]) -> Vec<Silence> {
    let end = |silence: &Silence| silence.from_ns + silence.length_ns;
    let common = |a: &Silence, b: &Silence| {
        let from_ns = a.from_ns.max(b.from_ns);
        let length_ns = end(a).min(end(b)).saturating_sub(from_ns);
        (length_ns >= SHORTEST_SILENCE_NS).then_some(Silence { from_ns, length_ns })
    };
    one.iter().flat_map(|a| other.iter().filter_map(move |b| common(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn silence(from_ms: u64, length_ms: u64) -> Silence {
        Silence { from_ns: from_ms * MS, length_ns: length_ms * MS }
    }

    #[test]
    fn what_is_long_enough_is_kept_and_reaches_to_the_ends() {
        let mut seen = Arrivals::default();
        assert_eq!(seen.silences(1_000 * MS), [silence(0, 1_000)]);
        for ms in [30, 40, 41, 500, 985] {
            assert_eq!(seen.note(ms * MS + 17), ms * MS);
        }
        let found = seen.silences(1_000 * MS);
        assert_eq!(found, [silence(0, 30), silence(42, 458), silence(501, 484)]);
        assert_eq!(seen.silences(25 * MS + 5), [Silence { from_ns: 0, length_ns: 25 * MS + 5 }]);
        assert!(Arrivals::is_within(40 * MS + 3, 40 * MS) && !Arrivals::is_within(MS, 40 * MS));
    }

    #[test]
    fn peers_are_silent_together() {
        let (mut one, mut other) = (Arrivals::default(), Arrivals::default());
        one.note(100 * MS);
        other.note(300 * MS);
        let apart = in_both(&one.silences(400 * MS), &other.silences(400 * MS));
        one.merge(&other);
        assert_eq!(one.silences(400 * MS), apart);
        assert_eq!(apart, [silence(0, 100), silence(101, 199), silence(301, 99)]);
    }
}
