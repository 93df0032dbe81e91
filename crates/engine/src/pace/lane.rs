//! Which part of a load is whose.
//!
//! A load is dealt out to its shares, and the items of a share to its threads in turn: a thread of
//! a share is a lane. All lanes together are the whole load, whatever the number of threads of each
//! share.
use std::sync::Arc;

use pippin_model::load::{LoadSpec, Part, share_of};
use pippin_model::text::units::Spread;

use crate::pace::random::ThinkTimes;

/// A lane's place in the whole load.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    part: Part,
    /// Of the part's items among each `of` of the load.
    places: Arc<[u32]>,
    thread: u32,
    threads: u32,
}

/// How many streams of random numbers each unit of a part has: more than a part can have threads.
const STREAMS: u32 = 1_024;

impl Lane {
    /// The lane of a thread of this load, or of its slice of a load.
    pub fn new(spec: &LoadSpec, thread: u32) -> Self {
        let places = spec.slice.places().into();
        Self { part: spec.slice, places, thread, threads: spec.threads }
    }

    /// A thread of a load that has one slice.
    #[cfg(test)]
    pub fn of_whole(thread: u32, threads: u32) -> Self {
        Self { part: Part::WHOLE, places: Part::WHOLE.places().into(), thread, threads }
    }

    /// The place in the whole load of this lane's `i`-th item: its part's items are dealt out over
    /// its threads in turn.
    #[inline]
    pub fn number(&self, i: u64) -> u64 {
        let item = u64::from(self.thread) + i * u64::from(self.threads);
        let (row, place) = match self.places.len() {
            1 => (item, 0),
            width => (item / width as u64, item as usize % width),
        };
        row * u64::from(self.part.of) + u64::from(self.places[place])
    }

    /// This lane's share of a rate.
    pub fn fraction(&self) -> f64 {
        f64::from(self.part.width) / f64::from(self.part.of) / f64::from(self.threads)
    }

    /// The number of this lane's stream of random numbers; no other lane of the load has it.
    pub const fn stream(&self) -> u32 {
        self.part.nth.wrapping_mul(STREAMS).wrapping_add(self.thread)
    }

    /// This lane's share of a total. The shares of all lanes add up.
    pub fn share(&self, total: u64) -> u64 {
        let (own, threads) = (self.share_of_part(total), u64::from(self.threads));
        own / threads + u64::from(u64::from(self.thread) < own % threads)
    }

    /// The shares of all lanes before this one.
    pub fn before(&self, total: u64) -> u64 {
        let (own, threads) = (self.share_of_part(total), u64::from(self.threads));
        let thread = u64::from(self.thread);
        let parts_before = match self.part {
            Part { nth: 0, .. } => 0,
            Part { nth, of, .. } => Part { nth: 0, width: nth, of }.share(total),
        };
        parts_before + own / threads * thread + thread.min(own % threads)
    }

    fn share_of_part(&self, total: u64) -> u64 {
        share_of(&self.places, self.part.of, total)
    }

    /// Connections (or devices at the same time) of this lane.
    pub fn users(&self, spec: &LoadSpec) -> u32 {
        self.share(u64::from(all_users(spec))) as u32
    }

    /// The think times of this lane's users.
    pub fn think_times(&self, spec: &LoadSpec, spread: Spread) -> ThinkTimes {
        ThinkTimes::new(spread, spec.seed, self.stream())
    }

    /// The most requests that this lane schedules.
    pub fn quota(&self, spec: &LoadSpec) -> u64 {
        spec.stop.requests.map_or(u64::MAX, |requests| self.share(requests))
    }
}

/// Connections (or devices at the same time) of the whole load, all slices together.
pub(crate) fn all_users(spec: &LoadSpec) -> u32 {
    spec.schedule.users(spec.connections.count)
}

/// The template that the user of a connection begins with, where users have no steps. They begin at
/// different ones, so that at any time each template has been sent about
/// as often as the others. `nth` is the connection's number in the whole load.
pub(crate) fn first_template(spec: &LoadSpec, nth: u64) -> u32 {
    let requests = spec.usual_turns();
    // Each stream of a connection is a user.
    let users = u64::from(all_users(spec)) * u64::from(spec.connections.streams);
    // If there are more requests than users, users start far from each other, so that no request is
    // repeated before all were sent.
    (if requests > users { nth % users * requests / users } else { nth % requests }) as u32
}
