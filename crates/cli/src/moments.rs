//! Turns the windows of a run into moments, for followers outside of the process.
use pippin_lab::run::observer::Event;
use pippin_lab::trial::unix_now_ns;
use pippin_model::host::usage::{MemoryOverTime, Role, UsageSample};
use pippin_model::result::Window;
use pippin_model::result::time_series::Moment;
use pippin_model::trial::TrialSpec;

use crate::live::{LiveUse, use_between};

/// What is known about the run when a window comes.
#[derive(Default)]
pub struct Moments {
    run: String,
    spec: Option<TrialSpec>,
    round: Option<u32>,
    /// The newest sample before the present window.
    sample: Option<UsageSample>,
    /// What was used between the two newest samples.
    used: Option<LiveUse>,
    /// When the newest window ended, nanoseconds since 1970.
    ended_ns: Option<u64>,
    memory: MemoryOverTime,
}

impl Moments {
    /// The moment that an event makes, if it is a window.
    pub fn observe(&mut self, event: &Event<'_>) -> Option<Moment> {
        match event {
            Event::RunStarted(header) => self.run.clone_from(&header.id),
            Event::TrialStarted(spec, ..) => self.begin(spec, None),
            Event::Slice(spec, round, _) => self.begin(spec, Some(*round)),
            Event::Window(window, sample) => {
                return self.window(window, *sample, unix_now_ns());
            }
            Event::Note(_)
            | Event::NotStored(_)
            | Event::Unavailable(..)
            | Event::Stage(_)
            | Event::WarmingUp(_)
            | Event::TrialFinished(_) => {}
        }
        None
    }

    fn begin(&mut self, spec: &TrialSpec, round: Option<u32>) {
        // Counters of another target's processes must not be mixed with this one's.
        (self.sample, self.used, self.ended_ns) = (None, None, None);
        self.memory = MemoryOverTime::default();
        (self.spec, self.round) = (Some(spec.clone()), round);
    }

    fn window(
        &mut self,
        window: &Window,
        sample: Option<&UsageSample>,
        now_ns: u64,
    ) -> Option<Moment> {
        let spec = self.spec.as_ref()?;
        // Windows follow each other without a gap, and none is reported before its end. After a
        // pause of this program several are reported at once; each keeps its own time.
        let follows = self.ended_ns.map_or(u64::MAX, |ended| ended + window.duration_ns);
        let ended_ns = now_ns.min(follows);
        self.ended_ns = Some(ended_ns);
        if let Some((from, to)) = self.sample.as_ref().zip(sample)
            && to.at_ns > from.at_ns
        {
            // After a gap several windows come at once, with no sample between them: the two newest
            // samples are then those of the first.
            self.used = Some(use_between(from, to));
        }
        let cores = |role| self.used.as_ref().and_then(|used| used.cores.get(&role).copied());
        let moment = Moment {
            round: self.round,
            target_cores: cores(Role::Target),
            generator_cores: cores(Role::Generator),
            target_memory_bytes: sample.and_then(|sample| self.memory.at(sample, Role::Target)),
            ..Moment::from_window(&self.run, spec, window, ended_ns)
        };
        self.sample = sample.cloned().or(self.sample.take());
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::trial::ExampleTrial;
    use pippin_model::host::usage::RoleSample;

    /// Windows that come at once, as after a gap, have one sample between them all.
    #[test]
    fn a_burst_of_windows_makes_no_dent() {
        let record = ExampleTrial::hello().build();
        let sample = |at_s: u64, cpu_s: u64| UsageSample {
            at_ns: at_s * 1_000_000_000,
            roles: [(
                Role::Target,
                RoleSample { cpu_ns: cpu_s * 1_000_000_000, ..RoleSample::default() },
            )]
            .into(),
            ..UsageSample::default()
        };
        let mut moments = Moments::default();
        moments.observe(&Event::TrialStarted(&record.spec, 1, 1));
        let window = Window { duration_ns: 1_000_000_000, completed: 10, ..Window::default() };
        let mut cores = |at_s, cpu_s| {
            let sample = sample(at_s, cpu_s);
            moments.observe(&Event::Window(&window, Some(&sample))).unwrap().target_cores
        };
        assert_eq!(cores(1, 0), None);
        assert_eq!(cores(2, 1), Some(1.0));
        // Three seconds later, three windows at once.
        assert_eq!([cores(5, 4), cores(5, 4), cores(5, 4)], [Some(1.0); 3]);
        assert_eq!(cores(6, 4), Some(0.0));
    }

    /// A pause of three seconds: four windows are reported at once, and their times are those at which
    /// they ended. Who draws the rate over the time sees neither a dent nor a step.
    #[test]
    fn windows_that_are_reported_late_keep_their_times() {
        const SECOND: u64 = 1_000_000_000;
        let record = ExampleTrial::hello().build();
        let mut moments = Moments::default();
        moments.observe(&Event::TrialStarted(&record.spec, 1, 1));
        let window = Window { duration_ns: SECOND, completed: 100, ..Window::default() };
        let at = |moments: &mut Moments, now_ns| {
            let moment = moments.window(&window, None, now_ns).unwrap();
            assert_eq!(moment.throughput_per_s, Some(100.0));
            moment.unix_ns
        };
        let (late, soon) = (SECOND / 10, SECOND / 100);
        let begin = 1_000 * SECOND;
        assert_eq!(at(&mut moments, begin + late), begin + late);
        // The report that was quickest is nearest to the end of its window.
        assert_eq!(at(&mut moments, begin + SECOND + soon), begin + SECOND + soon);
        let pause = begin + 5 * SECOND + late;
        let burst = [
            at(&mut moments, pause),
            at(&mut moments, pause),
            at(&mut moments, pause),
            at(&mut moments, pause),
        ];
        assert_eq!(burst, [2, 3, 4, 5].map(|second| begin + second * SECOND + soon));
        assert_eq!(at(&mut moments, begin + 6 * SECOND + late), begin + 6 * SECOND + soon);
        // Another slice begins after a rest, which is no pause.
        moments.observe(&Event::Slice(&record.spec, 2, 2));
        assert_eq!(at(&mut moments, begin + 60 * SECOND), begin + 60 * SECOND);
    }
}
