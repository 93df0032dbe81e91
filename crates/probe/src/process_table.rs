//! Which processes live below which root.
//!
//! Each look at a host lists the numbers in /proc, but reads only processes that are new or belong
//! to a root. A process that was found outside stays outside, because a process changes its parent
//! only to an ancestor (the nearest subreaper, or init; prctl(2) PR_SET_CHILD_SUBREAPER). For the same
//! reason one that was found below a root stays there when its parent has ended.
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::clock::{ProcUnits, process_cpu_ns};
use crate::kernel_files::KernelFiles;
use crate::process::parse_process_stat;

/// One process, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it started, clock ticks after boot; distinguishes it from a later process with the same
    /// number.
    pub start_ticks: u64,
    /// Its parent.
    pub parent: i32,
    /// Its own CPU time, all threads, in nanoseconds.
    pub own_ns: u64,
    /// CPU time of its children that died and were waited for, and of theirs, in nanoseconds (exact
    /// to two clock ticks).
    pub waited_ns: u64,
    /// Resident set in bytes.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// Whether it is dead and not yet waited for.
    pub zombie: bool,
}

/// Reads one process; `None` if it is gone.
#[must_use]
pub fn read_process(files: &KernelFiles, units: ProcUnits, pid: i32) -> Option<Process> {
    let stat = parse_process_stat(&files.text(&format!("proc/{pid}/stat"))?)?;
    let ticks = |user: u64, system: u64| units.ticks_to_ns(user + system);
    Some(Process {
        pid,
        start_ticks: stat.start_ticks,
        parent: stat.parent,
        own_ns: process_cpu_ns(pid).unwrap_or_else(|| ticks(stat.user_ticks, stat.system_ticks)),
        waited_ns: ticks(stat.waited_user_ticks, stat.waited_system_ticks),
        rss_bytes: stat.rss_pages.saturating_mul(units.page_bytes),
        threads: stat.threads,
        zombie: stat.is_zombie(),
    })
}

/// The numbers of all processes, ascending.
#[must_use]
pub fn list_processes(files: &KernelFiles) -> Vec<i32> {
    files.numbered("proc", "").into_iter().filter_map(|number| i32::try_from(number).ok()).collect()
}

/// The result of one look at the host.
#[derive(Debug, Default)]
pub struct Reading {
    /// For each root, in the given order: the root itself, if it lives, and all processes below it.
    pub trees: Vec<HashMap<i32, Process>>,
    /// Members of the last look that are still listed but died or moved while they were being read.
    pub unread: HashSet<i32>,
    /// Whether a new process could not be placed because its parent died while it was being read.
    pub unplaced: bool,
}

/// Remembers between looks which process belongs to which root.
#[derive(Debug, Default)]
pub struct ProcessTable {
    roots: Vec<i32>,
    apart: BTreeSet<i32>,
    outside: HashSet<i32>,
    /// Parents are read before their children, so no process is found both alive and in the account
    /// of the parent that waited for it.
    members: Vec<Member>,
}

/// A process below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    pid: i32,
    start_ticks: u64,
    /// Which root.
    tree: usize,
}

enum Place {
    Tree(usize),
    Outside,
    Unknown,
}

