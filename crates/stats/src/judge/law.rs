//! The law of doubt as a test: take any evidence away from a result that is not VALID, and it does
//! not become VALID.
use pippin_model::example::ExampleTrial;
use pippin_model::example::slices::Rounds;
use pippin_model::host::usage::Role;
use pippin_model::result::ErrorKind;
use pippin_model::result::histogram::Histogram;
use pippin_model::trial::TrialRecord;
use pippin_model::verdict::{Caveat, Severity, Verdict};
use pippin_model::workload::Service;
use serde_json::Value;

use super::{Context, EXPLANATIONS, judge_target, judge_trial};

/// Parts of a record that are no evidence about its figures: what was planned, what was found, and
/// what was judged. And figures that many hosts do not show, so that their absence says nothing:
/// clock frequencies, energy, the listen queue of a unix socket, the log of somebody else's server.
const NO_EVIDENCE: [&str; 19] = [
    "spec",
    "load_spec",
    "proofs",
    "outside",
    "beside",
    "agents",
    "caveats",
    "verdict",
    "failure",
    "errors",
    "strays",
    "unbilled",
    "phases",
    "warm_up",
    "interrupted",
    "frequency_khz",
    "energy_uj",
    "backlog",
    "listen_queue",
];

/// The verdict over trials of one target, without what explains the target.
fn verdict(trials: &[TrialRecord], context: &Context) -> Verdict {
    let explained =
        |caveat: &&Caveat| EXPLANATIONS.iter().any(|(ids, ..)| ids.contains(&caveat.id.as_str()));
    let own: Vec<Caveat> = trials.iter().flat_map(|record| judge_trial(record, context)).collect();
    let all = judge_target(&trials.iter().collect::<Vec<_>>());
    Verdict::of(own.iter().filter(|caveat| !explained(caveat)).chain(&all))
}

/// Every record with one piece of evidence less.
pub(crate) fn reduced(record: &TrialRecord) -> Vec<(String, TrialRecord)> {
    let whole = serde_json::to_value(record).unwrap();
    let mut places = Vec::new();
    places_in(&whole, "", &mut places);
    let mut found: Vec<(String, TrialRecord)> = places
        .into_iter()
        .filter_map(|place| {
            let mut less = whole.clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            match less.pointer_mut(parent).unwrap() {
                Value::Object(fields) if fields[key].is_null() => return None,
                Value::Object(fields) => drop(fields.insert(key.into(), Value::Null)),
                Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                _ => unreachable!("{place}"),
            }
            // Many fields cannot be unknown: then the text is no record.
            Some((place, serde_json::from_value(less).ok()?))
        })
        .collect();
    found.extend(without_spans(record));
    found.extend(shorter(record));
    found
}

/// The places of all fields and items of a record that may be evidence.
fn places_in(value: &Value, place: &str, places: &mut Vec<String>) {
    let is_evidence = |key: &str| !NO_EVIDENCE.contains(&key) && key != "spans";
    let add = |key: String, value: &Value, places: &mut Vec<String>| {
        let place = format!("{place}/{key}");
        places.push(place.clone());
        places_in(value, &place, places);
    };
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| is_evidence(key)) {
                add(key.clone(), value, places);
            }
        }
        // Items are alike: the first, one in the middle and the last stand for all.
        Value::Array(items) => {
            let mut some = vec![0, items.len() / 2, items.len().saturating_sub(1)];
            some.dedup();
            for nth in some.into_iter().filter(|nth| *nth < items.len()) {
                add(nth.to_string(), &items[nth], places);
            }
        }
        _ => {}
    }
}

fn without_spans(record: &TrialRecord) -> Vec<(String, TrialRecord)> {
    let Some(load) = &record.load else { return Vec::new() };
    let without = |change: fn(&mut pippin_model::result::Spans)| {
        let mut less = record.clone();
        let mut load = load.clone();
        change(&mut load.measured.spans);
        less.load = Some(load);
        ("spans".to_string(), less)
    };
    vec![
        without(|spans| spans.service_time = Histogram::new()),
        without(|spans| spans.response_time = Histogram::new()),
        without(|spans| spans.own_lag = Histogram::new()),
        without(|spans| (spans.own_lag, spans.send_lag) = (Histogram::new(), Histogram::new())),
    ]
}

/// Measured for a thousandth of the time, with unchanged shares and rates.
fn shorter(record: &TrialRecord) -> Vec<(String, TrialRecord)> {
    let mut less = record.clone();
    if let Some(load) = &mut less.load {
        let used = &mut load.generator;
        used.cpu_ns_by_thread.iter_mut().for_each(|ns| *ns /= 1_000);
        load.measured.duration_ns /= 1_000;
    }
    if let Some(usage) = &mut less.usage {
        usage.duration_ns /= 1_000;
    }
    less.slices.iter_mut().for_each(|slice| slice.measured_ns /= 1_000);
    vec![("shorter".into(), less)]
}

