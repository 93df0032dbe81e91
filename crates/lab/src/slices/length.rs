//! How long a slice is, how many rounds there are, and what is left out before each slice.
use pippin_model::load_result::LoadResult;
use pippin_model::load_spec::{LoadSpec, Schedule, StopRule, WarmUp};
use pippin_model::plan::Plan;
use pippin_model::units::Spread;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The length of a slice where nothing asks for a longer one.
pub const USUAL_NS: u64 = 400_000_000;
/// A slice lasts at least so many times as long as answers take: those that are under way at its
/// end are in no histogram, and long ones are under way more often.
pub const ANSWERS: u64 = 10;
/// Left out before each slice, so that connections are open and queues are as they stay.
pub const LEAD_NS: u64 = 50_000_000;
/// The measured part of a warm-up, which nobody reads.
const REST_NS: u64 = 20_000_000;

/// The slices of one repetition at one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The measured part of a slice, nanoseconds.
    pub slice_ns: u64,
    /// Rounds that are planned.
    pub rounds: u32,
    /// The wait that every answer of the workload contains, nanoseconds.
    pub delay_ns: u64,
}

impl Lengths {
    /// What the plan says; else 0.4 s, or ten times as long as answers take: nine of ten in the
    /// warm-up of the slowest target, or the workload's own wait. At most the plan's duration, into
    /// which the rounds fit.
    #[must_use]
    pub fn of(plan: &Plan, delay: Option<Spread>, answers_ns: Option<u64>) -> Self {
        let duration_ns = plan.profile.stop.duration_ns.unwrap_or(USUAL_NS).max(1);
        let delay_ns = delay.map_or(0, |delay| delay.mean_ns);
        let longest_ns = delay_ns.max(answers_ns.unwrap_or(0));
        let usual_ns = USUAL_NS.max(ANSWERS * longest_ns);
        let slice_ns = plan.slice_ns.unwrap_or(usual_ns).min(duration_ns);
        Self { slice_ns, rounds: (duration_ns / slice_ns).clamp(1, 1 << 20) as u32, delay_ns }
    }

    /// One slice with what is left out before it, nanoseconds.
    #[must_use]
    pub const fn whole_ns(&self) -> u64 {
        self.slice_ns + LEAD_NS + 2 * self.delay_ns
    }

    /// The load of one slice. Arrivals and instants are the same for all targets of a round, and
    /// others in each round.
    ///
    /// Answers that wait for the same time come in bursts. So where the workload contains a wait,
    /// a random part of it is left out too: else every slice would hold the same number of bursts.
    #[must_use]
    pub fn load(&self, of: &LoadSpec, round: u32) -> LoadSpec {
        let seed = of.seed.wrapping_add(u64::from(round + 1) << 32);
        let drawn = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        let unit = drawn as f64 / u64::MAX as f64;
        let lead_ns = LEAD_NS + (self.delay_ns as f64 * (1.0 + unit)) as u64;
        LoadSpec {
            schedule: flat(&of.schedule, lead_ns + self.slice_ns),
            stop: StopRule::after(self.slice_ns),
            warm_up: WarmUp::Fixed { duration_ns: lead_ns },
            seed,
            ..of.clone()
        }
    }
}

/// The load that warms a target up before its slices: the profile's own warm-up. An open loop
/// without a ramp has none; it takes as long as a slice.
#[must_use]
pub fn warm_up(of: &LoadSpec) -> LoadSpec {
    let warm_up = match of.warm_up {
        WarmUp::None => WarmUp::Fixed { duration_ns: USUAL_NS },
        other => other,
    };
    let schedule = match &of.schedule {
        Schedule::Open { arrivals, .. } => {
            let (rate, ramp_ns) = (of.schedule.rate_per_s().unwrap_or(1.0), of.schedule.ramp_ns());
            let flat_ns = REST_NS + if ramp_ns > 0 { 0 } else { USUAL_NS };
            Schedule::open(rate, *arrivals, ramp_ns, flat_ns)
        }
        other => other.clone(),
    };
    LoadSpec { schedule, warm_up, stop: StopRule::after(REST_NS), ..of.clone() }
}

