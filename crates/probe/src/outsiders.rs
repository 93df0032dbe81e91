//! The CPU time of the processes on the host that belong to no role.
use std::collections::HashMap;

use crate::kernel_files::KernelFiles;
use crate::process_table::Process;

/// CPU time of these processes, which are all that have no role, including children that they waited
/// for, in nanoseconds since boot; `None` if not all processes of the host are visible. A dead
/// process is still in the sum, as a child of the process that waited for it (proc_pid_stat(5),
/// `cutime` and `cstime`). If none waits for it, its time is lost.
#[must_use]
pub fn cpu_ns(files: &KernelFiles, outside: &HashMap<i32, Process>) -> Option<u64> {
    sees_the_host(files)
        .then(|| outside.values().map(|process| process.own_ns + process.waited_ns).sum())
}

/// The kernel's own threads are children of number 2, which is in the initial process namespace
/// only (pid_namespaces(7)) and is hidden together with other users' processes (proc(5),
/// `hidepid`).
pub(crate) fn sees_the_host(files: &KernelFiles) -> bool {
    files.text("proc/2/comm").is_some_and(|name| name.trim_end() == "kthreadd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_table::tests::process;

    #[test]
    fn all_are_added_up_with_the_children_they_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let files = KernelFiles::below(root.path());
        let outside = [(7, process(7, 1, 300, 70)), (8, process(8, 7, 5, 0))].into();
        assert_eq!(
            cpu_ns(&files, &outside),
            None,
            "without the kernel's threads others may be hidden"
        );
        std::fs::create_dir_all(root.path().join("proc/2")).unwrap();
        std::fs::write(root.path().join("proc/2/comm"), "kthreadd\n").unwrap();
        assert_eq!(cpu_ns(&files, &outside), Some(375));
        std::fs::write(root.path().join("proc/2/comm"), "sh\n").unwrap();
        assert_eq!(cpu_ns(&files, &outside), None);
    }
}
