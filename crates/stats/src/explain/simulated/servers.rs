//! Servers of known truth.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::world::{MS, Request, SECOND, Server, Truth};

/// Serves some requests at a time, first come, first served.
pub(super) struct Slots(BinaryHeap<Reverse<u64>>);

impl Slots {
    pub fn new(at_a_time: usize) -> Self {
        Self::free_from((0..at_a_time).map(|_| 0))
    }

    /// One from each of these instants on.
    fn free_from(instants: impl Iterator<Item = u64>) -> Self {
        Self(instants.map(Reverse).collect())
    }

    /// When a request is done that arrives at this instant and takes so long once it is served.
    pub fn serve(&mut self, at: u64, service_ns: u64) -> u64 {
        let Reverse(free) = self.0.pop().unwrap_or_default();
        let done = at.max(free) + service_ns;
        self.0.push(Reverse(done));
        done
    }
}

/// A pool: so many requests at a time, each for so long.
pub(super) fn pool(at_a_time: usize, service_ns: u64) -> Truth {
    Truth::new(move || {
        let mut slots = Slots::new(at_a_time);
        Box::new(move |request: Request| slots.serve(request.at, service_ns))
    })
}

/// A pool that is starved: two requests at a time, each for so long, and one more after each half
/// second.
pub(super) fn starved_pool(service_ns: u64) -> Truth {
    Truth::new(move || {
        let mut slots =
            Slots::free_from((0..64).map(|nth: u64| nth.saturating_sub(1) * SECOND / 2));
        Box::new(move |request: Request| slots.serve(request.at, service_ns))
    })
}

/// A lock that all requests hold for so long.
pub(super) fn lock(held_ns: u64) -> Truth {
    pool(1, held_ns)
}

/// All requests at the same time; every so many-th takes long.
pub(super) fn slow_ones(every: u64, slow_ns: u64, fast_ns: u64) -> Truth {
    Truth::new(move || {
        Box::new(move |request: Request| {
            request.at + if request.nth % every == every - 1 { slow_ns } else { fast_ns }
        })
    })
}

/// All requests at the same time; one in so many, at random, takes long.
pub(super) fn slow_at_random(every: f64, slow_ns: u64, fast_ns: u64) -> Truth {
    Truth::new(move || {
        Box::new(move |request: Request| {
            request.at + if drawn(request.nth) * every < 1.0 { slow_ns } else { fast_ns }
        })
    })
}

