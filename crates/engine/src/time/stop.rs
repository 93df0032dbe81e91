//! When a load ends by the clock.
use pippin_model::load::LoadSpec;

/// The instant at which a load that started at `start`, measured from `measure_from`, ends; `None`
/// if only a count ends it.
pub(crate) fn end(spec: &LoadSpec, start: u64, measure_from: u64) -> Option<u64> {
    let by_rule = spec.stop.duration_ns.map(|duration| measure_from + duration);
    // With a count, the last requests may be answered after the schedule is over.
    let is_counted = spec.stop.requests.is_some();
    let by_schedule =
        spec.schedule.length_ns().filter(|_| !is_counted).map(|length| start + length);
    match (by_rule, by_schedule) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
