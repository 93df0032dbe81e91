//! The host of a run.
use pippin_model::host::fingerprint::Fingerprint;

use crate::cgroup;
use crate::cpuinfo::parse_model;
use crate::frequency::{governor, turbo};
use crate::host_load::{WATCHED, watch};
use crate::kernel_files::KernelFiles;
use crate::limits::own_limits;
use crate::memory::parse_meminfo;
use crate::stat::parse_stat;
use crate::sysctl::read_sysctls;
use crate::topology::{allowed_cpus, topology};
use crate::virtualisation::{hypervisor_of_this_host, virtualisation};

/// Takes the fingerprint of this host. Sleeps for half a second and measures how busy the host is
/// before the run.
#[must_use]
pub fn fingerprint() -> Fingerprint {
    let files = KernelFiles::default();
    let mut print = of_files(&files, hypervisor_of_this_host());
    let allowed = allowed_cpus();
    if let Some(allowed) = &allowed {
        print.cpus = u32::try_from(allowed.len()).unwrap_or(u32::MAX);
        print.cores = topology(&files).cores(allowed);
    }
    print.limits =
        own_limits().into_iter().map(|(name, limit)| (name.to_string(), limit.soft)).collect();
    print.busy_before = watch(&files, WATCHED).map(|load| load.busy);
    print
}

/// The part read from files.
fn of_files(files: &KernelFiles, hypervisor: Option<&str>) -> Fingerprint {
    let groups = cgroup::limits(files);
    let processors = files.text("proc/stat").and_then(|text| parse_stat(&text));
    Fingerprint {
        hostname: files.line("proc/sys/kernel/hostname"),
        cpu_model: files.text("proc/cpuinfo").and_then(|text| parse_model(&text)),
        cpus: processors.and_then(|processors| u32::try_from(processors.len()).ok()).unwrap_or(1),
        smt: topology(files).smt,
        governor: governor(files),
        turbo: turbo(files),
        memory_bytes: files.text("proc/meminfo").and_then(|text| parse_meminfo(&text).total_bytes),
        clock_source: files.line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        kernel: files.line("proc/sys/kernel/osrelease"),
        distribution: files.text("etc/os-release").and_then(|text| parse_pretty_name(&text)),
        virtualisation: virtualisation(files, hypervisor),
        cgroup_cpus: groups.cpus,
        cgroup_memory_bytes: groups.memory_bytes,
        sysctls: read_sysctls(files),
        load_average: files.text("proc/loadavg").and_then(|text| parse_load_average(&text)),
        ..Fingerprint::default()
    }
}

/// PRETTY_NAME of os-release(5), whose values may be quoted as in a shell.
fn parse_pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_string())
}

/// The three averages of `/proc/loadavg` (proc_loadavg(5)).
fn parse_load_average(text: &str) -> Option<[f64; 3]> {
    let mut words = text.split_ascii_whitespace().map(str::parse);
    Some([words.next()?.ok()?, words.next()?.ok()?, words.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_host_is_read() {
        let root = tempfile::tempdir().unwrap();
        let captured = [
            ("proc/sys/kernel/hostname", "lab\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-32-amd64\n"),
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU\nflags\t\t: fpu\n"),
            ("proc/stat", "cpu  1 1 1 1\ncpu0 1 1 1 1\n"),
            ("proc/meminfo", "MemTotal: 1024 kB\n"),
            ("proc/loadavg", "0.20 1.18 2.12 1/80 999\n"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ];
        for (name, text) in captured {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let print = of_files(&KernelFiles::below(root.path()), None);
        assert_eq!(
            (print.hostname.as_deref(), print.kernel.as_deref(), print.cpu_model.as_deref()),
            (Some("lab"), Some("6.1.0-32-amd64"), Some("Test CPU"))
        );
        assert_eq!(print.distribution.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(
            (print.cpus, print.memory_bytes, print.load_average),
            (1, Some(1 << 20), Some([0.20, 1.18, 2.12]))
        );
        assert_eq!(
            (print.clock_source.as_deref(), print.virtualisation.as_deref()),
            (Some("tsc"), Some("none"))
        );
        assert_eq!(
            (print.governor, print.turbo, print.cgroup_cpus, print.cgroup_memory_bytes, print.smt),
            (None, None, None, None, None)
        );
        assert!(print.sysctls.is_empty());
    }

    #[test]
    fn this_host_has_one() {
        let print = fingerprint();
        assert!(
            print.cpus >= 1
                && print.memory_bytes.is_some_and(|bytes| bytes > 1 << 20)
                && print.kernel.is_some(),
            "{print:?}"
        );
        assert!(print.busy_before.is_some_and(|busy| (0.0..=1.0).contains(&busy)), "{print:?}");
        assert!(print.limits.contains_key("nofile"));
    }
}
