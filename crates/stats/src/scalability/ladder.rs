//! Several rates in turn, as the rungs of a ladder: how much of each a target answered, with which
//! it kept up, and what it used at no load.
use pippin_model::text::units::format_count;
use pippin_model::trial::{Step, TrialRecord};
use pippin_model::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::judge::evidence::percent;
use crate::judge::host;
use crate::scalability::rate_knee::{Offered, RateKnee, rate_knee};
use crate::scalability::sweep::{right_per_s, standard_error};
use crate::series::quantile::median;

/// A target keeps up with a rate if it answers at least this part of the requests right. The rest
/// is room for answers at the ends of slices, which belong to requests before them or after them.
pub const LEAST_ACHIEVED: f64 = 0.95;

/// How much of the offered load was answered right and in time: right answers in the measured part,
/// divided by the requests that were due in it. `None` if nothing was due, or there is no result.
#[must_use]
pub fn achieved(record: &TrialRecord) -> Option<f64> {
    let measured = &record.load.as_ref()?.measured;
    let due = measured.requests.scheduled;
    (due > 0).then(|| measured.answered.good as f64 / due as f64)
}

/// Why a target does not go on to a higher rate, in words; `None` if it kept up, or if this is no
/// load at several rates. If it is unknown how much was achieved, it does not go on.
#[must_use]
pub fn leaves(record: &TrialRecord) -> Option<String> {
    let rate = rate(record)?;
    let achieved = achieved(record);
    if achieved.is_some_and(|share| share >= LEAST_ACHIEVED) {
        return None;
    }
    let seen = achieved.map_or_else(
        || "how much it answered is unknown".into(),
        |share| format!("it answered {} of them right", percent(share)),
    );
    let target = &record.spec.target;
    Some(format!(
        "{target} at {} requests/s: {seen}; higher rates are left out",
        format_count(rate)
    ))
}

/// The rate of a step of several; `None` for other loads.
fn rate(record: &TrialRecord) -> Option<f64> {
    match record.spec.step.filter(|_| record.spec.profile.is_rates())? {
        Step::Rate { per_s } => Some(per_s),
        Step::Connections { .. } | Step::Devices { .. } => None,
    }
}

/// How far up the rates a target came, over all repetitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// The highest rate with which every repetition kept up, as with all lower ones; `None` if
    /// there is none. An INVALID step shows nothing.
    pub kept_per_s: Option<f64>,
    /// The lowest rate with which a repetition did not keep up; `None` if there was none.
    pub missed_per_s: Option<f64>,
    /// From where on more offered requests bring few more right answers; `None` if no rate was
    /// missed, or with fewer than three points up to there, and on a disturbed host.
    pub knee: Option<RateKnee>,
    /// Processors that the target kept busy while nobody asked it, median of the repetitions.
    pub rest_cores: Option<f64>,
    /// Its memory at that time in bytes, median of the repetitions; shared pages count once.
    pub rest_memory_bytes: Option<f64>,
}

impl Ladder {
    /// From the trials of one target; `None` for other loads than several rates.
    #[must_use]
    pub fn from_trials(trials: &[&TrialRecord]) -> Option<Self> {
        let profile = &trials.first()?.spec.profile;
        if !profile.is_rates() {
            return None;
        }
        let at = |step: Step| -> Vec<&TrialRecord> {
            trials.iter().copied().filter(|record| record.spec.step == Some(step)).collect()
        };
        let steps = profile.steps.known();
        let begun = steps.first().map_or(0, |first| at(*first).len());
        let is_kept = |step: &&Step| {
            let here = at(**step);
            here.len() == begun && here.iter().all(|record| keeps(record) == Some(true))
        };
        let is_missed = |step: &&Step| at(**step).iter().any(|record| keeps(record) == Some(false));
        let rests = || trials.iter().filter_map(|record| record.at_rest);
        let cores: Vec<f64> = rests().filter_map(|rest| rest.cores()).collect();
        let memory: Vec<f64> =
            rests().filter_map(|rest| rest.memory_bytes).map(|bytes| bytes as f64).collect();
        let missed_per_s = steps.iter().find(is_missed).map(|step| step.size());
        let up_to_the_missed = steps
            .iter()
            .filter(|step| missed_per_s.is_some_and(|missed| step.size() <= missed))
            .filter_map(|step| offered(step.size(), &at(*step)));
        let knee = missed_per_s.and_then(|missed| knee_at(missed, up_to_the_missed));
        Some(Self {
            kept_per_s: steps.iter().take_while(is_kept).last().map(|step| step.size()),
            missed_per_s,
            knee: knee.filter(|_| !host::is_disturbed(trials)),
            rest_cores: median(&cores),
            rest_memory_bytes: median(&memory),
        })
    }

