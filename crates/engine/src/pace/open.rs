//! Arrivals that wait for nothing, and who sends them. An arrival goes to the user who has waited
//! longest of those whose connection is open; only if there is none, a connection is opened for it.
use std::collections::VecDeque;
use std::ops::Range;

use pippin_model::load::{Arrivals as Spacing, LoadSpec, Stage};

use super::arrivals::Arrivals;
use super::kind::Kind;
use super::lane::Lane;
use super::{Fate, Next};
use crate::time::timeline::UNKNOWN;

/// How long before a deadline a thread polls instead of sleeping, unless the load says otherwise.
const DEFAULT_SPIN_NS: u64 = 50_000;

/// Whether the connection of a user can take an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seat {
    Open,
    /// It is open, and the server takes no more on it.
    Full,
    /// It has to be opened first.
    Closed,
    /// It has to be opened first, and may not be opened now.
    Barred,
}

/// What arrivals must know of connections.
pub(crate) trait Seats {
    fn seat(&self, user: u32) -> Seat;
    /// The user waits no longer for arrivals, because its connection is full;
    /// [`super::Pace::unpark`] brings it back.
    fn park(&mut self, user: u32);
}

/// A request of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Who sends it.
    pub user: u32,
    /// When it is due.
    pub at: u64,
    /// Its template; in a scenario, the number of its walk.
    pub turn: u32,
}

/// The arrivals of a lane, and the users who wait for them.
pub(crate) struct Open {
    arrivals: Arrivals,
    start: u64,
    spin_ns: u64,
    turn: Turn,
    /// Users whose connection was open when they began to wait, in turn.
    ready: VecDeque<u32>,
    /// Users whose connection was found closed, in turn.
    apart: VecDeque<u32>,
    /// Whether each user is in one of these: who waited twice would send two requests at a time.
    waits: Vec<bool>,
}

/// Whose turn it is among the templates. Each arrival is a user of its own: the first one of the
/// whole load sends the first template, and so on.
struct Turn {
    lane: Lane,
    taken: u64,
    count: u64,
}

impl Open {
    /// The arrivals of a lane with so many users, in these stages.
    pub fn new(
        spec: &LoadSpec,
        lane: &Lane,
        (spacing, stages): (Spacing, &[Stage]),
        count: u32,
    ) -> Self {
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
            ready: VecDeque::new(),
            apart: VecDeque::new(),
            waits: vec![false; count as usize],
        }
    }

    /// The schedule starts. Where `depth` users share a connection, arrivals go to all connections
    /// in turn, and not to all users of the first.
    pub fn start(&mut self, at: u64, depth: u32) {
        self.start = at;
        if depth > 1 {
            self.ready.make_contiguous().sort_by_key(|user| (user % depth, *user));
        }
    }

    /// Whether no further arrival comes.
    pub const fn is_over(&self) -> bool {
        self.arrivals.next_ns().is_none()
    }

    /// When the next arrival is due; `None` before the schedule starts, and when there are no more.
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        let after = self.arrivals.next_ns()?;
        (self.start != UNKNOWN).then(|| self.start + after)
    }

    /// When the next arrival is due that somebody can send, and from when on to poll for it.
    #[inline]
    pub fn next_arrival(&self, seats: &impl Seats) -> Option<(u64, u64)> {
        let mut waiting = self.ready.iter().chain(&self.apart);
        let due = self.next_due()?;
        waiting
            .any(|user| seats.seat(*user) != Seat::Barred)
            .then(|| (due, due.saturating_sub(self.spin_ns)))
    }

    /// The next arrival and who sends it, if it is due by `now` and somebody can.
    #[inline]
    pub fn arrive(&mut self, now: u64, seats: &mut impl Seats) -> Option<Arrival> {
        let at = self.next_due().filter(|due| *due <= now)?;
        let user = self.whose_turn(seats)?;
        self.waits[user as usize] = false;
        self.arrivals.advance();
        Some(Arrival { user, at, turn: self.turn.take() })
    }

    /// Who sends the next arrival: somebody whose connection is open, if there is one.
    #[inline]
    fn whose_turn(&mut self, seats: &mut impl Seats) -> Option<u32> {
        while let Some(user) = self.ready.pop_front() {
            match seats.seat(user) {
                Seat::Open => return Some(user),
                Seat::Full => {
                    self.waits[user as usize] = false;
                    seats.park(user);
                }
                Seat::Closed | Seat::Barred => self.apart.push_back(user),
            }
        }
        let place = self.apart.iter().position(|user| seats.seat(*user) != Seat::Barred)?;
        self.apart.rotate_left(place);
        self.apart.pop_front()
    }

    /// Passes over the arrivals before an instant, `most` of them at the most. Returns how many.
    pub fn skip_to(&mut self, instant: u64, most: u64) -> u64 {
        let skipped = self.arrivals.skip_to(instant.saturating_sub(self.start), most);
        self.turn.taken += skipped;
        skipped
    }

    /// A request of a user was settled at `at`: only the first step of a walk is an arrival.
    #[inline]
    pub fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        match fate {
            Fate { goes_on: false, .. } => self.wait(user),
            Fate { thinks_ns: Some(ns), .. } => Next::Thinks { until: at + ns },
            Fate { thinks_ns: None, .. } => Next::Sends,
        }
    }

    /// A user waits for an arrival; once, however often this is said.
    #[inline]
    pub fn wait(&mut self, user: u32) -> Next {
        if !std::mem::replace(&mut self.waits[user as usize], true) {
            self.ready.push_back(user);
        }
        Next::Waits
    }

    /// Whether a user waits for an arrival.
    #[cfg(test)]
    pub fn waits(&self, user: u32) -> bool {
        self.waits[user as usize]
    }

    /// The connection that these users share is open.
    pub fn opened(&mut self, users: Range<u32>) {
        if !self.apart.iter().any(|user| users.contains(user)) {
            return;
        }
        let apart = std::mem::take(&mut self.apart);
        let (mut now_open, still_closed): (VecDeque<u32>, VecDeque<u32>) =
            apart.into_iter().partition(|user| users.contains(user));
        self.ready.append(&mut now_open);
        self.apart = still_closed;
    }
}

