//! Users that come and go, and wait for their answers while they are there. Each has a connection of
//! its own. Who goes finishes its request, or its walk, first.
use pippin_model::load::LoadSpec;
use pippin_model::schedule::UserStage;
use pippin_model::text::units::Spread;

use super::kind::Kind;
use super::lane::Lane;
use super::random::ThinkTimes;
use super::{Due, Fate, Next};
use crate::time::timeline::UNKNOWN;
use crate::time::timer::Wheel;

/// The users of a lane. User n of the load is there while the level is above n, so that a lane has
/// its first users there, however many these are.
pub(crate) struct Crowd {
    think: Option<ThinkTimes>,
    stages: Vec<UserStage>,
    lane: Lane,
    /// The present stage, when it begins, and whether as many users are there as it begins with.
    stage: usize,
    stage_at: u64,
    has_begun: bool,
    /// How many are there: the first so many.
    held: u32,
    /// The next one that comes or goes, and when.
    next: Option<(u64, Change)>,
    users: Vec<Doing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Comes(u32),
    Goes(u32),
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Away,
    /// It has come, and waits until its connection may be opened.
    Comes,
    /// It has a request under way, or tries again.
    Asks,
    Thinks {
        is_walking: bool,
    },
}

impl Crowd {
    /// The users of a lane, `count` at the most.
    pub fn new(
        spec: &LoadSpec,
        lane: &Lane,
        (think, stages): (Option<Spread>, &[UserStage]),
        count: u32,
    ) -> Self {
        Self {
            think: think.map(|spread| lane.think_times(spec, spread)),
            stages: stages.to_vec(),
            lane: lane.clone(),
            stage: 0,
            stage_at: UNKNOWN,
            has_begun: false,
            held: 0,
            next: None,
            users: vec![Doing::Away; count as usize],
        }
    }

    /// The schedule starts.
    pub fn start(&mut self, at: u64) {
        self.stage_at = at;
        self.next = self.look_ahead();
    }

    /// When the next user comes or goes.
    #[inline]
    pub fn next_change(&self) -> Option<u64> {
        self.next.map(|(at, _)| at)
    }

    /// The next user comes or goes. Returns who comes, or goes at once; `None` if it finishes something
    /// first. Who goes while it thinks of its next request has no appointment any more.
    pub fn change(&mut self, thinking: &mut Wheel) -> Option<Due> {
        let (at, change) = self.next?;
        let due = match change {
            Change::Comes(user) => {
                self.held += 1;
                let doing = &mut self.users[user as usize];
                (*doing == Doing::Away).then(|| {
                    *doing = Doing::Comes;
                    Due::Connection { slot: user, at }
                })
            }
            Change::Goes(user) => {
                self.held -= 1;
                let rests = self.users[user as usize] == Doing::Thinks { is_walking: false };
                // Who has thought already, and waits for a connection, ends when it begins.
                (rests && thinking.is_set(user)).then(|| {
                    thinking.take_back(user);
                    Due::User { user, at }
                })
            }
        };
        self.next = self.look_ahead();
        due
    }

    /// The next change after those that have been, if there is one.
    fn look_ahead(&mut self) -> Option<(u64, Change)> {
        loop {
            let stage = *self.stages.get(self.stage)?;
            let comes = (self.held < self.users.len() as u32).then_some(self.held);
            let goes = self.held.checked_sub(1);
            let number = |user: u32| self.lane.number(user.into());
            if !self.has_begun {
                let from = u64::from(stage.from);
                if let Some(user) = comes.filter(|user| number(*user) < from) {
                    return Some((self.stage_at, Change::Comes(user)));
                }
                if let Some(user) = goes.filter(|user| number(*user) >= from) {
                    return Some((self.stage_at, Change::Goes(user)));
                }
                self.has_begun = true;
            }
            let coming = comes
                .and_then(|user| Some((stage.comes_after_ns(number(user))?, Change::Comes(user))));
            let going = goes
                .and_then(|user| Some((stage.goes_after_ns(number(user))?, Change::Goes(user))));
            if let Some((after_ns, change)) = coming.or(going) {
                return Some((self.stage_at + after_ns, change));
            }
            self.stage_at += stage.duration_ns;
            (self.stage, self.has_begun) = (self.stage + 1, false);
        }
    }

