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
                    "{}: a target cannot be held to {} here: {why}. Limits need control groups with the controllers cpu and memory: run Pippin as root, or below your own service manager (systemd-run --user --scope pippin run ...)",
                    limits.options(),
                    limits.words()
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
        for controller in &wanted {
            let chain = cgroup::chain(files, controller).ok_or_else(|| {
                format!("no mounted hierarchy of control groups has the controller {controller}")
            })?;
            if chain.unified {
                // One group has all controllers.
                let folder = make_in_version_2(&chain, &wanted)?;
                self.account = Some(folder.clone());
                self.limiting = vec![folder.clone()];
                return self.write_version_2(&folder);
            }
            let own = chain.folders.last().ok_or("it has no groups")?;
            let folder = make_below(own)?;
            self.limiting.push(folder.clone());
            self.write_version_1(&folder, controller)?;
        }
        Ok(())
    }

    fn write_version_2(&self, folder: &Path) -> Result<(), String> {
        if let Some(cpus) = self.limits.cpus {
            write(folder, "cpu.max", &format!("{} {PERIOD_US}", quota_us(cpus)))?;
        }
        if let Some(bytes) = self.limits.memory_bytes {
            write(folder, "memory.max", &bytes.to_string())?;
            // What lies in swap would be memory beyond the limit. Kernels without swap lack the file.
            _ = write(folder, "memory.swap.max", "0");
        }
        Ok(())
    }

    fn write_version_1(&self, folder: &Path, controller: &str) -> Result<(), String> {
        match (controller, self.limits.cpus, self.limits.memory_bytes) {
            ("cpu", Some(cpus), _) => {
                write(folder, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
                write(folder, "cpu.cfs_quota_us", &quota_us(cpus).to_string())
            }
            ("memory", _, Some(bytes)) => {
                write(folder, "memory.limit_in_bytes", &bytes.to_string())?;
                // As above.
                _ = write(folder, "memory.memsw.limit_in_bytes", &bytes.to_string());
                _ = write(folder, "memory.swappiness", "0");
                Ok(())
            }
            _ => Ok(()),
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

    /// That the kernel has killed processes because they needed more memory than they may have, in
    /// words; `None` if it has not.
    #[must_use]
    pub fn killed_for_memory(&self) -> Option<String> {
        let memory = Limits { cpus: None, ..self.limits };
        let killed = self.limiting.iter().find_map(|folder| cgroup::killed_for_memory(folder))?;
        (killed > 0 && !memory.is_empty()).then(|| {
            format!(
                "the kernel killed {killed} process(es) of it, which needed more than the {} that it may use (--memory)",
                memory.words()
            )
        })
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
            continue;
        }
        match make_below(above) {
            Ok(folder) => return Ok(folder),
            Err(error) => why = error,
        }
    }
    Err(why)
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
        assert_eq!(group.killed_for_memory(), None);
        fs::write(folder.join("memory.events"), "oom 3\noom_kill 2\n").unwrap();
        let words = group.killed_for_memory().unwrap();
        assert!(words.contains("killed 2 process(es)") && words.contains("256 MiB"), "{words}");
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
        assert!(message.contains("hands its controllers on") && message.contains("as root"));
        assert!(
            refused(LIMITS)
                .contains("no mounted hierarchy of control groups has the controller cpu")
        );
        assert!(Group::make_from(&files, Limits::default()).unwrap().is_some(), "no limits");
    }
}
