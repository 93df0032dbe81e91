//! SUSPECT: the target's memory grows with its requests.
use pippin_model::host::usage::{Role, UsageSample};
use pippin_model::result::LoadResult;
use pippin_model::text::units::format_bytes;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat, percent};
use crate::series::trend::trend;

const MIB: f64 = 1024.0 * 1024.0;

/// Growth over the measured part, as a fraction and in bytes.
const LIMIT: f64 = 0.10;
const LIMIT_BYTES: f64 = 8.0 * MIB;
/// Fewest samples that show growth; from `ENOUGH` on its trend is tested.
const FEWEST: usize = 4;
const ENOUGH: usize = 10;
/// Standard deviations beyond which the trend is significant at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// The newer half must grow by at least this fraction of the older half's growth. A heap that fills
/// up and then keeps its size is not a leak.
const STILL: f64 = 0.5;

/// No fresh heap explains growth to this size, nanoseconds after the begin ...
const FRESH_NS: u64 = 60_000_000_000;
/// ... or to this many bytes, and so many times what it was.
const BEYOND_FRESH: (f64, f64) = (1024.0 * MIB, 8.0);
/// Parts of the time after it, of which each has a collection: their least sizes are what is still
/// there after it.
const PARTS: usize = 6;

/// A sample: when, in nanoseconds, and the resident set in bytes.
type Sample = (u64, f64);

/// Whether the resident set grew by more than 10 % and 8 MiB, and still grows. In a program without
/// a garbage collector that is enough. A fresh heap fills until its first collections, so of others,
/// and of those about which it is not known, only what is still there after collections counts, or
/// what no fresh heap explains.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let all = resident_sizes(evidence.record, evidence.load()?);
    let (first, last) = (all.first()?.1, all.last()?.1);
    let usage = evidence.record.usage.as_ref();
    let collects = usage.and_then(|usage| usage.roles.get(&Role::Target)?.collects);
    let (limit, times) = BEYOND_FRESH;
    let is_beyond_fresh = last >= limit && last >= times * first;
    let grows = if collects == Some(false) || is_beyond_fresh {
        grows(&sizes(&all))
    } else {
        grows(&sizes(&all)) && grows(&after_collections(&all))
    };
    if !grows {
        return None;
    }
    let duration_s = evidence.duration_s()?;
    let answers = evidence.measured()?.answered.completed.max(1);
    let seen = format!(
        "resident memory rose from {} to {} over {duration_s:.0} s ({}, {} a second, {} for each answer; limit 10 %)",
        format_bytes(first as u64),
        format_bytes(last as u64),
        percent(last / first - 1.0),
        format_bytes(((last - first) / duration_s) as u64),
        format_bytes(((last - first) / answers as f64) as u64)
    );
    Some(caveat(
        "memory_grows",
        Severity::Suspect,
        seen,
        "measure longer: if memory does not level off, the server leaks, and its speed will not last",
    ))
}

/// Whether sizes grow by the limits, and the newer half as well.
fn grows(sizes: &[f64]) -> bool {
    let [first, .., last] = sizes else { return false };
    if sizes.len() < FEWEST || last - first < (LIMIT * first).max(LIMIT_BYTES) {
        return false;
    }
    let rises = if sizes.len() < ENOUGH {
        sizes.windows(2).all(|pair| pair[1] >= pair[0])
    } else {
        trend(sizes).is_some_and(|found| found.z > SIGNIFICANT)
    };
    let middle = sizes[sizes.len() / 2];
    rises && last - middle >= STILL * (middle - first)
}

fn sizes(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|(_, bytes)| *bytes).collect()
}

/// The least sizes of the parts of the time in which the heap is no longer fresh; empty if the load
/// was shorter.
fn after_collections(samples: &[Sample]) -> Vec<f64> {
    let Some((begin_ns, _)) = samples.first() else { return Vec::new() };
    let from = samples.partition_point(|(at_ns, _)| at_ns - begin_ns < FRESH_NS / 2);
    let (newer, last_ns) = (&samples[from..], samples.last().map_or(0, |(at_ns, _)| *at_ns));
    if last_ns - begin_ns < FRESH_NS || newer.len() < PARTS {
        return Vec::new();
    }
    let least = |part: &[Sample]| part.iter().map(|(_, bytes)| *bytes).fold(f64::MAX, f64::min);
    newer.chunks(newer.len().div_ceil(PARTS)).map(least).collect()
}

/// The target's resident set at each sample of the measured part.
fn resident_sizes(record: &TrialRecord, load: &LoadResult) -> Vec<Sample> {
    let measured = load.measured_from_ns..=load.measured_to_ns;
    let inside = record.samples.iter().filter(|sample| measured.contains(&sample.at_ns));
    let size = |sample: &UsageSample| {
        let bytes = sample.roles.get(&Role::Target)?.rss_bytes?;
        Some((sample.at_ns, bytes as f64))
    };
    inside.filter_map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test::judged;
    use pippin_model::example::ExampleTrial;

    fn with(
        seconds: u64,
        collects: Option<bool>,
        mib: impl Fn(f64) -> f64 + 'static,
    ) -> Option<String> {
        let trial = ExampleTrial::hello().seconds(seconds).memory(move |i| mib(i) * MIB);
        let mut record = trial.build();
        let usage = record.usage.as_mut().unwrap();
        usage.roles.get_mut(&Role::Target).unwrap().collects = collects;
        judged(judge, &record).map(|found| found.evidence)
    }

    #[test]
    fn a_leak_of_a_native_server_is_seen_at_once() {
        let seen = with(30, Some(false), |i| 100.0 + 2.0 * i).unwrap();
        assert!(seen.contains("from 100 MiB to 160 MiB"), "{seen}");
        assert!(with(4, Some(false), |i| 10.0 + 580.0 * i).is_some());
    }

    /// 20 KiB of each request stay: 10 MiB to 2.3 GiB in 4 s.
    #[test]
    fn what_no_fresh_heap_explains_is_seen_of_any_server() {
        for collects in [None, Some(true), Some(false)] {
            let seen = with(4, collects, |i| 10.0 + 580.0 * i).unwrap();
            assert!(seen.contains("from 10.0 MiB to 2.28 GiB over 4 s"), "{seen}");
        }
    }

    #[test]
    fn a_fresh_heap_is_no_leak_and_what_stays_after_collections_is() {
        for collects in [None, Some(true)] {
            assert_eq!(with(3, collects, |i| 55.0 + 10.0 * i), None);
            assert_eq!(with(30, collects, |i| 100.0 + 2.0 * i), None);
            // A saw that stands on a floor, and one whose floor rises.
            let saw = |i: f64| 40.0 * ((i % 7.0) / 7.0);
            assert_eq!(with(120, collects, move |i| 100.0 + saw(i)), None);
            assert!(with(120, collects, move |i| 100.0 + saw(i) + 2.0 * i).is_some());
        }
    }

    #[test]
    fn a_heap_that_fills_and_stays_is_not() {
        let native = Some(false);
        assert_eq!(with(30, native, |i| 100.0 + 60.0 * (1.0 - (-i / 5.0).exp())), None);
        assert_eq!(with(30, native, |i| 100.0 + 10.0 * (i % 5.0)), None);
        assert_eq!(with(30, native, |i| 100.0 + 0.3 * i), None, "9 %");
        assert_eq!(with(30, native, |i| 10.0 + 0.1 * i), None, "3 MiB");
        assert_eq!(with(2, native, |i| 100.0 + 20.0 * i), None, "too few samples");
    }
}
