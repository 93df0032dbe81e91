//! What a process holds open (`/proc/PID/fd`, proc_pid_fd(5)): sockets and pipes, by their inodes.
use std::collections::{BTreeSet, HashSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::kernel_files::KernelFiles;
use crate::process_table::list_processes;

/// The sockets and pipes that a process holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// The inodes of its sockets.
    pub sockets: HashSet<u32>,
    /// The inodes of the pipes that it can read.
    pub reads: HashSet<u64>,
    /// The inodes of the pipes that it can write.
    pub writes: HashSet<u64>,
}

impl Descriptors {
    /// Reads them; `None` if there is no such process, or it belongs to another user.
    #[must_use]
    pub fn read(files: &KernelFiles, pid: i32) -> Option<Self> {
        let mut all = Self::default();
        let read = all.add(&files.path(&format!("proc/{pid}/fd")));
        if all.is_empty() {
            // The first thread may have ended; the others have the descriptors.
            for thread in files.numbered(&format!("proc/{pid}/task"), "") {
                all.add(&files.path(&format!("proc/{pid}/task/{thread}/fd")));
                if !all.is_empty() {
                    break;
                }
            }
        }
        (read.is_some() || !all.is_empty()).then_some(all)
    }

    fn is_empty(&self) -> bool {
        self.sockets.is_empty() && self.reads.is_empty() && self.writes.is_empty()
    }

    fn add(&mut self, folder: &Path) -> Option<()> {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let Ok(target) = std::fs::read_link(entry.path()) else { continue };
            let Some(target) = target.to_str() else { continue };
            if let Some(inode) = inode(target, "socket:[") {
                self.sockets.extend(u32::try_from(inode));
            } else if let Some(inode) = inode(target, "pipe:[") {
                // The rights of the link are those of the descriptor.
                let mode = entry.path().symlink_metadata().map_or(0, |it| it.permissions().mode());
                if mode & 0o400 != 0 {
                    self.reads.insert(inode);
                }
                if mode & 0o200 != 0 {
                    self.writes.insert(inode);
                }
            }
        }
        Some(())
    }

    /// Whether one of these writes to a pipe that the other reads.
    #[must_use]
    pub fn are_piped(&self, other: &Self) -> bool {
        !self.reads.is_disjoint(&other.writes) || !self.writes.is_disjoint(&other.reads)
    }
}

fn inode(target: &str, prefix: &str) -> Option<u64> {
    target.strip_prefix(prefix)?.strip_suffix(']')?.parse().ok()
}

/// The processes that hold one of these sockets.
#[must_use]
pub fn holders(files: &KernelFiles, inodes: &BTreeSet<u32>) -> BTreeSet<i32> {
    if inodes.is_empty() {
        return BTreeSet::new();
    }
    let holds = |pid: &i32| {
        Descriptors::read(files, *pid)
            .is_some_and(|held| inodes.iter().any(|inode| held.sockets.contains(inode)))
    };
    list_processes(files).into_iter().filter(holds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn sockets_and_both_ends_of_a_pipe_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        let own = std::process::id() as i32;
        let held = Descriptors::read(&KernelFiles::default(), own).unwrap();
        let of = |fd: i32, prefix: &str| {
            let target = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
            inode(target.to_str().unwrap(), prefix).unwrap()
        };
        let socket = of(listener.as_raw_fd(), "socket:[") as u32;
        assert!(held.sockets.contains(&socket));
        let pipe = of(reader.as_raw_fd(), "pipe:[");
        assert_eq!(pipe, of(writer.as_raw_fd(), "pipe:["));
        assert!(held.reads.contains(&pipe) && held.writes.contains(&pipe));
        assert!(holders(&KernelFiles::default(), &BTreeSet::from([socket])).contains(&own));
        assert_eq!(Descriptors::read(&KernelFiles::default(), i32::MAX - 1), None);
    }

    #[test]
    fn only_opposite_ends_of_a_pipe_connect() {
        let of = |reads: &[u64], writes: &[u64]| Descriptors {
            sockets: HashSet::new(),
            reads: reads.iter().copied().collect(),
            writes: writes.iter().copied().collect(),
        };
        assert!(of(&[1], &[]).are_piped(&of(&[], &[1])));
        assert!(!of(&[], &[1]).are_piped(&of(&[], &[1])), "both write the same log");
    }
}
