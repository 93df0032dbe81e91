//! The schedules: who is due when. Nothing here knows of sockets, protocols or clocks. Every instant
//! is an argument, so that each schedule is tested with times that are worked out on paper.
//!
//! A load asks four questions. [`Pace::take`]: who is due by now? [`Pace::settled`]: a request has
//! its answer or has failed, what does its user do next? [`Pace::failed`]: a connection could not be
//! had, when do its users try again? [`Pace::next_due`]: when is it worth asking again? In an open
//! loop, arrivals ask for users ([`Pace::arrive`]).
//!
//! | module | what it does |
//! |---|---|
//! | `kind` | what every kind of schedule answers, and the list of the kinds |
//! | `lane` | which part of the load is whose |
//! | `arrivals` | when the requests of an open loop are due, in closed form |
//! | `closed` | users who wait for their answers |
//! | `crowd` | users who come and go meanwhile |
//! | `open` | arrivals that wait for nothing, and who sends them |
//! | `devices` | devices that come, send their requests, and go |
//! | `walks` | users who go through steps |
//! | `random` | random numbers that are the same on every machine |
pub(crate) mod arrivals;
pub(crate) mod closed;
pub(crate) mod crowd;
pub(crate) mod devices;
mod kind;
pub(crate) mod lane;
pub(crate) mod open;
pub(crate) mod random;
pub(crate) mod walks;

use pippin_model::load::{LoadSpec, Schedule};

use crate::time::timer::Wheel;
use closed::Closed;
use crowd::Crowd;
use devices::Devices;
use kind::{Kind, Users};
use lane::Lane;
use open::Open;
pub(crate) use open::{Arrival, Seat, Seats};
pub(crate) use walks::Fate;

/// How long users wait after a failed connection before they try again, for each connection of the
/// thread: all of them together try at most 10,000 times per second.
const RETRY_EACH_NS: u64 = 100_000;
/// At least and at the most so long.
const RETRY_BOUNDS_NS: (u64, u64) = (10_000_000, 1_000_000_000);

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It sends its next request, which is due at the instant that was asked about.
    Sends,
    /// It sends its next request as in [`Next::Sends`], and it is another user than the one who had this
    /// place before.
    Starts,
    /// It thinks until then, and [`Pace::take`] has it again.
    Thinks { until: u64 },
    /// It waits for an arrival, and [`Pace::arrive`] has it again.
    Waits,
    /// It has sent all of its requests, and its connection ends with it. Another user takes its
    /// place as soon as a connection may be opened ([`Pace::begins`]).
    IsReplaced,
    /// It has sent all of its requests, its connection ends with it, and nobody takes its place.
    Ends,
}

/// Who is due, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// A user has thought.
    User { user: u32, at: u64 },
    /// The users of a connection begin, or try again after a failure. Opening it is limited, so
    /// they wait for their turn.
    Connection { slot: u32, at: u64 },
}

/// The users of a lane, and their appointments.
pub(crate) struct Pace {
    users: Users,
    /// A timer for each user: it thinks. None in a load in which nobody does.
    thinking: Wheel,
    /// A timer for each connection: its users try again.
    retrying: Wheel,
    /// Users of each connection; several only where `is_shared`.
    depth: u32,
    is_shared: bool,
    retry_ns: u64,
}

/// How the users of a lane are spread over connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub connections: u32,
    /// Users of each connection.
    pub depth: u32,
    /// Whether users share connections. Otherwise the user of a connection has its number, and a
    /// user who thinks does not also wait to try again.
    pub is_shared: bool,
}

impl Pace {
    /// The users of a lane; nobody is due before [`Pace::start`]. Timers count from `now` on.
    pub fn new(spec: &LoadSpec, lane: &Lane, places: Places, now: u64) -> Self {
        let Places { connections, depth, is_shared } = places;
        let count = connections * depth;
        let (least, most) = RETRY_BOUNDS_NS;
        let users = match &spec.schedule {
            Schedule::Closed { think } => Users::Closed(Closed::new(spec, lane, *think)),
            Schedule::Users { think, stages } => {
                Users::Crowd(Crowd::new(spec, lane, (*think, stages.as_slice()), count))
            }
            Schedule::Open { arrivals, stages } => {
                Users::Open(Open::new(spec, lane, (*arrivals, stages.as_slice()), count))
            }
            Schedule::Devices { .. } => Users::Devices(Devices::new(spec, lane, count)),
        };
        let thinks = spec.schedule.think().is_some() || spec.scenario.is_some();
        Self {
            users,
            thinking: Wheel::new(if thinks { count } else { 0 }, now),
            retrying: Wheel::new(connections, now),
            depth,
            is_shared,
            retry_ns: (u64::from(connections) * RETRY_EACH_NS).clamp(least, most),
        }
    }

    /// The schedule starts. Returns the starts of its later phases, if it has any.
    pub fn start(&mut self, at: u64) -> Option<Vec<u64>> {
        self.users.start(at, self.depth)
    }

