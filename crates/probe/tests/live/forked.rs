//! Process trees made with fork(2). The children only make system calls, so it does not matter that
//! the forking test has threads.
use std::time::{Duration, Instant};

/// Burns this much CPU time in the calling process.
pub fn burn(milliseconds: u64) {
    let used = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid for the call.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let until = used() + milliseconds * 1_000_000;
    while used() < until {}
}

/// Forks. The child runs `work` and then ends, at the latest after a minute.
pub fn fork(work: impl FnOnce()) -> i32 {
    // SAFETY: the child only makes system calls (see above), until it ends here.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: no pointers.
            unsafe { libc::alarm(60) };
            work();
            // SAFETY: it does not return.
            unsafe { libc::_exit(0) }
        }
        pid => {
            assert!(pid > 0, "fork: {}", std::io::Error::last_os_error());
            pid
        }
    }
}

/// Waits for one child, or for any with -1; false if there is none.
pub fn wait(pid: i32) -> bool {
    // SAFETY: the null pointer means that nothing is written.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) >= 0 }
}

/// Sleeps until a signal ends the process.
pub fn sleep_for_good() -> ! {
    loop {
        // SAFETY: no pointers.
        unsafe { libc::pause() };
    }
}

/// A subreaper that runs `target` below itself and waits for all orphans, as the lab's supervisor
/// does. Dropping it kills it and everything below.
pub struct Supervisor {
    pub pid: i32,
}

impl Supervisor {
    pub fn start(target: impl FnOnce()) -> Self {
        let pid = fork(|| {
            // SAFETY: no pointers.
            unsafe {
                libc::setpgid(0, 0);
                libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            }
            fork(target);
            while wait(-1) {}
            sleep_for_good()
        });
        // SAFETY: no pointers; the child is our own.
        unsafe { libc::setpgid(pid, pid) };
        Self { pid }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // SAFETY: the group is our child's, which has not been waited for.
        unsafe { libc::kill(-self.pid, libc::SIGKILL) };
        wait(self.pid);
    }
}

/// Repeats the check until it holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
