//! Ctrl-C: the first stops what runs and keeps what is finished, the third ends Pippin at once (its
//! supervisors then end everything below).
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::live::terminal;

static STOP: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);

extern "C" fn on_signal(_signal: libc::c_int) {
    request_stop();
}

/// Catches SIGINT and SIGTERM from now on; the flag they set.
pub fn catch() -> &'static AtomicBool {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to atomics and may call _exit(2); sigaction is given a
        // zeroed, then filled struct.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    &STOP
}

/// Asks for a stop as Ctrl-C does; for the live view, which has a key for it. May be called from a
/// signal handler.
pub fn request_stop() {
    STOP.store(true, Ordering::SeqCst);
    if COUNT.fetch_add(1, Ordering::SeqCst) >= 2 {
        terminal::restore();
        // SAFETY: _exit(2) is async-signal-safe.
        unsafe { libc::_exit(130) }
    }
}

/// How often a stop was asked for.
pub fn stops() -> u32 {
    COUNT.load(Ordering::SeqCst)
}
