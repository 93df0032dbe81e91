//! SUSPECT: the target's memory grows steadily.
use pippin_model::host::usage::Role;
use pippin_model::result::LoadResult;
use pippin_model::text::units::format_bytes;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::series::trend::trend;

/// Fewest samples that show growth.
const FEWEST: usize = 10;
/// Growth along the trend over the measured part, as a fraction, and in bytes.
const LIMIT: f64 = 0.10;
const LIMIT_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// Standard deviations beyond which the trend is significant at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// The newer half must grow by at least this fraction of the older half's growth. A heap that fills
/// up and then keeps its size is not a leak.
const STILL: f64 = 0.5;

/// Whether the resident set grew significantly over the measured part, by more than 10 % and 8 MiB,
/// and still grows at its end.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let sizes = resident_sizes(evidence.record, evidence.load()?);
    if sizes.len() < FEWEST {
        return None;
    }
    let all = trend(&sizes).filter(|found| found.z > SIGNIFICANT)?;
    let (older, newer) = sizes.split_at(sizes.len() / 2);
    let grown = |half: &[f64]| {
        trend(half).map(|found| {
            found.relative_change * crate::series::quantile::median(half).unwrap_or(0.0)
        })
    };
    let (first, last) = (*sizes.first()?, *sizes.last()?);
    if all.relative_change < LIMIT
        || last - first < LIMIT_BYTES
        || grown(newer)? < STILL * grown(older)?
    {
        return None;
    }
    let duration_s = evidence.duration_s()?;
    let seen = format!(
        "resident memory rose from {} to {} over {duration_s:.0} s ({} along the trend, {} a second; limit 10 %)",
        format_bytes(first as u64),
        format_bytes(last as u64),
        percent(all.relative_change),
        format_bytes(((last - first) / duration_s) as u64)
    );
    Some(caveat(
        "memory_grows",
        Severity::Suspect,
        seen,
        "measure longer: if memory does not level off, the server leaks, and its speed will not last",
    ))
}

/// The target's resident set at each sample of the measured part.
fn resident_sizes(record: &TrialRecord, load: &LoadResult) -> Vec<f64> {
    let measured = load.measured_from_ns..=load.measured_to_ns;
    let inside = record.samples.iter().filter(|sample| measured.contains(&sample.at_ns));
    inside
        .filter_map(|sample| sample.roles.get(&Role::Target)?.rss_bytes.map(|bytes| bytes as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    const MIB: f64 = 1024.0 * 1024.0;

    #[test]
    fn a_leak_is_seen() {
        let record = ExampleTrial::hello().memory(|i| (100.0 + 2.0 * i) * MIB).build();
        assert!(judged(judge, &record).unwrap().evidence.contains("from 100 MiB to 160 MiB"));
    }

    #[test]
    fn a_heap_that_fills_and_stays_is_not() {
        let fills = ExampleTrial::hello()
            .memory(|i| (100.0 + 60.0 * (1.0 - (-i / 5.0).exp())) * MIB)
            .build();
        assert_eq!(judged(judge, &fills), None);
        let saw = ExampleTrial::hello().memory(|i| (100.0 + 10.0 * (i % 5.0)) * MIB).build();
        assert_eq!(judged(judge, &saw), None);
        assert_eq!(
            judged(judge, &ExampleTrial::hello().memory(|i| (100.0 + 0.3 * i) * MIB).build()),
            None,
            "9 %"
        );
        assert_eq!(
            judged(judge, &ExampleTrial::hello().memory(|i| (10.0 + 0.1 * i) * MIB).build()),
            None,
            "3 MiB"
        );
        assert_eq!(
            judged(
                judge,
                &ExampleTrial::hello().seconds(3).memory(|i| (100.0 + 20.0 * i) * MIB).build()
            ),
            None,
            "too short"
        );
    }
}
