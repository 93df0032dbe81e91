//! Makes sure of enough file descriptors: raises the limit, or gives each thread its own table, or
//! reports a clear error.
use std::io;

use crate::error::EngineError;

/// How the threads get their descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// All in the table of the process.
    Shared,
    /// A table for each thread (unshare(2), CLONE_FILES): the limit holds for each table by itself.
    OneForEachThread,
}

/// Descriptors beside those of connections: event loop, rings, standard streams, and some to spare.
const SPARE: u64 = 32;

/// Makes room for `users` connections on `threads` threads. Raises the soft limit where that is
/// needed and possible.
pub(crate) fn prepare(users: u32, threads: u32) -> Result<Tables, EngineError> {
    let failed = |error| EngineError::System {
        what: "reading the limit of descriptors (RLIMIT_NOFILE)",
        error,
    };
    let (soft, hard) = limits().map_err(failed)?;
    // Each entry is one descriptor. If they cannot be counted, the margin must do.
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let tables = plan(users, threads, open, hard)?;
    let needed = match tables {
        Tables::Shared => u64::from(users) + open + SPARE,
        Tables::OneForEachThread => hard,
    };
    if needed > soft {
        raise(hard).map_err(|error| EngineError::System {
            what: "raising the limit of descriptors (RLIMIT_NOFILE)",
            error,
        })?;
    }
    Ok(tables)
}

fn plan(users: u32, threads: u32, open: u64, limit: u64) -> Result<Tables, EngineError> {
    let users = u64::from(users);
    if users + open + SPARE <= limit {
        return Ok(Tables::Shared);
    }
    // A thread's own table starts with the three standard streams only.
    let most = limit.saturating_sub(SPARE);
    if users.div_ceil(u64::from(threads)) <= most {
        return Ok(Tables::OneForEachThread);
    }
    Err(EngineError::TooFewDescriptors {
        needed: users + open + SPARE,
        limit,
        threads: users.div_ceil(most.max(1)),
    })
}

fn limits() -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((limit.rlim_cur, limit.rlim_max))
}

fn raise(hard: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: hard, rlim_max: hard };
    // SAFETY: `limit` is valid for reading.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Gives the calling thread a descriptor table of its own, with the standard streams alone.
pub(crate) fn unshare() -> io::Result<()> {
    // SAFETY: no pointers. Nothing in this thread uses a descriptor of the old table.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_shared_while_they_suffice() {
        assert_eq!(plan(10, 1, 8, 1024).unwrap(), Tables::Shared);
        assert_eq!(plan(19_960, 1, 8, 20_000).unwrap(), Tables::Shared);
        assert_eq!(plan(19_961, 1, 8, 20_000).unwrap(), Tables::OneForEachThread);
        assert_eq!(plan(100_000, 6, 8, 20_000).unwrap(), Tables::OneForEachThread);
    }

    #[test]
    fn too_few_descriptors_name_both_ways_out() {
        let error = plan(100_000, 2, 8, 20_000).unwrap_err().to_string();
        assert!(error.contains("`ulimit -n 100040`") && error.contains("use 6 threads"), "{error}");
        assert_eq!(plan(100_000, 6, 8, 20_000).unwrap(), Tables::OneForEachThread);
    }

    #[test]
    fn a_thread_with_a_table_of_its_own_leaves_the_others_alone() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        std::thread::spawn(|| {
            unshare().unwrap();
            let open = std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
            assert!(open <= 4, "{open}");
        })
        .join()
        .unwrap();
        assert!(file.metadata().is_ok());
    }
}
