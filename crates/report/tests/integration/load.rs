//! What a terminal shows at the end of a load of a URL.
use pippin_model::example::run as example;
use pippin_model::example::scenario::walked;
use pippin_model::figure::Figure;
use pippin_model::host::usage::Role;
use pippin_model::plan::profile::Steps;
use pippin_model::run::RunRecord;
use pippin_model::trial::Step;
use pippin_report::html;
use pippin_report::terminal::{Style, table};
use pippin_report::view::{View, answer};

fn text(width: usize) -> String {
    table(&View::of(&example::load()), &Style::plain(width))
}

fn verbose(record: &RunRecord, width: usize) -> String {
    table(&View::of(record), &Style::plain(width).verbose(true))
}

#[test]
fn the_answer_stands_first_and_last_and_is_the_only_line_of_a_quiet_load() {
    let view = View::of(&example::load());
    let line = answer::line(&view);
    for part in [" requests/s", "p50 ", "p99 ", "no errors", "SUSPECT no steady state"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(line.lines().count(), 1);
    let text = table(&view, &Style::plain(200));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], line);
    assert_eq!(lines.iter().filter(|one| **one == line).count(), 2, "{text}");
    // Behind it stands only whether to believe it.
    let last = lines.iter().rposition(|one| *one == line).unwrap();
    let rest = lines[last + 1..].join(" ");
    assert!(rest.starts_with("Can you trust it?") && lines.len() - last <= 4, "{text}");
}

#[test]
fn percentiles_and_histogram_are_two_blocks() {
    let text = text(100);
    let line = |start: &str| {
        let found = text.lines().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no line begins with {start}: {text}"))
    };
    let order =
        ["Response time within", "  50 % of", "  100 % of", "Response time from", "Status "];
    assert!(order.map(line).is_sorted(), "{text}");
    let block = |from: &str, to: &str| -> Vec<&str> {
        text.lines().take(line(to)).skip(line(from)).collect()
    };
    let quantiles = block("Response time within", "Response time from");
    assert!(quantiles.iter().all(|line| !line.contains('█')), "{text}");
    let bars = block("Response time from", "Status ");
    assert!(bars.iter().any(|line| line.contains('█') && line.contains(" %")), "{text}");
    assert!(bars.iter().all(|line| !line.contains("of requests")), "{text}");
}

#[test]
fn what_few_people_ask_for_waits_for_verbose() {
    let (short, long) = (text(80), verbose(&example::load(), 80));
    for detail in ["Transfer/s", "Bytes ", "Generator ", "Server ", "Time span", "send lag"] {
        assert!(!short.contains(detail) && long.contains(detail), "{detail}: {short}{long}");
    }
    assert!(short.lines().count() <= 36, "{short}");
    assert!(short.contains("-v") && short.contains("--html FILE"), "{short}");
}

#[test]
fn doubts_have_the_names_of_all_other_forms_and_fit_the_terminal() {
    for width in [80, 120] {
        let text = verbose(&example::load(), width);
        let doubt = text.find("  SUSPECT no steady state: throughput changed by -9.1 %");
        let advice = text.find("          → measure longer (-d 60s)");
        let note = text.find("  note    not cpu bound: ");
        // The gravest first.
        assert!(doubt < advice && advice < note && doubt.is_some(), "{text}");
        assert!(!text.contains("no_steady_state"), "{text}");
    }
    // One doubt is in the answer.
    assert!(!text(80).contains("  SUSPECT no steady state"), "{}", text(80));
}

/// When the server closed: never "after a complete answer" where there was none.
#[test]
fn closes_are_told_by_what_came_before_them() {
    let told = |before: &[u64]| {
        let mut record = example::load();
        let load = record.trials[0].load.as_mut().unwrap();
        load.measured.connections.closed_by_server = 8;
        before.iter().for_each(|requests| load.measured.closes.by_requests.add(*requests, 1));
        let text = verbose(&record, 120);
        text.lines().find(|line| line.contains("8 closed by the server")).unwrap().to_owned()
    };
    assert!(told(&[0, 0]).contains("8 closed by the server before any answer,"));
    assert!(told(&[3, 9]).contains("8 closed by the server after a complete answer,"));
    for unknown in [&[0, 9][..], &[]] {
        assert!(told(unknown).contains("8 closed by the server, "), "{}", told(unknown));
    }
}

#[test]
fn a_scenario_begins_with_its_walks() {
    let mut record = example::load();
    record.trials[0] = walked(record.trials[0].clone(), &[None, None]);
    let measured = &record.trials[0].load.as_ref().unwrap().measured;
    let walks = measured.steps[1].good as f64 * 1e9 / measured.duration_ns as f64;
    let mean = |step: usize| measured.steps[step].response_time.summary().mean_ns.unwrap();
    let parts = answer::parts(&View::of(&record));
    let rate: f64 = parts[0].strip_suffix(" walks/s").unwrap().replace(',', "").parse().unwrap();
    assert!((rate / walks - 1.0).abs() < 0.01, "{parts:?}");
    let time = pippin_model::text::units::format_ns((mean(0) + mean(1)).round() as u64);
    assert_eq!(parts[1], format!("a walk takes {time} on average"));
    assert!(parts[2].contains("requests/s"), "{parts:?}");
}