/// Results that a judge doubts, each for another reason.
fn doubted() -> Vec<(&'static str, TrialRecord)> {
    let hello = || ExampleTrial::hello().seconds(10);
    let with = |change: fn(&mut TrialRecord)| {
        let mut record = hello().build();
        change(&mut record);
        record
    };
    vec![
        ("generator_limit", hello().generator_busy(0.97).build()),
        ("generator_busy", hello().generator_busy(0.85).build()),
        ("send_lag", hello().own_lag_ms(3.0).build()),
        ("held", hello().response_ms(0.1).own_lag_ms(0.9).stamped().build()),
        ("stamps", hello().response_ms(0.5).unstamped(4_000).build()),
        ("shared_stamps", hello().response_ms(0.5).shared_stamps(90_000).build()),
        ("early_answers", hello().response_ms(0.5).early_stamps(90_000).build()),
        ("send_estimates", hello().response_ms(0.03).sampled(1_000, 600).build()),
        ("impossible_times", hello().impossible_stamps(9_000).build()),
        ("errors", hello().error(ErrorKind::Timeout, 3_000).build()),
        ("littles_law", hello().response_ms(3.0).build()),
        ("rate_not_achieved", ExampleTrial::open(1_000.0).seconds(10).unsent(500).build()),
        ("no_steady_state", hello().windows(|i| 10_000.0 - 300.0 * f64::from(i)).build()),
        ("steal", with(|record| record.usage.as_mut().unwrap().steal_cores = Some(0.2))),
        ("other_programs", with(|record| record.usage.as_mut().unwrap().other_cores = Some(1.2))),
        ("cpu_beyond", hello().target_cores(1.6, 1).build()),
        (
            "cpu_missing",
            with(|record| {
                let roles = &mut record.usage.as_mut().unwrap().roles;
                roles.get_mut(&Role::Target).unwrap().cpu_ns = Some(100);
            }),
        ),
        (
            "connections_missing",
            with(|record| {
                let windows = &mut record.load.as_mut().unwrap().windows;
                windows.iter_mut().for_each(|window| window.live_connections = 6);
            }),
        ),
        ("not_conserved", with(|record| record.load.as_mut().unwrap().measured.requests.sent += 1)),
        (
            "upstream_not_called",
            with(|record| {
                record.services.insert("upstream_answered".into(), 10.0);
            }),
        ),
    ]
}

fn holds(name: &str, base: &[TrialRecord], less: &[TrialRecord], context: &Context, what: &str) {
    let (before, after) = (verdict(base, context), verdict(less, context));
    assert!(before == Verdict::Valid || after > Verdict::Valid, "{name} without {what} is VALID");
}

#[test]
fn less_evidence_never_makes_a_result_valid() {
    let services = [Service::Upstream];
    for (name, record) in doubted() {
        let upstream = if name.starts_with("upstream") { &services[..] } else { &[] };
        let context = Context { services: upstream, ..Context::default() };
        let found = judge_trial(&record, &context);
        let is_found =
            found.iter().any(|caveat| caveat.id == name && caveat.severity > Severity::Note);
        assert!(is_found, "{name} is not provoked: {found:?}");
        for (place, less) in reduced(&record) {
            holds(name, std::slice::from_ref(&record), &[less], &context, &place);
        }
    }
}

#[test]
fn fewer_slices_and_repetitions_never_make_a_result_valid() {
    type Disturb = fn(&mut TrialRecord);
    let disturb: [(&str, Disturb); 4] = [
        ("others, beside the kernel's network work", |record| {
            record.slices.iter_mut().for_each(|slice| {
                (slice.host.others, slice.host.kernel_network) = (Some(0.03), Some(0.3));
            });
        }),
        ("others", |record| {
            record.slices.iter_mut().for_each(|slice| slice.host.others = Some(0.6));
        }),
        ("one slice", |record| {
            record.slices.iter_mut().for_each(|slice| (slice.calm, slice.used) = (false, false));
            let [first, second, ..] = record.slices.as_mut_slice() else { panic!() };
            (first.used, second.used) = (true, true);
            (first.host.others, second.host.others) = (Some(0.3), Some(0.001));
        }),
        ("not calm", |record| {
            record.slices.iter_mut().for_each(|slice| slice.calm = false);
        }),
    ];
    for (name, disturb) in disturb {
        let rounds = Rounds { rounds: 4, repetitions: 2, ..Rounds::default() };
        let mut base = rounds.trials("a/a", 1_000.0, 100.0);
        base.iter_mut().for_each(disturb);
        let context = Context::default();
        assert!(verdict(&base, &context) > Verdict::Valid, "{name}");
        holds(name, &base, &base[1..], &context, "its first repetition");
        for (place, less) in reduced(&base[0]) {
            holds(name, &base, &[less, base[1].clone()], &context, &place);
        }
    }
}