impl ProcessTable {
    /// Places all `listed` processes below the `roots`; `read` reads one of them. Processes in
    /// `apart` and everything below them belong to no root.
    pub fn look(
        &mut self,
        (roots, apart): (&[i32], &BTreeSet<i32>),
        listed: &[i32],
        mut read: impl FnMut(i32) -> Option<Process>,
    ) -> Reading {
        if self.roots != roots || self.apart != *apart {
            *self = Self { roots: roots.to_vec(), apart: apart.clone(), ..Self::default() };
        }
        let alive: HashSet<i32> = listed.iter().copied().collect();
        self.outside.retain(|pid| alive.contains(pid));
        self.members.retain(|member| alive.contains(&member.pid));
        let known: HashMap<i32, Member> =
            self.members.iter().map(|member| (member.pid, *member)).collect();
        let fresh = listed
            .iter()
            .copied()
            .filter(|pid| !known.contains_key(pid) && !self.outside.contains(pid));
        let order: Vec<i32> = self.members.iter().map(|member| member.pid).chain(fresh).collect();
        let processes: HashMap<i32, Process> =
            order.iter().filter_map(|&pid| Some((pid, read(pid)?))).collect();

        let mut reading =
            Reading { trees: vec![HashMap::new(); roots.len()], ..Reading::default() };
        for pid in order {
            let process = processes.get(&pid);
            let was = known.get(&pid);
            let place = process.map(|_| self.place(pid, &processes, &known));
            match (place, process) {
                (Some(Place::Tree(tree)), Some(process)) => {
                    reading.trees[tree].insert(pid, process.clone());
                    let member = Member { pid, start_ticks: process.start_ticks, tree };
                    if was != Some(&member) {
                        self.members.retain(|other| other.pid != pid);
                        self.members.push(member);
                    }
                }
                (Some(Place::Outside), _) => {
                    self.outside.insert(pid);
                    self.members.retain(|member| member.pid != pid);
                }
                _ if was.is_some() => {
                    reading.unread.insert(pid);
                }
                (Some(Place::Unknown), _) => reading.unplaced = true,
                (Some(Place::Tree(_)) | None, _) => {}
            }
        }
        reading
    }