    /// What a user does as the schedule starts at `at`. `first_wait_ns`: how long it waits, if its
    /// steps say that.
    pub fn first(
        &mut self,
        user: u32,
        at: u64,
        first_wait_ns: impl FnOnce() -> Option<u64>,
    ) -> Next {
        let next = self.users.first(user, at, first_wait_ns);
        self.keep(user, next)
    }

    /// The next appointment of a user or a connection, or earlier; `None` if there is none. What
    /// arrives is not among these ([`Pace::next_arrival`]).
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        let dues = [self.thinking.next_due(), self.retrying.next_due(), self.users.next_change()];
        dues.into_iter().flatten().min()
    }

    /// Who is due by `now`, one at a time.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<Due> {
        if let Some(due) = self.users.take(now, &mut self.thinking) {
            return Some(due);
        }
        if let Some((user, at)) = self.thinking.pop(now) {
            return Some(Due::User { user, at });
        }
        let (slot, at) = self.retrying.pop(now)?;
        Some(Due::Connection { slot, at })
    }

    /// What a user does who begins, has thought, or tries again, at `at`. `goes_on`: it is in the
    /// middle of a walk.
    #[inline]
    pub fn begins(&mut self, user: u32, at: u64, goes_on: bool) -> Next {
        self.users.begins(user, at, goes_on)
    }

    /// What a user does whose request was settled at `at`, successful or not.
    #[inline]
    pub fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        let next = self.users.settled(user, at, fate);
        self.keep(user, next)
    }

    /// The connection of a slot could not be opened, or ended without an answer, and its requests
    /// were given up or wait: its users try again later.
    pub fn failed(&mut self, slot: u32, now: u64) {
        let comes_anyway = !self.is_shared && self.thinking.is_set(slot);
        if !comes_anyway && !self.retrying.is_set(slot) {
            self.retrying.set(slot, now + self.retry_ns);
        }
    }

    /// Whether a user thinks, or waits for an arrival.
    #[cfg(test)]
    pub fn rests(&self, user: u32) -> bool {
        let waits = self.users.arrivals().is_some_and(|open| open.waits(user));
        waits || self.thinking.is_set(user)
    }

    /// Whether a user is away for now, in a load whose users come and go; `None` for other loads.
    #[cfg(test)]
    pub fn is_away(&self, user: u32) -> Option<bool> {
        self.users.is_away(user)
    }

    /// Whether the users of a connection wait to try again.
    pub fn is_retrying(&self, slot: u32) -> bool {
        self.retrying.is_set(slot)
    }

    /// Remembers an appointment.
    #[inline]
    fn keep(&mut self, user: u32, next: Next) -> Next {
        if let Next::Thinks { until } = next {
            self.thinking.set(user, until);
        }
        next
    }
}

/// What only arrivals have.
impl Pace {
    /// The next arrival and who sends it, if it is due by `now` and somebody can.
    #[inline]
    pub fn arrive(&mut self, now: u64, seats: &mut impl Seats) -> Option<Arrival> {
        self.users.arrivals_mut()?.arrive(now, seats)
    }

    /// When the next arrival is due that somebody can send, and from when on it is worth polling
    /// for it instead of sleeping.
    #[inline]
    pub fn next_arrival(&self, seats: &impl Seats) -> Option<(u64, u64)> {
        self.users.arrivals()?.next_arrival(seats)
    }

    /// The first arrival, if it is due before this instant and nobody has sent it.
    pub fn unsent_before(&self, instant: u64) -> Option<u64> {
        self.users.arrivals()?.next_due().filter(|due| *due < instant)
    }

    /// Passes over the arrivals before an instant, `most` of them at the most. Returns how many.
    pub fn skip_to(&mut self, instant: u64, most: u64) -> u64 {
        self.users.arrivals_mut().map_or(0, |open| open.skip_to(instant, most))
    }

    /// A user who was put aside waits for arrivals again.
    pub fn unpark(&mut self, user: u32) {
        if let Some(open) = self.users.arrivals_mut() {
            open.wait(user);
        }
    }

    /// A connection that users share is open: arrivals go to them before another one is opened.
    pub fn opened(&mut self, slot: u32) {
        if let Some(open) = self.users.arrivals_mut() {
            open.opened(slot * self.depth..(slot + 1) * self.depth);
        }
    }
}

/// Facts of a schedule.
impl Pace {
    /// Whether requests that are under way when measuring starts are measured.
    pub fn carries_over(&self) -> bool {
        self.users.carries_over()
    }

    /// Whether requests are due at planned instants, whatever the answers before them did.
    pub fn has_a_plan(&self) -> bool {
        self.users.arrivals().is_some()
    }

    /// Whether each user opens its connection as it begins, within the load.
    pub fn opens_late(&self) -> bool {
        self.users.opens_late()
    }

    /// Whether the schedule holds no further requests.
    pub fn is_over(&self) -> bool {
        self.users.arrivals().is_some_and(Open::is_over)
    }
}

#[cfg(test)]
mod tests;
