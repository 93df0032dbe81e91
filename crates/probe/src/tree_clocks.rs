//! CPU time of several process trees and nothing else: what targets burn that nobody asks.
use std::collections::HashMap;

use crate::clock::ProcUnits;
use crate::kernel_files::KernelFiles;
use crate::process_table::{ProcessTable, list_processes, read_process};
use crate::tree::TreeLedger;

/// The clocks of trees, kept from one look to the next.
#[derive(Debug)]
pub struct TreeClocks {
    files: KernelFiles,
    units: ProcUnits,
    table: ProcessTable,
    ledgers: HashMap<i32, TreeLedger>,
}

impl Default for TreeClocks {
    fn default() -> Self {
        Self {
            files: KernelFiles::default(),
            units: ProcUnits::of_this_host(),
            table: ProcessTable::default(),
            ledgers: HashMap::new(),
        }
    }
}

impl TreeClocks {
    /// CPU time in nanoseconds of all that runs or ran below each of these supervisors, without the
    /// supervisors themselves, since the first look at it; `None` if a supervisor was never seen.
    pub fn look(&mut self, supervisors: &[i32]) -> Vec<Option<u64>> {
        let Self { files, units, table, ledgers } = self;
        let reading =
            table.look(supervisors, &list_processes(files), |pid| read_process(files, *units, pid));
        supervisors
            .iter()
            .zip(&reading.trees)
            .map(|(&pid, tree)| {
                let ledger = ledgers.entry(pid).or_default();
                let cpu_ns = ledger.update(pid, false, tree, &reading.unread);
                ledger.began().then_some(cpu_ns)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_that_works_is_told_from_one_that_sleeps() {
        let mut busy = Command::new("sh")
            .args(["-c", "(while :; do :; done) & wait"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut idle = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let pids = [busy.id() as i32, idle.id() as i32, i32::MAX];
        let mut clocks = TreeClocks::default();
        let mut seen = vec![None; 3];
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            seen = clocks.look(&pids);
            if seen[0].is_some_and(|ns| ns > 50_000_000) {
                break;
            }
        }
        for child in [&mut busy, &mut idle] {
            let children =
                std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
            for pid in children.unwrap_or_default().split_whitespace() {
                let _ = Command::new("kill").args(["-9", pid]).status();
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        assert!(seen[0].unwrap() > 50_000_000, "{seen:?}");
        assert!(seen[1].unwrap() < seen[0].unwrap() / 2, "{seen:?}");
        assert_eq!(seen[2], None);
    }
}
