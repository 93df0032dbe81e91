//! What is found out of each process once and then remembered.
//!
//! A process is looked at while it begins: its libraries are not there yet, and it may become another
//! program without another number (execve(2)). So a fact holds as long as the process runs the same
//! program, and what was not found is looked for again, each time after twice as many looks.
use std::collections::HashMap;
use std::path::PathBuf;

use crate::kernel_files::KernelFiles;

/// A process: its number, and its start in clock ticks after boot.
pub type ProcessKey = (i32, u64);

/// Facts of one kind, by process.
#[derive(Debug)]
pub struct Facts<T> {
    known: HashMap<ProcessKey, Fact<T>>,
}

impl<T> Default for Facts<T> {
    fn default() -> Self {
        Self { known: HashMap::new() }
    }
}

#[derive(Debug)]
struct Fact<T> {
    /// What `/proc/PID/exe` leads to.
    program: Option<PathBuf>,
    found: T,
    looks: u64,
}

impl<T: Clone> Facts<T> {
    /// The facts of these processes, in their order. `find` is asked of a process that is new, that
    /// runs another program now, or of which nothing that `is_final` is known; the last less and less
    /// often. Processes that are not among these are forgotten.
    pub fn of(
        &mut self,
        files: &KernelFiles,
        living: impl Iterator<Item = ProcessKey>,
        is_final: impl Fn(&T) -> bool,
        mut find: impl FnMut(i32) -> T,
    ) -> Vec<T> {
        let mut before = std::mem::take(&mut self.known);
        let mut all = Vec::new();
        for process in living {
            let program = files.path(&format!("proc/{}/exe", process.0)).read_link().ok();
            let known = before.remove(&process).filter(|fact| fact.program == program);
            let looks = known.as_ref().map_or(1, |fact| fact.looks + 1);
            let known = known.filter(|fact| is_final(&fact.found) || !looks.is_power_of_two());
            let found = known.map_or_else(|| find(process.0), |fact| fact.found);
            all.push(found.clone());
            self.known.insert(process, Fact { program, found, looks });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_files::captured;

    /// At which of `looks` looks a process is asked, if the answer is found at look `there_at`.
    fn asked_at(looks: u64, there_at: u64) -> Vec<u64> {
        let (_root, files) = captured(&[]);
        let mut facts = Facts::default();
        let mut asked = Vec::new();
        for look in 1..=looks {
            let found = facts.of(&files, [(5, 1)].into_iter(), Option::is_some, |_| {
                asked.push(look);
                (look >= there_at).then_some(())
            });
            assert_eq!(found.len(), 1);
        }
        asked
    }

    #[test]
    fn what_is_found_is_looked_for_once_and_what_is_not_again_and_again() {
        assert_eq!(asked_at(100, 1), [1]);
        assert_eq!(asked_at(100, 3), [1, 2, 4]);
        assert_eq!(asked_at(100, 1_000), [1, 2, 4, 8, 16, 32, 64]);
    }

    #[test]
    fn another_process_or_program_is_looked_at_anew() {
        let (root, files) = captured(&[("proc/5/comm", "sh\n")]);
        let becomes = |program: &str| {
            let link = root.path().join("proc/5/exe");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(program, link).unwrap();
        };
        let mut facts = Facts::default();
        let mut look = |start, answer: u32| {
            facts.of(&files, [(5, start)].into_iter(), |_| true, |_| answer)[0]
        };
        becomes("/bin/sh");
        assert_eq!([look(1, 1), look(1, 2)], [1, 1]);
        becomes("/usr/bin/node");
        assert_eq!([look(1, 3), look(1, 4)], [3, 3]);
        assert_eq!(look(2, 5), 5);
    }
}
