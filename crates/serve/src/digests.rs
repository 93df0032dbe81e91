//! Digests of runs that have none: an older Pippin made them, or one that was killed. They are made
//! beside the server, one after the other, the newest first, and never while something is measured.
use pippin_report::digest;
use pippin_report::view::View;
use pippin_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long it waits for the end of a measurement before it looks again.
const WAIT: Duration = Duration::from_secs(1);

/// Makes them until there is none left or `stop` is set. A store that cannot be written keeps
/// those it has.
pub fn fill(store: &Store, stop: &AtomicBool) {
    let mut before = None;
    while !stop.load(Ordering::Relaxed) {
        if !store.live_runs().is_empty() {
            std::thread::sleep(WAIT);
            continue;
        }
        let Ok(Some((run, started))) = store.without_digest(before) else { return };
        before = Some(started);
        // What cannot be read is left out; the page of that run says why.
        let Ok(record) = store.load(&run) else { continue };
        if store.keep_digest(&run, &digest::of(&View::of(&record))).is_err() {
            return;
        }
    }
}
