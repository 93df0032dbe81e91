//! The usage between two instants: a pure function over samples.
use pippin_model::host::kernel_network::KernelNetwork;
use pippin_model::host::usage::{
    CompilerSample, CompilerUse, HostSample, JvmSample, JvmUse, MayUse, Role, RoleSample, RoleUse,
    Tier, Usage, UsageSample,
};
use pippin_model::trial::outside::{self, Link};
use std::collections::{BTreeMap, BTreeSet};

use crate::kernel_network;

/// What every role and the host used from `from_ns` to `to_ns` (CLOCK_MONOTONIC). Counters are cut
/// at the two instants by linear interpolation between the samples around them; highest values are
/// those of the samples in between (or around, if there is none in between).
///
/// `None` if the stretch is empty or the samples do not cover it. A figure whose counter does not
/// cover it, or fell (a log that was cut, an interface made anew), is `None`.
#[must_use]
pub fn usage_between(samples: &[UsageSample], from_ns: u64, to_ns: u64) -> Option<Usage> {
    let (first, last) = (samples.first()?, samples.last()?);
    if from_ns >= to_ns || from_ns < first.at_ns || to_ns > last.at_ns {
        return None;
    }
    let stretch = Stretch { samples, from_ns, to_ns };
    let duration_ns = to_ns - from_ns;
    let cores = |ns: f64| ns / duration_ns as f64;
    let roles: BTreeSet<Role> =
        samples.iter().flat_map(|sample| sample.roles.keys().copied()).collect();
    let mut roles: BTreeMap<Role, RoleUse> =
        roles.into_iter().map(|role| (role, role_use(&stretch, role))).collect();
    let mut tiers = tiers(&stretch);
    if let Some(target) = roles.get_mut(&Role::Target).filter(|_| !tiers.is_empty()) {
        let all = tiers.iter().fold(target.clone(), |sum, tier| together(&sum, &tier.used));
        let first = Tier { name: FIRST.into(), used: std::mem::replace(target, all) };
        tiers.insert(0, first);
    }
    // Busy time is the rest of the elapsed time, and the hypervisor reports stolen time late and in
    // large steps. Busy time then falls, but the counter did not restart.
    let busy_by_cpu = shares(&stretch, cores, |host| &host.busy_ns);
    let kernel_network = kernel_network(&stretch);
    Some(Usage {
        duration_ns,
        other_cores: other_cores(&stretch, &roles, &busy_by_cpu, kernel_network.as_ref()),
        kernel_network,
        interrupt_cores: stretch.host_growth(|host| host.interrupt_ns).map(cores),
        steal_cores: stretch.host_growth(|host| host.steal_ns).map(cores),
        listen_overflows: stretch.host_growth(|host| host.listen_overflows).map(whole),
        listen_drops: listen_drops(&stretch),
        retransmits: stretch.host_growth(|host| host.retransmits).map(whole),
        loopback_bytes: stretch.host_growth(|host| host.loopback_bytes).map(whole),
        log_bytes: stretch.growth(|sample| sample.log_bytes).map(whole),
        energy_uj: stretch.host_growth(|host| host.energy_uj).map(whole),
        listen_queue: listen_queue(&stretch),
        backlog: stretch.within(|sample| sample.backlog).into_iter().min(),
        frequency_khz: frequency_khz(&stretch, &busy_by_cpu),
        strays: outside::of_each_once(stretch.inside().flat_map(|sample| &sample.strays)),
        unbilled: stretch.inside().any(|sample| sample.unbilled),
        unseen_ns: stretch.growth(|sample| sample.unseen_ns).map(whole),
        left_out: Vec::new(),
        passing: Vec::new(),
        // The sampler knows them.
        runtimes: Vec::new(),
        may_use: may_use(&stretch),
        tiers,
        left_group: stretch.inside().any(|sample| sample.left_group),
        roles,
        stolen_by_cpu: shares(&stretch, cores, |host| &host.steal_ns_by_cpu),
        busy_by_cpu,
    })
}

/// Samples and the stretch to be cut out of them.
struct Stretch<'a> {
    samples: &'a [UsageSample],
    from_ns: u64,
    to_ns: u64,
}

impl<'a> Stretch<'a> {
    /// How much a cumulative counter grew over the stretch.
    fn growth(&self, counter: impl Fn(&UsageSample) -> Option<u64>) -> Option<f64> {
        let known = self.known(counter);
        // A counter that fell has restarted, and its loss is unknown.
        let around =
            known.windows(2).filter(|pair| pair[1].0 >= self.from_ns && pair[0].0 <= self.to_ns);
        if around.into_iter().any(|pair| pair[1].1 < pair[0].1) {
            return None;
        }
        self.change(&known)
    }

    /// The instants at which a counter was read, and its values.
    fn known(&self, counter: impl Fn(&UsageSample) -> Option<u64>) -> Vec<(u64, u64)> {
        self.samples.iter().filter_map(|sample| Some((sample.at_ns, counter(sample)?))).collect()
    }

