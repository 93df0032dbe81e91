//! The page holds all it shows, says it in words too, and lets nothing of a target's log become
//! markup.
use pippin_model::example::run as example;
use pippin_model::load::Part;
use pippin_model::run::RunRecord;
use pippin_model::target::conformance::{Conformance, Kind, Level};
use pippin_model::trial::agent::{AgentClock, AgentPart};
use pippin_report::html;
use pippin_report::view::View;
use std::path::Path;
use std::process::Command;

fn page(record: &RunRecord) -> String {
    html::page(&View::of(record))
}

#[test]
fn nothing_is_fetched() {
    for record in [example::hello(), example::sweep(), example::devices(), example::capacity()] {
        let page = page(&record);
        // The icon is in the page itself.
        assert_eq!(
            page.matches("<link").count(),
            page.matches("<link rel=\"icon\" href=\"data:").count()
        );
        for fetching in ["src=", "@import", "url(", "<iframe", "fetch(", "XMLHttpRequest", "<base"]
        {
            assert!(!page.contains(fetching), "{} contains {fetching}", record.header.id);
        }
        assert!(page.contains("default-src 'none'"));
        // The only addresses are names of XML namespaces, and where uPlot's licence says it is
        // from.
        let addresses: Vec<&str> = page
            .split("http")
            .skip(1)
            .filter(|rest| rest.starts_with("://") || rest.starts_with("s://"))
            .collect();
        assert!(
            addresses.iter().all(|rest| {
                rest.starts_with("://www.w3.org/2000/svg")
                    || rest.starts_with("s://github.com/leeoniya/uPlot ")
            }),
            "{:?}",
            addresses.iter().map(|a| &a[..30]).collect::<Vec<_>>()
        );
    }
}

/// A plan's summary names amounts of the full form.
#[test]
fn a_quick_run_is_not_described_as_the_full_one() {
    let mut record = example::hello();
    record.header.plan.summary = Some("90 s for each target.".into());
    for quick in [false, true] {
        record.header.plan.quick = quick;
        let says = page(&record).contains("That is the full form; this run is the quick one.");
        assert_eq!(says, quick);
    }
}

#[test]
fn the_page_stays_below_a_megabyte_with_twenty_targets() {
    for record in [example::hello(), example::rounds(), example::twenty()] {
        let page = page(&record);
        assert!(page.len() < 1_000_000, "{}: {} bytes", record.header.id, page.len());
        assert!(page.contains("uPlot=function") && page.contains("class=\"plot-data\""));
    }
}

#[test]
fn the_vendored_library_is_as_its_authors_published_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor/uplot");
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&folder)
        .output()
        .expect("sha256sum (coreutils)");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let licence = std::fs::read_to_string(folder.join("LICENSE")).unwrap();
    assert!(licence.contains("MIT License") && !licence.contains("*/"));
    let script = std::fs::read_to_string(folder.join("uPlot.iife.min.js")).unwrap();
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(script.contains("(v1.6.32)") && readme.contains("| version | 1.6.32 |"));
}

#[test]
fn a_line_is_a_target_and_the_ratios_come_first() {
    let page = page(&example::rounds());
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part} is missing"));
    assert!(place("id=\"chart-ratio\"") < place("id=\"chart-throughput\""));
    assert!(place("id=\"chart-cpu-ratio\"") < place("id=\"chart-throughput\""));
    let data = page.split("class=\"plot-data\" type=\"application/json\">").skip(1);
    let plots: Vec<serde_json::Value> = data
        .map(|rest| serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap())
        .collect();
    let over_time =
        plots.iter().find(|plot| plot["y"]["title"] == "requests/s").expect("throughput over time");
    let targets = View::of(&example::rounds()).measured().count();
    assert_eq!(over_time["curves"].as_array().unwrap().len(), targets);
    assert_eq!(over_time["link"], "time");
}

