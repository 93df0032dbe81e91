//! What a process may use of this machine, whoever limits it: affinity, cpuset, quota.
use pippin_model::host::usage::MayUse;
use pippin_model::plan::cpus::CpuSet;

use crate::cgroup::limits_of;
use crate::kernel_files::KernelFiles;
use crate::strays::allowed;

/// What these processes together may use. The quota is that of the first one's group. `None` if there
/// is no such process.
#[must_use]
pub fn read(files: &KernelFiles, pids: impl IntoIterator<Item = i32>) -> Option<MayUse> {
    let mut first = None;
    let mut cpus = CpuSet::default();
    for pid in pids {
        first.get_or_insert(pid);
        for task in files.numbered(&format!("proc/{pid}/task"), "") {
            cpus.0.extend(allowed(i32::try_from(task).ok()?).unwrap_or_default().0);
        }
    }
    let limits = limits_of(files, &first?.to_string());
    let (periods, throttled) = limits.throttled.unwrap_or_default();
    Some(MayUse { cpus, quota: limits.cpus, periods, throttled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_of_all_threads_counts() {
        let own = std::process::id() as i32;
        let found = read(&KernelFiles::default(), [own]).unwrap();
        assert_eq!(found.cpus, allowed(0).unwrap());
        assert_eq!(read(&KernelFiles::default(), []), None);
    }
}
