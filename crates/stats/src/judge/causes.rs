//! The law of explanations as a test: each is said of a clean trial that is given its cause, and not
//! of the clean trial. On a disturbed host, where other programs cause the same signs, only those
//! speak that rest on the target's own counters.
use pippin_model::example::ExampleTrial;
use pippin_model::example::run::calibration;
use pippin_model::host::usage::{Compiler, CompilerUse, JvmUse, MayUse, Role};
use pippin_model::plan::cpus::CpuSet;
use pippin_model::result::histogram::Histogram;
use pippin_model::result::{ByConnection, Silence};
use pippin_model::run::Calibration;
use pippin_model::trial::{Company, Single, TrialRecord};
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::answer::Ground;
use super::test::{Change, changed, load, measured, target, usage};
use super::{Context, EXPLANATIONS, Evidence, judge_trial};

const MS: u64 = 1_000_000;

/// A generator that can do more than the clean trial asks of it.
static ROOMY: LazyLock<Calibration> = LazyLock::new(|| calibration(11_200.0));

/// The cause of each explanation.
const CAUSES: &[(&str, Change)] = &[
    ("measured_apart", |record, _| {
        let apart = "it used 3.1 % of a processor while others were measured".to_string();
        record.company = Some(Company { targets: 1, apart: Some(apart), ..Company::default() });
    }),
    ("compiling", |record, _| {
        target(record).compiler = Some(compiled(7_200 * MS));
    }),
    ("collections", |record, _| {
        target(record).jvm = Some(JvmUse {
            collecting_ns: Some(41 * 38 * MS),
            collections: Some(41),
            longest_ns: Some((38 * MS, 38 * MS)),
            ..JvmUse::default()
        });
    }),
    ("sees_processors", |record, _| {
        let cpus = CpuSet([0].into());
        usage(record).may_use = Some(MayUse { cpus, ..MayUse::default() });
        target(record).compiler = Some(compiled(0));
    }),
    ("bimodal", |record, _| {
        measured(record).spans.service_time = times(&[(1.0, 6_000), (9.0, 4_000)]);
    }),
    ("batches", |record, _| {
        let (first, others) = ((0.017, 1_300), (0.106, 8_700));
        let spans = &mut measured(record).spans;
        (spans.first_in_batch, spans.service_time) = (times(&[first]), times(&[first, others]));
    }),
    ("slow_connections", |record, _| {
        let all = measured(record);
        all.by_connection = ByConnection::default();
        (0..8).for_each(|_| all.by_connection.add(1_000, 1_000 * MS, 1_000));
        (0..2).for_each(|_| all.by_connection.add(40, 1_000 * MS, 40));
        all.spans.service_time = times(&[(1.0, 8_000), (25.0, 80)]);
    }),
    ("stalls", |record, _| {
        // 100 ms of each second, in which all ten users wait.
        let silence = Silence { from_ns: 100 * MS, length_ns: 100 * MS };
        load(record).windows.iter_mut().for_each(|window| window.silences = vec![silence]);
        measured(record).spans.response_time.record_n(100 * MS, 300);
    }),
    ("delayed_ack", |record, _| {
        measured(record).spans.body = times(&[(0.001, 9_500), (41.0, 500)]);
    }),
    ("server_closes", |record, _| {
        let all = measured(record);
        all.connections.closed_by_server = 300;
        all.closes.by_requests.add(1_000, 300);
    }),
    ("memory_grows", |record, _| {
        target(record).collects = Some(false);
        for (second, sample) in record.samples.iter_mut().enumerate() {
            let bytes = (100 + 2 * second as u64) << 20;
            sample.roles.get_mut(&Role::Target).unwrap().rss_bytes = Some(bytes);
        }
    }),
    ("logs_requests", |record, _| usage(record).log_bytes = Some(24_000_000)),
    ("left_out", |record, _| usage(record).left_out = vec!["job (process 77)".into()]),
    ("workers_uneven", |record, _| target(record).workers_ns = [(1, 97), (2, 3)].into()),
    ("cores_unused", |record, _| {
        *record = ExampleTrial::hello().target_cores(1.01, 4).build();
    }),
    ("listen_overflows", |record, _| usage(record).listen_drops = Some(58)),
    ("listen_queue", |record, _| usage(record).listen_queue = Some((6.0, 9))),
    ("accepts_slowly", |record, _| {
        let short = ExampleTrial::hello().requests_per_connection(1).completed(6_000);
        *record = short.target_cores(0.05, 1).build();
        measured(record).connections.reconnects = 6_000;
        usage(record).listen_queue = Some((9.2, 10));
    }),
    ("inferred_concurrency", |record, _| {
        let pool = ExampleTrial::hello().connections(50).seconds(5).completed(899);
        *record = pool.response_ms(276.0).target_cores(0.1, 1).build();
        record.single = Some(Single { requests: 20, median_ns: 21 * MS, longest_ns: 23 * MS });
    }),
    ("waits", |record, _| {
        let lock = ExampleTrial::open(10.0).response_ms(5_030.0);
        *record = lock.target_cores(0.1, 2).build();
        record.single = Some(Single { requests: 20, median_ns: 21 * MS, longest_ns: 42 * MS });
    }),
    ("cpu_bound", |record, _| *record = ExampleTrial::hello().target_cores(0.98, 1).build()),
    ("headroom", |_, context| context.calibration = Some(&ROOMY)),
    ("unproved", |record, context| {
        record.proofs.clear();
        context.may_be_unproved = true;
    }),
    ("proof_doubted", |record, _| {
        record.proofs[0].doubt = Some("the target owns the table".into());
    }),
    ("server_not_seen", |_, context| {
        context.server_not_seen = Some("it is on another machine");
    }),
];

