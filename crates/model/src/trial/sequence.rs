//! Joins consecutive stretches of the same load: a trial is the sequence of its slices. Peers that
//! ran at the same time are merged elsewhere ([`Measured::merge`]).
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::host::kernel_network::KernelNetwork;
use crate::host::usage::{
    CompilerSample, CompilerUse, HostSample, JvmSample, JvmUse, MayUse, Passing, Role, RoleSample,
    RoleUse, Runtime, Tier, Usage, UsageSample,
};
use crate::result::{LoadResult, Measured, WarmUpResult, Window};
use crate::trial::outside::of_each_once;

/// One load from its slices, in their order; `None` without any.
///
/// Counters, histograms and durations add up; for connections, the maximum counts
/// ([`Measured::add_repetition`]). The windows follow each other without gaps: the first begins at
/// 0, each slice's at the end of the slice before. Everything before the measured part of a slice
/// is warm-up, and so are the loads in `warm_ups`: their windows are before 0. The measured part
/// begins when that of the first slice did.
#[must_use]
pub fn load_of(warm_ups: &[LoadResult], slices: &[LoadResult]) -> Option<LoadResult> {
    let first = slices.first()?;
    let mut measured = Measured::default();
    for slice in slices {
        measured.add_repetition(&slice.measured);
    }
    let mut whole = LoadResult {
        measured_to_ns: first.measured_from_ns + measured.duration_ns,
        measured,
        windows: windows_of(warm_ups, slices),
        warm_up: warm_up_of(warm_ups, slices),
        phases: Vec::new(),
        interrupted: slices.iter().any(|slice| slice.interrupted),
        ..first.clone()
    };
    for slice in &slices[1..] {
        add_generator(&mut whole, slice);
    }
    Some(whole)
}

fn add_generator(whole: &mut LoadResult, slice: &LoadResult) {
    let (own, other) = (&mut whole.generator, &slice.generator);
    own.cpu_ns += other.cpu_ns;
    own.spin_ns += other.spin_ns;
    own.clock_steps += other.clock_steps;
    own.max_rss_bytes = own.max_rss_bytes.max(other.max_rss_bytes);
    own.syscalls = own.syscalls.zip(other.syscalls).map(|(a, b)| a + b);
    for (thread, ns) in own.cpu_ns_by_thread.iter_mut().zip(&other.cpu_ns_by_thread) {
        *thread += ns;
    }
    match (&mut whole.tls, &slice.tls) {
        (Some(own), Some(other)) => own.merge(other),
        (own @ None, Some(other)) => *own = Some(other.clone()),
        (_, None) => {}
    }
    match (&mut whole.websocket, &slice.websocket) {
        (Some(own), Some(other)) => own.merge(other),
        (own @ None, Some(other)) => *own = Some(other.clone()),
        (_, None) => {}
    }
}

/// All parts that were not measured. The warm-up is steady if the last one was that looked for it: a
/// short one of fixed length may follow, at another rate.
fn warm_up_of(warm_ups: &[LoadResult], slices: &[LoadResult]) -> WarmUpResult {
    let mut all = WarmUpResult {
        steady: warm_ups.iter().rev().find_map(|load| load.warm_up.steady),
        windows: warm_ups.iter().flat_map(|load| load.warm_up.windows.iter().copied()).collect(),
        ..WarmUpResult::default()
    };
    let mut add = |completed: u64, errors: &BTreeMap<_, u64>| {
        all.completed += completed;
        for (kind, count) in errors {
            *all.errors.entry(*kind).or_default() += count;
        }
    };
    for load in warm_ups {
        add(load.measured.requests.completed, &load.measured.errors);
    }
    for load in warm_ups.iter().chain(slices) {
        add(load.warm_up.completed, &load.warm_up.errors);
    }
    let measured_ns: u64 = warm_ups.iter().map(|load| load.measured.duration_ns).sum();
    let before_ns: u64 = warm_ups.iter().chain(slices).map(|load| load.warm_up.duration_ns).sum();
    all.duration_ns = measured_ns + before_ns;
    all
}