/// An open schedule at its last rate alone; any other as it is.
fn flat(schedule: &Schedule, duration_ns: u64) -> Schedule {
    match schedule {
        Schedule::Open { arrivals, .. } => {
            Schedule::open(schedule.rate_per_s().unwrap_or(1.0), *arrivals, 0, duration_ns)
        }
        other => other.clone(),
    }
}

/// How long nine of ten answers took at the end of a warm-up, nanoseconds; `None` if it is unknown.
#[must_use]
pub fn answers_ns(warm_up: &LoadResult) -> Option<u64> {
    let long = warm_up.windows.iter().filter(|window| window.duration_ns > REST_NS);
    long.rev().find_map(|window| window.response_p90_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example;
    use pippin_model::profile::{Arrivals, Profile};

    const MS: u64 = 1_000_000;

    fn plan(duration_ms: u64, slice_ms: Option<u64>) -> Plan {
        let profile = Profile::closed(10, StopRule::after(duration_ms * MS));
        Plan { profile, slice_ns: slice_ms.map(|ms| ms * MS), ..example::run::hello().header.plan }
    }

    fn lengths(duration_ms: u64, slice_ms: Option<u64>, answers_ms: u64) -> (u64, u32) {
        let Lengths { slice_ns, rounds, .. } =
            Lengths::of(&plan(duration_ms, slice_ms), None, Some(answers_ms * MS));
        (slice_ns / MS, rounds)
    }

    #[test]
    fn rounds_fit_into_the_duration() {
        assert_eq!(lengths(30_000, None, 1), (400, 75));
        assert_eq!(lengths(3_000, None, 1), (400, 7));
        assert_eq!(lengths(300, None, 1), (300, 1));
        assert_eq!(lengths(30_000, Some(1_000), 500), (1_000, 30));
    }

    #[test]
    fn slow_answers_make_long_slices() {
        assert_eq!(lengths(30_000, None, 200), (2_000, 15));
        assert_eq!(lengths(30_000, None, 20_000), (30_000, 1));
        let waiting = Lengths::of(&plan(30_000, None), Some(Spread::exactly(500 * MS)), None);
        assert_eq!((waiting.slice_ns, waiting.rounds), (5_000 * MS, 6));
    }

    fn base() -> LoadSpec {
        crate::load::base(([127, 0, 0, 1], 1).into(), vec![0], 7)
    }

    #[test]
    fn the_targets_of_a_round_get_the_same_slice_and_rounds_get_others() {
        let lengths = Lengths { slice_ns: 400 * MS, rounds: 3, delay_ns: 100 * MS };
        assert_eq!(lengths.load(&base(), 1), lengths.load(&base(), 1));
        let leads: std::collections::BTreeSet<u64> =
            (0..9).map(|round| lengths.load(&base(), round).warm_up.at_most_ns()).collect();
        assert!(leads.len() > 5, "{leads:?}");
        assert!(leads.iter().all(|ns| (150 * MS..=250 * MS).contains(ns)), "{leads:?}");
    }

    #[test]
    fn the_ramp_of_an_open_loop_is_in_its_warm_up_alone() {
        let open = Profile::open(1_000.0, Arrivals::Poisson, 8, 2_000 * MS, 10_000 * MS);
        let of = crate::load::of(&open, None, base());
        let warm = warm_up(&of);
        assert_eq!((warm.schedule.ramp_ns(), warm.warm_up.at_most_ns()), (2_000 * MS, 2_000 * MS));
        let slice = Lengths { slice_ns: 400 * MS, rounds: 3, delay_ns: 0 }.load(&of, 0);
        assert_eq!(
            slice.schedule,
            Schedule::open(1_000.0, Arrivals::Poisson, 0, 400 * MS + LEAD_NS)
        );
        let level = crate::load::of(
            &Profile::open(1_000.0, Arrivals::Constant, 8, 0, 10_000 * MS),
            None,
            base(),
        );
        assert_eq!(warm_up(&level).warm_up, WarmUp::Fixed { duration_ns: USUAL_NS });
    }
}
