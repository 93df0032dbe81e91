//! Telling a wrong engine from a busy machine.
//!
//! A test that fails while the machine kept sleeping threads from waking is tried again, a few
//! times, if possible when the machine is calm again; a wrong definition fails every time. On a
//! machine that has time, the first failure counts.
#![allow(clippy::print_stderr)] // for whoever reads a test's output
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 6;
/// The watch sleeps so long; waking later than that by more than `LATE` is the machine's doing.
const NAP: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_millis(2);
/// More late awakenings than this fraction, and times can't be trusted.
const BUSY: f64 = 0.01;
/// How long all tests of the process together wait for the machine to be calm, and one of them at
/// the most.
const WAIT_OF_ALL: Duration = Duration::from_secs(240);
const WAIT_OF_ONE: Duration = Duration::from_secs(20);

/// Naps since the start of the test process: all, and late ones.
#[derive(Debug, Clone, Copy, Default)]
struct Naps {
    all: u32,
    late: u32,
}

impl Naps {
    fn late_since(self, before: Self) -> f64 {
        f64::from(self.late - before.late) / f64::from((self.all - before.all).max(1))
    }
}

/// Makes a test of each of these functions.
#[allow(unused_macros)] // the truth tests make theirs on each event loop
macro_rules! patient_tests {
    ($($name:ident),+ $(,)?) => {
        mod patient {
            $(#[test] fn $name() { crate::patience::patiently(super::$name); })+
        }
    };
}
#[allow(unused_imports)]
pub(crate) use patient_tests;

/// Runs a test, one at a time, and again if the machine was too busy for it.
pub fn patiently(test: impl Fn()) {
    // Whoever holds it runs alone.
    static WAITED: Mutex<Duration> = Mutex::new(Duration::ZERO);
    let mut waited = WAITED.lock().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1..=ATTEMPTS {
        let before = naps();
        let Err(failure) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        let late = naps().late_since(before);
        if late <= BUSY || attempt == ATTEMPTS {
            eprintln!("attempt {attempt} of {ATTEMPTS}: {:.1} % of naps ended late", late * 100.0);
            resume_unwind(failure);
        }
        eprintln!(
            "attempt {attempt}: {:.1} % of naps ended late, the machine is too busy to tell: again",
            late * 100.0
        );
        let left = WAIT_OF_ALL.saturating_sub(*waited);
        *waited += wait_for_calm(left.min(WAIT_OF_ONE));
    }
}

/// Waits for a second in which naps end in time, at the most so long, and says how long.
fn wait_for_calm(most: Duration) -> Duration {
    let begin = Instant::now();
    loop {
        let before = naps();
        std::thread::sleep(Duration::from_secs(1));
        if naps().late_since(before) <= BUSY || begin.elapsed() >= most {
            return begin.elapsed();
        }
    }
}

fn naps() -> Naps {
    static NAPS: OnceLock<&'static Mutex<Naps>> = OnceLock::new();
    let naps = NAPS.get_or_init(|| {
        let naps: &'static Mutex<Naps> = Box::leak(Box::default());
        std::thread::spawn(move || {
            loop {
                let begin = Instant::now();
                std::thread::sleep(NAP);
                let is_late = begin.elapsed() > NAP + LATE;
                let mut naps = naps.lock().unwrap_or_else(PoisonError::into_inner);
                naps.all += 1;
                naps.late += u32::from(is_late);
            }
        });
        naps
    });
    *naps.lock().unwrap_or_else(PoisonError::into_inner)
}
