//! What `pippin verify` finds: a corpus of records that were tampered with, each in one way, and honest
//! ones of every kind in which it finds nothing.
use pippin_model::example::consistent::consistent;
use pippin_model::example::run as example;
use pippin_model::run::RunRecord;
use pippin_report::form::record;
use pippin_report::verify::{Verified, verify};
use pippin_report::view::View;
use pippin_stats::judge::settled::settle;
use serde_json::{Value, json};

/// A run as Pippin would have kept it: judged from its own figures.
fn honest(make: fn() -> RunRecord) -> RunRecord {
    judged(consistent(make()))
}

fn judged(mut run: RunRecord) -> RunRecord {
    for number in 0..run.trials.len() {
        let trial = &run.trials[number];
        let (caveats, verdict) = settle(trial, &run.header, &run.trials[..number], Vec::new());
        (run.trials[number].caveats, run.trials[number].verdict) = (caveats, verdict);
    }
    run
}

fn exported(run: &RunRecord) -> String {
    String::from_utf8(record::render(run, &View::of(run)).unwrap()).unwrap()
}

/// Two targets in rounds of slices, the second slower.
fn small() -> RunRecord {
    let mut run = example::rounds();
    run.trials.retain(|trial| trial.spec.repetition < 2);
    run.trials
        .retain(|trial| ["c/nginx", "go/net-http"].contains(&&*trial.spec.target.to_string()));
    run.trials.iter_mut().for_each(|trial| trial.slices.truncate(6));
    run.header.plan.targets.retain(|it| ["c/nginx", "go/net-http"].contains(&&*it.to_string()));
    run.header.targets.retain(|it, _| ["c/nginx", "go/net-http"].contains(&&*it.to_string()));
    run
}

#[test]
fn honest_runs_of_every_kind_agree_with_their_slices() {
    let others: [(&str, example::Make); 2] = [("load", example::load), ("small", small)];
    for (name, make) in example::OF_EVERY_KIND.into_iter().chain(others) {
        let verified = verify(&exported(&honest(make))).unwrap();
        assert!(verified.disagreements.is_empty(), "{name}: {}", verified.words());
        assert!(verified.compared > 100, "{name}: {}", verified.compared);
    }
}

/// How a record is tampered with.
enum Tampering {
    /// What stands in the file is changed, and nothing else.
    Written(fn(&mut Value)),
    /// The text is changed.
    Text(fn(String) -> String),
    /// A raw figure is changed, and everything that follows from it is made anew: the tamperer has
    /// Pippin too.
    MadeAnew(fn(&mut RunRecord)),
}
use Tampering::{MadeAnew, Text, Written};

/// Sets the value at this place, which must be there.
fn set(record: &mut Value, pointer: &str, value: Value) {
    let place = record.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there"));
    assert_ne!(*place, value, "{pointer} has this value");
    *place = value;
}

/// Multiplies the number at this place.
fn scale(record: &mut Value, pointer: &str, factor: f64) {
    let now =
        record.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"));
    let is_whole = record.pointer(pointer).is_some_and(Value::is_u64);
    let changed = now * factor;
    set(record, pointer, if is_whole { json!(changed as u64) } else { json!(changed) });
}

fn remove(record: &mut Value, list: &str, at: usize) {
    record.pointer_mut(list).and_then(Value::as_array_mut).unwrap().remove(at);
}

fn swap(record: &mut Value, one: &str, other: &str) {
    let (a, b) = (record.pointer(one).unwrap().clone(), record.pointer(other).unwrap().clone());
    assert_ne!(a, b, "{one} and {other} are equal");
    set(record, one, b);
    set(record, other, a);
}