/// What is said of every clean trial, and what takes its evidence away.
const OF_A_CLEAN_TRIAL: &[(&str, Change)] = &[
    ("not_cpu_bound", |record, _| record.usage = None),
    ("time_goes", |record, _| measured(record).spans.headers = Histogram::new()),
];

fn compiled(cpu_ns: u64) -> CompilerUse {
    CompilerUse { compiler: Compiler::DotNet, cpu_ns, age_ns: 3_000 * MS }
}

/// So many times of about so many milliseconds each.
fn times(parts: &[(f64, u64)]) -> Histogram {
    let mut times = Histogram::new();
    for (ms, count) in parts {
        for nth in 0..*count {
            times.record((ms * 1e6 * (0.98 + 0.04 * nth as f64 / *count as f64)) as u64);
        }
    }
    times
}

fn names(all: &[(&str, Change)]) -> BTreeSet<String> {
    all.iter().map(|(id, _)| (*id).to_string()).collect()
}

/// The names of all that is said of a trial, as if its host were calm.
fn said(record: &TrialRecord, context: &Context) -> BTreeSet<String> {
    let evidence = Evidence { record, context };
    EXPLANATIONS.iter().filter_map(|(_, _, explain)| Some(explain(&evidence)?.id)).collect()
}

#[test]
fn each_is_said_of_its_cause_and_not_without_it() {
    let clean = said(&ExampleTrial::hello().build(), &Context::default());
    assert_eq!(clean, names(OF_A_CLEAN_TRIAL));
    for (id, cause) in CAUSES {
        let (record, context) = changed(*cause);
        assert!(said(&record, &context).contains(*id), "{id} is not said");
    }
    for (id, taken_away) in OF_A_CLEAN_TRIAL {
        let (record, context) = changed(*taken_away);
        assert!(!said(&record, &context).contains(*id), "{id} is said without evidence");
    }
}

#[test]
fn every_explanation_has_a_cause_here() {
    let registered = EXPLANATIONS.iter().flat_map(|(ids, ..)| ids.iter());
    let registered: BTreeSet<String> = registered.map(|id| (*id).to_string()).collect();
    let mut known = names(CAUSES);
    known.extend(names(OF_A_CLEAN_TRIAL));
    assert_eq!(known, registered);
}

#[test]
fn on_a_disturbed_host_only_counters_speak() {
    for (ids, ground, _) in EXPLANATIONS {
        for (id, cause) in CAUSES.iter().filter(|(id, _)| ids.contains(id)) {
            let (mut record, context) = changed(*cause);
            for (others, speaks) in [(0.01, true), (1.0, *ground == Ground::Counters)] {
                usage(&mut record).other_cores = Some(others);
                let all = judge_trial(&record, &context);
                let is_said = all.iter().any(|caveat| caveat.id == *id);
                assert_eq!(is_said, speaks, "{id} beside {others} of a processor");
            }
        }
    }
}
