//! INVALID: there is no result, or nothing was answered. SUSPECT: the load was stopped early.
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat};

/// Whether the trial failed before there was a result.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let failure = evidence.record.failure.as_ref();
    if evidence.load().is_some() && failure.is_none() {
        return None;
    }
    let seen = failure.map_or_else(
        || "no load was applied".into(),
        |failure| format!("failed at stage `{}`: {}", failure.stage.name(), failure.message),
    );
    Some(caveat(
        "no_result",
        Severity::Invalid,
        seen,
        "read the target's log; `pippin targets check` shows the step that fails",
    ))
}

/// Whether nothing at all was answered. A step of a capacity search may be so far beyond the
/// capacity.
pub fn judge_silence(evidence: &Evidence) -> Answer {
    let measured = evidence.needs_measured()?;
    if ended_in_warm_up(evidence) {
        return Ok(Some(caveat("no_answers", Severity::Invalid, IN_WARM_UP.into(), AGAIN)));
    }
    let has_begun = measured.by_connection.with_head_only > 0;
    let more = if has_begun { ": heads came, no answer ended" } else { "" };
    let seen = || format!("0 complete answers to {} requests sent{more}", measured.requests.sent);
    let severity = if evidence.goes_beyond() { Severity::Note } else { Severity::Invalid };
    let advice = if has_begun {
        "an endless stream (server-sent events, a log that is followed) has no end that could be measured: load a path whose answers end, or measure longer than one takes"
    } else {
        "measure longer than one answer takes, and see the errors by kind"
    };
    Ok((measured.requests.completed == 0).then(|| caveat("no_answers", severity, seen(), advice)))
}

/// Whether the load was stopped before its end.
pub fn judge_interruption(evidence: &Evidence) -> Option<Caveat> {
    let load = evidence.load().filter(|load| load.interrupted)?;
    if ended_in_warm_up(evidence) {
        return None;
    }
    let seen = format!(
        "stopped after {:.1} s of the measured part",
        load.measured.duration_ns as f64 / 1e9
    );
    Some(caveat("interrupted", Severity::Suspect, seen, AGAIN))
}

const AGAIN: &str = "run it again to its end";
/// What is known of a load that was stopped in its warm-up.
pub(crate) const IN_WARM_UP: &str = "it was stopped in its warm-up, so nothing was measured";

/// Whether the load was stopped before anything was measured. Then its counts are no zeroes.
pub(crate) fn ended_in_warm_up(evidence: &Evidence) -> bool {
    let load = evidence.load();
    load.is_some_and(|load| load.interrupted && load.measured.duration_ns == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::trial::{Failure, Stage};

    #[test]
    fn a_failure_is_named() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(judged(judge, &record), None);
        record.load = None;
        assert_eq!(judged(judge, &record).unwrap().evidence, "no load was applied");
        record.failure = Some(Failure {
            stage: Stage::Ready,
            message: "no answer within 20 s".into(),
            log_tail: vec![],
        });
        let found = judged(judge, &record).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("`ready`: no answer within 20 s"));
    }

    #[test]
    fn a_load_that_was_stopped_in_its_warm_up_says_so_and_nothing_else() {
        let mut record = ExampleTrial::hello().build();
        let load = record.load.as_mut().unwrap();
        load.interrupted = true;
        load.measured = pippin_model::result::Measured {
            connections: pippin_model::result::ConnectionCounts { asked: 10, ..Default::default() },
            ..Default::default()
        };
        load.windows.clear();
        let all = crate::judge::judge_trial(&record, &crate::judge::Context::default());
        let doubts = all.iter().filter(|caveat| caveat.severity > Severity::Note);
        let doubts: Vec<&str> = doubts.map(|caveat| caveat.evidence.as_str()).collect();
        assert!(doubts[0] == IN_WARM_UP && !all.iter().any(|it| it.id == "connections_missing"));
    }

    #[test]
    fn silence_is_invalid_and_one_answer_is_not() {
        assert!(judged(judge_silence, &ExampleTrial::hello().completed(0).build()).is_some());
        assert_eq!(judged(judge_silence, &ExampleTrial::hello().completed(1).build()), None);
        let mut endless = ExampleTrial::hello().completed(0).build();
        endless.load.as_mut().unwrap().measured.by_connection.with_head_only = 1;
        let found = judged(judge_silence, &endless).unwrap();
        assert!(found.evidence.ends_with("sent: heads came, no answer ended"), "{found:?}");
        assert!(found.advice.contains("endless stream"), "{found:?}");
    }

    #[test]
    fn an_interruption_is_marked() {
        let mut record = ExampleTrial::hello().build();
        assert_eq!(judged(judge_interruption, &record), None);
        record.load.as_mut().unwrap().interrupted = true;
        assert_eq!(judged(judge_interruption, &record).unwrap().severity, Severity::Suspect);
    }
}
