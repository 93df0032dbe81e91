//! NOTE: the target stands still for a while again and again, as in garbage collections.
use pippin_model::caveat::{Caveat, Severity};
use pippin_model::units::{counted, format_ns};

use crate::judge::evidence::{Evidence, caveat};
use crate::quantile::median;
use crate::steady::measured_windows;

/// A stall is so many times as long as the median answer takes.
const TIMES_MEDIAN: f64 = 5.0;
/// Shorter stalls are a scheduler's.
const SHORTEST_NS: f64 = 20e6;
/// Fewest stalls that can be periodic.
const FEWEST: f64 = 5.0;
/// How far the longest answer of a window may be from the typical one for both to be the same stall.
const ALIKE: f64 = 0.25;
/// The part of the windows that must be alike.
const MOST_WINDOWS: f64 = 0.8;
/// A stall is between half of the typical length and the whole.
const AT_LEAST: f64 = 0.5;

/// Stalls that return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// How often one was seen.
    pub count: u64,
    /// From one to the next on average, nanoseconds.
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

/// Whether nearly every second has its stall, each of the same length.
pub fn judge(evidence: &Evidence) -> Option<Caveat> {
    let stalls = of(evidence)?;
    let advice = "look for garbage collections, flushes or timers of that period, and for a CPU quota of its container (cpu.max)";
    Some(caveat("stalls", Severity::Note, stalls.words(), advice))
}

/// The stalls of a closed loop. Each catches the requests of all connections once, so that the
/// requests it made long, divided by the connections, are the stalls. `None` where windows are
/// too few, or their longest answers differ.
#[must_use]
pub fn of(evidence: &Evidence) -> Option<Stalls> {
    if !evidence.is_saturating() {
        return None;
    }
    let load = evidence.load()?;
    let longest: Vec<f64> = measured_windows(load)
        .filter_map(|window| window.response_max_ns.map(|ns| ns as f64))
        .collect();
    let length_ns = median(&longest)?;
    let times = &load.measured.spans.response_time;
    let typical_ns = times.quantile_ns(0.5)? as f64;
    let alike = longest.iter().filter(|ns| (*ns / length_ns - 1.0).abs() <= ALIKE).count();
    if length_ns < (TIMES_MEDIAN * typical_ns).max(SHORTEST_NS)
        || (alike as f64) < MOST_WINDOWS * longest.len() as f64
    {
        return None;
    }
    let caught =
        (1.0 - times.fraction_at_or_below((AT_LEAST * length_ns) as u64)?) * times.count() as f64;
    let under_way = evidence.connections()? * f64::from(evidence.pipeline());
    let count = (caught / under_way).round();
    (count >= FEWEST).then(|| Stalls {
        count: count as u64,
        period_ns: (load.measured.duration_ns as f64 / count) as u64,
        length_ns: length_ns as u64,
    })
}
