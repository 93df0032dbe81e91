//! The ranked table.
use pippin_model::figure::Figure;
use pippin_model::host::usage::Runtime;
use pippin_model::result::histogram::Summary;
use pippin_model::run::RunState;
use pippin_model::run::labels::Labels;
use pippin_model::text::units::counted;
use pippin_model::trial::Step;
use pippin_model::verdict::Verdict;

use super::Page;
use super::grid::Grid;
use crate::ranked;
use crate::view::View;
use crate::view::row::Row;
use crate::words;

/// From this width on, each figure also shows its interval.
const ROOM_FOR_INTERVALS: usize = 100;
/// The length of bars: shorter ones show nothing, longer ones show no more.
const BARS: std::ops::RangeInclusive<usize> = 8..=40;

/// What was done, and when.
pub fn title(page: &mut Page, view: &View) {
    let run = &view.run;
    let quick =
        if run.quick { " (quick form: shorter and less sure than the full one)" } else { "" };
    let title = page.paint.bold(&run.title);
    page.paragraph("", &format!("{title}{quick}"));
    page.paragraph("", &run.load);
    labels(page, &run.labels);
    let ended = run
        .ended_unix_ns
        .map(|end| format!(" in {}", words::length(end.saturating_sub(run.started_unix_ns))))
        .unwrap_or_default();
    page.paragraph(
        "",
        &format!(
            "{} · {}{ended} · run {}",
            words::time(run.started_unix_ns),
            counted(run.trials, "trial"),
            run.id
        ),
    );
    let state = match run.state {
        RunState::Finished => return,
        RunState::Running => "Still running",
        RunState::Killed => "Pippin was killed in this run",
        RunState::Interrupted => "Interrupted",
        RunState::Failed => "The lab itself failed",
    };
    page.paragraph("", &format!("{state}: only finished results are shown."));
}

/// What the user calls the run, if anything.
pub(super) fn labels(page: &mut Page, labels: &Labels) {
    let line = labels.in_a_line();
    for text in [Some(&line).filter(|line| !line.is_empty()), labels.note.as_ref()] {
        text.into_iter().for_each(|text| page.paragraph("", text));
    }
}

/// The title and the table.
pub fn write(page: &mut Page, view: &View) {
    title(page, view);
    page.line("");
    if view.measured().next().is_none() {
        page.line("No target has a result.");
        return;
    }
    page.paragraph("", &view.conclusion);
    page.line("");
    standings(page, view);
    page.line("");
    use_of(page, view);
    by_cpu(page, view);
    legend(page, view);
}

/// The ranked rows once more, for those who see only the end of a long report.
pub fn again(page: &mut Page, view: &View) {
    if view.measured().next().is_some() {
        page.line("");
        standings(page, view);
    }
}

/// The time span of p50, p99 and max in every table: the response time.
pub const fn span_of(row: &Row) -> &Summary {
    &row.summary.spans.response_time
}

fn standings(page: &mut Page, view: &View) {
    let without_bars = standings_grid(page, view, None);
    let room = page.style.width.saturating_sub(without_bars.width() + Grid::GAP);
    let mut grid = if room < *BARS.start() {
        without_bars
    } else {
        standings_grid(page, view, Some(room.min(*BARS.end())))
    };
    grid.fit(1, page.style.width);
    grid.write(page, 0);
}

/// The ranked rows, with bars of this length.
fn standings_grid(page: &Page, view: &View, bars: Option<usize>) -> Grid {
    let (ratios, intervals) = (
        ranked::has_ratios(view),
        page.style.width >= ROOM_FOR_INTERVALS || !ranked::has_ratios(view),
    );
    let mut grid = Grid::default().right("#").left("target").right(ranked_title(view));
    if intervals {
        grid = grid.right("±95 %");
    }
    if ratios {
        grid = grid.right("ratio (95 %)");
    }
    if bars.is_some() {
        grid = grid.left("");
    }
    let mut grid = grid.left("verdict");
    for row in view.measured() {
        let mut cells =
            vec![row.rank_in_words(), name(row), figure(page, row, &ranked::median(view, row))];
        if intervals {
            let within = ranked::reach(row).map_or_else(|| words::UNKNOWN.into(), words::reach);
            cells.push(figure(page, row, &within));
        }
        if ratios {
            let figure = view.run.ranked_by.figure();
            cells.push(row.to_reference_in_words(view.run.reference.as_ref(), figure));
        }
        cells.extend(bars.map(|room| bar(page, view, row, room)));
        cells.push(verdict(page, row));
        grid.row(cells);
    }
    grid
}

