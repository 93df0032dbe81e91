//! Only the CPU time of several process trees: what targets use without any requests, and which part
//! of it their compilers use.
use pippin_model::host::usage::CompilerSample;
use std::collections::{BTreeSet, HashMap};

use crate::clock::ProcUnits;
use crate::compilers::Compilers;
use crate::facts::Living;
use crate::kernel_files::KernelFiles;
use crate::process_table::{ProcessTable, list_processes, read_process};
use crate::sample::RoleRoot;
use crate::tree::TreeLedger;

/// The clocks of trees, kept from one look to the next.
#[derive(Debug)]
pub struct TreeClocks {
    files: KernelFiles,
    units: ProcUnits,
    table: ProcessTable,
    ledgers: HashMap<i32, TreeLedger>,
    /// The living processes of each owner at the last look.
    living: Vec<Vec<Living>>,
    compilers: Vec<Compilers>,
}

impl Default for TreeClocks {
    fn default() -> Self {
        Self {
            files: KernelFiles::default(),
            units: ProcUnits::of_this_host(),
            table: ProcessTable::default(),
            ledgers: HashMap::new(),
            living: Vec::new(),
            compilers: Vec::new(),
        }
    }
}

impl TreeClocks {
    /// CPU time in nanoseconds of these trees, several for each owner, since the first look at
    /// them; `None` if an owner has no tree, or one of them was never seen.
    pub fn look(&mut self, owners: &[Vec<RoleRoot>]) -> Vec<Option<u64>> {
        let Self { files, units, table, ledgers, living, .. } = self;
        let pid_of = |root: &RoleRoot| match *root {
            RoleRoot::Tree(pid) => Some((pid, true)),
            RoleRoot::Below(pid) => Some((pid, false)),
            RoleRoot::Process(_) => None,
        };
        let roots: Vec<(i32, bool)> = owners.iter().flatten().filter_map(pid_of).collect();
        let pids: Vec<i32> = roots.iter().map(|(pid, _)| *pid).collect();
        let reading = table.look((&pids, &BTreeSet::new()), &list_processes(files), |pid| {
            read_process(files, *units, pid)
        });
        let mut used: HashMap<i32, Option<u64>> = HashMap::new();
        let mut members: HashMap<i32, Vec<Living>> = HashMap::new();
        let now_ns = crate::monotonic_ns();
        for (&(pid, root_counts), tree) in roots.iter().zip(&reading.trees) {
            let ledger = ledgers.entry(pid).or_default();
            let cpu_ns = ledger.update(pid, root_counts, tree, &reading.unread);
            used.insert(pid, ledger.began().then_some(cpu_ns));
            let lives = tree.values().filter(|process| !process.zombie);
            members.insert(pid, Living::all(lives, (files, *units), now_ns));
        }
        let lives = |owner: &Vec<RoleRoot>| {
            let trees = owner.iter().filter_map(pid_of);
            trees.filter_map(|(pid, _)| members.get(&pid)).flatten().cloned().collect()
        };
        *living = owners.iter().map(lives).collect();
        let of_owner = |owner: &Vec<RoleRoot>| {
            let trees: Vec<(i32, bool)> = owner.iter().filter_map(pid_of).collect();
            let sum = trees.iter().map(|(pid, _)| used.get(pid).copied().flatten()).sum();
            if trees.is_empty() { None } else { sum }
        };
        owners.iter().map(of_owner).collect()
    }

    /// What the compilers of the owners have used so far, in their order, of the processes that the
    /// last look saw; `None` for one without a compiler that can be told.
    pub fn compilers(&mut self) -> Vec<Option<CompilerSample>> {
        self.compilers.resize_with(self.living.len(), Compilers::default);
        let (files, now_ns) = (&self.files, crate::monotonic_ns());
        self.compilers
            .iter_mut()
            .zip(&self.living)
            .map(|(compilers, living)| compilers.look(files, living, now_ns))
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
        let below = |pid: i32| vec![RoleRoot::Below(pid)];
        let owners =
            [below(busy.id() as i32), below(idle.id() as i32), below(i32::MAX), Vec::new()];
        let mut clocks = TreeClocks::default();
        let mut seen = vec![None; 4];
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            seen = clocks.look(&owners);
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
        assert_eq!((seen[2], seen[3]), (None, None));
    }

    #[test]
    fn a_compiler_s_part_is_told_from_the_rest() {
        let name = "printf 'C2 CompilerThre' > /proc/self/comm; exec 3<>/proc/self/comm; ";
        // A shell that gives itself the name: its own thread is the compiler.
        let program = format!("({name} while :; do :; done) & wait");
        let mut shell = Command::new("bash")
            .args(["-c", &program.replace("/proc/self/comm", "/proc/$BASHPID/comm")])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let owners = [vec![RoleRoot::Below(shell.id() as i32)], vec![RoleRoot::Below(i32::MAX)]];
        let mut clocks = TreeClocks::default();
        let mut seen = (vec![], vec![]);
        for _ in 0..200 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            seen = (clocks.look(&owners), clocks.compilers());
            if seen.1[0].is_some_and(|compiler| compiler.cpu_ns > 50_000_000) {
                break;
            }
        }
        let path = format!("/proc/{0}/task/{0}/children", shell.id());
        for pid in std::fs::read_to_string(path).unwrap_or_default().split_whitespace() {
            let _ = Command::new("kill").args(["-9", pid]).status();
        }
        let _ = shell.kill();
        let _ = shell.wait();
        let compiler = seen.1[0].unwrap();
        assert_eq!(compiler.compiler.runtime(), "the JVM");
        assert!(compiler.cpu_ns > 50_000_000, "{seen:?}");
        assert_eq!(seen.1[1], None);
    }
}
