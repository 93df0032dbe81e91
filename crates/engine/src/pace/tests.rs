//! Appointments of users, and what all lanes of all shares are together.
use pippin_model::load::{
    Arrivals, Connections, Part, Request, Scenario, Schedule, Stage, StopRule,
};
use pippin_model::text::units::Spread;
use proptest::prelude::*;

use super::open::tests::Room;
use super::*;
use pippin_model::schedule::{UserStage, users};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn load(schedule: Schedule, connections: u32, requests: Option<u64>, templates: usize) -> LoadSpec {
    LoadSpec {
        requests: vec![Request::get("/", "x"); templates].into(),
        schedule,
        connections: Connections::kept(connections),
        stop: StopRule { duration_ns: None, requests },
        seed: 5,
        ..LoadSpec::default()
    }
}

fn closed(think: Option<Spread>) -> Schedule {
    Schedule::Closed { think }
}

fn constant(per_s: f64, seconds: u64) -> Schedule {
    let stage = Stage { duration_ns: seconds * SECOND, from_per_s: per_s, to_per_s: per_s };
    Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage] }
}

/// The pace of a load on one thread whose users have a connection each, and steps.
fn pace(schedule: Schedule, connections: u32) -> Pace {
    let scenario = Some(Scenario::default());
    let spec = LoadSpec { scenario, ..load(schedule, connections, None, 1) };
    let places = Places { connections, depth: 1, is_shared: false };
    Pace::new(&spec, &Lane::of_whole(0, 1), places, 0)
}

/// All users of a thread together try 10,000 times per second: 1,000 of them every 100 ms. Few try
/// every 10 ms all the same, and very many every second.
#[test]
fn users_try_again_the_later_the_more_they_are() {
    for (connections, wait_ms) in
        [(1, 10), (100, 10), (1_000, 100), (10_000, 1_000), (50_000, 1_000)]
    {
        let mut pace = pace(closed(None), connections);
        pace.failed(0, 7 * MS);
        assert!(pace.is_retrying(0));
        let at = (7 + wait_ms) * MS;
        assert_eq!(pace.take(at - 1), None, "{connections} connections");
        assert_eq!(pace.take(at), Some(Due::Connection { slot: 0, at }));
        assert!(!pace.is_retrying(0));
    }
}

#[test]
fn a_connection_that_fails_twice_is_tried_again_once() {
    let mut pace = pace(closed(None), 2);
    pace.failed(1, 0);
    pace.failed(1, 5 * MS);
    assert_eq!(pace.take(SECOND), Some(Due::Connection { slot: 1, at: 10 * MS }));
    assert_eq!(pace.take(SECOND), None);
}

/// Who thinks comes anyway, and would else come twice.
#[test]
fn who_thinks_does_not_try_again() {
    let mut pace = pace(closed(Some(Spread::exactly(40 * MS))), 1);
    assert_eq!(pace.settled(0, 0, Fate::default()), Next::Thinks { until: 40 * MS });
    pace.failed(0, MS);
    assert_eq!(pace.next_due().map(|at| at <= 40 * MS), Some(true));
    assert_eq!(pace.take(39 * MS), None);
    assert_eq!(pace.take(40 * MS), Some(Due::User { user: 0, at: 40 * MS }));
    assert_eq!((pace.take(SECOND), pace.next_due()), (None, None));
}

/// Of four users on two connections one thinks, and its connection is gone: the others must not
/// wait for it.
#[test]
fn users_who_share_a_connection_try_again_whoever_thinks() {
    let spec = load(closed(Some(Spread::exactly(40 * MS))), 2, None, 1);
    let places = Places { connections: 2, depth: 2, is_shared: true };
    let mut pace = Pace::new(&spec, &Lane::of_whole(0, 1), places, 0);
    pace.settled(2, 0, Fate::default());
    pace.failed(1, 5 * MS);
    assert_eq!(pace.take(15 * MS), Some(Due::Connection { slot: 1, at: 15 * MS }));
    assert_eq!(pace.take(40 * MS), Some(Due::User { user: 2, at: 40 * MS }));
}

