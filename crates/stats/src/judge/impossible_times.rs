//! SUSPECT or NOTE: answers that came sooner than any answer can.
//!
//! Between a request and its answer lie two packets and two calls of the server. An answer that came
//! within 2 us of the begin of the call that sent its request was sent before the server had read
//! it, or a clock is wrong. Either way the least time of the load is not one of the server.
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat, percent};

/// Above this share, more than the least times may be wrong.
const FEW: f64 = 0.001;

/// Whether answers came sooner than any can (NOTE), and more than 0.1 % of all did (SUSPECT).
pub fn judge(evidence: &Evidence) -> Answer {
    let stamps = &evidence.needs_measured()?.stamps;
    if stamps.impossible == 0 {
        return Ok(None);
    }
    let all = stamps.kernel + stamps.user_space;
    let share = (stamps.impossible as f64 / all.max(1) as f64).min(1.0);
    let severity = if share > FEW { Severity::Suspect } else { Severity::Note };
    let seen = format!(
        "{} answers ({}) came less than 2 µs after the call began that sent their requests: no server is so fast",
        stamps.impossible,
        percent(share)
    );
    let advice = "the shortest times are not the server's: see whether it sends answers before it has read the requests, and whether the clock of this machine was set";
    Ok(Some(caveat("impossible_times", severity, seen, advice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_time_that_cannot_be_is_never_printed_in_silence() {
        let of = |answers| judged(judge, &ExampleTrial::hello().impossible_stamps(answers).build());
        let all = ExampleTrial::hello().build().load.unwrap().measured.requests.completed;
        assert_eq!(of(0), None);
        assert_eq!(of(1).map(|it| it.severity), Some(Severity::Note));
        let found = of(all / 100).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.contains("(1.0 %) came less than 2 µs"), "{}", found.evidence);
    }
}
