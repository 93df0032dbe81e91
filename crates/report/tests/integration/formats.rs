//! Other forms: each is read back by code that did not write it.
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use jsonschema::Resource;
use pippin_model::example::slices::Rounds;
use pippin_model::example::{run as example, scenario};
use pippin_model::figure::{Better, Figure, Span};
use pippin_model::plan::profile::Profile;
use pippin_model::plan::scan::Values;
use pippin_model::run::digest::WarmUpDigest;
use pippin_model::run::{HistoryPoint, RunRecord};
use pippin_model::schedule::users;
use pippin_model::target::commit::Commit;
use pippin_report::form::svg::Ground;
use pippin_report::form::{FORMS, csv, hlog, json, png, prometheus, svg};
use pippin_report::history::{self, History};
use pippin_report::{digest, view::View};
use std::path::Path;

fn all() -> [RunRecord; 7] {
    let mut walked = example::hello();
    for trial in &mut walked.trials {
        *trial = scenario::walked(trial.clone(), &[Some(1_000_000), None]);
    }
    [
        example::hello(),
        example::sweep(),
        example::devices(),
        example::capacity(),
        example::rates(),
        walked,
        example::rounds(),
    ]
}

/// A pool of so many slots of 100 requests/s each, under eight users.
fn scanned() -> RunRecord {
    let values = Values::parse("pool=1,2,4,8,16").unwrap();
    let slots = |value: &str| 100.0 * value.parse::<f64>().unwrap().min(8.0);
    example::scanned(&values, &Rounds::default(), slots)
}

fn docs(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file))
        .unwrap()
}

#[test]
fn json_comes_back_as_it_went() {
    for record in all() {
        let view = View::of(&record);
        let text = json::render(&view).unwrap();
        assert_eq!(json::read(&text).unwrap(), view, "{}", record.header.id);
        // The record itself, as the store keeps it, gives the same view again.
        let kept: RunRecord =
            serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(View::of(&kept), view);
    }
}

#[test]
fn json_of_another_version_or_form_is_refused() {
    let newer = json::render(&View::of(&example::hello())).unwrap().replacen(
        "\"schema\": 1",
        "\"schema\": 99",
        1,
    );
    assert!(
        json::read(&newer)
            .unwrap_err()
            .to_string()
            .contains("schema 99, but this Pippin reads schema 1")
    );
    assert!(json::read("{}").unwrap_err().to_string().contains("pippin export --format json"));
}

/// A run with users that come and go.
fn crowd() -> RunRecord {
    let mut record = example::hello();
    let profile = Profile::users(users::parse("10@2s,10@2s,0@2s").unwrap(), None);
    record.header.plan.profile = profile.clone();
    for trial in &mut record.trials {
        trial.spec.profile = profile.clone();
    }
    record
}

#[test]
fn stages_have_rows_in_every_form() {
    let record = crowd();
    let view = View::of(&record);
    assert!(view.rows.iter().any(|row| row.stages.len() == 3));
    for form in ["markdown", "json"] {
        let form = FORMS.iter().find(|it| it.name == form).unwrap();
        let text = String::from_utf8(form.render(&record, None).unwrap()).unwrap();
        assert!(text.contains("0 to 10 users"), "{}", form.name);
    }
    assert!(pippin_report::html::page(&view).contains("0 to 10 users"));
}

#[test]
fn json_is_what_its_schema_says() {
    let schema: serde_json::Value =
        serde_json::from_str(&docs("schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut value = serde_json::Value::Null;
    for record in all().into_iter().chain([crowd(), scanned(), example::load()]) {
        value = serde_json::from_str(&json::render(&View::of(&record)).unwrap()).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path))
            .collect();
        assert_eq!(errors, [""; 0], "{}", record.header.id);
    }
    // The schema is strict: a key that it does not know, and a figure that is a text, are errors.
    value["rows"][0]["surprise"] = 1.into();
    assert!(!validator.is_valid(&value));
    value["rows"][0].as_object_mut().unwrap().remove("surprise");
    assert!(validator.is_valid(&value));
    value["rows"][0]["rank"] = "first".into();
    assert!(!validator.is_valid(&value));
}