/// All windows in one row: those of the warm-ups, one for everything before the measured parts of
/// the slices, and the measured ones.
fn windows_of(warm_ups: &[LoadResult], slices: &[LoadResult]) -> Vec<Window> {
    let mut lead = Window::default();
    let mut measured = Vec::new();
    let mut at_ns = 0;
    for slice in slices {
        for window in &slice.windows {
            if window.from_ns < 0 {
                add_counts(&mut lead, window);
            } else {
                measured.push(Window { from_ns: at_ns + window.from_ns, ..window.clone() });
            }
        }
        at_ns += slice.measured.duration_ns as i64;
    }
    lead.from_ns = -(lead.duration_ns as i64);
    let mut row = before(warm_ups, lead.from_ns);
    row.extend((lead.duration_ns > 0).then_some(lead));
    row.extend(measured);
    row
}

/// The windows of these loads. The last one ends at `end_ns`.
fn before(loads: &[LoadResult], mut end_ns: i64) -> Vec<Window> {
    let mut row: Vec<Window> = Vec::new();
    for window in loads.iter().rev().flat_map(|load| load.windows.iter().rev()) {
        end_ns -= window.duration_ns as i64;
        row.push(Window { from_ns: end_ns, ..window.clone() });
    }
    row.reverse();
    row
}

/// Adds the counts. Time figures stay unknown.
fn add_counts(all: &mut Window, window: &Window) {
    all.duration_ns += window.duration_ns;
    all.add_requests(window);
    all.live_connections = all.live_connections.max(window.live_connections);
}

/// The usage over consecutive stretches; `None` without any. Counters add up, shares and cores are
/// means weighted by length, and highest values stay the highest. A figure that is unknown in one
/// stretch is unknown.
#[must_use]
pub fn usage_of(stretches: &[Usage]) -> Option<Usage> {
    if stretches.is_empty() {
        return None;
    }
    let duration_ns: u64 = stretches.iter().map(|usage| usage.duration_ns).sum();
    let mean = |value: &dyn Fn(&Usage) -> Option<f64>| {
        let weighted: Option<f64> =
            stretches.iter().map(|usage| Some(value(usage)? * usage.duration_ns as f64)).sum();
        weighted.filter(|_| duration_ns > 0).map(|sum| sum / duration_ns as f64)
    };
    let sum = |value: &dyn Fn(&Usage) -> Option<u64>| stretches.iter().map(value).sum();
    let roles: BTreeSet<Role> =
        stretches.iter().flat_map(|usage| usage.roles.keys().copied()).collect();
    let shares = |of: fn(&Usage) -> &BTreeMap<u32, f64>| -> BTreeMap<u32, f64> {
        let cpus: BTreeSet<u32> =
            stretches.iter().flat_map(|usage| of(usage).keys().copied()).collect();
        cpus.into_iter()
            .filter_map(|cpu| Some((cpu, mean(&|usage| of(usage).get(&cpu).copied())?)))
            .collect()
    };
    let queue = |usage: &Usage| usage.listen_queue.map(|(mean, _)| mean);
    let longest = stretches.iter().filter_map(|usage| Some(usage.listen_queue?.1)).max();
    let frequencies = || stretches.iter().filter_map(|usage| usage.frequency_khz);
    Some(Usage {
        duration_ns,
        roles: roles.into_iter().map(|role| (role, role_of(stretches, role))).collect(),
        tiers: tiers_of(stretches),
        unseen_ns: sum(&|usage| usage.unseen_ns),
        left_out: left_out_of(stretches),
        runtimes: Runtime::each_once(stretches.iter().flat_map(|usage| &usage.runtimes)),
        passing: passing_of(stretches),
        may_use: may_use_of(stretches),
        other_cores: mean(&|usage| usage.other_cores),
        kernel_network: KernelNetwork::mean(
            stretches.iter().map(|usage| (usage.kernel_network.as_ref(), usage.duration_ns)),
        ),
        interrupt_cores: mean(&|usage| usage.interrupt_cores),
        steal_cores: mean(&|usage| usage.steal_cores),
        stolen_by_cpu: shares(|usage| &usage.stolen_by_cpu),
        busy_by_cpu: shares(|usage| &usage.busy_by_cpu),
        listen_overflows: sum(&|usage| usage.listen_overflows),
        listen_drops: sum(&|usage| usage.listen_drops),
        retransmits: sum(&|usage| usage.retransmits),
        loopback_bytes: sum(&|usage| usage.loopback_bytes),
        log_bytes: sum(&|usage| usage.log_bytes),
        energy_uj: sum(&|usage| usage.energy_uj),
        listen_queue: mean(&queue).zip(longest),
        backlog: stretches.iter().filter_map(|usage| usage.backlog).min(),
        frequency_khz: frequencies()
            .map(|(least, _)| least)
            .min()
            .zip(frequencies().map(|(_, most)| most).max()),
        strays: of_each_once(stretches.iter().flat_map(|usage| &usage.strays)),
        unbilled: stretches.iter().any(|usage| usage.unbilled),
        left_group: stretches.iter().any(|usage| usage.left_group),
    })
}

