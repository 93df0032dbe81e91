//! Control groups: the limits that a container or a service manager sets for this process
//! (cgroups(7); kernel `Documentation/admin-guide/cgroup-v2.rst`,
//! `Documentation/scheduler/sched-bwc.rst` and `admin-guide/cgroup-v1/memory.rst` for version 1).
use std::path::{Path, PathBuf};

use crate::kernel_files::KernelFiles;

/// One line of `/proc/PID/cgroup`: `hierarchy:controllers:path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Controllers of a version 1 hierarchy; empty for version 2.
    pub controllers: Vec<String>,
    /// The group, below the root of the hierarchy as this process sees it.
    pub path: String,
}

/// One mounted hierarchy, from `/proc/PID/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Whether it is version 2 (`cgroup2`).
    pub unified: bool,
    /// The group that is mounted there. It is not `/` in a container without its own namespace.
    pub root: String,
    /// The mount point.
    pub point: String,
    /// Options of the file system; for version 1 they include the controllers.
    pub options: Vec<String>,
}

/// The limits of a process by its groups. `None` means "no visible limit".
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CgroupLimits {
    /// Cores: quota per period, the lowest of the group and all groups above it.
    pub cpus: Option<f64>,
    /// Bytes of memory, the lowest limit of the group and all groups above it.
    pub memory_bytes: Option<u64>,
    /// Of the group with the lowest quota: periods in which it wanted to run, and those in which it
    /// had to wait for the next one.
    pub throttled: Option<(u64, u64)>,
}

/// Reads `nr_periods` and `nr_throttled` from `cpu.stat`, which both versions have.
#[must_use]
pub fn parse_throttled(text: &str) -> Option<(u64, u64)> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    Some((value("nr_periods")?, value("nr_throttled")?))
}

/// Reads `/proc/PID/cgroup`.
#[must_use]
pub fn parse_memberships(text: &str) -> Vec<Membership> {
    let line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let controllers =
            controllers.split(',').filter(|name| !name.is_empty()).map(String::from).collect();
        Some(Membership { controllers, path: path.to_string() })
    };
    text.lines().filter_map(line).collect()
}

/// Reads the control group hierarchies out of `/proc/PID/mountinfo`.
#[must_use]
pub fn parse_mounts(text: &str) -> Vec<Mount> {
    let line = |line: &str| {
        // There are any number of optional fields between the fixed ones and " - ".
        let (fixed, file_system) = line.split_once(" - ")?;
        let mut file_system = file_system.split(' ');
        let kind = file_system.next()?;
        let options = file_system.nth(1)?.split(',').map(String::from).collect();
        let mut fixed = fixed.split(' ').skip(3);
        let (root, point) = (fixed.next()?.to_string(), fixed.next()?.to_string());
        matches!(kind, "cgroup" | "cgroup2").then(|| Mount {
            unified: kind == "cgroup2",
            root,
            point,
            options,
        })
    };
    text.lines().filter_map(line).collect()
}

/// Cores from version 2's `cpu.max`: `"150000 100000"` is 1.5, `"max 100000"` is no limit.
#[must_use]
pub fn parse_cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next().map_or(Some(100_000.0), |period| period.parse().ok())?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Cores from version 1's `cpu.cfs_quota_us` (-1 is no limit) and `cpu.cfs_period_us`.
#[must_use]
pub fn parse_cfs(quota: &str, period: &str) -> Option<f64> {
    parse_cpu_max(&format!("{} {}", quota.trim(), period.trim()))
}

/// Bytes from version 2's `memory.max` (`max` is no limit) or version 1's `memory.limit_in_bytes`
/// (no limit is the highest number of whole pages, near 2^63).
#[must_use]
pub fn parse_memory_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 62)
}

/// CPU time from version 2's `cpu.stat`, in nanoseconds: `usage_usec`, which the kernel keeps for
/// every group, even without the controller `cpu`. It includes all tasks that ever were in the
/// group, even those that were never waited for.
#[must_use]
pub fn parse_cpu_stat(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
    value.trim().parse::<u64>().ok()?.checked_mul(1_000)
}

