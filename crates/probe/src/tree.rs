//! CPU time of a whole process tree, each process counted exactly once, also after its death.
//!
//! When a process is waited for, the kernel adds its time, and that of all children it had waited
//! for, to the account "children waited for" (cutime, cstime) of its parent (wait(2), kernel
//! `wait_task_zombie`). So the total is the living processes' own time, plus their accounts, plus
//! the account of the supervisor, which inherits orphans. This includes even short-lived children.
//! There is one gap: children of a parent that ignores SIGCHLD are billed to no process
//! (getrusage(2)). Their last seen time is kept here, but their usage after the last sample stays
//! unknown. So for those servers the figure is a lower bound.
use std::collections::{HashMap, HashSet};

use crate::process_table::Process;

/// Two clock ticks of 100 per second, by which the account of waited-for children may be too low:
/// user and system time are rounded down separately.
const ROUNDING_NS: u64 = 20_000_000;

/// The last known state of a process.
#[derive(Debug, Clone)]
struct Entry {
    start_ticks: u64,
    parent: i32,
    own_ns: u64,
    waited_ns: u64,
    /// Its account when it was first seen.
    waited_first_ns: u64,
    /// The last seen time of vanished children. The account must have grown by at least that.
    expected_ns: u64,
    /// How many children that is.
    expected_of: u64,
}

impl Entry {
    fn new(process: &Process) -> Self {
        let Process { start_ticks, parent, own_ns, waited_ns, .. } = *process;
        Self {
            start_ticks,
            parent,
            own_ns,
            waited_ns,
            waited_first_ns: waited_ns,
            expected_ns: 0,
            expected_of: 0,
        }
    }

    const fn total_ns(&self) -> u64 {
        self.own_ns + self.waited_ns
    }

    /// Whether the account grew enough for one more child. It is rounded down for each of them.
    const fn has_waited_for(&self, child_ns: u64) -> bool {
        let rounding_ns = ROUNDING_NS * (self.expected_of + 1);
        self.waited_ns - self.waited_first_ns + rounding_ns >= self.expected_ns + child_ns
    }

    /// Time of vanished children that no account shows.
    const fn unbilled_ns(&self) -> u64 {
        let missing = self.expected_ns.saturating_sub(self.waited_ns - self.waited_first_ns);
        if missing > ROUNDING_NS { missing } else { 0 }
    }
}

/// The account of one tree over time.
#[derive(Debug, Default)]
pub struct TreeLedger {
    root_start_ticks: Option<u64>,
    entries: HashMap<i32, Entry>,
    /// Unbilled time of processes whose parent is gone too.
    unbilled_ns: u64,
    counted_ns: u64,
}

impl TreeLedger {
    /// Takes one look at the tree below `root`. Returns its CPU time since it began, in
    /// nanoseconds, which never falls.
    ///
    /// `seen` is the root and all processes below it. `unread` are those that were listed but could
    /// not be read; they are settled at the next look. With `root_counts`, the root's own time
    /// belongs to the tree.
    pub fn update(
        &mut self,
        root: i32,
        root_counts: bool,
        seen: &HashMap<i32, Process>,
        unread: &HashSet<i32>,
    ) -> u64 {
        let root_lives = seen.get(&root).is_some_and(|process| {
            *self.root_start_ticks.get_or_insert(process.start_ticks) == process.start_ticks
        });
        if !root_lives {
            return self.counted_ns;
        }
        let vanished = self.take_vanished(seen, unread);
        for (pid, process) in seen {
            let entry = self.entries.entry(*pid).or_insert_with(|| Entry::new(process));
            entry.parent = process.parent;
            entry.own_ns = process.own_ns.max(entry.own_ns);
            entry.waited_ns = process.waited_ns.max(entry.waited_ns);
        }
        let dead = seen.values().filter(|process| process.zombie).map(|process| process.pid);
        self.settle(root, &vanished, &dead.collect());
        let total: u64 = seen.keys().filter_map(|pid| Some((pid, self.entries.get(pid)?))).fold(
            self.unbilled_ns,
            |sum, (&pid, entry)| {
                let own = if pid == root && !root_counts { 0 } else { entry.own_ns };
                sum + own + entry.waited_ns + entry.unbilled_ns()
            },
        );
        self.counted_ns = self.counted_ns.max(total);
        self.counted_ns
    }