/// What a user of the test does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Unborn,
    Busy,
    Thinks { until: u64 },
    Waits,
    Tries { at: u64 },
    Gone,
}

/// A load whose connections, answers and failures a test decides.
struct Play {
    pace: Pace,
    room: Room,
    users: Vec<Doing>,
    now: u64,
}

impl Play {
    fn new(schedule: Schedule, users: u32) -> Self {
        let mut play = Self {
            pace: pace(schedule, users),
            room: Room::new(&vec![Seat::Open; users as usize]),
            users: vec![Doing::Unborn; users as usize],
            now: 0,
        };
        play.pace.start(0);
        if !play.pace.opens_late() {
            for user in 0..users {
                let next = play.pace.first(user, 0, || None);
                play.follow(user, next, 0);
            }
        }
        play
    }

    fn follow(&mut self, user: u32, next: Next, at: u64) {
        self.users[user as usize] = match next {
            Next::Sends | Next::Starts => Doing::Busy,
            Next::Thinks { until } => Doing::Thinks { until },
            Next::Waits => Doing::Waits,
            Next::Ends => Doing::Gone,
            Next::IsReplaced => {
                let next = self.pace.begins(user, at, false);
                return self.follow(user, next, at);
            }
        };
    }

    /// Time passes, and everything that is due happens.
    fn pass(&mut self, ns: u64) {
        self.now += ns;
        let mut last = 0;
        while let Some(due) = self.pace.take(self.now) {
            let (user, at) = match due {
                Due::User { user, at } => {
                    let doing = self.users[user as usize];
                    // Who goes while it thinks goes before it has thought.
                    let goes = self.comes_and_goes()
                        && matches!(doing, Doing::Thinks { until } if until > at);
                    assert!(goes || doing == Doing::Thinks { until: at }, "{doing:?} at {at}");
                    (user, at)
                }
                Due::Connection { slot, at } => {
                    let doing = self.users[slot as usize];
                    let comes_again = self.comes_and_goes() && doing == Doing::Gone;
                    let is_right = [Doing::Unborn, Doing::Tries { at }].contains(&doing);
                    assert!(is_right || comes_again, "{doing:?}");
                    (slot, at)
                }
            };
            assert!(at <= self.now, "nobody is early");
            let next = self.pace.begins(user, at, false);
            self.follow(user, next, at);
        }
        while let Some(arrival) = self.pace.arrive(self.now, &mut self.room) {
            let doing = &mut self.users[arrival.user as usize];
            assert_eq!(std::mem::replace(doing, Doing::Busy), Doing::Waits);
            assert!(arrival.at >= last && arrival.at <= self.now);
            last = arrival.at;
        }
    }

    const fn comes_and_goes(&self) -> bool {
        matches!(self.pace.users, Users::Crowd(_))
    }

    fn settle(&mut self, user: u32, fate: Fate) {
        if self.users[user as usize] == Doing::Busy {
            let next = self.pace.settled(user, self.now, fate);
            self.follow(user, next, self.now);
        }
    }

    fn fail(&mut self, user: u32) {
        if self.users[user as usize] == Doing::Busy {
            self.pace.failed(user, self.now);
            self.users[user as usize] = Doing::Tries { at: self.now + 10 * MS };
        }
    }

    /// Each user has the appointment that it was given, and no other.
    fn assert_nobody_is_forgotten(&self) {
        for (user, doing) in (0..).zip(&self.users) {
            let appointments = (self.pace.thinking.is_set(user), self.pace.is_retrying(user));
            let right =
                (matches!(doing, Doing::Thinks { .. }), matches!(doing, Doing::Tries { .. }));
            assert_eq!(appointments, right, "user {user}: {doing:?}");
            if let Doing::Thinks { until: at } | Doing::Tries { at } = doing {
                assert!(self.pace.next_due().is_some_and(|due| due <= *at));
            }
        }
    }
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let think = Spread { mean_ns: 30 * MS, jitter: 0.5 };
    prop_oneof![
        Just(closed(None)),
        Just(closed(Some(think))),
        Just(constant(100.0, 2)),
        crowds(),
        Just(Schedule::Devices {
            devices: 5,
            requests_per_device: 3,
            think,
            ramp_up_ns: 500 * MS,
            sustain_ns: 500 * MS,
            ramp_down_ns: 500 * MS,
        }),
    ]
}

