//! The CPU time of the processes on the host that belong to no role.
use crate::clock::ProcUnits;
use crate::kernel_files::KernelFiles;
use crate::process_table::{list_processes, read_process};

/// CPU time of all processes that are not `ours`, including children that they waited for, in
/// nanoseconds since boot; `None` if not all processes of the host are visible. A dead process is
/// still in the sum, as a child of the process that waited for it (proc_pid_stat(5), `cutime` and
/// `cstime`). If none waits for it, its time is lost.
#[must_use]
pub fn cpu_ns(files: &KernelFiles, units: ProcUnits, ours: &[i32]) -> Option<u64> {
    if !sees_the_host(files) {
        return None;
    }
    let others = list_processes(files).into_iter().filter(|pid| !ours.contains(pid));
    Some(
        others
            .filter_map(|pid| read_process(files, units, pid))
            .map(|process| process.own_ns + process.waited_ns)
            .sum(),
    )
}

/// The kernel's own threads are children of number 2, which is in the initial process namespace
/// only (pid_namespaces(7)) and is hidden together with other users' processes (proc(5),
/// `hidepid`).
fn sees_the_host(files: &KernelFiles) -> bool {
    files.text("proc/2/comm").is_some_and(|name| name.trim_end() == "kthreadd")
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: ProcUnits = ProcUnits { ticks_per_second: 100, page_bytes: 4096 };

    /// Writes a process whose pid no live process has, so that its time comes from its file.
    fn write(root: &std::path::Path, pid: i32, name: &str, times: &str) {
        let folder = root.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("comm"), format!("{name}\n")).unwrap();
        std::fs::write(
            folder.join("stat"),
            format!("{pid} ({name}) S 1 1 1 0 -1 0 0 0 0 0 {times} 20 0 1 0 100 0 10 0\n"),
        )
        .unwrap();
    }

    #[test]
    fn all_but_ours_are_added_up_with_the_children_they_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let files = KernelFiles::below(root.path());
        write(root.path(), 4_194_301, "cc", "10 20 3 4");
        write(root.path(), 4_194_302, "ours", "100 100 100 100");
        assert_eq!(
            cpu_ns(&files, UNITS, &[4_194_302]),
            None,
            "without the kernel's threads others may be hidden"
        );
        std::fs::create_dir_all(root.path().join("proc/2")).unwrap();
        std::fs::write(root.path().join("proc/2/comm"), "kthreadd\n").unwrap();
        assert_eq!(cpu_ns(&files, UNITS, &[4_194_302]), Some(370_000_000));
        std::fs::write(root.path().join("proc/2/comm"), "sh\n").unwrap();
        assert_eq!(cpu_ns(&files, UNITS, &[]), None);
    }
}
