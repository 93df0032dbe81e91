//! Resource limits (getrlimit(2)) of this process, and of others by `/proc/PID/limits`.
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

/// Reads one line of `/proc/PID/limits` (proc_pid_limits(5)), by its title: `"Max open files"`.
#[must_use]
pub fn parse_limit(text: &str, title: &str) -> Option<Limit> {
    let values = text.lines().find_map(|line| line.strip_prefix(title))?;
    let mut words = values.split_ascii_whitespace();
    let mut value = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Limit { soft: value()?, hard: value()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_other_processes_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax stack size            8388608              unlimited            bytes     \nMax open files            1024                 20000                files     \n";
        assert_eq!(
            parse_limit(text, "Max open files"),
            Some(Limit { soft: Some(1024), hard: Some(20_000) })
        );
        assert_eq!(
            parse_limit(text, "Max stack size"),
            Some(Limit { soft: Some(8 << 20), hard: None })
        );
        assert_eq!(parse_limit(text, "Max processes"), None);
    }

    #[test]
    fn both_ways_to_learn_of_a_limit_agree() {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let open_files = own_limits().get("nofile").copied();
        assert!(
            open_files.is_some() && open_files == parse_limit(&text, "Max open files"),
            "{open_files:?}"
        );
    }
}
