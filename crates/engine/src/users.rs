//! Who sends the next request, when, and which: the users of one lane of a load. They know no
//! sockets and no bytes.
//!
//! A load is dealt out to lanes: the threads of all its slices. Lane `i` of `n` takes every `n`-th
//! arrival and device, and an even share of the connections and requests, so that all lanes
//! together are the whole load.
use pippin_model::load_spec::{LoadSpec, Schedule};

use crate::arrivals::Arrivals;
use crate::polling::AnswerPolling;
use crate::random::ThinkTimes;
use crate::timeline::UNKNOWN;

/// A lane's place in the whole load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lane {
    pub nth: u32,
    pub of: u32,
}

impl Lane {
    /// The lane of a thread of this load, or of its slice of a load.
    pub fn new(spec: &LoadSpec, thread: u32) -> Self {
        let slice = spec.slice;
        Self { nth: slice.nth * spec.threads + thread, of: slice.of * spec.threads }
    }

    /// This lane's share of a total. Shares differ by one at the most and add up.
    pub fn share(self, total: u64) -> u64 {
        let (nth, of) = (u64::from(self.nth), u64::from(self.of));
        total / of + u64::from(nth < total % of)
    }

    /// The shares of all lanes before this one.
    pub fn before(self, total: u64) -> u64 {
        let (nth, of) = (u64::from(self.nth), u64::from(self.of));
        total / of * nth + nth.min(total % of)
    }

    /// Connections (or devices at the same time) of this lane.
    pub fn users(self, spec: &LoadSpec) -> u32 {
        self.share(u64::from(all_users(spec))) as u32
    }

    /// Requests that this lane schedules at the most.
    pub fn quota(self, spec: &LoadSpec) -> u64 {
        spec.stop.requests.map_or(u64::MAX, |requests| self.share(requests))
    }
}

/// Connections (or devices at the same time) of the whole load, all slices together.
pub(crate) const fn all_users(spec: &LoadSpec) -> u32 {
    match spec.schedule {
        Schedule::Devices { devices, .. } => devices,
        _ => spec.connections.count,
    }
}

/// The users of a lane.
pub(crate) enum Users {
    /// One for each connection; the next request follows the last answer, after the think time.
    Closed { think: Option<ThinkTimes> },
    /// Arrivals that wait for nothing.
    Open(OpenLoop),
    /// Each opens a connection, sends its requests with think time between, and is replaced.
    Devices(Devices),
}

/// The arrivals of a lane.
pub(crate) struct OpenLoop {
    arrivals: Arrivals,
    pub start: u64,
    /// How long before a deadline polling replaces sleeping.
    pub spin_ns: u64,
    pub polling: AnswerPolling,
    /// Each arrival is a user of its own: the first one of the whole load sends the first template,
    /// and so on.
    turn: Turn,
}

/// Whose turn it is among the templates.
struct Turn {
    template: u32,
    step: u32,
    count: u32,
}

/// The devices of a lane.
pub(crate) struct Devices {
    pub think: ThinkTimes,
    pub requests_each: u32,
    all: u64,
    lane: Lane,
    pub ramp_up_ns: u64,
    /// From then on devices that end are not replaced.
    pub until: u64,
    pub start: u64,
    pub born: u64,
}

/// How long before a deadline polling replaces sleeping, unless the load says otherwise.
const DEFAULT_SPIN_NS: u64 = 50_000;

/// For an answer the thread polls so many times as long: it takes a round trip, and a server that
/// has to wake up.
const ANSWER_SPINS: u64 = 2;

impl Users {
    pub fn new(spec: &LoadSpec, lane: Lane) -> Self {
        let think_times = |spread| ThinkTimes::new(spread, spec.seed, lane.nth);
        match &spec.schedule {
            Schedule::Closed { think } => Self::Closed { think: think.map(think_times) },
            Schedule::Open { arrivals, stages } => {
                let spin_ns = spec.spin_ns.unwrap_or(DEFAULT_SPIN_NS);
                let count = spec.requests.turn_count() as u32;
                Self::Open(OpenLoop {
                    arrivals: Arrivals::new(*arrivals, stages, lane.nth, lane.of, spec.seed),
                    start: UNKNOWN,
                    spin_ns,
                    polling: AnswerPolling::new(spin_ns * ANSWER_SPINS),
                    turn: Turn { template: lane.nth % count, step: lane.of % count, count },
                })
            }
            Schedule::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ..
            } => Self::Devices(Devices {
                think: think_times(*think),
                requests_each: *requests_per_device,
                all: u64::from(*devices),
                lane,
                ramp_up_ns: *ramp_up_ns,
                until: ramp_up_ns + sustain_ns,
                start: UNKNOWN,
                born: 0,
            }),
        }
    }

    /// The template that the user of a connection begins with: users begin at different ones, so
    /// that each template is sent as often as the others at any time. `nth` is the connection's
    /// number in the whole load.
    pub fn first_template(spec: &LoadSpec, nth: u64) -> u32 {
        (nth % spec.requests.turn_count() as u64) as u32
    }

    /// Whether requests that are under way when measuring starts are measured: in a closed loop one
    /// follows the other without end, and leaving those out would count a request for each user too
    /// few in every load. Elsewhere a request belongs to the stretch in which it was intended.
    #[inline]
    pub const fn carries_over(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether requests are due at planned instants, whatever the answers before them did.
    #[inline]
    pub const fn have_a_plan(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether to stay awake for an answer.
    #[inline]
    pub const fn polls_for_an_answer(&self, now: u64) -> bool {
        matches!(self, Self::Open(open) if open.polling.polls(now))
    }

    /// Something arrived.
    #[inline]
    pub fn came(&mut self, now: u64) {
        if let Self::Open(open) = self {
            open.polling.came(now);
        }
    }

    /// Whether the schedule holds no further requests.
    pub const fn are_exhausted(&self) -> bool {
        matches!(self, Self::Open(open) if open.arrivals.next_ns().is_none())
    }
}

impl OpenLoop {
    /// When the next request is due; `None` when there are no more.
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        self.arrivals.next_ns().map(|after| self.start + after)
    }

    /// Goes on to the next arrival; the template of the one that was due.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.arrivals.advance();
        self.turn.take()
    }
}

impl Turn {
    #[inline]
    const fn take(&mut self) -> u32 {
        let template = self.template;
        self.template += self.step;
        if self.template >= self.count {
            self.template -= self.count;
        }
        template
    }
}

impl Devices {
    /// When the next device of the ramp is due; `None` when all have been.
    pub fn next_birth(&self) -> Option<u64> {
        let number = u64::from(self.lane.nth) + self.born * u64::from(self.lane.of);
        (number < self.all).then(|| {
            self.start
                + (u128::from(number) * u128::from(self.ramp_up_ns) / u128::from(self.all)) as u64
        })
    }
}

#[cfg(test)]
mod tests;
