//! NOTE: the target stalls again and again, as in garbage collections.
use pippin_model::result::Window;
use pippin_model::text::units::{counted, format_ns};
use pippin_model::verdict::{Caveat, Severity};

use crate::judge::evidence::{Evidence, caveat};
use crate::series::quantile::median;
use crate::series::steady::measured_windows;

/// A stall takes at least this many times as long as the median answer.
const TIMES_MEDIAN: f64 = 5.0;
/// Shorter stalls come from the scheduler.
const SHORTEST_NS: f64 = 20e6;
/// Fewest stalls that can be periodic.
const FEWEST: f64 = 5.0;
/// How far the longest answer of a window may differ from the typical one to count as the same
/// stall.
const ALIKE: f64 = 0.25;
/// The part of the windows with a stall that must be alike. A slice may begin during one.
const MOST_ALIKE: f64 = 0.75;
/// The part of the windows with an expected stall that must have one.
const MOST_WINDOWS: f64 = 0.8;
/// The shortest stall, as a part of the typical length.
const AT_LEAST: f64 = 0.5;

/// Repeated stalls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// How often one was seen.
    pub count: u64,
    /// The average time from one to the next, in nanoseconds.
    pub period_ns: u64,
    /// How long one lasts, nanoseconds.
    pub length_ns: u64,
}

impl Stalls {
    /// In words, without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "It stands still for about {} every {}: {} of the same length",
            format_ns(self.length_ns),
            format_ns(self.period_ns),
            counted(self.count, "stall")
        )
    }
}

/// Whether nearly every second has a stall of the same length.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let stalls = of(evidence)?;
    let advice = "look for garbage collections, flushes or timers of that period, and for a CPU quota of its container (cpu.max)";
    Some(caveat("stalls", Severity::Note, stalls.words(), advice))
}

/// The stalls of a closed loop. Each stall delays the requests of all connections once. So the
/// number of stalls is the number of delayed requests divided by the connections. `None` if there
/// are too few, if their lengths differ, or if windows lack them. A window shorter than the period,
/// such as a slice, has a stall with a chance in proportion to its length.
#[must_use]
pub fn of(evidence: &Evidence) -> Option<Stalls> {
    if !evidence.is_saturating() {
        return None;
    }
    let load = evidence.load()?;
    let times = &load.measured.spans.response_time;
    let least_ns = (TIMES_MEDIAN * times.quantile_ns(0.5)? as f64).max(SHORTEST_NS);
    let windows: Vec<&Window> = measured_windows(load).collect();
    let stalled = windows.iter().filter_map(|window| window.response_max_ns.map(|ns| ns as f64));
    let stalled: Vec<f64> = stalled.filter(|ns| *ns >= least_ns).collect();
    let length_ns = median(&stalled)?;
    let alike = stalled.iter().filter(|ns| (*ns / length_ns - 1.0).abs() <= ALIKE).count();
    if (alike as f64) < MOST_ALIKE * stalled.len() as f64 {
        return None;
    }
    let caught =
        (1.0 - times.fraction_at_or_below((AT_LEAST * length_ns) as u64)?) * times.count() as f64;
    let under_way = evidence.senders()? * f64::from(evidence.pipeline());
    let count = (caught / under_way).round();
    let period_ns = load.measured.duration_ns as f64 / count.max(1.0);
    let due: f64 =
        windows.iter().map(|window| (window.duration_ns as f64 / period_ns).min(1.0)).sum();
    (count >= FEWEST && alike as f64 >= MOST_WINDOWS * due).then_some(Stalls {
        count: count as u64,
        period_ns: period_ns as u64,
        length_ns: length_ns as u64,
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

    /// A load of 10 connections in 100 windows of 400 ms. `stalls` has the windows with a stall and
    /// its length in ms.
    fn with(stalls: &[(usize, u64)]) -> TrialRecord {
        let mut record = ExampleTrial::hello().connections(10).build();
        let load = record.load.as_mut().unwrap();
        let mut times = Histogram::new();
        times.record_n(2 * MS, 100_000);
        load.windows = (0..100)
            .map(|window| Window {
                from_ns: window * 400 * MS as i64,
                duration_ns: 400 * MS,
                response_max_ns: Some(3 * MS),
                ..Window::default()
            })
            .collect();
        for (window, ms) in stalls {
            load.windows[*window].response_max_ns = Some(ms * MS);
            times.record_n(ms * MS, 10);
        }
        load.measured.duration_ns = 40_000 * MS;
        load.measured.spans.response_time = times;
        record
    }

    #[test]
    fn stalls_that_return_more_seldom_than_slices_are_seen() {
        let each_second: Vec<(usize, u64)> = (0..40).map(|nth| (nth * 5 / 2, 100)).collect();
        let found = judged(judge, &with(&each_second)).unwrap().evidence;
        assert_eq!(
            found,
            "It stands still for about 100 ms every 1.00 s: 40 stalls of the same length"
        );
    }

    #[test]
    fn what_comes_by_chance_and_differs_is_no_stall() {
        let four: Vec<(usize, u64)> = (0..4).map(|nth| (nth * 20, 100)).collect();
        assert_eq!(judged(judge, &with(&four)), None, "too few");
        let other: Vec<(usize, u64)> =
            (0..40).map(|nth| (nth * 2, 30 + 40 * (nth as u64 % 4))).collect();
        assert_eq!(judged(judge, &with(&other)), None, "of other lengths");
    }
}
