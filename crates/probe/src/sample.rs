//! One sample: what every role and the host have used so far.
use pippin_model::host::usage::{
    Compiler, HostSample, Passing, Role, RoleSample, Runtime, UsageSample,
};
use pippin_model::plan::cpus::CpuSet;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::acceptors::{Acceptors, LeftOut};
use crate::cgroup;
use crate::clock::{ProcUnits, monotonic_ns, thread_cpu_ns};
use crate::collector::Collectors;
use crate::compilers::Compilers;
use crate::energy::Packages;
use crate::facts::Living;
use crate::frequency::current_khz;
use crate::hsperfdata::Jvms;
use crate::kernel_files::KernelFiles;
use crate::kernel_network::NetworkThreads;
use crate::listening::Listeners;
use crate::may_use;
use crate::memory::{field, parse_meminfo};
use crate::memory_files::{self, FileId};
use crate::netstat::{all_packets, counter, listen_overflows, received_bytes, received_packets};
use crate::outsiders;
use crate::passing::passing;
use crate::process::{Held, ignores};
use crate::process_table::{Process, ProcessTable, Reading, list_processes, read_process};
use crate::runtimes::Runtimes;
use crate::server::{self, Place, Servers};
use crate::stat::{CpuTimes, interrupt_ns, parse_stat};
use crate::strays;
use crate::switches::{SwitchLedger, read_switches};
use crate::threads;
use crate::tiers::{Earlier, Outside, Tiers};
use crate::tree::TreeLedger;

/// Which processes belong to which role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The roots of each role.
    pub roles: BTreeMap<Role, Vec<RoleRoot>>,
    /// The target's log file.
    pub log: Option<PathBuf>,
    /// The address that the target listens on, on this host.
    pub address: Option<SocketAddr>,
    /// Processes within the roots' trees that belong to no role, with everything below them.
    pub apart: BTreeSet<i32>,
    /// The server, if it is followed while it is loaded: where its processes end and others follow.
    pub serving: Option<Serving>,
    /// The folder of the target's own control group, which counts its CPU time in microseconds.
    pub group: Option<PathBuf>,
    /// The processors that the target was given; empty if it may use all.
    pub given: CpuSet,
}

/// A server that ran before, and is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serving {
    /// Where it is loaded.
    pub place: Place,
    /// Its processes at the begin.
    pub servers: Servers,
    /// Whether the processes that it is connected to are looked for.
    pub follows: bool,
}

/// Where a role's processes begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleRoot {
    /// This process and all its descendants.
    Tree(i32),
    /// All descendants of this process without itself: it is our own supervisor, a subreaper.
    Below(i32),
    /// This process alone, without its children.
    Process(i32),
}

/// Details (proportional set, context switches, frequency) are read at most this often, because
/// reading them is expensive.
const DETAIL_EVERY_NS: u64 = 1_000_000_000;
/// They are also read rarely enough to take less than this share of one core.
const DETAIL_SHARE: u64 = 200;

/// The state kept from one sample to the next, so that dead processes stay counted and details stay
/// cheap.
#[derive(Debug)]
pub struct TreeMemory {
    files: KernelFiles,
    units: ProcUnits,
    table: ProcessTable,
    trees: HashMap<(Role, i32), TreeLedger>,
    alone: HashMap<(Role, i32), (u64, u64)>,
    switches: BTreeMap<Role, SwitchLedger>,
    tiers: Tiers,
    /// When there were no requests, before the first load, CLOCK_MONOTONIC in nanoseconds.
    rested_ns: u64,
    acceptors: Acceptors,
    /// CPU time that processes which joined the target late had used before, by their pid.
    before_ns: HashMap<i32, u64>,
    /// When sampling began, clock ticks after boot.
    began_ticks: Option<u64>,
    /// For how long a part of the target was not seen, if it is watched.
    unseen_ns: Option<u64>,
    compilers: Compilers,
    jvms: Jvms,
    runtimes: Runtimes,
    /// Those of the last look.
    runtimes_seen: Vec<Runtime>,
    /// `None` if the kernel does not tell.
    queues: Option<Listeners>,
    packages: Packages,
    network_threads: NetworkThreads,
    collectors: Collectors,
    detail_due_ns: u64,
    /// The target's log.
    log: Option<FileId>,
}