/// Up to 5 users that come and go within 3 s, and are away in the end.
fn crowds() -> impl Strategy<Value = Schedule> {
    let stages = prop::collection::vec((1_u64..700, 0_u32..6, 0_u32..6), 1..5);
    (prop::option::of(Just(Spread { mean_ns: 30 * MS, jitter: 0.5 })), stages).prop_map(
        |(think, stages)| {
            let stages = stages.into_iter().chain([(100, 0, 0)]);
            let stage = |(ms, from, to)| UserStage { duration_ns: ms * MS, from, to };
            Schedule::Users { think, stages: stages.map(stage).collect() }
        },
    )
}

fn fates() -> impl Strategy<Value = Fate> {
    let thinks_ns = prop_oneof![3 => Just(None), 1 => (0..60 * MS).prop_map(Some)];
    (any::<bool>(), thinks_ns).prop_map(|(goes_on, thinks_ns)| Fate { goes_on, thinks_ns })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    /// Whatever is answered and whatever fails: each user is under way, thinks, waits for an arrival,
    /// tries again, is still to come, or has gone for good.
    #[test]
    fn no_user_is_forgotten(
        schedule in schedules(),
        steps in prop::collection::vec((0_u64..80, 0_u32..5, 0_u32..4, fates()), 1..60),
    ) {
        let mut play = Play::new(schedule, 5);
        for (ms, user, what, fate) in steps {
            play.pass(ms * MS);
            if what == 0 { play.fail(user) } else { play.settle(user, fate) }
            play.assert_nobody_is_forgotten();
        }
        // Everybody is answered, and time goes on.
        for _ in 0..20 {
            play.pass(SECOND);
            (0..5).for_each(|user| play.settle(user, Fate::default()));
            play.assert_nobody_is_forgotten();
        }
        let is_right = |doing: &Doing| match play.pace.users {
            Users::Closed(_) => matches!(doing, Doing::Busy | Doing::Thinks { .. }),
            Users::Open(_) => *doing == Doing::Waits,
            Users::Crowd(_) => matches!(doing, Doing::Gone | Doing::Unborn),
            Users::Devices(_) => *doing == Doing::Gone,
        };
        prop_assert!(play.users.iter().all(is_right), "{:?}", play.users);
    }
}

/// The lanes of a load that is cut into equal shares.
fn lanes(spec: &LoadSpec, of: u32) -> Vec<(LoadSpec, Lane)> {
    lanes_of(spec, &vec![(1, spec.threads); of as usize])
}

/// The lanes of a load that is cut into shares of these widths and numbers of threads.
fn lanes_of(spec: &LoadSpec, shares: &[(u32, u32)]) -> Vec<(LoadSpec, Lane)> {
    let of = shares.iter().map(|(width, _)| width).sum();
    let mut nth = 0;
    let mut lanes = Vec::new();
    for &(width, threads) in shares {
        let share = LoadSpec { threads, slice: Part { nth, width, of }, ..spec.clone() };
        lanes.extend((0..threads).map(|thread| (share.clone(), Lane::new(&share, thread))));
        nth += width;
    }
    lanes
}

/// Everything that an open loop's lane sends: when, and which template.
fn arrivals((spec, lane): &(LoadSpec, Lane)) -> Vec<(u64, u32)> {
    let places = Places { connections: 1, depth: 1, is_shared: false };
    let (mut pace, mut room) = (Pace::new(spec, lane, places, 0), Room::new(&[Seat::Open]));
    pace.start(0);
    pace.first(0, 0, || None);
    std::iter::from_fn(|| {
        let arrival = pace.arrive(u64::MAX, &mut room)?;
        pace.settled(0, arrival.at, Fate::default());
        Some((arrival.at, arrival.turn))
    })
    .collect()
}