    /// What was last counted of a process and of the children that it waited for, in nanoseconds;
    /// `None` if it was not there at the last look.
    #[must_use]
    pub fn counted_ns(&self, pid: i32, start_ticks: u64) -> Option<u64> {
        let entry = self.entries.get(&pid).filter(|entry| entry.start_ticks == start_ticks)?;
        Some(entry.total_ns())
    }

    /// Whether the root was ever seen.
    #[must_use]
    pub const fn began(&self) -> bool {
        self.root_start_ticks.is_some()
    }

    fn take_vanished(
        &mut self,
        seen: &HashMap<i32, Process>,
        unread: &HashSet<i32>,
    ) -> HashMap<i32, Entry> {
        let same = |pid: &i32, entry: &Entry| {
            seen.get(pid)
                .map_or(unread.contains(pid), |process| process.start_ticks == entry.start_ticks)
        };
        self.entries.extract_if(|pid, entry| !same(pid, entry)).collect()
    }

    /// Charges vanished processes to those that must have waited for them. `dead` have ended and were
    /// not waited for yet.
    fn settle(&mut self, root: i32, vanished: &HashMap<i32, Entry>, dead: &HashSet<i32>) {
        // Time that a vanished process was not billed for stays unbilled.
        self.unbilled_ns += vanished.values().map(Entry::unbilled_ns).sum::<u64>();
        let lives = |pid: &i32| self.entries.contains_key(pid) && !dead.contains(pid);
        let (certain, uncertain): (Vec<&Entry>, Vec<&Entry>) =
            vanished.values().partition(|entry| lives(&entry.parent));
        for entry in certain {
            self.charge(entry.parent, entry.total_ns());
        }
        // Its parent has ended as well. Either the parent waited for it first, and if it vanished
        // passed its time upwards, or it was an orphan for a moment and the root waited for it.
        for entry in uncertain {
            let was_billed = |pid: &i32| {
                self.entries.get(pid).is_some_and(|it| it.has_waited_for(entry.total_ns()))
            };
            let billed = [entry.parent, root].into_iter().find(was_billed);
            let ancestor = || self.living_ancestor(entry.parent, vanished, dead).unwrap_or(root);
            self.charge(billed.unwrap_or_else(ancestor), entry.total_ns());
        }
    }

    fn charge(&mut self, pid: i32, total_ns: u64) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.expected_ns += total_ns;
            entry.expected_of += 1;
        }
    }

    fn living_ancestor(
        &self,
        mut pid: i32,
        vanished: &HashMap<i32, Entry>,
        dead: &HashSet<i32>,
    ) -> Option<i32> {
        for _ in 0..=vanished.len() + dead.len() {
            match self.entries.get(&pid) {
                Some(entry) if dead.contains(&pid) => pid = entry.parent,
                Some(_) => return Some(pid),
                None => pid = vanished.get(&pid)?.parent,
            }
        }
        None
    }
}

