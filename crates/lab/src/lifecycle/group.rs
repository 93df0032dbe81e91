//! A control group for one target. The kernel adds up the CPU time of all its processes, also of
//! children that nobody waits for, and holds limits if there are any.
//!
//! Without limits it is a group of version 2 below this process's own (kernel `Documentation/
//! admin-guide/cgroup-v2.rst`), and no controller is enabled, because that would have to be done for
//! all processes of the group above. Without version 2, or without the right to make a group there, a
//! target has no group. Its CPU time is then that of the processes that can be seen.
//!
//! Limits need a group whose controllers are enabled. In version 2 that is one below the nearest group
//! above this process that hands them on (`cgroup.subtree_control`) and where a group may be made; in
//! version 1 (`admin-guide/cgroup-v1`, `scheduler/sched-bwc.rst`) one for each controller. Where that
//! is not possible, a target with limits is not started.
use pippin_model::plan::limits::Limits;
use pippin_model::text::units::counted;
use pippin_probe::cgroup::{self, Chain};
use pippin_probe::kernel_files::KernelFiles;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "pippin-";
/// The period over which the kernel holds a limit of CPU time: its default.
const PERIOD_US: u64 = 100_000;

/// A group. It is removed when this is dropped; its processes must have ended by then.
#[derive(Debug)]
pub struct Group {
    /// Where the kernel adds up the CPU time.
    account: Option<PathBuf>,
    /// Where it holds limits. The first may be the account too.
    limiting: Vec<PathBuf>,
    limits: Limits,
}

impl Group {
    /// Makes one. Without limits it is `None` where the host does not allow it.
    ///
    /// # Errors
    /// If there are limits and the host does not allow them: the reason, and what to do.
    pub fn make(limits: Limits) -> Result<Option<Self>, String> {
        Self::make_from(&KernelFiles::default(), limits)
    }

    fn make_from(files: &KernelFiles, limits: Limits) -> Result<Option<Self>, String> {
        let mut group = Self { account: None, limiting: Vec::new(), limits };
        if !limits.is_empty() {
            group.limit(files).map_err(|why| {
                format!(
                    "{}: a target cannot be held to {} here: {why}. Limits need control groups with the controllers cpu and memory{}",
                    limits.options(),
                    limits.words(),
                    // SAFETY: geteuid(2) cannot fail.
                    if unsafe { libc::geteuid() } == 0 { "" } else { ": run Pippin as root" }
                )
            })?;
        }
        if group.account.is_none() {
            group.account = cgroup::own_unified(files).and_then(|above| make_below(&above).ok());
        }
        Ok((group.account.is_some() || !group.limiting.is_empty()).then_some(group))
    }

    /// Makes the groups that hold the limits. They are removed with this, whatever happens.
    fn limit(&mut self, files: &KernelFiles) -> Result<(), String> {
        let wanted: Vec<&str> =
            [self.limits.cpus.map(|_| "cpu"), self.limits.memory_bytes.map(|_| "memory")]
                .into_iter()
                .flatten()
                .collect();
        // One group for all controllers of a hierarchy.
        let mut hierarchies: Vec<(Chain, Vec<&str>)> = Vec::new();
        for controller in wanted {
            let chain = cgroup::chain(files, "self", controller).ok_or_else(|| {
                format!("no mounted hierarchy of control groups has the controller {controller}")
            })?;
            match hierarchies.iter_mut().find(|(other, _)| *other == chain) {
                Some((_, controllers)) => controllers.push(controller),
                None => hierarchies.push((chain, vec![controller])),
            }
        }
        for (chain, controllers) in &hierarchies {
            let folder = if chain.unified {
                make_in_version_2(chain, controllers)?
            } else {
                make_below(chain.folders.last().ok_or("it has no groups")?)?
            };
            self.limiting.push(folder.clone());
            if chain.unified {
                self.account = Some(folder.clone());
            }
            for controller in controllers {
                self.write(files, &folder, chain.unified, controller)?;
            }
        }
        Ok(())
    }

    fn write(
        &self,
        files: &KernelFiles,
        folder: &Path,
        unified: bool,
        controller: &str,
    ) -> Result<(), String> {
        let quota_us = self.limits.cpus.map_or(0, quota_us);
        let bytes = self.limits.memory_bytes.unwrap_or(u64::MAX).to_string();
        match (controller, unified) {
            ("cpu", true) => write(folder, "cpu.max", &format!("{quota_us} {PERIOD_US}")),
            ("cpu", false) => {
                write(folder, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
                write(folder, "cpu.cfs_quota_us", &quota_us.to_string())
            }
            (_, true) => {
                write(folder, "memory.max", &bytes)?;
                close_swap(files, &[write(folder, "memory.swap.max", "0")])
            }
            (_, false) => {
                write(folder, "memory.limit_in_bytes", &bytes)?;
                let both = write(folder, "memory.memsw.limit_in_bytes", &bytes);
                close_swap(files, &[both, write(folder, "memory.swappiness", "0")])
            }
        }
    }

    /// The folder with the account of its CPU time; `None` if the kernel keeps none.
    #[must_use]
    pub fn account(&self) -> Option<&Path> {
        self.account.as_deref()
    }

    /// The folders of all groups that its processes are to enter.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        let limiting = self.limiting.iter().filter(|folder| Some(*folder) != self.account.as_ref());
        self.account.iter().chain(limiting).map(PathBuf::as_path)
    }

