//! How long a slice is, how many rounds there are, and what is left out before each slice.
use pippin_model::load::{LoadSpec, StopRule, WarmUp};
use pippin_model::plan::Plan;
use pippin_model::result::LoadResult;
use pippin_model::text::units::Spread;
use pippin_stats::series::silence::joined;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The length of a slice where nothing asks for a longer one. The speed of a shared machine changes
/// within a second: the shorter a round, the more of it is the same for all targets
/// (docs/decisions/slices.md).
pub const SHORT_NS: u64 = 100_000_000;
/// A slice has at least this many answers of the slowest target, for its 99th percentile, unless
/// that takes longer than [`LONG_NS`].
const ANSWERS_WITHIN: f64 = 1_000.0;
/// The greatest length for the sake of few answers or of silences, and the length where nothing is known.
pub const LONG_NS: u64 = 400_000_000;
/// A slice lasts at least this many times as long as an answer takes. Answers that are under way at
/// its end are in no histogram, and long ones are under way more often.
pub const ANSWERS: u64 = 10;
/// A slice lasts at least this many times as long as the longest silence at the end of the warm-up, up to
/// [`LONG_NS`]: of a stall that a slice does not hold as a whole, nobody sees the length.
const SILENCES: u64 = 3;
/// The end of a warm-up in which silences are looked for.
const SILENCES_WITHIN_NS: i64 = 2_000_000_000;
/// Left out before each slice: connections open and queues settle.
pub const LEAD_NS: u64 = 50_000_000;
/// The shortest warm-up that goes on: a compiler must rest for five seconds.
const LEAST_WARM_ON_NS: u64 = 6_000_000_000;
/// The measured part of a warm-up. Nobody uses it.
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
    /// What the plan says; else as long as the targets need ([`needed_ns`], the longest), and ten
    /// times as long as the workload's own wait. At most the plan's duration, into which the rounds
    /// fit with what is left out before each slice.
    #[must_use]
    pub fn from_plan(plan: &Plan, delay: Option<Spread>, needed_ns: Option<u64>) -> Self {
        let duration_ns = plan.profile.stop.duration_ns.unwrap_or(LONG_NS).max(1);
        let delay_ns = delay.map_or(0, |delay| delay.mean_ns);
        let usual_ns = needed_ns.unwrap_or(LONG_NS).max(ANSWERS * delay_ns);
        let slice_ns = plan.slice_ns.unwrap_or(usual_ns).min(duration_ns);
        let rounds = duration_ns / (slice_ns + LEAD_NS);
        Self { slice_ns, rounds: rounds.clamp(1, 1 << 20) as u32, delay_ns }
    }

    /// These slices, in so many times the rounds.
    #[must_use]
    pub fn with_rounds(self, times: f64) -> Self {
        Self { rounds: (f64::from(self.rounds) * times).round().max(1.0) as u32, ..self }
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
            schedule: of.schedule.flat(0, lead_ns + self.slice_ns),
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
        WarmUp::None => WarmUp::Fixed { duration_ns: LONG_NS },
        other => other,
    };
    let ramp_ns = of.schedule.ramp_ns();
    let flat_ns = REST_NS + if ramp_ns > 0 { 0 } else { LONG_NS };
    let schedule = of.schedule.flat(ramp_ns, flat_ns);
    LoadSpec { schedule, warm_up, stop: StopRule::after(REST_NS), ..of.clone() }
}

/// The warm-up of a target that goes on, after it has warmed up for so long, in nanoseconds. `None` if
/// its length was asked for, or the limit leaves too little to tell whether it is warm.
#[must_use]
pub fn warm_on(of: &LoadSpec, warmed_ns: u64) -> Option<LoadSpec> {
    let WarmUp::Auto { at_most_ns } = of.warm_up else { return None };
    let left_ns = at_most_ns.saturating_sub(warmed_ns);
    (left_ns >= LEAST_WARM_ON_NS)
        .then(|| warm_up(&LoadSpec { warm_up: WarmUp::Auto { at_most_ns: left_ns }, ..of.clone() }))
}