#[test]
fn of_a_sweep_the_walks_are_those_of_its_best_step() {
    let mut record = example::load();
    let mut one = walked(record.trials[0].clone(), &[None, None]);
    let alone = {
        record.trials[0] = one.clone();
        answer::parts(&View::of(&record))[0].clone()
    };
    record.trials = [1, 4]
        .map(|count| {
            one.spec.step = Some(Step::Connections { count });
            one.spec.profile.steps = Steps::Connections(vec![1, 4]);
            one.clone()
        })
        .to_vec();
    record.header.plan.profile = record.trials[0].spec.profile.clone();
    let parts = answer::parts(&View::of(&record));
    assert_eq!(parts[0], alone, "{parts:?}");
}

/// A load of which one answer in five is wrong, and three requests hang. The threads that load use
/// a part of what all of Pippin uses.
fn load_with_doubts() -> RunRecord {
    let mut record = example::load();
    let trial = &mut record.trials[0];
    let used = trial.usage.as_mut().unwrap().roles.get_mut(&Role::Generator).unwrap();
    used.cores = Some(0.56);
    let load = trial.load.as_mut().unwrap();
    let of_five = |count: u64| count / 5 * 4;
    load.windows.iter_mut().for_each(|window| window.good = of_five(window.good));
    let measured = &mut load.measured;
    measured.requests.good = of_five(measured.requests.good);
    measured.answered.good = of_five(measured.answered.good);
    (0..3).for_each(|_| measured.spans.open_age.record(5_000_000_000));
    record
}

/// What the terminal says about a result, the page says too: what limits the server, each doubt with its
/// advice, and whether to trust it. Both are compared as words, because each breaks its lines.
#[test]
fn what_the_terminal_concludes_stands_on_the_page_too() {
    for record in [example::load(), load_with_doubts()] {
        let view = View::of(&record);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let terminal = words(&verbose(&record, 10_000));
        let page = words(&html::page(&view).replace("&quot;", "\"").replace("&amp;", "&"));
        let page = page.replace("&lt;", "<").replace("&gt;", ">").replace("<code>", "`");
        let page = page.replace("</code>", "`");
        let explanations = view.rows.iter().filter_map(|row| row.explanation.as_ref());
        let mut said: Vec<&str> = explanations.map(|it| it.text.as_str()).collect();
        let doubts = view.loads.iter().flat_map(|load| &load.caveats);
        said.extend(doubts.flat_map(|doubt| [doubt.evidence.as_str(), doubt.advice.as_str()]));
        assert!(said.len() > 3, "{terminal}");
        for sentence in said {
            let sentence = words(sentence);
            assert!(page.contains(&sentence), "not on the page: {sentence}");
        }
        let trust = words(&view.trust.words());
        assert!(terminal.contains(&trust) && page.contains(&trust), "{trust}\n{terminal}");
    }
}

/// One idea has one figure: what a load says of itself is what its row, the register of figures, the
/// terminal and the paragraph that explains it say.
#[test]
fn one_idea_has_one_figure_in_every_form() {
    for record in [example::load(), load_with_doubts()] {
        let (view, trial) = (View::of(&record), &record.trials[0]);
        let (load, row) = (&view.loads[0], &view.rows[0]);
        let server = load.server.as_ref().unwrap();
        let ns = |seconds_per_million: Option<f64>| seconds_per_million.map(|us| us * 1e3);
        let same = [
            (
                Figure::GeneratorCpu,
                load.generator.cpu_per_request_ns,
                ns(row.cost.generator_cpu_s_per_million),
            ),
            (Figure::Cpu, server.cpu_per_request_ns, ns(row.cost.target_cpu_s_per_million)),
            (Figure::Cores, server.cores, row.usage.target_cores),
            (
                Figure::Memory,
                server.max_memory_bytes.map(|bytes| bytes as f64),
                row.usage.target_memory_bytes,
            ),
            (Figure::Goodput, load.goodput_per_s, row.goodput_per_s.map(|it| it.median)),
            (Figure::Throughput, load.throughput_per_s, row.throughput_per_s.map(|it| it.median)),
        ];
        for (figure, own, of_row) in same {
            let (own, of_row, read) = (own.unwrap(), of_row.unwrap(), figure.read(trial).unwrap());
            assert!((own - of_row).abs() <= 1e-9 * own, "{figure}: {own} and {of_row}");
            assert!((own - read).abs() <= 1e-9 * own, "{figure}: {own} and {read}");
        }
        let (own, of_row) = (&load.response_time, &row.spans.response_time);
        assert_eq!((own.p50_ns, own.p99_ns), (of_row.p50_ns, of_row.p99_ns));
        // Ranks and gates have no p99 where too few answers are right; tables show the answers' own.
        let p99 = row.response_p99_ns.map(|p99| p99.median.round() as u64);
        assert!(p99.is_none_or(|p99| Some(p99) == own.p99_ns), "{p99:?} and {:?}", own.p99_ns);
        // The same words for it, and the part of the threads has a name of its own.
        let text = verbose(&record, 400);
        let cpu = pippin_report::words::ns_f(load.generator.cpu_per_request_ns);
        let threads = pippin_report::words::ns_f(load.generator.threads_cpu_per_request_ns);
        let line = format!("{cpu} of CPU per request (its load threads {threads})");
        assert!(text.contains(&line), "{line}: {text}");
        assert!(text.contains(&format!(", generator {cpu}.")), "{cpu}: {text}");
    }
}
