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
pub(crate) mod lane;
pub(crate) mod open;
pub(crate) mod random;
pub(crate) mod walks;

use pippin_model::load::{LoadSpec, Schedule};

use crate::time::timer::Wheel;
use closed::Closed;
use crowd::Crowd;
use devices::Devices;
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
    /// Likewise, and it is another user than the one who had this place before.
    Starts,
    /// It thinks until then, and [`Pace::take`] has it again.
    Thinks { until: u64 },
    /// It waits for an arrival, and [`Pace::arrive`] has it again.
    Waits,
    /// It has sent all of its requests, and its connection ends with it. Another user takes its
    /// place as soon as a connection may be opened ([`Pace::begins`]).
    IsReplaced,
    /// Likewise, and nobody takes its place.
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

/// The kinds of schedules. A new one is a file, and a line here and in each question.
enum Users {
    Closed(Closed),
    Crowd(Crowd),
    Open(Open),
    Devices(Devices),
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
        match &mut self.users {
            Users::Closed(_) => None,
            Users::Crowd(crowd) => {
                crowd.start(at);
                None
            }
            Users::Open(open) => {
                open.start(at, self.depth);
                None
            }
            Users::Devices(devices) => Some(devices.start(at)),
        }
    }

    /// What a user does as the schedule starts at `at`. `first_wait_ns`: how long it waits, if its
    /// steps say that.
    pub fn first(
        &mut self,
        user: u32,
        at: u64,
        first_wait_ns: impl FnOnce() -> Option<u64>,
    ) -> Next {
        let next = match &mut self.users {
            Users::Closed(closed) => closed.first(at, first_wait_ns),
            Users::Open(open) => open.wait(user),
            Users::Crowd(_) | Users::Devices(_) => Next::Ends,
        };
        self.keep(user, next)
    }

    /// The next appointment of a user or a connection, or earlier; `None` if there is none. What
    /// arrives is not among these ([`Pace::next_arrival`]).
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        let birth = match &self.users {
            Users::Closed(_) | Users::Open(_) => None,
            Users::Crowd(crowd) => crowd.next_change(),
            Users::Devices(devices) => devices.next_birth(),
        };
        [self.thinking.next_due(), self.retrying.next_due(), birth].into_iter().flatten().min()
    }

    /// Who is due by `now`, one at a time.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<Due> {
        match &mut self.users {
            Users::Closed(_) | Users::Open(_) => {}
            Users::Crowd(crowd) => {
                // In the order of their instants: who has thought before it goes sends once more.
                while let Some(at) = crowd.next_change().filter(|at| *at <= now) {
                    if let Some((user, at)) = self.thinking.pop(at) {
                        return Some(Due::User { user, at });
                    }
                    if let Some(due) = crowd.change(&mut self.thinking) {
                        return Some(due);
                    }
                }
            }
            Users::Devices(devices) => {
                if let Some((slot, at)) = devices.take(now) {
                    return Some(Due::Connection { slot, at });
                }
            }
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
        match &mut self.users {
            Users::Closed(_) => Next::Sends,
            Users::Crowd(crowd) => crowd.begins(user),
            Users::Open(_) if goes_on => Next::Sends,
            Users::Open(open) => open.wait(user),
            Users::Devices(devices) => devices.begins(user, at),
        }
    }

    /// What a user does whose request was settled at `at`, successful or not.
    #[inline]
    pub fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        let next = match &mut self.users {
            Users::Closed(closed) => closed.settled(at, fate),
            Users::Crowd(crowd) => crowd.settled(user, at, fate),
            Users::Open(open) => open.settled(user, at, fate),
            Users::Devices(devices) => devices.settled(user, at, fate),
        };
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
        let waits = matches!(&self.users, Users::Open(open) if open.waits(user));
        waits || self.thinking.is_set(user)
    }

    /// Whether a user is away for now, in a load whose users come and go; `None` for other loads.
    #[cfg(test)]
    pub fn is_away(&self, user: u32) -> Option<bool> {
        match &self.users {
            Users::Crowd(crowd) => Some(crowd.is_away(user)),
            Users::Closed(_) | Users::Open(_) | Users::Devices(_) => None,
        }
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
        match &mut self.users {
            Users::Open(open) => open.arrive(now, seats),
            Users::Closed(_) | Users::Crowd(_) | Users::Devices(_) => None,
        }
    }

    /// When the next arrival is due that somebody can send, and from when on it is worth polling
    /// for it instead of sleeping.
    #[inline]
    pub fn next_arrival(&self, seats: &impl Seats) -> Option<(u64, u64)> {
        match &self.users {
            Users::Open(open) => open.next_arrival(seats),
            Users::Closed(_) | Users::Crowd(_) | Users::Devices(_) => None,
        }
    }

    /// The first arrival, if it is due before this instant and nobody has sent it.
    pub fn unsent_before(&self, instant: u64) -> Option<u64> {
        match &self.users {
            Users::Open(open) => open.next_due().filter(|due| *due < instant),
            Users::Closed(_) | Users::Crowd(_) | Users::Devices(_) => None,
        }
    }

    /// Passes over the arrivals before an instant, `most` of them at the most. Returns how many.
    pub fn skip_to(&mut self, instant: u64, most: u64) -> u64 {
        match &mut self.users {
            Users::Open(open) => open.skip_to(instant, most),
            Users::Closed(_) | Users::Crowd(_) | Users::Devices(_) => 0,
        }
    }

    /// A user who was put aside waits for arrivals again.
    pub fn unpark(&mut self, user: u32) {
        if let Users::Open(open) = &mut self.users {
            open.wait(user);
        }
    }

    /// A connection that users share is open: arrivals go to them before another one is opened.
    pub fn opened(&mut self, slot: u32) {
        if let Users::Open(open) = &mut self.users {
            open.opened(slot * self.depth..(slot + 1) * self.depth);
        }
    }
}

/// Facts of a schedule.
impl Pace {
    /// Whether requests that are under way when measuring starts are measured. In a closed loop one
    /// request follows another, and without those each user would have one request too few.
    /// Elsewhere a request belongs to the stretch in which it was intended.
    pub const fn carries_over(&self) -> bool {
        matches!(self.users, Users::Closed(_))
    }

    /// Whether requests are due at planned instants, whatever the answers before them did.
    pub const fn has_a_plan(&self) -> bool {
        matches!(self.users, Users::Open(_))
    }

    /// Whether each user opens its connection as it begins, within the load.
    pub const fn opens_late(&self) -> bool {
        matches!(self.users, Users::Crowd(_) | Users::Devices(_))
    }

    /// Whether the schedule holds no further requests.
    pub const fn is_over(&self) -> bool {
        matches!(&self.users, Users::Open(open) if open.is_over())
    }
}

#[cfg(test)]
mod tests;