/// Runs of a target, half of them slower; of some its warm-up, its life and its commit are known.
fn histories() -> Vec<History> {
    let record = example::rounds();
    let digest = digest::from_view(&View::of(&record)).targets.remove(0);
    let point = |place: u64| HistoryPoint {
        run: format!("run-{place}"),
        started_unix_ns: record.header.started_unix_ns + place,
        plan: "hello".into(),
        quick: false,
        comparable: "same".into(),
        verdict: "VALID".into(),
        goodput_per_s: Some(if place < 8 { 1_000.0 } else { 900.0 } + (place % 3) as f64),
        p99_ns: None,
        commit: (place % 2 == 1).then(|| Commit {
            id: "a".repeat(40),
            changed: false,
            repository: None,
        }),
    };
    let mut known = digest;
    (known.goodput_per_s, known.p99_ns) = (None, None);
    known.more.warm_up = Some(WarmUpDigest {
        starts: 3,
        class: Some("warms_up".into()),
        steady_after_ns: Some(4_000_000_000),
    });
    let mut differing = known.clone();
    differing.more.warm_up = Some(WarmUpDigest { starts: 2, class: None, steady_after_ns: None });
    let digests = [("run-1".to_string(), known), ("run-2".to_string(), differing)].into();
    let lives = [("run-1".to_string(), record.lives[1].clone())].into();
    let points: Vec<HistoryPoint> = (0..16).map(point).collect();
    history::from_points(&points).into_iter().map(|one| one.with(&digests, &lives)).collect()
}

#[test]
fn json_of_a_history_is_what_its_schema_says() {
    let read = |file: &str| -> serde_json::Value {
        serde_json::from_str(&docs(&format!("schema/{file}"))).unwrap()
    };
    let report = Resource::from_contents(read("report.schema.json")).unwrap();
    let validator = jsonschema::options()
        .with_resource("json-schema:///report.schema.json", report)
        .build(&read("history.schema.json"))
        .unwrap();
    let text = history::json("rust/axum", &histories()).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert_eq!(errors, [""; 0]);
    let history = &value["histories"][0];
    assert_eq!(history["changes"].as_array().unwrap().len(), 1);
    assert!(history["runs"][1]["life"].is_object() && history["runs"][1]["commit"].is_object());
    // A life is looked into, and a key that the schema does not know is an error.
    value["histories"][0]["runs"][1]["life"]["surprise"] = 1.into();
    assert!(!validator.is_valid(&value));
    value["histories"][0]["runs"][1]["life"] = serde_json::Value::Null;
    assert!(validator.is_valid(&value));
    value["histories"][0]["runs"][1]["surprise"] = 1.into();
    assert!(!validator.is_valid(&value));
}

#[test]
fn the_table_of_forms_is_what_the_docs_say() {
    let page = docs("formats.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| form |")).skip(2);
    let mut named: Vec<&str> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('`').nth(1).unwrap())
        .collect();
    let mut names = FORMS.map(|form| form.name);
    named.sort_unstable();
    names.sort_unstable();
    assert_eq!(named, names);
}

#[test]
fn every_form_is_written_and_says_what_it_needs() {
    let record = example::hello();
    for form in FORMS {
        let chart = form.is_chart().then_some(("throughput", Ground::Light));
        assert!(!form.render(&record, chart).unwrap().is_empty(), "{}", form.name);
        let other = if chart.is_none() { Some(("throughput", Ground::Light)) } else { None };
        let refused = form.render(&record, other).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("`{}` is ", form.name)), "{refused}");
    }
}

#[test]
fn csv_is_read_back_by_another_reader() {
    let view = View::of(&example::hello());
    let text = csv::render(&view);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let names = csv::names();
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), names);
    let at = |column: &str| names.iter().position(|name| name == column).unwrap();
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), view.rows.len());
    for (read, row) in rows.iter().zip(&view.rows) {
        assert_eq!(read[at("target")], row.target.to_string());
        assert_eq!(
            read[at("goodput_per_s")].parse().ok(),
            row.goodput_per_s.map(|figure| figure.median)
        );
        assert_eq!(read[at("response_time_p99_ns")].parse().ok(), row.spans.response_time.p99_ns);
        assert_eq!(read[at("rank")].parse().ok(), row.standing.rank);
    }
    // Commas and quotes of a message stay within their cell; what is unknown is empty.
    let phoenix = rows.iter().find(|row| &row[at("target")] == "elixir/phoenix").unwrap();
    assert!(phoenix[at("failure")].contains("hex.pm; set HEX_MIRROR, or leave"));
    assert_eq!((&phoenix[at("goodput_per_s")], &phoenix[at("completed")]), ("", ""));
    // The time spans, counters and kinds of errors are in the table of figures.
    let of_spans = Span::ALL.iter().map(|span| format!("{}_", span.name()));
    let families: Vec<String> = of_spans.chain(["errors_".into()]).collect();
    for column in names {
        assert!(
            docs("formats.md").contains(&format!("`{column}`"))
                || families.iter().any(|family| column.starts_with(family)),
            "docs/formats.md does not name the column {column}"
        );
    }
}

