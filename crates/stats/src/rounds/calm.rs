//! Which slices the host left undisturbed, and which of them the figures use.
//!
//! Everything here looks at the host's counters and never at the measurement. Choosing slices by
//! their result could turn noise into any result.
use pippin_model::trial::TrialRecord;
use pippin_model::trial::slice::{Slice, SliceHost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The share of the roles' processors beyond which the hypervisor disturbs a slice
/// (docs/decisions/slices.md).
pub const STEAL_LIMIT: f64 = 0.02;
/// The share beyond which processes outside of the measurement disturb a slice.
pub const OTHER_PROGRAMS_LIMIT: f64 = 0.02;
/// The share of time beyond which waiting for an occupied processor disturbs a slice.
pub const WAITING_LIMIT: f64 = 0.02;

/// What disturbs a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The hypervisor ran other machines.
    Steal,
    /// Processes that belong to no role ran.
    OtherPrograms,
    /// Roles waited for a processor that others held.
    Waiting,
}

impl Disturbance {
    /// The name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steal => "steal",
            Self::OtherPrograms => "others",
            Self::Waiting => "waiting",
        }
    }
}

/// What disturbed a slice, from the host's counters. Unknown counters count as undisturbed.
#[must_use]
pub fn disturbances(host: &SliceHost) -> Vec<Disturbance> {
    parts(host).into_iter().filter(|(_, part)| *part > 1.0).map(|(what, _)| what).collect()
}

/// Whether the host disturbed nothing.
#[must_use]
pub fn is_calm(host: &SliceHost) -> bool {
    disturbances(host).is_empty()
}

/// How much the host disturbed, as a multiple of the limit. Above 1, the slice is disturbed.
#[must_use]
pub fn unrest(host: &SliceHost) -> f64 {
    parts(host).into_iter().map(|(_, part)| part).fold(0.0, f64::max)
}

fn parts(host: &SliceHost) -> [(Disturbance, f64); 3] {
    let part = |share: Option<f64>, limit: f64| share.unwrap_or(0.0) / limit;
    [
        (Disturbance::Steal, part(host.steal, STEAL_LIMIT)),
        (Disturbance::OtherPrograms, part(host.others, OTHER_PROGRAMS_LIMIT)),
        (Disturbance::Waiting, part(host.waiting, WAITING_LIMIT)),
    ]
}

/// How many calm slices are enough to use only those, for this many planned rounds.
#[must_use]
pub const fn enough(rounds: u32) -> u32 {
    rounds.div_ceil(2)
}

/// Marks the slices that the figures use. These are all calm ones. If they are fewer than half of
/// the planned rounds, the calmest of the others are added until there are as many. Those of the
/// rounds in `calmest` come first, the calmest of each round, so that targets measured together use
/// the same rounds.
pub fn choose(slices: &mut [Slice], rounds: u32, calmest: &[u32]) {
    slices.iter_mut().for_each(|slice| slice.used = slice.calm);
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by(|a, b| unrest(&slices[*a].host).total_cmp(&unrest(&slices[*b].host)));
    let of_rounds: Vec<usize> = calmest
        .iter()
        .filter_map(|round| order.iter().copied().find(|index| slices[*index].round == *round))
        .collect();
    let mut lacking =
        enough(rounds).saturating_sub(slices.iter().filter(|s| s.calm).count() as u32);
    for index in of_rounds.into_iter().chain(order) {
        // One slice from each round is enough for a pair.
        let round = slices[index].round;
        let has_one = slices.iter().any(|slice| slice.used && slice.round == round);
        if lacking > 0 && !has_one {
            slices[index].used = true;
            lacking -= 1;
        }
    }
}

/// The rounds of targets that were measured together, the calmest first: by the mean unrest of the
/// calmest slice of each target.
#[must_use]
pub fn calmest_rounds<'a>(targets: impl IntoIterator<Item = Vec<&'a Slice>>) -> Vec<u32> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for slices in targets {
        let mut least: BTreeMap<u32, f64> = BTreeMap::new();
        for slice in slices {
            let known = least.entry(slice.round).or_insert(f64::INFINITY);
            *known = known.min(unrest(&slice.host));
        }
        for (round, unrest) in least {
            rounds.entry(round).or_default().push(unrest);
        }
    }
    // A round without one of the targets gives no pair with it.
    let most = rounds.values().map(Vec::len).max().unwrap_or(0);
    let mut means: Vec<(usize, f64, u32)> = rounds
        .into_iter()
        .map(|(round, all)| (most - all.len(), all.iter().sum::<f64>() / all.len() as f64, round))
        .collect();
    means.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    means.into_iter().map(|(_, _, round)| round).collect()
}

/// How many slices were made, and how calm the host was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SliceCounts {
    /// Slices in all.
    pub made: u64,
    /// Slices that the host did not disturb.
    pub calm: u64,
    /// Slices that the figures use.
    pub used: u64,
    /// Disturbed slices among those, because there were too few calm ones.
    pub used_disturbed: u64,
    /// How many slices each disturbance affected ([`Disturbance::name`]).
    pub disturbed_by: BTreeMap<String, u64>,
    /// The share of the roles' processors that the hypervisor took, over all slices.
    pub steal: Option<f64>,
    /// The share that processes of no role used.
    pub others: Option<f64>,
    /// The share that the kernel's own threads used for network work of the load, which is in no other
    /// share. Where it is unknown, `others` has it.
    pub kernel_network: Option<f64>,
}

