//! What one step of a capacity search says about its rate.
use pippin_model::plan::objective::{Bound, Objective};
use pippin_model::plan::profile::{Profile, Schedule, Steps};
use pippin_model::result::LoadResult;
use pippin_model::text::units::format_ns;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};

use super::DECIDED;
use crate::capacity::objective::misses;
use crate::judge::host;
use crate::series::quantile::median;
use crate::series::steady::measured_windows;

/// The fraction of the offered rate below which right answers fall far short. No short stall can do that
/// at a rate which the target can keep.
const BY_FAR: f64 = 0.90;
/// Fewest windows that show whether the queue grows.
const FEWEST_WINDOWS: usize = 4;
/// The part of all pairs of windows that must be in the order of a growing queue, less the part in
/// the opposite order (Kendall's tau).
const GROWING: f64 = 0.8;

/// Caveats of a generator that sends everything, but late.
const LATE: [&str; 2] = ["send_lag", "near_ceiling"];

/// The longest rest between two steps.
const LONGEST_REST_NS: u64 = 10_000_000_000;

/// What a step showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// The objective held. The host and a late generator can only make that harder, so it counts on
    /// every host.
    Held,
    /// The objective was missed.
    Missed {
        /// The answers fell short of the rate by more than a tenth.
        by_far: bool,
        /// The hypervisor or other processes used the processors meanwhile.
        disturbed: bool,
    },
    /// The step is INVALID, for example because the generator did not send what was asked for. It
    /// says nothing about the rate.
    Invalid,
}

impl StepOutcome {
    /// The evidence: above 0 for a rate that is kept; `None` if the step is no evidence.
    #[must_use]
    pub const fn points(self) -> Option<i32> {
        match self {
            Self::Held => Some(DECIDED),
            Self::Missed { disturbed: false, .. } => Some(-DECIDED),
            Self::Missed { by_far: true, disturbed: true } => Some(-2),
            Self::Missed { by_far: false, disturbed: true } => Some(-1),
            Self::Invalid => None,
        }
    }

    /// The outcome of a judged step of a search. `None` if it is not such a step, was interrupted,
    /// or has no result.
    #[must_use]
    pub fn from_trial(record: &TrialRecord) -> Option<Self> {
        let (Some(tried), Some(load)) = (record.spec.step.and_then(Step::tried), &record.load)
        else {
            return None;
        };
        if load.interrupted || record.failure.is_some() {
            return None;
        }
        let holds = missed(record).is_empty();
        let is_evidence = if holds { is_only_late } else { is_refused };
        if record.verdict == Verdict::Invalid && !is_evidence(record) {
            return Some(Self::Invalid);
        }
        if holds {
            return Some(Self::Held);
        }
        // Devices have no rate of which their answers could fall short.
        let due_per_s = record.spec.profile.answers_per_s(tried).unwrap_or(0.0);
        Some(Self::Missed {
            by_far: load.measured.goodput_per_s().unwrap_or(0.0) < BY_FAR * due_per_s,
            disturbed: host::is_disturbed(&[record]),
        })
    }

    /// In words: `held`, `missed`, `missed (disturbed)`, `INVALID`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Missed { disturbed: false, .. } => "missed",
            Self::Missed { disturbed: true, .. } => "missed (disturbed)",
            Self::Invalid => "INVALID",
        }
    }
}

/// Whether the step is INVALID for nothing but a generator that was late. In an open loop, response
/// times begin when a request was due, and what is sent late comes in denser bursts: a step that
/// holds in spite of it would hold with a punctual generator. A device that sends late asks for less,
/// so of devices the lateness must be a smaller part of a device's time than the precision of the
/// search.
fn is_only_late(record: &TrialRecord) -> bool {
    let mut reasons =
        record.caveats.iter().filter(|caveat| caveat.severity == Severity::Invalid).peekable();
    reasons.peek().is_some()
        && reasons.all(|caveat| LATE.contains(&&*caveat.id))
        && asks_for_enough(record)
}

/// Whether the load asked for what it would have asked for with a punctual generator, within the
/// precision of the search.
fn asks_for_enough(record: &TrialRecord) -> bool {
    let Schedule::Devices { think, .. } = record.spec.profile.schedule else { return true };
    let (Steps::Search { precision, .. }, Some(load)) = (&record.spec.profile.steps, &record.load)
    else {
        return false;
    };
    let spans = &load.measured.spans;
    let late_ns = spans.own_lag.mean_ns();
    let between_ns = spans.response_time.mean_ns().map(|answer| answer + think.mean_ns as f64);
    late_ns.zip(between_ns).is_some_and(|(late, between)| late <= precision * between)
}

