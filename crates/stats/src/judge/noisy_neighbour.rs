//! SUSPECT: CPU time went to others: the hypervisor stole it, or processes that belong to no role
//! used it.
use pippin_model::host::usage::Usage;
use pippin_model::text::units::counted;
use pippin_model::trial::TrialSpec;
use pippin_model::trial::slice::{Slice, SliceHost};
use pippin_model::verdict::{Caveat, Severity};
use std::collections::BTreeSet;

use crate::judge::evidence::{Evidence, caveat, percent};

/// The share of the trial's processors above which others disturb it.
const LIMIT: f64 = 0.02;
/// The kernel counts the time of a processor in steps of 10 ms.
const TICK_NS: f64 = 10_000_000.0;

/// Who takes processor time from the roles.
struct Taker {
    of_slice: fn(&SliceHost) -> Option<f64>,
    cores: fn(&Usage) -> Option<f64>,
    id: &'static str,
    by: &'static str,
    advice: &'static str,
}

const HYPERVISOR: Taker = Taker {
    of_slice: |host| host.steal,
    cores: |usage| usage.steal_cores,
    id: "steal",
    by: "stolen by the hypervisor",
    advice: "measure at a quieter time or on dedicated hardware: other virtual machines compete for this processor",
};

const OTHER_PROGRAMS: Taker = Taker {
    of_slice: |host| host.foreign,
    cores: |usage| usage.foreign_cores,
    id: "foreign_cpu",
    by: "used by other processes",
    advice: "stop the other programs on this machine (`pippin doctor` shows them) and measure again",
};

/// Whether the hypervisor stole more than 2 % of the trial's processors. If the trial was measured
/// in slices, only used slices count, however short they are.
pub fn judge_steal(evidence: &Evidence) -> Option<Caveat> {
    judged(evidence, &HYPERVISOR)
}

/// Whether processes of no role used more than 2 % of the trial's processors. Slices count
/// likewise.
pub fn judge_foreign(evidence: &Evidence) -> Option<Caveat> {
    // The server's own work would be blamed on others.
    if evidence.context.unmeasured.is_some() {
        return None;
    }
    judged(evidence, &OTHER_PROGRAMS)
}

/// Whether none of the slices that are used was calm. Their figures are those of a disturbed host,
/// whatever its counters say of the time that they cover.
pub fn judge_slices(evidence: &Evidence) -> Option<Caveat> {
    let mut used = evidence.record.slices.iter().filter(|slice| slice.used).peekable();
    used.peek()?;
    let number = evidence.record.slices.iter().filter(|slice| slice.used).count();
    used.all(|slice| !slice.calm).then(|| {
        caveat(
            "no_calm_slices",
            Severity::Suspect,
            format!("none of the {} that are used was calm", counted(number as u64, "slice")),
            OTHER_PROGRAMS.advice,
        )
    })
}

/// Whether nobody can tell what other processes used, because the server is on this machine and is
/// not measured.
pub fn judge_unmeasured(evidence: &Evidence) -> Option<Caveat> {
    let reason = evidence.context.unmeasured?;
    let seen = format!(
        "the server on this machine is not measured ({reason}), so its work cannot be told from that of other programs"
    );
    let advice =
        "name its first process with --target-pid, or run Pippin as the server's user or as root";
    Some(caveat("server_not_measured", Severity::Suspect, seen, advice))
}

fn judged(evidence: &Evidence, taker: &Taker) -> Option<Caveat> {
    if !evidence.record.slices.is_empty() {
        return in_slices(evidence, taker);
    }
    let usage = evidence.record.usage.as_ref()?;
    let cores = (taker.cores)(usage)?;
    let of = processors(&evidence.record.spec, usage.busy_by_cpu.len())?;
    let share = cores / of;
    // In a short load, one step of the kernel's counters is more than the limit.
    let step = TICK_NS / usage.duration_ns.max(1) as f64;
    let limit = if step > LIMIT { LIMIT + step } else { LIMIT };
    let seen = || {
        format!(
            "{cores:.2} of {of:.0} processors {}: {} (limit {})",
            taker.by,
            percent(share),
            percent(limit).replace(".0 %", " %")
        )
    };
    (share > limit).then(|| caveat(taker.id, Severity::Suspect, seen(), taker.advice))
}

fn in_slices(evidence: &Evidence, taker: &Taker) -> Option<Caveat> {
    let slices = &evidence.record.slices;
    let used: Vec<_> = slices.iter().filter(|slice| slice.used).collect();
    let length: u64 = used.iter().map(|slice| slice.measured_ns).sum();
    let share = |slice: &&Slice| Some((taker.of_slice)(&slice.host)? * slice.measured_ns as f64);
    let weighted: Option<f64> = used.iter().map(share).sum();
    let share = weighted? / length.max(1) as f64;
    let calm = slices.iter().filter(|slice| slice.calm).count();
    let seen = || {
        format!(
            "{} of the processors {} in the {} that are used (limit 2 %); {calm} of {} were calm",
            percent(share),
            taker.by,
            counted(used.len() as u64, "slice"),
            counted(slices.len() as u64, "slice")
        )
    };
    (share > LIMIT).then(|| caveat(taker.id, Severity::Suspect, seen(), taker.advice))
}

