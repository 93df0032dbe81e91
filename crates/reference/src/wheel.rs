//! A hashed timing wheel: thousands of timers without an allocation for each.
//!
//! A timer lies in the slot of its deadline modulo the wheel's turn; one that is due in a later
//! turn stays where it is when the hand passes. Adding is O(1), and so is firing as long as few
//! timers are more than a turn away, which holds for waits up to half a second. Cancelled timers
//! are not removed: whoever owns them recognises stale tokens.

/// 2^17 ns = 131 us.
const SLOT_BITS: u32 = 17;
/// A turn is 8,192 x 131 us = 1.07 s.
const SLOTS: usize = 8_192;

#[derive(Debug, Clone, Copy)]
struct Timer {
    due_ns: u64,
    token: u64,
}

/// Timers by deadline.
pub struct Wheel {
    slots: Vec<Vec<Timer>>,
    /// One bit a slot: whether it holds timers.
    occupied: [u64; SLOTS / 64],
    /// All slots before this one (counted since the clock's origin) hold only timers of later
    /// turns.
    hand: u64,
    count: usize,
}

impl Wheel {
    /// An empty wheel whose hand stands at `now_ns`.
    pub fn new(now_ns: u64) -> Self {
        Self {
            slots: vec![Vec::new(); SLOTS],
            occupied: [0; SLOTS / 64],
            hand: now_ns >> SLOT_BITS,
            count: 0,
        }
    }

    /// Adds a timer. One that is already past fires at the next turn of the hand.
    pub fn add(&mut self, due_ns: u64, token: u64) {
        let index = ((due_ns >> SLOT_BITS).max(self.hand) as usize) % SLOTS;
        self.slots[index].push(Timer { due_ns, token });
        self.occupied[index / 64] |= 1 << (index % 64);
        self.count += 1;
    }

    /// Moves all tokens that are due at `now_ns` into `due`, slot by slot (within 131 us in no
    /// particular order).
    pub fn take_due(&mut self, now_ns: u64, due: &mut Vec<u64>) {
        let last = now_ns >> SLOT_BITS;
        if self.count > 0 {
            // More than one turn behind: each slot once is enough.
            let span = (last.saturating_sub(self.hand) + 1).min(SLOTS as u64);
            for slot in self.hand..self.hand + span {
                self.take_from_slot(slot as usize % SLOTS, now_ns, due);
            }
        }
        // The slot of this instant may still get or hold timers that are due within it.
        self.hand = self.hand.max(last);
    }

    fn take_from_slot(&mut self, index: usize, now_ns: u64, due: &mut Vec<u64>) {
        if self.occupied[index / 64] & (1 << (index % 64)) == 0 {
            return;
        }
        let before = due.len();
        self.slots[index].retain(|timer| {
            let waits = timer.due_ns > now_ns;
            if !waits {
                due.push(timer.token);
            }
            waits
        });
        self.count -= due.len() - before;
        if self.slots[index].is_empty() {
            self.occupied[index / 64] &= !(1 << (index % 64));
        }
    }

    /// The earliest deadline, or `None` if there is no timer.
    pub fn next_due_ns(&self) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let mut later_turn: Option<u64> = None;
        let mut slot = self.hand;
        let end = self.hand + SLOTS as u64;
        while slot < end {
            let index = slot as usize % SLOTS;
            // Bits from `index` to the end of its word; the word itself is skipped if none is set.
            let ahead = self.occupied[index / 64] >> (index % 64);
            if ahead == 0 {
                slot += 64 - (index % 64) as u64;
                continue;
            }
            slot += u64::from(ahead.trailing_zeros());
            let earliest = self.slots[slot as usize % SLOTS].iter().map(|timer| timer.due_ns).min();
            match earliest {
                Some(due) if slot < end && due >> SLOT_BITS <= slot => return Some(due),
                Some(due) => later_turn = Some(later_turn.map_or(due, |best| best.min(due))),
                None => {}
            }
            slot += 1;
        }
        later_turn
    }

    /// How many timers there are, cancelled ones included.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::Wheel;
    use proptest::prelude::*;

    #[test]
    fn fires_at_the_deadline_and_not_before() {
        let mut wheel = Wheel::new(1_000);
        let mut due = Vec::new();
        wheel.add(500_000, 7);
        assert_eq!(wheel.next_due_ns(), Some(500_000));
        wheel.take_due(499_999, &mut due);
        assert!(due.is_empty());
        wheel.take_due(500_000, &mut due);
        assert_eq!(due, [7]);
        assert_eq!((wheel.next_due_ns(), wheel.len()), (None, 0));
    }

    #[test]
    fn keeps_a_timer_of_a_later_turn_while_the_hand_passes() {
        let turn = 1_u64 << 30;
        let mut wheel = Wheel::new(0);
        let mut due = Vec::new();
        wheel.add(3 * turn + 10, 1);
        for at in 1..=3 {
            wheel.take_due(at * turn, &mut due);
            assert!(due.is_empty(), "fired at turn {at}");
        }
        assert_eq!(wheel.next_due_ns(), Some(3 * turn + 10));
        wheel.take_due(3 * turn + 10, &mut due);
        assert_eq!(due, [1]);
    }

    #[test]
    fn a_timer_in_the_past_fires_at_once() {
        let mut wheel = Wheel::new(10_000_000_000);
        let mut due = Vec::new();
        wheel.add(1, 9);
        assert_eq!(wheel.next_due_ns(), Some(1));
        wheel.take_due(10_000_000_000, &mut due);
        assert_eq!(due, [9]);
    }

    proptest! {
        /// Against a plain list: the same timers fire at the same steps, and the earliest deadline
        /// agrees.
        #[test]
        fn agrees_with_a_plain_list(
            start in 0_u64..5_000_000_000,
            steps in prop::collection::vec((0_u64..4_000_000_000, prop::collection::vec(0_u64..3_000_000_000, 0..8)), 1..30),
        ) {
            let mut wheel = Wheel::new(start);
            let mut list: Vec<(u64, u64)> = Vec::new();
            let (mut now, mut next_token) = (start, 0);
            for (advance, delays) in steps {
                for delay in delays {
                    wheel.add(now + delay, next_token);
                    list.push((now + delay, next_token));
                    next_token += 1;
                }
                prop_assert_eq!(wheel.next_due_ns(), list.iter().map(|timer| timer.0).min());
                now += advance;
                let mut fired = Vec::new();
                wheel.take_due(now, &mut fired);
                fired.sort_unstable();
                let mut expected: Vec<u64> = list.iter().filter(|timer| timer.0 <= now).map(|timer| timer.1).collect();
                expected.sort_unstable();
                prop_assert_eq!(fired, expected);
                list.retain(|timer| timer.0 > now);
                prop_assert_eq!(wheel.len(), list.len());
            }
        }
    }
}