impl SliceCounts {
    /// The counts of these trials; `None` if none of them was measured in slices.
    #[must_use]
    pub fn from_trials<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Option<Self> {
        let slices: Vec<&Slice> = trials.into_iter().flat_map(|trial| &trial.slices).collect();
        let count =
            |is_so: fn(&Slice) -> bool| slices.iter().filter(|slice| is_so(slice)).count() as u64;
        let mean = |share: fn(&SliceHost) -> Option<f64>| {
            let weighted = slices.iter().map(|slice| {
                Some((share(&slice.host)? * slice.measured_ns as f64, slice.measured_ns as f64))
            });
            let known: Vec<(f64, f64)> = weighted.collect::<Option<_>>()?;
            let length: f64 = known.iter().map(|(_, ns)| ns).sum();
            (length > 0.0).then(|| known.iter().map(|(share, _)| share).sum::<f64>() / length)
        };
        (!slices.is_empty()).then(|| Self {
            made: slices.len() as u64,
            calm: count(|slice| slice.calm),
            used: count(|slice| slice.used),
            used_disturbed: count(|slice| slice.used && !slice.calm),
            disturbed_by: disturbed_by(&slices),
            steal: mean(|host| host.steal),
            others: mean(|host| host.others),
            kernel_network: mean(|host| host.kernel_network),
        })
    }
}

/// How many of these slices each disturbance affected.
fn disturbed_by(slices: &[&Slice]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for disturbance in slices.iter().flat_map(|slice| disturbances(&slice.host)) {
        *counts.entry(disturbance.name().to_string()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::trial::slice::SliceFigures;

    fn slice(round: u32, steal: f64, others: f64) -> Slice {
        let host = SliceHost { steal: Some(steal), others: Some(others), ..SliceHost::default() };
        Slice {
            round,
            started_unix_ns: 0,
            measured_ns: 400_000_000,
            figures: SliceFigures::default(),
            host,
            calm: is_calm(&host),
            used: false,
        }
    }

    fn used(slices: &[Slice]) -> Vec<u32> {
        slices.iter().filter(|slice| slice.used).map(|slice| slice.round).collect()
    }

    #[test]
    fn a_limit_is_still_calm_and_more_is_not() {
        let host = |steal, others| SliceHost { steal, others, ..SliceHost::default() };
        assert!(is_calm(&host(Some(0.02), Some(0.02))) && is_calm(&host(None, None)));
        assert_eq!(
            disturbances(&host(Some(0.021), Some(0.5))),
            [Disturbance::Steal, Disturbance::OtherPrograms]
        );
        assert!((unrest(&host(Some(0.01), Some(0.06))) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn figures_rest_on_calm_slices_where_there_are_enough() {
        let mut slices =
            [slice(0, 0.0, 0.0), slice(1, 0.3, 0.0), slice(2, 0.0, 0.01), slice(3, 0.0, 0.03)];
        choose(&mut slices, 4, &[]);
        assert_eq!(used(&slices), [0, 2]);
        choose(&mut slices, 6, &[]);
        assert_eq!(used(&slices), [0, 2, 3], "the calmest of the others");
        choose(&mut slices, 6, &[1, 3]);
        assert_eq!(used(&slices), [0, 1, 2], "of the round that all have");
        choose(&mut slices, 100, &[]);
        assert_eq!(used(&slices), [0, 1, 2, 3]);
        choose(&mut [], 3, &[]);
    }

    #[test]
    fn rounds_are_calm_for_all_targets_together() {
        let one = [slice(0, 0.1, 0.0), slice(1, 0.3, 0.0), slice(1, 0.2, 0.0), slice(2, 0.0, 0.0)];
        let other = [slice(0, 0.2, 0.0), slice(1, 0.0, 0.0)];
        let rounds = calmest_rounds([one.iter().collect(), other.iter().collect()]);
        assert_eq!(rounds, [1, 0, 2], "the other target lacks round 2");
    }

    #[test]
    fn a_run_says_how_calm_it_was() {
        use pippin_model::example::ExampleTrial;
        let mut trial = ExampleTrial::hello().build();
        assert_eq!(SliceCounts::from_trials([&trial]), None);
        trial.slices = vec![slice(0, 0.0, 0.01), slice(1, 0.1, 0.0), slice(2, 0.0, 0.2)];
        choose(&mut trial.slices, 4, &[]);
        let counts = SliceCounts::from_trials([&trial]).unwrap();
        assert_eq!((counts.made, counts.calm), (3, 1));
        assert_eq!((counts.used, counts.used_disturbed), (2, 1));
        assert!((counts.steal.unwrap() - 0.1 / 3.0).abs() < 1e-9);
        assert!((counts.others.unwrap() - 0.07).abs() < 1e-9);
        let by = [("others".to_string(), 1), ("steal".to_string(), 1)];
        assert_eq!(counts.disturbed_by, BTreeMap::from(by));
    }
}
