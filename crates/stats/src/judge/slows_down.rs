//! SUSPECT: answers take longer and longer over the load, although it does not grow.
use pippin_model::text::units::format_ns;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::answer::found;
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::rate_not_achieved;
use crate::series::quantile::median;
use crate::series::steady::measured_windows;
use crate::series::trend::trend;

/// Fewest windows that show it.
const FEWEST: usize = 20;
/// Growth of p90 along the trend over the measured part, as a fraction.
const LIMIT: f64 = 0.5;
/// Standard deviations beyond which the trend is significant at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// How many times as long the newer half takes as the older.
const HALVES: f64 = 1.25;

/// Whether the 90th percentile of the windows rises significantly, by more than half, and the newer
/// half of the load takes longer than the older. In loads that wait for their answers throughput
/// falls instead (`no_steady_state`); where the rate is not kept, a queue grows
/// (`rate_not_achieved`).
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    if evidence.is_saturating() || evidence.profile().changes() || evidence.goes_beyond() {
        return None;
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
    let advice = "measure longer: if it goes on, something grows with each request (a table, a list, a log, memory), and no figure of this load will last";
    Some(caveat("slows_down", Severity::Suspect, seen, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
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
    fn a_steady_one_a_slight_rise_and_a_cold_start_are_not() {
        assert_eq!(judged(judge, &with(|_| 51.0)), None);
        assert_eq!(judged(judge, &with(|second| 51.0 + second / 20.0)), None);
        assert_eq!(judged(judge, &with(|second| 51.0 + 400.0 * (-second / 5.0).exp())), None);
    }
}