/// How long a slice of a target must last by what the end of its warm-up was like, nanoseconds: it
/// holds a thousand answers and three times the longest silence, or lasts 0.4 s, and lasts ten times
/// as long as nine of ten answers take. `None` if it is unknown.
#[must_use]
pub fn needed_ns(warm_up: &LoadResult) -> Option<u64> {
    let mut long = warm_up.windows.iter().filter(|window| window.duration_ns > REST_NS);
    let last = long.rfind(|window| window.response_p90_ns.is_some())?;
    let per_s = last.completed as f64 / (last.duration_ns as f64 / 1e9);
    let within_ns =
        (ANSWERS_WITHIN / per_s * 1e9).max((SILENCES * longest_silence_ns(warm_up)) as f64);
    let within_ns = within_ns.min(LONG_NS as f64) as u64;
    Some(within_ns.max(SHORT_NS).max(ANSWERS * last.response_p90_ns?))
}

/// The longest silence in the last two seconds of the warm-up, nanoseconds: a runtime that starts is silent
/// for other reasons, and so is every server before its first answer. One that goes on in the next window
/// is one.
fn longest_silence_ns(warm_up: &LoadResult) -> u64 {
    let Some((first, last)) = warm_up.windows.first().zip(warm_up.windows.last()) else { return 0 };
    let late_ns = last.from_ns + last.duration_ns as i64 - SILENCES_WITHIN_NS;
    let counts = |(from_ns, to_ns): &(i64, i64)| *from_ns > first.from_ns && *to_ns > late_ns;
    let late = joined(&warm_up.windows).into_iter().filter(counts);
    late.map(|(from_ns, to_ns)| from_ns.abs_diff(to_ns)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example;
    use pippin_model::plan::profile::{Arrivals, Profile, Schedule};
    use pippin_model::result::{Silence, Window};

    const MS: u64 = 1_000_000;

    fn plan(duration_ms: u64, slice_ms: Option<u64>) -> Plan {
        let profile = Profile::closed(10, StopRule::after(duration_ms * MS));
        Plan { profile, slice_ns: slice_ms.map(|ms| ms * MS), ..example::run::hello().header.plan }
    }

    fn lengths(duration_ms: u64, slice_ms: Option<u64>, needed_ms: Option<u64>) -> (u64, u32) {
        let Lengths { slice_ns, rounds, .. } =
            Lengths::from_plan(&plan(duration_ms, slice_ms), None, needed_ms.map(|ms| ms * MS));
        (slice_ns / MS, rounds)
    }

    #[test]
    fn a_warm_up_goes_on_within_its_limit_unless_its_length_was_asked_for() {
        let of = |warm_up| LoadSpec { warm_up, ..base() };
        let left = |warm_up, warmed_ms: u64| {
            warm_on(&of(warm_up), warmed_ms * MS).map(|load| load.warm_up)
        };
        let left_of_limit = WarmUp::Auto { at_most_ns: 48_000 * MS };
        assert_eq!(left(WarmUp::AUTO, 12_000), Some(left_of_limit));
        assert_eq!(left(WarmUp::AUTO, 55_000), None, "five seconds show nothing");
        assert_eq!(left(WarmUp::AUTO, 90_000), None);
        assert_eq!(left(WarmUp::Fixed { duration_ns: 60_000 * MS }, 12_000), None);
        assert_eq!(left(WarmUp::None, 0), None);
    }

    #[test]
    fn a_run_may_choose_more_rounds_of_the_same_slices() {
        let planned = Lengths { slice_ns: 400 * MS, rounds: 3, delay_ns: 100 * MS };
        assert_eq!(planned.with_rounds(1.0), planned);
        assert_eq!(planned.with_rounds(1.5), Lengths { rounds: 5, ..planned });
        assert_eq!(planned.with_rounds(10.0).rounds, 30);
    }

    #[test]
    fn rounds_fit_into_the_duration_with_what_is_left_out() {
        assert_eq!(lengths(30_000, None, Some(100)), (100, 200));
        assert_eq!(lengths(3_000, None, Some(100)), (100, 20));
        assert_eq!(lengths(3_000, None, None), (400, 6), "nothing is known");
        assert_eq!(lengths(300, None, None), (300, 1));
        assert_eq!(lengths(30_000, Some(1_000), Some(5_000)), (1_000, 28));
        assert_eq!(lengths(30_000, None, Some(200_000)), (30_000, 1));
        let waiting =
            Lengths::from_plan(&plan(30_000, None), Some(Spread::exactly(500 * MS)), None);
        assert_eq!((waiting.slice_ns, waiting.rounds), (5_000 * MS, 5));
    }

    #[test]
    fn few_and_slow_answers_make_long_slices() {
        let needed_ms = |completed: u64, p90_ms: u64| {
            let mut load = load();
            let window = Window {
                duration_ns: 500 * MS,
                completed,
                response_p90_ns: Some(p90_ms * MS),
                ..Window::default()
            };
            // What nobody reads comes last.
            load.windows = vec![window.clone(), Window { duration_ns: REST_NS, ..window }];
            needed_ns(&load).map(|ns| ns / MS)
        };
        assert_eq!(needed_ms(50_000, 1), Some(100));
        assert_eq!(needed_ms(2_500, 1), Some(200), "a thousand answers");
        assert_eq!(needed_ms(100, 1), Some(400), "but no longer than 0.4 s");
        assert_eq!(needed_ms(50_000, 200), Some(2_000));
        let nothing = LoadResult { windows: Vec::new(), ..load() };
        assert_eq!(needed_ns(&nothing), None);
    }

    #[test]
    fn a_slice_holds_the_stalls_of_a_warm_target() {
        // Windows of 500 ms with a silence each: its begin and its length in ms.
        let needed_ms = |silences_ms: &[(u64, u64)]| {
            let mut load = load();
            let window = |(nth, (from_ms, silent_ms)): (i64, &(u64, u64))| Window {
                from_ns: (nth - 9) * 500 * MS as i64,
                duration_ns: 500 * MS,
                completed: 50_000,
                response_p90_ns: Some(MS),
                silences: vec![Silence { from_ns: from_ms * MS, length_ns: silent_ms * MS }],
                ..Window::default()
            };
            load.windows = (0..).zip(silences_ms).map(window).collect();
            needed_ns(&load).map(|ns| ns / MS)
        };
        assert_eq!(needed_ms(&[(90, 100), (0, 20)]), Some(300));
        assert_eq!(needed_ms(&[(450, 50), (0, 50)]), Some(300), "one over two windows");
        assert_eq!(needed_ms(&[(90, 20), (10, 200)]), Some(400), "but no longer than 0.4 s");
        assert_eq!(needed_ms(&[(90, 20), (0, 30)]), Some(100));
        assert_eq!(needed_ms(&[(0, 500), (0, 100)]), Some(100), "before the first answer");
        let quiet = [(90, 20); 4];
        assert_eq!(needed_ms(&[&[(90, 100)], &quiet[..]].concat()), Some(100), "while it started");
    }

    fn load() -> LoadResult {
        example::ExampleTrial::hello().build().load.unwrap()
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
        let of = crate::load::from_profile(&open, None, base());
        let warm = warm_up(&of);
        assert_eq!((warm.schedule.ramp_ns(), warm.warm_up.at_most_ns()), (2_000 * MS, 2_000 * MS));
        let slice = Lengths { slice_ns: 400 * MS, rounds: 3, delay_ns: 0 }.load(&of, 0);
        assert_eq!(
            slice.schedule,
            Schedule::open(1_000.0, Arrivals::Poisson, 0, 400 * MS + LEAD_NS)
        );
        let level = crate::load::from_profile(
            &Profile::open(1_000.0, Arrivals::Constant, 8, 0, 10_000 * MS),
            None,
            base(),
        );
        assert_eq!(warm_up(&level).warm_up, WarmUp::Fixed { duration_ns: LONG_NS });
    }
}
