//! The limit of open files. Shells still begin with 1,024 because of select(2), which is too little
//! for a thousand connections. Servers run with more, and programs that Pippin starts inherit its
//! limit.

/// Some programs close every possible descriptor. With a limit of a billion, as in containers, they
/// would hang.
const ENOUGH: libc::rlim_t = 1 << 20;

/// Raises the soft limit as far as the hard one allows. If that fails, the limit stays, and loads
/// that need more report it.
pub fn raise_limit() {
    // SAFETY: plain data that getrlimit(2) fills and setrlimit(2) reads.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
            && limit.rlim_cur < limit.rlim_max.min(ENOUGH)
        {
            limit.rlim_cur = limit.rlim_max.min(ENOUGH);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
