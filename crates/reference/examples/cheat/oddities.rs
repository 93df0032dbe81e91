//! What is odd about honest servers, beside the form of their answers.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::Mode;
use crate::device::Permits;

/// What happens before the request of this number (from 1) is answered.
pub fn before_answering(mode: Mode, number: u64) {
    static WORLD: RwLock<()> = RwLock::new(());
    if mode.is("pauses") {
        // A thread that panics here would end the test anyway.
        if number.is_multiple_of(100) {
            let _stopped = WORLD.write();
            std::thread::sleep(Duration::from_millis(30));
        } else {
            let _running = WORLD.read();
        }
    }
    if mode.is("gets-faster") && number <= 200 {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One body in twenty comes as late as behind a delayed acknowledgement.
pub fn is_late() -> bool {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(20)
}

/// Whether a path that ends with eight small letters, as drawn ones do, came for the third time or
/// more often.
pub fn came_too_often(path: &str) -> bool {
    static PATHS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    let tail = path.as_bytes().last_chunk::<8>();
    if !tail.is_some_and(|tail| tail.iter().all(u8::is_ascii_lowercase)) {
        return false;
    }
    let count = paths.entry(path.to_string()).or_default();
    *count += 1;
    *count > 2
}

/// What a server with a known limit does with each request: it waits for one of a few places and
/// keeps it for a fixed time, or it stands still for a while once a second.
pub fn serve_within_limits(mode: Mode) {
    static LOCK: Permits = Permits::new(1);
    static THREADS: Permits = Permits::new(10);
    static SLOTS: Permits = Permits::new(4);
    static NUMBERED: OnceLock<Permits> = OnceLock::new();
    let for_ms = |ms| move || std::thread::sleep(Duration::from_millis(ms));
    match mode {
        mode if mode.is("lock") => LOCK.with(for_ms(5)),
        mode if mode.is("ten-threads") => THREADS.with(for_ms(5)),
        mode if mode.is("four-slots") => SLOTS.with(for_ms(10)),
        mode if mode.is("slots") => {
            NUMBERED.get_or_init(|| Permits::new(mode.number() as u32)).with(for_ms(10));
        }
        mode if mode.is("stalls") => {
            std::thread::sleep(Duration::from_millis(1));
            stand_still();
        }
        _ => {}
    }
}

/// The first 100 ms of each second since the first request, nobody gets any further.
fn stand_still() {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let into = BEGIN.elapsed().as_micros() % 1_000_000;
    if into < 100_000 {
        std::thread::sleep(Duration::from_micros(100_000 - into as u64));
    }
}
