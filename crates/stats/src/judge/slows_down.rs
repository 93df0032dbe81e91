//! SUSPECT: answers take longer and longer over the load, although it does not grow; or the target
//! answered much faster when it was loaded first.
use pippin_model::text::units::{format_count, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::answer::found;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::{no_steady_state, rate_not_achieved, unanswered};
use crate::series::quantile::median;
use crate::series::steady::{Slowed, measured_windows, slowed};
use crate::series::trend::trend;

/// Fewest windows that show it.
const FEWEST: usize = 20;
/// Growth of p90 along the trend over the measured part, as a fraction.
const LIMIT: f64 = 0.5;
/// Standard deviations beyond which the trend is significant at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// How many times as long the newer half takes as the older.
const HALVES: f64 = 1.25;
/// How many times as many answers a closed loop got before. Machines that others use change their speed
/// by less.
const TIMES: f64 = 2.0;

const ADVICE: &str = "measure longer: if it goes on, something grows with each request (a table, a list, a log, memory), and no figure of this load will last";

/// Whether the 90th percentile of the windows rises significantly, by more than half, and the newer
/// half of the load takes longer than the older. In loads that wait for their answers throughput
/// falls instead: within what is measured that is `no_steady_state`, and since the warm-up it is said
/// here. Where the rate is not kept, a queue grows (`rate_not_achieved`).
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    if evidence.profile().changes() || evidence.goes_beyond() {
        return None;
    }
    if evidence.is_saturating() {
        return since_the_warm_up(evidence);
    }
    let times: Vec<f64> = measured_windows(evidence.load()?)
        .filter_map(|window| window.response_p90_ns.map(|ns| ns as f64))
        .collect();
    if times.len() < FEWEST {
        return None;
    }
    let rise = trend(&times).filter(|found| found.z > SIGNIFICANT)?.relative_change;
    let (older, newer) = times.split_at(times.len() / 2);
    let halves = median(newer)? / median(older)?;
    if rise < LIMIT || halves < HALVES || found(rate_not_achieved::judge(evidence)).is_some() {
        return None;
    }
    let tenth = (times.len() / 10).max(1);
    let seen = format!(
        "answers get slower: p90 rose from {} to {} over {:.0} s ({} along the trend; limit 50 %)",
        format_ns(median(&times[..tenth])? as u64),
        format_ns(median(&times[times.len() - tenth..])? as u64),
        evidence.duration_s()?,
        percent(rise)
    );
    Some(caveat("slows_down", Severity::Suspect, seen, ADVICE))
}

/// Whether a closed loop got at least twice as many answers before as it gets now. That it gets none, as
/// the target hangs, is said by `unanswered`.
fn since_the_warm_up(evidence: &Evidence) -> Option<Caveat> {
    let is_said = found(no_steady_state::judge(evidence)).is_some()
        || unanswered::count(evidence.measured()?) > 0;
    let Slowed { before_per_s, now_per_s } =
        slowed(evidence.load()?, TIMES).filter(|_| !is_said)?;
    let seen = format!(
        "it answers more slowly than before: up to {} requests/s when the load began, and {} in the newer half of what is measured",
        format_count(before_per_s),
        format_count(now_per_s)
    );
    Some(caveat("slows_down", Severity::Suspect, seen, ADVICE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::Window;
    use pippin_model::trial::TrialRecord;

    /// Five minutes at 100 requests/s, with the p90 of each second in ms.
    fn with(p90_ms: impl Fn(f64) -> f64) -> TrialRecord {
        let mut record = ExampleTrial::open(100.0).seconds(300).build();
        for (second, window) in record.load.as_mut().unwrap().windows.iter_mut().enumerate() {
            let ripple = 1.0 + 0.1 * [0.0, 1.0, -1.0, 0.5, -0.5][second % 5];
            window.response_p90_ns = Some((p90_ms(second as f64) * ripple * 1e6) as u64);
        }
        record
    }

    #[test]
    fn a_listing_that_grows_is_seen() {
        let found = judged(judge, &with(|second| 51.0 * (second / 220.0).exp())).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(found.evidence.contains("p90 rose from 5"), "{}", found.evidence);
    }

    #[test]
    fn a_closed_loop_that_got_twice_as_many_answers_at_first_is_seen() {
        let with = |first_per_s: u64| {
            let mut record = ExampleTrial::hello().windows(|_| 400.0).build();
            let warm_up = (1..=20_u32).map(|ago| Window {
                from_ns: -i64::from(ago) * 200_000_000,
                duration_ns: 200_000_000,
                completed: if ago > 15 { first_per_s / 5 } else { 90 },
                ..Window::default()
            });
            record.load.as_mut().unwrap().windows.extend(warm_up);
            judged(judge, &record)
        };
        let found = with(2_000).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.starts_with(
                "it answers more slowly than before: up to 2,000 requests/s when the load began, and 400"
            ),
            "{}",
            found.evidence
        );
        assert_eq!(with(800), None);
        // Chance makes more of 240 answers at times.
        assert_eq!(with(900), None);
    }

    #[test]
    fn a_steady_one_a_slight_rise_and_a_cold_start_are_not() {
        assert_eq!(judged(judge, &with(|_| 51.0)), None);
        assert_eq!(judged(judge, &with(|second| 51.0 + second / 20.0)), None);
        assert_eq!(judged(judge, &with(|second| 51.0 + 400.0 * (-second / 5.0).exp())), None);
    }
}
