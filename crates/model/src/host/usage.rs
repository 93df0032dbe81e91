//! The kernel's figures about the processes of a trial. Unknown is `None`.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use crate::host::kernel_network::KernelNetwork;
use crate::plan::cpus::CpuSet;
use crate::trial::outside::Stray;

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The target's process tree.
    Target,
    /// The services (database, upstream).
    Services,
    /// Pippin itself.
    Generator,
}

/// The kernel's counters at one instant. They are cumulative, so two samples show the usage between
/// them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSample {
    /// CLOCK_MONOTONIC in nanoseconds.
    pub at_ns: u64,
    /// By role.
    pub roles: BTreeMap<Role, RoleSample>,
    /// The tiers behind the target, by name: processes that it is connected to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tiers: BTreeMap<String, RoleSample>,
    /// For how long a part of the target was not seen so far, in nanoseconds: from the end of one
    /// of its processes until its successor was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_ns: Option<u64>,
    /// What the target may use of this machine; `None` in most samples, because it is costly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_use: Option<MayUse>,
    /// The host as a whole.
    pub host: HostSample,
    /// Bytes in the target's log file.
    pub log_bytes: Option<u64>,
    /// Connections in the listen queue of the target's port: open for the client, but not accepted
    /// by the target.
    pub listen_queue: Option<u64>,
    /// The backlog of the target's port: how many connections may wait in its listen queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
    /// Connections that the kernel dropped at the target's own listening sockets since these were
    /// made. `None` where they do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_drops: Option<u64>,
    /// Threads of the target on processors that it was not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<Stray>,
    /// Whether the target's CPU time may be too low: one of its processes ignores the death of its
    /// children, and there is no control group that counts them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unbilled: bool,
    /// Whether the target's control group has counted less CPU time than its processes have used:
    /// one of them was outside of the group. The larger one counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_group: bool,
}

/// A compiler that works while its program runs, in threads of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compiler {
    /// Those of a Java virtual machine: C1, C2, and compilers behind its compiler interface (JVMCI).
    Jvm,
    /// The one of .NET that compiles hot methods again (tiered compilation).
    DotNet,
}

impl Compiler {
    /// The runtime that it belongs to, for people.
    #[must_use]
    pub const fn runtime(self) -> &'static str {
        match self {
            Self::Jvm => "the JVM",
            Self::DotNet => ".NET",
        }
    }
}

/// What compilers within a role's processes have used until one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerSample {
    /// Which compiler. If there are several kinds, the one that used most.
    pub compiler: Compiler,
    /// CPU time of its threads, living and ended, in nanoseconds. Threads that came and went between
    /// two looks are missing.
    pub cpu_ns: u64,
    /// Age of the oldest process that has one, in nanoseconds.
    pub age_ns: u64,
}

/// What compilers within a role's processes used over a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerUse {
    /// Which compiler.
    pub compiler: Compiler,
    /// CPU time of its threads over the stretch, in nanoseconds.
    pub cpu_ns: u64,
    /// Age of the oldest process that has one when the stretch began, in nanoseconds.
    pub age_ns: u64,
}

/// What the Java virtual machines within a role's processes say of themselves until one instant, in
/// the counters that HotSpot keeps for others (`hsperfdata`). Times and numbers since they began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JvmSample {
    /// The garbage collector, as the JVM's options call it: `SerialGC`, `G1GC`.
    pub collector: Option<String>,
    /// Time in which its compilers worked, in nanoseconds (`java.ci.totalTime`).
    pub compiling_ns: Option<u64>,
    /// Time in pauses of its collectors, in nanoseconds (`sun.gc.collector.N.time`).
    pub collecting_ns: Option<u64>,
    /// How many these were (`sun.gc.collector.N.invocations`).
    pub collections: Option<u64>,
    /// Time for which all of its threads stood still, for collections and other reasons, in
    /// nanoseconds (`sun.rt.safepointTime`).
    pub stopped_ns: Option<u64>,
    /// Bytes in use on its heap, garbage included. JVMs write it when they have collected.
    pub heap_bytes: Option<u64>,
}

impl JvmSample {
    /// Both together. A figure that one of them lacks is unknown; the collector is the first one's.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            collector: self.collector.clone(),
            compiling_ns: both(self.compiling_ns, other.compiling_ns),
            collecting_ns: both(self.collecting_ns, other.collecting_ns),
            collections: both(self.collections, other.collections),
            stopped_ns: both(self.stopped_ns, other.stopped_ns),
            heap_bytes: both(self.heap_bytes, other.heap_bytes),
        }
    }
}

