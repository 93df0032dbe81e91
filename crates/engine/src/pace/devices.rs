//! Devices that come, send their requests with think time between, and go. Each has a connection of
//! its own, and another device takes its place until the ramp down.
use pippin_model::load::{LoadSpec, Schedule};
use pippin_model::text::units::Spread;

use super::kind::Kind;
use super::lane::Lane;
use super::random::ThinkTimes;
use super::{Due, Fate, Next};
use crate::time::timeline::UNKNOWN;
use crate::time::timer::Wheel;

/// The devices of a lane.
pub(crate) struct Devices {
    think: ThinkTimes,
    requests_each: u32,
    /// Devices of the whole load.
    all: u64,
    lane: Lane,
    ramp_up_ns: u64,
    sustain_ns: u64,
    /// From then on devices that end are not replaced.
    until: u64,
    start: u64,
    born: u64,
    /// Requests that each has not begun yet.
    left: Vec<u32>,
}

impl Devices {
    /// The devices of a lane, `count` at the same time. In a load without devices there are none.
    pub fn new(spec: &LoadSpec, lane: &Lane, count: u32) -> Self {
        let (devices, requests_each, think, ramp_up_ns, sustain_ns) = match &spec.schedule {
            Schedule::Devices {
                devices,
                requests_per_device,
                think,
                ramp_up_ns,
                sustain_ns,
                ..
            } => (*devices, *requests_per_device, *think, *ramp_up_ns, *sustain_ns),
            _ => (0, 0, Spread::exactly(0), 0, 0),
        };
        Self {
            think: lane.think_times(spec, think),
            requests_each,
            all: u64::from(devices),
            lane: lane.clone(),
            ramp_up_ns,
            sustain_ns,
            until: UNKNOWN,
            start: UNKNOWN,
            born: 0,
            left: vec![0; count as usize],
        }
    }

    /// The schedule starts. Returns the starts of its phases after the first.
    pub fn start(&mut self, at: u64) -> Vec<u64> {
        self.start = at;
        self.until = at + self.ramp_up_ns + self.sustain_ns;
        vec![at + self.ramp_up_ns, self.until]
    }

    /// When the next device of the ramp is due; `None` when all have been.
    #[inline]
    pub fn next_birth(&self) -> Option<u64> {
        let number = self.lane.number(self.born);
        let of_ramp = || u128::from(number) * u128::from(self.ramp_up_ns) / u128::from(self.all);
        (number < self.all && self.start != UNKNOWN).then(|| self.start + of_ramp() as u64)
    }

    /// The next device of the ramp that is due by `now`, and since when.
    #[inline]
    pub fn take(&mut self, now: u64) -> Option<(u32, u64)> {
        let due = self.next_birth().filter(|due| *due <= now)?;
        self.born += 1;
        Some((self.born as u32 - 1, due))
    }

    /// A device begins at `at`, has thought, or tries again. A place that is free goes to a new
    /// device until the ramp down.
    pub fn begins(&mut self, user: u32, at: u64) -> Next {
        let left = &mut self.left[user as usize];
        if *left > 0 {
            *left -= 1;
            return Next::Sends;
        }
        if at >= self.until {
            return Next::Ends;
        }
        *left = self.requests_each - 1;
        Next::Starts
    }

    /// A request of a device was settled at `at`.
    #[inline]
    pub fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        if self.left[user as usize] > 0 {
            let think_ns = fate.thinks_ns.unwrap_or_else(|| self.think.draw_ns());
            return Next::Thinks { until: at + think_ns };
        }
        if at < self.until { Next::IsReplaced } else { Next::Ends }
    }
}

impl Kind for Devices {
    fn start(&mut self, at: u64, _depth: u32) -> Option<Vec<u64>> {
        Some(self.start(at))
    }

    #[inline]
    fn next_change(&self) -> Option<u64> {
        self.next_birth()
    }

    #[inline]
    fn take(&mut self, now: u64, _thinking: &mut Wheel) -> Option<Due> {
        let (slot, at) = self.take(now)?;
        Some(Due::Connection { slot, at })
    }

