//! cpufreq: the clock frequency of processors and who governs it (kernel
//! `Documentation/admin-guide/pm/cpufreq.rst`). Virtual machines rarely show it.
use std::collections::BTreeMap;

use crate::kernel_files::KernelFiles;

const CPUS: &str = "sys/devices/system/cpu";

/// Current frequency in kHz of every processor that shows one (`scaling_cur_freq`).
#[must_use]
pub fn current_khz(files: &KernelFiles) -> BTreeMap<u32, u64> {
    let numbers = files.numbered(CPUS, "cpu").into_iter();
    numbers
        .filter_map(|cpu| {
            Some((
                cpu,
                files.line(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq"))?.parse().ok()?,
            ))
        })
        .collect()
}

/// The governor of the first processor that shows one: `performance`, `powersave`, `schedutil`, ...
#[must_use]
pub fn governor(files: &KernelFiles) -> Option<String> {
    files
        .numbered(CPUS, "cpu")
        .into_iter()
        .find_map(|cpu| files.line(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")))
}

/// Whether processors may exceed their nominal frequency: `intel_pstate/no_turbo` (0 means they
/// may) or `cpufreq/boost` (1 means they may).
#[must_use]
pub fn turbo(files: &KernelFiles) -> Option<bool> {
    let flag = |name: &str| match files.line(&format!("{CPUS}/{name}"))?.as_str() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    flag("intel_pstate/no_turbo").map(|off| !off).or_else(|| flag("cpufreq/boost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, KernelFiles) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(CPUS).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let kernel = KernelFiles::below(root.path());
        (root, kernel)
    }

    #[test]
    fn frequency_governor_and_turbo_are_read_where_visible() {
        let (_root, files) = host(&[
            ("cpu0/cpufreq/scaling_cur_freq", "2300000\n"),
            ("cpu1/cpufreq/scaling_cur_freq", "3100000\n"),
            ("cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("intel_pstate/no_turbo", "0\n"),
        ]);
        assert_eq!(current_khz(&files), BTreeMap::from([(0, 2_300_000), (1, 3_100_000)]));
        assert_eq!(governor(&files).as_deref(), Some("powersave"));
        assert_eq!(turbo(&files), Some(true));
    }

    #[test]
    fn boost_is_the_other_spelling_and_nothing_is_unknown() {
        let (_root, files) = host(&[("cpufreq/boost", "0\n"), ("cpu0/topology/core_id", "0\n")]);
        assert_eq!(turbo(&files), Some(false));
        assert_eq!((current_khz(&files).len(), governor(&files)), (0, None));
        let (_root, files) = host(&[("cpufreq/boost", "perhaps\n")]);
        assert_eq!(turbo(&files), None);
    }
}
