//! What every kind of schedule answers, and the list of the kinds.
use super::{Closed, Crowd, Devices, Due, Fate, Next, Open};
use crate::time::timer::Wheel;

/// A kind of schedule. What it does not say is as with users who are there from the start to the end,
/// and whose next request follows the last answer.
pub(super) trait Kind {
    /// The schedule starts. `depth` users share a connection. Returns the starts of its later phases,
    /// if it has any.
    fn start(&mut self, _at: u64, _depth: u32) -> Option<Vec<u64>> {
        None
    }

    /// What a user does as the schedule starts at `at`. `first_wait_ns`: how long it waits, if its
    /// steps say that.
    fn first(
        &mut self,
        _user: u32,
        _at: u64,
        _first_wait_ns: impl FnOnce() -> Option<u64>,
    ) -> Next {
        Next::Ends
    }

    /// When a user comes or goes next.
    #[inline]
    fn next_change(&self) -> Option<u64> {
        None
    }

    /// Who comes or goes by `now`, one at a time, in the order of their instants with those who have
    /// thought.
    #[inline]
    fn take(&mut self, _now: u64, _thinking: &mut Wheel) -> Option<Due> {
        None
    }

    /// What a user does who begins, has thought, or tries again, at `at`. `goes_on`: it is in the
    /// middle of a walk.
    #[inline]
    fn begins(&mut self, _user: u32, _at: u64, _goes_on: bool) -> Next {
        Next::Sends
    }

    /// What a user does whose request was settled at `at`, successful or not.
    fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next;

    /// The arrivals that ask for users; `None` where users ask for themselves.
    #[inline]
    fn arrivals(&self) -> Option<&Open> {
        None
    }

    /// The arrivals that ask for users, to be changed; `None` where users ask for themselves.
    #[inline]
    fn arrivals_mut(&mut self) -> Option<&mut Open> {
        None
    }

    /// Whether requests that are under way when measuring starts are measured. In a closed loop one
    /// request follows another, and without those each user would have one request too few.
    /// Elsewhere a request belongs to the stretch in which it was intended.
    fn carries_over(&self) -> bool {
        false
    }

    /// Whether each user opens its connection as it begins, within the load.
    fn opens_late(&self) -> bool {
        false
    }

    /// Whether a user is away for now; `None` where users are always there.
    #[cfg(test)]
    fn is_away(&self, _user: u32) -> Option<bool> {
        None
    }
}

/// Makes the type of all kinds, which asks the kind that a load has. That is a match and no call
/// through a table, because it is asked for each request.
macro_rules! kinds {
    ($($kind:ident),+) => {
        pub(super) enum Users {
            $($kind($kind)),+
        }

        impl Kind for Users {
            fn start(&mut self, at: u64, depth: u32) -> Option<Vec<u64>> {
                match self { $(Self::$kind(it) => Kind::start(it, at, depth)),+ }
            }
            fn first(
                &mut self,
                user: u32,
                at: u64,
                first_wait_ns: impl FnOnce() -> Option<u64>,
            ) -> Next {
                match self { $(Self::$kind(it) => Kind::first(it, user, at, first_wait_ns)),+ }
            }
            #[inline]
            fn next_change(&self) -> Option<u64> {
                match self { $(Self::$kind(it) => Kind::next_change(it)),+ }
            }
            #[inline]
            fn take(&mut self, now: u64, thinking: &mut Wheel) -> Option<Due> {
                match self { $(Self::$kind(it) => Kind::take(it, now, thinking)),+ }
            }
            #[inline]
            fn begins(&mut self, user: u32, at: u64, goes_on: bool) -> Next {
                match self { $(Self::$kind(it) => Kind::begins(it, user, at, goes_on)),+ }
            }
            #[inline]
            fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
                match self { $(Self::$kind(it) => Kind::settled(it, user, at, fate)),+ }
            }
            #[inline]
            fn arrivals(&self) -> Option<&Open> {
                match self { $(Self::$kind(it) => Kind::arrivals(it)),+ }
            }
            #[inline]
            fn arrivals_mut(&mut self) -> Option<&mut Open> {
                match self { $(Self::$kind(it) => Kind::arrivals_mut(it)),+ }
            }
            fn carries_over(&self) -> bool {
                match self { $(Self::$kind(it) => Kind::carries_over(it)),+ }
            }
            fn opens_late(&self) -> bool {
                match self { $(Self::$kind(it) => Kind::opens_late(it)),+ }
            }
            #[cfg(test)]
            fn is_away(&self, user: u32) -> Option<bool> {
                match self { $(Self::$kind(it) => Kind::is_away(it, user)),+ }
            }
        }
    };
}

kinds!(Closed, Crowd, Open, Devices);