/// The number of processors of the trial, or of the host if the target is not bound to any: it may
/// run on all of them, wherever the generator runs.
pub(crate) fn processors(spec: &TrialSpec, host: usize) -> Option<f64> {
    let bound: BTreeSet<u32> = [&spec.cpus.target, &spec.cpus.generator, &spec.cpus.services]
        .into_iter()
        .flat_map(|set| set.0.iter().copied())
        .collect();
    let count = if spec.cpus.target.is_empty() { host } else { bound.len() };
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
    fn a_server_that_is_not_measured_is_no_foreign_program() {
        use crate::judge::Context;
        use crate::judge::test::judged_in;
        let reason = "its process belongs to another user or is hidden";
        let context = Context { unmeasured: Some(reason), ..Context::default() };
        assert_eq!(judged_in(judge_foreign, &with(0.5, 0.0), &context), None);
        let found = judged_in(judge_unmeasured, &with(0.5, 0.0), &context).unwrap();
        assert!(found.advice.contains("--target-pid"), "{found:?}");
        assert_eq!(judged(judge_unmeasured, &with(0.5, 0.0)), None);
    }

    #[test]
    fn more_than_two_percent_is_seen() {
        assert!(judged(judge_foreign, &with(0.05, 0.0)).unwrap().evidence.contains("2.5 %"));
        assert_eq!(judged(judge_steal, &with(0.05, 0.0)), None);
        assert_eq!(judged(judge_steal, &with(0.0, 0.05)).unwrap().id, "steal");
    }

    #[test]
    fn only_the_slices_that_are_used_count() {
        use crate::rounds::calm;
        use pippin_model::trial::slice::SliceFigures;
        let slice = |round, steal| {
            let host = SliceHost { steal: Some(steal), foreign: Some(0.0), waiting: None };
            Slice {
                round,
                started_unix_ns: 0,
                measured_ns: 400_000_000,
                figures: SliceFigures::default(),
                calm: calm::is_calm(&host),
                host,
                used: false,
            }
        };
        let mut record = with(0.5, 0.5);
        record.slices = vec![slice(0, 0.0), slice(1, 0.6), slice(2, 0.01)];
        calm::choose(&mut record.slices, 3, &[]);
        assert_eq!(judged(judge_steal, &record), None, "the disturbed one is not used");
        assert_eq!(judged(judge_foreign, &record), None);
        calm::choose(&mut record.slices, 6, &[]);
        let found = judged(judge_steal, &record).unwrap();
        assert_eq!(
            found.evidence,
            "20.3 % of the processors stolen by the hypervisor in the 3 slices that are used (limit 2 %); 2 of 3 slices were calm"
        );
    }

    #[test]
    fn less_is_not_and_a_short_load_allows_for_a_step_of_the_counters() {
        assert_eq!(judged(judge_foreign, &with(0.04, 0.04)), None);
        assert_eq!(judged(judge_steal, &with(0.04, 0.04)), None);
        let short = |cores| {
            let mut record = with(cores, 0.0);
            record.usage.as_mut().unwrap().duration_ns = 200_000_000;
            record
        };
        assert_eq!(judged(judge_foreign, &short(0.13)), None, "6.5 % of 7 %");
        let found = judged(judge_foreign, &short(0.5)).unwrap();
        assert!(found.evidence.ends_with("25.0 % (limit 7 %)"), "{}", found.evidence);
    }

    /// Found on a machine of which other programs used 58 %: the only slice that was left was too
    /// short for the usage of the whole trial, and the result was VALID.
    #[test]
    fn a_slice_is_judged_however_short_the_trial_is() {
        use crate::rounds::calm;
        use pippin_model::trial::slice::SliceFigures;
        let host = SliceHost { steal: Some(0.0), foreign: Some(0.87), waiting: None };
        let mut record = with(0.0, 0.0);
        record.usage.as_mut().unwrap().duration_ns = 400_000_000;
        record.slices = vec![Slice {
            round: 0,
            started_unix_ns: 0,
            measured_ns: 400_000_000,
            figures: SliceFigures::default(),
            calm: calm::is_calm(&host),
            host,
            used: true,
        }];
        assert!(judged(judge_foreign, &record).unwrap().evidence.starts_with("87.0 %"));
        assert_eq!(judged(judge_slices, &record).unwrap().id, "no_calm_slices");
        record.usage = None;
        assert!(judged(judge_foreign, &record).is_some());
        record.slices[0].calm = true;
        assert_eq!(judged(judge_slices, &record), None);
        record.slices.clear();
        assert_eq!(judged(judge_slices, &record), None);
    }
}
