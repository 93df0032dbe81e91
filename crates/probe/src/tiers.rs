//! The tiers behind a server: the processes that it is connected to, with their CPU time.
//!
//! They are found while the load runs, and what they used before that is read from earlier looks at
//! all processes. Whether a process works with the load is for [`crate::usage`] to say.
use pippin_model::host::usage::RoleSample;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::budget::{Budget, Limits};
use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::connected::{Behind, Connected};
use crate::kernel_files::KernelFiles;
use crate::process_name::process_name;
use crate::process_table::Process;
use crate::sample::workers_ns;
use crate::server::Place;
use crate::server::roots::Family;
use crate::tree::TreeLedger;

/// They are looked for ten times per second at most, and that takes at most 0.4 % of one processor:
/// with looking who accepts, which may take another 0.1 %, half a percent. It may take more at once:
/// short connections are seen only by looking often, and a load may be over after seconds.
const LIMITS: Limits = Limits { every_ns: 100_000_000, share: 250, credit_ns: 50_000_000 };
/// While nothing is found and connections come and go, it looks again at once, for so long.
const AT_ONCE_NS: u64 = 20_000_000;
/// So many earlier looks are kept. A tier that is found later has its first figure from the oldest.
const KEPT: usize = 40;

/// All processes outside of the roles at one instant.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at_ns: u64,
    /// By pid.
    pub processes: HashMap<i32, Process>,
}

/// What a tier had used at an earlier instant, known only after it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// The instant of the sample.
    pub at_ns: u64,
    /// The tier.
    pub name: String,
    /// What it had used.
    pub sample: RoleSample,
    /// The part of that sample's outsiders that it was, nanoseconds.
    pub outsiders_ns: u64,
}

/// The tiers that are known.
#[derive(Debug, Default)]
pub struct Tiers {
    connected: Connected,
    roots: BTreeMap<i32, Tier>,
    apart: BTreeSet<i32>,
    /// Two looks while the server had no requests.
    rest: Vec<Outside>,
    history: Vec<Outside>,
    earlier: Vec<Earlier>,
    hidden: u32,
    budget: Budget,
}

#[derive(Debug)]
struct Tier {
    name: String,
    ledger: TreeLedger,
    rest_cores: Option<f64>,
}

impl Tiers {
    /// The first process of each tier.
    pub fn roots(&self) -> impl Iterator<Item = i32> + '_ {
        self.roots.keys().copied()
    }

    /// Processes within the tiers' trees that do not belong to them.
    #[must_use]
    pub const fn apart(&self) -> &BTreeSet<i32> {
        &self.apart
    }

    /// Other ends of the server's connections whose processes cannot be seen.
    #[must_use]
    pub const fn hidden(&self) -> u32 {
        self.hidden
    }

    /// Whether it is known what other processes do while the server has no requests.
    #[must_use]
    pub const fn knows_rest(&self) -> bool {
        self.rest.len() >= 2
    }

    /// Keeps a look at other processes while the server has no requests.
    pub fn rest(&mut self, look: Outside) {
        self.rest.push(look);
    }

    /// Keeps a look at other processes while the server is loaded.
    pub fn keep(&mut self, look: Outside) {
        if self.history.len() >= KEPT {
            // The first one stays: figures begin there.
            self.history.remove(1);
        }
        self.history.push(look);
    }

    /// What is known only now of earlier samples.
    pub fn take_earlier(&mut self) -> Vec<Earlier> {
        std::mem::take(&mut self.earlier)
    }

    /// Adds the look of a sample at the tree of a tier. Returns the tier's name and what it used.
    pub fn add(
        &mut self,
        root: i32,
        tree: &HashMap<i32, Process>,
        unread: &HashSet<i32>,
    ) -> Option<(String, RoleSample)> {
        let tier = self.roots.get_mut(&root)?;
        let cpu_ns = tier.ledger.update(root, true, tree, unread);
        Some((tier.name.clone(), sample(cpu_ns, tree, tier.rest_cores)))
    }

    /// Looks for tiers if it is time. `members` are all processes of the server and its tiers;
    /// `taken` are all that have a role, with this process and those above it.
    pub fn look(
        &mut self,
        files: &KernelFiles,
        members: &HashSet<i32>,
        taken: &HashSet<i32>,
        served: Option<&Place>,
    ) {
        let now_ns = monotonic_ns();
        if !self.budget.is_due(now_ns) {
            return;
        }
        let before_ns = thread_cpu_ns();
        let used_ns = || thread_cpu_ns().zip(before_ns).map(|(after, before)| after - before);
        let roots = members.iter().copied().collect();
        let goes_on = |behind: &Behind| {
            behind.roots.iter().all(|root| taken.contains(root))
                && used_ns().is_some_and(|used_ns| used_ns < AT_ONCE_NS)
        };
        let Behind { roots, apart, hidden } = self.connected.look(members, &roots, served, goes_on);
        self.hidden = self.hidden.max(hidden);
        for root in roots {
            if root > 1 && !taken.contains(&root) && !self.roots.contains_key(&root) {
                self.found(files, root);
                self.apart.extend(apart.iter().copied().filter(|pid| !taken.contains(pid)));
            }
        }
        self.budget.spend(LIMITS, now_ns, used_ns().unwrap_or(0), now_ns);
    }

    /// Adds a tier, with what earlier looks know of it.
    fn found(&mut self, files: &KernelFiles, root: i32) {
        let Some(name) = process_name(files, root) else { return };
        let rest_cores = match &self.rest[..] {
            [from, .., to] => Some(cores_between(root, from, to)),
            _ => None,
        };
        let mut tier = Tier { name: name.clone(), ledger: TreeLedger::default(), rest_cores };
        for look in &self.history {
            let tree = tree(root, &look.processes);
            if tree.is_empty() {
                continue;
            }
            let cpu_ns = tier.ledger.update(root, true, &tree, &HashSet::new());
            self.earlier.push(Earlier {
                at_ns: look.at_ns,
                name: name.clone(),
                sample: sample(cpu_ns, &tree, rest_cores),
                outsiders_ns: tree.values().map(|one| one.own_ns + one.waited_ns).sum(),
            });
        }
        self.roots.insert(root, tier);
    }
}