    /// A user comes, has thought, or tries again.
    pub fn begins(&mut self, user: u32) -> Next {
        let doing = &mut self.users[user as usize];
        let next = match *doing {
            Doing::Thinks { is_walking: true } => Next::Sends,
            _ if user >= self.held => Next::Ends,
            Doing::Comes => Next::Starts,
            _ => Next::Sends,
        };
        *doing = if next == Next::Ends { Doing::Away } else { Doing::Asks };
        next
    }

    /// A request was settled at `at`. A step's own think time goes before that of the load.
    #[inline]
    pub fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        let is_walking = fate.goes_on;
        if user >= self.held && !is_walking {
            self.users[user as usize] = Doing::Away;
            return Next::Ends;
        }
        match fate.thinks_ns.or_else(|| self.think.as_mut().map(ThinkTimes::draw_ns)) {
            None => Next::Sends,
            Some(ns) => {
                self.users[user as usize] = Doing::Thinks { is_walking };
                Next::Thinks { until: at + ns }
            }
        }
    }

    /// Whether a user is not there, and has nothing left to finish.
    #[cfg(test)]
    pub fn is_away(&self, user: u32) -> bool {
        self.users[user as usize] == Doing::Away
    }
}

impl Kind for Crowd {
    fn start(&mut self, at: u64, _depth: u32) -> Option<Vec<u64>> {
        self.start(at);
        None
    }

    #[inline]
    fn next_change(&self) -> Option<u64> {
        self.next_change()
    }

    /// Who has thought before it goes sends once more.
    #[inline]
    fn take(&mut self, now: u64, thinking: &mut Wheel) -> Option<Due> {
        while let Some(at) = self.next_change().filter(|at| *at <= now) {
            if let Some((user, at)) = thinking.pop(at) {
                return Some(Due::User { user, at });
            }
            if let Some(due) = self.change(thinking) {
                return Some(due);
            }
        }
        None
    }

    #[inline]
    fn begins(&mut self, user: u32, _at: u64, _goes_on: bool) -> Next {
        self.begins(user)
    }