    /// The difference of the counter between the two ends of the stretch.
    fn change(&self, known: &[(u64, u64)]) -> Option<f64> {
        // Counted from the smallest value, because a float cannot hold the nanoseconds of a counter
        // that has run for months.
        let least = known.iter().map(|&(_, value)| value).min()?;
        let known: Vec<(u64, f64)> =
            known.iter().map(|&(at, value)| (at, (value - least) as f64)).collect();
        Some(interpolated(&known, self.to_ns)? - interpolated(&known, self.from_ns)?)
    }

    fn host_growth(&self, counter: impl Fn(&HostSample) -> Option<u64>) -> Option<f64> {
        self.growth(|sample| counter(&sample.host))
    }

    /// The samples within the stretch.
    fn inside(&self) -> impl Iterator<Item = &'a UsageSample> {
        let inside = self.from_ns..=self.to_ns;
        self.samples.iter().filter(move |sample| inside.contains(&sample.at_ns))
    }

    /// The last value known by the end of the stretch, else the first after it.
    fn latest<T>(&self, value: impl Fn(&'a UsageSample) -> Option<T>) -> Option<T> {
        let (until, after): (Vec<_>, Vec<_>) =
            self.samples.iter().partition(|sample| sample.at_ns <= self.to_ns);
        until.into_iter().rev().find_map(&value).or_else(|| after.into_iter().find_map(&value))
    }

    /// The values known within the stretch, else those of the samples around it.
    fn within<T>(&self, value: impl Fn(&'a UsageSample) -> Option<T>) -> Vec<T> {
        let values: Vec<T> = self.inside().filter_map(&value).collect();
        if !values.is_empty() {
            return values;
        }
        let before =
            self.samples.iter().rev().filter(|sample| sample.at_ns < self.from_ns).find_map(&value);
        let after = self.samples.iter().filter(|sample| sample.at_ns > self.to_ns).find_map(&value);
        before.into_iter().chain(after).collect()
    }
}

/// A counter's value at an instant; `None` outside the known points.
fn interpolated(known: &[(u64, f64)], at_ns: u64) -> Option<f64> {
    let after = known.partition_point(|&(at, _)| at < at_ns);
    let (right_ns, right) = *known.get(after)?;
    if right_ns == at_ns {
        return Some(right);
    }
    let (left_ns, left) = *known.get(after.checked_sub(1)?)?;
    let part = (at_ns - left_ns) as f64 / (right_ns - left_ns) as f64;
    Some(left + (right - left) * part)
}

fn whole(growth: f64) -> u64 {
    growth.round() as u64
}

/// The name of the tier that the generator is connected to.
pub const FIRST: &str = "first";

/// The tiers behind the target that worked while it was loaded and rest without a load, the busiest
/// first. Others that it is connected to are not its tiers.
fn tiers(stretch: &Stretch) -> Vec<Tier> {
    let names: BTreeSet<&String> =
        stretch.samples.iter().flat_map(|sample| sample.tiers.keys()).collect();
    let mut tiers: Vec<Tier> = names
        .into_iter()
        .filter_map(|name| {
            let of = |sample: &'_ UsageSample| sample.tiers.get(name).cloned();
            let used = used_by(stretch, of);
            let rest = stretch.samples.iter().find_map(|sample| sample.tiers.get(name)?.rest_cores);
            let cores = used.cores?;
            Link::Connected
                .works(cores, rest.unwrap_or(0.0), 0.0)
                .then(|| Tier { name: name.clone(), used })
        })
        .collect();
    tiers.sort_by_key(|tier| std::cmp::Reverse(tier.used.cpu_ns));
    tiers
}

/// What two tiers used together. Highest values need not be of the same instant.
fn together(a: &RoleUse, b: &RoleUse) -> RoleUse {
    let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    let either = |a: Option<u64>, b: Option<u64>| both(a, b).or(a).or(b);
    RoleUse {
        cpu_ns: both(a.cpu_ns, b.cpu_ns),
        cores: a.cores.zip(b.cores).map(|(a, b)| a + b),
        rss_max_bytes: either(a.rss_max_bytes, b.rss_max_bytes),
        rss_first_bytes: either(a.rss_first_bytes, b.rss_first_bytes),
        rss_last_bytes: either(a.rss_last_bytes, b.rss_last_bytes),
        // A part of it would look like the whole.
        pss_max_bytes: both(a.pss_max_bytes, b.pss_max_bytes),
        processes: a.processes.zip(b.processes).map(|(a, b)| a + b),
        threads: a.threads.zip(b.threads).map(|(a, b)| a + b),
        voluntary_switches: both(a.voluntary_switches, b.voluntary_switches),
        involuntary_switches: both(a.involuntary_switches, b.involuntary_switches),
        busiest_threads: busiest_of_both(a, b),
        collects: a.collects.zip(b.collects).map(|(a, b)| a || b),
        workers_ns: BTreeMap::new(),
        compiler: a.compiler.or(b.compiler),
        // Only the tier that the generator is connected to is asked.
        jvm: a.jvm.clone().or_else(|| b.jvm.clone()),
    }
}

/// The busiest threads of two tiers, as shares of what both used; `None` if those of one are unknown.
fn busiest_of_both(a: &RoleUse, b: &RoleUse) -> Option<Vec<f64>> {
    /// As many as a sample has.
    const MOST: usize = 16;
    let all_ns = (a.cpu_ns? + b.cpu_ns?) as f64;
    let of = |tier: &RoleUse| -> Option<Vec<f64>> {
        let part = tier.cpu_ns? as f64 / all_ns;
        Some(tier.busiest_threads.as_ref()?.iter().map(|share| share * part).collect())
    };
    let mut shares = [of(a)?, of(b)?].concat();
    shares.sort_by(|x, y| y.total_cmp(x));
    shares.truncate(MOST);
    (all_ns > 0.0).then_some(shares)
}

/// What the target may use at the end of the stretch, with the periods of the stretch.
fn may_use(stretch: &Stretch) -> Option<MayUse> {
    let known = stretch.within(|sample| sample.may_use.as_ref());
    let (first, last) = (known.first()?, known.last()?);
    Some(MayUse {
        periods: last.periods.saturating_sub(first.periods),
        throttled: last.throttled.saturating_sub(first.throttled),
        ..(*last).clone()
    })
}

fn role_use(stretch: &Stretch, role: Role) -> RoleUse {
    used_by(stretch, |sample| sample.roles.get(&role).cloned())
}

fn used_by(stretch: &Stretch, of: impl Fn(&UsageSample) -> Option<RoleSample>) -> RoleUse {
    let growth =
        |counter: fn(&RoleSample) -> Option<u64>| stretch.growth(|sample| counter(&of(sample)?));
    let within =
        |value: fn(&RoleSample) -> Option<u64>| stretch.within(|sample| value(&of(sample)?));
    let cpu_ns = growth(|role| Some(role.cpu_ns));
    let rss = within(|role| role.rss_bytes);
    let most = |value| within(value).into_iter().max().and_then(|most| u32::try_from(most).ok());
    RoleUse {
        cpu_ns: cpu_ns.map(whole),
        cores: cpu_ns.map(|cpu_ns| cpu_ns / (stretch.to_ns - stretch.from_ns) as f64),
        rss_max_bytes: rss.iter().max().copied(),
        rss_first_bytes: rss.first().copied(),
        rss_last_bytes: rss.last().copied(),
        pss_max_bytes: within(|role| role.pss_bytes).into_iter().max(),
        processes: most(|role| Some(role.processes.into())),
        threads: most(|role| Some(role.threads.into())),
        busiest_threads: stretch.latest(|sample| of(sample)?.busiest_threads),
        collects: stretch.latest(|sample| of(sample)?.collects),
        voluntary_switches: growth(|role| role.voluntary_switches).map(whole),
        involuntary_switches: growth(|role| role.involuntary_switches).map(whole),
        workers_ns: workers(stretch, &of),
        compiler: compiler_use(stretch, &of),
        jvm: jvm_use(stretch, &of),
    }
}

/// What JVMs within a role's processes say of the stretch.
fn jvm_use(stretch: &Stretch, of: &impl Fn(&UsageSample) -> Option<RoleSample>) -> Option<JvmUse> {
    let of = |sample: &UsageSample| of(sample)?.jvm;
    let growth = |counter: fn(&JvmSample) -> Option<u64>| {
        stretch.growth(|sample| counter(&of(sample)?)).map(whole)
    };
    let pauses: Vec<(u64, u64)> = stretch.within(|sample| {
        let jvm = of(sample)?;
        Some((jvm.collections?, jvm.collecting_ns?))
    });
    Some(JvmUse {
        collector: stretch.latest(of)?.collector,
        collecting_ns: growth(|jvm| jvm.collecting_ns),
        collections: growth(|jvm| jvm.collections),
        longest_ns: longest_pause(&pauses),
        stopped_ns: growth(|jvm| jvm.stopped_ns),
        heap_max_bytes: stretch.within(|sample| of(sample)?.heap_bytes).into_iter().max(),
    })
}

/// The longest pause, at least and at most, from sums of pauses and of their times, one after the
/// other: of n pauses that took t together, the longest took t/n to t. `None` without any.
fn longest_pause(sums: &[(u64, u64)]) -> Option<(u64, u64)> {
    let between = sums.windows(2).filter_map(|pair| {
        let (more, ns) = (pair[1].0.checked_sub(pair[0].0)?, pair[1].1.checked_sub(pair[0].1)?);
        Some((ns.checked_div(more)?, ns))
    });
    between.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// What each worker used, of those that were there all the time.
fn workers(
    stretch: &Stretch,
    of: &impl Fn(&UsageSample) -> Option<RoleSample>,
) -> BTreeMap<i32, u64> {
    let known: Vec<BTreeMap<i32, u64>> =
        stretch.within(|sample| Some(of(sample)?.workers_ns).filter(|all| !all.is_empty()));
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return BTreeMap::new() };
    let used = |(pid, to): (&i32, &u64)| Some((*pid, to.saturating_sub(*first.get(pid)?)));
    last.iter().filter_map(used).collect()
}

/// What compilers within a role's processes used over the stretch.
fn compiler_use(
    stretch: &Stretch,
    of: &impl Fn(&UsageSample) -> Option<RoleSample>,
) -> Option<CompilerUse> {
    let of = |sample: &UsageSample| of(sample)?.compiler;
    let used = stretch.growth(|sample| Some(of(sample)?.cpu_ns))?;
    let first = stretch.samples.iter().find(|sample| of(sample).is_some())?;
    let CompilerSample { compiler, age_ns, .. } = of(first)?;
    let since = i128::from(stretch.from_ns) - i128::from(first.at_ns);
    let age_ns = u64::try_from(i128::from(age_ns) + since).unwrap_or(0);
    Some(CompilerUse { compiler, cpu_ns: whole(used), age_ns })
}

/// The share of the stretch by which every processor's counter grew. Large steps and clock ticks
/// may make it slightly more than 1 or less than 0.
fn shares(
    stretch: &Stretch,
    cores: impl Fn(f64) -> f64,
    counters: impl Fn(&HostSample) -> &BTreeMap<u32, u64>,
) -> BTreeMap<u32, f64> {
    let cpus: BTreeSet<u32> =
        stretch.samples.iter().flat_map(|sample| counters(&sample.host).keys().copied()).collect();
    let share = |cpu| {
        Some(
            cores(
                stretch
                    .change(&stretch.known(|sample| counters(&sample.host).get(&cpu).copied()))?,
            )
            .clamp(0.0, 1.0),
        )
    };
    cpus.into_iter().filter_map(|cpu| Some((cpu, share(cpu)?))).collect()
}

/// Cores that others kept busy. The upper limit is the busy cores minus all roles and, if the
/// kernel counts interrupts separately, minus interrupts: on loopback those are the roles' own
/// traffic. The rest includes the time of entering and leaving idleness, which belongs to no
/// process and takes some percent of a core that sleeps ten thousand times per second. So if all
/// processes of the host are visible, the result is at most the CPU time of those outside of the
/// roles. The network work that the kernel's own threads surely did for the load is in neither.
/// Slightly negative values from rounding become 0.
fn other_cores(
    stretch: &Stretch,
    roles: &BTreeMap<Role, RoleUse>,
    busy_by_cpu: &BTreeMap<u32, f64>,
    kernel_network: Option<&KernelNetwork>,
) -> Option<f64> {
    let duration = (stretch.to_ns - stretch.from_ns) as f64;
    let busy: f64 = busy_by_cpu.values().sum();
    let interrupts = stretch.host_growth(|host| host.interrupt_ns).map(|ns| ns / duration);
    let of_roles: f64 = roles.values().map(|role| role.cores).sum::<Option<f64>>()?;
    let seen =
        stretch.host_growth(|host| host.outsiders_ns).map_or(f64::INFINITY, |ns| ns / duration);
    let of_load = kernel_network.map_or(0.0, KernelNetwork::of_load);
    // Interrupts that are counted apart include those that were put off.
    let left = busy - of_roles - interrupts.unwrap_or(of_load);
    (!busy_by_cpu.is_empty()).then(|| left.min(seen - of_load).max(0.0))
}

/// What the kernel's threads for put-off network work used, and whose work it may have been; `None` if
/// one of the counters is unknown or began anew.
fn kernel_network(stretch: &Stretch) -> Option<KernelNetwork> {
    let duration = (stretch.to_ns - stretch.from_ns) as f64;
    let cpus: BTreeSet<u32> =
        stretch.samples.iter().flat_map(|sample| sample.host.put_off_ns.keys().copied()).collect();
    let share = |cpu: u32| {
        let grown = stretch.host_growth(|host| host.put_off_ns.get(&cpu).copied())?;
        Some((cpu, grown / duration))
    };
    let by_cpu = cpus.into_iter().map(share).collect::<Option<_>>()?;
    kernel_network::of_growth(
        by_cpu,
        stretch.host_growth(|host| host.outsiders_ns)? / duration,
        stretch.host_growth(|host| host.packets)?,
        stretch.host_growth(|host| host.loopback_packets)?,
    )
}

/// Connections dropped because a queue of the target was full. A listening socket counts all packets that
/// it drops (`sk_drops`), such as a late one of a connection that is just being opened; only where a
/// queue was full do the overflows of the namespace grow with it ([`netstat::listen_overflows`]). Where these
/// are unknown, all are taken for overflows.
fn listen_drops(stretch: &Stretch) -> Option<u64> {
    let dropped = stretch.growth(|sample| sample.listen_drops)?;
    let overflows = stretch.host_growth(|host| host.listen_overflows).unwrap_or(f64::INFINITY);
    Some(whole(dropped.min(overflows)))
}

/// How many connections stood in the target's listen queue, and the most that one sample saw; `None`
/// with fewer than two samples.
///
/// Between two samples there stood at most as many all the time as the smaller one saw; the mean over
/// the time is of these. So what one sample alone sees counts nothing: connections that were opened
/// together just before, and are being accepted.
fn listen_queue(stretch: &Stretch) -> Option<(f64, u64)> {
    let known = stretch.known(|sample| sample.listen_queue);
    let from = known.partition_point(|&(at, _)| at < stretch.from_ns);
    // The look at the end comes a little after it.
    let after = known.partition_point(|&(at, _)| at < stretch.to_ns) + 1;
    let seen = known.get(from..after.min(known.len()))?;
    let [(first_ns, _), .., (last_ns, _)] = seen else { return None };
    let stood = seen.windows(2).map(|pair| {
        let [(from_ns, before), (to_ns, then)] = pair else { unreachable!("two each") };
        (to_ns - from_ns) as f64 * *before.min(then) as f64
    });
    let length = (last_ns - first_ns) as f64;
    (length > 0.0).then_some(())?;
    Some((stood.sum::<f64>() / length, seen.iter().map(|(_, waiting)| *waiting).max()?))
}

/// Lowest and highest frequency of the processors that were at least half busy. Idle ones lower
/// their clock, so they show nothing.
fn frequency_khz(stretch: &Stretch, busy_by_cpu: &BTreeMap<u32, f64>) -> Option<(u64, u64)> {
    let working = |cpu: &u32| busy_by_cpu.get(cpu).is_some_and(|busy| *busy >= 0.5);
    let known = stretch.within(|sample| {
        (!sample.host.frequency_khz.is_empty()).then_some(&sample.host.frequency_khz)
    });
    let frequencies: Vec<u64> =
        known.into_iter().flatten().filter(|(cpu, _)| working(cpu)).map(|(_, khz)| *khz).collect();
    Some((*frequencies.iter().min()?, *frequencies.iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::host::usage::Compiler;

    const S: u64 = 1_000_000_000;

    /// A sample at this second: CPU of the target and the generator, busy time of two processors,
    /// all in ms.
    fn at(second: u64, target_ms: u64, generator_ms: u64, busy_ms: [u64; 2]) -> UsageSample {
        let role = |ms: u64| RoleSample {
            cpu_ns: ms * 1_000_000,
            rss_bytes: Some(100 + second),
            processes: 1,
            threads: 2,
            ..RoleSample::default()
        };
        let busy_ns =
            busy_ms.iter().enumerate().map(|(cpu, ms)| (cpu as u32, ms * 1_000_000)).collect();
        UsageSample {
            at_ns: second * S,
            roles: BTreeMap::from([
                (Role::Target, role(target_ms)),
                (Role::Generator, role(generator_ms)),
            ]),
            host: HostSample {
                busy_ns,
                steal_ns: Some(second * 100_000_000),
                steal_ns_by_cpu: [(0, second * 80_000_000), (1, second * 20_000_000)].into(),
                listen_overflows: Some(7),
                ..HostSample::default()
            },
            ..UsageSample::default()
        }
    }

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn counters_are_cut_at_the_two_instants() {
        let samples = [
            at(10, 0, 0, [0, 0]),
            at(12, 2000, 1000, [2000, 1400]),
            at(14, 2000, 3000, [3000, 3400]),
        ];
        // From 11 s: half of the first 2,000 ms; to 13 s: nothing more. The generator: 500 + 1,000
        // ms.
        let usage = usage_between(&samples, 11 * S, 13 * S).unwrap();
        assert_eq!(usage.duration_ns, 2 * S);
        assert_eq!(usage.roles[&Role::Target].cpu_ns, Some(S));
        assert!(
            close(usage.roles[&Role::Target].cores, 0.5)
                && close(usage.roles[&Role::Generator].cores, 0.75)
        );
        assert!(
            close(usage.busy_by_cpu.get(&0).copied(), 0.75)
                && close(usage.busy_by_cpu.get(&1).copied(), 0.85)
        );
        assert!(close(usage.other_cores, 0.35), "{usage:?}");
        assert!(close(usage.steal_cores, 0.1));
        assert!(
            close(usage.stolen_by_cpu.get(&0).copied(), 0.08)
                && close(usage.stolen_by_cpu.get(&1).copied(), 0.02)
        );
        assert_eq!(
            (usage.listen_overflows, usage.retransmits, usage.log_bytes),
            (Some(0), None, None)
        );
    }

    #[test]
    fn only_a_covered_stretch_has_a_usage() {
        let samples = [at(10, 0, 0, [0, 0]), at(12, 1, 1, [1, 1])];
        assert!(usage_between(&samples, 10 * S, 12 * S).is_some());
        for (from, to) in
            [(10 * S - 1, 12 * S), (10 * S, 12 * S + 1), (11 * S, 11 * S), (12 * S, 10 * S)]
        {
            assert_eq!(usage_between(&samples, from, to), None);
        }
        assert_eq!(usage_between(&[], 0, 1), None);
    }

    #[test]
    fn highest_values_are_those_inside_or_else_around() {
        let mut samples = [
            at(10, 0, 0, [0, 0]),
            at(11, 1, 1, [1, 1]),
            at(12, 2, 2, [2, 2]),
            at(13, 3, 3, [3, 3]),
        ];
        samples[0].roles.get_mut(&Role::Target).unwrap().rss_bytes = Some(9999);
        let target = &usage_between(&samples, 10 * S + 1, 13 * S).unwrap().roles[&Role::Target];
        assert_eq!(
            (target.rss_first_bytes, target.rss_max_bytes, target.rss_last_bytes),
            (Some(111), Some(113), Some(113))
        );
        assert_eq!(
            (target.processes, target.threads, target.pss_max_bytes),
            (Some(1), Some(2), None)
        );
        let target = &usage_between(&samples, 10 * S + 1, 10 * S + 2).unwrap().roles[&Role::Target];
        assert_eq!((target.rss_first_bytes, target.rss_last_bytes), (Some(9999), Some(111)));
    }

    #[test]
    fn a_listen_queue_is_what_stood_from_one_look_to_the_next() {
        let mut samples: Vec<UsageSample> =
            (0..=3).map(|second| at(second, 0, 0, [0, 0])).collect();
        assert_eq!(usage_between(&samples, 0, 3 * S).unwrap().listen_queue, None);
        for (sample, length) in samples.iter_mut().zip([90, 7, 2, 3]) {
            sample.listen_queue = Some(length);
        }
        assert_eq!(usage_between(&samples, S, 3 * S).unwrap().listen_queue, Some((2.0, 7)));
        let queue = |from, to| usage_between(&samples, from, to).unwrap().listen_queue;
        assert_eq!(queue(S + 1, 2 * S + 1), Some((2.0, 3)), "the look at the end comes after it");
        assert_eq!(queue(S, S + 1), Some((2.0, 7)), "a slice has two looks");
        assert_eq!(queue(S + 1, S + 2), None, "one look says nothing");
    }

    /// nginx with 16 connections and a queue for 511 (28 November 2026): in 2 of 12 loads its socket had
    /// dropped a packet, and no queue of the machine was full.
    #[test]
    fn packets_that_a_listening_socket_drops_are_no_full_queue() {
        let dropped = |drops: u64, overflows: Option<u64>| {
            let mut samples = [at(0, 0, 0, [0, 0]), at(1, 0, 0, [0, 0])];
            for (sample, share) in samples.iter_mut().zip([0, 1]) {
                sample.listen_drops = Some(6 + share * drops);
                sample.host.listen_overflows = overflows.map(|count| 5_097 + share * count);
            }
            usage_between(&samples, 0, S).unwrap().listen_drops
        };
        assert_eq!(dropped(1, Some(0)), Some(0));
        assert_eq!(dropped(9, Some(9)), Some(9));
        assert_eq!(dropped(9, Some(4)), Some(4));
        assert_eq!(dropped(2, Some(300)), Some(2), "the others are another program's");
        assert_eq!(dropped(1, None), Some(1), "unknown");
    }

    /// A slice of a server that accepts 40 connections while the slice begins, and of one that leaves
    /// 40 of them in its queue.
    #[test]
    fn connections_that_are_being_accepted_do_not_stand_in_the_queue() {
        let slice = |begin, end| {
            let mut samples = [at(1, 0, 0, [0, 0]), at(2, 0, 0, [0, 0])];
            (samples[0].listen_queue, samples[1].listen_queue) = (Some(begin), Some(end));
            usage_between(&samples, S, 2 * S - 1_000).unwrap().listen_queue
        };
        assert_eq!(slice(40, 0), Some((0.0, 40)));
        assert_eq!(slice(40, 40), Some((40.0, 40)));
    }

    #[test]
    fn a_counter_that_is_read_less_often_is_interpolated_between_its_own_points() {
        let mut samples: Vec<UsageSample> =
            (0..=10).map(|second| at(second, 0, 0, [0, 0])).collect();
        for (second, switches) in [(0, 0), (5, 500), (10, 1500)] {
            samples[second].roles.get_mut(&Role::Target).unwrap().voluntary_switches =
                Some(switches);
        }
        assert_eq!(
            usage_between(&samples, 2 * S, 6 * S).unwrap().roles[&Role::Target].voluntary_switches,
            Some(500)
        );
        samples[0].roles.get_mut(&Role::Target).unwrap().voluntary_switches = None;
        assert_eq!(
            usage_between(&samples, 2 * S, 6 * S).unwrap().roles[&Role::Target].voluntary_switches,
            None
        );
    }

    #[test]
    fn a_counter_that_fell_inside_is_unknown_and_outside_does_no_harm() {
        let mut samples: Vec<UsageSample> =
            (0..=4).map(|second| at(second, 0, 0, [0, 0])).collect();
        for (sample, bytes) in samples.iter_mut().zip([900, 0, 100, 200, 300]) {
            sample.log_bytes = Some(bytes);
        }
        assert_eq!(usage_between(&samples, 0, 2 * S).unwrap().log_bytes, None);
        assert_eq!(usage_between(&samples, 2 * S, 4 * S).unwrap().log_bytes, Some(200));
    }

    #[test]
    fn what_a_compiler_used_is_cut_out_too() {
        let mut samples: Vec<UsageSample> =
            (0..=4).map(|second| at(second, 0, 0, [0, 0])).collect();
        assert_eq!(usage_between(&samples, S, 3 * S).unwrap().roles[&Role::Target].compiler, None);
        for (second, ms) in [0, 300, 500, 510, 510].into_iter().enumerate() {
            samples[second].roles.get_mut(&Role::Target).unwrap().compiler = Some(CompilerSample {
                compiler: Compiler::Jvm,
                cpu_ns: ms * 1_000_000,
                age_ns: (2 + second as u64) * S,
            });
        }
        let found = usage_between(&samples, S, 3 * S).unwrap().roles[&Role::Target].compiler;
        let wanted = CompilerUse { compiler: Compiler::Jvm, cpu_ns: 210_000_000, age_ns: 3 * S };
        assert_eq!(found, Some(wanted));
    }

    #[test]
    fn the_longest_pause_is_known_as_far_as_sums_tell() {
        assert_eq!(longest_pause(&[(0, 0), (1, 38), (1, 38), (2, 50)]), Some((38, 38)));
        // Two pauses of 40 together: the longest took 20 to 40, and another one took 25.
        assert_eq!(longest_pause(&[(3, 100), (5, 140), (6, 165)]), Some((25, 40)));
        assert_eq!(longest_pause(&[(3, 100), (3, 100)]), None);
        assert_eq!(longest_pause(&[(3, 100)]), None);
        assert_eq!(longest_pause(&[(3, 100), (0, 0), (1, 7)]), Some((7, 7)), "begun anew");
    }

    #[test]
    fn what_a_jvm_says_is_cut_out_too() {
        let mut samples: Vec<UsageSample> =
            (0..=4).map(|second| at(second, 0, 0, [0, 0])).collect();
        assert_eq!(usage_between(&samples, S, 3 * S).unwrap().roles[&Role::Target].jvm, None);
        for (sample, (number, ms)) in
            samples.iter_mut().zip([(1, 9), (2, 30), (3, 68), (3, 68), (5, 90)])
        {
            sample.roles.get_mut(&Role::Target).unwrap().jvm = Some(JvmSample {
                collector: Some("G1GC".into()),
                collecting_ns: Some(ms * 1_000_000),
                collections: Some(number),
                heap_bytes: Some(1_000 * number),
                ..JvmSample::default()
            });
        }
        let found = usage_between(&samples, S, 3 * S).unwrap().roles[&Role::Target].jvm.clone();
        let wanted = JvmUse {
            collector: Some("G1GC".into()),
            collecting_ns: Some(38_000_000),
            collections: Some(1),
            longest_ns: Some((38_000_000, 38_000_000)),
            stopped_ns: None,
            heap_max_bytes: Some(3_000),
        };
        assert_eq!(found, Some(wanted));
    }

    #[test]
    fn energy_is_that_of_the_stretch_and_unknown_stays_unknown() {
        let mut samples: Vec<UsageSample> =
            (0..=3).map(|second| at(second, 0, 0, [0, 0])).collect();
        assert_eq!(usage_between(&samples, 0, 2 * S).unwrap().energy_uj, None);
        for (sample, uj) in samples.iter_mut().zip([0, 5_000, 25_000, 26_000]) {
            sample.host.energy_uj = Some(uj);
        }
        assert_eq!(usage_between(&samples, S / 2, 2 * S).unwrap().energy_uj, Some(22_500));
    }

    #[test]
    fn time_that_is_told_late_to_be_stolen_was_not_busy() {
        let samples = [
            at(0, 0, 0, [0, 0]),
            at(1, 0, 0, [900, 800]),
            at(2, 500, 0, [600, 1_700]),
            at(3, 1_000, 0, [1_500, 2_600]),
        ];
        let usage = usage_between(&samples, 0, 3 * S).unwrap();
        assert!(close(usage.busy_by_cpu.get(&0).copied(), 0.5), "{usage:?}");
        assert!(close(usage.other_cores, 3.1 / 3.0), "both processors are in the sum: {usage:?}");
        assert!(
            close(usage_between(&samples, S, 2 * S).unwrap().busy_by_cpu.get(&0).copied(), 0.0),
            "less than nothing is nothing"
        );
    }

    #[test]
    fn interrupts_that_no_process_is_billed_for_are_not_of_other_programs() {
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 500, 200, [600, 400])];
        assert!(close(usage_between(&samples, 0, S).unwrap().other_cores, 0.3));
        for (sample, ms) in samples.iter_mut().zip([0, 250]) {
            sample.host.interrupt_ns = Some(ms * 1_000_000);
        }
        let usage = usage_between(&samples, 0, S).unwrap();
        assert!(close(usage.other_cores, 0.05) && close(usage.interrupt_cores, 0.25));
    }

    #[test]
    fn ways_into_and_out_of_idleness_are_nobody_s() {
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 500, 200, [600, 400])];
        for (sample, ms) in samples.iter_mut().zip([7_000, 7_020]) {
            sample.host.outsiders_ns = Some(ms * 1_000_000);
        }
        assert!(close(usage_between(&samples, 0, S).unwrap().other_cores, 0.02));
        samples[1].host.outsiders_ns = Some(8_000_000_000);
        assert!(
            close(usage_between(&samples, 0, S).unwrap().other_cores, 0.3),
            "no more than what was busy"
        );
        samples[1].host.outsiders_ns = Some(6_000_000_000);
        assert!(
            close(usage_between(&samples, 0, S).unwrap().other_cores, 0.3),
            "a sum that fell tells nothing"
        );
    }

    /// Two processors, of which 0.7 cores are not the roles'; other programs use 0.02 and the kernel's
    /// threads for put-off network work 0.06, while 1,000 packets pass, 900 of them over the loopback.
    fn with_network() -> [UsageSample; 2] {
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 500, 200, [700, 700])];
        let grown = |ns: u64| [7_000_000_000, 7_000_000_000 + ns];
        let hosts = samples.iter_mut().map(|sample| &mut sample.host);
        for (i, host) in hosts.enumerate() {
            host.outsiders_ns = Some(grown(80_000_000)[i]);
            host.put_off_ns = [(0, grown(10_000_000)[i]), (1, grown(50_000_000)[i])].into();
            (host.packets, host.loopback_packets) = (Some([5, 1_005][i]), Some([3, 903][i]));
        }
        samples
    }

    #[test]
    fn network_work_of_the_kernel_is_foreign_as_far_as_others_may_have_caused_it() {
        let usage = usage_between(&with_network(), 0, S).unwrap();
        let network = usage.kernel_network.unwrap();
        assert!(close(Some(network.cores()), 0.06) && close(Some(network.from_elsewhere), 0.1));
        assert!(close(Some(network.other_programs), 0.02));
        // 0.02, and of the 0.06 a tenth and half of 0.02.
        assert!(close(usage.other_cores, 0.036), "{:?}", usage.other_cores);
        let mut busy = with_network();
        busy[1].host.outsiders_ns = busy[1].host.outsiders_ns.map(|ns| ns + 400_000_000);
        assert!(close(usage_between(&busy, 0, S).unwrap().other_cores, 0.48), "a busy neighbour");
    }

    /// The law of doubt, for this figure: whatever is unknown of it, time of other programs is not less.
    #[test]
    fn what_is_unknown_of_the_kernel_s_network_work_is_of_other_programs() {
        let less: [fn(&mut HostSample); 7] = [
            |host| host.packets = None,
            |host| host.loopback_packets = None,
            |host| host.put_off_ns.clear(),
            |host| host.put_off_ns.retain(|cpu, _| *cpu == 0),
            |host| host.outsiders_ns = None,
            // A counter that began anew.
            |host| host.packets = host.packets.map(|packets| 2_000 - packets),
            |host| host.interrupt_ns = None,
        ];
        for interrupts_ns in [None, Some(60_000_000), Some(690_000_000)] {
            let mut samples = with_network();
            for (sample, share) in samples.iter_mut().zip([0, 1]) {
                sample.host.interrupt_ns = interrupts_ns.map(|ns| ns * share);
            }
            let whole = usage_between(&samples, 0, S).unwrap().other_cores.unwrap();
            for (which, take_away) in less.iter().enumerate() {
                let mut less = samples.clone();
                less.iter_mut().for_each(|sample| take_away(&mut sample.host));
                let others = usage_between(&less, 0, S).unwrap().other_cores.unwrap();
                assert!(others >= whole - 1e-9, "{which}, {interrupts_ns:?}: {others} < {whole}");
            }
        }
    }

    #[test]
    fn a_role_that_began_later_is_unknown_and_so_is_what_is_of_other_programs() {
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 1, 1, [1, 1]), at(2, 2, 2, [2, 2])];
        samples[0].roles.remove(&Role::Target);
        let usage = usage_between(&samples, 0, 2 * S).unwrap();
        assert_eq!((usage.roles[&Role::Target].cpu_ns, usage.other_cores), (None, None));
        assert!(usage_between(&samples, S, 2 * S).unwrap().other_cores.is_some());
    }

    #[test]
    fn frequency_is_that_of_working_processors() {
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 0, 0, [900, 100]), at(2, 0, 0, [1800, 200])];
        for (sample, khz) in samples.iter_mut().zip([3000, 2900, 2800]) {
            sample.host.frequency_khz = BTreeMap::from([(0, khz), (1, 800)]);
        }
        assert_eq!(usage_between(&samples, 0, 2 * S).unwrap().frequency_khz, Some((2800, 3000)));
    }

    #[test]
    fn nanoseconds_survive_in_counters_of_years() {
        let years = 1_000_000_000_000_000_000;
        let mut samples = [at(0, 0, 0, [0, 0]), at(1, 0, 0, [0, 0])];
        for (sample, cpu_ns) in samples.iter_mut().zip([years, years + 7]) {
            sample.roles.get_mut(&Role::Target).unwrap().cpu_ns = cpu_ns;
        }
        assert_eq!(usage_between(&samples, 0, S).unwrap().roles[&Role::Target].cpu_ns, Some(7));
    }
}