impl Default for TreeMemory {
    fn default() -> Self {
        let files = KernelFiles::default();
        Self {
            packages: Packages::read(&files),
            files,
            units: ProcUnits::of_this_host(),
            table: ProcessTable::default(),
            trees: HashMap::new(),
            alone: HashMap::new(),
            switches: BTreeMap::new(),
            tiers: Tiers::default(),
            rested_ns: 0,
            acceptors: Acceptors::default(),
            before_ns: HashMap::new(),
            began_ticks: None,
            unseen_ns: None,
            compilers: Compilers::default(),
            jvms: Jvms::default(),
            runtimes: Runtimes::default(),
            runtimes_seen: Vec::new(),
            queues: Listeners::open().ok(),
            network_threads: NetworkThreads::default(),
            collectors: Collectors::default(),
            detail_due_ns: 0,
            log: None,
        }
    }
}

impl TreeMemory {
    /// Makes the next sample include the details, whenever they were last read.
    pub const fn ask_for_details(&mut self) {
        self.detail_due_ns = 0;
    }

    /// Says for how long a part of the target was not seen so far.
    pub const fn not_seen_for(&mut self, unseen_ns: u64) {
        self.unseen_ns = Some(unseen_ns);
    }

    /// What is known only now of earlier samples.
    pub fn take_earlier(&mut self) -> Vec<Earlier> {
        self.tiers.take_earlier()
    }

    /// Processes of a server's tree that work and do not serve.
    #[must_use]
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.acceptors.left_out().collect()
    }

    /// The language runtimes of the target's processes, as the last look saw them.
    pub fn runtimes(&self) -> Vec<Runtime> {
        self.runtimes_seen.clone()
    }

    /// Who got short connections since the look at rest, and is neither a role nor a tier.
    pub fn passing(&self, roots: &Roots) -> Vec<Passing> {
        let known: HashSet<i32> =
            self.trees.keys().map(|(_, root)| *root).chain(self.tiers.roots()).collect();
        let place = roots.serving.as_ref().map(|serving| &serving.place);
        let within = Duration::from_nanos(monotonic_ns().saturating_sub(self.rested_ns));
        passing(place, within, &taken(&self.files, &known))
    }

    /// Looks at other processes while the target has no requests, twice with `pause` between, unless
    /// that is known.
    pub fn look_at_rest(&mut self, roots: &Roots, pause: Duration) {
        if self.tiers.knows_rest() {
            return;
        }
        let ours = ours(&tally(roots, self));
        self.rested_ns = monotonic_ns();
        self.tiers.rest(self.outside(&ours));
        std::thread::sleep(pause);
        self.tiers.rest(self.outside(&ours));
    }

    /// All processes but these.
    fn outside(&self, ours: &HashSet<i32>) -> Outside {
        let others = list_processes(&self.files).into_iter().filter(|pid| !ours.contains(pid));
        let read = |pid| Some((pid, read_process(&self.files, self.units, pid)?));
        Outside { at_ns: monotonic_ns(), processes: others.filter_map(read).collect() }
    }

    /// A process joins the target: of its tree, only what is used from now on counts. What an
    /// earlier tree counted of it goes on, and what began after sampling did counts from its begin.
    pub fn begin_late(&mut self, root: i32) {
        let below = server::family(&self.files).below(root);
        let of_one = |pid: i32| {
            let process = read_process(&self.files, self.units, pid)?;
            let counted = self
                .trees
                .iter()
                .filter(|((role, _), _)| *role == Role::Target)
                .find_map(|(_, ledger)| ledger.counted_ns(pid, process.start_ticks));
            let is_new = self.began_ticks.is_some_and(|began| process.start_ticks > began);
            let all_ns = process.own_ns + process.waited_ns;
            Some(counted.unwrap_or(if is_new { 0 } else { all_ns }))
        };
        let before_ns = below.into_iter().filter_map(of_one).sum();
        self.before_ns.insert(root, before_ns);
    }
}

fn ours(tallies: &BTreeMap<Role, Tally>) -> HashSet<i32> {
    tallies.values().flat_map(|tally| tally.pids.iter().copied()).collect()
}

/// One role while it is being added up.
#[derive(Default)]
struct Tally {
    began: bool,
    cpu_ns: u64,
    living: Vec<Process>,
    /// All members, including those that have ended but were not waited for yet, and the roots.
    pids: Vec<i32>,
}

