//! Who accepts. Not every process of a tree serves: a background job that a server started may hold
//! its listening socket too, and a master may have workers that serve another port.
//!
//! While a process works for a request, it holds the connection. So one that works, or waits for a
//! processor to work, and is never seen with an accepted connection while others are does not serve:
//! the chance of that, if it did, falls with each look. What a server starts for its requests stays:
//! processes that a pipe, a unix socket or a connection of TCP connects with those that accept, and
//! their children that do not hold the socket.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;

use crate::budget::{Budget, Limits};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::connected::{self, Connection};
use crate::descriptors::Descriptors;
use crate::kernel_files::KernelFiles;
use crate::process_name::process_name;
use crate::process_table::Process;
use crate::server::roots::Family;
use crate::server::{self, Place, canonical};
use crate::unix_sockets;

/// It is looked ten times per second at most, and that takes at most 0.1 % of one processor. It may take
/// more at once: a look takes 5 ms and more, because the kernel goes through its whole table
/// of connections. Few looks are needed unless somebody works who does not accept.
const LIMITS: Limits = Limits { every_ns: 100_000_000, share: 1_000, credit_ns: 300_000_000 };
/// Who was busy for less than this part of the time since the last look rests.
const RESTS: f64 = 0.02;
/// A process that serves is taken for one that does not with at most this chance.
const CHANCE: f64 = 0.001;
/// One look proves at most this much: a process may just have begun to work.
const LEAST_CHANCE: f64 = 0.1;
/// Of more processes than these, nobody is looked for.
const MOST_PROCESSES: usize = 64;

/// A process of a server's tree that works and does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The process.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// What it had used, nanoseconds, at the instants at which it was seen (CLOCK_MONOTONIC).
    pub used: Vec<(u64, u64)>,
}

impl LeftOut {
    /// What it had used at an instant, beyond what it had used when it was first seen.
    #[must_use]
    pub fn used_ns(&self, at_ns: u64) -> u64 {
        let before = self.used.iter().take_while(|(seen_ns, _)| *seen_ns <= at_ns);
        let first = self.used.first().map_or(0, |(_, ns)| *ns);
        before.last().map_or(0, |(_, ns)| ns.saturating_sub(first))
    }
}

/// What is known of one process.
#[derive(Debug)]
struct Member {
    name: String,
    start_ticks: u64,
    used: Vec<(u64, u64)>,
    /// When it was last looked whether it accepts, and how long it had been busy by then.
    looked: (u64, u64),
    /// The chance that a process that serves was never seen with a connection.
    chance: f64,
    serves: bool,
}

/// Watches which of the processes of a server accept.
#[derive(Debug, Default)]
pub struct Acceptors {
    members: BTreeMap<i32, Member>,
    /// Whether there was more than one process when the load began; `None` before the first look.
    judges: Option<bool>,
    budget: Budget,
}

/// Who holds what, at one look.
#[derive(Debug, Default)]
struct Held {
    /// Processes that hold the listening socket.
    listen: BTreeSet<i32>,
    /// Processes that hold an accepted connection, and have none below them that do.
    accept: BTreeSet<i32>,
    /// Processes that are connected with one of these.
    linked: BTreeSet<i32>,
}

impl Acceptors {
    /// Takes a look, if there is more than one process and it is time. `members` are the living
    /// processes of the server.
    pub fn look(&mut self, files: &KernelFiles, members: &[Process], place: &Place, at_ns: u64) {
        let Place::Addresses(addresses) = place else { return };
        let may_judge = || (2..=MOST_PROCESSES).contains(&members.len());
        if !*self.judges.get_or_insert_with(may_judge) || members.len() > MOST_PROCESSES {
            return;
        }
        for process in members {
            if let Some(member) = self.members.get_mut(&process.pid)
                && member.start_ticks == process.start_ticks
            {
                member.used.push((at_ns, total_ns(process)));
            }
        }
        let busy = |process: &Process| busy_ns(files, process);
        if !self.budget.is_due(at_ns)
            || !members.iter().any(|one| self.is_open(one, busy(one), at_ns))
        {
            return;
        }
        let before_ns = thread_cpu_ns();
        if let Some(held) = Held::read(files, members, addresses) {
            self.learn(files, members, &busy, &held, at_ns);
        }
        let used_ns = thread_cpu_ns().zip(before_ns).map_or(0, |(after, before)| after - before);
        self.budget.spend(LIMITS, at_ns, used_ns, monotonic_ns());
    }

    /// Whether another look may tell something new of a process.
    fn is_open(&self, process: &Process, busy_ns: u64, at_ns: u64) -> bool {
        let Some(member) = self.members.get(&process.pid) else { return true };
        let (last_ns, last_busy_ns) = member.looked;
        let worked_ns = busy_ns.saturating_sub(last_busy_ns) as f64;
        !member.serves && worked_ns > RESTS * at_ns.saturating_sub(last_ns) as f64
    }

