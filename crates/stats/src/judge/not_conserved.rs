//! INVALID: requests are not all accounted for. This is a fault of the generator.
use pippin_model::result::RequestCounts;
use pippin_model::verdict::Severity;

use crate::judge::answer::Answer;
use crate::judge::evidence::{Evidence, caveat};

/// Whether `scheduled = sent + unsent` and `sent = completed + failed + censored` hold in the
/// measured part and in every phase.
pub fn judge(evidence: &Evidence) -> Answer {
    let load = evidence.needs_load()?;
    let phases = load.phases.iter().map(|phase| (phase.name.as_str(), phase.measured.requests));
    let lost = std::iter::once(("the measured part", load.measured.requests))
        .chain(phases)
        .find(|(_, counts)| !counts.are_conserved());
    let Some((name, counts)) = lost else { return Ok(None) };
    let RequestCounts { scheduled, sent, unsent, completed, good, failed, censored, .. } = counts;
    let seen = format!(
        "in {name}: scheduled {scheduled} = sent {sent} + unsent {unsent}; sent = completed {completed} + failed {failed} + censored {censored}; good {good}"
    );
    Ok(Some(caveat(
        "not_conserved",
        Severity::Invalid,
        seen,
        "this is a fault of the generator: report it with the run's export",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_lost_request_is_seen() {
        let mut record = ExampleTrial::hello().censored(10).build();
        assert_eq!(judged(judge, &record), None);
        record.load.as_mut().unwrap().measured.requests.sent += 1;
        assert_eq!(judged(judge, &record).unwrap().severity, Severity::Invalid);
    }

    #[test]
    fn also_in_a_phase() {
        let mut record = ExampleTrial::devices(100).build();
        let phase = |requests| pippin_model::result::Phase {
            name: "ramp_up".into(),
            from_ns: 0,
            measured: pippin_model::result::Measured { requests, ..Default::default() },
        };
        let load = record.load.as_mut().unwrap();
        load.phases.push(phase(RequestCounts {
            scheduled: 5,
            sent: 5,
            completed: 4,
            good: 4,
            failed: 1,
            ..RequestCounts::default()
        }));
        assert_eq!(judged(judge, &record), None);
        record.load.as_mut().unwrap().phases.last_mut().unwrap().measured.requests.good = 5;
        assert!(judged(judge, &record).unwrap().evidence.contains("in ramp_up"));
    }
}