#[test]
fn every_part_is_there() {
    let hello = page(&example::hello());
    for part in [
        "id=\"results\"",
        "id=\"verdicts\"",
        "id=\"missing\"",
        "id=\"explanations\"",
        "id=\"published\"",
        "id=\"cost\"",
        "id=\"host\"",
        "id=\"plan\"",
        "id=\"method\"",
    ] {
        assert!(hello.contains(part), "{part}");
    }
    for chart in [
        "throughput",
        "percentiles",
        "distribution",
        "split",
        "throughput-over-time",
        "response-over-time",
        "cpu-over-time",
        "memory-over-time",
        "published",
        "cost",
    ] {
        assert!(hello.contains(&format!("id=\"chart-{chart}\"")), "{chart}");
    }
    assert!(page(&example::sweep()).contains("id=\"chart-sweep\""));
    assert!(page(&example::devices()).contains("id=\"chart-devices\""));
    assert!(page(&example::capacity()).contains("id=\"chart-capacity\""));
}

#[test]
fn what_a_page_links_to_is_on_it() {
    let every = example::OF_EVERY_KIND.into_iter().map(|(name, make)| (name, make()));
    let others = [("failed", example::all_failed()), ("load", example::load())];
    for (name, record) in every.chain(others) {
        let page = page(&record);
        let links = page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
        for link in links {
            assert!(page.contains(&format!("id=\"{link}\"")), "{name}: #{link}");
        }
    }
}

#[test]
fn where_all_failed_the_log_is_unfolded() {
    let log = |page: &str| {
        let at = page.find("<summary>The last lines of its log").unwrap();
        page[..at].ends_with("<details open>")
    };
    assert!(log(&page(&example::all_failed())) && !log(&page(&example::hello())));
}

/// Compiler, collector and heap over time are on the page of a run whose targets tell, and on no other.
#[test]
fn a_runtime_that_tells_of_itself_has_charts() {
    use pippin_model::host::usage::{Compiler, CompilerSample, JvmSample, Role};
    let names = ["compiling-over-time", "collections-over-time", "heap-over-time"];
    let has = |page: &str| names.map(|name| page.contains(&format!("id=\"chart-{name}\"")));
    let mut run = example::hello();
    assert_eq!(has(&page(&run)), [false; 3]);
    for trial in &mut run.trials {
        for (at, sample) in (1..).zip(&mut trial.samples) {
            let Some(target) = sample.roles.get_mut(&Role::Target) else { continue };
            let (cpu_ns, age_ns) = (at * 50_000_000, at * 1_000_000_000);
            target.compiler = Some(CompilerSample { compiler: Compiler::Jvm, cpu_ns, age_ns });
            target.jvm = Some(JvmSample {
                collecting_ns: Some(at * 5_000_000),
                heap_bytes: Some(at << 20),
                ..JvmSample::default()
            });
        }
    }
    assert_eq!(has(&page(&run)), [true; 3]);
}

#[test]
fn every_chart_has_words_and_a_table() {
    let page = page(&example::sweep());
    for figure in page.split("<figure").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        let words = figure.split("aria-label=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(words.len() > 30, "{words}");
        assert!(
            figure.contains("<figcaption>")
                && figure.contains("<table")
                && figure.matches("<svg").count() == 3
        );
    }
}

