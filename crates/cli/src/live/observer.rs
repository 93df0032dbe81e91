//! From the lab's events to the state of the view.
use pippin_lab::observer::{Event, Observer};
use pippin_model::target::TargetId;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::look::Look;
use super::screen::Screen;
use super::state::{State, Subject};
use crate::output;
use crate::progress::Lines;

/// Shows what happens on a screen of its own. Until the first trial is near it speaks in plain
/// lines: installing may ask for a password.
pub struct Live {
    subject: Subject,
    look: Look,
    plain: Lines,
    view: Mutex<View>,
}

enum View {
    /// Nothing was measured yet.
    NotYet,
    Open(Screen, Aftermath),
    /// The terminal did not let itself be taken.
    Impossible,
}

/// Lines worth keeping when the screen is gone: why something failed.
#[derive(Default)]
struct Aftermath(Vec<String>);

impl Live {
    /// A view that opens with the first trial.
    pub fn new(subject: Subject, look: Look) -> Self {
        let plain = Lines::of(&subject);
        Self { subject, look, plain, view: Mutex::new(View::NotYet) }
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> View {
        match Screen::open(State::new(self.subject.clone()), self.look) {
            Ok(screen) => View::Open(screen, Aftermath::default()),
            Err(_) => View::Impossible,
        }
    }
}

impl Observer for Live {
    fn event(&self, event: &Event<'_>) {
        let mut view = self.view();
        if matches!((&*view, event), (View::NotYet, Event::RunStarted(_) | Event::TrialStarted(..)))
        {
            *view = self.open();
        }
        let View::Open(screen, aftermath) = &mut *view else { return self.plain.event(event) };
        let is_worth_keeping = match event {
            Event::TrialFinished(record) => record.failure.is_some(),
            Event::Note(_) | Event::Unavailable(..) => true,
            _ => false,
        };
        if is_worth_keeping {
            aftermath.0.extend(self.plain.lines(event));
        }
        screen.update(|state, now| state.apply(event, now));
    }

    fn skips(&self, target: &TargetId) -> bool {
        match &*self.view() {
            View::Open(screen, _) => screen.update(|state, _| state.skipped.contains(target)),
            View::NotYet | View::Impossible => false,
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let View::Open(screen, aftermath) =
            std::mem::replace(&mut *self.view(), View::Impossible)
        {
            drop(screen);
            for line in aftermath.0 {
                output::say(line);
            }
        }
    }
}