fn all_arrivals(lanes: &[(LoadSpec, Lane)]) -> Vec<(u64, u32)> {
    let mut all: Vec<_> = lanes.iter().flat_map(arrivals).collect();
    all.sort_unstable();
    all
}

/// Up to 8 agents: the width of each one's share, and its threads.
fn shares() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((1_u32..20, 1_u32..5), 1..9)
}

/// When the devices of a lane are born.
fn births((spec, lane): &(LoadSpec, Lane)) -> Vec<u64> {
    let mut devices = Devices::new(spec, lane, lane.users(spec));
    devices.start(0);
    let born: Vec<(u32, u64)> = std::iter::from_fn(|| devices.take(u64::MAX)).collect();
    assert_eq!(born.len(), lane.users(spec) as usize, "each device has a place");
    assert!((0..).zip(&born).all(|(place, (slot, _))| place == *slot));
    born.into_iter().map(|(_, at)| at).collect()
}

/// When a user of a lane comes (1) or goes (-1), if each answers at once.
fn comings_and_goings((spec, lane): &(LoadSpec, Lane), stages: &[UserStage]) -> Vec<(u64, i64)> {
    let count = lane.users(spec);
    let mut crowd = Crowd::new(spec, lane, (None, stages), count);
    let mut wheel = Wheel::new(count, 0);
    crowd.start(0);
    let mut changes = Vec::new();
    let mut there = 0;
    while let Some(at) = crowd.next_change() {
        while crowd.next_change() == Some(at) {
            match crowd.change(&mut wheel) {
                Some(Due::Connection { slot, .. }) => drop(crowd.begins(slot)),
                Some(Due::User { .. }) => unreachable!("nobody thinks"),
                None => {}
            }
        }
        for user in 0..count {
            if !crowd.is_away(user) {
                crowd.settled(user, at, Fate::default());
            }
        }
        let now = (0..count).filter(|user| !crowd.is_away(*user)).count() as i64;
        changes.push((at, now - there));
        there = now;
    }
    changes
}