    #[inline]
    fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        self.settled(user, at, fate)
    }

    fn opens_late(&self) -> bool {
        true
    }

    #[cfg(test)]
    fn is_away(&self, user: u32) -> Option<bool> {
        Some(self.is_away(user))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::Schedule;
    use pippin_model::schedule::users;

    const MS: u64 = 1_000_000;
    const SECOND: u64 = 1_000 * MS;

    fn crowd(text: &str, think: Option<Spread>) -> (Crowd, Wheel) {
        let stages = users::parse(text).unwrap();
        let count = users::most(&stages);
        let schedule = Schedule::Users { think, stages: stages.clone() };
        let spec = LoadSpec { schedule, ..LoadSpec::default() };
        let crowd = Crowd::new(&spec, &Lane::of_whole(0, 1), (think, &stages), count);
        (crowd, Wheel::new(count, 0))
    }

    /// Who comes, or goes at once, by `now`.
    fn take(crowd: &mut Crowd, now: u64, thinking: &mut Wheel) -> Option<Due> {
        while crowd.next_change().is_some_and(|at| at <= now) {
            if let Some(due) = crowd.change(thinking) {
                return Some(due);
            }
        }
        None
    }

    fn comes(slot: u32, at_ms: u64) -> Option<Due> {
        Some(Due::Connection { slot, at: at_ms * MS })
    }

    /// 4 within 4 s, and away within 2 s, from 10 s on.
    #[test]
    fn users_come_one_by_one_and_go_in_the_other_order() {
        let (mut crowd, mut wheel) = crowd("4@4s,0@2s", None);
        assert_eq!(crowd.next_change(), None, "the schedule has not started");
        crowd.start(10 * SECOND);
        for user in 0..4 {
            let at_ms = 10_000 + u64::from(user) * 1_000;
            assert_eq!(take(&mut crowd, at_ms * MS - 1, &mut wheel), None);
            assert_eq!(take(&mut crowd, at_ms * MS, &mut wheel), comes(user, at_ms));
            assert_eq!(crowd.begins(user), Next::Starts);
        }
        assert_eq!(crowd.next_change(), Some(14_500 * MS));
        assert_eq!(crowd.settled(3, 14_499 * MS, Fate::default()), Next::Sends);
        assert_eq!(take(&mut crowd, 14_500 * MS, &mut wheel), None, "it has a request under way");
        assert_eq!(crowd.settled(3, 14_600 * MS, Fate::default()), Next::Ends);
        assert_eq!(crowd.settled(2, 14_600 * MS, Fate::default()), Next::Sends);
        assert_eq!(take(&mut crowd, 16 * SECOND, &mut wheel), None);
        assert_eq!((crowd.held, crowd.next_change()), (0, None));
    }

    #[test]
    fn jumps_bring_and_take_users_at_once() {
        let (mut crowd, mut wheel) = crowd("3@0s,3@1s,1@0s,1@1s,2@0s,2@1s", None);
        crowd.start(0);
        assert_eq!(
            (0..3).map(|_| take(&mut crowd, 0, &mut wheel)).collect::<Vec<_>>(),
            [comes(0, 0), comes(1, 0), comes(2, 0),]
        );
        (0..3).for_each(|user| assert_eq!(crowd.begins(user), Next::Starts));
        assert_eq!((take(&mut crowd, SECOND, &mut wheel), crowd.held), (None, 1));
        assert_eq!(crowd.settled(1, SECOND, Fate::default()), Next::Ends);
        // User 2 is still busy when it would come again, and user 1 has gone.
        assert_eq!((take(&mut crowd, 2 * SECOND, &mut wheel), crowd.held), (comes(1, 2_000), 2));
        assert_eq!(crowd.begins(1), Next::Starts);
        assert_eq!(crowd.settled(2, 2 * SECOND, Fate::default()), Next::Ends);
    }

    /// Who goes in the middle of a walk finishes it, thoughts between its steps included.
    #[test]
    fn a_walk_is_finished_and_no_other_begun() {
        let (mut crowd, mut wheel) = crowd("1@0s,1@1s,0@0s,0@9s", None);
        crowd.start(0);
        assert_eq!(take(&mut crowd, 0, &mut wheel), comes(0, 0));
        assert_eq!(crowd.begins(0), Next::Starts);
        let fate = |goes_on| Fate { goes_on, thinks_ns: Some(700 * MS) };
        assert_eq!(crowd.settled(0, 500 * MS, fate(true)), Next::Thinks { until: 1_200 * MS });
        wheel.set(0, 1_200 * MS);
        assert_eq!((take(&mut crowd, SECOND, &mut wheel), crowd.held), (None, 0));
        assert!(wheel.is_set(0));
        assert_eq!(crowd.begins(0), Next::Sends);
        assert_eq!(crowd.settled(0, 1_300 * MS, fate(false)), Next::Ends);
        assert!(crowd.is_away(0));
    }

    /// Who thinks of its next request goes at once, and can come again before it would have thought.
    #[test]
    fn who_thinks_goes_at_once() {
        let (mut crowd, mut wheel) =
            crowd("1@0s,1@1s,0@0s,0@1s,1@0s,1@1s", Some(Spread::exactly(30 * SECOND)));
        crowd.start(0);
        take(&mut crowd, 0, &mut wheel);
        crowd.begins(0);
        let thinks = Next::Thinks { until: 30_500 * MS };
        assert_eq!(crowd.settled(0, 500 * MS, Fate::default()), thinks);
        wheel.set(0, 30_500 * MS);
        assert_eq!(take(&mut crowd, SECOND, &mut wheel), Some(Due::User { user: 0, at: SECOND }));
        assert_eq!((crowd.begins(0), wheel.is_set(0)), (Next::Ends, false));
        assert_eq!(take(&mut crowd, 2 * SECOND, &mut wheel), comes(0, 2_000));
        assert_eq!(crowd.begins(0), Next::Starts);
    }

    /// Who could not begin before it went does not begin.
    #[test]
    fn who_has_gone_does_not_begin() {
        let (mut crowd, mut wheel) = crowd("2@0s,2@1s,1@0s,1@1s", None);
        crowd.start(0);
        take(&mut crowd, 0, &mut wheel);
        take(&mut crowd, 0, &mut wheel);
        take(&mut crowd, SECOND, &mut wheel);
        assert_eq!((crowd.begins(1), crowd.is_away(1)), (Next::Ends, true));
    }
}
