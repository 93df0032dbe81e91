//! The host on which a run was made.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The properties of a machine that runs must share to be compared, and others that interest
/// readers. Unknown is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The host's name.
    pub hostname: Option<String>,
    /// "model name" of /proc/cpuinfo.
    pub cpu_model: Option<String>,
    /// Logical processors that this process may use (sched_getaffinity(2)).
    pub cpus: u32,
    /// Physical cores among them.
    pub cores: Option<u32>,
    /// Whether two logical processors share a core (/sys/devices/system/cpu/smt/active).
    pub smt: Option<bool>,
    /// The cpufreq governor of the first processor.
    pub governor: Option<String>,
    /// Whether the processors may exceed their nominal frequency.
    pub turbo: Option<bool>,
    /// MemTotal in bytes.
    pub memory_bytes: Option<u64>,
    /// The source of the kernel's clocks: `tsc`, `kvm-clock`, `hpet`, ...
    pub clock_source: Option<String>,
    /// Kernel release, as `uname -r`.
    pub kernel: Option<String>,
    /// Distribution, PRETTY_NAME of /etc/os-release.
    pub distribution: Option<String>,
    /// Kind of virtual machine or container, if it can be detected.
    pub virtualisation: Option<String>,
    /// CPU limit of the control group in cores (cgroup v1 cpu.cfs_quota_us, v2 cpu.max).
    pub cgroup_cpus: Option<f64>,
    /// Memory limit of the control group in bytes.
    pub cgroup_memory_bytes: Option<u64>,
    /// Resource limits by name, soft value: `"nofile"`.
    pub limits: BTreeMap<String, Option<u64>>,
    /// Kernel settings that matter to servers, by name: `"net.core.somaxconn"`.
    pub sysctls: BTreeMap<String, String>,
    /// Load averages over 1, 5 and 15 minutes before the run.
    pub load_average: Option<[f64; 3]>,
    /// Busy share of all processors just before the run (0 to 1).
    pub busy_before: Option<f64>,
}