/// CPU time that the group in this folder has used, nanoseconds; `None` if it cannot be read.
#[must_use]
pub fn cpu_ns(folder: &Path) -> Option<u64> {
    parse_cpu_stat(&std::fs::read_to_string(folder.join("cpu.stat")).ok()?)
}

/// The folder of this process's own group in the hierarchy of version 2; `None` if there is none.
#[must_use]
pub fn own_unified(files: &KernelFiles) -> Option<PathBuf> {
    let memberships = parse_memberships(&files.text("proc/self/cgroup")?);
    let mounts = parse_mounts(&files.text("proc/self/mountinfo")?);
    let mount = mounts.iter().find(|mount| mount.unified)?;
    let (_, membership) = joined(mount, &memberships).into_iter().next()?;
    let folder = folders(mount, &membership.path).pop()?;
    Some(files.path(folder.trim_start_matches('/')))
}

/// The groups of a process in the hierarchy that has a controller, from the top to its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Whether the hierarchy is of version 2.
    pub unified: bool,
    /// Their folders.
    pub folders: Vec<PathBuf>,
}

/// The groups of a process (a pid, or `self`) that `controller` (`cpu`, `memory`) could limit; `None` if
/// no mounted hierarchy has it.
#[must_use]
pub fn chain(files: &KernelFiles, process: &str, controller: &str) -> Option<Chain> {
    let memberships = parse_memberships(&files.text(&format!("proc/{process}/cgroup"))?);
    let mounts = parse_mounts(&files.text("proc/self/mountinfo")?);
    let is_listed = |mount: &Mount| {
        let listed =
            files.text(&format!("{}/cgroup.controllers", mount.point.trim_start_matches('/')));
        listed.is_some_and(|text| text.split_whitespace().any(|name| name == controller))
    };
    let (mount, membership) = mounts.iter().find_map(|mount| {
        let mut joined = joined(mount, &memberships).into_iter();
        let (_, membership) = joined.find(|(name, _)| match mount.unified {
            true => is_listed(mount),
            false => *name == controller,
        })?;
        Some((mount, membership))
    })?;
    let folders = folders(mount, &membership.path);
    let folders = folders.iter().map(|folder| files.path(folder.trim_start_matches('/'))).collect();
    Some(Chain { unified: mount.unified, folders })
}

/// How many processes the kernel has killed in a group because it reached its limit of memory:
/// `oom_kill` of version 2's `memory.events`, and of version 1's `memory.oom_control` (since Linux
/// 4.13); `None` if neither can be read.
#[must_use]
pub fn killed_for_memory(folder: &Path) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let text = text("memory.events").or_else(|| text("memory.oom_control"))?;
    let value = text.lines().find_map(|line| line.strip_prefix("oom_kill "))?;
    value.trim().parse().ok()
}

/// Creates a group below this process's own and removes it.
///
/// # Errors
/// The reason, in words, if that is not possible.
pub fn try_to_make(files: &KernelFiles) -> Result<(), String> {
    let own = own_unified(files).ok_or("this host has no hierarchy of version 2")?;
    let group = own.join(format!("pippin-{}-doctor", std::process::id()));
    let made = std::fs::create_dir(&group).and_then(|()| std::fs::remove_dir(&group));
    made.map_err(|error| format!("{}: {error}", own.display()))
}

/// The limits of this process.
#[must_use]
pub fn limits(files: &KernelFiles) -> CgroupLimits {
    limits_of(files, "self")
}