fn use_of(page: &mut Page, view: &View) {
    let mut grid = use_titles(Grid::default().left("target"), view);
    for row in view.measured() {
        let mut cells = vec![name(row)];
        cells.extend(use_cells(page, view, row));
        grid.row(cells);
    }
    grid.fit(0, page.style.width);
    grid.write(page, 0);
    runtimes(page, view);
}

/// The language runtimes that were seen, of those targets that have one.
fn runtimes(page: &mut Page, view: &View) {
    let known = view.measured().filter(|row| !row.runtimes.is_empty());
    let of = |row: &Row| format!("{} {}", row.target, Runtime::listed(&row.runtimes));
    let all: Vec<String> = known.map(of).collect();
    if !all.is_empty() {
        page.paragraph("", &format!("Runtime: {}.", all.join("; ")));
    }
}

/// The ranking by CPU time of a request.
fn by_cpu(page: &mut Page, view: &View) {
    if !ranked::has_cpu_ranks(view) {
        return;
    }
    let services = ranked::has_services(view);
    let grid = Grid::default().right("#").left("target").right("CPU per request").right("±95 %");
    let grid = if services { grid.right("with services") } else { grid };
    let mut grid = grid.right("ratio (95 %)");
    for row in ranked::by_cpu(view) {
        let cpu = row.cpu_s_per_million;
        let within = cpu.and_then(ranked::reach_of);
        let mut cells = vec![
            row.cpu_rank_in_words(),
            name(row),
            words::cpu_a_request(cpu.map(|figure| figure.median)),
            within.map_or_else(|| words::UNKNOWN.into(), words::reach),
        ];
        cells.extend(services.then(|| words::cpu_a_request(row.cpu_with_services())));
        cells.push(row.to_reference_in_words(view.run.reference.as_ref(), Figure::Cpu));
        grid.row(cells);
    }
    page.line("");
    grid.fit(1, page.style.width);
    grid.write(page, 0);
}

/// The title of the first column: requests/s, or p99 if the schedule sets the requests/s.
fn ranked_title(view: &View) -> &'static str {
    if ranked::by_time(view) { "p99" } else { "requests/s" }
}

/// The titles of [`use_cells`].
fn use_titles(grid: Grid, view: &View) -> Grid {
    let grid = if ranked::by_time(view) {
        grid.right("requests/s").right("p50").right("max")
    } else {
        grid.right("p50").right("p99").right("max")
    };
    grid.right("errors").right("CPU").right("memory").right("gen CPU")
}

fn use_cells(page: &Page, view: &View, row: &Row) -> Vec<String> {
    let span = span_of(row);
    let errors = match row.error_fraction {
        Some(fraction) if fraction > 0.0 => words::percent(fraction),
        Some(_) => "0".into(),
        None => words::UNKNOWN.into(),
    };
    let memory = words::bytes(row.usage.target_memory_bytes.map(|bytes| bytes as u64));
    let (p50, p99, max) = (words::ns(span.p50_ns), words::ns(span.p99_ns), words::ns(span.max_ns));
    let rate = words::count(row.goodput_per_s.map(|figure| figure.median));
    let [first, second, third] =
        if ranked::by_time(view) { [rate, p50, max] } else { [p50, p99, max] };
    let cells = [
        first,
        second,
        third,
        errors,
        words::cores(row.usage.target_cores),
        memory,
        words::cores(row.usage.generator_cores),
    ];
    cells.iter().map(|cell| figure(page, row, cell)).collect()
}

