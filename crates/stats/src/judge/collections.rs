//! NOTE: what the garbage collector of the target's runtime took, by the runtime's own account.
use pippin_model::host::usage::{JvmUse, Role};
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::judge::host;

/// The least and the greatest p99, in mean pauses and in longest ones, that pauses can explain.
const LENGTHS: (f64, f64) = (0.5, 1.5);
/// The median answer takes at most this part of a mean pause: else pauses are not what stands out.
const MEDIAN: f64 = 0.5;
/// The part of the answers that lies beyond p99.
const BEYOND: f64 = 0.01;
/// How far both bounds of the longest pause may differ to be one figure.
const ALIKE: f64 = 1.1;

/// Says for how much of the time the target's collectors stopped it, how often, and for how long at
/// the longest. p99 is explained by them only if they fit in number and length.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let usage = evidence.usage()?;
    let jvm = usage.roles.get(&Role::Target)?.jvm.as_ref()?;
    let number = jvm.collections.filter(|number| *number > 0)?;
    let collecting_ns = jvm.collecting_ns?;
    let share = percent(collecting_ns as f64 / usage.duration_ns.max(1) as f64);
    let longest = match jvm.longest_ns {
        Some((least, most)) if most as f64 <= ALIKE * least as f64 => {
            format!(", the longest {}", format_ns(most))
        }
        Some((least, most)) => {
            format!(", the longest {} to {}", format_ns(least), format_ns(most))
        }
        None => String::new(),
    };
    let by = jvm.collector.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let explained = explained_p99(evidence, jvm).unwrap_or_default();
    let pauses = counted(number, "pause");
    let seen = format!("collections took {share} of the time{by}, {pauses}{longest}{explained}");
    let advice = "a larger heap or another collector changes these pauses";
    Some(caveat("collections", Severity::Note, seen, advice))
}

/// That p99 is as long as a pause, and that pauses catch enough answers for it.
fn explained_p99(evidence: &Evidence, jvm: &JvmUse) -> Option<String> {
    if !evidence.is_closed_loop() || host::is_disturbed(&[evidence.record]) {
        return None;
    }
    let measured = evidence.measured()?;
    let times = &measured.spans.response_time;
    let quantile = |q| Some(times.quantile_ns(q)? as f64);
    let (median_ns, p99_ns) = (quantile(0.5)?, quantile(0.99)?);
    let number = jvm.collections? as f64;
    let mean_ns = jvm.collecting_ns? as f64 / number;
    let (_, longest_ns) = jvm.longest_ns?;
    // Everybody who waits for an answer when a pause begins gets it after the pause.
    let caught = number * evidence.senders()? / measured.answered.completed.max(1) as f64;
    let fits = (LENGTHS.0 * mean_ns..=LENGTHS.1 * longest_ns as f64).contains(&p99_ns)
        && median_ns <= MEDIAN * mean_ns
        && caught >= BEYOND;
    let p99 = format_ns(p99_ns as u64);
    fits.then(|| {
        format!(
            "; they explain p99 ({p99}): they catch {} of the answers",
            percent(caught.min(1.0))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;
    use pippin_model::result::histogram::Histogram;
    use pippin_model::trial::TrialRecord;

    const MS: u64 = 1_000_000;

    /// A JVM that collected so often, for so long each time, with `late` of 100 answers after 38 ms.
    fn collected(number: u64, each_ns: u64, late: u64) -> TrialRecord {
        let mut record = ExampleTrial::hello().build();
        let usage = record.usage.as_mut().unwrap();
        usage.roles.get_mut(&Role::Target).unwrap().jvm = Some(JvmUse {
            collector: Some("G1GC".into()),
            collecting_ns: Some(number * each_ns),
            collections: Some(number),
            longest_ns: Some((each_ns, each_ns)),
            ..JvmUse::default()
        });
        let measured = &mut record.load.as_mut().unwrap().measured;
        let mut times = Histogram::new();
        times.record_n(MS, 100 - late);
        times.record_n(38 * MS, late);
        (measured.spans.response_time, measured.answered.completed) = (times, 20_000);
        record
    }

    fn words(record: &TrialRecord) -> String {
        judged(judge, record).map(|found| found.evidence).unwrap_or_default()
    }

    #[test]
    fn pauses_are_said_with_their_share_number_and_length() {
        let record = collected(41, 38 * MS, 0);
        let seconds = record.usage.as_ref().unwrap().duration_ns as f64 / 1e9;
        let share = percent(41.0 * 0.038 / seconds);
        let wanted =
            format!("collections took {share} of the time (G1GC), 41 pauses, the longest 38.0 ms");
        assert_eq!(words(&record), wanted);
        let mut unsure = record.clone();
        let role = unsure.usage.as_mut().unwrap().roles.get_mut(&Role::Target).unwrap();
        role.jvm.as_mut().unwrap().longest_ns = Some((20 * MS, 38 * MS));
        assert!(words(&unsure).ends_with("the longest 20.0 ms to 38.0 ms"), "{}", words(&unsure));
        assert_eq!(words(&collected(0, 0, 0)), "", "none");
        assert_eq!(words(&ExampleTrial::hello().build()), "", "no JVM");
    }

    #[test]
    fn p99_is_explained_only_by_pauses_that_fit_in_number_and_length() {
        let explains = |record: &TrialRecord| words(record).contains("they explain p99 (38");
        assert!(explains(&collected(41, 38 * MS, 3)), "{}", words(&collected(41, 38 * MS, 3)));
        assert!(!explains(&collected(41, 38 * MS, 0)), "p99 is short");
        assert!(!explains(&collected(2, 38 * MS, 3)), "too few to catch one answer in a hundred");
        assert!(!explains(&collected(41, 10 * MS, 3)), "too short");
        assert!(!explains(&collected(41, 100 * MS, 3)), "too long");
        let mut disturbed = collected(41, 38 * MS, 3);
        disturbed.usage.as_mut().unwrap().other_cores = Some(1.0);
        assert!(words(&disturbed).starts_with("collections took") && !explains(&disturbed));
    }
}
