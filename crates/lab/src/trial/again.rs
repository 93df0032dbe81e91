//! A trial whose generator lost a part of itself is made again, a few times.
use pippin_model::trial::TrialRecord;

use crate::run::observer::Event;
use crate::trial::Watch;
use crate::trial::generator::Generator;

/// How often a trial is made again at most.
const MOST: usize = 3;

/// Makes a trial, and makes it again while its generator loses parts of itself. If none is whole,
/// the last one with a measurement counts: what was measured is kept.
pub(crate) fn made_again(
    generator: &dyn Generator,
    watch: &Watch<'_>,
    mut make: impl FnMut() -> TrialRecord,
) -> TrialRecord {
    let mut losses = Vec::new();
    let mut measured: Option<TrialRecord> = None;
    loop {
        let record = make();
        let Some(why) = generator.lost() else {
            return TrialRecord { made_again: losses, ..record };
        };
        let has_agents = record.load.is_some();
        let ends = !has_agents || losses.len() >= MOST || watch.is_over();
        if has_agents || measured.is_none() {
            measured = Some(record);
        }
        if ends {
            let kept = measured.unwrap_or_else(&mut make);
            return TrialRecord { made_again: losses, ..kept };
        }
        let nth = losses.len() + 1;
        let note =
            format!("this trial lost agents and is made again ({nth} of at most {MOST}): {why}");
        watch.observer.event(&Event::Note(&note));
        losses.push(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::generator::{Applied, NotApplied};
    use pippin_engine::Control;
    use pippin_model::example::ExampleTrial;
    use pippin_model::load::LoadSpec;
    use pippin_probe::RoleRoot;
    use std::cell::RefCell;

    /// Whether each attempt loses an agent.
    struct Losing(RefCell<Vec<bool>>);

    impl Generator for Losing {
        fn apply(&self, _: &LoadSpec, _: &Control<'_>) -> Result<Applied, NotApplied> {
            unreachable!("the trials of this test are made otherwise")
        }

        fn lost(&self) -> Option<String> {
            self.0.borrow_mut().remove(0).then(|| "agent b: it is lost".into())
        }

        fn roots(&self) -> Vec<RoleRoot> {
            Vec::new()
        }
    }

    /// Attempts that lose an agent or not, each with a measurement or none. Which one is kept, and
    /// how many were made again.
    fn kept(attempts: &[(bool, bool)]) -> (u64, usize) {
        let losing = Losing(RefCell::new(attempts.iter().map(|(loses, _)| *loses).collect()));
        let mut nth = 0;
        let record = made_again(&losing, &Watch::nobody(), || {
            let mut record = ExampleTrial::hello().build();
            record.started_unix_ns = nth as u64;
            if !attempts[nth].1 {
                record.load = None;
            }
            nth += 1;
            record
        });
        assert_eq!(nth, attempts.len());
        (record.started_unix_ns, record.made_again.len())
    }

    #[test]
    fn the_first_whole_attempt_counts_else_the_last_that_measured() {
        assert_eq!(kept(&[(false, true)]), (0, 0));
        assert_eq!(kept(&[(true, true), (false, true)]), (1, 1));
        assert_eq!(kept(&[(true, true), (true, true), (false, true)]), (2, 2));
        // No others were found: nothing is made again without agents.
        assert_eq!(kept(&[(true, true), (true, false)]), (0, 1));
        assert_eq!(kept(&[(true, false)]), (0, 0));
        assert_eq!(kept(&[(true, true), (true, true), (true, true), (true, true)]), (3, 3));
    }
}
