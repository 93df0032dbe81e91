//! The mode of the terminal during the live view, restored on every exit.
//!
//! Keys come one by one and are not shown, but the terminal still turns Ctrl-C and Ctrl-\ into
//! signals and `\n` into line ends. So a stop works even if the view hangs, and output of other
//! programs stays readable.
use std::cell::UnsafeCell;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Alternate screen, no cursor (xterm's control sequences, DECSET 1049 and 25).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
/// Plain style, cursor, the previous screen.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// Whether the terminal is in our mode.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// The terminal's descriptor; -1 if it is not known yet.
static KEYBOARD: AtomicI32 = AtomicI32::new(-1);
/// The previous mode.
static BEFORE: Before = Before(UnsafeCell::new(MaybeUninit::uninit()));

struct Before(UnsafeCell<MaybeUninit<libc::termios>>);

// SAFETY: only `enter` writes it, while ENTERED is false. Only the caller that turned ENTERED from
// true to false reads it.
unsafe impl Sync for Before {}

/// Our mode of the terminal. Dropping it restores the previous mode.
pub struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        restore();
    }
}

/// Whether the terminal has a size and this process may change its mode. A background process may
/// not.
pub fn is_usable() -> bool {
    // SAFETY: plain queries on a descriptor that stays open.
    let is_in_front = |keyboard| unsafe { libc::tcgetpgrp(keyboard) == libc::getpgrp() };
    keyboard().is_ok_and(is_in_front)
        && size().is_some_and(|(columns, rows)| columns > 0 && rows > 0)
}

/// Columns and rows of the terminal at standard error; `None` if it is gone.
pub fn size() -> Option<(u16, u16)> {
    // SAFETY: TIOCGWINSZ fills the struct, which is plain data.
    unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0)
            .then_some((size.ws_col, size.ws_row))
    }
}

/// Switches the terminal to our mode.
///
/// # Errors
/// If there is no terminal to read keys from, or its mode cannot be changed.
pub fn enter() -> io::Result<Entered> {
    if ENTERED.load(Ordering::Acquire) {
        return Err(io::Error::other("the terminal is already in use"));
    }
    let keyboard = keyboard()?;
    restore_on_death();
    // SAFETY: the descriptor is a terminal that stays open. BEFORE is ours because ENTERED is
    // false.
    unsafe {
        let mut mode: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(keyboard, &raw mut mode) != 0 {
            return Err(io::Error::last_os_error());
        }
        (*BEFORE.0.get()).write(mode);
        mode.c_lflag &= !(libc::ICANON | libc::ECHO | libc::IEXTEN);
        mode.c_iflag &= !(libc::IXON | libc::ICRNL);
        mode.c_cc[libc::VMIN] = 1;
        mode.c_cc[libc::VTIME] = 0;
        // Suspending would spoil the measurement, so Ctrl-Z is an ordinary key.
        mode.c_cc[libc::VSUSP] = libc::_POSIX_VDISABLE;
        if libc::tcsetattr(keyboard, libc::TCSANOW, &raw const mode) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    ENTERED.store(true, Ordering::Release);
    write(ENTER);
    Ok(Entered(()))
}

/// Whether the terminal is still in our mode.
pub fn is_entered() -> bool {
    ENTERED.load(Ordering::Acquire)
}

/// Restores the terminal; does nothing if it is not in our mode. A signal handler may call it.
pub fn restore() {
    if ENTERED.swap(false, Ordering::AcqRel) {
        write(LEAVE);
        // SAFETY: tcsetattr(3) is async-signal-safe; BEFORE was written before ENTERED became true.
        unsafe {
            libc::tcsetattr(
                KEYBOARD.load(Ordering::Acquire),
                libc::TCSANOW,
                (*BEFORE.0.get()).as_ptr(),
            );
        }
    }
}

fn write(bytes: &[u8]) {
    // SAFETY: write(2) is async-signal-safe; the bytes are valid for their length. If the terminal
    // is gone, there is nothing to restore.
    unsafe {
        libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len());
    }
}

/// The terminal that keys come from: standard input, or the controlling terminal if standard input
/// is something else.
///
/// # Errors
/// If there is no such terminal.
pub fn keyboard() -> io::Result<libc::c_int> {
    let known = KEYBOARD.load(Ordering::Acquire);
    if known >= 0 {
        return Ok(known);
    }
    let found = if io::stdin().is_terminal() {
        libc::STDIN_FILENO
    } else {
        File::options().read(true).write(true).open("/dev/tty")?.into_raw_fd()
    };
    KEYBOARD.store(found, Ordering::Release);
    Ok(found)
}

extern "C" fn on_death(signal: libc::c_int) {
    restore();
    // SAFETY: raise(3) is async-signal-safe. SA_RESETHAND has reset the handler to the default one.
    unsafe {
        libc::raise(signal);
    }
}

/// Makes a panic, and the signals that end a process, restore the terminal first. (Signals that
/// Pippin catches end it in order.)
fn restore_on_death() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            previous(panic);
        }));
        for signal in [
            libc::SIGQUIT,
            libc::SIGABRT,
            libc::SIGALRM,
            libc::SIGUSR1,
            libc::SIGUSR2,
            libc::SIGXCPU,
        ] {
            // SAFETY: the handler only calls async-signal-safe functions; sigaction gets a zeroed,
            // then filled struct.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_death as extern "C" fn(libc::c_int) as usize;
                action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    });
}
