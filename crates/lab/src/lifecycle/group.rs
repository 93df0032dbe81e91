//! A control group for one target, where the host allows it. The kernel then adds up the CPU time
//! of all its processes, also of children that nobody waits for.
//!
//! It is a group of version 2 below this process's own (kernel `Documentation/admin-guide/
//! cgroup-v2.rst`). It limits nothing: no controller is enabled, because that would have to be done
//! for all processes of the group above. Without version 2, or without the right to make a group
//! there, a target has no group. Its CPU time is then that of the processes that can be seen.
use pippin_probe::cgroup;
use pippin_probe::kernel_files::KernelFiles;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "pippin-";

/// A group. It is removed when this is dropped; its processes must have ended by then.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// Makes one; `None` where the host does not allow it.
    #[must_use]
    pub fn make() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let above = cgroup::own_unified(&KernelFiles::default())?;
        remove_forgotten(&above);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = above.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        Some(Self { folder })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        remove(&self.folder);
    }
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
}