/// What the Java virtual machines within a role's processes say of a stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JvmUse {
    /// See [`JvmSample::collector`].
    pub collector: Option<String>,
    /// Time in pauses of its collectors, in nanoseconds.
    pub collecting_ns: Option<u64>,
    /// How many these were.
    pub collections: Option<u64>,
    /// The longest of them lasted at least and at most so long, in nanoseconds. The counters are sums,
    /// so both are alike only if no more than one pause ended between two samples.
    pub longest_ns: Option<(u64, u64)>,
    /// Time for which all of its threads stood still, in nanoseconds.
    pub stopped_ns: Option<u64>,
    /// Bytes in use on its heap: the most that was seen.
    pub heap_max_bytes: Option<u64>,
}

impl JvmUse {
    /// This stretch and another one together.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        let longest = |a: (u64, u64), b: (u64, u64)| (a.0.max(b.0), a.1.max(b.1));
        Self {
            collector: self.collector.clone(),
            collecting_ns: both(self.collecting_ns, other.collecting_ns),
            collections: both(self.collections, other.collections),
            longest_ns: self.longest_ns.zip(other.longest_ns).map(|(a, b)| longest(a, b)),
            stopped_ns: both(self.stopped_ns, other.stopped_ns),
            heap_max_bytes: self.heap_max_bytes.max(other.heap_max_bytes),
        }
    }
}

/// The memory of a role as its samples come: what figures of a moment show.
///
/// It is the proportional set, in which shared pages count once, as it was last read: reading it
/// takes time, so that not every sample has it. The resident set stands for it only where none was
/// ever read, because workers that were forked share most of theirs.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryOverTime {
    proportional: Option<u64>,
}

impl MemoryOverTime {
    /// The memory in bytes at the next sample; `None` where the role has no process in it.
    pub fn at(&mut self, sample: &UsageSample, role: Role) -> Option<u64> {
        let used = sample.roles.get(&role)?;
        self.proportional = used.pss_bytes.or(self.proportional);
        self.proportional.or(used.rss_bytes)
    }

    /// The memory in bytes at each of these samples, of one kind throughout.
    #[must_use]
    pub fn at_each(samples: &[UsageSample], role: Role) -> Vec<Option<u64>> {
        let used = || samples.iter().map(|sample| sample.roles.get(&role));
        let first = used().flatten().find_map(|role| role.pss_bytes);
        let mut memory = Self { proportional: first };
        samples.iter().map(|sample| memory.at(sample, role)).collect()
    }
}

/// One role's processes at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleSample {
    /// CPU time since the role began, user and system, in nanoseconds. It includes living, dead and
    /// waited-for processes.
    pub cpu_ns: u64,
    /// Resident set, summed over the processes (shared pages counted more than once), bytes.
    pub rss_bytes: Option<u64>,
    /// Proportional set in bytes (shared pages are divided among their users). It is read less
    /// often because that is costly.
    pub pss_bytes: Option<u64>,
    /// Living processes.
    pub processes: u32,
    /// Living threads.
    pub threads: u32,
    /// The shares of the role's CPU time so far that its busiest threads used, descending, at most
    /// 16. The target's only, and read less often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_threads: Option<Vec<f64>>,
    /// Whether any of its processes has a garbage collector. The target's only, and read less often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collects: Option<bool>,
    /// Voluntary context switches since the role began.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches since the role began.
    pub involuntary_switches: Option<u64>,
    /// CPU time of each worker since it began, in nanoseconds by pid: the busiest process and those
    /// like it that the same process started. Empty if it is alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workers_ns: BTreeMap<i32, u64>,
    /// Processors that a tier kept busy while the target had no requests; `None` if that was not
    /// measured, and for roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_cores: Option<f64>,
    /// What compiles within its processes; `None` if nothing does that could be told by its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<CompilerSample>,
    /// What its Java virtual machines say of themselves; `None` if there is none, or none that shows
    /// its counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<JvmSample>,
}

/// What a target may use of this machine, whoever limits it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MayUse {
    /// The processors on which at least one of its threads may run (sched_getaffinity(2), which
    /// includes cpuset(7)).
    pub cpus: CpuSet,
    /// The processors' worth of time that its control group may use per period; `None` without a
    /// quota.
    pub quota: Option<f64>,
    /// Periods of the quota so far, in which the group wanted to run.
    pub periods: u64,
    /// Those of them in which it had to wait for the next one.
    pub throttled: u64,
}

impl MayUse {
    /// The number of processors that it may keep busy.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        let cpus = self.cpus.len() as f64;
        let cores =
            self.quota.map_or(cpus, |quota| if cpus > 0.0 { quota.min(cpus) } else { quota });
        (cores > 0.0).then_some(cores)
    }
}

