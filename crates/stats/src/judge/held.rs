//! INVALID, SUSPECT: in a closed loop the generator held the users, so that the target saw fewer.
use pippin_model::caveat::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent, whole};

/// Above this share of the users' time the generator, and not the target, sets the throughput.
const BOTTLENECK: f64 = 0.75;
/// Above this the target sees a load of clearly fewer users than its label says.
const MUCH: f64 = 0.25;
/// Below so many requests the mean is that of a beginning.
const FEWEST: u64 = 100;

/// Whether the generator held the users of a closed loop for more than 25 % (75 %) of their time
/// that was no thinking: from the arrival of an answer to the next request.
///
/// It judges closed loops whose users do not think. Docs: `docs/decisions/arrival-stamps.md`.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let held = Held::of(evidence)?;
    let (severity, limit) = match held.share() {
        share if share > BOTTLENECK => (Severity::Invalid, BOTTLENECK),
        share if share > MUCH => (Severity::Suspect, MUCH),
        _ => return None,
    };
    let seen = format!(
        "of {} {}, {:.1} were with the target on average, and the generator held {:.1} ({}; limit {:.0} %)",
        whole(held.users),
        if held.users > 1.0 { "connections" } else { "connection" },
        held.users * (1.0 - held.share()),
        held.users * held.share(),
        percent(held.share()),
        limit * 100.0
    );
    let advice = "the service time holds, for so many connections; the throughput is the generator's too: give it more processors (cpus.generator, --threads) or use --rate";
    Some(caveat("held", severity, seen, advice))
}

/// Where the users of a closed loop were on average.
#[derive(Debug, Clone, Copy)]
struct Held {
    users: f64,
    held_ns: f64,
    with_target_ns: f64,
}

impl Held {
    /// `None` where it is not known, or where users think.
    fn of(evidence: &Evidence) -> Option<Self> {
        let measured = evidence.measured().filter(|_| evidence.is_saturating())?;
        if measured.spans.response_time.count() < FEWEST {
            return None;
        }
        Some(Self {
            users: evidence.connections()?,
            held_ns: evidence.held_ns()?,
            with_target_ns: measured.spans.response_time.mean_ns()?,
        })
    }

    /// The share of the users' time that the generator held.
    fn share(self) -> f64 {
        self.held_ns / (self.held_ns + self.with_target_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    /// 10 connections whose requests take 1 ms, of which the generator holds a part.
    fn held(ms: f64) -> ExampleTrial {
        ExampleTrial::hello().response_ms(1.0 - ms).own_lag_ms(ms).stamped()
    }

    #[test]
    fn users_that_the_generator_holds_are_told() {
        let found = judged(judge, &held(0.3).build()).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with("of 10 connections, 7.0 were with the target on average"),
            "{}",
            found.evidence
        );
        assert_eq!(judged(judge, &held(0.8).build()).unwrap().severity, Severity::Invalid);
    }

    #[test]
    fn a_small_share_open_loops_and_records_without_stamps_are_not() {
        assert_eq!(judged(judge, &held(0.2).build()), None);
        assert_eq!(
            judged(judge, &ExampleTrial::open(10_000.0).own_lag_ms(0.8).stamped().build()),
            None
        );
        assert_eq!(judged(judge, &ExampleTrial::hello().own_lag_ms(0.8).build()), None);
        assert_eq!(judged(judge, &held(0.8).counted(50).build()), None, "too few to tell");
    }
}
