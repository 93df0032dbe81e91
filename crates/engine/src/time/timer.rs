//! A hierarchical timing wheel (Varghese and Lauck, 1987). A hundred thousand timers cost a few
//! nanoseconds each.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The length of a tick in nanoseconds, as a power of two: 65.536 us. Ticks are for coarse sorting;
/// timers fire to the nanosecond.
const TICK_BITS: u32 = 16;
const SLOT_BITS: u32 = 8;
const SLOTS: usize = 1 << SLOT_BITS;
/// 2^(16 + 5 * 8) ns are 834 days, more than any duration that Pippin accepts.
const LEVELS: usize = 5;
const NONE: u32 = u32::MAX;
/// A timer that is not set.
const NEVER: u64 = u64::MAX;

/// One timer for each slot of a worker.
#[derive(Debug)]
pub(crate) struct Wheel {
    origin: u64,
    /// The tick up to which all timers are in `soon`.
    tick: u64,
    heads: Box<[[u32; SLOTS]; LEVELS]>,
    occupied: [[u64; SLOTS / 64]; LEVELS],
    /// Timers whose tick has begun, by the nanosecond.
    soon: BinaryHeap<Reverse<(u64, u32)>>,
    /// For each slot: the next one in its list, and when it is due, or [`NEVER`].
    next: Vec<u32>,
    due: Vec<u64>,
    /// How many timers are set.
    set: u32,
}

impl Wheel {
    pub fn new(slots: u32, now: u64) -> Self {
        Self {
            origin: now,
            tick: 0,
            heads: Box::new([[NONE; SLOTS]; LEVELS]),
            occupied: [[0; SLOTS / 64]; LEVELS],
            soon: BinaryHeap::with_capacity(64),
            next: vec![NONE; slots as usize],
            due: vec![NEVER; slots as usize],
            set: 0,
        }
    }

    /// Whether the timer of `slot` is set; never in a wheel without one for it.
    pub fn is_set(&self, slot: u32) -> bool {
        self.due.get(slot as usize).is_some_and(|due| *due != NEVER)
    }

    /// When the timer of `slot` is due; `None` if it is not set.
    pub fn due_of(&self, slot: u32) -> Option<u64> {
        self.due.get(slot as usize).copied().filter(|due| *due != NEVER)
    }

    /// Sets the timer of `slot`, which must not be set.
    ///
    /// # Panics
    /// If it is set: a list that held it twice would have no end.
    pub fn set(&mut self, slot: u32, due: u64) {
        assert!(!self.is_set(slot), "the timer of {slot} is set already");
        self.due[slot as usize] = due;
        self.set += 1;
        self.place(slot, due);
    }

    /// A timer that is due at `now`, earliest first.
    #[inline]
    pub fn pop(&mut self, now: u64) -> Option<(u32, u64)> {
        if self.set == 0 {
            return None;
        }
        self.advance(self.tick_of(now));
        let Reverse((due, slot)) = *self.soon.peek()?;
        if due > now {
            return None;
        }
        self.soon.pop();
        self.due[slot as usize] = NEVER;
        self.set -= 1;
        Some((slot, due))
    }