/// Samples all roles and the host at this instant. Counters are cumulative and include processes
/// that have died since. A role is absent if none of its roots was ever seen.
pub fn sample(roots: &Roots, memory: &mut TreeMemory) -> UsageSample {
    let before_ns = monotonic_ns();
    let (mut tallies, tiers) = tally_all(roots, memory);
    let of_group = roots.group.as_deref().and_then(cgroup::cpu_ns);
    let left_group = of_group.is_some_and(|ns| count_by_group(&mut tallies, ns));
    let host_times = memory.files.text("proc/stat").and_then(|text| parse_stat(&text));
    let energy_uj = memory.packages.used_uj(&memory.files);
    // The counters are read one after the other, so their common instant is the middle.
    let now_ns = monotonic_ns();
    let at_ns = before_ns.midpoint(now_ns);
    let is_detailed = now_ns >= memory.detail_due_ns;

    let cpu_before_ns = thread_cpu_ns();
    if is_detailed {
        memory.log = roots.log.as_deref().and_then(memory_files::id_of);
    }
    let mut result = without_roles(roots, memory, at_ns);
    let ours: HashSet<i32> = ours(&tallies).union(&tiers.pids).copied().collect();
    let target = tallies.get(&Role::Target);
    let members = target.into_iter().flat_map(|tally| &tally.pids).chain(&tiers.pids);
    let members: HashSet<i32> = members.copied().collect();
    result.tiers = of_tiers(tiers, memory, is_detailed);
    let followed = roots.serving.as_ref().filter(|serving| serving.follows);
    if let (Some(serving), Some(tally)) = (followed, target) {
        let TreeMemory { acceptors, files, .. } = memory;
        acceptors.look(files, &tally.living, &serving.place, at_ns);
    }
    if let Some(tally) = target.filter(|tally| tally.began) {
        let pids = || pids_of(tally);
        result.strays = strays::find(&memory.files, pids(), &roots.given);
        result.left_group = left_group;
        result.unbilled =
            of_group.is_none() && pids().any(|pid| ignores_its_children(&memory.files, pid));
        if is_detailed {
            result.may_use = may_use::read(&memory.files, pids());
        }
    }
    for (role, tally) in tallies.iter().filter(|(_, tally)| tally.began) {
        let of_role = match role {
            Role::Target => of_target(tally, memory, (now_ns, is_detailed)),
            _ => of_other(*role, tally, memory, is_detailed),
        };
        result.roles.insert(*role, of_role);
    }
    result.host = HostSample { energy_uj, ..host(&memory.files, is_detailed) };
    if is_detailed {
        let outside = Outside { at_ns, ..memory.outside(&ours) };
        result.host.outsiders_ns = outsiders::cpu_ns(&memory.files, &outside.processes);
        let TreeMemory { network_threads, files, .. } = memory;
        result.host.put_off_ns = network_threads.cpu_ns(files, &outside.processes);
        if followed.is_some() {
            memory.tiers.keep(outside);
        }
    }
    // After this sample's own look at other processes, from which a tier has its first figure.
    if let Some(serving) = followed {
        let TreeMemory { tiers, files, .. } = memory;
        tiers.look(files, &members, &taken(files, &ours), Some(&serving.place));
    }
    if let Some(processors) = host_times {
        add_processors(&mut result.host, &processors, now_ns, memory.units);
    }
    if is_detailed {
        let cost_ns =
            thread_cpu_ns().zip(cpu_before_ns).map_or(0, |(after, before)| after - before);
        memory.detail_due_ns = now_ns + DETAIL_EVERY_NS.max(cost_ns * DETAIL_SHARE);
    }
    result
}

/// The target counts as much as its control group says, if that is more. A group does not count processes that
/// have left it. The sum over processes does not count ended ones that nobody waited for. Returns whether some
/// have left the group.
fn count_by_group(tallies: &mut BTreeMap<Role, Tally>, group_ns: u64) -> bool {
    let Some(target) = tallies.get_mut(&Role::Target) else { return false };
    let left_group = is_missing_from_group(target.cpu_ns, group_ns);
    target.cpu_ns = target.cpu_ns.max(group_ns);
    left_group
}

/// What is known of the target's log and of the queue of its listening socket.
fn without_roles(roots: &Roots, memory: &mut TreeMemory, at_ns: u64) -> UsageSample {
    let queue = roots
        .address
        .zip(memory.queues.as_mut())
        .and_then(|(address, queues)| queues.queues(address));
    UsageSample {
        at_ns,
        log_bytes: log_bytes(roots),
        listen_queue: queue.map(|queue| queue.waiting),
        backlog: queue.map(|queue| queue.backlog),
        listen_drops: queue.and_then(|queue| queue.dropped),
        unseen_ns: memory.unseen_ns,
        ..UsageSample::default()
    }
}