    /// Whether it holds limits.
    #[must_use]
    pub const fn has_limits(&self) -> bool {
        !self.limits.is_empty()
    }

    /// How many of its processes the kernel has killed for lack of memory; 0 where that is not limited.
    #[must_use]
    pub fn killed_for_memory(&self) -> u64 {
        self.limiting.iter().find_map(|folder| cgroup::killed_for_memory(folder)).unwrap_or(0)
    }
}

/// That the kernel killed so many processes under these limits, in words; `None` for none.
#[must_use]
pub fn killed_in_words(killed: u64, limits: Limits) -> Option<String> {
    let memory = Limits { cpus: None, ..limits };
    (killed > 0 && !memory.is_empty()).then(|| {
        format!(
            "the kernel killed {} of it for lack of memory: it may use {} (--memory)",
            counted(killed, "process"),
            memory.words()
        )
    })
}

/// What lies in swap would be memory beyond the limit: one of these ways must have closed it, unless the
/// machine has none.
fn close_swap(files: &KernelFiles, ways: &[Result<(), String>]) -> Result<(), String> {
    // The first line is a heading (proc(5)).
    let has_swap = files.text("proc/swaps").is_some_and(|text| text.lines().count() > 1);
    match ways.iter().find(|way| way.is_ok()).or(ways.first()) {
        Some(Err(error)) if has_swap => Err(format!("swap cannot be closed to it: {error}")),
        _ => Ok(()),
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.folders().for_each(remove);
    }
}

fn quota_us(cpus: f64) -> u64 {
    (cpus * PERIOD_US as f64).round() as u64
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|error| format!("writing {text} to {}: {error}", path.display()))
}

