//! Starting and stopping, rightly or not.
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Mode;

/// What happens before anything is listened on.
pub fn before_listening(mode: Mode) {
    match mode {
        mode if mode.is("exits") => {
            println!("reading the configuration");
            eprintln!("no key `secret` in the configuration");
            exit(3);
        }
        mode if mode.is("hangs") => {
            println!("waiting for a licence server");
            sleep_for_ever();
        }
        mode if mode.is("lingers") => sleep_for_ever(),
        mode if mode.is("ignores-sigterm") => ignore_sigterm(),
        mode if mode.is("workers-stop-later") => stop_with_worker(),
        mode if mode.is("stops-later") => {
            on_sigterm(|| std::thread::sleep(Duration::from_millis(150)), true)
        }
        mode if mode.is("leaves-child") => drop(leave("leave-and-exit")),
        mode if mode.is("leave-and-exit") => {
            leave("lingers");
            exit(0);
        }
        mode if mode.is("daemonises") => {
            leave("right");
            exit(0);
        }
        _ => {}
    }
}

/// The port that the environment names, or in the mode `fixed-port` that of the mode.
pub fn listen(mode: Mode) -> TcpListener {
    let host = std::env::var("HOST").unwrap_or_else(|_| "127.0.0.1".into());
    let port = if mode.is("fixed-port") {
        mode.number().to_string()
    } else {
        std::env::var("PORT").unwrap_or_else(|_| "8080".into())
    };
    TcpListener::bind(format!("{host}:{port}")).unwrap_or_else(|error| {
        eprintln!("cannot listen on {host}:{port}: {error}");
        exit(1)
    })
}

/// What happens when the request of this number (from 1) came.
pub fn on_request(mode: Mode, number: u64) {
    if mode.is("crashes-after") && number > mode.number() {
        // Whoever holds the lock ends the process: another request's thread would begin a second
        // panic that the exit cuts in two.
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "panic: index out of range after {number} requests");
        exit(70);
    }
}

fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn ignore_sigterm() {
    // SAFETY: SIG_IGN is a valid disposition, and no handler runs.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
}

/// A master with a worker: it hands SIGTERM on and ends at once, its worker a moment later.
fn stop_with_worker() {
    let worker = leave("stops-later") as i32;
    // SAFETY: kill(2) of a child of ours.
    on_sigterm(move || _ = unsafe { libc::kill(worker, libc::SIGTERM) }, false);
}

static TOLD: AtomicBool = AtomicBool::new(false);

/// Does this at SIGTERM and exits; `here` waits for it on the calling thread.
fn on_sigterm(work: impl FnOnce() + Send + 'static, here: bool) {
    extern "C" fn on_signal(_signal: libc::c_int) {
        TOLD.store(true, Ordering::SeqCst);
    }
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::signal(libc::SIGTERM, on_signal as extern "C" fn(libc::c_int) as usize) };
    let wait = move || {
        while !TOLD.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        work();
        exit(0)
    };
    if here {
        wait();
    } else {
        std::thread::spawn(wait);
    }
}

/// Starts this program in another mode, in a session of its own, with the same marker; its process.
fn leave(mode: &str) -> u32 {
    let program = std::env::current_exe().unwrap_or_default();
    let mut command = Command::new(program);
    command.arg(mode).args(std::env::args().skip(2)).stdin(Stdio::null());
    // SAFETY: setsid(2) is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            Ok(())
        });
    }
    command.spawn().map(|child| child.id()).unwrap_or_else(|error| {
        eprintln!("cannot start myself: {error}");
        exit(71)
    })
}
