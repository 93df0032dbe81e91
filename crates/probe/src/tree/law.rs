//! The law of accounts, over random trees of processes with random deaths: what is counted is at most
//! what was used, but for processes that ended between the same two looks as their parents, where
//! nobody can tell who was billed; and what is missing belongs to processes that nobody below the root was billed for,
//! or that were never seen there.
//!
//! A small kernel keeps the true accounts: who waits for a child gets its time and that of all
//! children it had waited for (wait(2)), in whole clock ticks, user and system apart; children of a
//! parent that ignores SIGCHLD are billed to nobody; orphans are adopted.
use super::*;
use crate::process_table::ProcessTable;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;
/// A clock tick: waited-for time is rounded down to it.
const TICK: u64 = 10 * MS;
/// Init, a service of the machine, and the root of the tree.
const INIT: i32 = 1;
const ROOT: i32 = 10;

/// What happens next. Processes are chosen by their place among the living.
#[derive(Debug, Clone)]
enum Event {
    /// A process starts a child, which may ignore the death of its own children.
    Fork { parent: usize, ignores: bool },
    /// It uses so many milliseconds.
    Work { who: usize, ms: u64 },
    /// It ends. Its parent has waited for it before the next look, or it stays a zombie.
    End { who: usize, is_waited: bool },
    /// The probe looks.
    Look,
}

/// One process of the small kernel.
#[derive(Debug, Clone)]
struct Real {
    parent: i32,
    own_ns: u64,
    waited_ns: u64,
    ignores: bool,
    is_zombie: bool,
}

/// The small kernel.
struct Kernel {
    processes: BTreeMap<i32, Real>,
    next: i32,
    /// Whether the root adopts the orphans below it (PR_SET_CHILD_SUBREAPER), or init does.
    reaps: bool,
    /// What processes below the root have used: the truth.
    used_ns: u64,
    /// What nobody below the root was billed for. The probe may have seen it before, but where a
    /// whole branch ends between two looks, it cannot know who was billed for whom.
    unbilled_ns: u64,
    /// Processes that were seen below the root.
    seen: BTreeSet<i32>,
    /// Processes whose parent ended since the last look.
    orphans: BTreeSet<i32>,
    /// Parents and totals of processes that were waited for since the last look.
    removed: Vec<(i32, u64)>,
    /// What processes had used that ended between the same two looks as their parents.
    ambiguous_ns: u64,
}

impl Kernel {
    fn new(reaps: bool) -> Self {
        let real =
            |parent| Real { parent, own_ns: 0, waited_ns: 0, ignores: false, is_zombie: false };
        let processes = BTreeMap::from([(INIT, real(0)), (ROOT, real(INIT))]);
        let (used_ns, unbilled_ns) = (0, 0);
        Self {
            processes,
            next: ROOT + 1,
            reaps,
            used_ns,
            unbilled_ns,
            seen: BTreeSet::new(),
            orphans: BTreeSet::new(),
            removed: Vec::new(),
            ambiguous_ns: 0,
        }
    }

