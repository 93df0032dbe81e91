//! The result as Markdown, for a pull request (GitHub Flavored Markdown: tables, strikethrough,
//! folded details).
use pippin_model::figure::Figure;
use pippin_model::run::RunState;
use pippin_model::text::units::counted;
use pippin_model::verdict::{Severity, Verdict};
use pippin_stats::scalability::ladder::Ladder;
use std::fmt::Write as _;

use crate::form::{Form, Write};
use crate::ranked;
use crate::terminal::{parameter, signed, span_of};
use crate::view::View;
use crate::view::calm;
use crate::view::missing;
use crate::view::published::PublishedTable;
use crate::view::rates::RateCells;
use crate::view::row::Row;
use crate::view::run::host_line;
use crate::view::stages::StageRow;
use crate::view::sweep::{Fit, RISES, Sweep};
use crate::view::walks::WayView;
use crate::words;

/// This form.
pub const FORM: Form = Form {
    name: "markdown",
    about: "A table for a pull request",
    media_type: "text/markdown; charset=utf-8",
    extension: "md",
    write: Write::View(|view| Ok(render(view).into_bytes())),
};

/// A comment takes 65,536 characters on GitHub, and nobody reads more than half of that. What has no
/// room is named.
const MOST_BYTES: usize = 30_000;

/// The run as Markdown: trust, load, conclusion and table, then what has room.
#[must_use]
pub fn render(view: &View) -> String {
    let mut out = String::new();
    head(&mut out, view);
    headline(&mut out, view);
    let foot = foot(view);
    let mut left_out: Vec<&str> = Vec::new();
    for (name, write) in PARTS {
        let mut part = String::new();
        write(&mut part, view);
        if out.len() + part.len() + foot.len() <= MOST_BYTES {
            out.push_str(&part);
        } else {
            left_out.push(name);
        }
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        line(&mut out, &format!("Left out here, and on the page of the run: {names}.\n"));
    }
    out + &foot
}

/// A part and its name.
type Part = (&'static str, fn(&mut String, &View));

/// What follows the table, the most important first.
const PARTS: [Part; 7] = [
    ("targets without a result", without_result),
    ("values of the scan", scan),
    ("steps", steps),
    ("caveats", doubts),
    ("published figures", published),
    ("all figures", all_figures),
    ("what the figures say", explanations),
];

/// A line for each value of a parameter. The conclusion says the knee.
fn scan(out: &mut String, view: &View) {
    let Some(scan) = &view.scan else { return };
    line(out, &format!("### By {}\n", text(&scan.parameter)));
    let titles: Vec<String> = scan.titles().iter().map(|title| text(title)).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let cells = |point| scan.cells(point).iter().map(|cell| text(cell)).collect();
    let rows: Vec<Vec<String>> = scan.points.iter().map(cells).collect();
    table(out, 0, &titles, &rows);
}

fn steps(out: &mut String, view: &View) {
    for row in &view.rows {
        match (&row.sweep, row.at_rates()) {
            (_, Some((steps, ladder))) => rates(out, row, steps, ladder),
            (Some(steps), None) => sweep(out, row, steps),
            (None, None) => {}
        }
        phases(out, row);
        stages(out, row);
        walks(out, row);
    }
}

/// Calmness, machine, date, run and version.
fn foot(view: &View) -> String {
    let mut out = String::new();
    if let Some(slices) = &view.run.slices {
        line(&mut out, &format!("{}\n", text(&calm::line(slices))));
    }
    line(
        &mut out,
        &format!(
            "<sub>{} · {} · run {} · Pippin {}</sub>",
            text(&host_line(&view.host)),
            words::time(view.run.started_unix_ns),
            view.run.id,
            view.run.pippin_version
        ),
    );
    out
}

fn line(out: &mut String, text: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{}", text.trim_end_matches(' '));
}

/// Escapes whatever would be read as markup, and removes line breaks.
pub(crate) fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Two of them on a line are a formula on GitHub, with a backslash too.
            '$' => out.push_str("&#36;"),
            c => out.push(c),
        }
    }
    out
}

/// A table. The first `left` columns are aligned left, the others right.
fn table(out: &mut String, left: usize, titles: &[&str], rows: &[Vec<String>]) {
    line(out, &format!("| {} |", titles.join(" | ")));
    let rules: Vec<&str> =
        (0..titles.len()).map(|index| if index < left { "---" } else { "---:" }).collect();
    line(out, &format!("| {} |", rules.join(" | ")));
    for row in rows {
        line(out, &format!("| {} |", row.join(" | ")));
    }
    line(out, "");
}

