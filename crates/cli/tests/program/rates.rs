//! Plans at several rates, against servers whose use of the processor is known: by the kernel's own
//! account, each request takes them so much, and polling so much.
use super::support::pippin;
use pippin_testing::patience::in_time;
use pippin_testing::skipped::skip;
use serde_json::Value;
use std::path::Path;

pippin_testing::patient_tests!(
    what_requests_and_polling_cost_is_reported_and_who_falls_behind_leaves
);

/// How far a figure may be from what is known.
const WITHIN: f64 = 0.02;
const RATES: [f64; 3] = [100.0, 400.0, 1_600.0];
/// A search for the capacity of one of the servers.
const SEARCH: &str = "[plan.most]\nworkload = \"hello\"\ntargets = [\"light\"]\nrepetitions = 1\ncpus = { share = true }\n[plan.most.profile]\nkind = \"capacity\"\nobjective = \"p99 < 100ms\"\nstart_rate = 400\nconnections = 16\nduration = \"2s\"\nprecision = \"5%\"\n";

fn view_of(folder: &Path) -> Value {
    std::fs::write(folder.join("known_cost.py"), include_str!("rates/known_cost.py")).unwrap();
    // Of one request at a time: at most 1,000 a second, and at most 250.
    let targets = [("light", "0.001", "0"), ("heavy", "0.004", "0"), ("polls", "0.001", "0.1")];
    let targets = targets.map(|(name, cost, poll)| {
        format!(
            "[target.{name}]\ncommand = [\"python3\", \"known_cost.py\", \"{cost}\", \"{poll}\"]\nserves = [\"hello\"]\n"
        )
    });
    // Slices of a second hold so many requests that those at their ends make less than WITHIN.
    let plan = format!(
        "{SEARCH}[plan.costs]\nworkload = \"hello\"\ntargets = [\"light\", \"heavy\", \"polls\"]\nrepetitions = 1\nslice = \"1s\"\nextra_time = \"0%\"\ncpus = {{ share = true }}\n[plan.costs.profile]\nkind = \"rates\"\nrates = {RATES:?}\nconnections = 16\nduration = \"1s\"\nwarm_up = \"200ms\"\n"
    );
    std::fs::write(folder.join("pippin.toml"), targets.concat() + &plan).unwrap();
    let outcome = pippin(folder, &["run", "costs", "--quick"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome.says(&["heavy by rate", "CPU per request", "higher rates are left out"]);
    newest_view(folder)
}

fn newest_view(folder: &Path) -> Value {
    let exported = pippin(folder, &["export", "latest", "-f", "json"]);
    serde_json::from_str(&exported.stdout).unwrap()
}

/// What a search finds that `light` can answer, in requests per second.
fn searched_per_s(folder: &Path) -> Option<f64> {
    let outcome = pippin(folder, &["run", "most"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    row(&newest_view(folder), "light")["sweep"]["capacity_per_s"].as_f64()
}

fn row<'a>(view: &'a Value, name: &str) -> &'a Value {
    let rows = view["rows"].as_array().unwrap();
    rows.iter().find(|row| row["target"].as_str().unwrap().ends_with(name)).unwrap()
}

/// The points of a target: the offered rate and the point.
fn points(row: &Value) -> Vec<(f64, &Value)> {
    let points = row["sweep"]["points"].as_array().unwrap();
    points.iter().map(|point| (point["at"]["per_s"].as_f64().unwrap(), point)).collect()
}

#[track_caller]
fn is_close(found: &Value, known: f64, what: &str) {
    let ratio = found.as_f64().unwrap() / known;
    in_time((1.0 - WITHIN..=1.0 + WITHIN).contains(&ratio), || {
        format!("{what}: {found}, known to be {known}: {ratio:.4} times that")
    });
}

fn what_requests_and_polling_cost_is_reported_and_who_falls_behind_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let view = view_of(folder.path());
    for (name, cost_us, keeps) in
        [("light", 1_000.0, 400.0), ("heavy", 4_000.0, 100.0), ("polls", 1_000.0, 400.0)]
    {
        let row = row(&view, name);
        let ladder = &row["sweep"]["ladder"];
        let points = points(row);
        // No machine makes a server faster than it is: a higher rate is never kept.
        let kept = ladder["kept_per_s"].as_f64();
        assert!(kept.is_none_or(|kept| kept <= keeps), "{name}: {ladder}");
        // It does not go on after the first rate that it does not keep up with.
        let last = points.last().unwrap();
        assert!(last.1["achieved"].as_f64().unwrap() < 0.95, "{name}: {}", last.1);
        assert!(
            points[..points.len() - 1].iter().all(|(_, it)| it["achieved"].as_f64() >= Some(0.95)),
            "{name}: {points:?}"
        );
        in_time(
            points.iter().any(|(rate, it)| *rate == keeps && it["achieved"].as_f64() >= Some(0.95)),
            || format!("{name}: {points:?}"),
        );
        // On a busy machine the times of a step are INVALID, and the step shows nothing.
        let shows = |(rate, it): &&(f64, &Value)| *rate <= keeps && it["verdict"] != "INVALID";
        let shown = points.iter().take_while(shows).last().map(|(rate, _)| *rate);
        assert_eq!(kept, shown, "{name}: {ladder}, {points:?}");
        // Its knee is where a processor is busy all the time: one of its threads computes at a time, and
        // only what the kernel does for them may overlap. Polling and the threads' turns take some of it.
        // Of steps that are INVALID, or that are too few, there is none.
        let (knee, most) = (ladder["knee"]["per_s"].as_f64(), 1e6 / cost_us);
        assert!(knee.is_none_or(|knee| knee <= 1.1 * most), "{name}: {ladder}");
        in_time(knee.is_none_or(|knee| knee >= 0.8 * most), || format!("{name}: {ladder}"));
        // At the highest rate that it keeps, the most requests are in a slice. What polling takes in
        // the meantime is no cost of the requests.
        let (rate, point) = *points.iter().find(|(rate, _)| *rate == keeps).unwrap();
        let poll_us = if name == "polls" { 0.1e6 / rate } else { 0.0 };
        is_close(&point["cpu_s_per_million"], cost_us + poll_us, &format!("{name} at {rate}/s"));
        is_close(
            &point["target_cores"],
            (cost_us + poll_us) * 1e-6 * rate,
            &format!("{name} at {rate}/s, processors"),
        );
        assert!(ladder["rest_memory_bytes"].as_f64() > Some(1e6), "{ladder}");
    }
    is_close(&row(&view, "polls")["sweep"]["ladder"]["rest_cores"], 0.1, "polling at no load");
    let rest = row(&view, "light")["sweep"]["ladder"]["rest_cores"].as_f64().unwrap();
    in_time(rest < 0.002, || format!("a server that waits uses nothing: {rest}"));
    let knee = row(&view, "light")["sweep"]["ladder"]["knee"]["per_s"].as_f64();
    match knee.zip(searched_per_s(folder.path())) {
        // The knee may be a tenth below, and a search is known to its precision.
        Some((knee, searched)) => in_time((0.85..1.15).contains(&(knee / searched)), || {
            format!("the knee is at {knee}, and a search finds {searched}")
        }),
        None => skip("a knee beside a capacity search", "steps of this machine are INVALID"),
    }
    // All are compared at a rate that all of them keep.
    for name in ["light", "heavy", "polls"] {
        assert!(row(&view, name)["at"]["per_s"] == 100.0, "{}", row(&view, name)["at"]);
    }
}