/// Whether more of the answers that came were wrong than the objective allows. No generator makes a
/// right answer wrong, so such a step missed even where it is INVALID for other reasons.
fn is_refused(record: &TrialRecord) -> bool {
    let (Profile { steps: Steps::Search { objective, .. }, .. }, Some(load)) =
        (&record.spec.profile, &record.load)
    else {
        return false;
    };
    let requests = load.measured.requests;
    let wrong = requests.completed.saturating_sub(requests.good) as f64;
    let limit = objective.0.iter().find_map(|bound| match bound {
        Bound::Errors { below } => Some(*below),
        Bound::ResponseTime { .. } => None,
    });
    limit.is_some_and(|below| wrong > 0.0 && wrong >= below * requests.completed as f64)
}

/// How long a target must rest after a step that it could not keep, in nanoseconds, because its
/// unanswered requests would delay the next step. This is the longest service time, at most 10 s; 0
/// after a step that held.
#[must_use]
pub fn rest_ns(record: &TrialRecord) -> u64 {
    let longest = record.load.as_ref().and_then(|load| load.measured.spans.service_time.max_ns());
    let is_missed = matches!(
        StepOutcome::from_trial(record),
        Some(StepOutcome::Missed { .. } | StepOutcome::Invalid)
    );
    longest.filter(|_| is_missed).map_or(0, |ns| ns.min(LONGEST_REST_NS))
}

/// What a step of a search missed: the limits of the objective, or a queue that grows. Empty if it
/// held.
#[must_use]
pub fn missed(record: &TrialRecord) -> Vec<String> {
    let (Profile { steps: Steps::Search { objective, precision }, .. }, Some(load)) =
        (&record.spec.profile, &record.load)
    else {
        return Vec::new();
    };
    missed_by(objective, *precision, load)
}

/// As [`missed`], for a load.
#[must_use]
pub fn missed_by(objective: &Objective, precision: f64, load: &LoadResult) -> Vec<String> {
    let mut missed = misses(objective, &load.measured);
    // At a rate that is too high by a fraction e, each second adds e seconds to the queue. A step
    // can be too short to reach the limit.
    missed.extend(queue_growth(load).filter(|growth| *growth > precision / 2.0).map(|growth| {
        format!(
            "the queue grew: each second added {} to the response time",
            format_ns((growth * 1e9) as u64)
        )
    }));
    missed
}

