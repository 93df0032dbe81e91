//! What the host took from the roles of one target: over all of its used slices together, or over
//! the measured parts of its loads. One repetition of short slices may be too short for the kernel's
//! counters; all of them together are not.
use pippin_model::text::units::counted;
use pippin_model::trial::slice::SliceHost;
use pippin_model::trial::{TrialRecord, TrialSpec};
use std::collections::BTreeSet;

use crate::judge::answer::Unknown;
use crate::rounds::calm;

/// The share of the roles' processors above which others disturb a result.
pub const LIMIT: f64 = 0.02;
/// The kernel counts the time of a processor in steps of 10 ms.
const TICK_NS: f64 = 10_000_000.0;

/// Who took processor time from the roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// The hypervisor.
    Hypervisor,
    /// Processes that belong to no role.
    OtherPrograms,
}

impl Taker {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Hypervisor, Self::OtherPrograms];

    const fn of_slice(self, host: &SliceHost) -> Option<f64> {
        match self {
            Self::Hypervisor => host.steal,
            Self::OtherPrograms => host.others,
        }
    }

    const fn counter(self) -> &'static str {
        match self {
            Self::Hypervisor => "time stolen by the hypervisor",
            Self::OtherPrograms => "processor time of other programs",
        }
    }
}

/// The share of the roles' processors that somebody took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// The share, 0 to 1.
    pub share: f64,
    /// The time over which it was counted, nanoseconds.
    pub over_ns: f64,
}

impl Taken {
    /// By how much a step of the kernel's counters on each processor can change the share.
    fn resolution(self) -> f64 {
        TICK_NS / self.over_ns
    }

    /// Whether it is above [`LIMIT`].
    ///
    /// # Errors
    /// If the time is so short that one step of the counters is more than the limit, and the share
    /// is not above it by more than such a step.
    pub fn is_above_limit(self) -> Result<bool, Unknown> {
        if self.resolution() <= LIMIT {
            return Ok(self.share > LIMIT);
        }
        if self.share - self.resolution() > LIMIT {
            return Ok(true);
        }
        Err(Unknown::because(format!(
            "measured for {:.2} s, and the kernel counts processor time in steps of 10 ms (0.5 s shows 2 %)",
            self.over_ns / 1e9
        )))
    }
}

/// What somebody took in the used slices of these trials of one target, or in the measured parts of
/// those that have no slices.
///
/// # Errors
/// If it is unknown for a part of them: a counter is missing, or planned slices are.
pub fn taken(trials: &[&TrialRecord], by: Taker) -> Result<Taken, Unknown> {
    let (mut sum, mut over_ns) = (0.0, 0.0);
    let mut add = |share: Option<f64>, ns: u64| {
        let share = share.ok_or_else(|| Unknown::because(format!("{} is not known", by.counter())));
        share.map(|share| (sum += share * ns as f64, over_ns += ns as f64))
    };
    for record in trials.iter().filter(|record| record.load.is_some()) {
        if record.slices.is_empty() {
            let usage = record.usage.as_ref();
            let cores = usage.and_then(|usage| match by {
                Taker::Hypervisor => usage.steal_cores,
                Taker::OtherPrograms => usage.other_cores,
            });
            let count = usage.and_then(|usage| processors(&record.spec, usage.busy_by_cpu.len()));
            let share = cores.zip(count).map(|(cores, count)| cores / count);
            add(share, usage.map_or(0, |usage| usage.duration_ns))?;
        } else {
            enough_slices(record)?;
            for slice in record.slices.iter().filter(|slice| slice.used) {
                add(by.of_slice(&slice.host), slice.measured_ns)?;
            }
        }
    }
    if over_ns > 0.0 {
        Ok(Taken { share: sum / over_ns, over_ns })
    } else {
        Err(Unknown::because("nothing was measured"))
    }
}

/// A trial uses at least half of its planned slices; the calmest of the disturbed ones fill up.
fn enough_slices(record: &TrialRecord) -> Result<(), Unknown> {
    let Some(company) = &record.company else {
        return Err(Unknown::because("the planned number of slices is not known"));
    };
    let used = record.slices.iter().filter(|slice| slice.used).count() as u32;
    let least = calm::enough(company.rounds);
    if used >= least {
        return Ok(());
    }
    Err(Unknown::because(format!(
        "{} of {} planned (at least {least} are needed)",
        counted(used.into(), "usable slice"),
        company.rounds
    )))
}

/// Whether the host disturbed these trials of one target: the hypervisor or other programs took more
/// than 2 % of the roles' processors, or none of the used slices was calm. False where it is not
/// known; then the verdict is `unknown`.
///
/// Nothing is inferred about a target on a disturbed host, because other programs cause the same
/// signs as a slow target.
#[must_use]
pub fn is_disturbed(trials: &[&TrialRecord]) -> bool {
    has_no_calm_slice(trials)
        || Taker::ALL.iter().any(|by| {
            taken(trials, *by).and_then(Taken::is_above_limit).is_ok_and(|is_above| is_above)
        })
}

/// Whether the trials were measured in slices, and none of those that are used was calm.
pub(super) fn has_no_calm_slice(trials: &[&TrialRecord]) -> bool {
    let mut used =
        trials.iter().flat_map(|record| &record.slices).filter(|slice| slice.used).peekable();
    used.peek().is_some() && used.all(|slice| !slice.calm)
}

/// The number of processors of the trial, or of the host if the target is not bound to any: it may
/// run on all of them, wherever the generator runs.
pub(crate) fn processors(spec: &TrialSpec, host: usize) -> Option<f64> {
    let bound: BTreeSet<u32> = [&spec.cpus.target, &spec.cpus.generator, &spec.cpus.services]
        .into_iter()
        .flat_map(|set| set.0.iter().copied())
        .collect();
    let count = if spec.cpus.target.is_empty() { host } else { bound.len() };
    (count > 0).then_some(count as f64)
}
