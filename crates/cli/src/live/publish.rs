//! Publishes the state of a run for other processes, above all for `pippin serve`. The thread that
//! receives the events writes it: during a load once a second, with each window.
use pippin_lab::run::observer::Event;
use pippin_store::Store;
use pippin_store::live::LiveFile;
use std::time::{Duration, Instant};

use super::shared::Shared;
use super::snapshot;

/// A window that comes sooner after the one before, such as the last one of a load, is published
/// with the next event.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);

/// Writes the state into a file beside the store.
pub struct Publisher<'a> {
    store: &'a Store,
    /// Open once the run has begun; also `None` if the file cannot be made.
    file: Option<LiveFile>,
    written: Option<Instant>,
}

impl<'a> Publisher<'a> {
    /// Publishes beside this store.
    pub const fn new(store: &'a Store) -> Self {
        Self { store, file: None, written: None }
    }

    /// Publishes the state after this event. If writing fails, viewers miss something, but no
    /// result is lost.
    pub fn tell(&mut self, event: &Event<'_>, shared: &Shared) {
        if let Event::RunStarted(header) = event {
            self.file = self.store.live_file(&header.id).ok();
        }
        let too_soon = matches!(event, Event::Window(..) | Event::Slice(..))
            && self.written.is_some_and(|written| written.elapsed() < SHORTEST_PAUSE);
        let Some(file) = self.file.as_ref().filter(|_| !too_soon) else { return };
        let live = snapshot::take(&shared.lock(), shared.now(), file.process());
        if let Some(live) = live {
            drop(file.write(&live));
            self.written = Some(Instant::now());
        }
    }
}