fn head(out: &mut String, view: &View) {
    let run = &view.run;
    line(out, &format!("**{}**\n", text(&view.trust.words())));
    line(out, &format!("## {}{}", text(&run.title), if run.quick { " (quick form)" } else { "" }));
    line(out, "");
    line(out, &format!("{}. {}.", text(&run.load), counted(run.trials, "trial")));
    let labels = run.labels.in_a_line();
    if !labels.is_empty() {
        line(out, &format!("\n{}", text(&labels)));
    }
    if let Some(note) = &run.labels.note {
        line(out, &format!("\n{}", text(note)));
    }
    match run.state {
        RunState::Finished => {}
        RunState::Running => line(out, "\n**Still running: only finished results are shown.**"),
        RunState::Killed => {
            line(out, "\n**Pippin was killed in this run: only finished results are shown.**")
        }
        RunState::Interrupted => line(out, "\n**Interrupted: only finished results are shown.**"),
        RunState::Failed => {
            line(out, "\n**The lab itself failed: only finished results are shown.**")
        }
    }
    line(out, "");
}

fn headline(out: &mut String, view: &View) {
    let rows: Vec<Vec<String>> = view.measured().map(|row| cells(view, row)).collect();
    if rows.is_empty() {
        line(out, "No target has a result.\n");
        return;
    }
    let (ranked, other) =
        if ranked::by_time(view) { ("p99", "requests/s") } else { ("requests/s", "p99") };
    line(out, &format!("{}\n", text(&view.conclusion)));
    let mut titles = vec!["#", "target", ranked];
    titles.extend(ranked::has_ratios(view).then_some("ratio (95 %)"));
    titles.extend([other, "CPU per request", "verdict"]);
    table(out, 2, &titles, &rows);
    line(
        out,
        &format!(
            "{} p99: response time. Struck through: INVALID, not ranked.{}\n",
            words::capital(ranked::legend(view)),
            ranked::ratio_legend(view)
                .map(|ratios| format!(" {}", text(&ratios)))
                .unwrap_or_default()
        ),
    );
}

/// A figure, struck through where it is not ranked.
fn figure(row: &Row, cell: String) -> String {
    if row.verdict == Some(Verdict::Invalid) { format!("~~{cell}~~") } else { cell }
}

/// The target, its step and its versions.
fn target(view: &View, row: &Row) -> String {
    let at =
        row.step.map(|at| format!(" at {}", words::whole(at.size() as u64))).unwrap_or_default();
    let versions = view.targets.get(&row.target).map(|info| &info.versions);
    let versions: Vec<String> = versions
        .into_iter()
        .flatten()
        .map(|(label, printed)| text(&words::version(label, printed)))
        .collect();
    let versions = match versions.as_slice() {
        [] => String::new(),
        some => format!(" <sub>{}</sub>", some.join(", ")),
    };
    format!("{}{at}{versions}", text(&row.target.to_string()))
}

fn cells(view: &View, row: &Row) -> Vec<String> {
    let span = span_of(row);
    let rate = words::count(row.goodput_per_s.map(|figure| figure.median));
    let other = if ranked::by_time(view) { rate } else { words::ns(span.p99_ns) };
    let cpu = words::cpu_a_request(row.cpu_s_per_million.map(|figure| figure.median));
    let mut cells =
        vec![row.rank_in_words(), target(view, row), figure(row, ranked::median(view, row))];
    if ranked::has_ratios(view) {
        let ranked = view.run.ranked_by.figure();
        cells.push(row.to_reference_in_words(view.run.reference.as_ref(), ranked));
    }
    cells.extend([figure(row, other), figure(row, cpu), row.verdict_in_words()]);
    cells
}