/// By how many seconds the mean response time grows in each second, if it grows throughout the
/// step: the median of the slopes between windows (Theil and Sen), if Kendall's tau is at least
/// 0.8. `None` with fewer than 4 windows.
fn queue_growth(load: &LoadResult) -> Option<f64> {
    let middle_s = |from_ns: i64, length_ns: u64| (from_ns as f64 + length_ns as f64 / 2.0) / 1e9;
    let means: Vec<(f64, f64)> = measured_windows(load)
        .filter_map(|window| {
            let at_s = middle_s(window.from_ns, window.duration_ns);
            Some((at_s, window.response_mean_ns? / 1e9))
        })
        .collect();
    if means.len() < FEWEST_WINDOWS {
        return None;
    }
    let pairs = means
        .iter()
        .enumerate()
        .flat_map(|(i, earlier)| means[i + 1..].iter().map(move |later| (earlier, later)));
    let slopes: Vec<f64> = pairs.map(|(a, b)| (b.1 - a.1) / (b.0 - a.0)).collect();
    let tau = slopes.iter().map(|slope| slope.signum()).sum::<f64>() / slopes.len() as f64;
    median(&slopes).filter(|slope| tau >= GROWING && *slope > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::{ErrorKind, Measured};
    use pippin_model::text::units::Spread;
    use pippin_model::verdict::Caveat;

    fn step() -> TrialRecord {
        // p99 < 50 ms at 1,000/s; the answers take 1 ms.
        ExampleTrial::search_step(1_000.0).build()
    }

    #[test]
    fn a_step_holds_misses_or_says_nothing() {
        assert_eq!(
            (StepOutcome::from_trial(&step()), rest_ns(&step())),
            (Some(StepOutcome::Held), 0)
        );
        let slow = ExampleTrial::search_step(1_000.0).response_ms(60.0).build();
        let calm = StepOutcome::Missed { by_far: false, disturbed: false };
        assert_eq!(StepOutcome::from_trial(&slow), Some(calm));
        assert!((70_000_000..75_000_000).contains(&rest_ns(&slow)), "its longest took 72 ms");
        let behind = ExampleTrial::search_step(1_000.0).censored(20_000).build();
        assert_eq!(
            StepOutcome::from_trial(&behind),
            Some(StepOutcome::Missed { by_far: true, disturbed: false })
        );
        let mut invalid = step();
        invalid.verdict = Verdict::Invalid;
        assert_eq!(StepOutcome::from_trial(&invalid), Some(StepOutcome::Invalid));
        // A busy generator does not make right answers wrong.
        let mut refused =
            ExampleTrial::search_step(1_000.0).error(ErrorKind::WrongStatus, 28_200).build();
        refused.verdict = Verdict::Invalid;
        let by_far = StepOutcome::Missed { by_far: true, disturbed: false };
        assert_eq!(StepOutcome::from_trial(&refused), Some(by_far));
        let mut silent = step();
        silent.load.as_mut().unwrap().measured = Measured::default();
        assert!(matches!(
            StepOutcome::from_trial(&silent),
            Some(StepOutcome::Missed { by_far: true, .. })
        ));
        assert_eq!(StepOutcome::from_trial(&ExampleTrial::hello().build()), None);
    }

    /// A caveat of this name that makes a step INVALID.
    fn invalid(id: &str) -> Caveat {
        Caveat {
            id: id.into(),
            severity: Severity::Invalid,
            evidence: "seen".into(),
            advice: "mend".into(),
        }
    }

    #[test]
    fn a_late_generator_hides_no_rate_that_holds_and_proves_no_miss() {
        let of = |record: ExampleTrial, caveats: &[&str]| {
            let caveats = caveats.iter().map(|id| invalid(id)).collect();
            let mut record = record.caveats(caveats).build();
            record.verdict = Verdict::Invalid;
            StepOutcome::from_trial(&record).unwrap()
        };
        let holds = || ExampleTrial::search_step(1_000.0);
        assert_eq!(of(holds(), &["send_lag"]), StepOutcome::Held);
        assert_eq!(of(holds(), &["send_lag", "near_ceiling"]), StepOutcome::Held);
        for other in ["wrong_answers", "rate_not_achieved", "littles_law"] {
            assert_eq!(of(holds(), &["send_lag", other]), StepOutcome::Invalid, "{other}");
        }
        let misses = ExampleTrial::search_step(1_000.0).response_ms(60.0);
        assert_eq!(of(misses, &["send_lag"]), StepOutcome::Invalid);
        // Devices that are 3 ms late ask for less: by 0.3 % if they think for 1 s, by 43 % for 3 ms.
        let of_devices = |think_ms: u64| {
            let late = holds().own_lag_ms(3.0).caveats(vec![invalid("send_lag")]);
            let mut record = late.build();
            let think = Spread { mean_ns: think_ms * 1_000_000, jitter: 0.0 };
            let objective = Objective::parse("p99 < 50ms").unwrap();
            record.spec.profile =
                Profile::devices(10, 5, think, [1; 3]).most_devices(objective, 0.02);
            record.verdict = Verdict::Invalid;
            StepOutcome::from_trial(&record).unwrap()
        };
        assert_eq!([1_000, 3].map(of_devices), [StepOutcome::Held, StepOutcome::Invalid]);
    }

    #[test]
    fn a_disturbed_host_is_known_by_its_counters() {
        let mut record = ExampleTrial::search_step(1_000.0).response_ms(60.0).build();
        record.usage.as_mut().unwrap().steal_cores = Some(0.2);
        assert_eq!(
            StepOutcome::from_trial(&record),
            Some(StepOutcome::Missed { by_far: false, disturbed: true })
        );
        let mut held = step();
        held.usage.as_mut().unwrap().other_cores = Some(0.2);
        assert_eq!(StepOutcome::from_trial(&held), Some(StepOutcome::Held));
    }

    #[test]
    fn a_queue_that_grows_is_a_miss_before_it_reaches_the_bound() {
        let with = |mean_ms: &dyn Fn(f64) -> f64| {
            let mut record = step();
            let load = record.load.as_mut().unwrap();
            load.windows.truncate(5);
            for (second, window) in load.windows.iter_mut().enumerate() {
                window.response_mean_ns = Some(mean_ms(second as f64) * 1e6);
            }
            missed(&record)
        };
        // 1,050/s at a capacity of 1,000/s: 50 ms more each second.
        assert_eq!(
            with(&|second| 1.0 + 50.0 * second),
            ["the queue grew: each second added 50.0 ms to the response time"]
        );
        assert!(with(&|second| 1.0 + second).is_empty(), "within the precision");
        assert!(
            with(&|second| [1.0, 80.0, 40.0, 10.0, 1.0][second as usize]).is_empty(),
            "a stall"
        );
    }
}
