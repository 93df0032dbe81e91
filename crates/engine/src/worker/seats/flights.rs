//! The requests under way: `depth` places for each connection, whose numbers are the tags.
//!
//! If answers come in order, the places of a connection are a ring. Otherwise each place is that of
//! a user, and also says what the user does while it has no request under way.
use crate::request::drawn::Value;
use crate::worker::departure::Departure;

/// A request that was sent and not answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub intended_at: u64,
    /// From when on only the generator delayed it: it was due, and a connection was free.
    pub sendable_at: u64,
    pub sent: Departure,
    pub template: u32,
    /// The stretch it belongs to, or what the user of this place does instead.
    pub stretch: u32,
    /// What was drawn for it; where nothing is drawn, zeroes.
    pub value: Value,
}

/// Nothing: no request is in this place.
pub(in crate::worker) const IDLE: u32 = u32::MAX;
/// It thinks, or waits for an arrival.
pub(in crate::worker) const WAITING: u32 = u32::MAX - 1;
/// Its request is due since `intended_at`, and not sent.
pub(in crate::worker) const DUE: u32 = u32::MAX - 2;

impl InFlight {
    /// Whether a request is in this place.
    #[inline]
    pub const fn is_taken(&self) -> bool {
        self.stretch < DUE
    }

    /// How long after it was due it was sent.
    #[inline]
    pub const fn send_lag_ns(&self) -> u64 {
        self.sent.left_at().saturating_sub(self.intended_at)
    }

    /// The response time if it was done at this instant. Where users wait for answers and have no
    /// plan, the generator's own lag is no part of it: nobody wanted to send at a certain instant.
    #[inline]
    pub const fn response_ns(&self, done_at: u64, has_plan: bool) -> u64 {
        let response_ns = done_at.saturating_sub(self.intended_at);
        if has_plan { response_ns } else { response_ns.saturating_sub(self.own_lag_ns()) }
    }

    /// How much of that the generator caused.
    #[inline]
    pub const fn own_lag_ns(&self) -> u64 {
        self.sent.left_at().saturating_sub(self.sendable_at)
    }
}

/// The requests under way of all connections of a worker.
pub(crate) struct Flights {
    places: Vec<InFlight>,
    pub depth: u32,
    in_order: bool,
}

impl Flights {
    pub fn new(slots: u32, depth: u32, in_order: bool) -> Self {
        let free = InFlight {
            intended_at: 0,
            sendable_at: 0,
            sent: Departure::at(0),
            template: 0,
            stretch: IDLE,
            value: Value::default(),
        };
        Self { places: vec![free; slots as usize * depth as usize], depth, in_order }
    }

    /// The places of a connection.
    #[inline]
    pub fn places(&self, slot: u32) -> &[InFlight] {
        let from = slot as usize * self.depth as usize;
        &self.places[from..from + self.depth as usize]
    }

    /// The place in a ring of one that is less than a round behind its end, without a division.
    #[inline]
    const fn around(&self, place: u32) -> u32 {
        if place < self.depth { place } else { place - self.depth }
    }

    #[inline]
    pub fn place(&mut self, slot: u32, tag: u32) -> &mut InFlight {
        &mut self.places[slot as usize * self.depth as usize + tag as usize]
    }

    /// Adds a request to the ring of a connection, which has `in_flight` of them from `head` on.
    /// Returns its tag.
    #[inline]
    pub fn enter(&mut self, slot: u32, (head, in_flight): (u32, u32), request: InFlight) -> u32 {
        let tag = self.around(head + in_flight);
        *self.place(slot, tag) = request;
        tag
    }

    /// Removes the oldest request of a ring, which has this tag. Returns it, and the new `head`.
    #[inline]
    pub fn leave_ring(&self, slot: u32, tag: u32) -> (InFlight, u32) {
        let request = self.places(slot)[tag as usize];
        (request, if tag + 1 == self.depth { 0 } else { tag + 1 })
    }

    /// Removes the request of a user, who does nothing afterwards. Returns it.
    #[inline]
    pub fn take_out(&mut self, slot: u32, tag: u32) -> InFlight {
        let place = self.place(slot, tag);
        let request = *place;
        place.stretch = IDLE;
        request
    }

    /// The tags of the requests under way; the oldest first, if answers come in order.
    pub fn tags(&self, slot: u32, (head, in_flight): (u32, u32)) -> impl Iterator<Item = u32> {
        let of = self.places(slot);
        let (depth, in_order) = (self.depth, self.in_order);
        (0..if in_order { in_flight } else { depth })
            .map(move |i| if in_order { (head + i) % depth } else { i })
            .filter(move |tag| in_order || of[*tag as usize].is_taken())
    }

    /// The requests under way, in the same order.
    pub fn under_way(&self, slot: u32, ring: (u32, u32)) -> impl Iterator<Item = &InFlight> {
        self.tags(slot, ring).map(move |tag| &self.places(slot)[tag as usize])
    }

    /// Takes out all of them.
    pub fn take_all(&mut self, slot: u32, ring: (u32, u32)) -> Vec<InFlight> {
        let tags: Vec<u32> = self.tags(slot, ring).collect();
        let requests = tags.iter().map(|tag| *self.place(slot, *tag)).collect();
        for tag in tags {
            self.place(slot, tag).stretch = IDLE;
        }
        requests
    }

    /// The last `count` requests of a ring have left.
    #[inline]
    pub fn stamp(
        &mut self,
        slot: u32,
        (head, in_flight): (u32, u32),
        count: u32,
        mut sent: Departure,
        mut each: impl FnMut(&InFlight),
    ) {
        for i in in_flight.saturating_sub(count)..in_flight {
            let request = self.place(slot, self.around(head + i));
            request.sent = sent;
            sent = sent.in_place(sent.place() + 1);
            each(request);
        }
    }

    /// Changes requests under way.
    pub fn change(&mut self, slot: u32, ring: (u32, u32), mut with: impl FnMut(&mut InFlight)) {
        let tags: Vec<u32> = self.tags(slot, ring).collect();
        tags.into_iter().for_each(|tag| with(self.place(slot, tag)));
    }
}