    /// How far it came, and where its knee is, in sentences.
    #[must_use]
    pub fn words(&self) -> String {
        let rate = |per_s: f64| format!("{} requests/s", format_count(per_s));
        let how_far = match (self.kept_per_s, self.missed_per_s) {
            // A higher rate may be INVALID, which shows nothing.
            (Some(kept), None) => format!("Keeps up with at least {}.", rate(kept)),
            (Some(kept), Some(missed)) => {
                format!("Keeps up with {}, and not with {}.", rate(kept), rate(missed))
            }
            (None, Some(missed)) => format!("Does not keep up with {}.", rate(missed)),
            (None, None) => "With which rate it keeps up is unknown.".into(),
        };
        match self.knee {
            Some(knee) => format!(
                "{how_far} Knee at {}: higher rates bring few more right answers.",
                knee.words()
            ),
            None => how_far,
        }
    }
}

/// What the repetitions that are not INVALID answered right at this rate; `None` if there is none.
fn offered(per_s: f64, trials: &[&TrialRecord]) -> Option<Offered> {
    let right = right_per_s(trials)?;
    Some(Offered { per_s, right_per_s: right.median, error: standard_error(&right) })
}

/// The knee of the curve that ends with the rate that was missed; `None` if that one has no figure.
fn knee_at(missed_per_s: f64, curve: impl Iterator<Item = Offered>) -> Option<RateKnee> {
    let curve: Vec<Offered> = curve.collect();
    let (missed, kept) = curve.split_last().filter(|(last, _)| last.per_s == missed_per_s)?;
    rate_knee(kept, *missed)
}

/// Whether a target kept up at this step; `None` if the step is INVALID or has no result.
fn keeps(record: &TrialRecord) -> Option<bool> {
    let is_valid = record.verdict != Verdict::Invalid;
    achieved(record).filter(|_| is_valid).map(|share| share >= LEAST_ACHIEVED)
}

