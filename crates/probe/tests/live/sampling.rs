//! The sampler thread on this process and this host.
use crate::forked::{Supervisor, burn, sleep_for_good};
use pippin_model::usage::Role;
use pippin_probe::{ProbeError, RoleRoot, Roots, Sampler, TreeMemory, monotonic_ns, sample, usage_between};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

fn generator() -> Roots {
    let own = i32::try_from(std::process::id()).unwrap();
    Roots { roles: BTreeMap::from([(Role::Generator, vec![RoleRoot::Process(own)])]), log: None }
}

#[test]
fn a_busy_target_and_its_log_are_measured_between_two_instants() {
    let mut log = tempfile::NamedTempFile::new().unwrap();
    log.write_all(&[b'x'; 1000]).unwrap();
    let supervisor = Supervisor::start(|| {
        burn(60_000);
    });
    let mut roots = generator();
    roots.roles.insert(Role::Target, vec![RoleRoot::Tree(supervisor.pid)]);
    roots.log = Some(log.path().to_path_buf());
    let sampler = Sampler::start(roots, Duration::from_millis(50), None).unwrap();
    let from_ns = monotonic_ns();
    std::thread::sleep(Duration::from_millis(200));
    log.write_all(&[b'x'; 500]).unwrap();
    assert!(sampler.latest().unwrap().at_ns > from_ns);
    std::thread::sleep(Duration::from_millis(400));
    let to_ns = monotonic_ns();
    let samples = sampler.stop();
    assert!(samples.len() > 8 && samples.is_sorted_by_key(|sample| sample.at_ns), "{}", samples.len());
    let usage = usage_between(&samples, from_ns, to_ns).unwrap();
    let target = &usage.roles[&Role::Target];
    // How much of a core it got depends on who else is at work; it wanted one whole.
    assert!(target.cores.is_some_and(|cores| (0.2..=1.05).contains(&cores)), "{usage:?}");
    assert_eq!((target.processes, target.threads), (Some(1), Some(1)));
    assert_eq!(usage.log_bytes, Some(500));
    assert!(usage.foreign_cores.is_some() && usage.loopback_bytes.is_some() && usage.listen_overflows.is_some());
    assert!(target.voluntary_switches.is_some() && target.pss_max_bytes.is_some(), "first and last sample carry the details: {usage:?}");
}

#[test]
fn the_sampler_itself_is_cheap() {
    let supervisor = Supervisor::start(|| sleep_for_good());
    let mut roots = generator();
    roots.roles.insert(Role::Target, vec![RoleRoot::Tree(supervisor.pid)]);
    let sampler = Sampler::start(roots, Duration::from_millis(200), None).unwrap();
    let (from_ns, before_ns) = (monotonic_ns(), sampler.cpu_ns());
    std::thread::sleep(Duration::from_secs(2));
    let share = (sampler.cpu_ns() - before_ns) as f64 / (monotonic_ns() - from_ns) as f64;
    assert!(share < 0.01, "{:.2} % of a core at 5 samples a second", share * 100.0);
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