/// The tiers of all stretches. One that is missing in a stretch did not work there.
fn tiers_of(stretches: &[Usage]) -> Vec<Tier> {
    let mut names: Vec<&String> = Vec::new();
    for tier in stretches.iter().flat_map(|usage| &usage.tiers) {
        if !names.contains(&&tier.name) {
            names.push(&tier.name);
        }
    }
    let nothing = RoleUse { cpu_ns: Some(0), ..RoleUse::default() };
    let one = |name: &String| {
        let of = |usage: &Usage| usage.tiers.iter().find(|tier| tier.name == *name).cloned();
        let uses: Vec<RoleUse> = stretches
            .iter()
            .map(|usage| of(usage).map_or_else(|| nothing.clone(), |tier| tier.used))
            .collect();
        let used = used_in_all(stretches, &uses.iter().map(Some).collect::<Vec<_>>());
        Tier { name: name.clone(), used }
    };
    names.into_iter().map(one).collect()
}

/// Processes that got short connections, each once, with those of all stretches.
fn passing_of(stretches: &[Usage]) -> Vec<Passing> {
    let mut all: BTreeMap<(SocketAddr, i32), Passing> = BTreeMap::new();
    for one in stretches.iter().flat_map(|usage| &usage.passing) {
        let sum = all.entry((one.at, one.pid)).or_insert(Passing { connections: 0, ..one.clone() });
        sum.connections += one.connections;
    }
    all.into_values().collect()
}

/// Everybody who was left out of one of the stretches.
fn left_out_of(stretches: &[Usage]) -> Vec<String> {
    let all: BTreeSet<&String> = stretches.iter().flat_map(|usage| &usage.left_out).collect();
    all.into_iter().cloned().collect()
}

/// What the target may use at the end, with the periods of all stretches.
fn may_use_of(stretches: &[Usage]) -> Option<MayUse> {
    let known = || stretches.iter().filter_map(|usage| usage.may_use.as_ref());
    Some(MayUse {
        periods: known().map(|may| may.periods).sum(),
        throttled: known().map(|may| may.throttled).sum(),
        ..known().next_back()?.clone()
    })
}

fn role_of(stretches: &[Usage], role: Role) -> RoleUse {
    let uses: Vec<Option<&RoleUse>> =
        stretches.iter().map(|usage| usage.roles.get(&role)).collect();
    used_in_all(stretches, &uses)
}

fn used_in_all(stretches: &[Usage], uses: &[Option<&RoleUse>]) -> RoleUse {
    let known = || uses.iter().copied().flatten();
    let sum = |value: fn(&RoleUse) -> Option<u64>| -> Option<u64> {
        uses.iter().map(|use_| value((*use_)?)).sum()
    };
    let cpu_ns = sum(|use_| use_.cpu_ns);
    let duration_ns: u64 = stretches.iter().map(|usage| usage.duration_ns).sum();
    RoleUse {
        cpu_ns,
        cores: cpu_ns.filter(|_| duration_ns > 0).map(|ns| ns as f64 / duration_ns as f64),
        rss_max_bytes: known().filter_map(|use_| use_.rss_max_bytes).max(),
        rss_first_bytes: known().find_map(|use_| use_.rss_first_bytes),
        rss_last_bytes: known().rev().find_map(|use_| use_.rss_last_bytes),
        pss_max_bytes: known().filter_map(|use_| use_.pss_max_bytes).max(),
        processes: known().filter_map(|use_| use_.processes).max(),
        threads: known().filter_map(|use_| use_.threads).max(),
        busiest_threads: known().rev().find_map(|use_| use_.busiest_threads.clone()),
        collects: known().find_map(|use_| use_.collects),
        voluntary_switches: sum(|use_| use_.voluntary_switches),
        involuntary_switches: sum(|use_| use_.involuntary_switches),
        workers_ns: workers_of(uses),
        compiler: known().find_map(|use_| use_.compiler).map(|first| CompilerUse {
            cpu_ns: known().filter_map(|use_| Some(use_.compiler?.cpu_ns)).sum(),
            ..first
        }),
        jvm: jvm_of(uses),
    }
}

