//! The sampler thread on this process and this host.
use crate::forked::{Supervisor, burn, eventually, sleep_for_good};
use pippin_model::host::usage::Role;
use pippin_probe::clock::process_cpu_ns;
use pippin_probe::clock::thread_cpu_ns;
use pippin_probe::{
    ProbeError, RoleRoot, Roots, Sampler, TreeMemory, monotonic_ns, sample, usage_between,
};
use pippin_testing::patience::in_time;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

pippin_testing::patient_tests!(
    a_busy_target_and_its_log_are_measured_between_two_instants,
    the_sampler_itself_is_cheap,
);

fn generator() -> Roots {
    let own = i32::try_from(std::process::id()).unwrap();
    Roots {
        roles: BTreeMap::from([(Role::Generator, vec![RoleRoot::Process(own)])]),
        ..Roots::default()
    }
}

fn a_busy_target_and_its_log_are_measured_between_two_instants() {
    let mut log = tempfile::NamedTempFile::new().unwrap();
    log.write_all(&[b'x'; 1000]).unwrap();
    let supervisor = Supervisor::start(|| {
        burn(60_000);
    });
    let mut roots = generator();
    roots.roles.insert(Role::Target, vec![RoleRoot::Below(supervisor.pid)]);
    roots.log = Some(log.path().to_path_buf());
    // Wait for the child, so that the first sample has its details.
    let child = only_child(supervisor.pid);
    let sampler = Sampler::start(roots, Duration::from_millis(50), None).unwrap();
    let (from_ns, cpu_from_ns) = (monotonic_ns(), process_cpu_ns(child).unwrap());
    std::thread::sleep(Duration::from_millis(300));
    log.write_all(&[b'x'; 500]).unwrap();
    eventually("a sample later than the start", || sampler.latest().unwrap().at_ns > from_ns);
    std::thread::sleep(Duration::from_millis(500));
    let (to_ns, cpu_to_ns) = (monotonic_ns(), process_cpu_ns(child).unwrap());
    let samples = sampler.stop();
    in_time(samples.len() >= 4, || format!("{} samples", samples.len()));
    assert!(samples.is_sorted_by_key(|sample| sample.at_ns));
    let usage = usage_between(&samples, from_ns, to_ns).unwrap();
    let target = &usage.roles[&Role::Target];
    // Between two samples the target may have worked more or less; its total depends on other
    // processes.
    let (measured_ns, used_ns) = (target.cpu_ns.unwrap(), cpu_to_ns - cpu_from_ns);
    in_time(measured_ns.abs_diff(used_ns) < 60_000_000, || {
        format!("measured {measured_ns} ns, used {used_ns} ns")
    });
    assert!((target.cores.unwrap() * usage.duration_ns as f64 - measured_ns as f64).abs() < 2.0);
    assert_eq!((target.processes, target.threads), (Some(1), Some(1)));
    // The log grew between two samples, and both ends must lie beside them.
    in_time(usage.log_bytes == Some(500), || format!("{:?}", usage.log_bytes));
    assert!(
        usage.other_cores.is_some()
            && usage.loopback_bytes.is_some()
            && usage.listen_overflows.is_some()
    );
    assert!(
        target.voluntary_switches.is_some() && target.pss_max_bytes.is_some(),
        "first and last sample carry the details: {usage:?}"
    );
}

/// The process below a supervisor. Waits until it exists.
fn only_child(supervisor: i32) -> i32 {
    let mut child = None;
    eventually("the supervisor has a child", || {
        child = std::fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children"))
            .unwrap()
            .trim()
            .parse()
            .ok();
        child.is_some()
    });
    child.unwrap()
}

fn the_sampler_itself_is_cheap() {
    let supervisor = Supervisor::start(|| sleep_for_good());
    let mut roots = generator();
    roots.roles.insert(Role::Target, vec![RoleRoot::Below(supervisor.pid)]);
    let sampler = Sampler::start(roots, Duration::from_millis(200), None).unwrap();
    let before_ns = sampler.cpu_ns();
    let looks_ns: Vec<u64> = (0..10).map(|_| look_at_all_processes_ns()).collect();
    let samples = looks_ns.len() as f64;
    let sample_ns = (sampler.cpu_ns() - before_ns) as f64 / samples;
    let look_ns = looks_ns.iter().sum::<u64>() as f64 / samples;
    in_time(sample_ns < MOST_LOOKS * look_ns, || {
        format!("a sample takes {sample_ns:.0} ns, a look at all processes {look_ns:.0} ns")
    });
}

/// A sample may take so many times what it takes to read one file of each process. How long that is depends
/// on the machine, and on what its kernel does besides, so both are measured together.
const MOST_LOOKS: f64 = 4.0;

/// The CPU time of reading `/proc/PID/stat` of every process, after the time of a sample.
fn look_at_all_processes_ns() -> u64 {
    std::thread::sleep(Duration::from_millis(200));
    let begin = thread_cpu_ns().unwrap();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let is_process =
            entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        // One that has just ended has no file.
        let _ = is_process.then(|| std::fs::read(entry.path().join("stat")));
    }
    thread_cpu_ns().unwrap() - begin
}

#[test]
fn a_processor_that_is_not_there_is_refused() {
    let error = Sampler::start(generator(), Duration::from_millis(50), Some(4000)).unwrap_err();
    assert!(matches!(error, ProbeError::Pin { cpu: 4000, .. }), "{error}");
    let error = Sampler::start(generator(), Duration::from_millis(50), Some(1023)).unwrap_err();
    assert!(error.to_string().contains("processor 1023"), "{error}");
}

#[test]
fn own_time_is_that_of_the_process_alone() {
    let (roots, mut memory) = (generator(), TreeMemory::default());
    let before = sample(&roots, &mut memory).roles[&Role::Generator].cpu_ns;
    burn(50);
    let after = sample(&roots, &mut memory).roles[&Role::Generator].cpu_ns;
    assert!(after - before >= 50_000_000, "{}", after - before);
}
