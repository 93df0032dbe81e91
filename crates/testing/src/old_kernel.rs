//! A kernel that lacks a call, as older kernels and emulators do.
use std::io;

/// Makes epoll_pwait2(2) fail with ENOSYS in the calling thread, in the threads and processes that it
/// starts from now on, and in what it executes (seccomp(2)). Cannot be undone. Safe to call between
/// fork and exec.
///
/// # Errors
/// If the kernel takes no filter.
pub fn refuse_pwait2() -> io::Result<()> {
    const fn step(code: u32, yes: u8, no: u8, k: u32) -> libc::sock_filter {
        libc::sock_filter { code: code as u16, jt: yes, jf: no, k }
    }
    let mut filter = [
        // The number of the call is the first field of what a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_epoll_pwait2 as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program =
        libc::sock_fprog { len: filter.len() as libc::c_ushort, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its steps outlive the calls, which copy them.
    let is_set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
                0,
                0,
            ) == 0
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}
