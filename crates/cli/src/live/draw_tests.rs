//! Golden frames: `golden/*.txt` hold what the terminal shows. `PIPPIN_BLESS=1 cargo test` writes
//! them again; review the difference.
use super::super::samples::{at, caveat, failed, header, plan, record, sample, trial, window};
use super::*;
use pippin_lab::run::observer::Event;
use pippin_model::trial::{Stage, Step};
use pippin_model::verdict::Severity;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use std::path::Path;

const PLAIN: Look = Look { colour: false, unicode: true };
const COLOURED: Look = Look { colour: true, unicode: true };
const ASCII: Look = Look { colour: false, unicode: false };

fn frame(
    state: &State,
    look: Look,
    (width, height): (u16, u16),
    now: f64,
) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, look, at(now))).unwrap();
    terminal
}

fn text(terminal: &Terminal<TestBackend>) -> String {
    let buffer = terminal.backend().buffer();
    let row = |y: u16| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..buffer.area.height).map(|y| row(y).trim_end().to_string() + "\n").collect()
}

fn assert_golden(name: &str, state: &State, look: Look, size: (u16, u16), now: f64) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/golden").join(format!("{name}.txt"));
    let drawn = text(&frame(state, look, size, now));
    if std::env::var_os("PIPPIN_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &drawn).unwrap();
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; PIPPIN_BLESS=1 writes it", path.display()));
    assert!(drawn == golden, "{name} differs. Drawn:\n{drawn}\nGolden:\n{golden}");
}

/// The fifth of six trials, 12 s into its load. Of the finished ones, one was good, one doubtful,
/// one wrong, one failed.
fn running() -> State {
    let plan = plan(3, "closed");
    let profile = plan.profile.clone();
    let mut state = State::new(Subject::Plan);
    state.run_started(&header(plan));
    let finished = [
        ("go/net-http", 0, 1_117_740, 0, Vec::new()),
        (
            "javascript/express:cluster",
            0,
            402_000,
            0,
            vec![
                caveat(
                    "generator_busy",
                    Severity::Suspect,
                    "generator core 84 % busy over 30 s (limit 80 %)",
                ),
                caveat("knee", Severity::Note, "flat"),
            ],
        ),
        (
            "javascript/express:cluster",
            1,
            380_100,
            1_902,
            vec![caveat(
                "errors",
                Severity::Invalid,
                "1,902 of 380,100 requests failed: 0.5 % (allowed 0.1 %)",
            )],
        ),
    ];
    for (index, (target, repetition, completed, errors, caveats)) in
        finished.into_iter().enumerate()
    {
        let spec = trial(target, repetition, &profile, None);
        state.trial_started(&spec, index + 1, 6, at(index as f64 * 40.0));
        state.trial_finished(
            &record(&spec, completed, errors, caveats),
            at(index as f64 * 40.0 + 38.0),
        );
    }
    let spec = trial("go/net-http", 1, &profile, None);
    state.trial_started(&spec, 4, 6, at(120.0));
    state.trial_finished(
        &failed(&spec, Stage::Load, "connection refused: is another server at its port?"),
        at(121.0),
    );
    state.trial_started(&trial("go/net-http", 2, &profile, None), 5, 6, at(122.0));
    state.stage("measuring", at(124.0));
    for second in -2..12_i64 {
        let completed = (30_000 + second * 600) as u64;
        let errors = if second == 7 { 3 } else { 0 };
        state.window(
            &window(second, completed, errors),
            Some(&sample((second + 3) as u64, 98, 45)),
            at(126.0 + second as f64 + 1.0),
        );
    }
    state
}

fn load() -> State {
    load_of(true)
}