proptest! {
    #[test]
    fn shares_of_an_open_loop_are_the_whole_schedule(
        shares in shares(), rate in 1.0..3_000.0, end in 0.0..3_000.0, templates in 1_usize..6,
    ) {
        let stage = Stage { duration_ns: 700_000_000, from_per_s: rate, to_per_s: end };
        let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages: vec![stage, stage] };
        let spec = load(schedule, 100, None, templates);
        let shared = all_arrivals(&lanes_of(&spec, &shares));
        prop_assert_eq!(shared, all_arrivals(&lanes(&spec, 1)));
    }

    /// Stages that climb, fall, stay, jump and rest.
    #[test]
    fn shares_of_stages_are_the_whole_schedule(
        shares in shares(),
        stages in proptest::collection::vec((1_u64..400, 0.0..2_000.0, 0.0..2_000.0), 1..6),
        templates in 1_usize..4,
    ) {
        let stages: Vec<Stage> = stages
            .into_iter()
            .map(|(ms, from_per_s, to_per_s)| Stage {
                duration_ns: ms * 1_000_000,
                from_per_s: if from_per_s < 500.0 { 0.0 } else { from_per_s },
                to_per_s: if to_per_s < 500.0 { 0.0 } else { to_per_s },
            })
            .collect();
        let due: f64 = stages
            .iter()
            .map(|it| (it.from_per_s + it.to_per_s) / 2.0 * it.duration_ns as f64 / 1e9)
            .sum();
        let schedule = Schedule::Open { arrivals: Arrivals::Constant, stages };
        let spec = load(schedule, 100, None, templates);
        let whole = all_arrivals(&lanes(&spec, 1));
        prop_assert!((whole.len() as f64 - due).abs() <= 1.001, "{} for {due}", whole.len());
        prop_assert_eq!(all_arrivals(&lanes_of(&spec, &shares)), whole);
    }

    #[test]
    fn shares_of_poisson_arrivals_have_the_whole_rate(shares in shares(), seed in 0_u64..1_000) {
        let stage = Stage { duration_ns: 1_000_000_000, from_per_s: 4e4, to_per_s: 4e4 };
        let schedule = Schedule::Open { arrivals: Arrivals::Poisson, stages: vec![stage] };
        let spec = LoadSpec { seed, ..load(schedule, 100, None, 1) };
        let lanes = lanes_of(&spec, &shares);
        let seen = all_arrivals(&lanes).len() as f64;
        // Six standard deviations.
        prop_assert!((seen - 4e4).abs() < 6.0 * 200.0, "{}", seen);
        let mut streams: Vec<u32> = lanes.iter().map(|(_, lane)| lane.stream()).collect();
        streams.sort_unstable();
        streams.dedup();
        prop_assert_eq!(streams.len(), lanes.len(), "each lane draws numbers of its own");
    }

    #[test]
    fn shares_of_devices_are_all_devices(
        shares in shares(), devices in 40_u32..400, ramp_up_ns in 0..5_000_000_000_u64,
    ) {
        let think = Spread { mean_ns: 1, jitter: 0.0 };
        let schedule = Schedule::Devices {
            devices, requests_per_device: 3, think, ramp_up_ns, sustain_ns: 1, ramp_down_ns: 1,
        };
        let spec = load(schedule, 1, None, 1);
        let mut born: Vec<u64> = lanes_of(&spec, &shares).iter().flat_map(births).collect();
        born.sort_unstable();
        prop_assert_eq!(born, births(&lanes(&spec, 1)[0]));
    }

    /// Whatever agents and threads the users are dealt out to: at each change, and between changes,
    /// as many are there as the stages say.
    #[test]
    fn the_users_of_all_shares_are_those_of_the_stages(
        shares in shares(),
        stages in proptest::collection::vec((1_u64..900, 0_u32..500, 0_u32..500), 1..6),
    ) {
        let stage = |(ms, from, to)| UserStage { duration_ns: ms * MS, from, to };
        let stages: Vec<UserStage> = stages.into_iter().map(stage).collect();
        // Each lane has a user.
        let stages = [vec![UserStage { duration_ns: MS, from: 500, to: 500 }], stages].concat();
        let schedule = Schedule::Users { think: None, stages: stages.clone() };
        let spec = load(schedule, 500, None, 1);
        let mut changes: Vec<(u64, i64)> =
            lanes_of(&spec, &shares).iter().flat_map(|lane| comings_and_goings(lane, &stages)).collect();
        changes.sort_unstable();
        let mut there = 0;
        for (place, (at, change)) in changes.iter().enumerate() {
            there += change;
            let next = changes.get(place + 1).map_or(u64::MAX, |(at, _)| *at);
            if next > *at && *at < users::length_ns(&stages) {
                prop_assert_eq!(there, i64::from(users::held_at(&stages, *at)), "at {}", at);
                let before_next = (next - 1).min(users::length_ns(&stages) - 1);
                prop_assert_eq!(there, i64::from(users::held_at(&stages, before_next)));
            }
        }
    }

    #[test]
    fn shares_have_every_connection_and_every_request_once(
        shares in shares(), connections in 64_u32..3_000, requests in 1_u64..1_000_000,
    ) {
        let spec = load(closed(None), connections, Some(requests), 1);
        let lanes = lanes_of(&spec, &shares);
        let mut next = 0;
        for (spec, lane) in &lanes {
            prop_assert_eq!(lane.before(u64::from(connections)), next);
            next += u64::from(lane.users(spec));
        }
        prop_assert_eq!(next, u64::from(connections));
        prop_assert_eq!(lanes.iter().map(|(spec, lane)| lane.quota(spec)).sum::<u64>(), requests);
    }
}

#[test]
fn constant_arrivals_take_the_templates_in_turn_on_any_number_of_lanes() {
    let spec = LoadSpec { threads: 3, ..load(constant(100.0, 1), 10, None, 7) };
    for of in [1, 2, 5] {
        let templates: Vec<u32> =
            all_arrivals(&lanes(&spec, of)).into_iter().map(|(_, t)| t).collect();
        let expected: Vec<u32> = (0..100).map(|n| n % 7).collect();
        assert_eq!(templates, expected);
    }
}