/// Whether each request is slow is drawn by its number, so that it comes neither in turn nor together.
pub(super) fn drawn(nth: u64) -> f64 {
    let mixed = nth.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The whole server stands still from time to time, or once.
pub(super) fn stalling(
    service_ns: u64,
    stands: impl Fn(u64) -> Option<u64> + Copy + 'static,
) -> Truth {
    let truth = Truth::new(move || {
        Box::new(move |request: Request| {
            let (mut now, mut left) = (request.at, service_ns);
            // In steps that are short beside any stall.
            loop {
                match stands(now) {
                    Some(until) => now = until,
                    None if left <= MS => return now + left,
                    None => (now, left) = (now + MS, left - MS),
                }
            }
        })
    });
    Truth { cpu_ns: 4_000, ..truth }
}

/// Until when a server stands that stalls for `length` at the begin of each `period`.
pub(super) const fn each(period: u64, length: u64, now: u64) -> Option<u64> {
    let into = now % period;
    if into < length { Some(now - into + length) } else { None }
}

/// A lock for many readers or one writer, first come, first served: one request in ten writes for
/// 5 ms, the others read for 0.2 ms.
pub(super) fn write_lock() -> Truth {
    Truth::new(|| {
        let (mut written, mut read) = (0, 0);
        Box::new(move |request: Request| {
            let Request { nth, at, .. } = request;
            if drawn(nth) < 0.1 {
                written = at.max(written).max(read) + 5 * MS;
                return written;
            }
            let done = at.max(written) + MS / 5;
            read = read.max(done);
            done
        })
    })
}

/// Serves one connection alone for 4 ms, then the next of so many.
pub(super) fn in_turn(connections: u64) -> Truth {
    const TURN: u64 = 4 * MS;
    Truth::new(move || {
        Box::new(move |request: Request| {
            let (round, begin) = (TURN * connections, request.user * TURN);
            let into = (request.at + round - begin) % round;
            // Half a millisecond is left for it, or its next turn comes.
            let wait = if into + MS / 2 <= TURN { 0 } else { round - into };
            request.at + wait + MS / 5
        })
    })
}

/// A body that follows its head after 43 ms.
pub(super) fn late_bodies() -> Truth {
    struct Late;
    impl Server for Late {
        fn serve(&mut self, request: Request) -> Option<(u64, u64)> {
            let head = request.at + MS / 5;
            Some((head, head + 43 * MS))
        }
    }
    Truth::new(|| Box::new(Late))
}

/// Lets one request pass in each `gap`, and answers it at once.
pub(super) fn limiter(gap_ns: u64) -> Truth {
    Truth::new(move || {
        let mut next = 0;
        Box::new(move |request: Request| {
            next = request.at.max(next) + gap_ns;
            next
        })
    })
}

/// Some connections are slow: `slow` of every `of`.
pub(super) fn slow_connections(slow: u64, of: u64, slow_ns: u64, fast_ns: u64) -> Truth {
    Truth::new(move || {
        Box::new(move |request: Request| {
            request.at + if request.user % of < slow { slow_ns } else { fast_ns }
        })
    })
}

/// Workers, each for its own share of the connections, with slots and a service time.
pub(super) fn workers(all: &'static [(usize, u64)]) -> Truth {
    Truth::new(move || {
        let mut slots: Vec<Slots> = all.iter().map(|(count, _)| Slots::new(*count)).collect();
        Box::new(move |request: Request| {
            let own = request.user as usize % all.len();
            slots[own].serve(request.at, all[own].1)
        })
    })
}

/// Half of the requests change one row, and hold its lock for 10 ms.
pub(super) fn row_lock() -> Truth {
    Truth::new(|| {
        let mut row = Slots::new(1);
        Box::new(move |request: Request| {
            if drawn(request.nth) < 0.5 {
                row.serve(request.at, 10 * MS)
            } else {
                request.at + MS / 2
            }
        })
    })
}

/// An event loop whose every so many-th request blocks it for so long.
pub(super) fn blocking_loop(every: u64, blocks_ns: u64, cpu_ns: u64) -> Truth {
    Truth::new(move || {
        let mut one = Slots::new(1);
        Box::new(move |request: Request| {
            let blocks = request.nth % every == every - 1;
            one.serve(request.at, if blocks { blocks_ns } else { cpu_ns })
        })
    })
}

/// An event loop in which all requests wait for timers at the same time. Those of a millisecond end
/// together, and then it works on one after the other.
pub(super) fn coarse_timers(cpu_ns: u64, wait_ns: u64) -> Truth {
    let truth = Truth::new(move || {
        let mut ended = BTreeMap::<u64, u64>::new();
        Box::new(move |request: Request| {
            let ends = (request.at + wait_ns).next_multiple_of(MS);
            let with_it = ended.entry(ends).or_default();
            *with_it += 1;
            ends + *with_it * cpu_ns
        })
    });
    Truth { cpu_ns, ..truth }
}

/// All requests at the same time; those of a user take so long in turn.
pub(super) fn steps(all: &'static [u64]) -> Truth {
    Truth::new(move || {
        let mut next = vec![0_usize; 1_024];
        Box::new(move |request: Request| {
            let step = &mut next[request.user as usize];
            *step += 1;
            request.at + all[(*step - 1) % all.len()]
        })
    })
}

/// Answers only some.
pub(super) fn answers_only(
    who: impl Fn(Request) -> bool + Copy + 'static,
    service_ns: u64,
) -> Truth {
    struct Only<F>(F, u64);
    impl<F: Fn(Request) -> bool> Server for Only<F> {
        fn serve(&mut self, request: Request) -> Option<(u64, u64)> {
            let done = request.at + self.1;
            (self.0)(request).then_some((done, done))
        }
    }
    Truth::new(move || Box::new(Only(who, service_ns)))
}

/// A listing that takes longer with each request, as its table grows: twice as long after so many.
pub(super) fn growing(first_ns: u64, doubles_after: f64) -> Truth {
    Truth::new(move || {
        Box::new(move |request: Request| {
            let factor = (request.nth as f64 / doubles_after).exp2();
            let ripple = 0.7 + 0.6 * drawn(request.nth);
            request.at + (first_ns as f64 * factor * ripple) as u64
        })
    })
}

/// All but the first connections are dropped by a full listen queue and tried again after a second,
/// some after three.
pub(super) fn short_backlog(backlog: u64) -> Truth {
    Truth::new(move || {
        let mut known = vec![false; 1_024];
        Box::new(move |request: Request| {
            let is_first = !std::mem::replace(&mut known[request.user as usize], true);
            let wait = match request.user {
                user if user <= backlog || !is_first => 0,
                user if user % 3 == 0 => 3 * SECOND,
                _ => SECOND,
            };
            request.at + wait + MS
        })
    })
}
