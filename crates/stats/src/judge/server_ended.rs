//! INVALID: the server ended while it was loaded. SUSPECT or NOTE: processes of it ended and others
//! went on.
use pippin_model::text::units::{counted, format_ns};
use pippin_model::trial::{EndedProcess, Exit};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::UNKNOWN;
use crate::judge::evidence::{Evidence, caveat, percent};

/// The share of the measured part that may be unseen without doubt.
const NEGLIGIBLE: f64 = 0.02;

/// The signal by which the kernel ends a process for lack of memory (signal(7)).
const SIGKILL: i32 = 9;

/// Caveats that would blame something else for what the end of a server causes.
const BLAMES: [&str; 21] = [
    "no_result",
    "no_answers",
    "errors",
    "rate_not_achieved",
    "connections_missing",
    "interrupted",
    "server_closes",
    "listen_overflows",
    "listen_queue",
    "no_steady_state",
    "stalls",
    "bimodal",
    "delayed_ack",
    "littles_law",
    "cores_unused",
    "unanswered",
    "slow_connections",
    "slows_down",
    "accepts_slowly",
    "waits",
    "redirects",
];

/// Whether nobody served any more at the end of the load.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let end = evidence.record.server_end.as_ref()?;
    let last = evidence.record.ended.last()?;
    let how = end.exit.map_or_else(|| "ended".into(), |exit| exit.to_string());
    let mut seen = format!("process {} ({}) {how}{}", last.pid, last.name, into_the_load(last));
    if end.exit.is_none() {
        seen.push_str(", and nobody listened any more");
    }
    let is_killed = end.killed_for_memory.is_some_and(|killed| killed > 0)
        && end.exit.is_none_or(|exit| exit == Exit::Signal(SIGKILL));
    if is_killed {
        seen.push_str("; meanwhile the kernel killed a process for lack of memory");
    }
    let advice = if is_killed {
        "give the server more memory, or measure it with less load"
    } else if end.exit.is_some() {
        "see the last lines of its log"
    } else {
        "see the server's log; --keep-going loads on while it is started again"
    };
    Some(caveat("server_ended", Severity::Invalid, seen, advice))
}

/// When a process ended, where that is known.
fn into_the_load(ended: &EndedProcess) -> String {
    ended.after_ns.map_or(String::new(), |after| format!(" {} into the load", format_ns(after)))
}

/// Whether processes of the server ended while others went on.
pub fn judge_replaced(evidence: &Evidence) -> Option<Caveat> {
    let ended = &evidence.record.ended;
    if evidence.record.server_end.is_some() || ended.is_empty() {
        return None;
    }
    let names: Vec<String> = ended
        .iter()
        .map(|one| format!("{} ({}){}", one.pid, one.name, into_the_load(one)))
        .collect();
    let (whole_ns, unseen_ns) = evidence
        .record
        .usage
        .as_ref()
        .map_or((0, 0), |usage| (usage.duration_ns, usage.unseen_ns.unwrap_or(0)));
    let seen = format!(
        "{} of the server ended while others went on: {}. All of the server was seen for {} of {}",
        counted(ended.len() as u64, "process"),
        names.join(", "),
        format_ns(whole_ns.saturating_sub(unseen_ns)),
        format_ns(whole_ns)
    );
    let share = unseen_ns as f64 / whole_ns.max(1) as f64;
    let (severity, advice) = if share > NEGLIGIBLE {
        (
            Severity::Suspect,
            format!("its CPU time is a lower bound: {} of the time is missing", percent(share)),
        )
    } else {
        (Severity::Note, "nothing to do".into())
    };
    Some(caveat("server_replaced", severity, seen, advice))
}