#[cfg(test)]
mod law;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_table::tests::process;

    const MS: u64 = 1_000_000;
    const ROOT: i32 = 10;

    /// Feeds one look: (pid, parent, own ms, waited ms).
    fn look(ledger: &mut TreeLedger, processes: &[(i32, i32, u64, u64)]) -> u64 {
        let seen = processes
            .iter()
            .map(|&(pid, parent, own, waited)| (pid, process(pid, parent, own * MS, waited * MS)))
            .collect();
        ledger.update(ROOT, false, &seen, &HashSet::new()) / MS
    }

    #[test]
    fn the_living_and_those_waited_for_count_and_the_supervisor_does_not() {
        let mut ledger = TreeLedger::default();
        assert!(!ledger.began());
        assert_eq!(look(&mut ledger, &[(10, 1, 900, 0), (11, 10, 100, 50), (12, 11, 7, 0)]), 157);
        assert!(ledger.began());
        let seen =
            HashMap::from([(10, process(10, 1, 900 * MS, 0)), (11, process(11, 10, 100 * MS, 0))]);
        assert_eq!(TreeLedger::default().update(ROOT, true, &seen, &HashSet::new()), 1000 * MS);
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once() {
        let mut ledger = TreeLedger::default();
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 100, 0), (12, 11, 300, 0)]), 400);
        // 12 used 40 more before it died, and 13 used 60 between two looks.
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 110, 400)]), 510);
        // Now 11 dies and is charged to the supervisor, with everything it had waited for.
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 510)]), 510);
    }

    #[test]
    fn rounding_of_the_account_is_no_loss_and_the_sum_never_falls() {
        let mut ledger = TreeLedger::default();
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 100, 0), (12, 11, 39, 0)]), 139);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 100, 20)]), 139);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 130, 20)]), 150);
    }

    #[test]
    fn children_of_a_parent_that_ignores_their_death_keep_what_was_seen() {
        let mut ledger = TreeLedger::default();
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0), (12, 11, 300, 0)]), 310);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0)]), 310);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0), (13, 11, 200, 0)]), 510);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 15, 0)]), 515);
        // The parent's own death bills the parent alone.
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 15)]), 515);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 115)]), 615);
    }

    #[test]
    fn a_family_that_vanishes_at_once_counts_once() {
        let mut ledger = TreeLedger::default();
        assert_eq!(
            look(
                &mut ledger,
                &[(10, 1, 0, 0), (11, 10, 10, 0), (12, 11, 100, 0), (13, 12, 200, 0)]
            ),
            310
        );
        // 12 waited for 13, then 11 for 12.
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 300)]), 310);

        // The same, but 12 died first and the supervisor waited for the orphan 13.
        let mut ledger = TreeLedger::default();
        look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0), (12, 11, 100, 0), (13, 12, 200, 0)]);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 200), (11, 10, 10, 100)]), 310);

        // 11 ignores the death of 12, which had waited for 13.
        let mut ledger = TreeLedger::default();
        look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0), (12, 11, 100, 0), (13, 12, 200, 0)]);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 10, 0)]), 310);
    }

    #[test]
    fn a_double_forked_daemon_counts_once_alive_and_dead() {
        let mut ledger = TreeLedger::default();
        look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 5, 0), (12, 11, 1, 0), (13, 12, 0, 0)]);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 5, 1), (13, 10, 400, 0)]), 406);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 450), (11, 10, 5, 1)]), 456);
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        let mut ledger = TreeLedger::default();
        look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 5, 0), (12, 11, 100, 0)]);
        let again = Process { start_ticks: 2, ..process(12, 11, 3 * MS, 0) };
        let seen = HashMap::from([
            (10, process(10, 1, 0, 0)),
            (11, process(11, 10, 5 * MS, 100 * MS)),
            (12, again),
        ]);
        assert_eq!(ledger.update(ROOT, false, &seen, &HashSet::new()) / MS, 108);
    }

    #[test]
    fn who_dies_under_the_eyes_is_settled_next_time() {
        let mut ledger = TreeLedger::default();
        look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 5, 0), (12, 11, 100, 0)]);
        let seen = HashMap::from([(10, process(10, 1, 0, 0)), (11, process(11, 10, 6 * MS, 0))]);
        assert_eq!(ledger.update(ROOT, false, &seen, &HashSet::from([12])) / MS, 105);
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 7, 120)]), 127);
    }

    #[test]
    fn a_tree_whose_supervisor_is_gone_keeps_its_last_figure() {
        let mut ledger = TreeLedger::default();
        assert_eq!(look(&mut ledger, &[(10, 1, 0, 0), (11, 10, 500, 0)]), 500);
        assert_eq!(look(&mut ledger, &[]), 500);
        let other = HashMap::from([(10, Process { start_ticks: 9, ..process(10, 1, 0, 7 * MS) })]);
        assert_eq!(ledger.update(ROOT, false, &other, &HashSet::new()) / MS, 500);
    }
}
