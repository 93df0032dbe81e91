//! When a load ends by the clock.
use pippin_model::load_spec::{LoadSpec, Schedule};

/// The instant at which a load that started at `start`, measured from `measure_from`, ends; `None`
/// if only a count ends it.
pub(crate) fn end(spec: &LoadSpec, start: u64, measure_from: u64) -> Option<u64> {
    let by_rule = spec.stop.duration_ns.map(|duration| measure_from + duration);
    let by_schedule = match &spec.schedule {
        Schedule::Closed { .. } => None,
        // With a count the last requests may be answered after their stage is over.
        Schedule::Open { .. } if spec.stop.requests.is_some() => None,
        Schedule::Open { stages, .. } => {
            Some(start + stages.iter().map(|stage| stage.duration_ns).sum::<u64>())
        }
        Schedule::Devices { ramp_up_ns, sustain_ns, ramp_down_ns, .. } => {
            Some(start + ramp_up_ns + sustain_ns + ramp_down_ns)
        }
    };
    match (by_rule, by_schedule) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