fn sample(cpu_ns: u64, tree: &HashMap<i32, Process>, rest_cores: Option<f64>) -> RoleSample {
    let living: Vec<&Process> = tree.values().filter(|process| !process.zombie).collect();
    RoleSample {
        cpu_ns,
        rss_bytes: (!living.is_empty()).then(|| living.iter().map(|one| one.rss_bytes).sum()),
        processes: u32::try_from(living.len()).unwrap_or(u32::MAX),
        threads: living.iter().map(|one| one.threads).sum(),
        rest_cores,
        workers_ns: workers_ns(&living),
        ..RoleSample::default()
    }
}

/// A process and all below it.
fn tree(root: i32, all: &HashMap<i32, Process>) -> HashMap<i32, Process> {
    if !all.contains_key(&root) {
        return HashMap::new();
    }
    let below = Family::from_parents(all.values().map(|one| (one.pid, one.parent))).below(root);
    below.into_iter().filter_map(|pid| Some((pid, all.get(&pid)?.clone()))).collect()
}

/// Processors that a tree kept busy between two looks.
fn cores_between(root: i32, from: &Outside, to: &Outside) -> f64 {
    let used = |look: &Outside| -> u64 {
        tree(root, &look.processes).values().map(|one| one.own_ns + one.waited_ns).sum()
    };
    let length_ns = to.at_ns.saturating_sub(from.at_ns).max(1);
    used(to).saturating_sub(used(from)) as f64 / length_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_table::tests::process;

    const MS: u64 = 1_000_000;

    fn outside(at_ms: u64, processes: &[(i32, i32, u64)]) -> Outside {
        let each =
            processes.iter().map(|&(pid, parent, ms)| (pid, process(pid, parent, ms * MS, 0)));
        Outside { at_ns: at_ms * MS, processes: each.collect() }
    }

    #[test]
    fn what_a_tier_used_before_it_was_found_is_known_from_earlier_looks() {
        let own = std::process::id() as i32;
        let mut tiers = Tiers::default();
        tiers.rest(outside(0, &[(own, 1, 5), (7, own, 1)]));
        tiers.rest(outside(100, &[(own, 1, 6), (7, own, 10)]));
        assert!(tiers.knows_rest());
        tiers.keep(outside(100, &[(own, 1, 6), (7, own, 10), (9, 1, 77)]));
        tiers.keep(outside(1100, &[(own, 1, 6), (7, own, 800)]));
        tiers.found(&KernelFiles::default(), own);
        let earlier = tiers.take_earlier();
        let seen: Vec<(u64, u64, u64)> = earlier
            .iter()
            .map(|one| (one.at_ns / MS, one.sample.cpu_ns / MS, one.outsiders_ns / MS))
            .collect();
        assert_eq!(seen, [(100, 16, 16), (1100, 806, 806)]);
        assert_eq!(earlier[0].sample.rest_cores, Some(0.1), "10 ms in 100 ms");
        assert!(tiers.take_earlier().is_empty());
        let now = outside(1200, &[(own, 1, 6), (7, own, 900)]).processes;
        let (_, sample) = tiers.add(own, &now, &HashSet::new()).unwrap();
        assert_eq!((sample.cpu_ns / MS, sample.processes), (906, 2));
        assert_eq!(tiers.add(9, &now, &HashSet::new()), None);
    }

    #[test]
    fn the_first_look_stays_and_the_number_is_bounded() {
        let mut tiers = Tiers::default();
        for at in 0..100 {
            tiers.keep(outside(at, &[]));
        }
        assert_eq!(tiers.history.len(), KEPT);
        assert_eq!((tiers.history[0].at_ns, tiers.history[1].at_ns / MS), (0, 61));
    }
}
