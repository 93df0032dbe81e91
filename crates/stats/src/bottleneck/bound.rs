//! Whether a target is at the limit of its own processors or of those of its services.
//!
//! Time that the hypervisor took from a processor counts as busy, because it can only take time
//! from a processor that has work to do. Time of other programs on it counts too, if the target had
//! about the share that a scheduler gives it beside one such program.
use pippin_model::host::usage::Role;
use pippin_model::plan::cpus::CpuSet;
use pippin_model::text::units::counted;

use crate::judge::Evidence;

/// The busy share from which a target counts as CPU-bound. Scheduling and the network stack leave
/// the rest idle.
const BUSY: f64 = 0.90;
/// How close to a whole number of processors a target must be to count as bound by some of them.
const WHOLE: f64 = 0.10;
/// The part of the target's CPU time from which its busiest threads do the work.
const THREAD: f64 = 0.85;
/// The busy share from which shared processors count as full.
const FULL: f64 = 0.95;

/// So much of a processor must have been idle, or the target could not have used more.
const IDLE: f64 = 0.5;

/// The share of its processors that an always busy target gets beside one other always busy
/// program: half, minus what the scheduler's rounding costs.
const FAIR: f64 = 0.40;
/// The busy share from which processors may limit a target, although they are not known to be full.
const MAY_BE_FULL: f64 = 0.50;
/// The part of a request's time, and of the given processors, from which the target's CPU time
/// counts as large.
const MUCH_CPU: f64 = 0.25;
/// The busy share from which processors that the target uses with others are nearly full.
const NEARLY_FULL: f64 = 0.75;
/// A request that takes less than this when it is alone, in seconds, waits for processors and the
/// network only. So it waits for them longer where the processors are nearly full.
const SHORT_S: f64 = 0.001;

/// How processors limit a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// It keeps all its processors busy.
    AllItsCores {
        /// Cores busy.
        cores: f64,
        /// Cores given.
        given: f64,
        /// Cores that the hypervisor took from those.
        stolen: f64,
        /// Cores of those that other programs used.
        others: f64,
    },
    /// It keeps a whole number of processors busy, fewer than it was given: that many threads are
    /// always busy, and do the work.
    SomeOfItsCores {
        /// Cores busy.
        cores: f64,
        /// Cores given.
        given: f64,
    },
    /// It shares its processors with other roles, and they are full.
    SharedCores {
        /// Cores that the target keeps busy.
        cores: f64,
        /// The busy share of its least busy processor (0 to 1), including what the hypervisor took.
        busy: f64,
    },
}

/// Processors that the target may keep busy: those to which Pippin bound it, or those that it may
/// use by its affinity and by its group's quota, or all.
pub(crate) fn given_cores(evidence: &Evidence) -> Option<f64> {
    let own = own_cpus(evidence).len();
    let all = if own > 0 { own } else { evidence.usage()?.busy_by_cpu.len() };
    let quota = evidence.usage().and_then(|usage| usage.may_use.as_ref()?.quota);
    let given = quota.map_or(all as f64, |quota| quota.min(all as f64));
    (given > 0.0).then_some(given)
}

/// The processors on which the target may run; empty if that is all, or unknown.
fn own_cpus(evidence: &Evidence) -> CpuSet {
    let given = &evidence.record.spec.cpus.target;
    if !given.is_empty() {
        return given.clone();
    }
    let may_use = evidence.usage().and_then(|usage| usage.may_use.as_ref());
    may_use.map(|may| may.cpus.clone()).unwrap_or_default()
}

/// The periods of the quota of the target's group in which it had to wait, and all in which it
/// wanted to run; `None` without a quota.
pub(crate) fn throttled(evidence: &Evidence) -> Option<(u64, u64)> {
    let may_use = evidence.usage()?.may_use.as_ref()?;
    may_use.quota.map(|_| (may_use.throttled, may_use.periods)).filter(|(_, all)| *all > 0)
}

