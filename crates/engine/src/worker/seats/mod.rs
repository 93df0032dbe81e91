//! The places of a connection: what it holds of requests under way and of users who wait.
//!
//! How answers find their requests decides what a connection holds. Everything that a thread of the
//! load does otherwise where each user has a connection of its own, and where several share one, is a
//! function of [`Seating`], which is chosen at compile time.
//!
//! | module | what it does |
//! |---|---|
//! | `flights` | the requests under way: a ring where answers come in order, else a place for each user |
//! | `ring` | a user with a connection of its own, whose answers come in order |
//! | `sharing` | users who share a connection, and answers in any order |
//! | `streams` | what is remembered of these users, and where the parts of their answers go |
//! | `gathered` | answers that come on every connection (broadcasts) |
//! | `due` | users of a shared connection whose requests are due, in turn |
mod due;
pub(super) mod flights;
mod gathered;
mod ring;
mod sharing;
pub(super) mod streams;

use pippin_model::load::LoadSpec;
use pippin_model::result::ErrorKind;

use super::answers::Reading;
use super::link::Connection;
use super::{Core, Stack, Worker};
use crate::protocol::Protocol;
use crate::protocol::order::Order;
use crate::request::check::Judge;
use flights::{Flights, InFlight};
use streams::Streams;

/// The seating of a stack's protocol.
pub(super) type SeatsOf<S> = <<S as Stack>::Protocol as Protocol>::Order;

/// A user's place: its connection, and the tag of its requests there.
pub(crate) type Place = (u32, u32);

/// How users sit on connections.
pub(crate) trait Seating: Order {
    /// Whether several users share a connection. The protocol may then send bytes of its own, and
    /// the server may send before the first request.
    const IS_SHARED: bool;

    /// Places for requests under way, what is remembered of users who share connections, and the
    /// users of each connection. `first` is the number of the first user.
    fn places(spec: &LoadSpec, first: u64, slots: u32) -> (Flights, Streams, u32);

    /// The connection of a user, and its place there.
    fn place(streams: &Streams, user: u32) -> Place;

    /// The number of the user in a place of a connection.
    fn user(streams: &Streams, place: Place) -> u32;

    /// Users of each connection.
    fn users_of_a_connection(streams: &Streams) -> u32;

    /// Whether an open connection takes no request now, although it may be free.
    fn is_full<S: Stack>(core: &Core<'_, S>, slot: u32) -> bool;

    /// A user wants to send, since `at`. Users who share a connection send when all of them have
    /// been asked ([`Worker::push`]).
    fn ready<S: Stack>(worker: &mut Worker<'_, S>, place: Place, at: u64, now: u64);

    /// A user takes an arrival of the open loop, whose turn has this number.
    fn arrives<S: Stack>(worker: &mut Worker<'_, S>, place: Place, at: u64, turn: u32, now: u64);

    /// A user has thought.
    fn has_thought<S: Stack>(worker: &mut Worker<'_, S>, place: Place, at: u64, now: u64);

    /// A user thinks, or waits for an arrival, since this instant: until then it was with the server,
    /// but for what it owes ([`Connection::owes`]).
    fn rests<S: Stack>(core: &mut Core<'_, S>, place: Place, since: u64);

    /// A user ends. Another one may have its place.
    fn ends<S: Stack>(core: &mut Core<'_, S>, place: Place);

    /// The users of a connection who do nothing begin, or try again.
    fn begin_all<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64);

    /// As [`Seating::begin_all`], and what was due before is sent too.
    fn wake_up<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64);

    /// A connection can carry requests. `is_idle`: none was due on it.
    fn opened<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, is_idle: bool, now: u64);

    /// Sends what is due on an open connection.
    fn send<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, now: u64);

    /// The kernel has taken what was left of the last write. `was_full`: the connection took no
    /// request before.
    fn written<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, was_full: bool, now: u64);

    /// Decodes what arrived.
    fn read<S: Stack>(core: &mut Core<'_, S>, slot: u32, input: &[u8], now: u64) -> Reading;

    /// Input was decoded: what follows from it. Bytes of the transport may have no content.
    fn has_read<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, reading: Reading, now: u64);

    /// The judge of the answer to a request under way, and when its head came.
    fn judge<'a, T, P, O>(
        connection: &'a mut Connection<T, P, O>,
        streams: &'a mut Streams,
        place: Place,
    ) -> (&'a mut Judge, u64);

    /// Removes a request under way, whose answer has arrived.
    fn take_out<S: Stack>(core: &mut Core<'_, S>, place: Place) -> InFlight;

    /// The requests of a connection were settled at `at`, successful or not: its users go on.
    fn after_requests<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, at: u64, now: u64);

    /// The requests under way on a connection never reached the server: they are due again, and
    /// count as not sent.
    fn take_back<S: Stack>(core: &mut Core<'_, S>, slot: u32);

    /// When the requests were due that wait on a connection; they are given up.
    fn take_due<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> Vec<u64>;

    /// Why a request under way fails, whose connection is lost for this reason.
    fn loss<S: Stack>(core: &mut Core<'_, S>, place: Place, kind: ErrorKind) -> ErrorKind;

    /// Whether the head of an answer has come of which the body has not ended.
    fn has_begun<S: Stack>(core: &mut Core<'_, S>, slot: u32) -> bool;

    /// Requests of a connection were too late at `late_at`. Returns when the next one would be.
    fn time_out<S: Stack>(
        worker: &mut Worker<'_, S>,
        slot: u32,
        late_at: u64,
        now: u64,
    ) -> Option<u64>;

    /// Until when the server may go on to take none of the requests that wait for a connection
    /// which has none under way; `None` if it takes them, or none waits.
    fn barred_until<S: Stack>(core: &mut Core<'_, S>, slot: u32, now: u64) -> Option<u64>;

    /// A connection broke for this reason, and no request failed by it.
    fn broke_idle<S: Stack>(core: &mut Core<'_, S>, has_served: bool, kind: ErrorKind);

    /// A connection broke with nothing settled: what waits for it tries again later.
    fn broke_unused<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, now: u64);

    /// The server has ended a connection with nothing under way. What waits goes over another one: at
    /// once if this one has served, and else after a while, so that the server is not overrun.
    fn ended_idle<S: Stack>(worker: &mut Worker<'_, S>, slot: u32, has_served: bool, now: u64);

    /// A connection is about to be closed.
    fn leave<S: Stack>(worker: &mut Worker<'_, S>, slot: u32);
}

impl<S: Stack> Core<'_, S> {
    /// The connection of a user, and its place there.
    #[inline]
    pub(super) fn place_of(&self, user: u32) -> Place {
        SeatsOf::<S>::place(&self.streams, user)
    }

    /// The number of the user in a place of a connection.
    #[inline]
    pub(super) fn user(&self, slot: u32, tag: u32) -> u32 {
        SeatsOf::<S>::user(&self.streams, (slot, tag))
    }

    /// Users of each connection.
    pub(super) fn users_of_a_connection(&self) -> u32 {
        SeatsOf::<S>::users_of_a_connection(&self.streams)
    }
}
