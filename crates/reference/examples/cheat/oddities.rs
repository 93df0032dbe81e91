//! What is odd about honest servers, beside the form of their answers.
use std::sync::{LazyLock, RwLock};
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

/// What a server of a known limit does with each request: so many at a time for so long, or nothing
/// for a while once a second.
pub fn serve_within_limits(mode: Mode) {
    static LOCK: Permits = Permits::new(1);
    static THREADS: Permits = Permits::new(10);
    static SLOTS: Permits = Permits::new(4);
    let for_ms = |ms| move || std::thread::sleep(Duration::from_millis(ms));
    match mode {
        mode if mode.is("lock") => LOCK.with(for_ms(5)),
        mode if mode.is("ten-threads") => THREADS.with(for_ms(5)),
        mode if mode.is("four-slots") => SLOTS.with(for_ms(10)),
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