/// The second of three steps; `server`: whether it runs on this machine.
fn load_of(server: bool) -> State {
    let profile = plan(1, "sweep").profile;
    let mut state = State::new(Subject::Url("http://127.0.0.1:8080/".into()));
    let mut spec = trial("url/load", 0, &profile, Some(Step::Connections { count: 1 }));
    spec.cpus = pippin_model::plan::cpus::CpuSplit::default();
    state.trial_started(&spec, 1, 3, at(0.0));
    state.trial_finished(&record(&spec, 300_000, 0, Vec::new()), at(5.0));
    spec.step = Some(Step::Connections { count: 8 });
    state.trial_started(&spec, 2, 3, at(5.0));
    state.stage("measuring", at(5.0));
    let mut usage = sample(1, 40, 60);
    if !server {
        usage.roles.remove(&Role::Target);
    }
    state.window(&window(0, 52_000, 0), Some(&usage), at(6.0));
    usage.at_ns += 1_000_000_000;
    usage.roles.entry(Role::Generator).and_modify(|role| role.cpu_ns += 910_000_000);
    usage.roles.entry(Role::Target).and_modify(|role| role.cpu_ns += 1_420_000_000);
    state.window(&window(1, 58_000, 0), Some(&usage), at(7.0));
    state
}

#[test]
fn a_run_on_terminals_of_four_sizes() {
    let state = running();
    assert_golden("run-80x24", &state, PLAIN, (80, 24), 138.4);
    assert_golden("run-120x40", &state, PLAIN, (120, 40), 138.4);
    assert_golden("run-60x20", &state, PLAIN, (60, 20), 138.4);
    assert_golden("run-20x5", &state, PLAIN, (20, 5), 138.4);
    assert_golden("run-80x24-ascii", &state, ASCII, (80, 24), 138.4);
}

#[test]
fn a_sweep_of_a_url() {
    assert_golden("load-80x24", &load(), PLAIN, (80, 24), 7.2);
    assert_golden("load-60x20", &load(), PLAIN, (60, 20), 7.2);
    assert_golden("load-120x40", &load(), PLAIN, (120, 40), 7.2);
    assert_golden("load-40x10", &load(), PLAIN, (40, 10), 7.2);
}

#[test]
fn the_processors_of_a_server_elsewhere_are_not_known() {
    let drawn = |server, size| text(&frame(&load_of(server), PLAIN, size, 7.2));
    assert!(drawn(true, (80, 24)).contains("CPU target    1.42"));
    assert!(!drawn(false, (80, 24)).contains("CPU target"), "{}", drawn(false, (80, 24)));
    assert!(drawn(false, (80, 24)).contains("CPU generator 0.91"));
    // Where charts have no room, the same in words.
    assert!(drawn(true, (49, 24)).contains("CPU target 1.42 cores"), "{}", drawn(true, (49, 24)));
    assert!(drawn(false, (49, 24)).contains("\nCPU generator 0.91 cores"));
}

#[test]
fn no_figure_stands_twice_and_every_chart_has_a_scale() {
    for (state, now) in [(running(), 138.4), (load(), 7.2)] {
        for size in [(80, 24), (120, 40), (60, 20)] {
            let drawn = text(&frame(&state, PLAIN, size, now));
            let above = drawn.split("\nFinished").next().unwrap();
            // What has a point or a comma between digits was measured.
            let is_figure = |word: &&str| {
                word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(['.', ','])
            };
            // The ends of scales are chosen, and those of two charts may be the same.
            let left_of_scales = usize::from(size.0 - CHART_SCALE);
            let body: String = above
                .lines()
                .skip(1)
                .flat_map(|row| row.chars().take(left_of_scales).chain(['\n']))
                .collect();
            let mut figures: Vec<&str> = body.split_whitespace().filter(is_figure).collect();
            let all = figures.len();
            assert!(all >= 3, "{drawn}");
            figures.sort_unstable();
            figures.dedup();
            assert_eq!(figures.len(), all, "at {size:?}:\n{drawn}");
            let charts = ["Requests/s", "Response p50", "Response p99", "Spread"];
            for chart in charts {
                let rows: Vec<&str> =
                    above.lines().skip_while(|row| !row.starts_with(chart)).collect();
                let one_row = rows[0].contains(" 0-");
                let two_ends = rows[1..].iter().take(6).any(|row| row.ends_with(" 0"));
                assert!(one_row || two_ends, "{chart} at {size:?}:\n{drawn}");
            }
        }
    }
}

