//! `--fail-fast`: ends a load whose gates cannot be passed any more.
use pippin_lab::run::observer::{Event, Observer};
use pippin_model::verdict::gate::Gate;
use pippin_stats::gate::lost::{Course, Lost};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Checks each window, and asks for a stop as Ctrl-C does.
pub struct FailFast<'a> {
    gates: &'a [Gate],
    stop: &'a AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    course: Option<Course>,
    lost: Option<Lost>,
}

impl<'a> FailFast<'a> {
    pub fn new(gates: &'a [Gate], stop: &'a AtomicBool) -> Self {
        Self { gates, stop, state: Mutex::default() }
    }

    /// Why the load was ended; `None` if it was not.
    pub fn lost(&self) -> Option<Lost> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lost.clone()
    }
}

impl Observer for FailFast<'_> {
    fn event(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::TrialStarted(spec, ..) => {
                state.course = Some(Course::new(spec.profile.at(spec.step)));
            }
            Event::Window(window, _) => {
                let Some(course) = &mut state.course else { return };
                course.see(window);
                let lost = course.lost(self.gates);
                // If something else already stopped the load, that is the reason.
                if lost.is_some() && !self.stop.swap(true, Ordering::Relaxed) {
                    state.lost = lost;
                }
            }
            _ => {}
        }
    }
}
