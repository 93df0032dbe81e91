//! INVALID, SUSPECT, NOTE: in a closed loop, the generator held users, so the target saw fewer of
//! them.
use pippin_model::host::usage::Role;
use pippin_model::text::units::counted;
use pippin_model::verdict::Severity;

use crate::bottleneck::bound::{cpu_bound, services_bound};
use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// Above this, a target with twice the response time would show less than 10 % less throughput.
const BLIND: f64 = 0.90;
/// Above this, the target saw less than half of the users in the label.
const MOST: f64 = 0.50;
/// Above this, the share is worth a note.
const MUCH: f64 = 0.25;
/// With fewer requests, the mean mostly shows the beginning of the load.
const FEWEST: u64 = 100;

/// Whether the generator held the users of a closed loop for more than 25 % (50 %, 90 %) of their
/// time, from the arrival of an answer to the next request.
///
/// If the processors of the target or its services are known to be full, the throughput is still
/// the target's own, and this is a NOTE. INVALID requires that the target is known to have had
/// processors to spare. It judges only closed loops without think time. Docs:
/// `docs/decisions/held.md`.
pub fn judge(evidence: &Evidence) -> Answer {
    // Of other loads, and where it is not known how long the generator held its users, `send_lag`
    // judges the generator.
    if !evidence.is_saturating() || evidence.held_ns().is_none() {
        return Ok(None);
    }
    let measured = evidence.needs_measured()?;
    let held = Held::of_any(evidence)
        .ok_or_else(|| Unknown::because("no answer of the users was timed"))?;
    if measured.spans.response_time.count() < FEWEST && held.share() > MUCH {
        return Err(Unknown::because(format!(
            "{} came, too few to tell how long the generator held its users",
            counted(measured.spans.response_time.count(), "answer")
        )));
    }
    let is_full = cpu_bound(evidence).is_some() || services_bound(evidence);
    let knows_target = evidence.cores(Role::Target).is_some();
    let (severity, limit) = match held.share() {
        share if share <= MUCH => return Ok(None),
        share if share > BLIND && knows_target && !is_full => (Severity::Invalid, BLIND),
        share if share > MOST && !is_full => (Severity::Suspect, MOST),
        _ => (Severity::Note, MUCH),
    };
    let seen = format!(
        "{}, and the generator held {:.1} ({}; limit {:.0} %)",
        held.in_words(),
        held.users - held.with_target(),
        percent(held.share()),
        limit * 100.0
    );
    let advice = match severity {
        Severity::Note => "read the service time as that of so many connections".to_string(),
        _ => format!(
            "the service time holds, for so many connections; the throughput is the generator's too: give it more processors ({}) or offer a rate",
            evidence.option_source().more_processors()
        ),
    };
    Ok(Some(caveat("held", severity, seen, advice)))
}

/// Where the users of a closed loop were on average.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    users: f64,
    /// What each user has: a connection, or a stream of one.
    carrier: &'static str,
    held_ns: f64,
    with_target_ns: f64,
}

impl Held {
    /// `None` if it is not known, or if users think.
    #[must_use]
    pub fn from_evidence(evidence: &Evidence) -> Option<Self> {
        let measured = evidence.measured()?;
        let is_enough = measured.spans.response_time.count() >= FEWEST;
        Self::of_any(evidence).filter(|_| is_enough)
    }

    /// As [`Self::from_evidence`], also of a few answers.
    fn of_any(evidence: &Evidence) -> Option<Self> {
        let measured = evidence.measured().filter(|_| evidence.is_saturating())?;
        Some(Self {
            users: evidence.senders()? * f64::from(evidence.streams()),
            carrier: if evidence.streams() > 1 { "stream" } else { "connection" },
            held_ns: evidence.held_ns()?,
            with_target_ns: measured.spans.response_time.mean_ns()?,
        })
    }

    /// All users.
    #[must_use]
    pub const fn users(self) -> f64 {
        self.users
    }

    /// The share of the users' time in which the generator held them, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.held_ns / (self.held_ns + self.with_target_ns)
    }

    /// The average number of users that were with the target.
    #[must_use]
    pub fn with_target(self) -> f64 {
        self.users * (1.0 - self.share())
    }

    fn in_words(self) -> String {
        in_words(self.users, self.carrier, self.with_target())
    }
}

/// `of 64 connections 6.1 were with the target on average`.
#[must_use]
pub fn in_words(users: f64, carrier: &str, with_target: f64) -> String {
    let (plural, verb) = if users > 1.0 { ("s", "were") } else { ("", "was") };
    let users = whole(users);
    format!("of {users} {carrier}{plural} {with_target:.1} {verb} with the target on average")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    /// 10 connections with requests of 1 ms, for part of which the generator holds them. The target
    /// keeps half of its processor busy.
    fn held(ms: f64) -> ExampleTrial {
        ExampleTrial::hello().response_ms(1.0 - ms).own_lag_ms(ms).stamped().target_cores(0.5, 1)
    }

    fn severity(trial: ExampleTrial) -> Option<Severity> {
        judged(judge, &trial.build()).map(|caveat| caveat.severity)
    }

    #[test]
    fn users_that_the_generator_holds_are_told() {
        let found = judged(judge, &held(0.6).build()).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with("of 10 connections 4.0 were with the target on average"),
            "{}",
            found.evidence
        );
        assert_eq!(severity(held(0.3)), Some(Severity::Note));
        assert_eq!(severity(held(0.2)), None);
    }

    #[test]
    fn only_an_idle_target_that_nobody_asks_is_invalid() {
        assert_eq!(severity(held(0.85)), Some(Severity::Suspect));
        assert_eq!(severity(held(0.95)), Some(Severity::Invalid));
        // The throughput of a target at its limit is its own.
        assert_eq!(severity(held(0.95).target_cores(0.97, 1)), Some(Severity::Note));
        let mut unknown = held(0.95).build();
        unknown.usage = None;
        assert_eq!(judged(judge, &unknown).unwrap().severity, Severity::Suspect);
    }

    #[test]
    fn open_loops_few_answers_and_records_without_stamps_are_not() {
        assert_eq!(severity(ExampleTrial::open(10_000.0).own_lag_ms(0.8).stamped()), None);
        assert_eq!(severity(ExampleTrial::hello().own_lag_ms(0.8)), None);
        assert_eq!(severity(held(0.8).counted(50)), None, "too few to tell");
    }
}
