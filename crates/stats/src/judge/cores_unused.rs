//! SUSPECT: the target is CPU-bound on fewer processors than it was given.
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{Bound, cpu_bound};
use crate::judge::evidence::{Evidence, caveat};

/// Whether a saturated target keeps a whole number of processors busy, fewer than it was given: for
/// example one process on four processors. A target that waits keeps none busy, and fewer
/// connections than processors cannot use them all.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let Some(Bound::SomeOfItsCores { cores, given }) = cpu_bound(evidence) else { return None };
    let given = counted(given.round() as u64, "processor");
    let seen = format!("{cores:.2} of {given} busy under a load that would use more");
    let advice = "start as many workers as the target has processors (WORKERS; a variant such as `:cluster`), or give every target only as many processors as this one uses";
    Some(caveat("cores_unused", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

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