/// What JVMs said of all stretches; `None` if they said nothing of one of them.
fn jvm_of(uses: &[Option<&RoleUse>]) -> Option<JvmUse> {
    let all: Option<Vec<JvmUse>> = uses.iter().map(|use_| (*use_)?.jvm.clone()).collect();
    all?.into_iter().reduce(|sum, one| sum.with(&one))
}

/// The CPU time of workers, as far as they were there in each stretch.
fn workers_of(uses: &[Option<&RoleUse>]) -> BTreeMap<i32, u64> {
    let Some((Some(first), rest)) = uses.split_first() else { return BTreeMap::new() };
    let whole = |(pid, ns): (&i32, &u64)| {
        let others: Option<u64> =
            rest.iter().map(|use_| (*use_)?.workers_ns.get(pid).copied()).sum();
        Some((*pid, ns + others?))
    };
    first.workers_ns.iter().filter_map(whole).collect()
}

/// The samples that a sampler would have taken at the beginning of these stretches and at the end
/// of each, if they had followed each other from `from_ns` on. Counters begin at 0.
#[must_use]
pub fn samples_of(from_ns: u64, stretches: &[Usage]) -> Vec<UsageSample> {
    let Some(first) = stretches.first() else { return Vec::new() };
    let mut now = UsageSample { at_ns: from_ns, ..UsageSample::default() };
    for (role, use_) in &first.roles {
        let nothing = RoleSample::default();
        now.roles.insert(*role, role_sample(use_, use_.rss_first_bytes, &nothing, false));
    }
    let mut samples = vec![now.clone()];
    for usage in stretches {
        now.at_ns += usage.duration_ns;
        for (role, use_) in &usage.roles {
            let before = now.roles.remove(role).unwrap_or_default();
            now.roles.insert(*role, role_sample(use_, use_.rss_last_bytes, &before, true));
        }
        add_host(&mut now.host, usage);
        now.listen_queue = usage.listen_queue.map(|(mean, _)| mean.round() as u64);
        now.backlog = usage.backlog;
        now.log_bytes = match (now.log_bytes, usage.log_bytes) {
            (before, Some(more)) => Some(before.unwrap_or(0) + more),
            (_, None) => None,
        };
        samples.push(now.clone());
    }
    samples
}

/// The sample after a stretch that was used as `use_` says and had begun as `before` shows; or, if it
/// does not count, the sample before it.
fn role_sample(
    use_: &RoleUse,
    rss_bytes: Option<u64>,
    before: &RoleSample,
    counts: bool,
) -> RoleSample {
    let more = |ns: u64| if counts { ns } else { 0 };
    let compiler = use_.compiler.map(|of| CompilerSample {
        compiler: of.compiler,
        cpu_ns: before.compiler.map_or(0, |it| it.cpu_ns) + more(of.cpu_ns),
        age_ns: of.age_ns,
    });
    let jvm = use_.jvm.as_ref().map(|of| {
        let so_far = before.jvm.clone().unwrap_or_default();
        let sum = |before: Option<u64>, of: Option<u64>| Some(before.unwrap_or(0) + more(of?));
        JvmSample {
            collector: of.collector.clone(),
            compiling_ns: None,
            collecting_ns: sum(so_far.collecting_ns, of.collecting_ns),
            collections: sum(so_far.collections, of.collections),
            stopped_ns: sum(so_far.stopped_ns, of.stopped_ns),
            heap_bytes: of.heap_max_bytes.filter(|_| counts),
        }
    });
    RoleSample {
        cpu_ns: before.cpu_ns + more(use_.cpu_ns.unwrap_or(0)),
        // What a stretch without a look at the runtime does not tell, goes on.
        compiler: compiler.or(before.compiler),
        jvm: jvm.or_else(|| before.jvm.clone()),
        rss_bytes,
        pss_bytes: use_.pss_max_bytes,
        processes: use_.processes.unwrap_or(0),
        threads: use_.threads.unwrap_or(0),
        ..RoleSample::default()
    }
}