/// The table of all figures, as docs/formats.md has it.
fn table_of_figures() -> String {
    let row = |name: &str, unit: &str, better: Option<Better>, help: &str| {
        let better = match better {
            Some(Better::More) => "more",
            Some(Better::Less) => "less",
            None => "–",
        };
        format!("| `{name}` | {unit} | {better} | {help} |\n")
    };
    let mut table = String::from("| figure | unit | better | meaning |\n|---|---|---|---|\n");
    for span in Span::ALL {
        table.push_str(&row(span.name(), "ns", Some(Better::Less), span.help()));
    }
    for figure in Figure::all() {
        let (unit, help) = (figure.unit().words(), figure.help());
        table.push_str(&row(&figure.to_string(), unit, figure.better(), &help));
    }
    table
}

#[test]
fn the_docs_list_every_figure_of_the_register() {
    const MARKS: [&str; 2] = [
        "<!-- figures: made by UPDATE_DOCS=1 cargo test -p pippin-report --test integration the_docs -->\n",
        "<!-- end of figures -->",
    ];
    let page = docs("formats.md");
    let from = page.find(MARKS[0]).unwrap() + MARKS[0].len();
    let to = page.find(MARKS[1]).unwrap();
    let table = table_of_figures();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
        std::fs::write(path, format!("{}{table}{}", &page[..from], &page[to..])).unwrap();
        return;
    }
    assert!(page[from..to] == table, "docs/formats.md lacks a figure or has an old one");
}

#[test]
fn csv_of_a_sweep_has_a_row_for_each_point() {
    let view = View::of(&example::sweep());
    let text = csv::render(&view);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let step = csv::names().iter().position(|name| name == "step").unwrap();
    let mut steps: Vec<String> =
        reader.records().map(|row| row.unwrap()[step].to_string()).collect();
    steps.sort();
    assert_eq!(
        steps,
        ["1", "1", "16", "16", "2", "2", "256", "256", "4", "4", "64", "64", "8", "8"]
    );
}

#[test]
fn every_histogram_of_the_log_comes_back_with_all_its_counts() {
    let record = example::hello();
    let log = hlog::render(&record).unwrap();
    let mut read = 0;
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let tag = interval.tag().unwrap().as_str().to_string();
        let bytes = base64_decode(interval.encoded_histogram());
        let found: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        let [language, name, step, repetition, span] =
            tag.split('/').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(step, "-");
        let trial = record
            .trials
            .iter()
            .find(|t| {
                t.spec.target.to_string() == format!("{language}/{name}")
                    && (t.spec.repetition + 1).to_string() == repetition
            })
            .unwrap();
        let spans = &trial.load.as_ref().unwrap().measured.spans;
        let wanted = match span {
            "connect" => &spans.connect,
            "headers" => &spans.headers,
            "body" => &spans.body,
            "service_time" => &spans.service_time,
            "response_time" => &spans.response_time,
            "send_lag" => &spans.send_lag,
            "own_lag" => &spans.own_lag,
            "pick_up_lag" => &spans.pick_up_lag,
            other => panic!("unexpected span {other}"),
        };
        assert_eq!(found.len(), wanted.count(), "{tag}");
        assert_eq!(Some(found.value_at_quantile(0.99)), wanted.quantile_ns(0.99), "{tag}");
        read += 1;
    }
    // Six targets, three repetitions, seven spans that have samples.
    assert_eq!(read, 6 * 3 * 7);
}

fn base64_decode(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn prometheus_text_keeps_to_its_grammar() {
    let view = View::of(&example::hello());
    let text = prometheus::render(&view);
    let mut metric = String::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            metric = rest.split(' ').next().unwrap().into();
            assert!(seen.insert(metric.clone()), "{metric} occurs in two places");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            // promtool refuses quantiles of anything but a summary.
            let is_end = metric.contains("_low_") || metric.contains("_high_");
            let is_span = metric.ends_with("_seconds") && !is_end;
            let kind = if is_span { "summary" } else { "gauge" };
            assert_eq!(rest, format!("{metric} {kind}"));
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap();
        let (labels, value) = rest.split_once("} ").unwrap();
        let bare = name.strip_suffix("_sum").or(name.strip_suffix("_count")).unwrap_or(name);
        assert_eq!(bare, metric);
        assert!(
            labels.contains("target=\"") && labels.contains("run=\"20261121-203539-hello\""),
            "{line}"
        );
        value.parse::<f64>().unwrap();
    }
    assert!(text.contains("pippin_verdict{plan=\"hello\",workload=\"hello\",run=\"20261121-203539-hello\",target=\"c/nginx\",verdict=\"invalid\"} 1"));
    let p99: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("_time_seconds{"))
        .filter_map(|line| line.split_once("target=\"go/net-http\",quantile=\"0.99\"} "))
        .map(|(_, value)| value)
        .collect();
    assert_eq!(p99, ["0.000522239"; 2], "service and response time in seconds, with every digit");
    for end in ["low", "high"] {
        let name = format!("pippin_response_time_p99_{end}_seconds{{");
        assert!(text.lines().any(|line| line.starts_with(&name)), "no {name}");
    }
    // Without a result there is no figure, rather than 0.
    assert!(!text.contains("pippin_goodput_per_second{plan=\"hello\",workload=\"hello\",run=\"20261121-203539-hello\",target=\"elixir/phoenix\""));
    assert!(
        !text.lines().any(|line| line.starts_with("pippin_rank") && line.contains("c/nginx")),
        "INVALID has no rank"
    );
    assert!(
        text.lines()
            .filter(|line| line.starts_with("pippin_rank{"))
            .all(|line| line.contains(",ranked_by=\"goodput\"}")),
        "{text}"
    );
}

