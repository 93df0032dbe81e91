//! SUSPECT: CPU time went to others: the hypervisor stole it, or processes that belong to no role
//! used it.
use pippin_model::host::usage::Passing;
use pippin_model::text::units::counted;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};
use std::ops::RangeInclusive;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::host::{self, Taker};

const STOP_OTHERS: &str =
    "stop the other programs on this machine (`pippin doctor` shows them) and measure again";

/// Short connections per answer of a possible tier. More than ten for one answer belong to another
/// load.
const SHORT_PER_ANSWER: RangeInclusive<f64> = 0.02..=10.0;

/// The names of the caveats about the host that are judged over all repetitions together.
pub const IDS: [&str; 3] = ["steal", "other_programs", "no_calm_slices"];

/// Whether the hypervisor took more than 2 % of the trial's processors. If the trial was measured
/// in slices, only used slices count.
pub fn judge_steal(evidence: &Evidence) -> Answer {
    of_trial(evidence, Taker::Hypervisor)
}

/// Whether processes of no role used more than 2 % of the trial's processors. Of a trial in
/// slices, only used slices count.
pub fn judge_other_programs(evidence: &Evidence) -> Answer {
    // The server's own work would be blamed on others.
    if evidence.context.unmeasured.is_some() {
        return Ok(None);
    }
    of_trial(evidence, Taker::OtherPrograms)
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

/// Whether none of the slices that are used was calm.
pub fn judge_slices(evidence: &Evidence) -> Answer {
    Ok(no_calm_slices(&[evidence.record]))
}

/// The hosts of agents are judged by the agents themselves, and this host had no part in the load.
fn of_trial(evidence: &Evidence, by: Taker) -> Answer {
    if !evidence.record.agents.is_empty() && evidence.record.usage.is_none() {
        return Ok(None);
    }
    judge(&[evidence.record], by)
}

/// Processes to which many short connections went, one for fifty answers to ten for each: each may be a tier
/// of the server that could not be told from other programs. In words, with what to do.
pub fn perhaps_tiers(trials: &[&TrialRecord]) -> Option<(String, String)> {
    let passing = trials.iter().filter_map(|record| {
        // Nobody works for a server that answers nothing.
        let answered = record.load.as_ref()?.measured.answered.completed;
        let answers = (answered > 0).then_some(answered)? as f64;
        let passing = record.usage.as_ref()?.passing.iter();
        let per_answer = passing.map(move |one| (one, one.connections as f64 / answers));
        per_answer
            .filter(|(_, share)| SHORT_PER_ANSWER.contains(share))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    });
    let (one, _) = passing.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let Passing { name, pid, at, connections } = one;
    let seen = format!(
        "{name} (process {pid}) at {at} got {} meanwhile: it may work for the server, whose connections to it are too short to be seen",
        counted(*connections, "short connection")
    );
    let advice = format!(
        "if {name} works for the server, count it too: --target-pid with the server's process and with {pid}; if not, {STOP_OTHERS}"
    );
    Some((seen, advice))
}

/// Whether somebody took more than 2 % of the processors over all of these trials of one target.
///
/// # Errors
/// If it is not known, or the time is too short.
pub fn judge(trials: &[&TrialRecord], by: Taker) -> Answer {
    let taken = host::taken(trials, by)?;
    let (id, who, advice) = match by {
        Taker::Hypervisor => (
            "steal",
            "stolen by the hypervisor",
            "measure at a quieter time or on dedicated hardware: other virtual machines compete for this processor",
        ),
        Taker::OtherPrograms => ("other_programs", "used by other programs", STOP_OTHERS),
    };
    let perhaps = (by == Taker::OtherPrograms).then(|| perhaps_tiers(trials)).flatten();
    let seen = format!(
        "{} of the processors {who}{} (limit 2 %)",
        percent(taken.share),
        in_slices(trials).unwrap_or_default()
    );
    Ok(taken.is_above_limit()?.then(|| match perhaps {
        Some((who, what)) => caveat(id, Severity::Suspect, format!("{seen}; {who}"), &what),
        None => caveat(id, Severity::Suspect, seen, advice),
    }))
}

/// Whether none of the used slices of these trials of one target was calm.
#[must_use]
pub fn no_calm_slices(trials: &[&TrialRecord]) -> Option<Caveat> {
    let used = trials.iter().flat_map(|record| &record.slices).filter(|slice| slice.used).count();
    host::has_no_calm_slice(trials).then(|| {
        caveat(
            "no_calm_slices",
            Severity::Suspect,
            format!("none of the {} that are used was calm", counted(used as u64, "slice")),
            STOP_OTHERS,
        )
    })
}

/// ` in the 3 slices that are used, of which 2 were calm`.
fn in_slices(trials: &[&TrialRecord]) -> Option<String> {
    let used: Vec<_> =
        trials.iter().flat_map(|record| &record.slices).filter(|slice| slice.used).collect();
    let calm = used.iter().filter(|slice| slice.calm).count();
    let were = if calm == 1 { "was" } else { "were" };
    (!used.is_empty()).then(|| {
        format!(
            " in the {} that are used, of which {calm} {were} calm",
            counted(used.len() as u64, "slice")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::slice::Slice;
    use pippin_model::trial::slice::SliceHost;

    fn with(others: f64, steal: f64) -> pippin_model::trial::TrialRecord {
        let mut record = ExampleTrial::hello().build(); // two processors
        let usage = record.usage.as_mut().unwrap();
        (usage.other_cores, usage.steal_cores) = (Some(others), Some(steal));
        record
    }

    #[test]
    fn a_server_that_is_not_measured_is_no_foreign_program() {
        use crate::judge::Context;
        use crate::judge::test::judged_in;
        let reason = "its process belongs to another user or is hidden";
        let context = Context { unmeasured: Some(reason), ..Context::default() };
        assert_eq!(judged_in(judge_other_programs, &with(0.5, 0.0), &context), None);
        let found = judged_in(judge_unmeasured, &with(0.5, 0.0), &context).unwrap();
        assert!(found.advice.contains("--target-pid"), "{found:?}");
        assert_eq!(judged(judge_unmeasured, &with(0.5, 0.0)), None);
    }

    /// `pippin load --cpus 1` binds the generator. The server may use the whole machine, so that other
    /// programs are a part of that and not of the generator's processor.
    #[test]
    fn the_generators_processors_are_not_those_of_the_machine() {
        let mut record = with(1.03, 0.0);
        record.spec.cpus.target.0.clear();
        record.spec.cpus.generator = pippin_model::plan::cpus::CpuSet([1].into());
        record.usage.as_mut().unwrap().busy_by_cpu = [(0, 1.0), (1, 1.0)].into();
        let found = judged(judge_other_programs, &record).unwrap();
        assert!(found.evidence.starts_with("51.5 % of the processors"), "{found:?}");
    }

    #[test]
    fn a_tier_behind_short_connections_is_named_beside_other_programs() {
        let passing = |connections| {
            let mut record = with(0.5, 0.0);
            let at = "127.0.0.1:9000".parse().unwrap();
            let one = Passing { name: "php-fpm".into(), pid: 812, at, connections };
            record.usage.as_mut().unwrap().passing = vec![one];
            record
        };
        let answers = with(0.5, 0.0).load.unwrap().measured.answered.completed;
        let found = judged(judge_other_programs, &passing(answers / 40)).unwrap();
        assert!(found.evidence.contains("; php-fpm (process 812) at 127.0.0.1:9000"), "{found:?}");
        assert!(found.advice.contains("--target-pid"), "{found:?}");
        let found = judged(judge_other_programs, &passing(answers / 60)).unwrap();
        assert!(!found.evidence.contains("php-fpm"), "{found:?}");
        let found = judged(judge_other_programs, &passing(answers * 11)).unwrap();
        assert!(!found.evidence.contains("php-fpm"), "of another load: {found:?}");
        let mut silent = passing(answers / 40);
        silent.load.as_mut().unwrap().measured.answered.completed = 0;
        assert_eq!(perhaps_tiers(&[&silent]), None);
        let mut calm = passing(answers);
        calm.usage.as_mut().unwrap().other_cores = Some(0.001);
        assert_eq!(judged(judge_other_programs, &calm), None);
    }

    #[test]
    fn more_than_two_percent_is_seen() {
        assert!(judged(judge_other_programs, &with(0.05, 0.0)).unwrap().evidence.contains("2.5 %"));
        assert_eq!(judged(judge_steal, &with(0.05, 0.0)), None);
        assert_eq!(judged(judge_steal, &with(0.0, 0.05)).unwrap().id, "steal");
    }

    #[test]
    fn only_the_slices_that_are_used_count() {
        use crate::rounds::calm;
        use pippin_model::trial::slice::SliceFigures;
        let slice = |round, steal| {
            let host = SliceHost { steal: Some(steal), others: Some(0.0), ..SliceHost::default() };
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
        record.company = Some(pippin_model::trial::Company { rounds: 3, ..Default::default() });
        calm::choose(&mut record.slices, 3, &[]);
        assert_eq!(judged(judge_steal, &record), None, "the disturbed one is not used");
        assert_eq!(judged(judge_other_programs, &record), None);
        calm::choose(&mut record.slices, 6, &[]);
        let found = judged(judge_steal, &record).unwrap();
        assert_eq!(
            found.evidence,
            "20.3 % of the processors stolen by the hypervisor in the 3 slices that are used, of which 2 were calm (limit 2 %)"
        );
    }

    #[test]
    fn less_is_not_and_a_short_load_allows_for_a_step_of_the_counters() {
        assert_eq!(judged(judge_other_programs, &with(0.04, 0.04)), None);
        assert_eq!(judged(judge_steal, &with(0.04, 0.04)), None);
    }

    #[test]
    fn a_short_load_shows_much_and_cannot_tell_little() {
        let short = |others, ms: u64| {
            let mut record = with(others, 0.0);
            record.usage.as_mut().unwrap().duration_ns = ms * 1_000_000;
            let context = crate::judge::Context::default();
            judge_other_programs(&Evidence { record: &record, context: &context })
        };
        assert_eq!(short(0.9, 300).unwrap().unwrap().id, "other_programs");
        assert!(short(0.01, 300).unwrap_err().0.starts_with("measured for 0.30 s"));
        assert_eq!(short(0.01, 500), Ok(None));
        let mut unknown = with(0.9, 0.0);
        unknown.usage = None;
        let context = crate::judge::Context::default();
        let evidence = Evidence { record: &unknown, context: &context };
        assert!(judge_other_programs(&evidence).is_err() && judge_steal(&evidence).is_err());
    }

    /// Found on a machine of which other programs used 58 %: the only slice that was left was too
    /// short for the usage of the whole trial, and the result was VALID.
    #[test]
    fn a_slice_is_judged_however_short_the_trial_is() {
        use crate::rounds::calm;
        use pippin_model::trial::slice::SliceFigures;
        let host = SliceHost { steal: Some(0.0), others: Some(0.87), ..SliceHost::default() };
        let mut record = with(0.0, 0.0);
        record.usage.as_mut().unwrap().duration_ns = 400_000_000;
        record.company = Some(pippin_model::trial::Company { rounds: 1, ..Default::default() });
        record.slices = vec![Slice {
            round: 0,
            started_unix_ns: 0,
            measured_ns: 400_000_000,
            figures: SliceFigures::default(),
            calm: calm::is_calm(&host),
            host,
            used: true,
        }];
        assert!(judged(judge_other_programs, &record).unwrap().evidence.starts_with("87.0 %"));
        assert_eq!(judged(judge_slices, &record).unwrap().id, "no_calm_slices");
        record.usage = None;
        assert!(judged(judge_other_programs, &record).is_some());
        record.slices[0].calm = true;
        assert_eq!(judged(judge_slices, &record), None);
        record.slices.clear();
        assert_eq!(judged(judge_slices, &record), None);
    }

    #[test]
    fn short_repetitions_are_judged_together() {
        let records: Vec<_> = (0..5)
            .map(|_| {
                let mut record = with(0.06, 0.0);
                record.usage.as_mut().unwrap().duration_ns = 120_000_000;
                record
            })
            .collect();
        let trials: Vec<&TrialRecord> = records.iter().collect();
        assert!(judge(&trials[..1], Taker::OtherPrograms).is_err());
        assert!(judge(&trials, Taker::OtherPrograms).unwrap().is_some());
        assert!(host::is_disturbed(&trials) && !host::is_disturbed(&trials[..1]));
    }
}
