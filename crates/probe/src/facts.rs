//! What is found out of each process once and then remembered.
//!
//! A process is looked at while it begins: its libraries are not there yet, and it may become another
//! program without another number (execve(2)). So a fact holds as long as the process runs the same
//! program, and what was not found is looked for again, each time after twice as many looks.
use std::collections::HashMap;
use std::path::PathBuf;

use crate::clock::ProcUnits;
use crate::kernel_files::KernelFiles;
use crate::process_table::Process;

/// A living process, as one look sees it.
#[derive(Debug, Clone)]
pub struct Living {
    /// Its number.
    pub pid: i32,
    /// Field `starttime` of `/proc/PID/stat`: clock ticks from boot to its begin.
    pub start_ticks: u64,
    /// Nanoseconds since then.
    pub age_ns: u64,
    /// What `/proc/PID/exe` leads to. It is read once for all facts.
    program: Option<PathBuf>,
}

impl Living {
    /// This process with the program that it runs now.
    #[must_use]
    pub fn seen(files: &KernelFiles, pid: i32, start_ticks: u64, age_ns: u64) -> Self {
        let program = files.path(&format!("proc/{pid}/exe")).read_link().ok();
        Self { pid, start_ticks, age_ns, program }
    }

    /// These processes at an instant (CLOCK_MONOTONIC).
    pub(crate) fn all<'a>(
        processes: impl Iterator<Item = &'a Process>,
        (files, units): (&KernelFiles, ProcUnits),
        now_ns: u64,
    ) -> Vec<Self> {
        let of = |process: &Process| {
            let age_ns = now_ns.saturating_sub(units.ticks_to_ns(process.start_ticks));
            Self::seen(files, process.pid, process.start_ticks, age_ns)
        };
        processes.map(of).collect()
    }
}

/// Facts of one kind, by process.
#[derive(Debug)]
pub struct Facts<T> {
    /// By number and start.
    known: HashMap<(i32, u64), Fact<T>>,
}

impl<T> Default for Facts<T> {
    fn default() -> Self {
        Self { known: HashMap::new() }
    }
}

#[derive(Debug)]
struct Fact<T> {
    program: Option<PathBuf>,
    found: T,
    looks: u64,
}

impl<T: Clone> Facts<T> {
    /// The facts of these processes, in their order. `find` is asked of a process that is new, that
    /// runs another program now, or of which nothing that `is_final` is known; the last less and less
    /// often. Processes that are not among these are forgotten.
    pub fn look_up<'a>(
        &mut self,
        living: impl Iterator<Item = &'a Living>,
        is_final: impl Fn(&T) -> bool,
        mut find: impl FnMut(i32) -> T,
    ) -> Vec<T> {
        let mut before = std::mem::take(&mut self.known);
        let mut all = Vec::new();
        for Living { pid, start_ticks, program, .. } in living {
            let key = (*pid, *start_ticks);
            let known = before.remove(&key).filter(|fact| fact.program == *program);
            let looks = known.as_ref().map_or(1, |fact| fact.looks + 1);
            let known = known.filter(|fact| is_final(&fact.found) || !looks.is_power_of_two());
            let found = known.map_or_else(|| find(*pid), |fact| fact.found);
            all.push(found.clone());
            self.known.insert(key, Fact { program: program.clone(), found, looks });
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
            let found =
                facts.look_up([Living::seen(&files, 5, 1, 0)].iter(), Option::is_some, |_| {
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
            facts.look_up([Living::seen(&files, 5, start, 0)].iter(), |_| true, |_| answer)[0]
        };
        becomes("/bin/sh");
        assert_eq!([look(1, 1), look(1, 2)], [1, 1]);
        becomes("/usr/bin/node");
        assert_eq!([look(1, 3), look(1, 4)], [3, 3]);
        assert_eq!(look(2, 5), 5);
    }
}
