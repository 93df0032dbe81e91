//! INVALID: targets were not measured in the same way, so they must not be compared.
use pippin_model::caveat::{Caveat, Severity};
use pippin_model::trial::{TrialRecord, TrialSpec};

use crate::judge::evidence::{Evidence, caveat};
use crate::judge::run::{RunCaveats, note};

/// Whether this trial's workload, profile, processors or `WORKERS` differ from the run's first
/// trial's.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    difference(evidence.context.first?, &evidence.record.spec)
}

/// The same over all trials.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    let Some(first) = records.first() else { return };
    for record in records {
        if let Some(caveat) = difference(&first.spec, &record.spec) {
            note(found, &record.spec.target, caveat);
        }
    }
}

fn difference(first: &TrialSpec, this: &TrialSpec) -> Option<Caveat> {
    let mut differs = Vec::new();
    let mut compare = |what: &str, a: String, b: String| {
        if a != b {
            differs.push(format!("{what} {b} where {} had {a}", first.target));
        }
    };
    compare("workload", first.workload.clone(), this.workload.clone());
    compare("profile", format!("{:?}", first.profile), format!("{:?}", this.profile));
    compare("WORKERS", first.workers.to_string(), this.workers.to_string());
    for (role, a, b) in [
        ("target", &first.cpus.target, &this.cpus.target),
        ("generator", &first.cpus.generator, &this.cpus.generator),
        ("services", &first.cpus.services, &this.cpus.services),
    ] {
        compare(&format!("processors of the {role}"), a.to_string(), b.to_string());
    }
    (!differs.is_empty()).then(|| {
        caveat(
            "profiles_differ",
            Severity::Invalid,
            differs.join("; "),
            "measure all targets in one run of one plan",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::judged_in;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn another_profile_or_other_workers_are_seen() {
        let first = ExampleTrial::hello().build();
        let context = Context { first: Some(&first.spec), ..Context::default() };
        let closing = ExampleTrial::hello().requests_per_connection(1).build();
        assert_eq!(judged_in(judge, &closing, &context).unwrap().severity, Severity::Invalid);
        let mut other = ExampleTrial::hello().target("ruby/rails").build();
        other.spec.workers = 4;
        assert_eq!(
            judged_in(judge, &other, &context).unwrap().evidence,
            "WORKERS 4 where go/net-http had 1"
        );
        let mut found = RunCaveats::new();
        judge_run(&[first, other], &mut found);
        assert_eq!(found.keys().map(ToString::to_string).collect::<Vec<_>>(), ["ruby/rails"]);
    }

    #[test]
    fn another_target_repetition_and_seed_are_alike() {
        let first = ExampleTrial::hello().build();
        let context = Context { first: Some(&first.spec), ..Context::default() };
        let mut other = ExampleTrial::hello().target("ruby/rails").build();
        (other.spec.repetition, other.spec.seed) = (2, 77);
        assert_eq!(judged_in(judge, &other, &context), None);
    }
}
