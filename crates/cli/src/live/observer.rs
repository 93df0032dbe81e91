//! From the lab's events to the state, and from the state to its viewers.
use pippin_lab::run::observer::{Event, Observer};
use pippin_model::target::TargetId;
use pippin_store::Store;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::look::Look;
use super::publish::Publisher;
use super::screen::Screen;
use super::shared::Shared;
use super::state::{State, Subject};
use crate::output;
use crate::progress::Lines;
use crate::signals;

/// How a run is shown on this terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlet {
    /// Not at all.
    Nobody,
    /// Plain lines, for logs and continuous integration.
    Lines,
    /// As a view on its own screen.
    Terminal(Look),
}

/// Keeps the state of a run under way, shows it on its own screen or in lines, and publishes it for
/// other processes.
pub struct Follower<'a> {
    shared: Arc<Shared>,
    lines: Lines,
    view: Mutex<View>,
    publisher: Option<Mutex<Publisher<'a>>>,
}

enum View {
    Nobody,
    Lines,
    /// Plain lines until the first trial is near, because installing may ask for a password.
    NotYet(Look),
    /// The screen, and the lines that must be printed after it closes: why something failed.
    Open(Screen, Vec<String>),
}

impl<'a> Follower<'a> {
    /// Starts to follow. If a store is given, the state is published beside it.
    pub fn new(subject: Subject, outlet: Outlet, store: Option<&'a Store>) -> Self {
        let view = match outlet {
            Outlet::Nobody => View::Nobody,
            Outlet::Lines => View::Lines,
            Outlet::Terminal(look) => View::NotYet(look),
        };
        Self {
            lines: Lines::from_subject(&subject),
            shared: Arc::new(Shared::new(State::new(subject))),
            view: Mutex::new(view),
            publisher: store.map(|store| Mutex::new(Publisher::new(store))),
        }
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the screen, if the terminal allows it.
    fn open(&self, look: Look) -> View {
        self.shared.update(|state, _| state.notice = None);
        Screen::open(Arc::clone(&self.shared), look)
            .map_or(View::Lines, |screen| View::Open(screen, Vec::new()))
    }

    fn show(&self, event: &Event<'_>) {
        let mut view = self.view();
        let begins = matches!(event, Event::RunStarted(_) | Event::TrialStarted(..));
        if let (View::NotYet(look), true) = (&*view, begins) {
            *view = self.open(*look);
        }
        match &mut *view {
            // Who wants less still wants errors.
            View::Nobody if matches!(event, Event::NotStored(_)) => {
                self.lines.lines(event).iter().for_each(output::say);
            }
            View::Nobody => {}
            View::Lines | View::NotYet(_) => self.lines.lines(event).iter().for_each(output::say),
            View::Open(_, aftermath) => {
                let is_worth_keeping = match event {
                    Event::TrialFinished(record) => record.failure.is_some(),
                    Event::Note(_) | Event::NotStored(_) | Event::Unavailable(..) => true,
                    _ => false,
                };
                if is_worth_keeping {
                    aftermath.extend(self.lines.lines(event));
                }
            }
        }
    }
}

impl Observer for Follower<'_> {
    fn event(&self, event: &Event<'_>) {
        if matches!(event, Event::RunStarted(_) | Event::TrialStarted(..)) {
            self.shared.begin();
        }
        self.show(event);
        self.shared.update(|state, now| {
            state.apply(event, now);
            state.stops = signals::stops();
        });
        if let Some(publisher) = &self.publisher {
            let mut publisher = publisher.lock().unwrap_or_else(PoisonError::into_inner);
            publisher.tell(event, &self.shared);
        }
    }

    fn skips(&self, target: &TargetId) -> bool {
        self.shared.lock().skipped.contains(target)
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        if let View::Open(screen, aftermath) = std::mem::replace(&mut *self.view(), View::Lines) {
            drop(screen);
            aftermath.iter().for_each(output::say);
        }
    }
}
