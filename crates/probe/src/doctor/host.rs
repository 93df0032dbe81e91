//! The input of the checks.
use pippin_model::host::fingerprint::Fingerprint;
use pippin_model::plan::cpus::CpuSet;

use crate::cgroup;
use crate::cpuinfo::parse_hypervisor;
use crate::fingerprint::fingerprint;
use crate::host_load::{HostLoad, WATCHED, watch};
use crate::kernel_files::KernelFiles;
use crate::limits::{Limit, own_limits};
use crate::memory::{Memory, parse_meminfo};
use crate::netstat::backlog_drops;
use crate::sockets::{TcpSockets, parse_sockstat};
use crate::topology::{Topology, allowed_cpus, topology};

/// A host as it is now. Unknown is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Host {
    /// The facts that do not change from minute to minute.
    pub fingerprint: Fingerprint,
    /// Processors that this process may use.
    pub cpus: Option<CpuSet>,
    /// Which of them share a core or a cache.
    pub topology: Topology,
    /// Open files of one process.
    pub open_files: Option<Limit>,
    /// Memory and swap.
    pub memory: Memory,
    /// TCP sockets.
    pub tcp: TcpSockets,
    /// How busy it is while nothing is measured.
    pub load: Option<HostLoad>,
    /// Packets dropped at full input queues since boot.
    pub backlog_drops: Option<u64>,
    /// Whether io_uring can be used; `Err` holds why not.
    pub io_uring: Option<Result<(), String>>,
    /// Whether the processor's counter of instructions can be read; `Err` holds why not.
    pub instructions: Option<Result<(), String>>,
    /// Whether the program `valgrind` is in the search path.
    pub valgrind: Option<bool>,
    /// Whether a control group of version 2 can be made; `Err` holds why not.
    pub control_group: Option<Result<(), String>>,
    /// Clock sources that the kernel could use instead.
    pub clock_sources: Vec<String>,
    /// Whether it is a virtual machine, by the processor's flag.
    pub virtual_machine: Option<bool>,
    /// Size of a page in bytes.
    pub page_bytes: Option<u64>,
}

impl Host {
    /// A kernel setting's text.
    #[must_use]
    pub fn sysctl(&self, name: &str) -> Option<&str> {
        self.fingerprint.sysctls.get(name).map(String::as_str)
    }

    /// The numbers in a kernel setting.
    #[must_use]
    pub fn sysctl_numbers(&self, name: &str) -> Option<Vec<u64>> {
        self.sysctl(name)?.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
    }

    /// The first number in a kernel setting.
    #[must_use]
    pub fn sysctl_number(&self, name: &str) -> Option<u64> {
        self.sysctl_numbers(name)?.first().copied()
    }
}

/// Reads the state of this host. Takes about a second, in which it sleeps and measures how busy the
/// host is.
#[must_use]
pub fn observe() -> Host {
    let files = KernelFiles::default();
    let text = |name| files.text(name).unwrap_or_default();
    let sources = text("sys/devices/system/clocksource/clocksource0/available_clocksource");
    Host {
        fingerprint: fingerprint(),
        cpus: allowed_cpus(),
        topology: topology(&files),
        open_files: own_limits().get("nofile").copied(),
        memory: parse_meminfo(&text("proc/meminfo")),
        tcp: parse_sockstat(&text("proc/net/sockstat")),
        load: watch(&files, WATCHED),
        backlog_drops: backlog_drops(&text("proc/net/softnet_stat")),
        io_uring: Some(try_io_uring()),
        instructions: Some(try_counter()),
        valgrind: std::env::var_os("PATH").map(|path| {
            std::env::split_paths(&path).any(|folder| folder.join("valgrind").is_file())
        }),
        control_group: Some(cgroup::try_to_make(&files)),
        clock_sources: sources.split_ascii_whitespace().map(String::from).collect(),
        virtual_machine: parse_hypervisor(&text("proc/cpuinfo")),
        page_bytes: Some(crate::clock::ProcUnits::of_this_host().page_bytes),
    }
}

/// Makes the smallest possible ring and closes it. Sysctls, seccomp filters of container engines
/// and old kernels each refuse in their own way (io_uring_setup(2)).
fn try_io_uring() -> Result<(), String> {
    // struct io_uring_params has 120 bytes; all zero asks for nothing special.
    let mut parameters = [0_u64; 15];
    // SAFETY: the kernel reads and writes the 120 bytes of `parameters` only; the descriptor that
    // it returns is closed here and used nowhere else.
    unsafe {
        let ring = libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr());
        if ring < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        libc::close(i32::try_from(ring).unwrap_or(-1));
    }
    Ok(())
}

