//! What judges cannot tell: each reason with a record that lacks the evidence. Such a result is
//! SUSPECT `unknown`, with that reason. A judge that took it for clear would let it pass.
use pippin_model::example::ExampleTrial;
use pippin_model::host::usage::Role;
use pippin_model::result::histogram::Histogram;
use pippin_model::trial::Company;
use pippin_model::verdict::Severity;
use pippin_model::workload::Service;

use super::answer::Unknown;
use super::test::{Change, changed, load, measured, sliced, target, usage};
use super::{Evidence, TRIAL_JUDGES, UNKNOWN, judge_trial};

const MS: u64 = 1_000_000;

/// The judge, what it lacks, and what it says of that.
const LACKS: &[(&str, Change, &str)] = &[
    (
        "connections_missing",
        |record, _| {
            let windows = &mut load(record).windows;
            windows.truncate(1);
            (windows[0].duration_ns, windows[0].live_connections) = (800 * MS, 6);
        },
        "10 connections requested, 6 open at the end of a load of less than a second",
    ),
    (
        "connections_missing",
        |record, _| load(record).windows.clear(),
        "it is not known how many were open",
    ),
    (
        "generator_limit",
        |record, _| measured(record).duration_ns = 50 * MS,
        "measured for less than 0.1 s, most of which opens connections",
    ),
    (
        "generator_limit",
        |record, _| load(record).generator.cpu_ns_by_thread.clear(),
        "its processor time is not known",
    ),
    (
        "generator_stopped",
        |record, _| measured(record).spans.own_lag = Histogram::new(),
        "no sending was timed",
    ),
    (
        "send_lag",
        |record, _| {
            let spans = &mut measured(record).spans;
            (spans.own_lag, spans.send_lag) = (Histogram::new(), Histogram::new());
        },
        "no sending was timed",
    ),
    (
        "send_lag",
        |record, _| *record = ExampleTrial::hello().counted(50).own_lag_ms(3.0).build(),
        "50 requests were sent, too few for a 99th percentile, and one of them 3.00 ms late",
    ),
    (
        "held",
        |record, _| {
            let few = ExampleTrial::hello().counted(50).response_ms(0.2).own_lag_ms(0.8);
            *record = few.stamped().build();
        },
        "50 answers came, too few to tell how long the generator held its users",
    ),
    (
        "held",
        |record, _| {
            *record = ExampleTrial::hello().stamped().build();
            measured(record).spans.response_time = Histogram::new();
        },
        "no answer of the users was timed",
    ),
    (
        "littles_law",
        |record, _| measured(record).spans.response_time = Histogram::new(),
        "users or response times are not known",
    ),
    (
        "littles_law",
        |record, _| measured(record).duration_ns = 200 * MS,
        "measured for less than 0.25 s, too short for Little's law",
    ),
    (
        "no_steady_state",
        |record, _| load(record).windows.truncate(3),
        "windows of the measured part are missing",
    ),
    (
        "rate_not_achieved",
        |record, _| {
            *record = ExampleTrial::open(1_000.0).build();
            measured(record).duration_ns = 0;
        },
        "the length of the measured part is not known",
    ),
    (
        "stamps",
        |record, _| measured(record).spans.service_time = Histogram::new(),
        "no answer was timed",
    ),
    (
        "other_programs",
        |record, _| record.usage = None,
        "processor time of other programs is not known",
    ),
    (
        "other_programs",
        |record, _| usage(record).duration_ns = 300 * MS,
        "measured for 0.30 s, and the kernel counts processor time in steps of 10 ms (0.5 s shows 2 %)",
    ),
    (
        "steal",
        |record, _| usage(record).steal_cores = None,
        "time stolen by the hypervisor is not known",
    ),
    (
        "steal",
        |record, _| *record = sliced(record.clone(), &[MS]),
        "the planned number of slices is not known",
    ),
    (
        "steal",
        |record, _| {
            *record = sliced(record.clone(), &[MS]);
            record.company = Some(Company { rounds: 4, ..Company::default() });
        },
        "1 usable slice of 4 planned (at least 2 are needed)",
    ),
    (
        "upstream_not_called",
        |_, context| context.services = &[Service::Upstream],
        "the upstream's count of its calls is not known",
    ),
    (
        "upstream_not_called",
        |record, _| {
            record.services.insert("upstream_calls".into(), 10.0);
            load(record).windows.clear();
        },
        "the answers of the whole load are not counted",
    ),
    ("cpu_beyond", |record, _| record.usage = None, "the kernel's counters are not known"),
    (
        "cpu_beyond",
        |record, _| drop(usage(record).roles.remove(&Role::Target)),
        "the target's processor time is not known",
    ),
    (
        "cpu_missing",
        |record, _| {
            *record = ExampleTrial::hello().completed(9_999).build();
            target(record).cpu_ns = Some(100);
        },
        "the target used no processor time that the kernel counted for 9,999 answers",
    ),
];

#[test]
fn what_a_judge_cannot_tell_is_said_and_is_not_clear() {
    for (id, lacks, reason) in LACKS {
        let (record, context) = changed(*lacks);
        let (_, _, judge) = TRIAL_JUDGES.iter().find(|(ids, ..)| ids[0] == *id).unwrap();
        let answer = judge(&Evidence { record: &record, context: &context });
        assert_eq!(answer, Err(Unknown::because(*reason)), "{id}");
        let all = judge_trial(&record, &context);
        let unknown = all.iter().find(|caveat| caveat.id == UNKNOWN);
        let unknown = unknown.unwrap_or_else(|| panic!("{id}: {all:?}"));
        assert_eq!(unknown.severity, Severity::Suspect);
        assert!(unknown.evidence.contains(*reason), "{}", unknown.evidence);
    }
}