/// One line for each way.
const TAMPERED: &[(&str, Tampering)] = &[
    // What is said of the run.
    ("verdict of a row", Written(|it| set(it, "/report/rows/1/verdict", json!("VALID")))),
    ("verdict of a trial", Written(|it| set(it, "/trials/0/verdict", json!("INVALID")))),
    ("trust", Written(|it| set(it, "/report/trust/answer", json!("yes")))),
    ("reason of the trust", Written(|it| set(it, "/report/trust/because", json!("all is well")))),
    ("conclusion", Written(|it| set(it, "/report/conclusion", json!("Go is fastest.")))),
    ("caveat of a trial removed", Written(|it| remove(it, "/trials/0/caveats", 0))),
    ("caveat of a row removed", Written(|it| remove(it, "/report/rows/0/caveats", 0))),
    (
        "caveat of a trial graver",
        Written(|it| set(it, "/trials/0/caveats/0/severity", json!("suspect"))),
    ),
    ("evidence of a caveat", Written(|it| set(it, "/trials/0/caveats/0/evidence", json!("0.1 %")))),
    ("doubt of the run removed", Written(|it| remove(it, "/report/doubts", 0))),
    ("rows swapped", Written(|it| swap(it, "/report/rows/0", "/report/rows/1"))),
    ("rank", Written(|it| set(it, "/report/rows/1/rank", json!(1)))),
    ("rank interval", Written(|it| set(it, "/report/rows/0/rank_interval/worst", json!(2)))),
    ("name of a row", Written(|it| set(it, "/report/rows/0/target", json!("rust/axum")))),
    ("goodput", Written(|it| scale(it, "/report/rows/1/goodput_per_s/median", 1.1))),
    ("best repetition", Written(|it| scale(it, "/report/rows/1/goodput_per_s/best", 1.01))),
    (
        "interval narrower",
        Written(|it| scale(it, "/report/rows/1/goodput_per_s/interval/low", 1.001)),
    ),
    ("ratio", Written(|it| scale(it, "/report/rows/1/to_reference/goodput/value", 1.2))),
    ("p99 lower", Written(|it| scale(it, "/report/rows/1/response_p99_ns/median", 0.7))),
    ("p50 of all lower", Written(|it| scale(it, "/report/rows/1/spans/response_time/p50_ns", 0.7))),
    ("memory lower", Written(|it| scale(it, "/report/rows/0/usage/target_memory_bytes", 0.5))),
    (
        "processor time lower",
        Written(|it| scale(it, "/report/rows/0/cpu_s_per_million/median", 0.5)),
    ),
    ("calm slices more", Written(|it| scale(it, "/report/run/slices/calm", 1.5))),
    ("host load lower", Written(|it| set(it, "/report/run/slices/steal", json!(0.0)))),
    ("quick form hidden", Written(|it| set(it, "/report/run/quick", json!(true)))),
    ("version", Written(|it| set(it, "/report/run/pippin_version", json!("9.9.9")))),
    ("version of the record", Written(|it| set(it, "/header/pippin_version", json!("9.9.9")))),
    ("schema", Written(|it| set(it, "/report/schema", json!(99)))),
    ("report of a row removed", Written(|it| remove(it, "/report/rows", 1))),
    (
        "report removed",
        Written(|it| {
            it.as_object_mut().unwrap().remove("report");
        }),
    ),
    // Raw figures alone.
    ("slice faster", Written(|it| scale(it, "/trials/0/slices/0/figures/goodput_per_s", 1.1))),
    (
        "slice's p99 lower",
        Written(|it| scale(it, "/trials/0/slices/0/figures/response/p99_ns", 0.1)),
    ),
    (
        "slice's right answers more",
        Written(|it| scale(it, "/trials/0/slices/0/figures/right", 2.0)),
    ),
    ("slice removed", Written(|it| remove(it, "/trials/0/slices", 0))),
    ("trial removed", Written(|it| remove(it, "/trials", 1))),
    ("plan's repetitions", Written(|it| set(it, "/header/plan/repetitions", json!(30)))),
    ("seed", Written(|it| set(it, "/header/seed", json!(7)))),
    (
        "model of the host in the report",
        Written(|it| set(it, "/report/host/cpu_model", json!("slow"))),
    ),
    (
        "histogram of another trial",
        Written(|it| {
            swap(
                it,
                "/trials/0/load/measured/spans/response_time",
                "/trials/1/load/measured/spans/response_time",
            );
        }),
    ),
    ("negative count", Written(|it| set(it, "/trials/0/load/measured/requests/failed", json!(-3)))),
    ("huge count", Written(|it| set(it, "/trials/0/slices/0/figures/answered", json!(u64::MAX)))),
    ("huge float", Written(|it| set(it, "/trials/0/slices/0/host/steal", json!(1e300)))),
    ("text for a number", Written(|it| set(it, "/trials/0/slices/0/round", json!("first")))),
    ("nothing for a number", Written(|it| set(it, "/trials/0/slices/0/measured_ns", Value::Null))),
    ("NaN", Text(|text| text.replacen("\"steal\":0.002", "\"steal\":NaN", 1))),
    ("cut short", Text(|text| text[..text.len() / 2].into())),
    (
        "histogram that is none",
        Text(|text| text.replacen("\"response_time\":\"", "\"response_time\":\"AAAA", 1)),
    ),
    // Raw figures, with all that follows made anew.
    (
        "slice removed, made anew",
        MadeAnew(|it| {
            it.trials[0].slices.remove(1);
        }),
    ),
    (
        "slice twice, made anew",
        MadeAnew(|it| {
            let slice = it.trials[0].slices[0].clone();
            it.trials[0].slices.insert(0, slice);
        }),
    ),
    ("slices in another order, made anew", MadeAnew(|it| it.trials[0].slices.swap(0, 1))),
    (
        "slices' times swapped, made anew",
        MadeAnew(|it| {
            let slices = &mut it.trials[0].slices;
            let (a, b) = (slices[0].started_unix_ns, slices[1].started_unix_ns);
            (slices[0].started_unix_ns, slices[1].started_unix_ns) = (b, a);
        }),
    ),
    (
        "counts scaled, made anew",
        MadeAnew(|it| {
            it.trials[0].slices.iter_mut().for_each(|slice| {
                let figures = &mut slice.figures;
                (figures.answered, figures.right) = (figures.answered * 2, figures.right * 2);
                figures.goodput_per_s *= 2.0;
            })
        }),
    ),
    (
        "errors dropped, made anew",
        MadeAnew(|it| {
            let figures = &mut it.trials[0].slices[0].figures;
            (figures.right, figures.answered) = (figures.right + 10, figures.answered + 10);
        }),
    ),
    ("slice's time shorter, made anew", MadeAnew(|it| it.trials[0].slices[0].measured_ns /= 2)),
    (
        "bad slice not used, made anew",
        MadeAnew(|it| {
            let used = it.trials[0].slices.iter().position(|slice| slice.used).unwrap();
            it.trials[0].slices[used].used = false;
        }),
    ),
    (
        "bad slice called disturbed, made anew",
        MadeAnew(|it| {
            let used = it.trials[0].slices.iter().position(|slice| slice.used).unwrap();
            (it.trials[0].slices[used].used, it.trials[0].slices[used].calm) = (false, false);
        }),
    ),
    (
        "disturbed slice called calm, made anew",
        MadeAnew(|it| {
            let slice =
                it.trials.iter_mut().flat_map(|it| &mut it.slices).find(|it| !it.calm).unwrap();
            (slice.calm, slice.used) = (true, true);
        }),
    ),
    (
        "quantiles out of order, made anew",
        MadeAnew(|it| {
            it.trials[0].slices[0].figures.response.p50_ns = Some(u64::from(u32::MAX));
        }),
    ),
    (
        "all slices' p99 lower, made anew",
        MadeAnew(|it| {
            for slice in &mut it.trials[0].slices {
                let times = &mut slice.figures.response;
                (times.p50_ns, times.p90_ns, times.p99_ns) = (Some(10), Some(20), Some(30));
            }
        }),
    ),
    (
        "longest time left out, made anew",
        MadeAnew(|it| {
            for slice in &mut it.trials[0].slices {
                slice.figures.response.max_ns = slice.figures.response.p99_ns;
            }
        }),
    ),
    ("trial twice, made anew", MadeAnew(|it| it.trials.push(it.trials[0].clone()))),
    (
        "targets' names swapped in slices, made anew",
        MadeAnew(|it| {
            let (one, other) = it.trials.split_at_mut(1);
            std::mem::swap(&mut one[0].slices, &mut other[0].slices);
        }),
    ),
    (
        "target that is not of the run, made anew",
        MadeAnew(|it| {
            it.trials[0].spec.target = "rust/axum".parse().unwrap();
        }),
    ),
    ("another workload, made anew", MadeAnew(|it| it.trials[0].spec.workload = "users".into())),
    ("slice before the run, made anew", MadeAnew(|it| it.trials[0].slices[0].started_unix_ns = 5)),
    ("run ends before it begins, made anew", MadeAnew(|it| it.ended_unix_ns = Some(5))),
    ("finished without an end, made anew", MadeAnew(|it| it.ended_unix_ns = None)),
    (
        "processor time lower, made anew",
        MadeAnew(|it| {
            it.trials[0].slices[0].figures.target_cpu_ns = Some(1);
        }),
    ),
    (
        "more right answers than answers, made anew",
        MadeAnew(|it| {
            let measured = &mut it.trials[0].load.as_mut().unwrap().measured;
            measured.answered.good = measured.answered.completed + 1;
        }),
    ),
    (
        "times of requests left out, made anew",
        MadeAnew(|it| {
            let spans = &mut it.trials[0].load.as_mut().unwrap().measured.spans;
            spans.response_time = spans.connect.clone();
        }),
    ),
    (
        "window removed, made anew",
        MadeAnew(|it| {
            it.trials[0].load.as_mut().unwrap().windows.remove(1);
        }),
    ),
    (
        "cores lower, made anew",
        MadeAnew(|it| {
            let usage = it.trials[0].usage.as_mut().unwrap();
            usage.roles.values_mut().for_each(|used| used.cores = Some(0.01));
        }),
    ),
];

