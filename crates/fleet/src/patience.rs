//! How long members of a fleet wait for each other.

/// A member that hears nothing for this long gives the other one up, in nanoseconds, unless the
/// coordinator's user asks for another time.
pub const DEFAULT_NS: u64 = 4_000_000_000;
/// The shortest patience: beats come twice a second.
pub const LEAST_NS: u64 = 2_000_000_000;
/// The longest. No load goes on for longer than this after its coordinator is gone.
pub const MOST_NS: u64 = 600_000_000_000;
/// How long an agent keeps a result for a coordinator that it does not hear.
pub const HELD_NS: u64 = 600_000_000_000;
/// How long a coordinator that lost all of its agents at once waits for the results that they hold:
/// the cause is then between them, a server or a network, and may pass.
pub const RETURN_NS: u64 = 60_000_000_000;

/// A patience within its bounds.
#[must_use]
pub fn bounded_ns(ns: u64) -> u64 {
    ns.clamp(LEAST_NS, MOST_NS)
}
