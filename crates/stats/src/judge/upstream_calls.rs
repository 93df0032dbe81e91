//! INVALID: the slow upstream was called less often than requests were answered. SUSPECT: it was
//! called more often than requests were sent.
use pippin_model::verdict::Severity;
use pippin_model::workload::Service;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// The names of the upstream's counts in the trial's record: of GET calls that it answered, and of
/// all calls that came.
const ANSWERED_CALLS: &str = "upstream_answered";
const UPSTREAM_CALLS: &str = "upstream_calls";
/// How many right answers had one of its numbers: requests of another kind need no call.
const NUMBERS: &str = "upstream_numbers";

/// Whether the upstream's own count of calls fits the requests of the whole load, including warm-up
/// and ramps.
///
/// Each answer needs a call before it, and a request that was never sent makes no call. So the
/// number of calls lies between the right answers and the requests sent, however many requests were
/// in progress when the count was taken. The proofs check this only outside the load, where a
/// target that shares calls among many waiting requests may look right.
pub fn judge(evidence: &Evidence) -> Answer {
    let services = &evidence.record.services;
    let unknown = || Unknown::because("the upstream's count of its calls is not known");
    // Older records only have the count of all calls that came.
    let calls = services.get(ANSWERED_CALLS).or_else(|| services.get(UPSTREAM_CALLS)).copied();
    let Some(calls) = calls else {
        let has_upstream = evidence.context.services.contains(&Service::Upstream);
        return if has_upstream { Err(unknown()) } else { Ok(None) };
    };
    let load = evidence.needs_load()?;
    if load.windows.is_empty() {
        return Err(Unknown::because("the answers of the whole load are not counted"));
    }
    let good: u64 = load.windows.iter().map(|window| window.good).sum();
    // Older records have no such count, and no requests of another kind.
    let answered = services.get(NUMBERS).copied().unwrap_or(good as f64);
    let sent: u64 = load.windows.iter().map(|window| window.sent).sum();
    if calls < answered {
        let seen = format!(
            "the upstream was called {} times for {} right answers over the whole load ({})",
            whole(calls),
            whole(answered),
            percent(calls / answered)
        );
        return Ok(Some(caveat(
            "upstream_not_called",
            Severity::Invalid,
            seen,
            "each request must call the upstream once: remove what caches its answers or shares a call among requests",
        )));
    }
    Ok((calls > (sent + stragglers(evidence)) as f64).then(|| {
        let seen = format!("the upstream was called {} times for {} requests over the whole load", whole(calls), whole(sent as f64));
        caveat("upstream_called_more", Severity::Suspect, seen, "check whether the target's client retries or prefetches: it does more work than requested")
    }))
}

/// Requests of the previous step of a sweep or a search that the target may still be serving. There
/// are at most as many as connections.
fn stragglers(evidence: &Evidence) -> u64 {
    if evidence.record.spec.step.is_none() {
        0
    } else {
        evidence.measured().map_or(0, |measured| measured.connections.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::TrialRecord;
    use pippin_model::verdict::Caveat;

    /// A trial whose load had this many right answers and requests sent, and the upstream's count.
    fn counted(mut record: TrialRecord, good: u64, sent: u64, calls: u64) -> TrialRecord {
        let windows = &mut record.load.as_mut().unwrap().windows;
        windows.iter_mut().for_each(|window| (window.good, window.sent) = (0, 0));
        // Half of them are in the warm-up, which counts too.
        let mut warm_up = windows[0].clone();
        warm_up.from_ns = -1_000_000_000;
        (warm_up.good, warm_up.sent) = (good / 2, sent / 2);
        (windows[0].good, windows[0].sent) = (good - good / 2, sent - sent / 2);
        windows.insert(0, warm_up);
        record.services.insert(UPSTREAM_CALLS.into(), calls as f64);
        record
    }

    fn found(good: u64, sent: u64, calls: u64) -> Option<Caveat> {
        judged(judge, &counted(ExampleTrial::hello().build(), good, sent, calls))
    }

    #[test]
    fn one_call_too_few_is_invalid() {
        let caveat = found(1_000, 1_100, 999).unwrap();
        assert_eq!(
            (caveat.id.as_str(), caveat.severity),
            ("upstream_not_called", Severity::Invalid)
        );
        let shared = found(20_000, 20_010, 5_000).unwrap();
        assert_eq!(
            shared.evidence,
            "the upstream was called 5,000 times for 20,000 right answers over the whole load (25.0 %)"
        );
    }

    #[test]
    fn requests_of_another_kind_make_no_call() {
        let judged = |numbers: f64, calls| {
            let mut record = counted(ExampleTrial::hello().build(), 1_000, 1_000, calls);
            record.services.insert(NUMBERS.into(), numbers);
            judged(judge, &record)
        };
        assert_eq!(judged(999.0, 999), None);
        assert_eq!(judged(999.0, 998).unwrap().id, "upstream_not_called");
    }

    #[test]
    fn one_call_too_many_is_suspect() {
        let caveat = found(1_000, 1_100, 1_101).unwrap();
        assert_eq!(
            (caveat.id.as_str(), caveat.severity),
            ("upstream_called_more", Severity::Suspect)
        );
    }

    #[test]
    fn what_was_under_way_may_or_may_not_have_called() {
        for calls in [1_000, 1_050, 1_100] {
            assert_eq!(found(1_000, 1_100, calls), None);
        }
        assert_eq!(found(0, 10, 0), None);
    }

    #[test]
    fn in_a_sweep_the_step_before_may_still_call() {
        let point = |calls| {
            judged(
                judge,
                &counted(
                    ExampleTrial::hello().sweep_point(8, &[1, 8]).build(),
                    1_000,
                    1_008,
                    calls,
                ),
            )
        };
        assert_eq!(point(1_016), None);
        assert_eq!(point(1_017).unwrap().id, "upstream_called_more");
    }

    #[test]
    fn without_an_upstream_or_its_count_there_is_no_doubt() {
        assert_eq!(judged(judge, &ExampleTrial::hello().build()), None);
        let mut no_windows = counted(ExampleTrial::hello().build(), 10, 10, 1);
        no_windows.load.as_mut().unwrap().windows.clear();
        assert_eq!(judged(judge, &no_windows), None);
    }
}