fn tampered(honest: &RunRecord, text: &str, how: &Tampering) -> String {
    match how {
        Written(change) => {
            let mut value: Value = serde_json::from_str(text).unwrap();
            change(&mut value);
            value.to_string()
        }
        Text(change) => change(text.into()),
        MadeAnew(change) => {
            let mut run = honest.clone();
            change(&mut run);
            exported(&judged(run))
        }
    }
}

#[test]
fn every_tampered_record_is_found() {
    let honest = honest(small);
    let text = exported(&honest);
    let has_nothing = |verified: Verified| verified.disagreements.is_empty();
    assert!(verify(&text).is_ok_and(has_nothing));
    let missed: Vec<&str> = TAMPERED
        .iter()
        .filter(|(name, how)| {
            let text_now = tampered(&honest, &text, how);
            assert_ne!(text_now, text, "{name} changes nothing");
            verify(&text_now).is_ok_and(has_nothing)
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(missed.is_empty(), "{} of {} missed: {missed:?}", missed.len(), TAMPERED.len());
    assert!(TAMPERED.len() >= 50, "{}", TAMPERED.len());
}

#[test]
fn what_does_not_agree_is_said_with_its_place_and_what_follows() {
    let mut value: Value = serde_json::from_str(&exported(&honest(small))).unwrap();
    let right = value["report"]["rows"][1]["goodput_per_s"]["median"].clone();
    set(&mut value, "/report/rows/1/goodput_per_s/median", json!(99_999.5));
    let words = verify(&value.to_string()).unwrap().words();
    assert!(words.contains("1 place does not agree"), "{words}");
    for part in [
        "report.rows[1] (go/net-http).goodput_per_s.median",
        "stands there: 99999.5",
        &right.to_string(),
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn a_file_that_is_no_run_is_refused_in_words() {
    for (text, part) in [
        ("", "pippin export"),
        ("{}", "missing field `report`"),
        (r#"{"report":{"schema":99}}"#, "schema 99"),
    ] {
        let error = verify(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