/// The figures that most readers do not ask for, folded.
fn all_figures(out: &mut String, view: &View) {
    if view.measured().next().is_none() {
        return;
    }
    let services = ranked::has_services(view);
    let has_cpu_ranks = ranked::has_cpu_ranks(view);
    let mut titles =
        vec!["target", "95 % interval", "p50", "max", "errors", "CPU", "memory", "generator"];
    titles.extend(has_cpu_ranks.then_some("# by CPU per request"));
    titles.extend(has_cpu_ranks.then_some("ratio of CPU per request (95 %)"));
    titles.extend(services.then_some("CPU per request with services"));
    let rows: Vec<Vec<String>> = view
        .measured()
        .map(|row| {
            let span = span_of(row);
            let mut cells = vec![
                text(&row.target.to_string()),
                ranked::interval(view, row),
                words::ns(span.p50_ns),
                words::ns(span.max_ns),
                row.error_fraction.map_or_else(|| words::UNKNOWN.into(), words::percent),
                words::cores(row.usage.target_cores),
                words::bytes(row.usage.target_memory_bytes.map(|bytes| bytes as u64)),
                words::cores(row.usage.generator_cores),
            ];
            if has_cpu_ranks {
                let reference = view.run.reference.as_ref();
                cells.push(row.cpu_rank_in_words());
                cells.push(row.to_reference_in_words(reference, Figure::Cpu));
            }
            cells.extend(services.then(|| words::cpu_a_request(row.cpu_with_services())));
            cells
        })
        .collect();
    line(out, "<details><summary>All figures</summary>\n");
    table(out, 1, &titles, &rows);
    line(out, "CPU: 100 % is one core.\n");
    line(out, "</details>\n");
}

fn doubts(out: &mut String, view: &View) {
    if view.doubts.is_empty() {
        return;
    }
    line(out, "### Caveats\n");
    for doubt in &view.doubts {
        let severity = match doubt.severity {
            Severity::Invalid => "INVALID",
            Severity::Suspect => "SUSPECT",
            Severity::Note => "note",
        };
        line(out, &format!("- **{severity}** {}", text(&doubt.name())));
        for seen in &doubt.seen {
            line(out, &format!("  - {}: {}", text(&seen.target), text(&seen.evidence.join("; "))));
        }
        if !doubt.advice.is_empty() && doubt.severity > Severity::Note {
            line(out, &format!("  - → {}", text(&doubt.advice)));
        }
    }
    line(out, "");
}

fn without_result(out: &mut String, view: &View) {
    let missing = missing::from_view(view);
    if missing.is_empty() {
        return;
    }
    line(out, "### Without a result\n");
    for one in missing {
        line(out, &format!("- {}", text(&one.line())));
    }
    line(out, "");
}

fn sweep(out: &mut String, row: &Row, sweep: &Sweep) {
    line(out, &format!("### {} by step\n", text(&row.target.to_string())));
    let rows: Vec<Vec<String>> = sweep
        .points
        .iter()
        .map(|point| {
            vec![
                words::whole(point.at.size() as u64),
                words::count(point.goodput_per_s),
                words::count(point.prediction.map(|p| p.throughput_per_s)),
                signed(point.prediction.and_then(|p| p.throughput_error)),
                words::ns_f(point.response_time.mean_ns),
                words::ns(point.response_time.p99_ns),
                if sweep.capacity.is_some() { point.kept() } else { point.verdict.to_string() },
            ]
        })
        .collect();
    table(out, 0, &["at", "requests/s", "predicted", "error", "mean response", "p99", ""], &rows);
    let law = sweep.fit.as_ref().map(|Fit { law, .. }| {
        let (lambda, sigma, kappa) =
            (parameter(law.lambda, 0), parameter(law.sigma, 4), parameter(law.kappa, 6));
        format!("Universal Scalability Law: λ {lambda} requests/s, σ {sigma}, κ {kappa}.")
    });
    let knee = sweep.knee.map(|knee| format!("Knee at {}.", knee.words()));
    let rises = sweep.rises.then(|| RISES.to_string());
    let said: Vec<String> =
        sweep.doubts().into_iter().chain(law).chain(knee).chain(rises).collect();
    if !said.is_empty() {
        line(out, &format!("{}\n", said.join(" ")));
    }
    for sentence in sweep.outcome() {
        line(out, &format!("{sentence}\n"));
    }
}

/// What each of several rates cost; the first line is the use at no load.
fn rates(out: &mut String, row: &Row, sweep: &Sweep, ladder: &Ladder) {
    line(out, &format!("### {} by rate\n", text(&row.target.to_string())));
    let rows: Vec<Vec<String>> =
        RateCells::all(sweep, ladder).map(|cells| cells.0.to_vec()).collect();
    table(out, 0, &RateCells::TITLES, &rows);
    line(out, &format!("{}\n", ladder.words()));
}

