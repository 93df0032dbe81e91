//! `/proc/meminfo`: the host's memory.

use crate::kernel_files::KernelFiles;

/// The relevant lines of `/proc/meminfo` (proc_meminfo(5)), in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// MemTotal: usable memory.
    pub total_bytes: Option<u64>,
    /// MemAvailable: memory that programs can get without swapping (Linux 3.14 and later).
    pub available_bytes: Option<u64>,
    /// SwapTotal.
    pub swap_total_bytes: Option<u64>,
    /// SwapFree.
    pub swap_free_bytes: Option<u64>,
}

/// Reads `/proc/meminfo`; a missing line is `None`.
#[must_use]
pub fn parse_meminfo(text: &str) -> Memory {
    Memory {
        total_bytes: kilobytes(text, "MemTotal"),
        available_bytes: kilobytes(text, "MemAvailable"),
        swap_total_bytes: kilobytes(text, "SwapTotal"),
        swap_free_bytes: kilobytes(text, "SwapFree"),
    }
}

/// How many processes the kernel has killed for lack of memory since boot: `oom_kill` in
/// `/proc/vmstat` (Linux 4.13 and later).
#[must_use]
pub fn killed_for_memory(files: &KernelFiles) -> Option<u64> {
    let text = files.text("proc/vmstat")?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// The value of a line `Key:   123 kB`, as in meminfo, status and smaps_rollup, in bytes.
pub(crate) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = field(text, key)?.strip_suffix("kB")?;
    value.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The text after `Key:` on the line that begins with it.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file_is_read_in_bytes() {
        let text = "MemTotal:       24675924 kB\nMemFree:        18402212 kB\nMemAvailable:   22512204 kB\nSwapCached:            0 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n";
        let memory = parse_meminfo(text);
        assert_eq!(memory.total_bytes, Some(24_675_924 * 1024));
        assert_eq!(memory.available_bytes, Some(22_512_204 * 1024));
        assert_eq!((memory.swap_total_bytes, memory.swap_free_bytes), (Some(0), Some(0)));
    }

    #[test]
    fn a_missing_or_odd_line_is_unknown_and_a_longer_key_is_another() {
        let memory = parse_meminfo("MemTotalOther: 1 kB\nMemAvailable: many kB\nSwapTotal: 3\n");
        assert_eq!(memory, Memory::default());
    }
}
