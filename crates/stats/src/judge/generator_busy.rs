//! INVALID: the generator was the bottleneck of a closed loop. SUSPECT: it was close to being one.
use pippin_model::caveat::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};

/// Above this the generator decides what a closed loop measures.
const BOTTLENECK: f64 = 0.95;
/// Above this it begins to.
const CLOSE: f64 = 0.80;
/// A shorter load is too short to tell: opening the connections is most of it.
const SHORTEST_NS: u64 = 100_000_000;

/// Whether the busiest thread of the generator, its polling for deadlines left out, was busy for
/// more than 95 % (80 %) of the time.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let load = evidence.load().filter(|load| load.measured.duration_ns >= SHORTEST_NS)?;
    let share = load.generator.busiest_share(load.measured.duration_ns)?;
    let (severity, limit) = if share > BOTTLENECK && evidence.is_closed_loop() {
        (Severity::Invalid, BOTTLENECK)
    } else if share > CLOSE {
        (Severity::Suspect, CLOSE)
    } else {
        return None;
    };
    let seen = format!(
        "generator core {} busy over {:.1} s (limit {:.0} %)",
        percent(share),
        load.measured.duration_ns as f64 / 1e9,
        limit * 100.0
    );
    Some(caveat(
        "generator_busy",
        severity,
        seen,
        "give the generator more processors (cpus.generator, --threads): as it is, the generator is measured along with the target",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_full_core_is_invalid_and_a_nearly_full_one_suspect() {
        assert_eq!(
            judged(judge, &ExampleTrial::hello().generator_busy(0.97).build()).unwrap().severity,
            Severity::Invalid
        );
        assert_eq!(
            judged(judge, &ExampleTrial::hello().generator_busy(0.85).build()).unwrap().severity,
            Severity::Suspect
        );
        // In the open loop a full core is late before it is wrong, which the send lag tells.
        assert_eq!(
            judged(judge, &ExampleTrial::open(10_000.0).generator_busy(0.97).build())
                .unwrap()
                .severity,
            Severity::Suspect
        );
    }

    #[test]
    fn polling_is_not_work_and_a_blink_tells_nothing() {
        assert_eq!(judged(judge, &ExampleTrial::hello().generator_busy(0.79).build()), None);
        let mut spinning = ExampleTrial::open(10_000.0).generator_busy(0.99).build();
        spinning.load.as_mut().unwrap().generator.spin_ns = 15_000_000_000;
        assert_eq!(judged(judge, &spinning), None);
        let mut blink = ExampleTrial::hello().generator_busy(0.99).build();
        let load = blink.load.as_mut().unwrap();
        load.measured.duration_ns = 50_000_000;
        load.generator.cpu_ns_by_thread = vec![49_900_000];
        assert_eq!(judged(judge, &blink), None);
    }
}
