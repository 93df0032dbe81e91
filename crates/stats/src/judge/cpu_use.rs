//! NOTE: whether the processor limits the target.
use pippin_model::host::usage::Role;
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{Bound, cpu_bound, full_in_words, given_cores};
use crate::judge::evidence::{Evidence, caveat};

/// Whether the target keeps its processors busy or has some to spare.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let cores = evidence.cores(Role::Target)?;
    let given = counted(given_cores(evidence)?.round() as u64, "processor");
    let (id, seen) = match cpu_bound(evidence) {
        Some(Bound::SharedCores { busy, .. }) => (
            "cpu_bound",
            format!(
                "CPU-bound: {cores:.2} of {given}, which it shares and which are {:.0} % busy",
                busy * 100.0
            ),
        ),
        Some(Bound::AllItsCores { given, stolen, others, .. }) => {
            ("cpu_bound", full_in_words(cores, given, stolen, others))
        }
        Some(Bound::SomeOfItsCores { .. }) => {
            ("cpu_bound", format!("CPU-bound: {cores:.2} of {given} busy"))
        }
        None => ("not_cpu_bound", format!("not CPU-bound: {cores:.2} of {given} busy")),
    };
    Some(caveat(id, Severity::Note, seen, "nothing to do"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn nine_tenths_are_bound_and_eight_are_not() {
        assert_eq!(
            judged(judge, &ExampleTrial::hello().target_cores(0.92, 1).build()).unwrap().id,
            "cpu_bound"
        );
        assert_eq!(
            judged(judge, &ExampleTrial::hello().target_cores(0.8, 1).build()).unwrap().id,
            "not_cpu_bound"
        );
        let mut stolen = ExampleTrial::hello().target_cores(0.8, 1).build();
        stolen.usage.as_mut().unwrap().stolen_by_cpu = [(0, 0.12)].into();
        let found = judged(judge, &stolen).unwrap();
        assert_eq!(
            (found.id.as_str(), found.evidence.as_str()),
            (
                "cpu_bound",
                "CPU-bound: it keeps 0.80 of its 1 processor busy, and the hypervisor took 0.12"
            )
        );
        let mut beside = ExampleTrial::hello().target_cores(0.48, 1).build();
        let usage = beside.usage.as_mut().unwrap();
        (usage.foreign_cores, usage.busy_by_cpu) = (Some(0.48), [(0, 0.96)].into());
        assert_eq!(
            judged(judge, &beside).unwrap().evidence,
            "Its 1 processor is full: it used 0.48 of it, and other programs took 0.48"
        );
        let mut unknown = ExampleTrial::hello().build();
        unknown.usage = None;
        assert_eq!(judged(judge, &unknown), None);
    }

    #[test]
    fn on_shared_processors_the_processors_decide() {
        let mut shared = ExampleTrial::hello().target_cores(0.5, 1).build();
        shared.spec.cpus.generator = shared.spec.cpus.target.clone();
        shared.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.99)].into();
        assert!(judged(judge, &shared).unwrap().evidence.contains("99 % busy"));
        // Other programs use it, and the roles do not ask for more.
        let usage = shared.usage.as_mut().unwrap();
        usage.roles.values_mut().for_each(|role| role.cores = Some(0.15));
        assert_eq!(judged(judge, &shared).unwrap().id, "not_cpu_bound");
        shared.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.7)].into();
        assert_eq!(judged(judge, &shared).unwrap().id, "not_cpu_bound");
    }
}
