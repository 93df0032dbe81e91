//! How busy the host is over a period of time.
use std::time::Duration;

use crate::clock::{ProcUnits, monotonic_ns};
use crate::kernel_files::KernelFiles;
use crate::stat::parse_stat;

/// How long the host is watched: 50 clock ticks, which gives the share to within about 2 %.
pub const WATCHED: Duration = Duration::from_millis(500);

/// Shares (0 to 1) of the time of all processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostLoad {
    /// Processors were busy.
    pub busy: f64,
    /// The hypervisor ran another machine.
    pub steal: f64,
}

/// Sleeps for a while and measures the host's load over that time. `None` if `/proc/stat` cannot be
/// read.
#[must_use]
pub fn watch(files: &KernelFiles, watched: Duration) -> Option<HostLoad> {
    let watch = Watch::begin(files)?;
    std::thread::sleep(watched);
    watch.end(files)
}

/// A measurement in progress.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    at_ns: u64,
    processors: usize,
    busy_ns: u64,
    steal_ns: u64,
}

impl Watch {
    /// `None` if `/proc/stat` cannot be read.
    #[must_use]
    pub fn begin(files: &KernelFiles) -> Option<Self> {
        let units = ProcUnits::of_this_host();
        let processors = parse_stat(&files.text("proc/stat")?)?;
        let at_ns = monotonic_ns();
        let busy_ns = processors.values().map(|times| times.busy_ns(at_ns, units)).sum();
        let steal_ns = processors.values().map(|times| units.ticks_to_ns(times.steal)).sum();
        Some(Self { at_ns, processors: processors.len(), busy_ns, steal_ns })
    }

    /// What the processors did since the beginning; `None` if `/proc/stat` cannot be read, or no
    /// time has passed.
    #[must_use]
    pub fn end(self, files: &KernelFiles) -> Option<HostLoad> {
        let after = Self::begin(files)?;
        let available_ns = (after.at_ns - self.at_ns) as f64 * after.processors as f64;
        // The hypervisor may report stolen time late. That time was counted as busy before, so the
        // sum may fall although nothing ran.
        let share =
            |before: u64, after: u64| (after.saturating_sub(before) as f64 / available_ns).min(1.0);
        (available_ns > 0.0).then(|| HostLoad {
            busy: share(self.busy_ns, after.busy_ns),
            steal: share(self.steal_ns, after.steal_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_stands_still_was_busy_all_the_time() {
        // Neither idle nor stolen time grows in a captured file, so all the time that passed counts
        // as busy.
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(
            root.path().join("proc/stat"),
            "cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n",
        )
        .unwrap();
        let load = watch(&KernelFiles::below(root.path()), Duration::from_millis(20)).unwrap();
        assert_eq!(load, HostLoad { busy: 1.0, steal: 0.0 });
        assert_eq!(watch(&KernelFiles::below(root.path().join("nowhere")), Duration::ZERO), None);
    }
}
