//! INVALID: targets were not measured in the same way, so they must not be compared.
use pippin_model::plan::profile::{Profile, Steps};
use pippin_model::trial::{TrialRecord, TrialSpec};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};
use crate::judge::run::{RunCaveats, note};

/// Whether this trial's workload, profile, processors or `WORKERS` differ from the run's first
/// trial's.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    difference(evidence.context.first?, &evidence.record.spec)
}

/// Judges all trials of a run: their profiles must be alike.
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
    compare("WORKERS", first.workers.to_string(), this.workers.to_string());
    for (role, a, b) in [
        ("target", &first.cpus.target, &this.cpus.target),
        ("generator", &first.cpus.generator, &this.cpus.generator),
        ("services", &first.cpus.services, &this.cpus.services),
    ] {
        // A server that ran before was given no processors, which is no difference of the plan.
        if !(a.is_empty() || b.is_empty()) {
            compare(&format!("processors of the {role}"), a.to_string(), b.to_string());
        }
    }
    let keys = differing_keys(&first.profile, &this.profile);
    if !keys.is_empty() {
        let keys = keys.join(", ");
        differs.push(format!("the profile is not that of {}: {keys}", first.target));
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

/// The parts in which a profile differs from that of the run's first trial. What is searched before
/// an overload has a profile of its own, which follows from that of the overload.
fn differing_keys(first: &Profile, this: &Profile) -> Vec<&'static str> {
    let searched = first.capacity_search().filter(|_| matches!(this.steps, Steps::Search { .. }));
    let Profile { schedule, connections, stop, warm_up, steps, protocol, walk_steps, network } =
        searched.as_ref().unwrap_or(first);
    let parts = [
        ("schedule", *schedule == this.schedule),
        ("connections", *connections == this.connections),
        ("duration", *stop == this.stop),
        ("warm_up", *warm_up == this.warm_up),
        ("steps", *steps == this.steps),
        ("protocol", *protocol == this.protocol),
        ("steps of a walk", *walk_steps == this.walk_steps),
        ("network", *network == this.network),
    ];
    parts.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Context;
    use crate::judge::test::judged_in;
    use pippin_model::example::{ExampleTrial, run as example};
    use pippin_model::plan::cpus::CpuSet;
    use pippin_model::plan::objective::{Bound, Objective};
    use pippin_model::schedule::overload::Search;

    #[test]
    fn another_profile_or_other_workers_are_seen() {
        let first = ExampleTrial::hello().build();
        let context = Context { first: Some(&first.spec), ..Context::default() };
        let closing = ExampleTrial::hello().requests_per_connection(1).build();
        let found = judged_in(judge, &closing, &context).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert_eq!(found.evidence, "the profile is not that of go/net-http: connections");
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
    fn other_processors_are_seen_and_those_of_a_server_that_ran_before_are_not() {
        let first = ExampleTrial::hello().build();
        let context = Context { first: Some(&first.spec), ..Context::default() };
        let mut other = ExampleTrial::hello().build();
        other.spec.cpus.generator = CpuSet::parse("1-2").unwrap();
        let seen = judged_in(judge, &other, &context).unwrap().evidence;
        assert_eq!(seen, "processors of the generator 1-2 where go/net-http had 1");
        let mut ran_before = ExampleTrial::hello().build();
        ran_before.spec.cpus.target = CpuSet::default();
        assert_eq!(judged_in(judge, &ran_before, &context), None);
    }

    #[test]
    fn the_search_before_an_overload_belongs_to_it() {
        let mut overload = example::overload().trials.remove(0);
        let objective = Objective(vec![Bound::Errors { below: 0.01 }]);
        let Steps::Overload { search, .. } = &mut overload.spec.profile.steps else { panic!() };
        *search = Some(Search { objective });
        let context = Context { first: Some(&overload.spec), ..Context::default() };
        let mut step = overload.clone();
        step.spec.profile = overload.spec.profile.capacity_search().unwrap();
        assert_eq!(judged_in(judge, &step, &context), None);
        step.spec.profile.connections.count += 1;
        let found = judged_in(judge, &step, &context).unwrap();
        assert!(found.evidence.ends_with(": connections"), "{}", found.evidence);
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
