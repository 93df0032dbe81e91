//! Threads on processors that they were not given (sched_getaffinity(2)). A bound process passes
//! its processors on to its threads and children. One that may use others has asked the kernel for
//! them itself.
use pippin_model::plan::cpus::CpuSet;
use pippin_model::trial::outside::Stray;

use crate::kernel_files::KernelFiles;
use crate::process_name::process_name;

/// The threads of these processes that may use processors outside of `given`, by process; empty if
/// `given` is empty, which means all processors.
#[must_use]
pub fn find(
    files: &KernelFiles,
    pids: impl IntoIterator<Item = i32>,
    given: &CpuSet,
) -> Vec<Stray> {
    if given.is_empty() {
        return Vec::new();
    }
    pids.into_iter().filter_map(|pid| of_process(files, pid, given)).collect()
}

fn of_process(files: &KernelFiles, pid: i32, given: &CpuSet) -> Option<Stray> {
    let tasks = files.numbered(&format!("proc/{pid}/task"), "");
    let beyond: Vec<CpuSet> = tasks
        .into_iter()
        .filter_map(|task| allowed(i32::try_from(task).ok()?))
        .map(|allowed| CpuSet(allowed.0.difference(&given.0).copied().collect()))
        .filter(|beyond| !beyond.is_empty())
        .collect();
    let threads = u32::try_from(beyond.len()).ok().filter(|threads| *threads > 0)?;
    let cpus = CpuSet(beyond.into_iter().flat_map(|beyond| beyond.0).collect()).to_string();
    let name = process_name(files, pid)?;
    Some(Stray { pid, name, threads, cpus })
}

/// The processors that a thread may use; `None` if there is no such thread any more.
pub(crate) fn allowed(thread: i32) -> Option<CpuSet> {
    // SAFETY: the set is plain data that the call fills; CPU_ISSET reads within it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(thread, size, &raw mut set) != 0 {
            return None;
        }
        let all = 0..libc::CPU_SETSIZE.unsigned_abs();
        Some(CpuSet(all.filter(|cpu| libc::CPU_ISSET(*cpu as usize, &set)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_run_beyond_is_named_and_what_may_not_is_not() {
        let own = std::process::id() as i32;
        let files = KernelFiles::default();
        let all = allowed(0).unwrap();
        assert_eq!(find(&files, [own], &all), []);
        assert_eq!(find(&files, [own], &CpuSet::default()), [], "nothing given is everything");
        // No machine of ours has this processor, so everything that this process may use is
        // outside.
        let strays = find(&files, [own], &CpuSet([1023].into()));
        assert_eq!((strays[0].pid, strays[0].cpus.clone()), (own, all.to_string()));
        assert!(strays[0].threads >= 1);
        assert_eq!(find(&files, [i32::MAX - 1], &CpuSet([0].into())), [], "no such process");
    }
}
