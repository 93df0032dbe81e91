//! SUSPECT: CPU time went to others: the hypervisor stole it, or processes that belong to no role
//! used it.
use pippin_model::caveat::{Caveat, Severity};
use pippin_model::trial::TrialSpec;
use std::collections::BTreeSet;

use crate::judge::evidence::{Evidence, caveat, percent};

/// The share of the trial's processors above which others disturb it.
const LIMIT: f64 = 0.02;

/// Whether the hypervisor stole more than 2 % of the trial's processors.
pub fn judge_steal(evidence: &Evidence) -> Option<Caveat> {
    let stolen = evidence.usage()?.steal_cores?;
    judged(
        evidence,
        stolen,
        "steal",
        "stolen by the hypervisor",
        "measure at a quieter time or on dedicated hardware: other virtual machines compete for this processor",
    )
}

/// Whether processes of no role used more than 2 % of the trial's processors.
pub fn judge_foreign(evidence: &Evidence) -> Option<Caveat> {
    let foreign = evidence.usage()?.foreign_cores?;
    judged(
        evidence,
        foreign,
        "foreign_cpu",
        "used by other processes",
        "stop the other programs on this machine (`pippin doctor` shows them) and measure again",
    )
}

fn judged(evidence: &Evidence, cores: f64, id: &str, by: &str, advice: &str) -> Option<Caveat> {
    let of = processors(&evidence.record.spec, evidence.usage()?.busy_by_cpu.len())?;
    let share = cores / of;
    let seen =
        || format!("{:.2} of {of:.0} processors {by}: {} (limit 2 %)", cores, percent(share));
    (share > LIMIT).then(|| caveat(id, Severity::Suspect, seen(), advice))
}

/// How many processors the trial has, or how many the host has if the trial is not bound to any.
fn processors(spec: &TrialSpec, host: usize) -> Option<f64> {
    let bound: BTreeSet<u32> = [&spec.cpus.target, &spec.cpus.generator, &spec.cpus.services]
        .into_iter()
        .flat_map(|set| set.0.iter().copied())
        .collect();
    let count = if bound.is_empty() { host } else { bound.len() };
    (count > 0).then_some(count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    fn with(foreign: f64, steal: f64) -> pippin_model::trial::TrialRecord {
        let mut record = ExampleTrial::hello().build(); // two processors
        let usage = record.usage.as_mut().unwrap();
        (usage.foreign_cores, usage.steal_cores) = (Some(foreign), Some(steal));
        record
    }

    #[test]
    fn more_than_two_percent_is_seen() {
        assert!(judged(judge_foreign, &with(0.05, 0.0)).unwrap().evidence.contains("2.5 %"));
        assert_eq!(judged(judge_steal, &with(0.05, 0.0)), None);
        assert_eq!(judged(judge_steal, &with(0.0, 0.05)).unwrap().id, "steal");
    }

    #[test]
    fn less_and_a_blink_are_not() {
        assert_eq!(judged(judge_foreign, &with(0.04, 0.04)), None);
        assert_eq!(judged(judge_steal, &with(0.04, 0.04)), None);
        let mut blink = with(0.5, 0.5);
        blink.usage.as_mut().unwrap().duration_ns = 300_000_000;
        assert_eq!(judged(judge_foreign, &blink), None);
    }
}