#[test]
fn the_knee_of_several_rates_is_in_every_form() {
    let view = View::of(&example::rates());
    let json: serde_json::Value = serde_json::from_str(&json::render(&view).unwrap()).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let express = rows.iter().find(|row| row["target"] == "javascript/express").unwrap();
    let knee = |key: &str| express["sweep"]["ladder"]["knee"][key].as_f64().unwrap();
    assert_eq!(knee("per_s"), 9_870.0);
    assert!(knee("low_per_s") <= 9_870.0 && knee("high_per_s") >= 9_870.0);
    let axum = rows.iter().find(|row| row["target"] == "rust/axum").unwrap();
    assert!(axum["sweep"]["ladder"]["knee"].is_null(), "it keeps up with all rates");
    let table = csv::render(&view);
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let cell = |line: &[&str], name: &str| {
        line[names.iter().position(|it| *it == name).unwrap()].to_string()
    };
    let line = lines.find(|line| line.contains(&"javascript/express")).unwrap();
    for (column, key) in [
        ("knee_per_s", "per_s"),
        ("knee_low_per_s", "low_per_s"),
        ("knee_high_per_s", "high_per_s"),
    ] {
        assert_eq!(cell(&line, column).parse::<f64>().unwrap(), knee(key), "{column}");
    }
    let metrics = prometheus::render(&view);
    let of_knee: Vec<&str> =
        metrics.lines().filter(|line| line.starts_with("pippin_knee_")).collect();
    assert!(
        of_knee.len() == 3 && of_knee.iter().all(|line| line.contains("express")),
        "{of_knee:?}"
    );
    let text = svg::render(&view, "rates-response", Ground::Light).unwrap();
    assert!(text.contains("Response time by offered rate"));
}

#[test]
fn a_chart_is_a_file_of_its_own() {
    let view = View::of(&example::sweep());
    let names = svg::names(&view);
    assert!(
        [
            "throughput",
            "percentiles",
            "distribution",
            "split",
            "sweep",
            "sweep-response",
            "cpu-over-time",
            "cost"
        ]
        .iter()
        .all(|name| names.iter().any(|n| n == name)),
        "{names:?}"
    );
    let text = svg::render(&view, "sweep", Ground::Light).unwrap();
    assert!(
        text.starts_with("<svg ")
            && text.contains("<title>Throughput by connections</title>")
            && text.contains("xmlns=\"http://www.w3.org/2000/svg\"")
    );
    assert!(text.contains("256") && text.contains("go/net-http"));
    let error = svg::render(&view, "swep", Ground::Light).unwrap_err().to_string();
    assert!(
        error.contains("no chart `swep`") && error.contains("sweep, sweep-response"),
        "{error}"
    );
}

#[test]
fn a_chart_is_a_picture_on_light_and_on_dark_ground() {
    let hello = example::hello();
    let of = |name: &str, ground| png::FORM.render(&hello, Some((name, ground)));
    for name in ["throughput", "percentiles"] {
        let corner = |ground| {
            let picture = resvg::tiny_skia::Pixmap::decode_png(&of(name, ground).unwrap()).unwrap();
            assert_eq!(picture.width(), 2 * 1_200, "{name}");
            // A picture of text and figures, not a sheet of paper.
            let first = picture.pixels()[0];
            assert!(
                picture.pixels().iter().filter(|pixel| **pixel != first).count() > 2_000,
                "{name}"
            );
            (first.red(), first.green(), first.blue())
        };
        assert_eq!(
            (corner(Ground::Light), corner(Ground::Dark)),
            ((0xff, 0xff, 0xff), (0x14, 0x17, 0x1b)),
            "{name}"
        );
    }
    let error = of("sweep", Ground::Light).unwrap_err().to_string();
    assert!(error.contains("no chart `sweep`"), "{error}");
}