/// The highest rate with which all of these targets kept up, so that they can be compared at it.
/// Those that kept up with none are left out; `None` if no other is left.
#[must_use]
pub fn common_per_s(ladders: impl IntoIterator<Item = Ladder>) -> Option<f64> {
    ladders.into_iter().filter_map(|ladder| ladder.kept_per_s).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::ExampleTrial;
    use pippin_model::plan::profile::{Arrivals, Profile};
    use pippin_model::trial::AtRest;

    const S: u64 = 1_000_000_000;
    const RATES: [f64; 5] = [100.0, 200.0, 400.0, 800.0, 1_600.0];

    fn profile() -> Profile {
        Profile::rates(RATES.to_vec(), Arrivals::Constant, 64, 10 * S)
    }

    /// A server of one request at a time that takes so long for each, in virtual time: how many of
    /// the requests that come at this rate within 10 s are answered within them.
    fn answered(rate: f64, service_ns: u64) -> u64 {
        let gap_ns = (1e9 / rate) as u64;
        let (mut free_ns, mut answered) = (0, 0);
        for due_ns in (0..10 * S).step_by(gap_ns as usize) {
            free_ns = due_ns.max(free_ns) + service_ns;
            answered += u64::from(free_ns <= 10 * S);
        }
        answered
    }

    fn step(rate: f64, service_ns: u64) -> TrialRecord {
        let due = (rate * 10.0) as u64;
        let right = answered(rate, service_ns).min(due);
        let step = Some(Step::Rate { per_s: rate });
        let example =
            ExampleTrial::from_profile(&profile(), step).completed(right).censored(due - right);
        let mut record = example.build();
        record.verdict = Verdict::Valid;
        record
    }

    /// The steps of a target until it leaves.
    fn climb(service_ns: u64) -> Vec<TrialRecord> {
        let mut made = Vec::new();
        for rate in RATES {
            made.push(step(rate, service_ns));
            if leaves(made.last().unwrap()).is_some() {
                break;
            }
        }
        made
    }

    fn ladder(records: &[TrialRecord]) -> Ladder {
        Ladder::from_trials(&records.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_server_of_so_many_a_second_leaves_at_the_first_rate_above_that() {
        for (per_s, kept, missed) in [
            (5_000, Some(1_600.0), None),
            (1_590, Some(1_600.0), None),
            (1_500, Some(800.0), Some(1_600.0)),
            (790, Some(800.0), Some(1_600.0)),
            (500, Some(400.0), Some(800.0)),
            (150, Some(100.0), Some(200.0)),
            (50, None, Some(100.0)),
        ] {
            let made = climb(S / per_s);
            let found = ladder(&made);
            assert_eq!((found.kept_per_s, found.missed_per_s), (kept, missed), "{per_s}/s");
            let last = missed.or(kept);
            assert_eq!(made.last().map(|it| it.spec.step.unwrap().size()), last, "{per_s}/s");
        }
    }

    #[test]
    fn every_repetition_must_keep_up_and_an_invalid_step_shows_nothing() {
        let both: Vec<TrialRecord> = climb(S / 500).into_iter().chain(climb(S / 150)).collect();
        let found = ladder(&both);
        assert_eq!((found.kept_per_s, found.missed_per_s), (Some(100.0), Some(200.0)));
        let mut invalid = climb(S / 5_000);
        invalid[3].verdict = Verdict::Invalid;
        assert_eq!(ladder(&invalid).kept_per_s, Some(400.0));
        let mut missed = climb(S / 500);
        missed.last_mut().unwrap().verdict = Verdict::Invalid;
        assert_eq!(ladder(&missed).missed_per_s, None, "who did not keep up is unknown");
    }

    #[test]
    fn only_right_answers_count_and_the_unknown_does_not_go_on() {
        let mut wrong = step(100.0, 1);
        assert_eq!((achieved(&wrong), leaves(&wrong)), (Some(1.0), None));
        wrong.load.as_mut().unwrap().measured.answered.good = 940;
        assert_eq!(
            leaves(&wrong).unwrap(),
            "go/net-http at 100 requests/s: it answered 94.0 % of them right; higher rates are left out"
        );
        wrong.load = None;
        assert!(leaves(&wrong).unwrap().contains("how much it answered is unknown"));
        assert_eq!(leaves(&ExampleTrial::open(100.0).build()), None, "one rate is no ladder");
        assert_eq!(Ladder::from_trials(&[&ExampleTrial::hello().build()]), None);
    }

    #[test]
    fn the_use_at_no_load_is_the_median_of_what_is_known() {
        let mut both: Vec<TrialRecord> = climb(1).into_iter().chain(climb(1)).collect();
        assert_eq!(ladder(&both).rest_cores, None, "unknown, and not 0");
        let rest = |cpu_ns| AtRest { length_ns: S, cpu_ns, memory_bytes: Some(4_096) };
        both[0].at_rest = Some(rest(Some(S / 10)));
        both[5].at_rest = Some(rest(None));
        let found = ladder(&both);
        assert_eq!((found.rest_cores, found.rest_memory_bytes), (Some(0.1), Some(4_096.0)));
    }

    #[test]
    fn a_server_of_so_many_a_second_has_its_knee_there() {
        for per_s in [150, 300, 500, 700, 1_500] {
            // Loads differ by 2 %.
            let both = [99, 100, 101].map(|part| climb(100 * S / (per_s * part)));
            let knee = ladder(&both.concat()).knee.unwrap();
            let (low, high) = (knee.low_per_s.unwrap(), knee.high_per_s.unwrap());
            let capacity = per_s as f64;
            assert!(
                low <= capacity && capacity <= high && high < 1.1 * capacity,
                "{per_s}: {knee:?}"
            );
            assert!((0.9..1.01).contains(&(knee.per_s / capacity)), "{per_s}: {knee:?}");
        }
        assert_eq!(ladder(&climb(S / 5_000)).knee, None, "it keeps up with all rates");
        assert_eq!(ladder(&climb(S / 50)).knee, None, "it keeps up with none");
    }

    #[test]
    fn nothing_is_said_of_a_knee_where_others_used_the_host_or_the_last_rate_is_invalid() {
        let made = climb(S / 500);
        assert!(ladder(&made).knee.is_some());
        let mut disturbed = made.clone();
        disturbed.iter_mut().for_each(|it| it.usage.as_mut().unwrap().other_cores = Some(1.0));
        assert_eq!(ladder(&disturbed).knee, None);
        let mut invalid = made;
        invalid.last_mut().unwrap().verdict = Verdict::Invalid;
        assert_eq!(ladder(&invalid).knee, None);
    }

    /// Answers that are wrong are no right ones, at whichever rate they come.
    #[test]
    fn wrong_answers_do_not_raise_the_knee() {
        let made = climb(S / 500);
        let before = ladder(&made).knee.unwrap();
        for place in 0..made.len() {
            for part in [0.5, 0.9, 0.96, 0.99] {
                let mut spoiled = made.clone();
                let measured = &mut spoiled[place].load.as_mut().unwrap().measured;
                for good in [&mut measured.requests.good, &mut measured.answered.good] {
                    *good = (*good as f64 * part) as u64;
                }
                let after = ladder(&spoiled).knee;
                let is_higher = after.is_some_and(|it| it.per_s > before.per_s);
                assert!(!is_higher, "{place}, {part}: {before:?} became {after:?}");
            }
        }
    }

    #[test]
    fn targets_are_compared_at_the_highest_rate_that_all_of_them_keep() {
        let kept = |kept_per_s| Ladder { kept_per_s, ..Ladder::default() };
        assert_eq!(common_per_s([kept(Some(5.0)), kept(None), kept(Some(3.0))]), Some(3.0));
        assert_eq!(common_per_s([kept(None)]), None);
    }

    #[test]
    fn how_far_it_came_is_said_in_a_sentence() {
        let of = |kept_per_s, missed_per_s| {
            Ladder { kept_per_s, missed_per_s, ..Ladder::default() }.words()
        };
        assert_eq!(
            of(Some(2_000.0), Some(5_000.0)),
            "Keeps up with 2,000 requests/s, and not with 5,000 requests/s."
        );
        assert_eq!(of(Some(2_000.0), None), "Keeps up with at least 2,000 requests/s.");
        assert_eq!(of(None, Some(1_000.0)), "Does not keep up with 1,000 requests/s.");
        assert_eq!(of(None, None), "With which rate it keeps up is unknown.");
        let (low_per_s, high_per_s) = (Some(2_900.0), Some(3_100.0));
        let knee = Some(RateKnee { per_s: 3_000.0, low_per_s, high_per_s });
        let both = Ladder { kept_per_s: Some(2_000.0), knee, ..Ladder::default() };
        assert_eq!(
            both.words(),
            "Keeps up with at least 2,000 requests/s. Knee at 3,000 requests/s (2,900 to 3,100): higher rates bring few more right answers."
        );
    }
}
