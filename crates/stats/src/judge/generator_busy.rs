//! SUSPECT: the generator was the limit of a closed loop, so that the throughput is a lower bound; or
//! it was close to that.
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent};

/// The name of the caveat of a load of which the generator was the limit.
pub const LIMIT: &str = "generator_limit";
/// Above this, a closed loop measures the generator.
const BOTTLENECK: f64 = 0.95;
/// Above this, it is close to that.
const CLOSE: f64 = 0.80;
/// Shortest load that is judged. In a shorter one, most of the time goes into opening connections.
const SHORTEST_NS: u64 = 100_000_000;

/// Whether the generator's busiest thread was busy for more than 95 % (80 %) of the time, not
/// counting its polling for deadlines.
pub fn judge(evidence: &Evidence) -> Answer {
    let load = evidence.needs_load()?;
    if load.measured.duration_ns < SHORTEST_NS {
        return Err(Unknown::because(
            "measured for less than 0.1 s, most of which opens connections",
        ));
    }
    let share = load.generator.busiest_share(load.measured.duration_ns);
    let share = share.ok_or_else(|| Unknown::because("its processor time is not known"))?;
    let (id, limit) = if share > BOTTLENECK && evidence.is_closed_loop() {
        (LIMIT, BOTTLENECK)
    } else if share > CLOSE {
        ("generator_busy", CLOSE)
    } else {
        return Ok(None);
    };
    let seen = format!(
        "generator core {} busy over {:.1} s (limit {:.0} %)",
        percent(share),
        load.measured.duration_ns as f64 / 1e9,
        limit * 100.0
    );
    Ok(Some(caveat(
        id,
        Severity::Suspect,
        seen,
        format!(
            "give the generator more processors ({}): {}",
            evidence.option_source().more_processors(),
            if id == LIMIT {
                "the target answers at least so many requests/s, and may be faster"
            } else {
                "these figures depend on the generator as well as on the target"
            }
        ),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_full_core_is_the_limit_and_a_nearly_full_one_close_to_it() {
        let id = |trial: ExampleTrial| judged(judge, &trial.build()).unwrap().id;
        assert_eq!(id(ExampleTrial::hello().generator_busy(0.97)), LIMIT);
        assert_eq!(id(ExampleTrial::hello().generator_busy(0.85)), "generator_busy");
        // In an open loop, a full core makes requests late, which the send lag shows.
        assert_eq!(id(ExampleTrial::open(10_000.0).generator_busy(0.97)), "generator_busy");
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
