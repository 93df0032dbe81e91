//! A process namespace for one target, where Pippin is root (pid_namespaces(7)): it sees its own
//! processes and no others. So no target can stop another one, move it to other processors, or read
//! the memory and the environment of Pippin and its services.
//!
//! The first process of a namespace inherits its orphans and ends it. Here that is a small keeper,
//! made by the supervisor before the target. The target itself is a child of the supervisor, as
//! without a namespace.
use std::io;

/// Makes the namespace in which all further children of this process are, and its keeper, whose pid
/// is returned; `None` where this process may not make one.
///
/// Call this while the process has one thread and SIGCHLD is blocked.
///
/// # Errors
/// If the namespace is there and its keeper cannot be made.
pub fn begin() -> io::Result<Option<i32>> {
    // SAFETY: plain system calls. The child of fork(2) does nothing but system calls.
    unsafe {
        if libc::geteuid() != 0 || libc::unshare(libc::CLONE_NEWPID) != 0 {
            return Ok(None);
        }
        match libc::fork() {
            0 => keep(),
            -1 => Err(io::Error::last_os_error()),
            keeper => Ok(Some(keeper)),
        }
    }
}

/// Waits for orphans for ever. It ends by SIGKILL, and everything in the namespace with it.
fn keep() -> ! {
    // SAFETY: system calls with constants and pointers to live values; nobody uses the descriptors.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setsid();
        // close_range(2), which libc has no function for where the program is linked with musl.
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        let mut of_children: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut of_children);
        libc::sigaddset(&raw mut of_children, libc::SIGCHLD);
        loop {
            // Their CPU time is added to the keeper's account of children (wait(2)).
            if libc::waitpid(-1, std::ptr::null_mut(), 0) < 0 {
                libc::sigwaitinfo(&raw const of_children, std::ptr::null_mut());
            }
        }
    }
}

/// Gives the calling process, a child in the namespace, a `/proc` of the namespace. Where that is
/// not allowed, it keeps the one that it has; it can then read of others, and do nothing to them.
/// Async-signal-safe.
pub fn see_own_processes() {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: system calls with C strings that live for ever.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNS) != 0 {
            return;
        }
        let none = std::ptr::null();
        let private = libc::MS_REC | libc::MS_PRIVATE;
        if libc::mount(none, c"/".as_ptr(), none, private, none.cast()) == 0 {
            libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, none.cast());
        }
    }
}
