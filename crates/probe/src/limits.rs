//! Resource limits (getrlimit(2)) of this process.
use std::collections::BTreeMap;

/// One limit: the current value, and the highest value that a process without privileges may set.
/// `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The soft limit.
    pub soft: Option<u64>,
    /// The hard limit.
    pub hard: Option<u64>,
}

/// This process's limits that matter to servers and load generators, by their names in `ulimit` and
/// limits.conf(5): open files, processes and threads of the user, locked memory, stack, address
/// space.
#[must_use]
pub fn own_limits() -> BTreeMap<&'static str, Limit> {
    let kinds = [
        ("nofile", libc::RLIMIT_NOFILE),
        ("nproc", libc::RLIMIT_NPROC),
        ("memlock", libc::RLIMIT_MEMLOCK),
        ("stack", libc::RLIMIT_STACK),
        ("as", libc::RLIMIT_AS),
    ];
    kinds.into_iter().filter_map(|(name, kind)| Some((name, own_limit(kind)?))).collect()
}

/// The C libraries use different types for the kind of a limit.
#[cfg(target_env = "gnu")]
type Kind = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Kind = libc::c_int;

fn own_limit(kind: Kind) -> Option<Limit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let failed = unsafe { libc::getrlimit(kind, &raw mut limit) };
    let finite = |value| (value != libc::RLIM_INFINITY).then_some(value);
    (failed == 0).then(|| Limit { soft: finite(limit.rlim_cur), hard: finite(limit.rlim_max) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_agrees_with_proc() {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let mut values = text
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))
            .unwrap()
            .split_ascii_whitespace()
            // "unlimited" is no number.
            .map(|value| value.parse::<u64>().ok());
        let (soft, hard) = (values.next().unwrap(), values.next().unwrap());
        assert_eq!(own_limits().get("nofile").copied(), Some(Limit { soft, hard }));
    }
}
