//! What is remembered of the streams of a connection.
use std::collections::VecDeque;

use super::frame::MOST_BYTES;

/// A request under way. Its place among the streams is its tag.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    /// 0 if no request is in this place.
    pub id: u32,
    pub template: u32,
    /// Something of its answer came.
    pub has_begun: bool,
    pub has_head: bool,
    /// The answer must have no body, whatever its head says.
    pub has_no_body: bool,
    /// It is a call of gRPC: the request or its answer says so.
    pub is_grpc: bool,
    /// The status of the call.
    pub grpc_status: Option<u32>,
    /// Its body is in the queue of bodies that may be sent.
    pub is_queued: bool,
    /// What `content-length` says.
    pub declared: Option<u64>,
    /// Bytes of the body that came.
    pub received: u64,
    /// Bytes of DATA frames for which the server got no new window yet.
    pub unreturned: u32,
    /// How many bytes of the request's body were sent, and how many of it there are.
    pub sent: u32,
    pub to_send: u32,
    /// How many more bytes of its body the server accepts; below 0 after the server has reduced its
    /// window.
    pub window: i64,
}

/// Streams by their id: each id is that of a tag. Open addressing with linear probing, at most half
/// full.
#[derive(Debug)]
pub(super) struct Ids {
    /// Id and tag; an id of 0 is an empty place.
    places: Box<[(u32, u32)]>,
}

impl Ids {
    pub fn new(most: u32) -> Self {
        let count = (most as usize * 2).next_power_of_two();
        Self { places: vec![(0, 0); count].into_boxed_slice() }
    }

    const fn mask(&self) -> usize {
        self.places.len() - 1
    }

    /// Where the search for an id begins. Ids are consecutive odd numbers: in a row, each removal
    /// would walk past all others. Multiples of the golden ratio spread them evenly.
    const fn home(&self, id: u32) -> usize {
        let spread = (id >> 1).wrapping_mul(0x9E37_79B9);
        (spread >> (u32::BITS - self.places.len().trailing_zeros())) as usize
    }

    #[inline]
    pub fn insert(&mut self, id: u32, tag: u32) {
        let mut at = self.home(id);
        while self.places[at].0 != 0 {
            at = (at + 1) & self.mask();
        }
        self.places[at] = (id, tag);
    }

    #[inline]
    fn find(&self, id: u32) -> Option<usize> {
        let mut at = self.home(id);
        loop {
            match self.places[at].0 {
                0 => return None,
                found if found == id => return Some(at),
                _ => at = (at + 1) & self.mask(),
            }
        }
    }

    #[inline]
    pub fn get(&self, id: u32) -> Option<u32> {
        self.find(id).map(|at| self.places[at].1)
    }

    /// Removes an id, and moves up those behind it that could not be found otherwise.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        let Some(mut hole) = self.find(id) else { return };
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask();
            let (other, _) = self.places[at];
            if other == 0 {
                break;
            }
            let distance = |from: usize| at.wrapping_sub(from) & self.mask();
            if distance(self.home(other)) >= distance(hole) {
                self.places[hole] = self.places[at];
                hole = at;
            }
        }
        self.places[hole] = (0, 0);
    }
}

/// The streams that we ended lately: frames of theirs may still be on their way (RFC 9113 section
/// 5.1). Bounded, because a server could make us end any number. Of those before, it is only known
/// up to which id they went: a server that was slow may answer them yet.
#[derive(Debug, Default)]
pub(super) struct Ended {
    lately: VecDeque<u32>,
    forgotten_up_to: u32,
}

const MOST_ENDED: usize = 1024;

impl Ended {
    pub fn add(&mut self, id: u32) {
        if self.lately.len() == MOST_ENDED
            && let Some(old) = self.lately.pop_front()
        {
            self.forgotten_up_to = self.forgotten_up_to.max(old);
        }
        self.lately.push_back(id);
    }

    pub fn has(&self, id: u32) -> bool {
        id <= self.forgotten_up_to || self.lately.contains(&id)
    }
}

/// An incomplete DATA frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    /// `None` if nobody waits for it any more.
    pub tag: Option<u32>,
    /// Bytes that are still to come, padding included.
    pub left: usize,
    /// How many of them are padding; `None` if the byte that says so has not come.
    pub padding: Option<usize>,
    pub ends_stream: bool,
}

const _: () = assert!(MOST_BYTES < u32::MAX as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Against a map: streams begin in the order of their ids and end in any order.
        #[test]
        fn ids_are_found_until_they_are_removed(ends in proptest::collection::vec(0_usize..8, 1..300)) {
            let (mut ids, mut truth) = (Ids::new(8), HashMap::new());
            let mut open: Vec<u32> = Vec::new();
            for (nth, end) in ends.into_iter().enumerate() {
                let id = nth as u32 * 2 + 1;
                ids.insert(id, nth as u32);
                truth.insert(id, nth as u32);
                open.push(id);
                if open.len() == 8 {
                    let gone = open.remove(end);
                    ids.remove(gone);
                    truth.remove(&gone);
                }
                for id in (1..=id + 2).step_by(2) {
                    prop_assert_eq!(ids.get(id), truth.get(&id).copied());
                }
            }
        }
    }
}
