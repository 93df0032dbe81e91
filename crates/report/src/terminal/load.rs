//! Loads of a URL: the answer first and last, between them the response times and what went wrong.
//! Everything else stands in [`details`](super::details).
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::result::histogram::Summary;
use pippin_model::text::units::counted;
use pippin_model::verdict::{Caveat, Severity};
use std::cmp::Reverse;

use super::grid::Grid;
use super::{Page, agents, details, headline, histogram, paint, remarks, slowest, steps, walks};
use crate::view::View;
use crate::view::answer;
use crate::view::load::LoadView;
use crate::view::row::Row;
use crate::words::{self, whole};

/// Writes one load in full, or several as one table.
pub fn write(page: &mut Page, view: &View) {
    write_answer(page, view);
    page.line("");
    match (view.loads.as_slice(), view.rows.first()) {
        ([one], Some(row)) if one.step.is_none() => write_one(page, view, one, row),
        (several, row) => write_several(page, view, several, row),
    }
    agents::write(page, view);
    if page.style.verbose {
        remarks::explanations(page, view);
    } else {
        let more = "Everything else that was counted: -v, or a page with charts: --html FILE.";
        page.line("");
        for line in paint::wrap(more, page.style.width) {
            let line = page.paint.dim(&line);
            page.line(&line);
        }
    }
    page.line("");
    write_answer(page, view);
}

/// The figures, and whether to believe them.
fn write_answer(page: &mut Page, view: &View) {
    page.bold_lines(&paint::wrap_parts(&answer::parts(view), page.style.width));
    page.trust(view);
}

fn write_one(page: &mut Page, view: &View, load: &LoadView, row: &Row) {
    write_title(page, load, &load_in_words(load));
    headline::labels(page, &view.run.labels);
    walks::write(page, &load.scenario, (&load.mix, load.followed.as_ref()));
    write_response_times(page, &load.response_time, row);
    walks::write_paths(page, &load.by_request);
    slowest::write(page, &load.slowest);
    steps::write(page, view);
    page.line("");
    write_status(page, load);
    write_errors(page, load);
    write_log(page, load);
    write_doubts(page, load);
    if page.style.verbose {
        details::write(page, load);
    }
}

/// The steps of a sweep or a search, or the repetitions, as one table with a line for each.
fn write_several(page: &mut Page, view: &View, loads: &[LoadView], row: Option<&Row>) {
    if let Some(first) = loads.first() {
        write_title(page, first, &view.run.load);
        headline::labels(page, &view.run.labels);
    }
    if loads.iter().any(|load| load.step.is_some()) {
        steps::write(page, view);
    } else {
        write_repetitions(page, loads);
        steps::stages(page, view);
        if let Some(row) = row {
            walks::write(page, &row.scenario, (&row.mix, row.followed.as_ref()));
            write_response_times(page, &row.spans.response_time, row);
        }
    }
    remarks::doubts(page, view);
}

fn write_title(page: &mut Page, load: &LoadView, how: &str) {
    let title = page.paint.bold(&load.title);
    page.paragraph("", &format!("{title} · {how}"));
}

fn load_in_words(load: &LoadView) -> String {
    let profile = load.profile.at(load.step);
    let streams = match profile.connections.streams {
        1 => String::new(),
        count => format!(" with {count} streams each"),
    };
    let amount = profile.loop_and_amount();
    let through =
        profile.network.map_or_else(String::new, |it| format!(", through {}", it.in_words()));
    format!("{amount}{streams}, {}{through}", load.protocol.name())
}

fn write_repetitions(page: &mut Page, loads: &[LoadView]) {
    page.line("");
    let mut grid = Grid::default();
    for title in ["repetition", "requests/s", "p50", "p99", "max", "errors"] {
        grid = grid.right(title);
    }
    grid = grid.left("verdict");
    for (place, load) in loads.iter().enumerate() {
        let times = &load.response_time;
        grid.row(vec![
            (place + 1).to_string(),
            words::count(load.goodput_per_s),
            words::ns(times.p50_ns),
            words::ns(times.p99_ns),
            words::ns(times.max_ns),
            words::whole(load.errors.values().sum()),
            page.paint.verdict(load.verdict, &load.verdict.to_string()),
        ]);
    }
    grid.write(page, 0);
}

/// The quantiles, and below them the distribution.
fn write_response_times(page: &mut Page, times: &Summary, row: &Row) {
    if times.count == 0 {
        return;
    }
    page.line("");
    let mut grid = Grid::default().left("Response time within").right("");
    for (name, ns) in [
        ("50 %", times.p50_ns),
        ("75 %", times.p75_ns),
        ("90 %", times.p90_ns),
        ("95 %", times.p95_ns),
        ("99 %", times.p99_ns),
        ("99.9 %", times.p999_ns),
        ("100 %", times.max_ns),
    ] {
        grid.row(vec![format!("  {name} of requests"), words::ns(ns)]);
    }
    grid.write(page, 0);
    write_distribution(page, row);
}