    /// Walks up from a process to the first root, or to a process that is known to be outside. One
    /// that was below a root before, and whose parent has ended, was adopted by somebody outside.
    fn place(
        &self,
        pid: i32,
        processes: &HashMap<i32, Process>,
        known: &HashMap<i32, Member>,
    ) -> Place {
        let (mut at, mut adopted) = (pid, None);
        let outside = |adopted: Option<usize>| adopted.map_or(Place::Outside, Place::Tree);
        // A chain cannot be longer than the number of processes, unless it changed while it was
        // read.
        for _ in 0..=processes.len() {
            if let Some(index) = self.roots.iter().position(|&root| root == at) {
                return Place::Tree(index);
            }
            if self.apart.contains(&at) {
                return Place::Outside;
            }
            if at <= 0 || self.outside.contains(&at) {
                return outside(adopted);
            }
            // A container's first processes have the parent 0.
            let Some(process) = processes.get(&at) else { return Place::Unknown };
            let was = known.get(&at).filter(|was| was.start_ticks == process.start_ticks);
            adopted = adopted.or(was.map(|was| was.tree));
            at = process.parent;
        }
        Place::Unknown
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A process of 1 MiB and one thread.
    pub(crate) fn process(pid: i32, parent: i32, own_ns: u64, waited_ns: u64) -> Process {
        Process {
            pid,
            start_ticks: 1,
            parent,
            own_ns,
            waited_ns,
            rss_bytes: 1 << 20,
            threads: 1,
            zombie: false,
        }
    }

    fn host(parents: &[(i32, i32)]) -> HashMap<i32, Process> {
        parents.iter().map(|&(pid, parent)| (pid, process(pid, parent, 0, 0))).collect()
    }

    fn look(
        table: &mut ProcessTable,
        roots: &[i32],
        host: &HashMap<i32, Process>,
        reads: &mut Vec<i32>,
    ) -> Reading {
        let mut listed: Vec<i32> = host.keys().copied().collect();
        listed.sort_unstable();
        table.look((roots, &BTreeSet::new()), &listed, |pid| {
            reads.push(pid);
            host.get(&pid).cloned()
        })
    }

    fn pids(tree: &HashMap<i32, Process>) -> Vec<i32> {
        let mut pids: Vec<i32> = tree.keys().copied().collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn trees_hold_all_descendants_of_their_own_root_only() {
        let host = host(&[(1, 0), (10, 1), (11, 10), (12, 11), (20, 10), (21, 20), (30, 1)]);
        let reading = look(&mut ProcessTable::default(), &[11, 20], &host, &mut Vec::new());
        assert_eq!(
            (pids(&reading.trees[0]), pids(&reading.trees[1])),
            (vec![11, 12], vec![20, 21])
        );
        assert!(reading.unread.is_empty() && !reading.unplaced);
    }

    #[test]
    fn what_is_outside_is_read_once_and_members_each_time_parents_first() {
        let mut table = ProcessTable::default();
        let mut processes = host(&[(1, 0), (2, 1), (10, 1), (90, 10), (40, 90)]);
        look(&mut table, &[10], &processes, &mut Vec::new());
        processes.extend(host(&[(3, 40), (99, 2)]));
        let mut reads = Vec::new();
        let reading = look(&mut table, &[10], &processes, &mut reads);
        assert_eq!(reads, [10, 40, 90, 3, 99]);
        assert_eq!(pids(&reading.trees[0]), [3, 10, 40, 90]);
        let mut again = Vec::new();
        look(&mut table, &[10], &processes, &mut again);
        assert_eq!(again, [10, 40, 90, 3]);
    }

    #[test]
    fn an_orphan_is_below_the_subreaper() {
        let mut table = ProcessTable::default();
        look(&mut table, &[10], &host(&[(1, 0), (10, 1), (11, 10), (12, 11)]), &mut Vec::new());
        let reading = look(&mut table, &[10], &host(&[(1, 0), (10, 1), (12, 10)]), &mut Vec::new());
        assert_eq!(pids(&reading.trees[0]), [10, 12]);
    }

    #[test]
    fn an_orphan_whom_init_adopts_stays_and_one_with_its_number_does_not_come() {
        let mut table = ProcessTable::default();
        look(&mut table, &[10], &host(&[(1, 0), (10, 1), (11, 10), (12, 11)]), &mut Vec::new());
        let mut now = host(&[(1, 0), (10, 1), (12, 1), (13, 12)]);
        let reading = look(&mut table, &[10], &now, &mut Vec::new());
        assert_eq!(pids(&reading.trees[0]), [10, 12, 13], "and what it starts");
        now.insert(12, Process { start_ticks: 2, ..process(12, 1, 0, 0) });
        now.remove(&13);
        let reading = look(&mut table, &[10], &now, &mut Vec::new());
        assert_eq!(pids(&reading.trees[0]), [10]);
    }

    #[test]
    fn a_member_that_dies_under_the_eyes_is_told_and_a_stranger_is_asked_again() {
        let mut table = ProcessTable::default();
        look(&mut table, &[10], &host(&[(1, 0), (10, 1), (11, 10)]), &mut Vec::new());
        // 11 and 12 are listed, but 11 is gone when it is read. So the place of its child 12 is
        // unknown.
        let now = host(&[(1, 0), (10, 1), (12, 11)]);
        let reading =
            table.look((&[10], &BTreeSet::new()), &[1, 10, 11, 12], |pid| now.get(&pid).cloned());
        assert_eq!(reading.unread, HashSet::from([11]));
        assert!(reading.unplaced);
        let reading = look(&mut table, &[10], &host(&[(1, 0), (10, 1), (12, 10)]), &mut Vec::new());
        assert_eq!(pids(&reading.trees[0]), [10, 12]);
    }

    #[test]
    fn other_roots_make_everything_new() {
        let mut table = ProcessTable::default();
        let host = host(&[(1, 0), (10, 1), (20, 1), (21, 20)]);
        look(&mut table, &[10], &host, &mut Vec::new());
        let reading = look(&mut table, &[10, 20], &host, &mut Vec::new());
        assert_eq!(pids(&reading.trees[1]), [20, 21]);
    }

    #[test]
    fn this_process_is_read_from_proc() {
        let (files, units) = (KernelFiles::default(), ProcUnits::of_this_host());
        let own = i32::try_from(std::process::id()).unwrap();
        let process = read_process(&files, units, own).unwrap();
        assert!(
            process.threads >= 1 && process.rss_bytes > 100_000 && !process.zombie,
            "{process:?}"
        );
        assert!(list_processes(&files).contains(&own));
    }
}
