//! `/proc/stat`: how each processor spent its time.
use std::collections::BTreeMap;

use crate::clock::ProcUnits;

/// One processor's line of `/proc/stat`, in clock ticks since boot (proc_stat(5)). A column an old
/// kernel lacks is 0 there, as the kernel itself had it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User mode, guests included.
    pub user: u64,
    /// User mode with low priority.
    pub nice: u64,
    /// Kernel mode.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do but wait for I/O.
    pub iowait: u64,
    /// Hardware interrupts.
    pub irq: u64,
    /// Software interrupts.
    pub softirq: u64,
    /// The hypervisor ran another machine.
    pub steal: u64,
}

impl CpuTimes {
    /// Busy time in nanoseconds since boot: the elapsed time without idle, iowait and steal. The
    /// kernel counts idle time exactly. It counts busy time only at the timer's ticks, which miss a
    /// server that works in short bursts. So the time that was not idle is the better figure.
    /// `elapsed_ns` is CLOCK_MONOTONIC. If that is shifted (time_namespaces(7)), the sum of the
    /// busy columns is used instead.
    #[must_use]
    pub fn busy_ns(&self, elapsed_ns: u64, units: ProcUnits) -> u64 {
        let not_busy = units.ticks_to_ns(self.idle + self.iowait + self.steal);
        let ticks = self.user + self.nice + self.system + self.irq + self.softirq;
        elapsed_ns.checked_sub(not_busy).unwrap_or_else(|| units.ticks_to_ns(ticks))
    }
}

/// Reads the lines `cpuN` of `/proc/stat`, by processor number. `None` if a line is not as
/// proc_stat(5) says or there is none.
#[must_use]
pub fn parse_stat(text: &str) -> Option<BTreeMap<u32, CpuTimes>> {
    let mut processors = BTreeMap::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else { continue };
        // The line `cpu` without a number is the sum.
        if rest.starts_with(' ') {
            continue;
        }
        let mut fields = rest.split_ascii_whitespace();
        let number = fields.next()?.parse().ok()?;
        let columns: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        let column = |index: usize| columns.get(index).copied().unwrap_or(0);
        if columns.len() < 4 {
            return None;
        }
        let [user, nice, system, idle, iowait, irq, softirq, steal] = std::array::from_fn(column);
        processors
            .insert(number, CpuTimes { user, nice, system, idle, iowait, irq, softirq, steal });
    }
    (!processors.is_empty()).then_some(processors)
}

/// Time in interrupts over all processors since boot, in nanoseconds, if the kernel counts it
/// separately from processes.
///
/// Without CONFIG_IRQ_TIME_ACCOUNTING, the kernel bills interrupts to the process that they
/// interrupt, so they are already in the processes' CPU time (`None` here). The column `irq` then
/// stays 0, because the timer's tick never finds another hardware interrupt under way. With it, the
/// column grows on every machine and no process is billed.
#[must_use]
pub fn interrupt_ns(processors: &BTreeMap<u32, CpuTimes>, units: ProcUnits) -> Option<u64> {
    let hard: u64 = processors.values().map(|times| times.irq).sum();
    let soft: u64 = processors.values().map(|times| times.softirq).sum();
    (hard > 0).then(|| units.ticks_to_ns(hard + soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: ProcUnits = ProcUnits { ticks_per_second: 100, page_bytes: 4096 };
    /// Captured on a virtual machine with two processors.
    const CAPTURED: &str = "cpu  57052 34783 18513 160597 1557 0 2086 106 0 0\ncpu0 26501 17956 8425 83380 142 0 879 48 0 0\ncpu1 30550 16827 10088 77216 1415 0 1207 57 0 0\nintr 1761083 0 0\nctxt 8088791\nbtime 1\n";

    #[test]
    fn a_captured_file_is_read_by_processor() {
        let processors = parse_stat(CAPTURED).unwrap();
        assert_eq!(processors.keys().copied().collect::<Vec<_>>(), [0, 1]);
        let expected = CpuTimes {
            user: 30550,
            nice: 16827,
            system: 10088,
            idle: 77216,
            iowait: 1415,
            irq: 0,
            softirq: 1207,
            steal: 57,
        };
        assert_eq!(processors[&1], expected);
    }

    #[test]
    fn what_is_no_stat_is_unknown() {
        assert_eq!(parse_stat(""), None);
        assert_eq!(parse_stat("cpu  1 2 3 4\n"), None);
        assert_eq!(parse_stat("cpu0 1 2 x 4\n"), None);
        assert_eq!(parse_stat("cpu0 1 2\n"), None);
    }

    #[test]
    fn busy_is_what_is_neither_idle_nor_iowait_nor_stolen() {
        let times = CpuTimes {
            user: 100,
            nice: 1,
            system: 20,
            idle: 500,
            iowait: 30,
            irq: 2,
            softirq: 3,
            steal: 70,
        };
        assert_eq!(times.busy_ns(10_000_000_000, UNITS), 4_000_000_000);
        // A shifted clock that shows less than the idle time.
        assert_eq!(times.busy_ns(1_000_000_000, UNITS), 1_260_000_000);
    }

    #[test]
    fn interrupts_count_apart_only_where_the_kernel_keeps_them_apart() {
        let with = |irq| {
            BTreeMap::from([
                (0, CpuTimes { irq, softirq: 40, ..CpuTimes::default() }),
                (1, CpuTimes { softirq: 2, ..CpuTimes::default() }),
            ])
        };
        assert_eq!(interrupt_ns(&with(0), UNITS), None);
        assert_eq!(interrupt_ns(&with(3), UNITS), Some(450_000_000));
    }
}