/// The host at one instant (proc(5): /proc/stat, /proc/net/netstat, /proc/net/dev).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Busy time of every processor since boot, nanoseconds (without idle, iowait and steal), by
    /// processor number.
    pub busy_ns: BTreeMap<u32, u64>,
    /// Time stolen by the hypervisor since boot over all processors, nanoseconds.
    pub steal_ns: Option<u64>,
    /// Stolen time of every processor, by its number, in nanoseconds.
    pub steal_ns_by_cpu: BTreeMap<u32, u64>,
    /// Time in hard and soft interrupts since boot over all processors, in nanoseconds, part of
    /// `busy_ns`. `None` if the kernel bills it to the interrupted processes (without
    /// CONFIG_IRQ_TIME_ACCOUNTING), so that it is already in the roles' CPU time.
    pub interrupt_ns: Option<u64>,
    /// CPU time since boot of all processes that belong to no role, with the children they waited
    /// for, in nanoseconds. `None` if not all processes of the host are visible, and in most
    /// samples, because it is costly.
    pub outsiders_ns: Option<u64>,
    /// CPU time since boot of the kernel's threads for put-off interrupts (`ksoftirqd/N`), by processor
    /// number, in nanoseconds: a part of `outsiders_ns`, and read with it. Empty where they cannot be
    /// seen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub put_off_ns: BTreeMap<u32, u64>,
    /// Packets received since boot on all interfaces of all network namespaces
    /// (`/proc/net/softnet_stat`, first column).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Packets received since boot on the loopback interface of Pippin's network namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loopback_packets: Option<u64>,
    /// Connections dropped because a listen queue was full (TcpExt ListenOverflows).
    pub listen_overflows: Option<u64>,
    /// Segments sent again (Tcp RetransSegs).
    pub retransmits: Option<u64>,
    /// Bytes received on the loopback interface.
    pub loopback_bytes: Option<u64>,
    /// Current frequency of every processor in kHz, if it is visible.
    pub frequency_khz: BTreeMap<u32, u64>,
    /// Energy that all packages of processors used since the first sample, in microjoules; `None`
    /// if the kernel does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<u64>,
    /// Bytes of memory that are available without swapping (MemAvailable).
    pub memory_available_bytes: Option<u64>,
}

/// The usage of a role over the measured part of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleUse {
    /// CPU time in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Cores kept busy on average: 1.5 is "150 %".
    pub cores: Option<f64>,
    /// Highest resident set, bytes.
    pub rss_max_bytes: Option<u64>,
    /// Resident set at the start and at the end, bytes.
    pub rss_first_bytes: Option<u64>,
    /// See `rss_first_bytes`.
    pub rss_last_bytes: Option<u64>,
    /// Highest proportional set, bytes.
    pub pss_max_bytes: Option<u64>,
    /// Highest number of processes.
    pub processes: Option<u32>,
    /// Highest number of threads.
    pub threads: Option<u32>,
    /// The shares of its CPU time since its begin that its busiest threads used, descending, at
    /// most 16; `None` if they were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_threads: Option<Vec<f64>>,
    /// Whether any of its processes has a garbage collector, so that memory is not given back at
    /// once; `None` if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collects: Option<bool>,
    /// Voluntary context switches.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// CPU time of each worker in nanoseconds by pid (see [`RoleSample::workers_ns`]), of those that
    /// were there all the time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workers_ns: BTreeMap<i32, u64>,
    /// What compiled within its processes; `None` if nothing did that could be told by its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<CompilerUse>,
    /// What its Java virtual machines say of themselves; `None` if there is none, or none that shows
    /// its counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<JvmUse>,
}

/// The language runtime of a process, told from outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Runtime {
    /// As its community writes it: `JVM`, `Node`.
    pub name: String,
    /// `17.0.15`; `None` if it cannot be told.
    pub version: Option<String>,
}

impl fmt::Display for Runtime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(out, "{} {version}", self.name),
            None => out.write_str(&self.name),
        }
    }
}

impl Runtime {
    /// Each of them once, in their order.
    pub fn each_once<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for one in all {
            if !found.contains(one) {
                found.push(one.clone());
            }
        }
        found
    }

    /// Several of them in words: `JVM 17.0.15, Node 20.20.2`.
    #[must_use]
    pub fn listed(of: &[Self]) -> String {
        of.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// A process that got connections too short to see who opened them: perhaps a tier of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passing {
    /// Its name.
    pub name: String,
    /// Its pid.
    pub pid: i32,
    /// The address at which it listens.
    pub at: SocketAddr,
    /// How many connections to it ended during the load and its warm-up, at least: the kernel
    /// forgets them after a minute.
    pub connections: u64,
}

/// What one tier of a target used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// The name of its first process.
    pub name: String,
    /// What it used.
    pub used: RoleUse,
}