    /// When to ask again: never later than the next timer is due; `None` if none is set.
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        if self.set == 0 {
            return None;
        }
        match self.soon.peek() {
            Some(Reverse((due, _))) => Some(*due),
            None => self.next_list().map(|tick| self.origin + (tick << TICK_BITS)),
        }
    }

    /// The tick at which the next list that is not empty begins. Lists of a lower level are always
    /// earlier than those of a higher one.
    fn next_list(&self) -> Option<u64> {
        (0..LEVELS).find_map(|level| {
            let shift = SLOT_BITS * level as u32;
            let here = (self.tick >> shift) as usize & (SLOTS - 1);
            let index = self.next_occupied(level, here + 1)?;
            Some((self.tick >> shift >> SLOT_BITS << SLOT_BITS | index as u64) << shift)
        })
    }

    fn tick_of(&self, time: u64) -> u64 {
        time.saturating_sub(self.origin) >> TICK_BITS
    }

    fn place(&mut self, slot: u32, due: u64) {
        let tick = self.tick_of(due);
        if tick <= self.tick {
            self.soon.push(Reverse((due, slot)));
            return;
        }
        let (level, index) = self.list_of(tick);
        self.next[slot as usize] = self.heads[level][index];
        self.heads[level][index] = slot;
        self.occupied[level][index / 64] |= 1 << (index % 64);
    }

    /// The level and the place of the list that holds the timers of a later tick. As long as the list
    /// has not begun, it stays the same while time passes.
    const fn list_of(&self, tick: u64) -> (usize, usize) {
        // The level is that of the highest digit (of SLOT_BITS bits) in which the two ticks differ.
        let digit = ((63 - (tick ^ self.tick).leading_zeros()) / SLOT_BITS) as usize;
        let level = if digit < LEVELS { digit } else { LEVELS - 1 };
        (level, (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1))
    }

    /// Takes the timer of `slot` back, if it is set. This looks through the timers near it, so it is
    /// for what happens seldom.
    pub fn take_back(&mut self, slot: u32) {
        if !self.is_set(slot) {
            return;
        }
        let due = std::mem::replace(&mut self.due[slot as usize], NEVER);
        self.set -= 1;
        let tick = self.tick_of(due);
        if tick <= self.tick {
            return self.soon.retain(|Reverse((_, other))| *other != slot);
        }
        let (level, index) = self.list_of(tick);
        let after = self.next[slot as usize];
        let mut before = self.heads[level][index];
        if before == slot {
            self.heads[level][index] = after;
            if after == NONE {
                self.occupied[level][index / 64] &= !(1 << (index % 64));
            }
            return;
        }
        while self.next[before as usize] != slot {
            before = self.next[before as usize];
        }
        self.next[before as usize] = after;
    }

    fn next_occupied(&self, level: usize, from: usize) -> Option<usize> {
        let words = &self.occupied[level];
        (from / 64..SLOTS / 64).find_map(|word| {
            let mask = if word == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
            let bits = words[word] & mask;
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }

    fn advance(&mut self, target: u64) {
        while self.tick < target {
            match self.next_list() {
                Some(tick) if tick <= target => {
                    self.tick = tick;
                    self.bring_down();
                }
                _ => self.tick = target,
            }
        }
    }

    /// Redistributes the lists that begin at the present tick.
    fn bring_down(&mut self) {
        for level in (0..LEVELS).rev() {
            let shift = SLOT_BITS * level as u32;
            if self.tick & ((1 << shift) - 1) == 0 {
                self.empty(level, (self.tick >> shift) as usize & (SLOTS - 1));
            }
        }
    }

    /// Moves the timers of one list to finer lists.
    fn empty(&mut self, level: usize, index: usize) {
        let mut slot = std::mem::replace(&mut self.heads[level][index], NONE);
        self.occupied[level][index / 64] &= !(1 << (index % 64));
        while slot != NONE {
            let next = self.next[slot as usize];
            self.place(slot, self.due[slot as usize]);
            slot = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_timer_fires_once_in_order_and_never_early(
            delays in prop::collection::vec(prop_oneof![0_u64..1_000_000, 0_u64..100_000_000, 0_u64..10_000_000_000, 0_u64..10_000_000_000_000], 1..200),
            steps in prop::collection::vec(prop_oneof![1_u64..1_000, 1_u64..10_000_000, 1_u64..1_000_000_000_000], 1..50),
        ) {
            let origin = 5_000_000_007;
            let mut wheel = Wheel::new(delays.len() as u32, origin);
            for (slot, delay) in delays.iter().enumerate() {
                wheel.set(slot as u32, origin + delay);
            }
            let mut fired = vec![];
            let mut now = origin;
            let all = steps.into_iter().map(Some).chain(std::iter::repeat(None));
            for step in all {
                let next = wheel.next_due();
                let unfired = delays.len() - fired.len();
                prop_assert_eq!(next.is_none(), unfired == 0);
                let Some(next) = next else { break };
                now = match step {
                    Some(step) => now + step,
                    None => now.max(next),
                };
                let earliest = (0..delays.len()).filter(|slot| !fired.contains(&(*slot as u32))).map(|slot| origin + delays[slot]).min().unwrap();
                prop_assert!(next <= earliest);
                let mut last = 0;
                while let Some((slot, due)) = wheel.pop(now) {
                    prop_assert_eq!(due, origin + delays[slot as usize]);
                    prop_assert!(due <= now && due >= last);
                    last = due;
                    fired.push(slot);
                }
                prop_assert!((0..delays.len()).all(|slot| origin + delays[slot] > now || fired.contains(&(slot as u32))));
            }
            prop_assert_eq!(fired.len(), delays.len());
        }
    }

    proptest! {
        /// A few timers that are set, taken back and set again while time passes, beside a list.
        #[test]
        fn a_timer_that_is_taken_back_never_fires(
            acts in prop::collection::vec(
                (0_u32..6, 0_u8..3, prop_oneof![0_u64..1_000_000, 0_u64..100_000_000, 0_u64..100_000_000_000]),
                1..200,
            ),
        ) {
            let mut wheel = Wheel::new(6, 0);
            let mut set = [None; 6];
            let mut now = 0;
            for (slot, act, ns) in acts {
                let own = &mut set[slot as usize];
                match (act, *own) {
                    (0, None) => {
                        wheel.set(slot, now + ns);
                        *own = Some(now + ns);
                    }
                    (1, _) => {
                        wheel.take_back(slot);
                        *own = None;
                    }
                    _ => now += ns,
                }
                let mut fired = Vec::new();
                while let Some((slot, due)) = wheel.pop(now) {
                    prop_assert_eq!(set[slot as usize].take(), Some(due));
                    fired.push(due);
                }
                prop_assert!(fired.is_sorted());
                prop_assert!(set.iter().flatten().all(|due| *due > now), "{set:?} at {now}");
                let earliest = set.iter().flatten().min();
                prop_assert_eq!(wheel.next_due().is_some(), earliest.is_some());
                prop_assert!(wheel.next_due() <= earliest.copied());
                prop_assert!((0..6).all(|slot| wheel.is_set(slot) == set[slot as usize].is_some()));
            }
        }
    }

    #[test]
    fn a_timer_is_set_until_it_fires() {
        let mut wheel = Wheel::new(2, 0);
        wheel.set(1, 40_000_000);
        assert_eq!((wheel.is_set(0), wheel.is_set(1)), (false, true));
        assert_eq!(wheel.pop(39_999_999), None);
        assert!(wheel.is_set(1));
        assert_eq!(wheel.pop(40_000_000), Some((1, 40_000_000)));
        assert!(!wheel.is_set(1));
    }

    #[test]
    fn a_fired_timer_can_be_set_again() {
        let mut wheel = Wheel::new(1, 0);
        for round in 1..1000_u64 {
            let due = round * 1_234_567;
            wheel.set(0, due);
            assert_eq!(wheel.pop(due - 1), None);
            assert_eq!(wheel.pop(due), Some((0, due)));
        }
    }
}
