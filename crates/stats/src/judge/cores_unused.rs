//! SUSPECT: the target is CPU-bound on fewer processors than it was given.
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{Bound, cpu_bound, processors};
use crate::judge::evidence::{Evidence, caveat};
use crate::judge::workers_uneven;

/// Whether a saturated target keeps a whole number of processors busy, fewer than it was given, with
/// as many threads that are always busy: for example one event loop on four processors. A target
/// that waits keeps none busy. If many threads wait for one lock, more workers would not help. Fewer
/// connections than processors cannot use them all.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let Some(Bound::SomeOfItsCores { cores, given }) = cpu_bound(evidence) else { return None };
    let given = processors(given);
    let seen = format!("{cores:.2} of {given} busy under a load that would use more");
    if let Some(uneven) = workers_uneven::unevenness(evidence) {
        let seen = format!("{seen}: {uneven}");
        return Some(caveat("cores_unused", Severity::Suspect, seen, workers_uneven::ADVICE));
    }
    if evidence.record.spec.cpus.target.is_empty() {
        let advice = "start as many workers as it may use processors: a processor was idle";
        return Some(caveat("cores_unused", Severity::Suspect, seen, advice));
    }
    let advice = "start as many workers as the target has processors (WORKERS; a variant such as `:cluster`), or give every target only as many processors as this one uses";
    Some(caveat("cores_unused", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::usage::Role;

    #[test]
    fn one_of_four_is_seen() {
        assert!(
            judged(judge, &ExampleTrial::hello().target_cores(1.01, 4).build())
                .unwrap()
                .evidence
                .starts_with("1.01 of 4")
        );
        assert!(judged(judge, &ExampleTrial::hello().target_cores(2.0, 4).build()).is_some());
    }

    /// Many threads take turns at a lock around 0.3 ms of work.
    #[test]
    fn threads_in_turn_are_no_lack_of_workers() {
        let mut lock = ExampleTrial::hello().target_cores(1.01, 2).build();
        let usage = lock.usage.as_mut().unwrap();
        usage.roles.get_mut(&Role::Target).unwrap().busiest_threads = Some(vec![0.07; 16]);
        assert_eq!(judged(judge, &lock), None);
        let usage = lock.usage.as_mut().unwrap();
        usage.roles.get_mut(&Role::Target).unwrap().busiest_threads = None;
        assert_eq!(judged(judge, &lock), None, "it is not known which threads work");
    }

    #[test]
    fn a_full_machine_has_no_unused_processor() {
        let mut record = ExampleTrial::hello().target_cores(0.98, 2).build();
        record.spec.cpus.target.0.clear();
        let usage = record.usage.as_mut().unwrap();
        usage.busy_by_cpu = [(0, 0.99), (1, 0.96)].into();
        assert_eq!(judged(judge, &record), None);
        record.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.99), (1, 0.2)].into();
        let found = judged(judge, &record).unwrap();
        assert!(!found.advice.contains("variant"), "{found:?}");
    }

    #[test]
    fn workers_that_rest_are_named_before_more_of_them_are_advised() {
        let mut record = ExampleTrial::hello().target_cores(1.01, 4).build();
        let usage = record.usage.as_mut().unwrap();
        let target = usage.roles.get_mut(&pippin_model::host::usage::Role::Target).unwrap();
        target.workers_ns = [(7, 9_700), (8, 100), (9, 100), (10, 100)].into();
        let found = judged(judge, &record).unwrap();
        assert!(found.evidence.ends_with("1 of 4 workers did 97 % of the work"), "{found:?}");
        assert!(found.advice.contains("connections"), "{found:?}");
    }

    #[test]
    fn waiting_all_in_use_and_an_open_loop_are_silent() {
        for (cores, given) in [(0.3, 4), (3.9, 4), (1.0, 1), (1.5, 4)] {
            assert_eq!(
                judged(judge, &ExampleTrial::hello().target_cores(cores, given).build()),
                None,
                "{cores} of {given}"
            );
        }
        assert_eq!(judged(judge, &ExampleTrial::open(10_000.0).target_cores(1.0, 4).build()), None);
        assert_eq!(
            judged(judge, &ExampleTrial::hello().connections(2).target_cores(1.0, 4).build()),
            None
        );
    }
}
