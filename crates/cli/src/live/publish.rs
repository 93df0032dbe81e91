//! Tells other processes, `pippin serve` above all, how a run is doing. Written by the thread that
//! hears the events: during a load once a second, when its window comes.
use pippin_lab::observer::Event;
use pippin_store::Store;
use pippin_store::live::LiveFile;
use std::time::{Duration, Instant};

use super::shared::Shared;
use super::snapshot;

/// Windows that follow each other sooner, as the last one of a load may, are told with the next
/// event.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);

/// Writes the state into a file beside the store.
pub struct Publisher<'a> {
    store: &'a Store,
    /// From the beginning of the run on; `None` also where the file cannot be made.
    file: Option<LiveFile>,
    written: Option<Instant>,
}

impl<'a> Publisher<'a> {
    /// Beside this store.
    pub const fn new(store: &'a Store) -> Self {
        Self { store, file: None, written: None }
    }

    /// Tells the state after this event. What cannot be written is missed by who looks on, and by no
    /// result.
    pub fn tell(&mut self, event: &Event<'_>, shared: &Shared) {
        if let Event::RunStarted(header) = event {
            self.file = self.store.live_file(&header.id).ok();
        }
        let too_soon = matches!(event, Event::Window(..) | Event::Slice(..))
            && self.written.is_some_and(|written| written.elapsed() < SHORTEST_PAUSE);
        let Some(file) = self.file.as_ref().filter(|_| !too_soon) else { return };
        let live = snapshot::of(&shared.lock(), shared.now(), file.process());
        if let Some(live) = live {
            drop(file.write(&live));
            self.written = Some(Instant::now());
        }
    }
}
