//! SUSPECT: the clock frequency of the processors changed, within a trial or between trials; or the
//! system clock was set.
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::run::{RunCaveats, note};
use crate::series::quantile::median;

/// The relative change that the frequency may have.
const LIMIT: f64 = 0.10;
/// How far the system clock may move against the monotonic clock between two trials, in seconds.
/// NTP slews less than this (500 ppm) in half an hour.
const CLOCK_LIMIT_S: f64 = 1.0;
const FREQUENCY_ADVICE: &str = "set the governor to performance and turn turbo off (`pippin doctor`): otherwise the figures depend on the temperature";

/// Whether the lowest frequency seen on the trial's processors was more than 10 % below the
/// highest.
pub fn judge_frequency(evidence: &Evidence) -> Option<Caveat> {
    let (low, high) = evidence.record.usage.as_ref()?.frequency_khz?;
    let drop = 1.0 - low as f64 / high.max(1) as f64;
    let seen = || {
        format!(
            "processors between {:.2} and {:.2} GHz within the trial ({}; limit 10 %)",
            low as f64 / 1e6,
            high as f64 / 1e6,
            percent(drop)
        )
    };
    (drop > LIMIT).then(|| caveat("frequency_change", Severity::Suspect, seen(), FREQUENCY_ADVICE))
}

/// Whether a trial's frequency (the mean of lowest and highest) is more than 10 % from the median
/// over all trials, and whether the system clock was set between trials.
pub fn judge_run(records: &[TrialRecord], found: &mut RunCaveats) {
    let middle = |record: &TrialRecord| {
        record.usage.as_ref()?.frequency_khz.map(|(low, high)| (low + high) as f64 / 2.0)
    };
    let typical = median(&records.iter().filter_map(middle).collect::<Vec<_>>());
    let mut before = None;
    for record in records {
        if let (Some(own), Some(typical)) = (middle(record), typical)
            && (own / typical - 1.0).abs() > LIMIT
        {
            let seen = format!(
                "processors at {:.2} GHz where the typical trial of this run had {:.2} GHz",
                own / 1e6,
                typical / 1e6
            );
            note(
                found,
                &record.spec.target,
                caveat("frequency_change", Severity::Suspect, seen, FREQUENCY_ADVICE),
            );
        }
        let Some(load) = &record.load else { continue };
        let offset_s =
            (i128::from(load.started_unix_ns) - i128::from(load.started_ns)) as f64 / 1e9;
        if let Some(jump) =
            before.map(|before: f64| offset_s - before).filter(|jump| jump.abs() > CLOCK_LIMIT_S)
        {
            let seen = format!(
                "the system clock moved by {jump:+.1} s against the monotonic clock since the trial before (limit 1 s)"
            );
            let advice = "the clock was set or the machine was suspended: measured spans are not affected, but times of day may be wrong";
            note(
                found,
                &record.spec.target,
                caveat("clock_change", Severity::Suspect, seen, advice),
            );
        }
        before = Some(offset_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    fn at(low: u64, high: u64) -> TrialRecord {
        let mut record = ExampleTrial::hello().build();
        record.usage.as_mut().unwrap().frequency_khz = Some((low, high));
        record
    }

    fn over(records: &[TrialRecord]) -> Vec<String> {
        let mut found = RunCaveats::new();
        judge_run(records, &mut found);
        found.into_values().flatten().map(|caveat| caveat.id).collect()
    }

    #[test]
    fn a_change_within_a_trial() {
        assert_eq!(
            judged(judge_frequency, &at(2_600_000, 3_000_000)).unwrap().severity,
            Severity::Suspect
        );
        assert_eq!(judged(judge_frequency, &at(2_710_000, 3_000_000)), None);
        assert_eq!(
            judged(judge_frequency, &ExampleTrial::hello().build()),
            None,
            "not visible here"
        );
    }

    #[test]
    fn a_change_between_trials() {
        let alike = at(3_000_000, 3_000_000);
        assert_eq!(
            over(&[alike.clone(), alike.clone(), at(2_600_000, 2_600_000)]),
            ["frequency_change"]
        );
        assert!(over(&[alike.clone(), alike, at(2_800_000, 2_800_000)]).is_empty());
    }

    #[test]
    fn a_clock_that_was_set() {
        let started = |unix_s: f64, monotonic_s: f64| {
            let mut record = ExampleTrial::hello().build();
            let load = record.load.as_mut().unwrap();
            (load.started_unix_ns, load.started_ns) =
                ((unix_s * 1e9) as u64, (monotonic_s * 1e9) as u64);
            record
        };
        assert_eq!(over(&[started(1_000.0, 10.0), started(1_060.0, 40.0)]), ["clock_change"]);
        assert!(over(&[started(1_000.0, 10.0), started(1_030.5, 40.0)]).is_empty());
    }
}
