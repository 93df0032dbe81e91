//! Context switches of a whole role. The kernel counts them for each thread and has no readable sum
//! over children. So the last count of a thread is kept when it ends. Threads that came and went
//! between two looks are missing, so the figure is a lower bound.
use std::collections::HashMap;

use crate::process::{Switches, parse_switches};

/// Adds up the context switches of living and dead threads.
#[derive(Debug, Default)]
pub struct SwitchLedger {
    living: HashMap<(i32, u32), Switches>,
    dead: Switches,
}

impl SwitchLedger {
    /// Takes one look: (process, thread) and its counters. Returns the sum since the first look;
    /// `None` if no thread was ever seen.
    pub fn update(&mut self, seen: HashMap<(i32, u32), Switches>) -> Option<Switches> {
        for (thread, last) in &self.living {
            // A thread number used again starts from nothing.
            let goes_on = seen.get(thread).is_some_and(|now| {
                now.voluntary >= last.voluntary && now.involuntary >= last.involuntary
            });
            if !goes_on {
                self.dead = add(self.dead, *last);
            }
        }
        self.living = seen;
        let sum = self.living.values().fold(self.dead, |sum, thread| add(sum, *thread));
        (!self.living.is_empty() || sum != Switches::default()).then_some(sum)
    }
}

const fn add(a: Switches, b: Switches) -> Switches {
    Switches { voluntary: a.voluntary + b.voluntary, involuntary: a.involuntary + b.involuntary }
}

/// Reads all threads of a process.
#[must_use]
pub fn read_switches(
    files: &crate::kernel_files::KernelFiles,
    pid: i32,
) -> HashMap<(i32, u32), Switches> {
    let threads = files.numbered(&format!("proc/{pid}/task"), "").into_iter();
    threads
        .filter_map(|thread| {
            Some((
                (pid, thread),
                parse_switches(&files.text(&format!("proc/{pid}/task/{thread}/status"))?)?,
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(threads: &[(u32, u64, u64)]) -> HashMap<(i32, u32), Switches> {
        threads
            .iter()
            .map(|&(thread, voluntary, involuntary)| {
                ((1, thread), Switches { voluntary, involuntary })
            })
            .collect()
    }

    #[test]
    fn dead_threads_stay_in_the_sum() {
        let mut ledger = SwitchLedger::default();
        assert_eq!(ledger.update(seen(&[])), None);
        assert_eq!(
            ledger.update(seen(&[(1, 10, 1), (2, 5, 0)])),
            Some(Switches { voluntary: 15, involuntary: 1 })
        );
        assert_eq!(
            ledger.update(seen(&[(1, 12, 1)])),
            Some(Switches { voluntary: 17, involuntary: 1 })
        );
        assert_eq!(ledger.update(seen(&[])), Some(Switches { voluntary: 17, involuntary: 1 }));
    }

    #[test]
    fn a_thread_number_used_again_is_another_thread() {
        let mut ledger = SwitchLedger::default();
        ledger.update(seen(&[(1, 100, 4)]));
        assert_eq!(
            ledger.update(seen(&[(1, 3, 0)])),
            Some(Switches { voluntary: 103, involuntary: 4 })
        );
    }

    #[test]
    fn threads_of_this_process_are_read() {
        let own = i32::try_from(std::process::id()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let switches = read_switches(&crate::kernel_files::KernelFiles::default(), own);
        assert!(switches.values().any(|thread| thread.voluntary > 0), "{switches:?}");
    }
}