fn of_tiers(
    tiers: TierTally,
    memory: &TreeMemory,
    is_detailed: bool,
) -> BTreeMap<String, RoleSample> {
    let TierTally { mut samples, by_name, .. } = tiers;
    if is_detailed {
        for (name, sample) in &mut samples {
            let pids = by_name.get(name).into_iter().flatten().copied();
            let files = &memory.files;
            sample.busiest_threads = threads::busiest(files, memory.units, pids, sample.cpu_ns);
        }
    }
    samples
}

/// The target at an instant, with what its runtime does.
fn of_target(
    tally: &Tally,
    memory: &mut TreeMemory,
    (now_ns, is_detailed): (u64, bool),
) -> RoleSample {
    let mut sample = summed(tally);
    let TreeMemory { files, units, compilers, jvms, runtimes, .. } = memory;
    let living = Living::all(tally.living.iter(), (files, *units), now_ns);
    sample.compiler = compilers.look(files, &living, now_ns);
    let is_jvm = matches!(&sample.compiler, Some(it) if it.compiler == Compiler::Jvm);
    sample.jvm = jvms.look(files, if is_jvm { &living } else { &[] });
    memory.runtimes_seen = runtimes.look(files, &living);
    if is_detailed {
        add_details(&mut sample, &tally.living, memory, (Role::Target, Some(&living)));
    }
    sample
}

fn of_other(role: Role, tally: &Tally, memory: &mut TreeMemory, is_detailed: bool) -> RoleSample {
    let mut sample = summed(tally);
    if is_detailed {
        add_details(&mut sample, &tally.living, memory, (role, None));
    }
    sample
}

/// What each processor of the host did.
fn add_processors(
    host: &mut HostSample,
    processors: &BTreeMap<u32, CpuTimes>,
    now_ns: u64,
    units: ProcUnits,
) {
    let each = || processors.iter();
    host.busy_ns = each().map(|(&cpu, times)| (cpu, times.busy_ns(now_ns, units))).collect();
    host.steal_ns_by_cpu =
        each().map(|(&cpu, times)| (cpu, units.ticks_to_ns(times.steal))).collect();
    host.steal_ns = Some(host.steal_ns_by_cpu.values().sum());
    host.interrupt_ns = interrupt_ns(processors, units);
}

/// The tiers while they are added up.
#[derive(Default)]
struct TierTally {
    samples: BTreeMap<String, RoleSample>,
    pids: HashSet<i32>,
    by_name: BTreeMap<String, Vec<i32>>,
}

/// Processes that cannot be tiers: those that have a role, this process and those above it.
fn taken(files: &KernelFiles, ours: &HashSet<i32>) -> HashSet<i32> {
    let units = ProcUnits::of_this_host();
    let parent = |pid: &i32| {
        read_process(files, units, *pid).map(|process| process.parent).filter(|parent| *parent > 0)
    };
    let own_line = std::iter::successors(Some(std::process::id() as i32), parent);
    ours.iter().copied().chain(own_line).collect()
}

fn pids_of(tally: &Tally) -> impl Iterator<Item = i32> + '_ {
    tally.living.iter().map(|process| process.pid)
}

fn tally(roots: &Roots, memory: &mut TreeMemory) -> BTreeMap<Role, Tally> {
    tally_all(roots, memory).0
}

