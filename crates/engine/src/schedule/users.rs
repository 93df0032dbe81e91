//! The users of one lane of a load: which requests are whose, and when arrivals and devices are due.
//! Nothing here knows of connections. What users do with these is in the worker.
use pippin_model::load::{Arrivals as Spacing, LoadSpec, Schedule, Stage};

use crate::schedule::arrivals::Arrivals;
use crate::schedule::lane::Lane;
use crate::schedule::random::ThinkTimes;
use crate::time::timeline::UNKNOWN;

/// The users of a lane.
pub(crate) enum Users {
    /// One for each connection; the next request follows the last answer, after the think time.
    Closed { think: Option<ThinkTimes> },
    /// Arrivals that wait for nothing.
    Open(OpenLoop),
    /// Each opens a connection, sends its requests with think time between, and is replaced.
    Devices(Devices),
}

impl Users {
    pub fn new(spec: &LoadSpec, lane: &Lane) -> Self {
        let think_times = |spread| lane.think_times(spec, spread);
        match &spec.schedule {
            Schedule::Closed { think } => Self::Closed { think: think.map(think_times) },
            Schedule::Open { arrivals, stages } => {
                Self::Open(OpenLoop::new(spec, lane, *arrivals, stages))
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
                lane: lane.clone(),
                ramp_up_ns: *ramp_up_ns,
                until: ramp_up_ns + sustain_ns,
                start: UNKNOWN,
                born: 0,
            }),
        }
    }

    /// Whether requests that are under way when measuring starts are measured. In a closed loop one
    /// request follows another, and without those each user would have one request too few.
    /// Elsewhere a request belongs to the stretch in which it was intended.
    #[inline]
    pub const fn carries_over(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether requests are due at planned instants, whatever the answers before them did.
    #[inline]
    pub const fn have_a_plan(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether the schedule holds no further requests.
    pub const fn are_exhausted(&self) -> bool {
        matches!(self, Self::Open(open) if open.is_over())
    }
}

/// The arrivals of a lane.
pub(crate) struct OpenLoop {
    arrivals: Arrivals,
    pub start: u64,
    /// How long before a deadline a thread polls instead of sleeping.
    pub spin_ns: u64,
    /// Each arrival is a user of its own: the first one of the whole load sends the first template,
    /// and so on. In a scenario it is the number of the walk.
    turn: Turn,
}

/// Whose turn it is among the templates.
struct Turn {
    lane: Lane,
    taken: u64,
    count: u64,
}

/// The devices of a lane.
pub(crate) struct Devices {
    pub think: ThinkTimes,
    pub requests_each: u32,
    pub all: u64,
    pub lane: Lane,
    pub ramp_up_ns: u64,
    /// From then on devices that end are not replaced.
    pub until: u64,
    pub start: u64,
    pub born: u64,
}

/// How long before a deadline a thread polls instead of sleeping, unless the load says otherwise.
const DEFAULT_SPIN_NS: u64 = 50_000;

impl OpenLoop {
    /// The arrivals of a lane, in these stages.
    pub fn new(spec: &LoadSpec, lane: &Lane, spacing: Spacing, stages: &[Stage]) -> Self {
        Self {
            arrivals: Arrivals::new(spacing, stages, lane.clone(), spec.seed),
            start: UNKNOWN,
            spin_ns: spec.spin_ns.unwrap_or(DEFAULT_SPIN_NS),
            turn: Turn {
                lane: lane.clone(),
                taken: 0,
                // In a scenario each arrival is a walk, and takes its number.
                count: match &spec.scenario {
                    Some(_) => u64::from(u32::MAX),
                    None => spec.usual_turns(),
                },
            },
        }
    }

    /// Whether no further arrival comes.
    pub const fn is_over(&self) -> bool {
        self.arrivals.next_ns().is_none()
    }

    /// When the next request is due; `None` when there are no more.
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        self.arrivals.next_ns().map(|after| self.start + after)
    }

    /// Goes on to the next arrival; the template of the one that was due, or its number in a
    /// scenario.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.arrivals.advance();
        self.turn.take()
    }

    /// Passes over the arrivals before an instant, `most` of them at the most; how many.
    pub fn skip_to(&mut self, instant: u64, most: u64) -> u64 {
        let skipped = self.arrivals.skip_to(instant.saturating_sub(self.start), most);
        self.turn.taken += skipped;
        skipped
    }
}

impl Turn {
    #[inline]
    fn take(&mut self) -> u32 {
        if self.count == 1 {
            return 0;
        }
        let number = self.lane.number(self.taken);
        self.taken += 1;
        (number % self.count) as u32
    }
}

impl Devices {
    /// When the next device of the ramp is due; `None` when all have been.
    pub fn next_birth(&self) -> Option<u64> {
        let number = self.lane.number(self.born);
        (number < self.all).then(|| {
            self.start
                + (u128::from(number) * u128::from(self.ramp_up_ns) / u128::from(self.all)) as u64
        })
    }
}

#[cfg(test)]
mod tests;
