//! NOTE: whether the processor limits the target.
use pippin_model::host::usage::Role;
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};

use crate::bottleneck::bound::{Bound, cpu_bound, given_cores, taken};
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
        Some(Bound::AllItsCores { stolen, others, .. }) => {
            ("cpu_bound", format!("CPU-bound: {cores:.2} of {given} busy{}", taken(stolen, others)))
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
            ("cpu_bound", "CPU-bound: 0.80 of 1 processor busy, and the hypervisor took 0.12")
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
