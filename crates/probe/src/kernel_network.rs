//! The kernel's own threads that do network work which was put off, and the packets of the machine.
//!
//! Others of the kernel's threads (`kworker`, `rcu_*`, `irq/*`, `kswapd`, `jbd2/*`) work for anybody, and
//! nothing tells for whom: their time stays that of other programs. Threads of io_uring (`iou-wrk-PID`,
//! `iou-sqp-PID`) are threads of their process, whose time includes them.
use pippin_model::host::kernel_network::KernelNetwork;
use std::collections::{BTreeMap, HashMap};

use crate::kernel_files::KernelFiles;
use crate::outsiders::sees_the_host;
use crate::process_name::process_name;
use crate::process_table::Process;

/// The kernel's own threads are children of this one, `kthreadd`.
const KERNEL: i32 = 2;

/// Remembers which thread of the kernel does which processor's work: a name is read once.
#[derive(Debug, Default)]
pub struct NetworkThreads {
    /// By pid and start; `None` for threads with other work.
    known: HashMap<(i32, u64), Option<u32>>,
}

impl NetworkThreads {
    /// The CPU time since boot of each processor's threads, in nanoseconds; empty if the kernel's
    /// threads cannot be seen. `outside` are all processes of no role.
    pub fn cpu_ns(
        &mut self,
        files: &KernelFiles,
        outside: &HashMap<i32, Process>,
    ) -> BTreeMap<u32, u64> {
        let mut by_cpu = BTreeMap::new();
        if !sees_the_host(files) {
            return by_cpu;
        }
        self.known.retain(|(pid, _), _| outside.contains_key(pid));
        // A program may call itself anything, but it is never a child of kthreadd.
        for thread in outside.values().filter(|process| process.parent == KERNEL) {
            let cpu = *self
                .known
                .entry((thread.pid, thread.start_ticks))
                .or_insert_with(|| processor(&process_name(files, thread.pid)?));
            if let Some(cpu) = cpu {
                *by_cpu.entry(cpu).or_default() += thread.own_ns;
            }
        }
        by_cpu
    }
}

/// The processor whose put-off network work a thread of this name does: `ksoftirqd/3` (kernel
/// `kernel/softirq.c`), or `backlog_napi/3` where the loopback's queue has a thread of its own (kernel
/// `net/core/dev.c`, since 6.10).
fn processor(name: &str) -> Option<u32> {
    let number = name.strip_prefix("ksoftirqd/").or_else(|| name.strip_prefix("backlog_napi/"))?;
    number.parse().ok()
}

/// What these threads did, from the growth of counters over a stretch: the share of each processor, cores
/// of all processes of no role (these threads included), packets received on the machine and of those the
/// ones over the loopback. `None` if the threads were not seen.
#[must_use]
pub fn of_growth(
    by_cpu: BTreeMap<u32, f64>,
    outsiders: f64,
    packets: f64,
    over_loopback: f64,
) -> Option<KernelNetwork> {
    // Without any packet, nothing says that it was the load's work.
    let from_elsewhere =
        if packets > 0.0 { (1.0 - over_loopback / packets).clamp(0.0, 1.0) } else { 1.0 };
    let mut found = KernelNetwork { by_cpu, from_elsewhere, other_programs: 0.0 };
    found.other_programs = (outsiders - found.cores()).max(0.0);
    (!found.by_cpu.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;
    use crate::process_table::tests::process;

    #[test]
    fn only_the_kernel_s_own_threads_count() {
        let (_root, files) = captured(&[
            ("proc/2/comm", "kthreadd\n"),
            ("proc/14/comm", "ksoftirqd/0\n"),
            ("proc/15/comm", "rcu_preempt\n"),
            ("proc/22/comm", "ksoftirqd/1\n"),
            ("proc/23/comm", "backlog_napi/1\n"),
            ("proc/30/comm", "kworker/1:0-events\n"),
            ("proc/812/comm", "ksoftirqd/1\n"),
        ]);
        let outside: HashMap<i32, Process> =
            [(14, 2, 70), (15, 2, 8), (22, 2, 480), (23, 2, 5), (30, 2, 90), (812, 1, 9_000)]
                .map(|(pid, parent, own_ns)| (pid, process(pid, parent, own_ns, 0)))
                .into();
        let mut threads = NetworkThreads::default();
        let wanted = BTreeMap::from([(0, 70), (1, 485)]);
        assert_eq!(threads.cpu_ns(&files, &outside), wanted, "812 is a program");
        std::fs::remove_file(files.path("proc/22/comm")).unwrap();
        assert_eq!(threads.cpu_ns(&files, &outside), wanted, "a name is read once");
    }

    #[test]
    fn hidden_threads_are_unknown() {
        let (_root, files) = captured(&[("proc/2/comm", "sh\n"), ("proc/3/comm", "ksoftirqd/0\n")]);
        let outside = [(3, process(3, 2, 70, 0))].into();
        assert!(NetworkThreads::default().cpu_ns(&files, &outside).is_empty(), "a container");
    }

    #[test]
    fn packets_say_how_much_came_from_elsewhere() {
        let share = |packets, loopback| {
            of_growth([(0, 0.1)].into(), 0.3, packets, loopback).unwrap().from_elsewhere
        };
        assert!((share(1_000.0, 900.0) - 0.1).abs() < 1e-9);
        assert!(share(1_000.0, 1_010.0).abs() < 1e-9, "read one after the other");
        assert!((share(0.0, 0.0) - 1.0).abs() < 1e-9, "no packet explains it");
        assert_eq!(of_growth(BTreeMap::new(), 0.3, 1.0, 1.0), None);
    }
}
