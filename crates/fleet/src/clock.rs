//! An agent's clock compared with the coordinator's: NTP's four time stamps over NATS.
use pippin_model::trial::agent::AgentClock;
use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock of a member of a fleet: CLOCK_MONOTONIC, unless a test makes it wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    offset_ns: i64,
    /// Additional speed in millionths, from `from_ns` on.
    drift_ppm: f64,
    from_ns: u64,
}

/// `OFFSET_NS,DRIFT_PPM`: makes this process's clock wrong, to test fleets on one machine.
const WRONG_CLOCK: &str = "PIPPIN_WRONG_CLOCK";

impl Clock {
    /// This process's clock.
    #[must_use]
    pub fn of_this_process() -> Self {
        let text = std::env::var(WRONG_CLOCK).unwrap_or_default();
        let wrong = text.split_once(',').and_then(|(offset, drift)| {
            Some((offset.trim().parse().ok()?, drift.trim().parse().ok()?))
        });
        let (offset_ns, drift_ppm) = wrong.unwrap_or((0, 0.0));
        Self { offset_ns, drift_ppm, from_ns: pippin_probe::clock::monotonic_ns() }
    }

    /// Now, nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.of_kernel(pippin_probe::clock::monotonic_ns())
    }

    /// The reading of this clock at an instant of CLOCK_MONOTONIC.
    #[must_use]
    pub fn of_kernel(&self, kernel_ns: u64) -> u64 {
        let drifted = (kernel_ns as f64 - self.from_ns as f64) * self.drift_ppm / 1e6;
        kernel_ns.saturating_add_signed(self.offset_ns + drifted as i64)
    }

    /// The instant of CLOCK_MONOTONIC at which this clock reads `ns`.
    #[must_use]
    pub fn to_kernel(&self, ns: u64) -> u64 {
        let undrifted = ns.saturating_add_signed(-self.offset_ns);
        let since = (undrifted as f64 - self.from_ns as f64) / (1.0 + self.drift_ppm / 1e6);
        if self.drift_ppm == 0.0 {
            undrifted
        } else {
            self.from_ns.saturating_add_signed(since as i64)
        }
    }

    /// Time of day, nanoseconds since 1970.
    #[must_use]
    pub fn unix_ns(&self) -> u64 {
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        now.saturating_add_signed(self.offset_ns)
    }
}

/// A beat and its echo.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// When the beat was sent: the coordinator's clock.
    pub sent_ns: u64,
    /// When it arrived: the agent's clock.
    pub received_ns: u64,
    /// When the echo was sent: the agent's clock.
    pub answered_ns: u64,
    /// When it arrived: the coordinator's clock.
    pub back_ns: u64,
    /// Time of day minus clock, of the agent and of the coordinator, nanoseconds.
    pub unix_minus_clock_ns: (i64, i64),
}

/// One estimate of an offset.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// The instant on the coordinator's clock.
    at_ns: u64,
    /// The agent's clock minus the coordinator's.
    offset_ns: i64,
    round_trip_ns: u64,
}

impl Exchange {
    /// RFC 5905, section 8: the offset is known to within half of the round trip.
    const fn estimate(&self) -> Estimate {
        // The numbers are another machine's: nonsense stays nonsense and ends nothing.
        let there = self.received_ns.wrapping_sub(self.sent_ns) as i64;
        let back = self.answered_ns.wrapping_sub(self.back_ns) as i64;
        let away = self.back_ns.saturating_sub(self.sent_ns);
        let inside = self.answered_ns.saturating_sub(self.received_ns);
        Estimate {
            at_ns: self.back_ns,
            offset_ns: there.midpoint(back),
            round_trip_ns: away.saturating_sub(inside),
        }
    }
}

/// The offset of an agent's clock, from the exchanges of the last minutes.
#[derive(Debug, Default)]
pub struct Offset {
    estimates: VecDeque<Estimate>,
    unix_minus_clock_ns: (i64, i64),
    is_shared: bool,
}

/// The number of exchanges that are kept: five minutes at two a second.
const KEPT: usize = 600;
/// The offset is that of the shortest round trip among this many latest ones.
const LATEST: usize = 40;
/// The shortest time over which drift is reported.
const SHORTEST_NS: u64 = 4_000_000_000;

impl Offset {
    /// Starts without exchanges. `is_same_machine`: both read the same kernel clock, so the offset
    /// is 0 unless the exchanges say otherwise (a time namespace).
    #[must_use]
    pub fn new(is_same_machine: bool) -> Self {
        Self { is_shared: is_same_machine, ..Self::default() }
    }

    /// Adds an exchange.
    pub fn take(&mut self, exchange: &Exchange) {
        let estimate = exchange.estimate();
        if estimate.offset_ns.unsigned_abs() > estimate.round_trip_ns / 2 + 1_000 {
            self.is_shared = false;
        }
        self.unix_minus_clock_ns = exchange.unix_minus_clock_ns;
        self.estimates.push_back(estimate);
        if self.estimates.len() > KEPT {
            self.estimates.pop_front();
        }
    }

    /// The number of exchanges.
    #[must_use]
    pub fn exchanges(&self) -> usize {
        self.estimates.len()
    }

