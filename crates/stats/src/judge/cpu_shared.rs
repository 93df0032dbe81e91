//! SUSPECT: the target shares processors with the generator or a service.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};

/// Whether roles share processors.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let cpus = &evidence.record.spec.cpus;
    let seen = || {
        format!(
            "target on processors {}, generator on {}, services on {}",
            cpus.target, cpus.generator, cpus.services
        )
    };
    cpus.is_shared().then(|| {
        caveat(
            "cpu_shared",
            Severity::Suspect,
            seen(),
            "keep the roles apart ([cpus] in the plan): on shared processors, the generator slows down a fast target",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::plan::cpus::CpuSet;

    #[test]
    fn overlap_with_the_target_is_seen_and_between_the_others_is_not() {
        let mut record = ExampleTrial::hello().build();
        record.spec.cpus.services = record.spec.cpus.generator.clone();
        assert_eq!(judged(judge, &record), None);
        record.spec.cpus.generator = CpuSet::parse("0-1").unwrap();
        assert_eq!(
            judged(judge, &record).unwrap().evidence,
            "target on processors 0, generator on 0-1, services on 1"
        );
    }
}
