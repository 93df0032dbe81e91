//! Tells other processes, `pippin serve` above all, how a run is doing. Written by the thread that
//! hears the events: during a load once a second, when its window comes.
use pippin_lab::observer::{Event, Observer};
use pippin_model::target::TargetId;
use pippin_store::Store;
use pippin_store::live::LiveFile;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::snapshot;
use super::state::{State, Subject};
use crate::signals;

/// Windows that follow each other sooner, as the last one of a load may, are told with the next
/// event.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);

/// An observer that publishes what it hears and hands it on.
pub struct Published<'a> {
    inner: Box<dyn Observer + 'a>,
    store: &'a Store,
    board: Mutex<Board>,
}

struct Board {
    state: State,
    began: Instant,
    /// From the beginning of the run on; `None` also where the file cannot be made.
    file: Option<LiveFile>,
    written: Option<Instant>,
}

impl<'a> Published<'a> {
    /// Publishes beside this store.
    pub fn new(inner: Box<dyn Observer + 'a>, store: &'a Store) -> Self {
        Self {
            inner,
            store,
            board: Mutex::new(Board {
                state: State::new(Subject::Plan),
                began: Instant::now(),
                file: None,
                written: None,
            }),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    /// What cannot be written is missed by who looks on, and by no result.
    fn write(&mut self, event: &Event<'_>) {
        let too_soon = matches!(event, Event::Window(..) | Event::Slice(..))
            && self.written.is_some_and(|written| written.elapsed() < SHORTEST_PAUSE);
        let Some(file) = self.file.as_ref().filter(|_| !too_soon) else { return };
        if let Some(live) = snapshot::of(&self.state, self.began.elapsed(), file.process()) {
            drop(file.write(&live));
            self.written = Some(Instant::now());
        }
    }
}

impl Observer for Published<'_> {
    fn event(&self, event: &Event<'_>) {
        self.inner.event(event);
        let mut board = self.board();
        if let Event::RunStarted(header) = event {
            board.file = self.store.live_file(&header.id).ok();
        }
        let now = board.began.elapsed();
        board.state.apply(event, now);
        board.state.stops = signals::stops();
        // Whom the user skips is known to the view that has the keys.
        let skipped: Vec<TargetId> =
            board.state.targets().filter(|target| self.inner.skips(target)).cloned().collect();
        board.state.skipped.extend(skipped);
        board.write(event);
    }

    fn skips(&self, target: &TargetId) -> bool {
        self.inner.skips(target)
    }
}
