//! Explanations of loads on model servers with known limits, in virtual time: closed, open and
//! counted loads, and sweeps.
//!
//! | module | what it holds |
//! |---|---|
//! | `world` | loads in virtual time, and the records that the generator would have made |
//! | `servers` | servers of known truth |
//! | `causes` | what must be said of each cause, and what must not |
//! | `sentences` | the sentences about limits that no cause has, and each limit on a disturbed host |
mod alike;
mod causes;
mod sentences;
mod servers;
mod world;

use pippin_model::host::usage::{Role, RoleUse};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::trial::{Single, TrialRecord};
use pippin_model::workload::Service;

use self::servers::{each, lock, pool, stalling};
use self::world::{MS, SECOND, Truth};
use super::{Explanation, Limit, explain};
use crate::judge::stalls::{self, Returns};
use crate::judge::{Context, Evidence, bimodal, judge_run, judge_trial};
use crate::scalability::sweep::sweeps;

/// Ten threads of 5 ms.
fn threads() -> Truth {
    pool(10, 5 * MS)
}

/// Four connections to a database, for 10 ms each.
fn slots() -> Truth {
    pool(4, 10 * MS)
}

/// A lock that is held for 5 ms.
fn a_lock() -> Truth {
    lock(5 * MS)
}

fn explained(record: &TrialRecord, context: &Context) -> Explanation {
    explain(&[record], context, None)
}

fn at_a_time(record: &TrialRecord, context: &Context) -> u64 {
    let found = explained(record, context);
    match found.limit {
        Limit::AtATime { requests } => requests.round() as u64,
        other => panic!("{other:?}: {}", found.text),
    }
}

/// All three kinds of load must find this number of requests at a time.
fn is_served(server: &Truth, connections: u32, wanted: u64, context: &Context) {
    assert_eq!(at_a_time(&server.closed(connections.into()), context), wanted);
    assert_eq!(at_a_time(&server.counted(connections.into(), 2_000), context), wanted);
    let sweep = server.sweep(&[1, 8, connections / 2, connections, 2 * connections]);
    let found = sweeps(&sweep)[0].served_at_a_time;
    assert_eq!(found.map(|served| served.round() as u64), Some(wanted), "{found:?}");
    // With these figures, the text must not claim that more connections would help.
    let text = explained(&sweep[4], context).text;
    assert!(!text.contains("more"), "{text}");
}

#[test]
fn a_lock_with_100_connections_serves_one_at_a_time() {
    is_served(&a_lock(), 100, 1, &Context::default());
    let found = explained(&a_lock().closed(100), &Context::default()).text;
    assert!(found.starts_with("Serves about 1 request at a time for 100 connections"), "{found}");
    // A queue of 42 ms must not be taken for a delayed acknowledgement.
    let record = lock(420_000).closed(100);
    assert!((41..44).contains(
        &(record.load.as_ref().unwrap().measured.spans.service_time.quantile_ns(0.5).unwrap() / MS)
    ));
    let context = Context::default();
    let evidence = Evidence { record: &record, context: &context };
    assert_eq!(bimodal::judge_delayed_ack(&evidence), None);
}

#[test]
fn ten_threads_of_5_ms_serve_ten() {
    is_served(&threads(), 100, 10, &Context::default());
}

/// It waits 100 ms for each request, and holds one of 16 threads meanwhile: under load only, so that
/// no proof before and after the load finds it (docs/decisions/proofs-under-load.md).
#[test]
fn a_device_that_holds_threads_under_load_serves_as_many_as_it_has() {
    let device = |threads| pool(threads, 100 * MS);
    is_served(&device(16), 64, 16, &Context::default());
    // A thread for each connection is as good as none: all of them wait at the same time.
    let found = explained(&device(64).closed(64), &Context::default());
    assert!(!matches!(found.limit, Limit::AtATime { .. }), "{found:?}");
}

#[test]
fn four_database_slots_serve_four() {
    let context = Context { services: &[Service::Postgres], ..Context::default() };
    is_served(&slots(), 64, 4, &context);
    // The database works little: it waits too.
    let mut record = slots().closed(64);
    let services = RoleUse { cores: Some(0.15), ..RoleUse::default() };
    record.usage.as_mut().unwrap().roles.insert(Role::Services, services);
    assert_eq!(at_a_time(&record, &context), 4);
    // If the database is busy too, both are possible, and nothing is claimed.
    let services = RoleUse { cores: Some(0.7), ..RoleUse::default() };
    record.usage.as_mut().unwrap().roles.insert(Role::Services, services);
    let found = explained(&record, &context);
    assert_eq!(found.limit, Limit::Unknown);
    assert!(found.text.starts_with("The figures fit more than one explanation"), "{}", found.text);
}

#[test]
fn stalls_of_100_ms_each_second_are_named_with_their_period_and_length() {
    let server = stalling(MS, |now| each(SECOND, 100 * MS, now));
    let mut records = vec![server.closed(100), server.counted(100, 900_000)];
    records.extend(server.sweep(&[16, 64]));
    records.push(server.open(5_000.0, 64, 10));
    for record in &records {
        let context = Context::default();
        let found = stalls::find(&Evidence { record, context: &context }).unwrap();
        let Returns::Every(period_ns) = found.returns else { panic!("{found:?}") };
        let (period_s, length_ms) = (period_ns as f64 / 1e9, found.length_ns as f64 / 1e6);
        assert!((0.9..1.15).contains(&period_s) && (95.0..105.0).contains(&length_ms), "{found:?}");
        let explanation = explained(record, &context);
        assert!(explanation.text.contains("It stands still for about 10"), "{}", explanation.text);
        assert!(!matches!(explanation.limit, Limit::AtATime { .. }), "{explanation:?}");
    }
    for record in [a_lock().closed(100), threads().counted(100, 20_000)] {
        let context = Context::default();
        assert_eq!(stalls::find(&Evidence { record: &record, context: &context }), None);
    }
}