impl RoleUse {
    /// Processors that compilers kept busy on average over a stretch of `duration_ns`; `None` if
    /// there is none.
    #[must_use]
    pub fn compiler_cores(&self, duration_ns: u64) -> Option<f64> {
        let compiler = self.compiler.filter(|_| duration_ns > 0)?;
        Some(compiler.cpu_ns as f64 / duration_ns as f64)
    }

    /// The highest memory, bytes: the proportional set, in which shared pages count once, or else
    /// the resident set.
    #[must_use]
    pub fn memory_max_bytes(&self) -> Option<u64> {
        self.pss_max_bytes.or(self.rss_max_bytes)
    }
}

/// The usage of all roles and the host over the measured part of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Length of the stretch in nanoseconds.
    pub duration_ns: u64,
    /// By role; a role that did not take part is absent. The target is all of its tiers together.
    pub roles: BTreeMap<Role, RoleUse>,
    /// The tiers of the target, the one that the generator is connected to first, then by CPU time;
    /// empty if there is only that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// For how long a part of the target was not seen; `None` if it was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_ns: Option<u64>,
    /// Processes of the target's tree that work and do not serve, with their pids, which are not
    /// counted: `job (process 77)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The language runtimes of the target's processes, each once; empty for native programs and for
    /// processes that cannot be looked into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<Runtime>,
    /// Processes that got short connections while the target was loaded, and that are no tier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<Passing>,
    /// What the target may use of this machine, with the periods of this stretch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_use: Option<MayUse>,
    /// Cores kept busy by everything outside of the roles, without interrupts, and without the
    /// kernel's network work that is surely the load's ([`KernelNetwork::of_load`]).
    pub other_cores: Option<f64>,
    /// What the kernel's threads for put-off network work used. `None` if they or the machine's packets
    /// are not seen; then all of it is in `other_cores`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_network: Option<KernelNetwork>,
    /// Cores kept busy by interrupts, if the kernel does not bill them to processes.
    pub interrupt_cores: Option<f64>,
    /// Cores' worth of time stolen by the hypervisor.
    pub steal_cores: Option<f64>,
    /// Stolen share (0 to 1) of every processor. A hypervisor can only take time from a processor
    /// that has something to do.
    pub stolen_by_cpu: BTreeMap<u32, f64>,
    /// Busy share (0 to 1) of every processor.
    pub busy_by_cpu: BTreeMap<u32, f64>,
    /// Connections dropped because a listen queue was full, anywhere on this host.
    pub listen_overflows: Option<u64>,
    /// Connections that the kernel dropped because a queue of the target's own listening sockets was full:
    /// packets that these dropped, at most as many as queues of the namespace overflowed. `None` where
    /// the sockets do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_drops: Option<u64>,
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// Bytes through the loopback interface.
    pub loopback_bytes: Option<u64>,
    /// Bytes that the target wrote to its log.
    pub log_bytes: Option<u64>,
    /// Connections that waited for the target to accept them: the mean of how many stood in its listen
    /// queue from one sample to the next (the smaller of the two), and the highest of the samples. `None`
    /// with fewer than two samples.
    pub listen_queue: Option<(f64, u64)>,
    /// How many may wait there, as the target asked when it began to listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
    /// Energy that all packages of processors used, in microjoules: by everything that ran on them,
    /// and by what was idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<u64>,
    /// Lowest and highest frequency seen on processors that were at least half busy, kHz.
    pub frequency_khz: Option<(u64, u64)>,
    /// Threads of the target on processors that it was not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<Stray>,
    /// Whether the target's CPU time may be too low (see [`UsageSample::unbilled`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unbilled: bool,
    /// Whether a process of the target was outside of its group (see [`UsageSample::left_group`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_group: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forked workers: 495 MiB resident, of which most is shared.
    #[test]
    fn memory_over_time_is_of_one_kind() {
        let sample = |rss_bytes, pss_bytes| {
            let role = RoleSample { rss_bytes, pss_bytes, ..RoleSample::default() };
            UsageSample { roles: [(Role::Target, role)].into(), ..UsageSample::default() }
        };
        let samples = [
            sample(Some(495), None),
            sample(Some(495), Some(96)),
            sample(Some(500), None),
            UsageSample::default(),
            sample(Some(500), Some(99)),
        ];
        let of = |samples: &[UsageSample]| MemoryOverTime::at_each(samples, Role::Target);
        assert_eq!(of(&samples), [Some(96), Some(96), Some(96), None, Some(99)]);
        assert_eq!(of(&samples[..1]), [Some(495)], "never read");
        let mut live = MemoryOverTime::default();
        assert_eq!(live.at(&samples[0], Role::Target), Some(495));
        assert_eq!(live.at(&samples[1], Role::Target), Some(96));
        assert_eq!(live.at(&samples[2], Role::Target), Some(96));
    }
}