/// The limits of a process: a pid, or `self`. Its groups are read where this process sees them.
#[must_use]
pub fn limits_of(files: &KernelFiles, process: &str) -> CgroupLimits {
    let text = |name: &str| files.text(name).unwrap_or_default();
    let memberships = parse_memberships(&text(&format!("proc/{process}/cgroup")));
    let mounts = parse_mounts(&text("proc/self/mountinfo"));
    let mut limits = CgroupLimits::default();
    for mount in &mounts {
        for (controller, membership) in joined(mount, &memberships) {
            for folder in folders(mount, &membership.path) {
                let file =
                    |name: &str| files.text(&format!("{}/{name}", folder.trim_start_matches('/')));
                let (cpus, memory_bytes) = match (mount.unified, controller) {
                    (true, _) => (
                        file("cpu.max").and_then(|text| parse_cpu_max(&text)),
                        file("memory.max").and_then(|text| parse_memory_limit(&text)),
                    ),
                    (false, "cpu") => (
                        file("cpu.cfs_quota_us")
                            .zip(file("cpu.cfs_period_us"))
                            .and_then(|(quota, period)| parse_cfs(&quota, &period)),
                        None,
                    ),
                    (false, "memory") => (
                        None,
                        file("memory.limit_in_bytes").and_then(|text| parse_memory_limit(&text)),
                    ),
                    _ => (None, None),
                };
                if cpus.is_some_and(|cpus| limits.cpus.is_none_or(|least| cpus < least)) {
                    limits.throttled = file("cpu.stat").and_then(|text| parse_throttled(&text));
                }
                limits.cpus = limits.cpus.into_iter().chain(cpus).reduce(f64::min);
                limits.memory_bytes = limits.memory_bytes.into_iter().chain(memory_bytes).min();
            }
        }
    }
    limits
}

/// The memberships that a mounted hierarchy shows, each with the controller to read.
fn joined<'a>(mount: &'a Mount, memberships: &'a [Membership]) -> Vec<(&'a str, &'a Membership)> {
    if mount.unified {
        return memberships
            .iter()
            .filter(|membership| membership.controllers.is_empty())
            .map(|membership| ("", membership))
            .collect();
    }
    let shows = |controller: &str| mount.options.iter().any(|option| option == controller);
    let of = |controller: &'static str| {
        let member = memberships
            .iter()
            .find(|membership| membership.controllers.iter().any(|name| name == controller));
        member.filter(|_| shows(controller)).map(|member| (controller, member))
    };
    ["cpu", "memory"].into_iter().filter_map(of).collect()
}

