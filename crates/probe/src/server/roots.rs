//! From the processes that hold a listening socket to the trees that serve it.
//!
//! A socket passes from parents to children, and a parent that holds it need not serve: systemd, a
//! supervisor, a script that starts workers and then Pippin. So a tree begins at the first process
//! that holds it, without the branches that have nothing to do with it; and above Pippin, or at the
//! machine's first process, it begins with the first below that hold it.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::descriptors::Descriptors;

/// The trees that serve a socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trees {
    /// The first process of each.
    pub roots: BTreeSet<i32>,
    /// Processes below a root that do not belong to it, with everything below them.
    pub apart: BTreeSet<i32>,
}

/// All processes and their parents at one moment.
#[derive(Debug, Default)]
pub struct Family {
    parents: HashMap<i32, i32>,
    children: BTreeMap<i32, BTreeSet<i32>>,
}

impl Family {
    /// From each process and its parent.
    pub fn from_parents(parents: impl IntoIterator<Item = (i32, i32)>) -> Self {
        let mut family = Self::default();
        for (pid, parent) in parents {
            family.parents.insert(pid, parent);
            family.children.entry(parent).or_default().insert(pid);
        }
        family
    }

    /// The parent of a process, its parent and so on.
    #[must_use]
    pub fn above(&self, pid: i32) -> Vec<i32> {
        let parent = |pid: &i32| self.parents.get(pid).copied().filter(|parent| *parent > 0);
        // Numbers may be used again while they are read, so a chain is never longer than all.
        std::iter::successors(parent(&pid), parent).take(self.parents.len()).collect()
    }

    /// A process and everything below it.
    #[must_use]
    pub fn below(&self, pid: i32) -> BTreeSet<i32> {
        let mut all = BTreeSet::new();
        let mut next = vec![pid];
        while let Some(pid) = next.pop() {
            if all.insert(pid) {
                next.extend(self.children.get(&pid).into_iter().flatten());
            }
        }
        all
    }

    /// The children of a process.
    pub fn children(&self, pid: i32) -> impl Iterator<Item = i32> + '_ {
        self.children.get(&pid).into_iter().flatten().copied()
    }

    /// Those of these processes that have none of the others above them.
    #[must_use]
    pub fn firsts(&self, of: &BTreeSet<i32>) -> BTreeSet<i32> {
        of.iter()
            .copied()
            .filter(|pid| !self.above(*pid).iter().any(|above| of.contains(above)))
            .collect()
    }
}

/// The trees that serve a socket that these processes hold. `own` is this process, which serves
/// nothing. `held` is what a process holds open.
pub fn trees(
    family: &Family,
    holders: &BTreeSet<i32>,
    own: i32,
    held: &mut dyn FnMut(i32) -> Option<Descriptors>,
) -> Trees {
    let mut own_line: BTreeSet<i32> = family.above(own).into_iter().collect();
    own_line.insert(own);
    let holders: BTreeSet<i32> = holders.iter().copied().filter(|pid| *pid != own).collect();
    let mut trees = Trees::default();
    for first in family.firsts(&holders) {
        Search { family, holders: &holders, own_line: &own_line, held, trees: &mut trees }
            .descend(first);
    }
    trees
}

struct Search<'a> {
    family: &'a Family,
    holders: &'a BTreeSet<i32>,
    /// This process and those above it.
    own_line: &'a BTreeSet<i32>,
    held: &'a mut dyn FnMut(i32) -> Option<Descriptors>,
    trees: &'a mut Trees,
}

