//! The limit of open files. Shells still begin with 1,024 for the sake of select(2), which a
//! thousand connections exceed; servers are run with more, and what Pippin starts inherits its
//! limit.

/// Some programs walk through every possible descriptor, so that a limit of a billion, as
/// containers have, would stop them.
const ENOUGH: libc::rlim_t = 1 << 20;

/// Raises the soft limit as far as the hard one allows. Where that fails the limit stays, and who
/// needs more says so.
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