fn name(row: &Row) -> String {
    let at = match row.step {
        Some(Step::Connections { count }) => format!(" at {count}"),
        Some(Step::Rate { per_s }) if row.at_rates().is_some() => {
            format!(" at {}/s", words::count(Some(per_s)))
        }
        Some(Step::Rate { .. } | Step::Devices { .. }) | None => String::new(),
    };
    format!("{}{at}", row.target)
}

/// A figure, struck through if the row is INVALID.
fn figure(page: &Page, row: &Row, text: &str) -> String {
    if row.verdict == Some(Verdict::Invalid) { page.paint.struck(text) } else { text.into() }
}

fn verdict(page: &Page, row: &Row) -> String {
    let Some(verdict) = row.verdict else { return String::new() };
    let told =
        page.paint.verdict(verdict, &words::verdict(verdict, &row.invalid_repetitions, row.trials));
    row.main_doubt().map_or_else(|| told.clone(), |doubt| format!("{told} {doubt}"))
}

/// A bar of the ranked figure, in eighths of a column. Hatched if the row is not ranked.
fn bar(page: &Page, view: &View, row: &Row, room: usize) -> String {
    let most = view
        .measured()
        .filter_map(|row| row.ranked)
        .map(|figure| figure.median)
        .fold(0.0, f64::max);
    let Some(value) = row.ranked.map(|figure| figure.median).filter(|_| most > 0.0) else {
        return String::new();
    };
    if row.verdict == Some(Verdict::Invalid) {
        return page.paint.dim(&"░".repeat((value / most * room as f64).round() as usize));
    }
    let eighths = ((value / most * room as f64 * 8.0).round() as usize).max(1);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    page.paint.bar(&format!("{}{rest}", "█".repeat(eighths / 8)))
}

fn legend(page: &mut Page, view: &View) {
    let times = if ranked::by_time(view) { "p50, max" } else { "p50, p99, max" };
    let mut text = format!(
        "{} {times}: response time. CPU: 100 % is one core, whole process tree.",
        ranked::legend(view)
    );
    if view.measured().any(|row| row.step.is_some_and(|at| matches!(at, Step::Connections { .. })))
    {
        text.push_str(" \"at\": the number of connections with the highest throughput; the figures are for that number.");
    }
    if view.measured().any(|row| row.at_rates().is_some()) {
        text.push_str(" \"at\": the highest rate that all targets keep up with; targets that keep up with no rate are left out. The figures are for that rate.");
    }
    text.push_str(&unranked(view));
    if let Some(ratios) = ranked::ratio_legend(view) {
        text.push_str(&format!(" {ratios}"));
    }
    if view
        .measured()
        .any(|row| row.standing.rank_interval.is_some_and(|rank| rank.best < rank.worst))
    {
        text.push_str(" A rank like 2-3: the true place is one of these.");
    } else if shares_ranks(view) {
        text.push_str(" Targets that share a rank cannot be told apart.");
    }
    page.line("");
    let room = page.style.width;
    for line in super::paint::wrap(&text, room) {
        let dim = page.paint.dim(&line);
        page.line(&dim);
    }
}

/// Why some rows have no rank.
fn unranked(view: &View) -> String {
    let unranked: Vec<_> = view.measured().filter(|row| row.standing.rank.is_none()).collect();
    let is_invalid = |row: &&Row| row.verdict == Some(Verdict::Invalid);
    let mut text = String::new();
    if unranked.iter().any(is_invalid) {
        text.push_str(" INVALID rows are not ranked.");
    }
    if unranked.iter().any(|row| row.at_search().is_some_and(|_| row.ranked.is_none())) {
        text.push_str(" Without a capacity: see how the search ended.");
    } else if unranked.iter().any(|row| row.ranked.is_none()) {
        text.push_str(" Without a p99: more than 1 % of the due requests were never answered.");
    }
    if unranked.iter().any(|row| !is_invalid(row) && row.ranked.is_some()) {
        text.push_str(
            " Without a rank: a single short trial has no interval; repeat it (--repeat 3).",
        );
    }
    text
}

fn shares_ranks(view: &View) -> bool {
    let ranks: Vec<u32> = view.measured().filter_map(|row| row.standing.rank).collect();
    ranks.iter().enumerate().any(|(index, rank)| ranks[index + 1..].contains(rank))
}