    #[inline]
    fn begins(&mut self, user: u32, at: u64, _goes_on: bool) -> Next {
        self.begins(user, at)
    }

    #[inline]
    fn settled(&mut self, user: u32, at: u64, fate: Fate) -> Next {
        self.settled(user, at, fate)
    }

    fn opens_late(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 4 devices over a ramp of 1 s, of 2 requests with 100 ms between; replaced for 2 s more.
    fn devices() -> Devices {
        let schedule = Schedule::Devices {
            devices: 4,
            requests_per_device: 2,
            think: Spread::exactly(100 * MS),
            ramp_up_ns: 1_000 * MS,
            sustain_ns: 2_000 * MS,
            ramp_down_ns: 500 * MS,
        };
        let spec = LoadSpec { schedule, ..LoadSpec::default() };
        Devices::new(&spec, &Lane::of_whole(0, 1), 4)
    }

    /// The n-th of 4 comes after n quarters of the ramp.
    #[test]
    fn devices_come_evenly_over_the_ramp() {
        let mut devices = devices();
        assert_eq!(devices.next_birth(), None, "the schedule has not started");
        assert_eq!(devices.start(5_000 * MS), [6_000 * MS, 8_000 * MS]);
        assert_eq!(devices.take(4_999 * MS), None);
        assert_eq!(devices.take(5_000 * MS), Some((0, 5_000 * MS)));
        assert_eq!(devices.next_birth(), Some(5_250 * MS));
        assert_eq!(devices.take(5_249 * MS), None);
        // A late look finds all that were due, each since its own instant.
        assert_eq!(devices.take(5_600 * MS), Some((1, 5_250 * MS)));
        assert_eq!(devices.take(5_600 * MS), Some((2, 5_500 * MS)));
        assert_eq!(devices.take(5_600 * MS), None);
        assert_eq!(devices.take(9_000 * MS), Some((3, 5_750 * MS)));
        assert_eq!((devices.take(9_000 * MS), devices.next_birth()), (None, None));
    }

    #[test]
    fn a_device_sends_its_requests_and_makes_room_for_another() {
        let mut devices = devices();
        devices.start(0);
        assert_eq!(devices.begins(0, 0), Next::Starts);
        let thinks = Next::Thinks { until: 130 * MS };
        assert_eq!(devices.settled(0, 30 * MS, Fate::default()), thinks);
        assert_eq!(devices.begins(0, 130 * MS), Next::Sends);
        assert_eq!(devices.settled(0, 200 * MS, Fate::default()), Next::IsReplaced);
        assert_eq!(devices.begins(0, 200 * MS), Next::Starts);
    }

    /// The ramp down begins at 3 s.
    #[test]
    fn nobody_follows_in_the_ramp_down() {
        let mut devices = devices();
        devices.start(0);
        devices.begins(0, 2_900 * MS);
        devices.settled(0, 2_950 * MS, Fate::default());
        // It sends what it has left, and then its place stays free.
        assert_eq!(devices.begins(0, 3_050 * MS), Next::Sends);
        assert_eq!(devices.settled(0, 3_060 * MS, Fate::default()), Next::Ends);
        assert_eq!(devices.begins(0, 3_060 * MS), Next::Ends);
        assert_eq!(devices.begins(1, 2_999 * MS), Next::Starts);
    }

    #[test]
    fn a_step_of_a_device_thinks_for_its_own_time() {
        let mut devices = devices();
        devices.start(0);
        devices.begins(0, 0);
        let fate = Fate { goes_on: true, thinks_ns: Some(7 * MS) };
        assert_eq!(devices.settled(0, 30 * MS, fate), Next::Thinks { until: 37 * MS });
    }

    /// A request that could not be sent is one of the device's two.
    #[test]
    fn a_request_without_a_connection_is_one_of_the_devices() {
        let mut devices = devices();
        devices.start(0);
        assert_eq!(devices.begins(0, 0), Next::Starts);
        assert_eq!(devices.begins(0, 10 * MS), Next::Sends);
        assert_eq!(devices.begins(0, 20 * MS), Next::Starts, "the next device");
    }
}
