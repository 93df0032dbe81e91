//! INVALID: an agent of the fleet is missing, or was late. Doubts about one agent count for all.
use pippin_model::text::few::few;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::trial::agent::AgentPart;
use pippin_model::verdict::{Caveat, Severity};
use std::collections::BTreeSet;

use crate::judge::evidence::{Evidence, caveat};

/// An agent may start this much after the agreed instant: at most a thousandth of a minute.
const LATE_NS: i64 = 10_000_000;
/// A clock offset with at most this error is good enough for windows of a second.
const CLOCK_ERROR_NS: u64 = 50_000_000;
/// NTP changes the speed of a clock by up to 500 millionths. Quartz clocks differ by at most 100.
const DRIFT_PPM: f64 = 500.0;

/// Whether an agent delivered no result, or not all of it.
pub fn judge_missing(evidence: &Evidence) -> Option<Caveat> {
    let missing = named(evidence, |agent| agent.failure.clone());
    (!missing.is_empty()).then(|| {
        caveat(
            "agent_missing",
            Severity::Invalid,
            of_all(evidence, &missing),
            "the load was smaller than asked for: look at the agent's own output, and measure again",
        )
    })
}

/// Whether an agent's schedule started after the others'.
pub fn judge_late(evidence: &Evidence) -> Option<Caveat> {
    let late = named(evidence, |agent| {
        let error = agent.clock.map_or(0, |clock| clock.error_ns) as i64;
        let late = agent.late_ns.filter(|late| late.abs() > LATE_NS + error)?;
        Some(format!(
            "{} {}",
            format_ns(late.unsigned_abs()),
            if late > 0 { "late" } else { "early" }
        ))
    });
    (!late.is_empty()).then(|| {
        caveat(
            "agent_late",
            Severity::Invalid,
            format!("{} (limit {})", of_all(evidence, &late), format_ns(LATE_NS as u64)),
            "the agents did not apply one load together: look for a slow network or a busy agent",
        )
    })
}

/// Whether an agent's clock offset is uncertain, or its clock runs at another speed.
pub fn judge_clock(evidence: &Evidence) -> Option<Caveat> {
    let bad = named(evidence, |agent| {
        let clock = agent.clock?;
        if clock.error_ns > CLOCK_ERROR_NS {
            return Some(format!("its clock is known to +-{} only", format_ns(clock.error_ns)));
        }
        let (drift, error) = clock.drift_ppm.zip(clock.drift_error_ppm)?;
        (drift.abs() - error > DRIFT_PPM)
            .then(|| format!("its clock drifts by {drift:.0} +-{error:.0} millionths"))
    });
    (!bad.is_empty()).then(|| {
        caveat(
            "agent_clock",
            Severity::Suspect,
            of_all(evidence, &bad),
            "run a time service (NTP) on each machine; spans are taken on one machine each, rates and starts depend on its clock",
        )
    })
}

/// Whether nothing was heard of an agent for a while. It may have been stopped itself: then its
/// response times hold its own pause, which is not the target's.
pub fn judge_silent(evidence: &Evidence) -> Option<Caveat> {
    let silent = named(evidence, |agent| {
        // An agent that failed is named for that.
        let silent_ns = agent.silent_ns.filter(|_| agent.failure.is_none())?;
        Some(format!("nothing was heard of it for {}", format_ns(silent_ns)))
    });
    (!silent.is_empty()).then(|| {
        caveat(
            "agent_silent",
            Severity::Suspect,
            of_all(evidence, &silent),
            "a pause of the agent or of its network is in its figures and is not the target's: look at its host, and measure again",
        )
    })
}

/// Whether somebody else had the same target loaded: it then served two loads, and the figures of
/// each are of a part of what it did.
pub fn judge_same_target(evidence: &Evidence) -> Option<Caveat> {
    let of_agents = evidence.record.agents.iter().flat_map(|agent| &agent.beside);
    let all = of_agents.chain(&evidence.record.beside);
    let others: BTreeSet<&str> = all.map(String::as_str).collect();
    (!others.is_empty()).then(|| {
        let names: Vec<&str> = others.into_iter().collect();
        caveat(
            "same_target",
            Severity::Suspect,
            format!("loaded by others at the same time: {}", few(&names, " | ")),
            "the target served both loads: measure again when the other one has ended",
        )
    })
}

/// Whether earlier attempts at the trial lost agents.
pub fn judge_made_again(evidence: &Evidence) -> Option<Caveat> {
    let losses = &evidence.record.made_again;
    (!losses.is_empty()).then(|| {
        caveat(
            "made_again",
            Severity::Note,
            format!("{} lost: {}", counted(losses.len() as u64, "attempt"), losses.join(" | ")),
            "the figures are of the last attempt alone",
        )
    })
}

