//! CPU time of every process outside of the measurement, one by one.
//!
//! It leaves out the kernel's own threads, this process with everything below and above it (the
//! shell, the terminal that draws its output), and the processes that the caller names.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::clock::{ProcUnits, monotonic_ns};
use crate::connected::Connected;
use crate::kernel_files::KernelFiles;
use crate::process_name::process_name;
use crate::process_table::{Process, list_processes, read_process};

/// The kernel's own threads are this process (`kthreadd`) and its children.
const KERNEL: i32 = 2;

/// A unique process: its pid, and its start in clock ticks after boot.
pub type Bystander = (i32, u64);

/// The CPU time of each process at an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at_ns: u64,
    /// CPU time of its own threads, living and dead, in nanoseconds. It excludes children, because
    /// the kernel bills their time all at once when a child ends.
    pub own_ns: BTreeMap<Bystander, u64>,
    /// Those of them that a socket connects with the processes that the caller named.
    pub connected: BTreeSet<i32>,
}

/// Looks at processes repeatedly.
#[derive(Debug)]
pub struct Bystanders {
    files: KernelFiles,
    units: ProcUnits,
    /// Threads of the kernel. They are not read again.
    kernel: HashSet<i32>,
    connected: Connected,
}

impl Default for Bystanders {
    fn default() -> Self {
        Self {
            files: KernelFiles::default(),
            units: ProcUnits::of_this_host(),
            kernel: HashSet::new(),
            connected: Connected::default(),
        }
    }
}

impl Bystanders {
    /// Looks at all processes that are not below this process, above it, or below one of `ours`.
    pub fn look(&mut self, ours: &[i32]) -> Look {
        let at_ns = monotonic_ns();
        let listed = list_processes(&self.files);
        self.kernel.retain(|pid| listed.binary_search(pid).is_ok());
        let mut all: HashMap<i32, Process> = HashMap::new();
        for pid in listed {
            if self.kernel.contains(&pid) {
                continue;
            }
            let Some(process) = read_process(&self.files, self.units, pid) else { continue };
            if process.pid == KERNEL || process.parent == KERNEL {
                self.kernel.insert(pid);
            } else {
                all.insert(pid, process);
            }
        }
        let own = std::process::id() as i32;
        let above = chain(own, &all);
        let own_ns: BTreeMap<Bystander, u64> = all
            .values()
            .filter(|process| !process.zombie && !above.contains(&process.pid))
            .filter(|process| {
                let chain = chain(process.pid, &all);
                !chain.contains(&own) && !chain.iter().any(|pid| ours.contains(pid))
            })
            .map(|process| ((process.pid, process.start_ticks), process.own_ns))
            .collect();
        let connected = self.connected_with(ours, &all);
        let connected = own_ns.keys().map(|(pid, _)| *pid).filter(|pid| connected.contains(pid));
        Look { at_ns, connected: connected.collect(), own_ns }
    }

    /// All processes below those that are connected with the trees of `ours`.
    fn connected_with(&mut self, ours: &[i32], all: &HashMap<i32, Process>) -> BTreeSet<i32> {
        let below = |roots: &[i32]| -> HashSet<i32> {
            let is_below = |pid: &&i32| chain(**pid, all).iter().any(|above| roots.contains(above));
            all.keys().filter(is_below).copied().collect()
        };
        let (members, roots) = (below(ours), ours.iter().copied().collect());
        let behind: Vec<i32> =
            self.connected.look(&members, &roots, None, |_| false).roots.into_iter().collect();
        below(&behind).into_iter().collect()
    }

    /// The name of a process (`/proc/PID/comm`, proc_pid_comm(5)); `None` if it is gone.
    #[must_use]
    pub fn name(&self, pid: i32) -> Option<String> {
        process_name(&self.files, pid)
    }
}

/// A process, its parent, and so on.
fn chain(pid: i32, all: &HashMap<i32, Process>) -> Vec<i32> {
    let parent = |pid: &i32| all.get(pid).map(|process| process.parent).filter(|pid| *pid > 0);
    // At most as many steps as there are processes, in case it changed while it was read.
    std::iter::successors(Some(pid), parent).take(all.len() + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_table::tests::process;
    use std::process::Command;

    #[test]
    fn neither_this_process_nor_what_is_below_or_above_it_is_a_bystander() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let look = Bystanders::default().look(&[]);
        child.kill().unwrap();
        child.wait().unwrap();
        let seen: Vec<i32> = look.own_ns.keys().map(|(pid, _)| *pid).collect();
        // SAFETY: getppid(2) cannot fail.
        let above = unsafe { libc::getppid() };
        for pid in [std::process::id() as i32, child.id() as i32, above, KERNEL] {
            assert!(!seen.contains(&pid), "{pid} of {seen:?}");
        }
        assert!(look.at_ns > 0);
    }

    #[test]
    fn a_chain_ends_where_nobody_is_known() {
        let all = [(7, 3), (3, 1), (9, 9)]
            .map(|(pid, parent)| (pid, process(pid, parent, 0, 0)))
            .into_iter()
            .collect();
        assert_eq!(chain(7, &all), [7, 3, 1]);
        assert_eq!(chain(9, &all).len(), 4, "a circle ends");
    }
}
