//! When a load must be over at the latest, whatever happens in it.
use pippin_model::load_spec::LoadSpec;
use pippin_model::units::Spread;

use crate::validate::users;
use crate::worker::OPENING_AT_ONCE;

/// How long threads may take to end once they should: they look some 100 times a second.
pub(crate) const GRACE_NS: u64 = 5_000_000_000;

/// How long opening the first connections can take: each in turn until its timeout.
pub(crate) fn set_up_ns(spec: &LoadSpec) -> u64 {
    let turns = u64::from(users(spec)).div_ceil(u64::from(OPENING_AT_ONCE)).max(1);
    spec.timeouts.connect_ns.saturating_mul(turns + 1).saturating_add(GRACE_NS)
}

/// How long a load can take that only a count ends: each request of each connection in turn, with
/// its think time, until both of its timeouts.
pub(crate) fn counted_ns(spec: &LoadSpec) -> u64 {
    let schedule_ns = spec.schedule.length_ns().unwrap_or(0);
    let think_ns = spec.schedule.think().map_or(0, Spread::max_ns);
    let requests = spec.stop.requests.unwrap_or(0);
    let in_turn = requests.div_ceil(u64::from(users(spec)).max(1)).saturating_mul(2);
    let each = spec.timeouts.connect_ns + spec.timeouts.request_ns + think_ns + GRACE_NS;
    in_turn.saturating_mul(each).saturating_add(schedule_ns).saturating_add(GRACE_NS)
}