/// A new group below this one.
fn make_below(above: &Path) -> Result<PathBuf, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    remove_forgotten(above);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = above.join(format!("{PREFIX}{}-{number}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    Ok(folder)
}

/// A new group with these controllers, as near to this process as one can be made.
fn make_in_version_2(chain: &Chain, wanted: &[&str]) -> Result<PathBuf, String> {
    let mut why = String::from("no group above this process hands its controllers on");
    for above in chain.folders.iter().rev() {
        let handed_on =
            fs::read_to_string(above.join("cgroup.subtree_control")).unwrap_or_default();
        let has = |controller: &&str| handed_on.split_whitespace().any(|name| name == *controller);
        if !wanted.iter().all(has) {
            if let Some(limit) = own_limit(above) {
                return Err(format!(
                    "{} limits this process ({limit}), and a target beside it would be without that",
                    above.display()
                ));
            }
            continue;
        }
        match make_below(above) {
            Ok(folder) => return Ok(folder),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// The limit of a group of version 2, as it is written there.
fn own_limit(folder: &Path) -> Option<String> {
    let read = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        (!text.starts_with("max")).then(|| format!("{name} {}", text.trim()))
    };
    read("cpu.max").or_else(|| read("memory.max"))
}

/// Removes a group. If a process is still in it, the kernel refuses and the group stays.
pub(super) fn remove(folder: &Path) {
    let _ = fs::remove_dir(folder);
}

/// Removes groups of runs that were killed.
fn remove_forgotten(above: &Path) {
    let Ok(entries) = fs::read_dir(above) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if maker
            .is_some_and(|pid| pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists())
        {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with these files and no others.
    fn captured(files: &[(&str, &str)]) -> (tempfile::TempDir, KernelFiles) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let kernel = KernelFiles::below(root.path());
        (root, kernel)
    }

    #[test]
    fn only_groups_of_processes_that_are_gone_are_removed() {
        let above = tempfile::tempdir().unwrap();
        let own = format!("pippin-{}-0", std::process::id());
        for name in [own.as_str(), "pippin-4194305-0", "pippin-x", "another"] {
            fs::create_dir(above.path().join(name)).unwrap();
        }
        remove_forgotten(above.path());
        let mut left: Vec<String> = fs::read_dir(above.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["another".to_string(), own, "pippin-x".to_string()]);
    }

    const LIMITS: Limits = Limits { cpus: Some(0.5), memory_bytes: Some(256 << 20) };
    const V2: &str = "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "31 1 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      32 1 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    fn text(folder: &Path, name: &str) -> String {
        fs::read_to_string(folder.join(name)).unwrap()
    }

    #[test]
    fn limits_of_version_2_are_held_where_the_controllers_are_handed_on() {
        let (root, files) = captured(&[
            ("proc/self/cgroup", "0::/app.slice/terminal.scope\n"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"),
            ("sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n"),
            ("sys/fs/cgroup/app.slice/cgroup.subtree_control", "cpu memory\n"),
            ("sys/fs/cgroup/app.slice/terminal.scope/cgroup.subtree_control", "pids\n"),
        ]);
        let group = Group::make_from(&files, LIMITS).unwrap().unwrap();
        let [folder] = &group.limiting[..] else { panic!("{group:?}") };
        assert_eq!(folder.parent().unwrap(), root.path().join("sys/fs/cgroup/app.slice"));
        assert_eq!(text(folder, "cpu.max"), "50000 100000");
        assert_eq!(text(folder, "memory.max"), "268435456");
        assert_eq!(group.killed_for_memory(), 0);
        fs::write(folder.join("memory.events"), "oom 3\noom_kill 2\n").unwrap();
        let words = killed_in_words(group.killed_for_memory(), LIMITS).unwrap();
        assert!(words.contains("killed 2 processes") && words.contains("256 MiB"), "{words}");
        drop(group);
        let scope = "sys/fs/cgroup/app.slice/terminal.scope/cpu.max";
        fs::write(root.path().join(scope), "100000 100000\n").unwrap();
        let message = Group::make_from(&files, LIMITS).unwrap_err();
        assert!(message.contains("limits this process (cpu.max 100000 100000)"), "{message}");
    }

    #[test]
    fn limits_of_version_1_are_held_by_a_group_for_each_controller() {
        let (root, files) = captured(&[
            ("proc/self/cgroup", "2:cpu:/\n4:memory:/a\n"),
            ("proc/self/mountinfo", V1),
            ("sys/fs/cgroup/cpu/cgroup.procs", "1\n"),
            ("sys/fs/cgroup/memory/a/cgroup.procs", "1\n"),
        ]);
        let group = Group::make_from(&files, LIMITS).unwrap().unwrap();
        assert_eq!(group.account(), None);
        let [cpu, memory] = &group.limiting[..] else { panic!("{group:?}") };
        assert_eq!(cpu.parent().unwrap(), root.path().join("sys/fs/cgroup/cpu"));
        assert_eq!(memory.parent().unwrap(), root.path().join("sys/fs/cgroup/memory/a"));
        assert_eq!(text(cpu, "cpu.cfs_quota_us"), "50000");
        assert_eq!(text(memory, "memory.limit_in_bytes"), "268435456");
        assert_eq!(group.folders().count(), 2);
        let joint = "32 1 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpu,memory\n";
        fs::write(root.path().join("proc/self/mountinfo"), joint).unwrap();
        fs::write(root.path().join("proc/self/cgroup"), "4:cpu,memory:/a\n").unwrap();
        let group = Group::make_from(&files, LIMITS).unwrap().unwrap();
        let [both] = &group.limiting[..] else { panic!("{group:?}") };
        assert_eq!(text(both, "cpu.cfs_quota_us"), "50000");
        assert_eq!(text(both, "memory.limit_in_bytes"), "268435456");
    }

    #[test]
    fn swap_is_closed_or_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let lacking = || write(&folder.path().join("none"), "memory.swap.max", "0");
        let swaps = "Filename Type Size Used Priority\n/dev/vdb partition 1024 0 -2\n";
        let (_root, files) = captured(&[("proc/swaps", swaps)]);
        assert!(close_swap(&files, &[lacking()]).unwrap_err().contains("swap cannot be closed"));
        assert_eq!(close_swap(&files, &[lacking(), Ok(())]), Ok(()));
        let (_root, files) = captured(&[("proc/swaps", "Filename Type Size Used Priority\n")]);
        assert_eq!(close_swap(&files, &[lacking()]), Ok(()), "a machine without swap");
    }

    #[test]
    fn limits_that_cannot_be_held_are_refused_with_the_reason() {
        let (_root, files) = captured(&[
            ("proc/self/cgroup", "0::/user.slice\n"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/user.slice/cgroup.procs", "1\n"),
        ]);
        let refused = |limits| Group::make_from(&files, limits).unwrap_err();
        let message = refused(Limits { cpus: None, ..LIMITS });
        assert!(message.starts_with("--memory: a target cannot be held to 256 MiB"), "{message}");
        assert!(message.contains("hands its controllers on"), "{message}");
        assert!(
            refused(LIMITS)
                .contains("no mounted hierarchy of control groups has the controller cpu")
        );
        assert!(Group::make_from(&files, Limits::default()).unwrap().is_some(), "no limits");
    }
}
