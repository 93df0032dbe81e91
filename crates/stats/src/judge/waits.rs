//! NOTE: requests wait, although the processors do not.
use pippin_model::host::usage::Role;
use pippin_model::text::units::format_ns;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{cpu_bound, given_cores, is_waiting, processors, services_bound};
use crate::judge::answer::found;
use crate::judge::evidence::{Evidence, caveat};
use crate::judge::inferred_concurrency::{self, FEWEST_ALONE};
use crate::judge::rate_not_achieved;
use crate::series::quantile::median;
use crate::series::steady::measured_windows;

/// How many times as long as alone the median answer takes.
pub(crate) const TIMES: f64 = 3.0;
/// ... and how much longer, nanoseconds: less is the work of the network and the scheduler.
const LONGER_NS: f64 = 2e6;

/// The quantile that is compared with the longest single request. If as many requests as lie above
/// it took so long alone, one of ten would have shown it in 19 of 20 cases.
const SLOWER: f64 = 0.75;

/// Answers that wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waiting {
    /// What a request takes alone, nanoseconds: the median, or the longest.
    pub alone_ns: u64,
    /// What it takes under this load, nanoseconds: the median, or what the slowest quarter takes at
    /// least.
    pub now_ns: u64,
    /// Whether only the slow ones are meant.
    pub only_some: bool,
    /// Processors that the target keeps busy.
    pub cores: f64,
    /// Processors that it was given.
    pub given: f64,
}

impl Waiting {
    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        let processors = processors(self.given);
        let (alone, now) = (format_ns(self.alone_ns), format_ns(self.now_ns));
        let seen = if self.only_some {
            format!(
                "alone they take up to {alone}, and a quarter takes {now} or more under this load"
            )
        } else {
            format!("one takes {alone} alone and {now} under this load")
        };
        format!(
            "Requests wait, and not for a processor: {seen}, with {:.2} of {processors} busy",
            self.cores
        )
    }
}

/// Whether requests wait for something that nothing measured shows. Where a number served at a time
/// is known, `inferred_concurrency` says more.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let waiting = find(evidence).filter(|_| inferred_concurrency::limit(evidence).is_none())?;
    let advice = "look for what they wait for: a lock, a full pool of threads or connections, a queue, a limit of the rate";
    Some(caveat("waits", Severity::Note, waiting.words(), advice))
}

/// The wait of the median answer: at least three times the time of single requests, while neither
/// the target's processors nor those of its services are what it waits for. Or that of the slowest
/// quarter, compared with the longest single request, where all requests are of one kind. `None`
/// without single requests or CPU use.
#[must_use]
pub fn find(evidence: &Evidence) -> Option<Waiting> {
    let alone_ns = evidence.single_ns()?;
    let times = &evidence.measured()?.spans.service_time;
    let now_ns = times.quantile_ns(0.5)? as f64;
    let waits = |alone: f64, now: f64| now >= TIMES * alone && now >= alone + LONGER_NS;
    let slow = || {
        let single = evidence.single().filter(|single| single.requests >= FEWEST_ALONE)?;
        let slow_ns = times.quantile_ns(SLOWER)? as f64;
        let is_of_one_kind = !evidence.has_kinds_of_requests();
        let longest_ns = single.longest_ns as f64;
        (is_of_one_kind && waits(longest_ns, slow_ns)).then_some((longest_ns, slow_ns, true))
    };
    let typical = waits(alone_ns, now_ns).then_some((alone_ns, now_ns, false));
    let (shown_ns, now_ns, only_some) = typical.or_else(slow)?;
    let per_s = evidence.throughput_per_s()?;
    let is_idle = cpu_bound(evidence).is_none()
        && !services_bound(evidence)
        && inferred_concurrency::exceeds_bursts(evidence) == Some(true)
        && !gets_slower(evidence)
        && is_waiting(evidence, per_s, alone_ns / 1e9) == Some(true);
    is_idle.then_some(Waiting {
        alone_ns: shown_ns as u64,
        now_ns: now_ns as u64,
        only_some,
        cores: evidence.cores(Role::Target)?,
        given: given_cores(evidence)?,
    })
}

/// How many times as long as in the older half of the load the windows' p90 is in the newer half, so that
/// the target became slower.
const SLOWER_NOW: f64 = 1.25;

/// Whether the target becomes slower at a rate that it keeps, or with users who think. Then what a request
/// took alone says nothing of it.
fn gets_slower(evidence: &Evidence) -> bool {
    if evidence.is_saturating() || found(rate_not_achieved::judge(evidence)).is_some() {
        return false;
    }
    let windows = evidence.load().into_iter().flat_map(measured_windows);
    let times = windows.filter_map(|window| window.response_p90_ns.map(|ns| ns as f64));
    let times: Vec<f64> = times.collect();
    let (older, newer) = times.split_at(times.len() / 2);
    let medians = median(older).zip(median(newer));
    medians.is_some_and(|(older, newer)| newer >= SLOWER_NOW * older)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::{Single, TrialRecord};

    fn with(alone_ms: u64, now_ms: f64, cores: f64) -> TrialRecord {
        let mut record =
            ExampleTrial::open(10.0).response_ms(now_ms).target_cores(cores, 2).build();
        let median_ns = alone_ms * 1_000_000;
        record.single = Some(Single { requests: 20, median_ns, longest_ns: 2 * median_ns });
        record
    }

    #[test]
    fn an_idle_target_whose_answers_take_long_is_seen() {
        assert_eq!(
            judged(judge, &with(21, 5_030.0, 0.1)).unwrap().evidence,
            "Requests wait, and not for a processor: one takes 21.0 ms alone and 5.02 s under this load, with 0.10 of 2 processors busy"
        );
    }

    #[test]
    fn a_busy_one_and_answers_as_alone_are_not() {
        assert_eq!(judged(judge, &with(21, 5_030.0, 1.9)), None);
        assert_eq!(judged(judge, &with(21, 40.0, 0.1)), None);
        assert_eq!(judged(judge, &with(1, 2.5, 0.1)), None);
        let mut unknown = with(21, 5_030.0, 0.1);
        unknown.single = None;
        assert_eq!(judged(judge, &unknown), None);
    }
}
