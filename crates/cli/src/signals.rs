//! How Pippin is ended from outside: Ctrl-C, SIGTERM, a closed terminal, readers that are gone. The
//! first signal stops the work and keeps what is finished. The third ends Pippin at once, and its
//! supervisors then end all programs that it started.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::live::terminal;

static STOP: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);
static UNREAD: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_signal: libc::c_int) {
    request_stop();
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on, and returns the flag that they set.
///
/// SIGINT and SIGTERM are caught even if the parent process ignored or blocked them, as a shell
/// does for programs in the background. SIGHUP stays ignored if it was, because that is the purpose
/// of `nohup`.
pub fn catch() -> &'static AtomicBool {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to atomics and may call _exit(2); sigaction and the set
        // are zeroed, then filled structs.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut before);
            if signal == libc::SIGHUP && before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        }
    }
    &STOP
}

/// Makes a write beyond the limit of file sizes fail instead of ending Pippin (setrlimit(2),
/// RLIMIT_FSIZE). It uses a handler, because programs that Pippin starts would inherit SIG_IGN.
pub fn survive_file_limit() {
    // SAFETY: the handler does nothing; sigaction is a zeroed, then filled struct.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_file_limit as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_file_limit(_signal: libc::c_int) {}

/// Asks for a stop as Ctrl-C does. The live view calls it for its key. A signal handler may call
/// it.
pub fn request_stop() {
    STOP.store(true, Ordering::SeqCst);
    if COUNT.fetch_add(1, Ordering::SeqCst) >= 2 {
        terminal::restore();
        // SAFETY: _exit(2) is async-signal-safe.
        unsafe { libc::_exit(130) }
    }
}

/// Stops the work because nobody reads the output. However many lines are lost, this never counts
/// as a signal: what is finished is still kept.
pub fn nobody_reads() {
    UNREAD.store(true, Ordering::SeqCst);
    STOP.store(true, Ordering::SeqCst);
}

/// Whether [`nobody_reads`] was called.
pub fn is_unread() -> bool {
    UNREAD.load(Ordering::SeqCst)
}

/// How many times a stop was asked for.
pub fn stops() -> u32 {
    COUNT.load(Ordering::SeqCst)
}