/// Opens the counter of instructions in user space of this thread, and closes it. Virtual machines have
/// none as a rule, and `kernel.perf_event_paranoid` may forbid it (perf_event_open(2)).
fn try_counter() -> Result<(), String> {
    /// PERF_ATTR_SIZE_VER0, in bytes; PERF_COUNT_HW_INSTRUCTIONS; the bits `disabled`, `exclude_kernel`
    /// and `exclude_hv`.
    const SIZE: u64 = 64;
    const INSTRUCTIONS: u64 = 1;
    const FLAGS: u64 = 1 | 1 << 5 | 1 << 6;
    // struct perf_event_attr begins with `type` (0: hardware) and `size`, each of 32 bits, and `config`;
    // the flags are its sixth word.
    let first = if cfg!(target_endian = "little") { SIZE << 32 } else { SIZE };
    let attributes: [u64; 8] = [first, INSTRUCTIONS, 0, 0, 0, FLAGS, 0, 0];
    let (this_thread, any_processor, no_group, no_flags) = (0, -1, -1, 0_u64);
    // SAFETY: the kernel reads the 64 bytes of `attributes` only; the descriptor that it returns is
    // closed here and used nowhere else.
    unsafe {
        let counter = libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            this_thread,
            any_processor,
            no_group,
            no_flags,
        );
        if counter < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        libc::close(i32::try_from(counter).unwrap_or(-1));
    }
    Ok(())
}

#[cfg(test)]
const WELL_TUNED: [(&str, &str); 13] = [
    ("fs.file-max", "9223372036854775807"),
    ("fs.nr_open", "1073741816"),
    ("net.core.netdev_max_backlog", "10000"),
    ("net.core.somaxconn", "65535"),
    ("net.ipv4.ip_local_port_range", "1024 65535"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_max_syn_backlog", "65535"),
    ("net.ipv4.tcp_mem", "1000000 2000000 3000000"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ("net.ipv4.tcp_syncookies", "1"),
    ("net.ipv4.tcp_tw_reuse", "2"),
    ("vm.swappiness", "10"),
];

#[cfg(test)]
impl Host {
    /// Real hardware with eight cores on which nothing needs fixing.
    pub(super) fn well_tuned() -> Self {
        use crate::topology::Place;
        let everything = CpuSet::parse("0-7").unwrap();
        Self {
            fingerprint: Fingerprint {
                cpus: 8,
                cores: Some(8),
                smt: Some(false),
                governor: Some("performance".into()),
                turbo: Some(false),
                clock_source: Some("tsc".into()),
                sysctls: WELL_TUNED
                    .into_iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                ..Fingerprint::default()
            },
            topology: Topology {
                cpus: (0..8)
                    .map(|cpu| {
                        (
                            cpu,
                            Place {
                                package: Some(0),
                                core: Some(cpu),
                                last_level_cache: Some(everything.clone()),
                            },
                        )
                    })
                    .collect(),
                smt: Some(false),
            },
            cpus: Some(everything),
            open_files: Some(Limit { soft: Some(1_048_576), hard: Some(1_048_576) }),
            memory: Memory {
                total_bytes: Some(64 << 30),
                available_bytes: Some(60 << 30),
                swap_total_bytes: Some(0),
                swap_free_bytes: Some(0),
            },
            tcp: TcpSockets {
                in_use: Some(20),
                orphaned: Some(0),
                time_wait: Some(3),
                allocated: Some(25),
            },
            load: Some(HostLoad { busy: 0.01, steal: 0.0 }),
            backlog_drops: Some(0),
            io_uring: Some(Ok(())),
            instructions: Some(Ok(())),
            valgrind: Some(true),
            control_group: Some(Ok(())),
            clock_sources: vec!["tsc".into(), "hpet".into()],
            virtual_machine: Some(false),
            page_bytes: Some(4096),
        }
    }

    /// This host with one kernel setting changed.
    pub(super) fn with_sysctl(mut self, name: &str, value: &str) -> Self {
        self.fingerprint.sysctls.insert(name.into(), value.into());
        self
    }
}