    /// One of the living but init.
    fn living(&self, place: usize) -> i32 {
        let all: Vec<i32> = self
            .processes
            .iter()
            .filter(|(pid, one)| **pid != INIT && !one.is_zombie)
            .map(|(pid, _)| *pid)
            .collect();
        all[place % all.len()]
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::Fork { parent, ignores } => {
                let parent = self.living(parent);
                let child = Real { parent, own_ns: 0, waited_ns: 0, ignores, is_zombie: false };
                self.processes.insert(self.next, child);
                self.next += 1;
            }
            Event::Work { who, ms } => {
                let pid = self.living(who);
                self.used_ns += ms * MS;
                self.processes.get_mut(&pid).unwrap().own_ns += ms * MS;
            }
            Event::End { who, is_waited } => {
                let pid = self.living(who);
                if pid != ROOT {
                    self.end(pid, is_waited);
                }
            }
            Event::Look => {}
        }
    }

    fn end(&mut self, pid: i32, is_waited: bool) {
        let adopter = if self.reaps { ROOT } else { INIT };
        let orphans: Vec<i32> = self
            .processes
            .iter()
            .filter(|(_, one)| one.parent == pid)
            .map(|(orphan, _)| *orphan)
            .collect();
        self.orphans.extend(&orphans);
        let of_it = self.removed.iter().filter(|(parent, _)| *parent == pid);
        self.ambiguous_ns += of_it.map(|(_, total_ns)| total_ns).sum::<u64>();
        for orphan in orphans {
            self.processes.get_mut(&orphan).unwrap().parent = adopter;
            // Who adopts a zombie waits for it.
            if self.processes[&orphan].is_zombie {
                self.wait(orphan);
            }
        }
        let parent = self.processes[&pid].parent;
        let is_adopted = parent == adopter;
        if self.processes[&parent].ignores {
            self.lose(pid);
        } else if is_waited || is_adopted {
            self.wait(pid);
        } else {
            self.processes.get_mut(&pid).unwrap().is_zombie = true;
        }
    }

    /// Its parent waits for it: in ticks, user and system time apart.
    fn wait(&mut self, pid: i32) {
        let one = self.processes[&pid].clone();
        if one.parent == INIT {
            self.lose(pid);
            return;
        }
        self.remove(pid);
        let (user, system) = (one.own_ns / 2 / TICK * TICK, one.own_ns.div_ceil(2) / TICK * TICK);
        self.processes.get_mut(&one.parent).unwrap().waited_ns += user + system + one.waited_ns;
    }

    /// Nobody below the root is billed for it.
    fn lose(&mut self, pid: i32) {
        self.unbilled_ns += self.remove(pid);
    }

    /// Takes it out of the table. Returns all that it had used.
    fn remove(&mut self, pid: i32) -> u64 {
        let one = self.processes.remove(&pid).unwrap();
        let total_ns = one.own_ns + one.waited_ns;
        if self.orphans.contains(&pid) {
            self.ambiguous_ns += total_ns;
        } else {
            self.removed.push((one.parent, total_ns));
        }
        total_ns
    }

    fn read(&self, pid: i32) -> Option<Process> {
        let one = self.processes.get(&pid)?;
        Some(Process {
            start_ticks: 1,
            zombie: one.is_zombie,
            ..crate::process_table::tests::process(pid, one.parent, one.own_ns, one.waited_ns)
        })
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let place = 0..8_usize;
    let one = prop_oneof![
        3 => (place.clone(), prop::bool::weighted(0.1))
            .prop_map(|(parent, ignores)| Event::Fork { parent, ignores }),
        4 => (place.clone(), 1..400_u64).prop_map(|(who, ms)| Event::Work { who, ms }),
        2 => (place, any::<bool>()).prop_map(|(who, is_waited)| Event::End { who, is_waited }),
        2 => Just(Event::Look),
    ];
    prop::collection::vec(one, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_counted_is_at_most_the_truth_and_only_the_unseen_is_missing(
        events in events(),
        reaps in any::<bool>(),
    ) {
        let (mut kernel, mut table) = (Kernel::new(reaps), ProcessTable::default());
        let (mut ledger, mut last_ns) = (TreeLedger::default(), 0);
        let end = [Event::Look];
        let mut dead = 0;
        for event in events.iter().chain(&end) {
            let before = kernel.processes.len();
            kernel.event(event);
            dead += before.saturating_sub(kernel.processes.len()) as u64;
            if !matches!(event, Event::Look) {
                continue;
            }
            let listed: Vec<i32> = kernel.processes.keys().copied().collect();
            let none = BTreeSet::new();
            let reading = table.look((&[ROOT], &none), &listed, |pid| kernel.read(pid));
            let counted_ns = ledger.update(ROOT, true, &reading.trees[0], &reading.unread);
            prop_assert!(counted_ns >= last_ns, "it fell from {last_ns} to {counted_ns}");
            prop_assert!(
                counted_ns <= kernel.used_ns + kernel.ambiguous_ns,
                "counted {counted_ns} of {}", kernel.used_ns
            );
            last_ns = counted_ns;
            kernel.seen.extend(reading.trees[0].keys());
            kernel.orphans.clear();
            kernel.removed.clear();
        }
        // Whom init adopted before the first look at it was never known to be below the root.
        let never_seen_ns: u64 = kernel
            .processes
            .iter()
            .filter(|(pid, _)| **pid != INIT && !kernel.seen.contains(pid))
            .map(|(_, one)| one.own_ns + one.waited_ns)
            .sum();
        let untold_ns = kernel.unbilled_ns + never_seen_ns;
        // Each death may round away two ticks.
        let least_ns = kernel.used_ns.saturating_sub(untold_ns + dead * 2 * TICK);
        prop_assert!(
            last_ns >= least_ns,
            "counted {last_ns}, used {}, of which {untold_ns} could not be known", kernel.used_ns
        );
    }
}
