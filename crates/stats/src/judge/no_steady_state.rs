//! SUSPECT: the throughput had a trend over the trial, or the warm-up reached its time limit.
use pippin_model::result::{LoadResult, Window};
use pippin_model::text::units::format_count;
use pippin_model::verdict::Severity;

use crate::judge::answer::{Answer, Unknown};
use crate::judge::evidence::{Evidence, caveat, percent};
use crate::series::steady::{can_tell, measured_rates, unsteady};

/// Whether the windows' throughput changed by more than 5 % from start to end, significant at 1 %.
/// In trials too short for this test, whether the warm-up had not settled. A load that changes by
/// plan has no steady state to reach.
pub fn judge(evidence: &Evidence) -> Answer {
    if evidence.profile().changes() {
        return Ok(None);
    }
    let load = evidence.needs_load()?;
    let rates = measured_rates(load, |window: &Window| window.completed);
    if rates.len() < expected_windows(evidence, load) {
        return Err(Unknown::because("windows of the measured part are missing"));
    }
    let seen = if can_tell(&rates) {
        let ends = rates.first().zip(rates.last());
        let Some((trend, (first, last))) = unsteady(&rates).zip(ends) else { return Ok(None) };
        format!(
            "throughput changed by {} over {} windows, from {} to {} requests/s (limit 5 %)",
            percent(trend.relative_change),
            rates.len(),
            format_count(*first),
            format_count(*last)
        )
    } else if load.warm_up.steady == Some(false) {
        format!(
            "the warm-up of {:.1} s reached its time limit while throughput was still changing",
            load.warm_up.duration_ns as f64 / 1e9
        )
    } else {
        return Ok(None);
    };
    let how = evidence.option_source().words(
        "measure longer (-d 60s), or warm up longer (--warm-up 30s)",
        "measure longer, or warm up longer (warm_up = \"30s\")",
    );
    let advice = format!("{how}: a figure that still changes depends on when it is taken");
    Ok(Some(caveat("no_steady_state", Severity::Suspect, seen, advice)))
}

/// At least so many windows belong to such a load: one for each used slice, or for each second.
fn expected_windows(evidence: &Evidence, load: &LoadResult) -> usize {
    let slices = evidence.record.slices.iter().filter(|slice| slice.used).count();
    if slices > 0 { slices } else { (load.measured.duration_ns / 1_000_000_000) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    #[test]
    fn a_decline_is_seen() {
        let record = ExampleTrial::hello().windows(|i| 10_000.0 - 30.0 * f64::from(i)).build();
        let found = judged(judge, &record).unwrap();
        assert!(
            found.severity == Severity::Suspect
                && found.evidence.contains("by -9.1 % over 30 windows"),
            "{}",
            found.evidence
        );
    }

    #[test]
    fn a_slight_decline_and_a_stall_are_not() {
        assert_eq!(
            judged(
                judge,
                &ExampleTrial::hello().windows(|i| 10_000.0 - 15.0 * f64::from(i)).build()
            ),
            None
        );
        assert_eq!(
            judged(
                judge,
                &ExampleTrial::hello()
                    .windows(|i| if i == 17 { 0.0 } else { 10_000.0 + f64::from(i % 3) })
                    .build()
            ),
            None
        );
    }

    #[test]
    fn a_short_trial_goes_by_its_warm_up() {
        let mut record = ExampleTrial::hello().seconds(3).build();
        assert_eq!(judged(judge, &record), None);
        record.load.as_mut().unwrap().warm_up.steady = Some(false);
        assert!(judged(judge, &record).unwrap().evidence.contains("reached its time limit"));
        let mut long = ExampleTrial::hello().build();
        long.load.as_mut().unwrap().warm_up.steady = Some(false);
        assert_eq!(judged(judge, &long), None, "thirty flat windows say more than the warm-up");
    }
}