/// Takes away what blames something else, if the server ended.
pub fn blame_nothing_else(found: &mut Vec<Caveat>) {
    if found.iter().any(|caveat| caveat.id == "server_ended") {
        found.retain(|caveat| caveat.id != UNKNOWN && !BLAMES.contains(&caveat.id.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use crate::judge::{Context, EXPLANATIONS, TRIAL_JUDGES, judge_trial};
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::ErrorKind;
    use pippin_model::trial::{Failure, ServerEnd, Stage, TrialRecord};

    fn ended(record: &mut TrialRecord) {
        let one = EndedProcess { pid: 77, name: "node".into(), after_ns: Some(1_000_000_000) };
        record.ended = vec![one];
    }

    #[test]
    fn the_end_is_named_and_nothing_else_is_blamed() {
        let mut record = ExampleTrial::hello().error(ErrorKind::ConnectRefused, 90_000).build();
        let measured = &mut record.load.as_mut().unwrap().measured;
        measured.connections.closed_by_server = 300;
        measured.closes.by_requests.add(1_000, 300);
        ended(&mut record);
        let tail = vec!["listening".into(), "FATAL out of range".into(), String::new()];
        let end = ServerEnd { exit: None, killed_for_memory: Some(0), log_tail: tail };
        record.server_end = Some(end);
        let all = judge_trial(&record, &Context::default());
        assert_eq!(
            all[0].evidence,
            "process 77 (node) ended 1.00 s into the load, and nobody listened any more"
        );
        let serious: Vec<&str> =
            all.iter().filter(|it| it.severity > Severity::Note).map(|it| it.id.as_str()).collect();
        assert_eq!(serious, ["server_ended"]);
        let killed = |exit| ServerEnd { exit, killed_for_memory: Some(1), log_tail: Vec::new() };
        let lacks = "; meanwhile the kernel killed a process for lack of memory";
        for exit in [None, Some(Exit::Signal(SIGKILL))] {
            record.server_end = Some(killed(exit));
            let found = judged(judge, &record).unwrap();
            assert!(
                found.advice.contains("memory") && found.evidence.ends_with(lacks),
                "{found:?}"
            );
        }
        record.server_end = Some(killed(Some(Exit::Code(70))));
        let found = judged(judge, &record).unwrap();
        assert!(found.advice.contains("log"), "somebody else was killed");
        assert!(!found.evidence.contains("memory"), "{found:?}");
    }

    /// As `pippin run` records it: the trial failed, and what was measured until then is kept.
    #[test]
    fn of_a_target_how_its_process_ended_is_said_once() {
        let mut record = ExampleTrial::hello().error(ErrorKind::ConnectRefused, 90_000).build();
        record.load.as_mut().unwrap().interrupted = true;
        ended(&mut record);
        record.server_end = Some(ServerEnd { exit: Some(Exit::Code(70)), ..ServerEnd::default() });
        record.failure = Some(Failure {
            stage: Stage::Load,
            message: "test/it exited with code 70 while it was measured".into(),
            log_tail: vec!["panic".into()],
        });
        let all = judge_trial(&record, &Context::default());
        assert_eq!(all[0].evidence, "process 77 (node) exited with code 70 1.00 s into the load");
        let serious: Vec<&str> =
            all.iter().filter(|it| it.severity > Severity::Note).map(|it| it.id.as_str()).collect();
        assert_eq!(serious, ["server_ended"]);
    }

    #[test]
    fn what_was_not_seen_is_said() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(judged(judge_replaced, &record), None);
        ended(&mut record);
        let whole = record.usage.as_ref().unwrap().duration_ns;
        record.usage.as_mut().unwrap().unseen_ns = Some(whole / 100);
        assert_eq!(judged(judge_replaced, &record).unwrap().severity, Severity::Note);
        record.usage.as_mut().unwrap().unseen_ns = Some(whole / 2);
        let found = judged(judge_replaced, &record).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.advice.contains("50.0 % of the time is missing"), "{found:?}");
        assert_eq!(judged(judge, &record), None);
    }

    #[test]
    fn every_blame_is_the_name_of_a_caveat() {
        let known: Vec<&str> = TRIAL_JUDGES
            .iter()
            .map(|(names, ..)| *names)
            .chain(EXPLANATIONS.iter().map(|(names, ..)| *names))
            .flat_map(|names| names.iter().copied())
            .collect();
        assert!(BLAMES.iter().all(|blame| known.contains(blame)));
    }
}