#[test]
fn a_log_is_never_markup() {
    let mut record = example::hello();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let failure = record.trials.iter_mut().find_map(|trial| trial.failure.as_mut()).unwrap();
    failure.log_tail.push(evil.into());
    failure.message = evil.into();
    record.header.plan.title = evil.into();
    let page = page(&record);
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn a_run_without_a_trial_still_makes_a_page() {
    let mut record = example::hello();
    record.trials.clear();
    record.state = pippin_model::run::RunState::Interrupted;
    let page = page(&record);
    assert!(
        page.contains("No target has a result.")
            && page.contains("was interrupted")
            && page.contains("unavailable on this machine")
    );
}

#[test]
fn forty_targets_have_forty_boxes_and_the_page_stays_small() {
    let record = example::many(40);
    let page = page(&record);
    let boxes = page.matches("type=\"checkbox\" id=\"show").count();
    assert_eq!(
        (boxes, page.matches("type=\"checkbox\"").count()),
        (40, 41),
        "one more for all columns"
    );
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn a_link_to_the_page_says_what_it_holds() {
    for record in [example::hello(), example::load()] {
        let page = page(&record);
        let about = page.split_once("name=\"description\" content=\"").unwrap().1;
        let about = about.split_once('"').unwrap().0;
        assert!(about.contains("Can you trust it?"), "{about}");
        assert!(
            about.contains("rust/axum leads") || about.contains("44,120 requests/s"),
            "{about}"
        );
    }
}

/// A reader with ten seconds sees who leads, by how much, whether to believe it, and the figures.
#[test]
fn the_answer_stands_before_everything_else() {
    let rows = |record: &RunRecord| {
        let page = page(record);
        let body = page.split_once("<main").unwrap().1.to_string();
        let place = |part: &str| body.find(part).unwrap_or_else(|| panic!("{part} is missing"));
        assert!(place("id=\"answer\"") < place("Can you trust it?"));
        assert!(place("Can you trust it?") < place("<table"));
        assert!(!body[..place("<table")].contains("<figure"));
        body.matches("class=\"bar\"").count()
    };
    let many = example::twenty();
    assert_eq!(rows(&many), View::of(&many).measured().count());
    assert_eq!(rows(&example::load()), 0, "one bar alone says nothing");
    assert!(page(&example::hello()).contains("rust/axum, "));
    let mut failed = example::hello();
    failed.trials.retain(|trial| trial.failure.is_some());
    let page = page(&failed);
    let block = page.split_once("id=\"answer\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(block.contains("No target has a result") && block.contains("elixir/plug: "), "{block}");
}

#[test]
fn an_interval_of_millions_does_not_press_the_bars_together() {
    // Two repetitions, of which one is half as fast: Student's t on one degree of freedom.
    let mut record = example::hello();
    record.trials.retain(|trial| trial.spec.repetition < 2);
    for trial in record.trials.iter_mut().filter(|trial| trial.spec.repetition == 1) {
        if let Some(load) = &mut trial.load {
            load.measured.duration_ns *= 2;
        }
    }
    let view = View::of(&record);
    let interval = view.rows[0].goodput_per_s.unwrap().interval.unwrap();
    assert!(interval.high > 1e6, "{interval:?}");
    let chart = pippin_report::form::svg::render(
        &view,
        "throughput",
        pippin_report::form::svg::Ground::Light,
    )
    .unwrap();
    assert!(
        chart.contains("100k<") && !chart.contains("M<"),
        "the axis ends near the best repetition: {chart}"
    );
    assert!(page(&record).contains("&gt; 100 %"));
}

#[test]
fn a_thousand_agents_fit_into_a_page_of_2_mb() {
    let mut record = example::devices();
    let agent = |nth: u32| AgentPart {
        name: format!("simulated-{nth:05}"),
        tags: vec!["zone-a".into()],
        host: example::host(),
        part: Part { nth, width: 1, of: 1_000 },
        clock: Some(AgentClock {
            offset_ns: -3_000_000_000,
            error_ns: 150_000,
            drift_ppm: Some(5.0),
            drift_error_ppm: Some(50.0),
        }),
        late_ns: Some(40_000),
        silent_ns: None,
        beside: Vec::new(),
        figures: None,
        caveats: Vec::new(),
        failure: Some("nothing was heard of it for 4.0 s: it is dead, cut off".into()),
    };
    for trial in &mut record.trials {
        trial.agents = (0..1_000).map(agent).collect();
    }
    let page = page(&record);
    assert!(page.contains("simulated-00999"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn answers_at_the_edges_of_http_have_a_table_and_no_part_in_the_verdict() {
    let probe = |probe: &str, level, is_right| Conformance {
        kind: Kind::Compliance,
        probe: probe.into(),
        section: "RFC 9112 3.2".into(),
        level,
        found: "200".into(),
        is_right,
    };
    let mut record = example::hello();
    assert!(!page(&record).contains("id=\"conformance\""), "nobody was asked");
    let verdicts = |record: &RunRecord| -> Vec<_> {
        View::of(record).rows.iter().map(|row| row.verdict).collect()
    };
    let before = verdicts(&record);
    record.trials[0].conformance =
        vec![probe("no Host field", Level::Must, false), probe("HEAD", Level::Must, true)];
    let page = page(&record);
    let (_, table) = page.split_once("id=\"conformance\"").unwrap();
    let (table, _) = table.split_once("</section>").unwrap();
    assert!(table.contains("1 of 2 answers right; wrong: 1 MUST"), "{table}");
    assert!(table.contains("All 2 questions, and what was answered"), "{table}");
    assert!(table.contains("no Host field") && table.contains("MUST, RFC 9112 3.2"), "{table}");
    assert_eq!(table.matches("✗ 200").count(), 1, "{table}");
    assert_eq!(verdicts(&record), before);
}