fn phases(out: &mut String, row: &Row) {
    if row.phases.is_empty() {
        return;
    }
    line(out, &format!("### {} by phase\n", text(&row.target.to_string())));
    let rows: Vec<Vec<String>> = row
        .phases
        .iter()
        .map(|phase| {
            vec![
                phase.name.replace('_', " "),
                words::whole(phase.connections.peak),
                words::whole(phase.requests.completed),
                words::whole(phase.requests.good),
                words::count(phase.goodput_per_s),
                words::ns(phase.connect.p99_ns),
                words::ns(phase.headers.p50_ns),
                words::ns(phase.headers.p99_ns),
                words::whole(phase.errors.values().sum()),
            ]
        })
        .collect();
    table(
        out,
        1,
        &[
            "phase",
            "peak",
            "answers",
            "right",
            "right/s",
            "connect p99",
            "headers p50",
            "headers p99",
            "errors",
        ],
        &rows,
    );
}

/// The stages of a load that changes by plan.
fn stages(out: &mut String, row: &Row) {
    if row.stages.is_empty() {
        return;
    }
    line(out, &format!("### {} by stage\n", text(&row.target.to_string())));
    let rows: Vec<Vec<String>> = row.stages.iter().map(|stage| stage.cells().to_vec()).collect();
    table(out, 1, &StageRow::TITLES, &rows);
}

fn walks(out: &mut String, row: &Row) {
    if row.scenario.is_empty() {
        return;
    }
    if !row.mix.is_empty() {
        line(out, &format!("### {} by scenario\n", text(&row.target.to_string())));
        let cells = |way: &WayView| way.cells().iter().map(|cell| text(cell)).collect();
        let rows: Vec<Vec<String>> = row.mix.iter().map(cells).collect();
        table(out, 1, &WayView::TITLES, &rows);
    }
    line(out, &format!("### {} by step\n", text(&row.target.to_string())));
    let rows: Vec<Vec<String>> = row
        .scenario
        .iter()
        .chain(&row.followed)
        .map(|step| {
            vec![
                text(&step.title()),
                words::whole(step.requests),
                words::whole(step.errors_total()),
                words::ns(step.response_time.p50_ns),
                words::ns(step.response_time.p99_ns),
            ]
        })
        .collect();
    table(out, 1, &["step", "requests", "errors", "p50", "p99"], &rows);
}

fn explanations(out: &mut String, view: &View) {
    let told: Vec<String> = view
        .rows
        .iter()
        .filter_map(|row| {
            Some(format!("- {}: {}", text(&row.target.to_string()), text(&row.explained()?)))
        })
        .collect();
    if told.is_empty() {
        return;
    }
    line(out, "<details><summary>What the figures say</summary>\n");
    told.iter().for_each(|told| line(out, told));
    line(out, "\n</details>\n");
}

/// The other columns, folded.
fn other_columns_published(out: &mut String, of: &PublishedTable) {
    let Some((titles, rows)) = of.other_columns() else { return };
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| text(cell)).collect()).collect();
    line(out, "<details><summary>The other published columns, and yours</summary>\n");
    table(out, 2, &titles, &rows);
    line(out, "</details>\n");
}

fn published(out: &mut String, view: &View) {
    let Some(published) = &view.published else { return };
    line(out, "### Beside the published figures\n");
    let over = published.reference_name.as_deref().unwrap_or("reference");
    let (published_over, own_over) = (format!("published ÷ {over}"), format!("here ÷ {over}"));
    let rows: Vec<Vec<String>> = published
        .rows
        .iter()
        .map(|row| {
            let target =
                row.target.as_ref().map_or_else(|| words::UNKNOWN.into(), ToString::to_string);
            let figure = row.published_word.clone().unwrap_or_else(|| words::count(row.published));
            vec![
                text(&row.name),
                text(&target),
                text(&figure),
                words::ratio(row.published_ratio),
                words::count(row.own),
                words::ratio(row.own_ratio),
            ]
        })
        .collect();
    table(out, 2, &["name", "target", "published", &published_over, "here", &own_over], &rows);
    other_columns_published(out, published);
    for note in published
        .notes
        .iter()
        .map(|note| format!("published: {note}"))
        .chain(published.differs.iter().cloned())
    {
        line(out, &format!("- {}", text(&note)));
    }
    line(out, "");
}