    /// What a look says of each process.
    fn learn(
        &mut self,
        files: &KernelFiles,
        processes: &[Process],
        busy_ns: &dyn Fn(&Process) -> u64,
        held: &Held,
        at_ns: u64,
    ) {
        let family = Family::from_parents(processes.iter().map(|one| (one.pid, one.parent)));
        // Who joins while the load runs is busy with its own start before it accepts.
        let joins = !self.members.is_empty();
        for process in processes {
            let now = (at_ns, busy_ns(process));
            let member = self.members.entry(process.pid).or_insert_with(|| Member {
                name: process_name(files, process.pid).unwrap_or_default(),
                start_ticks: process.start_ticks,
                used: vec![(at_ns, total_ns(process))],
                looked: now,
                chance: 1.0,
                serves: joins,
            });
            let last = std::mem::replace(&mut member.looked, now);
            member.serves |= held.has_a_part(&family, process);
            let passed_ns = at_ns.saturating_sub(last.0);
            if !held.accept.is_empty() && passed_ns > 0 {
                let worked = now.1.saturating_sub(last.1) as f64 / passed_ns as f64;
                member.chance *= (1.0 - worked).max(LEAST_CHANCE);
            }
        }
    }

    /// Those that work and do not serve.
    pub fn left_out(&self) -> impl Iterator<Item = LeftOut> + '_ {
        let others = self.members.iter().filter(|(_, one)| !one.serves && one.chance <= CHANCE);
        others.map(|(pid, one)| LeftOut {
            pid: *pid,
            name: one.name.clone(),
            used: one.used.clone(),
        })
    }
}

/// For how long the first thread of a process has run or waited for a processor, in nanoseconds
/// (`/proc/PID/schedstat`). Without that, what all of them have used.
fn busy_ns(files: &KernelFiles, process: &Process) -> u64 {
    let of_text = |text: String| {
        let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse::<u64>().ok());
        Some(numbers.next()? + numbers.next()?)
    };
    let text = files.text(&format!("proc/{}/schedstat", process.pid));
    text.and_then(of_text).unwrap_or_else(|| total_ns(process))
}

const fn total_ns(process: &Process) -> u64 {
    process.own_ns + process.waited_ns
}

impl Held {
    /// `None` if the kernel does not tell.
    fn read(files: &KernelFiles, members: &[Process], addresses: &[SocketAddr]) -> Option<Self> {
        let all: HashMap<i32, Descriptors> = members
            .iter()
            .filter_map(|one| Some((one.pid, Descriptors::read(files, one.pid)?)))
            .collect();
        let holding = |inodes: &HashSet<u32>| -> BTreeSet<i32> {
            let holds = all.iter().filter(|(_, held)| !held.sockets.is_disjoint(inodes));
            holds.map(|(pid, _)| *pid).collect()
        };
        let listen = holding(&server::listening_inodes(addresses).into_iter().collect());
        let served: Vec<SocketAddr> = addresses.iter().copied().map(canonical).collect();
        let connections = connected::connections().ok()?;
        let is_accepted = |one: &&Connection| served.contains(&one.local);
        let accepted = connections.iter().filter(is_accepted).map(|one| one.inode).collect();
        let holders = holding(&accepted);
        let family = Family::from_parents(members.iter().map(|one| (one.pid, one.parent)));
        let is_last = |pid: &i32| family.below(*pid).intersection(&holders).count() == 1;
        let accept: BTreeSet<i32> = holders.iter().copied().filter(is_last).collect();
        // A master is connected with all of its workers.
        let mut linked = linked(&all, &accept, &connections);
        linked.retain(|pid| family.below(*pid).is_disjoint(&accept));
        Some(Self { listen, accept, linked })
    }

    /// Whether a process serves, or works for one that does.
    fn has_a_part(&self, family: &Family, process: &Process) -> bool {
        let below = family.below(process.pid);
        let mut line = family.above(process.pid);
        line.push(process.pid);
        // Whoever is above one that accepts passes connections on to it.
        !below.is_disjoint(&self.accept)
            || !below.is_disjoint(&self.linked)
            || line.iter().any(|pid| self.linked.contains(pid))
            // What one that accepts has started, without its listening socket.
            || !self.listen.contains(&process.pid)
                && line.iter().any(|pid| self.accept.contains(pid))
    }
}

