//! Telling a wrong engine from a busy machine.
//!
//! Only a bound in time, told by [`in_time`], may be tried again: a few times, if the machine was busy
//! meanwhile (`quiet`), and if possible when it is calm again. On a machine that has time the first
//! miss counts. Every other assertion fails at once, so that no race is hidden.
//! What was tried again is written to the file that `PIPPIN_TRIED_AGAIN` names.
#![allow(clippy::print_stderr)] // for whoever reads a test's output
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::quiet::Reading;

const ATTEMPTS: u32 = 6;
/// How long all tests of the process together wait for the machine to be calm, and one of them at
/// the most.
const WAIT_OF_ALL: Duration = Duration::from_secs(240);
const WAIT_OF_ONE: Duration = Duration::from_secs(20);

/// Makes a test of each of these functions.
#[macro_export]
macro_rules! patient_tests {
    ($($name:ident),+ $(,)?) => {
        mod patient {
            $(#[test] fn $name() { $crate::patience::patiently(super::$name); })+
        }
    };
}
/// A bound in time that was missed.
struct Late(String);

/// Demands what a machine without a moment to spare may break and a right program never breaks:
/// that something did not take too long, or that enough was done in its time.
#[track_caller]
pub fn in_time(holds: bool, what: impl FnOnce() -> String) {
    if !holds {
        let late = format!("{}: {}", std::panic::Location::caller(), what());
        eprintln!("not in time: {late}");
        resume_unwind(Box::new(Late(late)));
    }
}

/// Notes that a test is tried again, for the list at the end of all tests.
fn tried_again(attempt: u32, why: &str) {
    let thread = std::thread::current();
    // The first line says what was missed. The rest, as a program's whole output, was printed already.
    let why = why.lines().next().unwrap_or_default();
    let line = format!("{}, attempt {attempt}: {why}\n", thread.name().unwrap_or("a test"));
    eprint!("again: {line}");
    if let Some(path) = std::env::var_os("PIPPIN_TRIED_AGAIN") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // One write of a short line: tests of several processes do not mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "PIPPIN_TRIED_AGAIN: {written:?}");
    }
}

/// How long the tests of the process have waited for the machine to be calm. Whoever holds it runs
/// alone among those that come here.
pub fn turn() -> MutexGuard<'static, Duration> {
    static WAITED: Mutex<Duration> = Mutex::new(Duration::ZERO);
    WAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test beside no other that comes here. For tests that keep processors busy for long, as
/// those that install or build something: beside them no time can be trusted.
pub fn alone<T>(test: impl FnOnce() -> T) -> T {
    let _turn = turn();
    test()
}

/// Runs a test, one at a time, and again if it missed a bound in time on a busy machine.
pub fn patiently(test: impl Fn()) {
    let mut waited = turn();
    for attempt in 1..=ATTEMPTS {
        let begin = Reading::now();
        let Err(failure) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        let machine = begin.since();
        let why = match failure.downcast::<Late>() {
            Ok(late) if machine.was_busy() && attempt < ATTEMPTS => late.0,
            Ok(late) => panic!("attempt {attempt} of {ATTEMPTS}, {machine}: {}", late.0),
            Err(failure) => resume_unwind(failure),
        };
        tried_again(attempt, &format!("{machine}, {why}"));
        let left = WAIT_OF_ALL.saturating_sub(*waited);
        *waited += wait_for_calm(left.min(WAIT_OF_ONE));
    }
}

/// Waits for a second in which the machine is not busy, at the most so long, and says how long.
fn wait_for_calm(most: Duration) -> Duration {
    let begin = Instant::now();
    loop {
        let second = Reading::now();
        std::thread::sleep(Duration::from_secs(1));
        if !second.since().was_busy() || begin.elapsed() >= most {
            return begin.elapsed();
        }
    }
}