/// How many requests took how long, as bars.
fn write_distribution(page: &mut Page, row: &Row) {
    /// What stands beside a bar: a time, a share, blanks.
    const BESIDE: usize = 30;
    let bars = histogram::bars(&row.response_bins);
    if bars.len() < 2 {
        return;
    }
    let widest = bars.iter().map(|bar| bar.fraction).fold(0.0, f64::max);
    let room = page.style.width.saturating_sub(BESIDE).min(histogram::WIDTH);
    let mut grid = Grid::default().left("Response time from").right("requests").left("");
    for bar in &bars {
        grid.row(vec![
            format!("  {:>10}", words::ns_f(Some(bar.from_ns))),
            words::percent(bar.fraction),
            page.paint.bar(&histogram::drawn(bar.fraction / widest, room)),
        ]);
    }
    page.line("");
    grid.write(page, 0);
}

/// The statuses, what redirections lead to, and what else of a protocol is part of the answer.
/// Messages over WebSocket have no status.
fn write_status(page: &mut Page, load: &LoadView) {
    if let Some(seen) = &load.websocket {
        return write_messages(page, load, seen);
    }
    let codes = load.status.codes.iter();
    let codes: Vec<String> =
        codes.map(|(code, count)| format!("{code}: {}", whole(*count))).collect();
    let codes = if codes.is_empty() { "no answer".into() } else { codes.join(", ") };
    page.field("Status", &codes);
    if let Some(place) = &load.redirected_to {
        page.field("", &format!("the first redirection leads to {place}"));
    }
}

/// The times of copies: the head of an answer is the first copy, its body is the others. And why
/// WebSockets could not be opened.
fn write_messages(page: &mut Page, load: &LoadView, seen: &WebSocketUse) {
    if let Some(receivers) = seen.receivers {
        let median = |span: &Summary| words::ns(span.p50_ns);
        let lost = match seen.lost {
            0 => String::new(),
            lost => format!(", {} lost", whole(lost)),
        };
        page.field(
            "Broadcast",
            &format!(
                "each message to {}: the first has it after {}, the last after {} (medians){lost}",
                counted(receivers.into(), "connection"),
                median(&load.headers),
                median(&load.service_time),
            ),
        );
    }
    for (reason, count) in &seen.failures {
        page.field("WebSocket", &format!("{count} failed: {reason}"));
    }
}

/// How many errors of each kind there were, and what the first of each looked like.
fn write_errors(page: &mut Page, load: &LoadView) {
    let kinds = |errors: &std::collections::BTreeMap<pippin_model::result::ErrorKind, u64>| {
        let each = errors.iter().map(|(kind, count)| format!("{} {}", kind.name(), whole(*count)));
        each.collect::<Vec<_>>().join(", ")
    };
    if !load.errors.is_empty() {
        page.field("Errors", &kinds(&load.errors));
    }
    for (kind, first) in &load.firsts {
        page.field("  first", &format!("{}: {}", kind.name(), first.in_words()));
    }
    // No other figure counts them, and the load may go on as it began.
    if !load.warm_up.errors.is_empty() {
        page.field("", &format!("errors in the warm-up: {}", kinds(&load.warm_up.errors)));
    }
    for (reason, count) in load.proxy.iter().flat_map(|proxy| &proxy.failures) {
        page.field("Proxy", &format!("{count} failed: {reason}"));
    }
    for (reason, count) in load.tls_sessions.iter().flat_map(|tls| &tls.failures) {
        page.field("TLS", &format!("{count} failed: {reason}"));
    }
}

/// What a server said before it ended.
fn write_log(page: &mut Page, load: &LoadView) {
    let last = load.log_tail.iter().rev().find(|line| !line.trim().is_empty());
    if let Some(line) = last {
        page.field("Log", &format!("the server's last line: {}", line.trim()));
    }
}

/// The doubts, the gravest first. A single one stands in the answer already; notes and the advice
/// of every doubt are details.
fn write_doubts(page: &mut Page, load: &LoadView) {
    let mut caveats: Vec<&Caveat> = load.caveats.iter().collect();
    caveats.sort_by_key(|caveat| Reverse(caveat.severity));
    let doubts = caveats.iter().filter(|caveat| caveat.severity > Severity::Note).count();
    if !page.style.verbose {
        caveats.truncate(if doubts > 1 { doubts } else { 0 });
    }
    if caveats.is_empty() {
        return;
    }
    page.field("Verdict", &page.paint.verdict(load.verdict, &load.verdict.to_string()));
    for caveat in caveats {
        let mark = format!("  {:<8}", remarks::called(caveat.severity));
        let mark = page.paint.severity(caveat.severity, &mark);
        page.paragraph(&mark, &format!("{}: {}", caveat.name(), caveat.evidence));
        if caveat.severity > Severity::Note && !caveat.advice.is_empty() {
            page.paragraph("          → ", &caveat.advice);
        }
    }
}