impl Kind for Open {
    fn start(&mut self, at: u64, depth: u32) -> Option<Vec<u64>> {
        self.start(at, depth);
        None
    }

    fn first(&mut self, user: u32, _at: u64, _: impl FnOnce() -> Option<u64>) -> Next {
        self.wait(user)
    }

    #[inline]
    fn begins(&mut self, user: u32, _at: u64, goes_on: bool) -> Next {
        if goes_on { Next::Sends } else { self.wait(user) }
    }

    #[inline]
    fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        self.settled(user, at, fate)
    }

    #[inline]
    fn arrivals(&self) -> Option<&Open> {
        Some(self)
    }

    #[inline]
    fn arrivals_mut(&mut self) -> Option<&mut Open> {
        Some(self)
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

#[cfg(test)]
pub(super) mod tests {
    use pippin_model::load::{Request, Schedule};
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// The connections of a test, one for each user.
    #[derive(Debug)]
    pub struct Room {
        pub seats: Vec<Seat>,
        pub parked: Vec<u32>,
    }

    impl Room {
        pub fn new(seats: &[Seat]) -> Self {
            Self { seats: seats.to_vec(), parked: Vec::new() }
        }
    }

    impl Seats for Room {
        fn seat(&self, user: u32) -> Seat {
            self.seats[user as usize]
        }
        fn park(&mut self, user: u32) {
            self.parked.push(user);
        }
    }

    /// 100/s for 1 s, from 5 s on: the n-th arrival is due at 5,000 + 10 n ms. Each of `count` users
    /// waits.
    fn open(count: u32) -> Open {
        let stages = vec![Stage { duration_ns: 1_000 * MS, from_per_s: 100.0, to_per_s: 100.0 }];
        let schedule = Schedule::Open { arrivals: Spacing::Constant, stages: stages.clone() };
        let requests = vec![Request::get("/a", "x"), Request::get("/b", "x")].into();
        let spec = LoadSpec { schedule, requests, ..LoadSpec::default() };
        let lane = Lane::of_whole(0, 1);
        let mut open = Open::new(&spec, &lane, (Spacing::Constant, stages.as_slice()), count);
        (0..count).for_each(|user| _ = open.wait(user));
        open.start(5_000 * MS, 1);
        open
    }

    const fn arrival(user: u32, ms: u64, turn: u32) -> Option<Arrival> {
        Some(Arrival { user, at: ms * MS, turn })
    }

    #[test]
    fn arrivals_go_to_users_in_turn_and_take_the_templates_in_turn() {
        let (mut open, mut room) = (open(2), Room::new(&[Seat::Open, Seat::Open]));
        assert_eq!(open.arrive(4_999 * MS, &mut room), None);
        assert_eq!(open.arrive(5_000 * MS, &mut room), arrival(0, 5_000, 0));
        assert_eq!(open.arrive(5_009 * MS, &mut room), None);
        assert_eq!(open.arrive(5_010 * MS, &mut room), arrival(1, 5_010, 1));
        // The third is due at 5,020 ms and finds nobody; it counts from then on all the same.
        assert_eq!(open.next_arrival(&room), None);
        assert_eq!(open.arrive(5_025 * MS, &mut room), None);
        assert_eq!(open.settled(1, 5_035 * MS, Fate::default()), Next::Waits);
        assert_eq!(open.arrive(5_035 * MS, &mut room), arrival(1, 5_020, 0));
    }

    #[test]
    fn a_connection_is_opened_only_if_no_open_one_is_idle() {
        let mut room = Room::new(&[Seat::Closed, Seat::Open, Seat::Closed, Seat::Open]);
        let mut open = open(4);
        let mut next = |room: &mut Room| open.arrive(6_000 * MS, room).map(|it| it.user);
        assert_eq!([next(&mut room), next(&mut room)], [Some(1), Some(3)]);
        assert_eq!([next(&mut room), next(&mut room)], [Some(0), Some(2)]);
        assert_eq!(next(&mut room), None);
        // Whoever is free again on an open connection comes before those who are not.
        let mut open = self::open(4);
        room.seats = vec![Seat::Closed, Seat::Closed, Seat::Open, Seat::Closed];
        let mut users = Vec::new();
        for _ in 0..3 {
            users.extend(open.arrive(6_000 * MS, &mut room).map(|it| it.user));
            open.settled(2, 0, Fate::default());
        }
        assert_eq!(users, [2, 2, 2]);
    }

    #[test]
    fn nobody_is_woken_for_an_arrival_that_no_connection_may_take() {
        let (mut open, mut room) = (open(2), Room::new(&[Seat::Barred, Seat::Barred]));
        assert_eq!((open.next_arrival(&room), open.arrive(5_500 * MS, &mut room)), (None, None));
        room.seats[1] = Seat::Closed;
        let spin = DEFAULT_SPIN_NS;
        assert_eq!(open.next_arrival(&room), Some((5_000 * MS, 5_000 * MS - spin)));
        assert_eq!(open.arrive(5_500 * MS, &mut room), arrival(1, 5_000, 0));
    }

    #[test]
    fn who_has_a_full_connection_is_put_aside() {
        let (mut open, mut room) = (open(2), Room::new(&[Seat::Full, Seat::Open]));
        assert_eq!(open.arrive(5_000 * MS, &mut room), arrival(1, 5_000, 0));
        assert_eq!(room.parked, [0]);
        assert_eq!(open.arrive(5_010 * MS, &mut room), None);
        room.seats[0] = Seat::Open;
        open.wait(0);
        assert_eq!(open.arrive(5_010 * MS, &mut room), arrival(0, 5_010, 1));
    }

    /// Users 0 and 1 share a connection, 2 and 3 another. It is opened for user 0, and then user 1
    /// needs none.
    #[test]
    fn who_shares_a_connection_that_was_opened_needs_none() {
        let (mut open, mut room) = (open(4), Room::new(&[Seat::Closed; 4]));
        assert_eq!(open.arrive(5_000 * MS, &mut room), arrival(0, 5_000, 0));
        room.seats[..2].fill(Seat::Open);
        open.opened(0..2);
        assert_eq!(open.arrive(5_010 * MS, &mut room), arrival(1, 5_010, 1));
        assert_eq!(open.arrive(5_020 * MS, &mut room), arrival(2, 5_020, 0));
    }

    #[test]
    fn users_of_shared_connections_are_dealt_out() {
        let mut open = open(6);
        open.start(5_000 * MS, 3);
        assert_eq!(open.ready, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn who_says_twice_that_it_waits_gets_one_arrival() {
        let (mut open, mut room) = (open(1), Room::new(&[Seat::Open]));
        open.wait(0);
        assert_eq!(open.arrive(5_500 * MS, &mut room), arrival(0, 5_000, 0));
        assert_eq!(open.arrive(5_500 * MS, &mut room), None);
    }

    #[test]
    fn the_steps_of_a_walk_need_no_arrival() {
        let mut open = open(1);
        let goes_on = |thinks_ns| Fate { goes_on: true, thinks_ns };
        assert_eq!(open.settled(0, 7 * MS, goes_on(None)), Next::Sends);
        let thinks = Next::Thinks { until: 12 * MS };
        assert_eq!(open.settled(0, 7 * MS, goes_on(Some(5 * MS))), thinks);
        assert_eq!(open.settled(0, 7 * MS, Fate::default()), Next::Waits);
    }

    /// Arrivals at 5,000 to 5,090 ms are before 5,100 ms; then it is the turn of the first template
    /// again.
    #[test]
    fn arrivals_that_nobody_sent_are_passed_over() {
        let (mut open, mut room) = (open(1), Room::new(&[Seat::Open]));
        assert_eq!(open.skip_to(5_100 * MS, 4), 4);
        assert_eq!(open.skip_to(5_100 * MS, u64::MAX), 6);
        assert_eq!(open.arrive(5_100 * MS, &mut room), arrival(0, 5_100, 0));
        assert_eq!(open.skip_to(9_000 * MS, u64::MAX), 89);
        assert!(open.is_over() && open.next_due().is_none());
    }

    fn seats() -> impl Strategy<Value = Seat> {
        prop_oneof![Just(Seat::Open), Just(Seat::Full), Just(Seat::Closed), Just(Seat::Barred)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        /// Whatever happens to connections and however slow answers are: arrivals that were sent and
        /// those that were passed over are together the closed form's, each once, in order, and none
        /// before it is due.
        #[test]
        fn arrivals_are_those_of_the_closed_form_whatever_connections_do(
            steps in prop::collection::vec(
                (0_u64..80, 0_u32..6, prop::option::of((0_usize..6, seats())), any::<bool>()),
                1..60,
            ),
        ) {
            let (mut open, mut room) = (open(6), Room::new(&[Seat::Open; 6]));
            let (mut now, mut busy) = (5_000 * MS, Vec::new());
            let mut due = Vec::new();
            for (ms, user, change, gives_up) in steps {
                now += ms * MS;
                if let Some((place, seat)) = change {
                    room.seats[place] = seat;
                    if matches!(seat, Seat::Open | Seat::Full) {
                        open.opened(place as u32..place as u32 + 1);
                    }
                    if seat != Seat::Full && let Some(at) = room.parked.iter().position(|it| *it as usize == place) {
                        open.wait(room.parked.remove(at));
                    }
                }
                if let Some(at) = busy.iter().position(|it| *it == user) {
                    open.settled(busy.remove(at), now, Fate::default());
                }
                if gives_up {
                    // Those that waited for more than 40 ms, one by one.
                    let limit = now - 40 * MS;
                    while let Some(at) = open.next_due().filter(|at| *at < limit) {
                        prop_assert_eq!(open.skip_to(limit, 1), 1);
                        due.push(at);
                    }
                }
                while let Some(arrival) = open.arrive(now, &mut room) {
                    prop_assert!(arrival.at <= now);
                    prop_assert!(matches!(room.seat(arrival.user), Seat::Open | Seat::Closed));
                    // It waits for no connection while an open one is idle.
                    let is_idle = |it: u32| open.waits[it as usize] && room.seat(it) == Seat::Open;
                    prop_assert!(room.seat(arrival.user) == Seat::Open || !(0..6).any(is_idle));
                    prop_assert_eq!(arrival.turn as usize, due.len() % 2);
                    due.push(arrival.at);
                    busy.push(arrival.user);
                }
                // Nobody is forgotten.
                for it in 0..6 {
                    let places = [
                        busy.contains(&it),
                        room.parked.contains(&it),
                        open.ready.contains(&it),
                        open.apart.contains(&it),
                    ];
                    prop_assert_eq!(places.iter().filter(|is| **is).count(), 1, "user {}", it);
                }
            }
            let right: Vec<u64> = (0..due.len() as u64).map(|n| (5_000 + 10 * n) * MS).collect();
            prop_assert_eq!(due, right);
        }
    }
}