/// Whether an agent's own judges doubt its figures, because all figures rest on them.
pub fn judge_doubts(evidence: &Evidence) -> Option<Caveat> {
    let doubts = |agent: &AgentPart| {
        let ids = agent.caveats.iter().map(|own| format!("{}: {}", own.name(), own.evidence));
        Some(ids.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
    };
    let all = evidence.record.agents.iter().flat_map(|agent| &agent.caveats);
    let severity = all.map(|own| own.severity).max()?;
    Some(caveat(
        "agent_doubt",
        severity,
        of_all(evidence, &named(evidence, doubts)),
        "give this agent less of the load, or a quieter machine",
    ))
}

/// The agents to which something applies, each with the description.
fn named(evidence: &Evidence, what: impl Fn(&AgentPart) -> Option<String>) -> Vec<String> {
    let agents = evidence.record.agents.iter();
    agents.filter_map(|agent| Some(format!("{}: {}", agent.name, what(agent)?))).collect()
}

fn of_all(evidence: &Evidence, named: &[String]) -> String {
    let all = counted(evidence.record.agents.len() as u64, "agent");
    format!("{} of {all}: {}", named.len(), few(named, " | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::host::fingerprint::Fingerprint;
    use pippin_model::load::Part;
    use pippin_model::trial::TrialRecord;
    use pippin_model::trial::agent::AgentClock;

    fn with(change: impl Fn(&mut AgentPart)) -> TrialRecord {
        let agent = |nth: u32| AgentPart {
            name: format!("a-{nth}"),
            tags: Vec::new(),
            host: Fingerprint::default(),
            part: Part { nth, width: 1, of: 2 },
            clock: Some(AgentClock {
                offset_ns: 3_000_000_000,
                error_ns: 1_000_000,
                drift_ppm: Some(5.0),
                drift_error_ppm: Some(50.0),
            }),
            late_ns: Some(1_000_000),
            silent_ns: None,
            beside: Vec::new(),
            figures: None,
            caveats: Vec::new(),
            failure: None,
        };
        let mut record = ExampleTrial::hello().build();
        record.agents = vec![agent(0), agent(1)];
        change(&mut record.agents[1]);
        record
    }

    #[test]
    fn agents_that_did_their_part_raise_no_doubt() {
        let record = with(|_| ());
        for judge in [
            judge_missing,
            judge_late,
            judge_clock,
            judge_doubts,
            judge_silent,
            judge_made_again,
            judge_same_target,
        ] {
            assert_eq!(judged(judge, &record), None);
        }
    }

    #[test]
    fn who_is_missing_is_named() {
        let found = judged(
            judge_missing,
            &with(|agent| agent.failure = Some("nothing heard for 4 s".into())),
        );
        let found = found.unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert_eq!(found.evidence, "1 of 2 agents: a-1: nothing heard for 4 s");
    }

    #[test]
    fn who_was_silent_and_what_was_made_again_is_told() {
        let found = judged(judge_silent, &with(|agent| agent.silent_ns = Some(3_000_000_000)));
        let found = found.unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert_eq!(found.evidence, "1 of 2 agents: a-1: nothing was heard of it for 3.00 s");
        // Who is missing is not named twice.
        let missing = with(|agent| {
            (agent.silent_ns, agent.failure) = (Some(5_000_000_000), Some("it is lost".into()));
        });
        assert_eq!(judged(judge_silent, &missing), None);
        let mut record = with(|_| ());
        record.made_again = vec!["agent b: it is lost".into()];
        let found = judged(judge_made_again, &record).unwrap();
        assert_eq!(
            (found.severity, found.evidence.as_str()),
            (Severity::Note, "1 attempt lost: agent b: it is lost")
        );
    }

    #[test]
    fn another_load_of_the_same_target_is_named_once() {
        let mut record = with(|agent| agent.beside = vec!["c-2: shop.example:443".into()]);
        record.agents[0].beside = record.agents[1].beside.clone();
        let found = judged(judge_same_target, &record).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert_eq!(found.evidence, "loaded by others at the same time: c-2: shop.example:443");
        // Without agents too, and both at once.
        record.beside = vec!["process 12: 10.1.2.3:443".into()];
        let both =
            "loaded by others at the same time: c-2: shop.example:443 | process 12: 10.1.2.3:443";
        assert_eq!(judged(judge_same_target, &record).unwrap().evidence, both);
        record.agents.clear();
        let found = judged(judge_same_target, &record).unwrap();
        assert_eq!(found.evidence, "loaded by others at the same time: process 12: 10.1.2.3:443");
    }

    #[test]
    fn lateness_counts_beyond_the_clocks_error() {
        let late = |ns| judged(judge_late, &with(|agent| agent.late_ns = Some(ns)));
        assert_eq!(late(10_900_000), None);
        let found = late(11_100_000).unwrap();
        assert!(found.evidence.contains("a-1: 11.1 ms late (limit 10.0 ms)"), "{}", found.evidence);
        assert!(late(-11_100_000).unwrap().evidence.contains("early"));
    }

    #[test]
    fn a_clock_that_is_off_is_no_doubt_and_one_that_runs_fast_is() {
        let drifts = |ppm, error| {
            judged(
                judge_clock,
                &with(|agent| {
                    let clock = agent.clock.as_mut().unwrap();
                    (clock.drift_ppm, clock.drift_error_ppm) = (Some(ppm), Some(error));
                }),
            )
        };
        assert_eq!(drifts(-540.0, 50.0), None);
        assert!(drifts(-560.0, 50.0).unwrap().evidence.contains("drifts by -560 +-50 millionths"));
    }

    #[test]
    fn a_clock_of_which_little_is_known_is_a_doubt() {
        let known_to = |error_ns| {
            let change = |agent: &mut AgentPart| agent.clock.as_mut().unwrap().error_ns = error_ns;
            judged(judge_clock, &with(change))
        };
        assert_eq!(known_to(CLOCK_ERROR_NS), None);
        let seen = known_to(60_000_000).unwrap().evidence;
        assert_eq!(seen, "1 of 2 agents: a-1: its clock is known to +-60.0 ms only");
    }

    #[test]
    fn an_agents_own_doubt_weighs_as_much_as_there() {
        let found = judged(
            judge_doubts,
            &with(|agent| {
                agent.caveats.push(caveat("generator_busy", Severity::Invalid, "99 %".into(), ""));
            }),
        );
        let found = found.unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.contains("a-1: generator busy: 99 %"), "{}", found.evidence);
    }
}