#[test]
fn a_scale_ends_at_a_round_value_that_is_not_below_any() {
    for (value, round) in
        [(36_600.0, 40_000.0), (40_000.0, 40_000.0), (1.01, 1.5), (0.22, 0.25), (9.1, 10.0)]
    {
        assert!((round_above(value) / round - 1.0).abs() < 1e-9, "{value}: {}", round_above(value));
    }
    assert_eq!((round_above(0.0), round_above(f64::NAN)), (0.0, 0.0));
}

#[test]
fn help_and_the_wish_to_stop() {
    let mut state = running();
    state.help = true;
    assert_golden("help-80x24", &state, PLAIN, (80, 24), 138.4);
    assert_golden("help-20x5", &state, PLAIN, (20, 5), 138.4);
    state.help = false;
    state.stops = 1;
    let drawn = text(&frame(&state, PLAIN, (80, 24), 138.4));
    assert_eq!(
        drawn.lines().last(),
        Some("stopping; what is finished is kept; 2 times more leaves at once")
    );
}

#[test]
fn a_warm_up_says_what_it_waits_for() {
    let plan = plan(1, "closed");
    let profile = plan.profile.clone();
    let mut state = State::new(Subject::Url("http://[::1]:8080/".into()));
    state.run_started(&header(plan));
    state.trial_started(&trial("url/shop", 0, &profile, None), 1, 1, at(0.0));
    state.stage("measuring", at(1.0));
    state.window(&window(-30, 1_000, 0), None, at(4.0));
    let drawn = text(&frame(&state, PLAIN, (100, 30), 4.0));
    assert!(!drawn.contains("the JVM compiles"), "{drawn}");
    state.apply(&Event::WarmingUp("the JVM compiles, 24 % of a processor"), at(4.0));
    let drawn = text(&frame(&state, PLAIN, (100, 30), 4.0));
    assert!(drawn.contains("warm-up 3 s: the JVM compiles, 24 % of a processor"), "{drawn}");
    state.stage("proving again", at(9.0));
    let drawn = text(&frame(&state, PLAIN, (100, 30), 9.0));
    assert!(!drawn.contains("the JVM compiles"), "{drawn}");
}

#[test]
fn before_the_first_trial() {
    let mut state = State::new(Subject::Plan);
    state.run_started(&header(plan(3, "closed")));
    let drawn = text(&frame(&state, PLAIN, (80, 24), 0.2));
    assert!(drawn.contains("Hello World") && drawn.contains("starting services"), "{drawn}");
}

#[test]
fn no_size_is_too_small_or_too_large() {
    let mut with_help = running();
    with_help.help = true;
    for state in [State::new(Subject::Plan), running(), with_help, load()] {
        for width in [0, 1, 2, 5, 20, 24, 49, 50, 80, 130] {
            for height in (0..16).chain([24, 60]) {
                frame(&state, PLAIN, (width, height), 138.4);
            }
        }
    }
}

#[test]
fn without_colour_there_is_none_and_with_it_verdicts_differ() {
    let colours = |look: Look| {
        let terminal = frame(&running(), look, (80, 24), 138.4);
        let cells: Vec<(Color, Color)> =
            terminal.backend().buffer().content.iter().map(|cell| (cell.fg, cell.bg)).collect();
        cells
    };
    assert!(colours(PLAIN).iter().all(|cell| *cell == (Color::Reset, Color::Reset)));
    for colour in [Color::Green, Color::Yellow, Color::Red, Color::Cyan] {
        assert!(colours(COLOURED).iter().any(|(foreground, _)| *foreground == colour), "{colour}");
    }
}

#[test]
fn ascii_is_ascii() {
    let drawn = text(&frame(&running(), ASCII, (80, 24), 138.4));
    assert!(drawn.is_ascii(), "{drawn}");
}

#[test]
fn a_line_is_cut_where_the_terminal_ends() {
    let cut = |text: &'static str, width| {
        fit(Line::from(vec![Span::raw("ab "), Span::raw(text)]), width, PLAIN).to_string()
    };
    assert_eq!(cut("cdef", 7), "ab cdef");
    assert_eq!(cut("cdef", 6), "ab cd…");
    assert_eq!(cut("日本語", 6), "ab 日…");
    assert_eq!((cut("cdef", 1), cut("cdef", 0)), ("…".into(), String::new()));
}