/// A busy server: 100 us of CPU time per request, on a processor of which others use a part.
fn beside_others(others: f64) -> TrialRecord {
    let service_ns = (100_000.0 / (1.0 - others)) as u64;
    let server = Truth { cpu_ns: 96_000, ..lock(service_ns) };
    let mut record = server.closed(64);
    // The single request had the whole processor, and the network took as long again.
    record.single = Some(Single { requests: 20, median_ns: 160_000, longest_ns: 160_000 });
    let usage = record.usage.as_mut().unwrap();
    usage.busy_by_cpu.insert(0, usage.roles[&Role::Target].cores.unwrap() + others);
    usage.other_cores = Some(others);
    record
}

#[test]
fn a_processor_shared_with_others_is_the_processor_and_no_limit_of_threads() {
    for others in [0.0, 0.1, 0.3, 0.5] {
        let found = explained(&beside_others(others), &Context::default());
        assert!(matches!(found.limit, Limit::Processor { .. }), "{others}: {}", found.text);
        if others > 0.0 {
            let seen = format!("and other programs took {others:.2}");
            assert!(found.text.contains(&seen), "{}", found.text);
        }
        let caveats = judge_trial(&beside_others(others), &Context::default());
        assert!(caveats.iter().all(|caveat| caveat.id != "inferred_concurrency"), "{caveats:?}");
    }
    // The hypervisor took time without reporting it: 72 % busy, and still not a limit of threads.
    let mut hidden = beside_others(0.25);
    hidden.usage.as_mut().unwrap().busy_by_cpu.insert(0, 0.72);
    let found = explained(&hidden, &Context::default());
    assert_eq!(found.limit, Limit::Unknown, "{}", found.text);
}

#[test]
fn a_processor_that_others_fill_is_no_limit_of_threads() {
    // Others leave a seventh of it. Alone, a request takes 75 us, 16.5 us of them on the processor.
    let server = Truth { cpu_ns: 16_500, ..lock(118_000) };
    let mut record = server.closed(10);
    record.single = Some(Single { requests: 20, median_ns: 75_000, longest_ns: 75_000 });
    let usage = record.usage.as_mut().unwrap();
    usage.busy_by_cpu.insert(0, 1.0);
    usage.other_cores = Some(0.86);
    let found = explained(&record, &Context::default());
    assert!(!matches!(found.limit, Limit::AtATime { .. }), "{found:?}");
    // Nor is a lock of 5 ms named there: other programs may look the same.
    let mut record = a_lock().closed(100);
    let usage = record.usage.as_mut().unwrap();
    usage.busy_by_cpu.insert(0, 0.9);
    usage.other_cores = Some(0.89);
    assert_eq!(explained(&record, &Context::default()).limit, Limit::Unknown);
}

#[test]
fn many_requests_that_each_need_little_of_a_busy_processor_are_no_limit_of_threads() {
    // 20 users, 218 us of CPU of 1.66 ms: a request that is alone waits, and the processors that
    // the target shares with the generator are 80 % busy.
    let server = Truth { cpu_ns: 218_000, ..pool(1_000, 3_340_000) };
    let mut record = server.closed(20);
    record.single = Some(Single { requests: 20, median_ns: 1_660_000, longest_ns: 1_660_000 });
    let cores = CpuSet([0, 1].into());
    record.spec.cpus.target = cores.clone();
    record.spec.cpus.generator = cores;
    record.usage.as_mut().unwrap().busy_by_cpu = [(0, 0.8), (1, 0.8)].into();
    let found = explained(&record, &Context::default());
    assert!(!matches!(found.limit, Limit::AtATime { .. }), "{found:?}");
}

#[test]
fn repetitions_that_disagree_name_nothing_and_most_of_them_do() {
    let (lock, full) = (a_lock().closed(100), beside_others(0.0));
    let found = explain(&[&lock, &lock, &full], &Context::default(), None);
    assert!(matches!(found.limit, Limit::AtATime { .. }));
    assert!(found.text.starts_with("In 2 of 3 repetitions: Serves about 1"), "{}", found.text);
    let found = explain(&[&lock, &full], &Context::default(), None);
    assert_eq!(found.limit, Limit::Unknown);
    assert!(found.text.starts_with("The repetitions disagree"), "{}", found.text);
}

#[test]
fn without_single_requests_nothing_is_inferred() {
    let mut record = a_lock().closed(100);
    record.single = None;
    assert_eq!(explained(&record, &Context::default()).limit, Limit::Unknown);
    let mut sweep = a_lock().sweep(&[2, 100, 200]);
    sweep.iter_mut().for_each(|record| record.single = None);
    assert_eq!(sweeps(&sweep)[0].served_at_a_time, None);
    assert!(judge_run(&sweep).values().flatten().all(|caveat| caveat.id != "inferred_concurrency"));
}