fn add_host(host: &mut HostSample, usage: &Usage) {
    let ns = |share: f64| (share * usage.duration_ns as f64) as u64;
    for (cpu, share) in &usage.busy_by_cpu {
        *host.busy_ns.entry(*cpu).or_default() += ns(*share);
    }
    for (cpu, share) in &usage.stolen_by_cpu {
        *host.steal_ns_by_cpu.entry(*cpu).or_default() += ns(*share);
    }
    host.steal_ns = Some(host.steal_ns_by_cpu.values().sum());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleTrial;
    use crate::result::{ErrorKind, Successes};

    /// A slice of 400 ms after 50 ms, with this many answers of this many nanoseconds each.
    fn slice(answers: u64, ns: u64) -> LoadResult {
        let mut load = ExampleTrial::hello().build().load.unwrap();
        load.measured = Measured { duration_ns: 400, ..Measured::default() };
        load.measured.requests.completed = answers;
        load.measured.answered.good = answers;
        load.measured.successes = Some(Successes { completed: answers, body_bytes: answers * 12 });
        load.measured.connections.asked = 10;
        load.measured.connections.peak = 10;
        load.measured.connections.opened = 10;
        load.measured.errors.insert(ErrorKind::Timeout, 1);
        load.measured.spans.service_time.record_n(ns, answers);
        load.warm_up = WarmUpResult {
            duration_ns: 50,
            steady: None,
            completed: 3,
            errors: BTreeMap::from([(ErrorKind::Timeout, 2)]),
            windows: Vec::new(),
        };
        let window = |from_ns, duration_ns, completed| Window {
            from_ns,
            duration_ns,
            completed,
            sent: completed,
            live_connections: 10,
            ..Window::default()
        };
        load.windows = vec![window(-50, 50, 3), window(0, 400, answers)];
        load.generator.cpu_ns = 7;
        load.generator.cpu_ns_by_thread = vec![3, 4];
        load
    }

    #[test]
    fn slices_follow_each_other() {
        let mut warm_up = slice(20, 1_000);
        warm_up.warm_up.steady = Some(true);
        let whole = load_of(&[warm_up], &[slice(100, 1_000), slice(300, 9_000)]).unwrap();
        assert_eq!(whole.measured.duration_ns, 800);
        assert_eq!(whole.measured.goodput_per_s(), Some(400.0 * 1e9 / 800.0));
        assert_eq!(whole.measured_to_ns - whole.measured_from_ns, 800);
        let successes = Successes { completed: 400, body_bytes: 4_800 };
        assert_eq!(whole.measured.successes, Some(successes));
        let connections = whole.measured.connections;
        assert_eq!((connections.asked, connections.peak, connections.opened), (10, 10, 20));
        assert_eq!(whole.measured.errors[&ErrorKind::Timeout], 2);
        let spans = &whole.measured.spans.service_time;
        assert_eq!(spans.count(), 400);
        assert!(spans.quantile_ns(0.2).unwrap() < 1_100 && spans.quantile_ns(0.3).unwrap() > 8_000);
        // The warm-up: its own 450, and 50 before each slice.
        assert_eq!((whole.warm_up.duration_ns, whole.warm_up.completed), (550, 29));
        assert_eq!(whole.warm_up.errors[&ErrorKind::Timeout], 7);
        assert_eq!(whole.warm_up.steady, Some(true));
        assert_eq!(
            (whole.generator.cpu_ns, &whole.generator.cpu_ns_by_thread[..]),
            (14, &[6, 8][..])
        );
        let places: Vec<(i64, u64)> =
            whole.windows.iter().map(|window| (window.from_ns, window.completed)).collect();
        assert_eq!(places, [(-550, 3), (-500, 20), (-100, 6), (0, 100), (400, 300)]);
        assert_eq!(load_of(&[], &[]), None);
    }

    fn used(seconds: u64, cpu_s: u64, steal: Option<f64>, rss: u64) -> Usage {
        let target = RoleUse {
            cpu_ns: Some(cpu_s * 1_000_000_000),
            rss_max_bytes: Some(rss),
            rss_first_bytes: Some(rss - 1),
            rss_last_bytes: Some(rss),
            ..RoleUse::default()
        };
        Usage {
            duration_ns: seconds * 1_000_000_000,
            roles: BTreeMap::from([(Role::Target, target)]),
            steal_cores: steal,
            other_cores: Some(0.5),
            busy_by_cpu: BTreeMap::from([(0, 0.25 * seconds as f64)]),
            listen_overflows: Some(2),
            ..Usage::default()
        }
    }

    #[test]
    fn what_was_used_adds_up_and_shares_are_weighted() {
        let whole = usage_of(&[used(1, 1, Some(0.0), 10), used(3, 1, Some(0.4), 8)]).unwrap();
        let target = &whole.roles[&Role::Target];
        assert_eq!((target.cpu_ns, target.cores), (Some(2_000_000_000), Some(0.5)));
        assert_eq!(
            (target.rss_first_bytes, target.rss_max_bytes, target.rss_last_bytes),
            (Some(9), Some(10), Some(8))
        );
        assert!((whole.steal_cores.unwrap() - 0.3).abs() < 1e-12);
        assert!((whole.busy_by_cpu[&0] - (0.25 + 0.75 * 3.0) / 4.0).abs() < 1e-12);
        assert_eq!((whole.listen_overflows, whole.retransmits), (Some(4), None));
        assert_eq!(
            usage_of(&[used(1, 1, Some(0.0), 1), used(1, 1, None, 1)]).unwrap().steal_cores,
            None
        );
        assert_eq!(usage_of(&[]), None);
    }

    #[test]
    fn samples_are_those_of_stretches_without_gaps() {
        let samples = samples_of(5, &[used(1, 1, Some(0.0), 10), used(3, 2, Some(0.4), 8)]);
        let seen: Vec<(u64, u64, Option<u64>)> = samples
            .iter()
            .map(|sample| {
                let target = &sample.roles[&Role::Target];
                (sample.at_ns, target.cpu_ns, target.rss_bytes)
            })
            .collect();
        const S: u64 = 1_000_000_000;
        assert_eq!(seen, [(5, 0, Some(9)), (S + 5, S, Some(10)), (4 * S + 5, 3 * S, Some(8))]);
        assert_eq!(samples[1].host.busy_ns[&0], S / 4);
        assert!(samples_of(5, &[]).is_empty());
    }

    #[test]
    fn what_compilers_and_collectors_used_adds_up_over_the_samples() {
        use crate::host::usage::Compiler;
        let stretch = |compiling_ns, collecting_ns, heap| {
            let mut usage = used(1, 1, Some(0.0), 10);
            let target = usage.roles.get_mut(&Role::Target).unwrap();
            let compiler = Compiler::Jvm;
            target.compiler = Some(CompilerUse { compiler, cpu_ns: compiling_ns, age_ns: 9 });
            target.jvm =
                Some(JvmUse { collecting_ns, heap_max_bytes: Some(heap), ..JvmUse::default() });
            usage
        };
        let silent = used(1, 1, Some(0.0), 10);
        let all = [stretch(40, Some(7), 3), silent, stretch(2, Some(1), 5), stretch(1, None, 6)];
        let told: Vec<_> = samples_of(5, &all)
            .iter()
            .map(|sample| {
                let target = &sample.roles[&Role::Target];
                let jvm = target.jvm.as_ref().unwrap();
                (target.compiler.unwrap().cpu_ns, jvm.collecting_ns, jvm.heap_bytes)
            })
            .collect();
        let wanted = [
            (0, Some(0), None),
            (40, Some(7), Some(3)),
            (40, Some(7), Some(3)),
            (42, Some(8), Some(5)),
            (43, None, Some(6)),
        ];
        assert_eq!(told, wanted);
    }
}