/// A number of processors in words: `1 processor`, `0.20 processors`.
pub(crate) fn processors(cores: f64) -> String {
    if (cores - cores.round()).abs() < 0.005 {
        counted(cores.round() as u64, "processor")
    } else {
        format!("{cores:.2} processors")
    }
}

/// How processors limit the target; `None` if they do not, or if that is unknown.
#[must_use]
pub fn cpu_bound(evidence: &Evidence) -> Option<Bound> {
    let cores = evidence.cores(Role::Target)?;
    let given = given_cores(evidence)?;
    let stolen = stolen_cores(evidence, &own_cpus(evidence));
    let others = others_cores(evidence);
    let is_full = cores + stolen >= BUSY * given
        || (cores + stolen + others >= BUSY * given && cores + stolen >= FAIR * given);
    if is_full {
        return Some(Bound::AllItsCores { cores, given, stolen, others });
    }
    // A server that ran before shares its processors with everything else on the machine.
    let ran_before = evidence.record.spec.cpus.target.is_empty();
    if evidence.record.spec.cpus.is_shared() || ran_before {
        let busy = shared_busy(evidence)?;
        // If other programs fill them, the roles may still get all that they ask for.
        let own: f64 = evidence.usage()?.roles.values().filter_map(|role| role.cores).sum();
        let is_full = busy >= FULL && cores >= 0.1 && own + stolen >= FAIR * given;
        if is_full || !ran_before {
            return is_full.then_some(Bound::SharedCores { cores, busy });
        }
    }
    let whole = cores.round();
    let could_use_more =
        evidence.is_saturating() && evidence.connections().is_some_and(|n| n >= given);
    (could_use_more
        && whole >= 1.0
        && whole < given
        && (cores - whole).abs() <= WHOLE * whole
        && cores >= BUSY
        && are_always_busy(evidence, whole as usize)
        && idle_cores(evidence)? >= IDLE)
        .then_some(Bound::SomeOfItsCores { cores, given })
}

/// Whether so many threads of the target do all of its work. A lock also keeps one processor busy, with
/// many threads in turn, and more of them would not help. Where threads were not told apart, there
/// must be no more of them.
fn are_always_busy(evidence: &Evidence, count: usize) -> bool {
    let Some(target) = evidence.usage().and_then(|usage| usage.roles.get(&Role::Target)) else {
        return false;
    };
    match &target.busiest_threads {
        Some(shares) => {
            let least = shares.get(count - 1).copied().unwrap_or(0.0);
            let of_all: f64 = shares.iter().take(count).sum();
            of_all >= THREAD && least >= THREAD * FAIR / count as f64
        }
        None => target.threads.is_some_and(|threads| threads as usize <= count),
    }
}

/// The busy share of each of the processors on which the target may run, with what the hypervisor
/// took; `None` if one is unknown.
fn busy_shares(evidence: &Evidence) -> Option<Vec<f64>> {
    let usage = evidence.usage()?;
    let stolen = |cpu: &u32| usage.stolen_by_cpu.get(cpu).copied().unwrap_or(0.0);
    let share = |cpu: &u32| Some((usage.busy_by_cpu.get(cpu)? + stolen(cpu)).min(1.0));
    let own = own_cpus(evidence);
    if own.is_empty() {
        return usage.busy_by_cpu.keys().map(share).collect();
    }
    own.0.iter().map(share).collect()
}

/// The busy share of the least busy of the target's processors.
fn shared_busy(evidence: &Evidence) -> Option<f64> {
    busy_shares(evidence)?.into_iter().reduce(f64::min)
}

/// How many of the target's processors were idle on average.
fn idle_cores(evidence: &Evidence) -> Option<f64> {
    Some(busy_shares(evidence)?.iter().map(|busy| 1.0 - busy).sum())
}