impl Search<'_> {
    fn descend(&mut self, holder: i32) {
        let (family, own_line) = (self.family, self.own_line);
        let (holding, others): (Vec<i32>, Vec<i32>) = family
            .children(holder)
            .filter(|child| !own_line.contains(child))
            .partition(|child| !family.below(*child).is_disjoint(self.holders));
        let is_above = own_line.contains(&holder);
        if (is_above || holder == 1) && !holding.is_empty() {
            for branch in holding {
                let within = family.below(branch).intersection(self.holders).copied().collect();
                family.firsts(&within).into_iter().for_each(|first| self.descend(first));
            }
            return;
        }
        if holder == 1 {
            return;
        }
        self.trees.roots.insert(holder);
        if is_above {
            // Its siblings stay.
            self.trees.apart.extend(family.children(holder).filter(|it| own_line.contains(it)));
        }
        if !holding.is_empty() {
            let apart = self.unconnected(&holding, others);
            self.trees.apart.extend(apart);
        }
    }

    /// Those of the `others` that are connected by a pipe to none of the branches that hold the
    /// socket: a supervisor's other children. A server's own helper reads or writes something of its
    /// workers.
    fn unconnected(&mut self, holding: &[i32], others: Vec<i32>) -> Vec<i32> {
        let mut all = |branches: &[i32]| -> Vec<Descriptors> {
            let pids = branches.iter().flat_map(|branch| self.family.below(*branch));
            pids.filter_map(|pid| (self.held)(pid)).collect()
        };
        let workers = all(holding);
        let mut unconnected = others;
        unconnected.retain(|branch| {
            let members = all(&[*branch]);
            !members.iter().any(|one| workers.iter().any(|worker| worker.are_piped(one)))
        });
        unconnected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: i32 = 900;

    /// The roots and what is apart. Pairs are (process, parent).
    fn found(parents: &[(i32, i32)], holders: &[i32]) -> (Vec<i32>, Vec<i32>) {
        let family = Family::from_parents(parents.iter().copied());
        let holders = holders.iter().copied().collect();
        let Trees { roots, apart } =
            trees(&family, &holders, OWN, &mut |_| Some(Descriptors::default()));
        (roots.into_iter().collect(), apart.into_iter().collect())
    }

    #[test]
    fn a_tree_begins_with_its_first_holder() {
        let parents = [(1, 0), (10, 1), (11, 10), (12, 10), (20, 1), (OWN, 1)];
        assert_eq!(found(&parents, &[10, 11, 12]), (vec![10], vec![]));
        assert_eq!(found(&parents, &[10, 20]), (vec![10, 20], vec![]));
        assert_eq!(found(&parents, &[10]), (vec![10], vec![]), "its children work for it");
    }

    #[test]
    fn who_passes_a_socket_on_does_not_bring_its_other_children() {
        // systemd holds the socket of the service 10, and has other services.
        let parents = [(1, 0), (10, 1), (11, 10), (20, 1), (OWN, 1)];
        assert_eq!(found(&parents, &[1, 10, 11]), (vec![10], vec![]));
        assert_eq!(found(&parents, &[1]), (vec![], vec![]), "nobody has taken it yet");
        // A supervisor 10 with a worker and something else.
        let parents = [(1, 0), (10, 1), (11, 10), (12, 10), (13, 12), (OWN, 1)];
        assert_eq!(found(&parents, &[10, 11]), (vec![10], vec![12]));
    }

    #[test]
    fn siblings_of_this_process_are_found_and_its_own_branch_is_not() {
        // A script that began to listen, forked two workers, and ran this process from a shell.
        let parents = [(1, 0), (10, 1), (11, 10), (12, 10), (50, 10), (OWN, 50)];
        assert_eq!(found(&parents, &[10, 11, 12]), (vec![11, 12], vec![]));
        assert_eq!(found(&parents, &[10, 11, OWN]), (vec![11], vec![]), "a leaked descriptor");
        assert_eq!(found(&parents, &[10]), (vec![10], vec![50]), "the script itself serves");
        assert_eq!(found(&parents, &[OWN]), (vec![], vec![]));
    }

    #[test]
    fn a_helper_that_is_piped_to_the_workers_stays() {
        let family = Family::from_parents([(10, 1), (11, 10), (12, 10), (13, 10)]);
        let pipe = |reads: &[u64], writes: &[u64]| Descriptors {
            reads: reads.iter().copied().collect(),
            writes: writes.iter().copied().collect(),
            ..Descriptors::default()
        };
        let mut held = |pid| Some(if pid == 12 { pipe(&[7], &[]) } else { pipe(&[], &[7, 8]) });
        let found = trees(&family, &BTreeSet::from([10, 11]), OWN, &mut held);
        assert_eq!(found.apart, BTreeSet::from([13]), "13 only writes the same log");
    }
}