/// The processes that something connects with one of these.
fn linked(
    all: &HashMap<i32, Descriptors>,
    with: &BTreeSet<i32>,
    connections: &[Connection],
) -> BTreeSet<i32> {
    let theirs: Vec<&Descriptors> = with.iter().filter_map(|pid| all.get(pid)).collect();
    let is_theirs = |inode: u32| theirs.iter().any(|one| one.sockets.contains(&inode));
    let mut peers: HashSet<u32> = unix_sockets::all()
        .unwrap_or_default()
        .iter()
        .filter(|socket| is_theirs(socket.inode))
        .filter_map(|socket| socket.peer)
        .collect();
    let ends: HashMap<(SocketAddr, SocketAddr), u32> =
        connections.iter().map(|one| ((one.local, one.peer), one.inode)).collect();
    let mirrored = connections.iter().filter(|one| is_theirs(one.inode));
    peers.extend(mirrored.filter_map(|one| ends.get(&(one.peer, one.local))));
    let is_linked = |held: &Descriptors| {
        !held.sockets.is_disjoint(&peers) || theirs.iter().any(|one| one.are_piped(held))
    };
    let others = all.iter().filter(|(pid, held)| !with.contains(pid) && is_linked(held));
    others.map(|(pid, _)| *pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_table::tests::process;

    const MS: u64 = 1_000_000;

    /// Looks every 100 ms: (processes with their parents and what they used in each look, in
    /// milliseconds; who accepts; who is linked). 10 to 19 hold the listening socket.
    fn left_out(
        looks: usize,
        members: &[(i32, i32, u64)],
        accept: &[i32],
        linked: &[i32],
    ) -> Vec<i32> {
        let mut acceptors = Acceptors::default();
        for nth in 0..looks as u64 {
            let processes: Vec<Process> = members
                .iter()
                .map(|(pid, parent, ms)| process(*pid, *parent, nth * ms * MS, 0))
                .collect();
            let held = Held {
                listen: (10..20).filter(|pid| members.iter().any(|one| one.0 == *pid)).collect(),
                accept: accept.iter().copied().collect(),
                linked: linked.iter().copied().collect(),
            };
            let files = KernelFiles::default();
            acceptors.learn(&files, &processes, &total_ns, &held, nth * 100 * MS);
        }
        acceptors.left_out().map(|one| one.pid).collect()
    }

    #[test]
    fn a_job_that_works_and_never_accepts_does_not_serve() {
        let members = [(10, 1, 80), (11, 10, 90)];
        assert_eq!(left_out(6, &members, &[10], &[]), [11]);
        assert!(left_out(3, &members, &[10], &[]).is_empty(), "two looks are too few");
        assert!(left_out(6, &members, &[10], &[11]).is_empty(), "it works for who accepts");
        assert!(left_out(6, &members, &[], &[]).is_empty(), "nobody accepts");
    }

    #[test]
    fn who_rests_or_works_a_little_is_not_told() {
        assert!(left_out(50, &[(10, 1, 80), (11, 10, 0)], &[10], &[]).is_empty());
        // 20 % of a processor: after 30 looks the chance is 0.8^30, 0.1 %.
        let little = [(10, 1, 80), (11, 10, 20)];
        assert!(left_out(30, &little, &[10], &[]).is_empty());
        assert_eq!(left_out(33, &little, &[10], &[]), [11]);
    }

    #[test]
    fn workers_of_another_port_do_not_serve_and_children_of_those_that_accept_do() {
        // A master with a worker of each port, as of pm2; only the master holds the sockets.
        let members = [(10, 1, 20), (21, 10, 80), (22, 10, 80), (23, 21, 80)];
        assert_eq!(left_out(9, &members, &[21], &[]), [22]);
        // What 22 does for 21, its children do too.
        let members = [(10, 1, 20), (21, 10, 80), (22, 10, 80), (24, 22, 80)];
        assert!(left_out(9, &members, &[21], &[22]).is_empty());
    }

    #[test]
    fn who_joins_is_not_judged_and_who_accepts_later_serves() {
        let mut acceptors = Acceptors::default();
        let held = |accept: &[i32]| Held {
            listen: [10, 11, 12].into(),
            accept: accept.iter().copied().collect(),
            linked: BTreeSet::new(),
        };
        for nth in 0..12 {
            let busy = |pid| process(pid, 1, nth * 90 * MS, 0);
            let mut processes = vec![busy(10), busy(11)];
            processes.extend((nth > 2).then(|| busy(12)));
            // 11 was busy with its own start.
            let accept: &[i32] = if nth < 11 { &[10] } else { &[10, 11] };
            let files = KernelFiles::default();
            acceptors.learn(&files, &processes, &total_ns, &held(accept), nth * 100 * MS);
            let left_out: Vec<i32> = acceptors.left_out().map(|one| one.pid).collect();
            let expected: &[i32] = if (4..11).contains(&nth) { &[11] } else { &[] };
            assert_eq!(left_out, expected, "{nth}");
        }
    }

    #[test]
    fn who_is_above_those_that_accept_has_a_part_in_it() {
        // A master that passes connections on, and its worker, which does not hold the socket.
        let members = [(10, 1, 90), (20, 10, 50), (11, 10, 0)];
        assert!(left_out(20, &members, &[20], &[]).is_empty());
    }

    #[test]
    fn what_it_used_counts_from_when_it_was_first_seen() {
        let one =
            LeftOut { pid: 1, name: "job".into(), used: vec![(10, 100), (20, 150), (30, 400)] };
        assert_eq!([5, 10, 15, 20, 99].map(|at_ns| one.used_ns(at_ns)), [0, 0, 0, 50, 300]);
    }
}
