//! Makes the missing digests of runs, such as those that were killed. A thread makes them one after
//! the other, the newest first, and never during a measurement.
use pippin_report::digest;
use pippin_report::view::View;
use pippin_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to wait before checking again whether the measurement has ended.
const WAIT: Duration = Duration::from_secs(1);

/// Makes digests until none is missing or `stop` is set. If the store cannot be written, it stops
/// too.
pub fn fill(store: &Store, stop: &AtomicBool) {
    let mut before = None;
    while !stop.load(Ordering::Relaxed) {
        if !store.live_runs().is_empty() {
            std::thread::sleep(WAIT);
            continue;
        }
        let Ok(Some((run, started))) = store.without_digest(before) else { return };
        before = Some(started);
        // Unreadable runs are left out; the page of that run shows the error.
        let Ok(record) = store.load(&run) else { continue };
        if store.keep_digest(&run, &digest::from_view(&View::of(&record))).is_err() {
            return;
        }
    }
}