fn tally_all(roots: &Roots, memory: &mut TreeMemory) -> (BTreeMap<Role, Tally>, TierTally) {
    memory.began_ticks.get_or_insert_with(|| memory.units.ticks_since_boot());
    let all = || {
        roots.roles.iter().flat_map(|(&role, roots)| roots.iter().map(move |&root| (role, root)))
    };
    let tree_pids: Vec<i32> = all()
        .filter_map(|(_, root)| match root {
            RoleRoot::Tree(pid) | RoleRoot::Below(pid) => Some(pid),
            RoleRoot::Process(_) => None,
        })
        .collect();
    let tier_pids: Vec<i32> = memory.tiers.roots().collect();
    let all_pids: Vec<i32> = tree_pids.iter().chain(&tier_pids).copied().collect();
    let apart = roots.apart.union(memory.tiers.apart()).copied().collect();
    let mut reading = look(memory, &all_pids, &apart);
    let mut tallies: BTreeMap<Role, Tally> = BTreeMap::new();
    for (role, root) in all() {
        let tally = tallies.entry(role).or_default();
        match root {
            RoleRoot::Process(pid) => {
                tally.pids.push(pid);
                add_alone(tally, memory, role, pid);
            }
            RoleRoot::Tree(pid) | RoleRoot::Below(pid) => {
                tally.pids.push(pid);
                let index = tree_pids.iter().position(|&tree| tree == pid).unwrap_or_default();
                let root_counts = matches!(root, RoleRoot::Tree(_));
                let ledger = memory.trees.entry((role, pid)).or_default();
                let used_ns =
                    ledger.update(pid, root_counts, &reading.trees[index], &reading.unread);
                let before_ns = memory.before_ns.get(&pid).copied().unwrap_or(0);
                tally.cpu_ns += used_ns.saturating_sub(before_ns);
                tally.began |= ledger.began();
                tally.pids.extend(reading.trees[index].keys());
                let members = std::mem::take(&mut reading.trees[index]).into_values();
                let files = &memory.files;
                tally.living.extend(members.filter(|process| {
                    !process.zombie
                        && (root_counts || process.pid != pid && !is_keeper(files, process, pid))
                }));
            }
        }
    }
    let mut tiers = TierTally::default();
    for (pid, tree) in tier_pids.iter().zip(&reading.trees[tree_pids.len()..]) {
        tiers.pids.extend(tree.keys().chain([pid]));
        if let Some((name, used)) = memory.tiers.add(*pid, tree, &reading.unread) {
            let living = tree.values().filter(|one| !one.zombie).map(|one| one.pid);
            tiers.by_name.entry(name.clone()).or_default().extend(living);
            add(tiers.samples.entry(name).or_default(), used);
        }
    }
    (tallies, tiers)
}

/// Adds what another tree of the same tier used.
pub(crate) fn add(sum: &mut RoleSample, one: RoleSample) {
    sum.cpu_ns += one.cpu_ns;
    sum.rss_bytes = match (sum.rss_bytes, one.rss_bytes) {
        (Some(sum), Some(one)) => Some(sum + one),
        (sum, one) => sum.or(one),
    };
    sum.processes += one.processes;
    sum.threads += one.threads;
    sum.workers_ns.extend(one.workers_ns);
    sum.rest_cores = match (sum.rest_cores, one.rest_cores) {
        (Some(sum), Some(one)) => Some(sum + one),
        (sum, one) => sum.or(one),
    };
}

/// The busiest process and those like it that the same process started, with their own CPU time;
/// empty if it is alone. One that is much smaller has other work.
pub(crate) fn workers_ns(living: &[&Process]) -> BTreeMap<i32, u64> {
    let Some(busiest) = living.iter().max_by_key(|process| process.own_ns) else {
        return BTreeMap::new();
    };
    let alike =
        |one: &&&Process| one.parent == busiest.parent && one.rss_bytes * 2 >= busiest.rss_bytes;
    let workers: BTreeMap<i32, u64> =
        living.iter().filter(alike).map(|one| (one.pid, one.own_ns)).collect();
    if workers.len() > 1 { workers } else { BTreeMap::new() }
}

/// Whether a child of a supervisor is the keeper of its namespace and no part of the target: the
/// first process of a namespace. No process below it can be that, because what it starts has another
/// number, in this namespace or in one more.
fn is_keeper(files: &KernelFiles, process: &Process, supervisor: i32) -> bool {
    let is_first = |status: String| {
        let numbers = field(&status, "NSpid")?;
        let own = files.text("proc/self/status")?;
        let levels = field(&own, "NSpid")?.split_ascii_whitespace().count();
        let mut inside = numbers.split_ascii_whitespace().skip(levels);
        Some(inside.next() == Some("1") && inside.next().is_none())
    };
    process.parent == supervisor
        && files.text(&format!("proc/{}/status", process.pid)).and_then(is_first).unwrap_or(false)
}

/// Looks at the host, and looks again if a process died during the look.
fn look(memory: &mut TreeMemory, tree_pids: &[i32], apart: &BTreeSet<i32>) -> Reading {
    let TreeMemory { files, units, table, .. } = memory;
    let mut once = || {
        let listed = list_processes(files);
        table.look((tree_pids, apart), &listed, |pid| read_process(files, *units, pid))
    };
    if tree_pids.is_empty() {
        return Reading::default();
    }
    let reading = once();
    if reading.unread.is_empty() && !reading.unplaced { reading } else { once() }
}

