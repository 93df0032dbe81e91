//! Turns the windows of a run into moments, for followers outside of the process.
use pippin_lab::run::observer::Event;
use pippin_lab::trial::unix_now_ns;
use pippin_model::host::usage::{Role, UsageSample};
use pippin_model::result::Window;
use pippin_model::result::time_series::Moment;
use pippin_model::trial::TrialSpec;

use crate::live::use_between;

/// What is known about the run when a window comes.
#[derive(Default)]
pub struct Moments {
    run: String,
    spec: Option<TrialSpec>,
    round: Option<u32>,
    /// The newest sample before the present window.
    sample: Option<UsageSample>,
}

impl Moments {
    /// The moment that an event makes, if it is a window.
    pub fn of(&mut self, event: &Event<'_>) -> Option<Moment> {
        match event {
            Event::RunStarted(header) => self.run.clone_from(&header.id),
            Event::TrialStarted(spec, ..) => self.begin(spec, None),
            Event::Slice(spec, round, _) => self.begin(spec, Some(*round)),
            Event::Window(window, sample) => return self.window(window, *sample),
            Event::Note(_) | Event::Unavailable(..) | Event::Stage(_) | Event::TrialFinished(_) => {
            }
        }
        None
    }

    fn begin(&mut self, spec: &TrialSpec, round: Option<u32>) {
        // Counters of another target's processes must not be mixed with this one's.
        self.sample = None;
        (self.spec, self.round) = (Some(spec.clone()), round);
    }

    fn window(&mut self, window: &Window, sample: Option<&UsageSample>) -> Option<Moment> {
        let spec = self.spec.as_ref()?;
        let used = self.sample.as_ref().zip(sample).map(|(from, to)| use_between(from, to));
        let cores = |role| used.as_ref().and_then(|used| used.cores.get(&role).copied());
        let moment = Moment {
            round: self.round,
            target_cores: cores(Role::Target),
            generator_cores: cores(Role::Generator),
            target_rss_bytes: sample
                .and_then(|sample| sample.roles.get(&Role::Target))
                .and_then(|role| role.rss_bytes),
            ..Moment::of(&self.run, spec, window, unix_now_ns())
        };
        self.sample = sample.cloned().or(self.sample.take());
        Some(moment)
    }
}