    /// The agent's clock minus the coordinator's at an instant of the latter, nanoseconds.
    #[must_use]
    pub fn at(&self, coordinator_ns: u64) -> Option<i64> {
        let best = self.best()?;
        if self.is_shared {
            return Some(0);
        }
        let since = coordinator_ns as f64 - best.at_ns as f64;
        let drift = self.drift().filter(|(ppm, error)| ppm.abs() > *error);
        Some(best.offset_ns.saturating_add(drift.map_or(0, |(ppm, _)| (since * ppm / 1e6) as i64)))
    }

    /// The clock as results show it.
    #[must_use]
    pub fn told(&self) -> Option<AgentClock> {
        let best = self.best()?;
        let (agent, coordinator) = self.unix_minus_clock_ns;
        if self.is_shared {
            return Some(AgentClock {
                offset_ns: 0,
                error_ns: 0,
                drift_ppm: None,
                drift_error_ppm: None,
            });
        }
        let drift = self.drift();
        Some(AgentClock {
            offset_ns: best.offset_ns.saturating_add(agent.wrapping_sub(coordinator)),
            error_ns: best.round_trip_ns / 2,
            drift_ppm: drift.map(|(ppm, _)| ppm),
            drift_error_ppm: drift.map(|(_, error)| error),
        })
    }

    fn best(&self) -> Option<Estimate> {
        self.estimates.iter().rev().take(LATEST).min_by_key(|one| one.round_trip_ns).copied()
    }

    /// How much faster the agent's clock runs, in millionths, and the error of that. It compares
    /// the best exchange of the oldest third with that of the newest third.
    fn drift(&self) -> Option<(f64, f64)> {
        let third = self.estimates.len() / 3;
        let best = |from: usize| {
            self.estimates.iter().skip(from).take(third).min_by_key(|one| one.round_trip_ns)
        };
        let (old, new) = (best(0)?, best(self.estimates.len() - third)?);
        let span = new.at_ns.checked_sub(old.at_ns).filter(|span| *span >= SHORTEST_NS)? as f64;
        let error = old.round_trip_ns.saturating_add(new.round_trip_ns) as f64 / 2.0;
        Some((new.offset_ns.saturating_sub(old.offset_ns) as f64 / span * 1e6, error / span * 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An exchange with an agent whose clock reads `offset` more at 0 and runs faster by `ppm`. The
    /// ways there and back take `there` and `back`.
    fn exchange(at: u64, offset: i64, ppm: f64, there: u64, back: u64) -> Exchange {
        let agent = |ns: u64| ns.saturating_add_signed(offset + (ns as f64 * ppm / 1e6) as i64);
        Exchange {
            sent_ns: at,
            received_ns: agent(at + there),
            answered_ns: agent(at + there + 20_000),
            back_ns: at + there + 20_000 + back,
            unix_minus_clock_ns: (0, 0),
        }
    }

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_error(
            offset in -10_000_000_000_i64..10_000_000_000,
            trips in proptest::collection::vec((1_000_u64..50_000_000, 1_000_u64..50_000_000), 1..40),
        ) {
            let mut known = Offset::new(false);
            for (nth, (there, back)) in (20..).zip(&trips) {
                known.take(&exchange(nth * 1_000_000_000, offset, 0.0, *there, *back));
            }
            let told = known.told().unwrap();
            prop_assert!((told.offset_ns - offset).unsigned_abs() <= told.error_ns + 1);
            let shortest = trips.iter().map(|(there, back)| there + back).min().unwrap();
            prop_assert_eq!(told.error_ns, shortest / 2);
        }
    }

    #[test]
    fn a_drifting_clock_is_told_with_its_error_and_foreseen() {
        let mut known = Offset::new(false);
        for nth in 0..60_u64 {
            let wait = 100_000 + nth % 7 * 300_000;
            known.take(&exchange(
                20_000_000_000 + nth * 500_000_000,
                3_000_000_000,
                800.0,
                wait,
                100_000,
            ));
        }
        let told = known.told().unwrap();
        let (drift, error) = (told.drift_ppm.unwrap(), told.drift_error_ppm.unwrap());
        assert!((drift - 800.0).abs() <= error && error < 20.0, "{drift} +-{error}");
        // After ten more seconds.
        let at = 60_000_000_000;
        let truth = 3_000_000_000 + 60_000_000_000 * 800 / 1_000_000;
        let seen = known.at(at).unwrap();
        assert!((seen - truth).unsigned_abs() < 500_000, "{seen} {truth}");
    }

    #[test]
    fn one_machine_has_one_clock_unless_it_has_two() {
        let mut known = Offset::new(true);
        known.take(&exchange(10_000_000_000, 0, 0.0, 300_000, 100_000));
        assert_eq!((known.at(0), known.told().unwrap().error_ns), (Some(0), 0));
        known.take(&exchange(11_000_000_000, 3_000_000_000, 0.0, 100_000, 100_000));
        assert_eq!(known.at(11_000_000_000), Some(3_000_000_000));
    }

    #[test]
    fn a_wrong_clock_reads_back_right() {
        let clock = Clock { offset_ns: -3_000_000_000, drift_ppm: 400.0, from_ns: 50_000_000_000 };
        for kernel in [50_000_000_000_u64, 90_000_000_123] {
            assert!(clock.to_kernel(clock.of_kernel(kernel)).abs_diff(kernel) < 100);
        }
        assert_eq!(clock.of_kernel(60_000_000_000), 57_004_000_000);
    }
}