fn add_alone(tally: &mut Tally, memory: &mut TreeMemory, role: Role, pid: i32) {
    let now = read_process(&memory.files, memory.units, pid);
    let last = memory.alone.get(&(role, pid)).copied();
    if let Some(process) = now
        && last.is_none_or(|(start_ticks, _)| start_ticks == process.start_ticks)
    {
        memory.alone.insert((role, pid), (process.start_ticks, process.own_ns));
        if !process.zombie {
            tally.living.push(process);
        }
    }
    if let Some((_, own_ns)) = memory.alone.get(&(role, pid)) {
        tally.cpu_ns += own_ns;
        tally.began = true;
    }
}

/// The living processes of a role with their ages. A start is counted from boot, which is what
/// CLOCK_MONOTONIC counts from too, without the time that the machine was suspended.
fn summed(tally: &Tally) -> RoleSample {
    let living = &tally.living;
    RoleSample {
        cpu_ns: tally.cpu_ns,
        rss_bytes: (!living.is_empty())
            .then(|| living.iter().map(|process| process.rss_bytes).sum()),
        processes: u32::try_from(living.len()).unwrap_or(u32::MAX),
        threads: living.iter().map(|process| process.threads).sum(),
        workers_ns: workers_ns(&living.iter().collect::<Vec<_>>()),
        ..RoleSample::default()
    }
}

/// `target` are the same processes where they are those of the target.
fn add_details(
    sample: &mut RoleSample,
    living: &[Process],
    memory: &mut TreeMemory,
    (role, target): (Role, Option<&[Living]>),
) {
    let files = &memory.files;
    let seen = living.iter().flat_map(|process| read_switches(files, process.pid)).collect();
    let switches = memory.switches.entry(role).or_default().update(seen);
    sample.voluntary_switches = switches.map(|switches| switches.voluntary);
    sample.involuntary_switches = switches.map(|switches| switches.involuntary);
    let mut held: Option<Held> = None;
    for process in living {
        match files
            .text(&format!("proc/{}/smaps_rollup", process.pid))
            .and_then(|text| Held::parse(&text))
        {
            Some(of_process) => *held.get_or_insert_default() += of_process,
            // It has died since.
            None if read_process(files, memory.units, process.pid)
                .is_none_or(|process| process.zombie) => {}
            // This process is not readable, and a sum without it would be wrong.
            None => return,
        }
    }
    let in_files = memory_files::held_bytes(living.iter().map(|process| process.pid), memory.log);
    sample.pss_bytes = held.map(|held| held.bytes(in_files));
    if let Some(target) = target {
        let pids = target.iter().map(|process| process.pid);
        sample.busiest_threads = threads::busiest(files, memory.units, pids, sample.cpu_ns);
        sample.collects = memory.collectors.any(files, target);
    }
}

/// Whether processes have used more than their group counts: some of them were outside of it. The
/// sum over processes is counted in ticks.
const fn is_missing_from_group(processes_ns: u64, group_ns: u64) -> bool {
    const TICKS_NS: u64 = 100_000_000;
    processes_ns > group_ns + group_ns / 20 + TICKS_NS
}

/// Whether a process ignores SIGCHLD. The kernel then does not bill its dead children to any
/// process (wait(2), "Notes").
fn ignores_its_children(files: &KernelFiles, pid: i32) -> bool {
    let status = files.text(&format!("proc/{pid}/status"));
    status.is_some_and(|status| ignores(&status, libc::SIGCHLD))
}

fn host(files: &KernelFiles, detailed: bool) -> HostSample {
    let text = |name| files.text(name).unwrap_or_default();
    let interfaces = text("proc/net/dev");
    HostSample {
        listen_overflows: listen_overflows(&text("proc/net/netstat")),
        retransmits: counter(&text("proc/net/snmp"), "Tcp", "RetransSegs"),
        loopback_bytes: received_bytes(&interfaces, "lo"),
        loopback_packets: received_packets(&interfaces, "lo"),
        packets: all_packets(&text("proc/net/softnet_stat")),
        frequency_khz: if detailed { current_khz(files) } else { BTreeMap::new() },
        memory_available_bytes: parse_meminfo(&text("proc/meminfo")).available_bytes,
        ..HostSample::default()
    }
}

fn log_bytes(roots: &Roots) -> Option<u64> {
    Some(std::fs::metadata(roots.log.as_ref()?).ok()?.len())
}
