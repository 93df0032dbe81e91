//! What is odd about honest servers, beside the form of their answers.
use std::sync::RwLock;
use std::time::Duration;

use crate::Mode;

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