/// Whether the services keep all their processors busy.
pub(crate) fn services_bound(evidence: &Evidence) -> bool {
    let cpus = &evidence.record.spec.cpus.services;
    let given = cpus.len() as f64;
    given > 0.0
        && evidence
            .cores(Role::Services)
            .is_some_and(|cores| cores + stolen_cores(evidence, cpus) >= BUSY * given)
}

/// Whether requests mostly wait for something other than a processor. Either the processors are at
/// most half busy, whoever uses them. Or CPU time is a small part of `single_s`, the seconds of a
/// request that does not queue. This does not count where the processors are nearly full and the
/// target helps to fill them, or has nothing else to wait for. `None` if CPU use is unknown.
pub(crate) fn is_waiting(
    evidence: &Evidence,
    throughput_per_s: f64,
    single_s: f64,
) -> Option<bool> {
    let cores = evidence.cores(Role::Target)?;
    let stolen = stolen_cores(evidence, &own_cpus(evidence));
    let given = given_cores(evidence)?;
    let used = cores + stolen + others_cores(evidence);
    let cpu_s = cores / throughput_per_s;
    let is_nearly_full =
        is_bound(evidence) && shared_busy(evidence).is_some_and(|share| share >= NEARLY_FULL);
    let may_queue_there = is_nearly_full && (cores >= MUCH_CPU * given || single_s < SHORT_S);
    let needs_little = cpu_s < MUCH_CPU * single_s && !may_queue_there;
    Some(used < MAY_BE_FULL * given || needs_little)
}

/// Whether the target is bound to processors.
fn is_bound(evidence: &Evidence) -> bool {
    !evidence.record.spec.cpus.target.is_empty()
}

/// A sentence about processors that are full, without a full stop: the target's own doing, or with
/// the help of others.
pub(crate) fn full_in_words(cores: f64, given: f64, stolen: f64, others: f64) -> String {
    let processors = processors(given);
    let taken = taken(stolen, others);
    if cores + stolen >= BUSY * given {
        return format!("CPU-bound: it keeps {cores:.2} of its {processors} busy{taken}");
    }
    let (are, them) = if processors == "1 processor" { ("is", "it") } else { ("are", "them") };
    format!("Its {processors} {are} full: it used {cores:.2} of {them}{taken}")
}

/// The end of a sentence about busy cores, if others took time from them.
pub(crate) fn taken(stolen: f64, others: f64) -> String {
    let by =
        |who: &str, cores: f64| (cores >= 0.01).then(|| format!(", and {who} took {cores:.2}"));
    // Less than this is interrupts and rounding, not a program.
    let others = if others >= 0.05 { others } else { 0.0 };
    [by("the hypervisor", stolen), by("other programs", others)].into_iter().flatten().collect()
}

/// Cores that other programs used on the target's own processors. 0 if that is not known, because
/// they are shared with other roles or the target is not bound to any.
fn others_cores(evidence: &Evidence) -> f64 {
    let cpus = &evidence.record.spec.cpus;
    let (Some(usage), Some(cores)) = (evidence.usage(), evidence.cores(Role::Target)) else {
        return 0.0;
    };
    if cpus.is_shared() {
        return 0.0;
    }
    let busy: f64 = cpus.target.0.iter().filter_map(|cpu| usage.busy_by_cpu.get(cpu)).sum();
    (busy - cores).clamp(0.0, usage.other_cores.unwrap_or(0.0).max(0.0))
}

/// Cores that the hypervisor took from these processors, or from all if the set is empty; 0 if that
/// was not measured.
fn stolen_cores(evidence: &Evidence, cpus: &CpuSet) -> f64 {
    let Some(usage) = evidence.usage() else { return 0.0 };
    usage
        .stolen_by_cpu
        .iter()
        .filter(|(cpu, _)| cpus.0.is_empty() || cpus.0.contains(cpu))
        .map(|(_, share)| share)
        .sum()
}
