//! Kernel settings that matter to servers and load generators (kernel
//! `Documentation/admin-guide/sysctl/`, `Documentation/networking/ip-sysctl.rst`).
use std::collections::BTreeMap;

use crate::kernel_files::KernelFiles;

/// The settings that belong to a host's fingerprint.
pub const NAMES: &[&str] = &[
    "fs.file-max",
    "fs.nr_open",
    "kernel.io_uring_disabled",
    "kernel.numa_balancing",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.threads-max",
    "net.core.busy_poll",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
    "vm.max_map_count",
    "vm.overcommit_memory",
    "vm.swappiness",
];

/// The file of a setting below /proc/sys.
#[must_use]
pub fn file_of(name: &str) -> String {
    format!("proc/sys/{}", name.replace('.', "/"))
}

/// All of [`NAMES`] that this kernel has, with blanks between several values made single.
#[must_use]
pub fn read_sysctls(files: &KernelFiles) -> BTreeMap<String, String> {
    let value = |name: &str| {
        Some(files.line(&file_of(name))?.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
    };
    NAMES.iter().filter_map(|name| Some(((*name).to_string(), value(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_by_name_and_absent_ones_left_out() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/sys/net/ipv4");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("ip_local_port_range"), "32768\t60999\n").unwrap();
        let settings = read_sysctls(&KernelFiles::below(root.path()));
        assert_eq!(
            settings,
            BTreeMap::from([("net.ipv4.ip_local_port_range".into(), "32768 60999".into())])
        );
    }

    #[test]
    fn every_linux_has_the_commonest() {
        assert!(read_sysctls(&KernelFiles::default()).contains_key("fs.file-max"));
    }
}