/// The folder of a group and of all groups above it, as far as they are mounted.
fn folders(mount: &Mount, path: &str) -> Vec<String> {
    // A path outside of the mounted part cannot be followed. The mount point is then the
    // container's own group.
    let root = mount.root.trim_end_matches('/');
    let below = path
        .strip_prefix(root)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        .unwrap_or_default();
    let mut folders = vec![mount.point.clone()];
    let mut folder = mount.point.trim_end_matches('/').to_string();
    for part in below.split('/').filter(|part| !part.is_empty()) {
        folder = format!("{folder}/{part}");
        folders.push(folder.clone());
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured as host;

    const V2_MOUNT: &str = "29 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
    const V1_MOUNTS: &str = "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,relatime master:9 - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n23 1 8:1 / / rw - ext4 /dev/root rw\n";

    #[test]
    fn limit_files_are_read() {
        assert_eq!(parse_cpu_max("150000 100000\n"), Some(1.5));
        assert_eq!(parse_cpu_max("max 100000\n"), None);
        assert_eq!(parse_cfs("-1\n", "100000\n"), None);
        assert_eq!(parse_cfs("50000\n", "100000\n"), Some(0.5));
        assert_eq!(parse_memory_limit("max\n"), None);
        assert_eq!(parse_memory_limit("9223372036854771712\n"), None);
        assert_eq!(parse_memory_limit("536870912\n"), Some(536_870_912));
    }

    #[test]
    fn version_2_takes_the_least_of_the_group_and_those_above() {
        let (_root, files) = host(&[
            ("proc/self/cgroup", "0::/system.slice/lab.service\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/system.slice/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/system.slice/memory.max", "max\n"),
            ("sys/fs/cgroup/system.slice/lab.service/cpu.max", "200000 100000\n"),
            ("sys/fs/cgroup/system.slice/lab.service/memory.max", "1073741824\n"),
        ]);
        let none = CgroupLimits::default();
        assert_eq!(
            limits(&files),
            CgroupLimits { cpus: Some(0.5), memory_bytes: Some(1 << 30), ..none }
        );
    }

    #[test]
    fn version_1_in_a_container_finds_its_own_group_at_the_mount_point() {
        let (_root, files) = host(&[
            (
                "proc/self/cgroup",
                "9:name=systemd:/docker/abc\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
            ),
            ("proc/self/mountinfo", V1_MOUNTS),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "125000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            (
                "sys/fs/cgroup/cpu,cpuacct/cpu.stat",
                "nr_periods 34\nnr_throttled 30\nthrottled_time 9\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"),
        ]);
        assert_eq!(
            limits(&files),
            CgroupLimits {
                cpus: Some(1.25),
                memory_bytes: Some(256 << 20),
                throttled: Some((34, 30))
            }
        );
        assert_eq!(limits_of(&files, "7"), CgroupLimits::default(), "no such process");
    }

    #[test]
    fn the_time_of_a_group_is_read_and_its_folder_found() {
        assert_eq!(parse_cpu_stat("usage_usec 43360\nuser_usec 13017\n"), Some(43_360_000));
        assert_eq!(parse_cpu_stat("user_usec 13017\n"), None);
        let (root, files) = host(&[
            ("proc/self/cgroup", "4:memory:/a\n0::/user.slice/x.scope\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/user.slice/x.scope/cpu.stat", "usage_usec 7\n"),
        ]);
        let own = own_unified(&files).unwrap();
        assert_eq!(own, root.path().join("sys/fs/cgroup/user.slice/x.scope"));
        assert_eq!(cpu_ns(&own), Some(7_000));
        let (_root, files) =
            host(&[("proc/self/cgroup", "4:memory:/a\n"), ("proc/self/mountinfo", V1_MOUNTS)]);
        assert_eq!(own_unified(&files), None);
    }

    #[test]
    fn the_groups_that_a_controller_could_limit_are_found_in_both_versions() {
        let (root, files) = host(&[
            ("proc/self/cgroup", "9:name=systemd:/docker/abc\n4:memory:/docker/abc/x\n0::/\n"),
            ("proc/self/mountinfo", V1_MOUNTS),
        ]);
        let found = chain(&files, "self", "memory").unwrap();
        let folder = |name: &str| root.path().join("sys/fs/cgroup").join(name);
        assert!(!found.unified);
        assert_eq!(found.folders, [folder("memory"), folder("memory/x")]);
        assert_eq!(chain(&files, "self", "cpu"), None, "the process is in no such group");
        let (root, files) = host(&[
            ("proc/self/cgroup", "0::/user.slice/x.scope\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n"),
        ]);
        let found = chain(&files, "self", "memory").unwrap();
        let top = root.path().join("sys/fs/cgroup");
        assert!(found.unified);
        let below = ["user.slice", "user.slice/x.scope"].map(|name| top.join(name));
        assert_eq!(found.folders, [vec![top.clone()], below.to_vec()].concat());
        assert_eq!(chain(&files, "self", "io"), None);
    }

    #[test]
    fn who_was_killed_is_counted_in_both_versions() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(killed_for_memory(folder.path()), None);
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        put("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        assert_eq!(killed_for_memory(folder.path()), Some(2));
        put("memory.events", "low 0\nhigh 0\nmax 31\noom 1\noom_kill 1\n");
        assert_eq!(killed_for_memory(folder.path()), Some(1));
    }

    #[test]
    fn no_limit_is_none() {
        let (_root, files) = host(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/cgroup.procs", "1\n"),
        ]);
        assert_eq!(limits(&files), CgroupLimits::default());
        let (_root, files) = host(&[]);
        assert_eq!(limits(&files), CgroupLimits::default());
    }
}
