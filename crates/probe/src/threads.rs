//! Which threads of a role do its work.
use crate::clock::ProcUnits;
use crate::kernel_files::KernelFiles;
use crate::process::parse_process_stat;

/// The most threads that are kept.
const MOST: usize = 16;

/// The shares of `all_ns`, the CPU time of these processes so far, that their busiest threads used,
/// descending. Threads that have ended are not told apart, so the shares may add up to less than 1.
/// `None` if no thread could be read, or nothing was used yet.
#[must_use]
pub fn busiest(
    files: &KernelFiles,
    units: ProcUnits,
    pids: impl IntoIterator<Item = i32>,
    all_ns: u64,
) -> Option<Vec<f64>> {
    let mut used_ns: Vec<u64> =
        pids.into_iter().flat_map(|pid| of_process(files, units, pid)).collect();
    if used_ns.is_empty() || all_ns == 0 {
        return None;
    }
    used_ns.sort_unstable_by(|a, b| b.cmp(a));
    used_ns.truncate(MOST);
    Some(used_ns.into_iter().map(|ns| (ns as f64 / all_ns as f64).min(1.0)).collect())
}

/// The CPU time of each thread of a process so far (proc_pid_task(5)).
fn of_process(files: &KernelFiles, units: ProcUnits, pid: i32) -> Vec<u64> {
    let stat = |thread| {
        let stat = parse_process_stat(&files.text(&format!("proc/{pid}/task/{thread}/stat"))?)?;
        Some(units.ticks_to_ns(stat.user_ticks + stat.system_ticks))
    };
    files.numbered(&format!("proc/{pid}/task"), "").into_iter().filter_map(stat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_has_the_largest_share() {
        let working = std::thread::spawn(|| {
            let mut number = 1_u64;
            let begin = crate::clock::thread_cpu_ns().unwrap();
            // A few ticks of the kernel.
            while crate::clock::thread_cpu_ns().unwrap() - begin < 60_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
            let own = std::process::id() as i32;
            busiest(&KernelFiles::default(), ProcUnits::of_this_host(), [own], 60_000_000)
        });
        let shares = working.join().unwrap().unwrap();
        assert!(shares[0] > 0.5 && shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
        let files = KernelFiles::default();
        assert_eq!(busiest(&files, ProcUnits::of_this_host(), [i32::MAX - 1], 1), None);
    }
}
