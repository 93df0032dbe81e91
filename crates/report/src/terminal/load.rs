//! Loads of a URL: response times first, because users ask for them first, then all other counts.
use pippin_model::load::tls::Negotiated;
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::result::closes::Closes;
use pippin_model::result::histogram::Summary;
use pippin_model::text::units::{counted, format_bytes, format_count, format_ns};
use pippin_model::verdict::{Caveat, Severity};
use pippin_stats::judge::held;
use std::cmp::Reverse;
use std::fmt::Write as _;

use super::grid::Grid;
use super::{Page, histogram, remarks, steps, walks};
use crate::view::View;
use crate::view::load::{LoadView, ServerView};
use crate::view::row::Row;
use crate::words::{self, whole};

/// Writes one load in full, or several as one table. Returns whether there was any.
pub fn write(page: &mut Page, view: &View) -> bool {
    match view.loads.as_slice() {
        [] => return false,
        [one] => write_one(page, one, view.rows.first()),
        several => write_several(page, view, several),
    }
    true
}

fn write_one(page: &mut Page, load: &LoadView, row: Option<&Row>) {
    let title = page.paint.bold(&load.title);
    page.line(&format!("{title}  {}", load_in_words(load)));
    page.line("");
    write_rate(page, load);
    write_response_times(page, &load.response_time, row);
    walks::write(page, &load.scenario);
    walks::write_paths(page, &load.by_request);
    write_errors(page, load);
    write_log(page, load);
    write_verdict(page, load);
    let out = &mut page.out;
    write_measured(load, out);
    write_counts(load, out);
    write_tls(load, out);
    write_websocket(load, out);
    line(out, "");
    write_spans(load, out);
    write_phases(load, out);
}

/// The steps of a sweep or a search, or the repetitions, as one table with a line for each.
fn write_several(page: &mut Page, view: &View, loads: &[LoadView]) {
    let title = page.paint.bold(&loads[0].title);
    page.line(&format!("{title}  {}", view.run.load));
    if loads.iter().any(|load| load.step.is_some()) {
        steps::write(page, view);
    } else {
        write_repetitions(page, loads);
        if let Some(row) = view.rows.first() {
            write_median(page, row);
            write_response_times(page, &row.spans.response_time, Some(row));
        }
    }
    remarks::doubts(page, view);
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

fn write_median(page: &mut Page, row: &Row) {
    let Some(figure) = row.goodput_per_s else { return };
    let interval = figure.interval.map_or(String::new(), |interval| {
        format!(
            ", 95 % interval {} … {}",
            words::count(Some(interval.low)),
            words::count(Some(interval.high))
        )
    });
    page.line("");
    page.line(&format!("Median       {} requests/s{interval}", words::count(Some(figure.median))));
}

fn write_rate(page: &mut Page, load: &LoadView) {
    let answers = match (load.goodput_per_s, load.throughput_per_s) {
        (right, all) if right == all => String::new(),
        (_, all) => format!(" with the right answer ({} with any)", words::count(all)),
    };
    let rate = page.paint.bold(&words::count(load.goodput_per_s));
    let what = if load.websocket.is_some() { "Messages/s" } else { "Requests/s" };
    page.line(&format!("{what}   {rate}{answers}"));
}

/// Quantiles, and beside them the distribution.
fn write_response_times(page: &mut Page, times: &Summary, row: Option<&Row>) {
    let named = [
        ("50 %", times.p50_ns),
        ("75 %", times.p75_ns),
        ("90 %", times.p90_ns),
        ("95 %", times.p95_ns),
        ("99 %", times.p99_ns),
        ("99.9 %", times.p999_ns),
        ("100 %", times.max_ns),
    ];
    if times.count == 0 {
        return;
    }
    let bars = row.map(|row| histogram::bars(&row.response_bins)).unwrap_or_default();
    let widest = bars.iter().map(|bar| bar.fraction).fold(0.0, f64::max);
    let mut grid =
        Grid::default().left("Response time within").right("").right("from").left("").right("");
    for place in 0..named.len().max(bars.len()) {
        let mut cells = match named.get(place) {
            Some((name, ns)) => vec![format!("  {name} of requests"), words::ns(*ns)],
            None => vec![String::new(); 2],
        };
        if let Some(bar) = bars.get(place) {
            let drawn = page.paint.bar(&histogram::drawn(bar.fraction / widest));
            cells.extend([words::ns_f(Some(bar.from_ns)), drawn, words::percent(bar.fraction)]);
        }
        grid.row(cells);
    }
    grid.write(page, 0);
}

fn write_measured(load: &LoadView, out: &mut String) {
    let c = &load.connections;
    line(out, "");
    line(
        out,
        &format!(
            "Measured     {}, {}, {} of {}, {}",
            if load.duration_ns < 1_000_000_000 {
                format_ns(load.duration_ns)
            } else {
                format!("{:.2} s", load.duration_ns as f64 / 1e9)
            },
            counted(load.threads.into(), "thread"),
            c.peak,
            counted(c.asked, "connection"),
            load.io
        ),
    );
    if load.warm_up.duration_ns > 0 {
        let steady = match load.warm_up.steady {
            Some(true) => ", then steady",
            Some(false) => ", still trending at its bound",
            None => "",
        };
        line(
            out,
            &format!(
                "             after a warm-up of {} ({}{steady})",
                format_ns(load.warm_up.duration_ns),
                counted(load.warm_up.completed, "request")
            ),
        );
        // No other figure counts them, and the load may go on as it began.
        let wrong: Vec<String> = (load.warm_up.errors.iter())
            .map(|(kind, count)| format!("{}: {count}", kind.name()))
            .collect();
        if !wrong.is_empty() {
            line(out, &format!("             errors in the warm-up: {}", wrong.join(", ")));
        }
    }
}

fn load_in_words(load: &LoadView) -> String {
    let profile = load.profile.at(load.step);
    let streams = match profile.connections.streams {
        1 => String::new(),
        count => format!(" with {count} streams each"),
    };
    let amount = profile.loop_and_amount();
    format!("{amount}{streams}, {}", load.protocol.name())
}

fn write_counts(load: &LoadView, out: &mut String) {
    let seconds = load.duration_ns as f64 / 1e9;
    let r = &load.requests;
    line(
        out,
        &format!(
            "Requests     {} scheduled = {} sent + {} unsent; sent = {} completed + {} failed + {} censored",
            whole(r.scheduled),
            whole(r.sent),
            whole(r.unsent),
            whole(r.completed),
            whole(r.failed),
            whole(r.censored)
        ),
    );
    if r.sent_again > 0 {
        let times = counted(r.sent_again, "time");
        line(out, &format!("             {times} sent again, as the server had not read it"));
    }
    write_status(load, out);
    let per_second = |bytes: u64| {
        if seconds > 0.0 { format_bytes((bytes as f64 / seconds) as u64) } else { "-".into() }
    };
    line(
        out,
        &format!(
            "Transfer/s   {} in, {} out",
            per_second(load.bytes.received),
            per_second(load.bytes.sent)
        ),
    );
    let per_answer =
        load.overhead_per_answer_bytes.map_or("-".into(), |bytes| format!("{bytes:.0} B"));
    line(
        out,
        &format!(
            "Bytes        {} in, {} out, {} of bodies, {per_answer} around each body",
            whole(load.bytes.received),
            whole(load.bytes.sent),
            whole(load.bytes.body)
        ),
    );
    let cpu = load.generator.cpu_per_request_ns.map_or("-".into(), |ns| format_ns(ns as u64));
    line(
        out,
        &format!(
            "Generator    {cpu} of CPU a request, {}",
            load.generator.max_rss_bytes.map_or("-".into(), format_bytes)
        ),
    );
    write_server(load, out);
    write_connections(load, out);
}

fn write_connections(load: &LoadView, out: &mut String) {
    let c = &load.connections;
    let mut title = "Connections";
    if let Some(with_target) = load.connections_with_target {
        let streams = load.profile.connections.streams;
        let carrier = if streams > 1 { "stream" } else { "connection" };
        let users = c.asked as f64 * f64::from(streams);
        let seen = held::in_words(users, carrier, with_target);
        line(out, &format!("{title}  {seen}"));
        title = "";
    }
    if c.reconnects + c.closed_by_server > 0 {
        line(
            out,
            &format!(
                "{title:<11}  {} opened, {} of them before measuring, {} closed by the server{}, {} reconnects",
                whole(c.opened),
                whole(c.opened_before),
                whole(c.closed_by_server),
                closed_when(&load.closes),
                whole(c.reconnects)
            ),
        );
    }
}

/// When the server closed its connections, if all of them had that in common.
fn closed_when(closes: &Closes) -> &'static str {
    match closes.requests_range() {
        Some((_, 0)) => " before any answer",
        Some((1.., _)) => " after a complete answer",
        Some(_) | None => "",
    }
}

/// Messages over WebSocket have no status.
fn write_status(load: &LoadView, out: &mut String) {
    if load.websocket.is_some() {
        return;
    }
    let codes = load.status.codes.iter();
    let codes: Vec<String> =
        codes.map(|(code, count)| format!("{code}: {}", whole(*count))).collect();
    let codes = if codes.is_empty() { "no answer".into() } else { codes.join(", ") };
    line(out, &format!("Status       {codes}"));
    if let Some(place) = &load.redirected_to {
        line(out, &format!("             the first redirection leads to {place}"));
    }
}

fn write_websocket(load: &LoadView, out: &mut String) {
    let Some(seen) = &load.websocket else { return };
    let WebSocketUse { pings, unasked, receivers, lost, close_codes, failures } = seen;
    if let Some(receivers) = receivers {
        write_broadcast(load, u64::from(*receivers), *lost, out);
    }
    if *pings > 0 {
        line(out, &format!("WebSocket    {} of the server answered", counted(*pings, "ping")));
    }
    if *unasked > 0 {
        let messages = counted(*unasked, "message");
        line(out, &format!("WebSocket    {messages} came that nobody waited for"));
    }
    for (code, count) in close_codes {
        let code = if *code == 1005 { "no code".into() } else { format!("code {code}") };
        let times = counted(*count, "time");
        line(out, &format!("WebSocket    closed by the server with {code}, {times}"));
    }
    for (reason, count) in failures {
        line(out, &format!("WebSocket    {count} failed: {reason}"));
    }
}

/// Writes the times of copies: the head of an answer is the first copy, its body is the others.
fn write_broadcast(load: &LoadView, receivers: u64, lost: u64, out: &mut String) {
    let median = |span: &Summary| words::ns(span.p50_ns);
    let lost = if lost == 0 { String::new() } else { format!(", {} lost", words::whole(lost)) };
    line(
        out,
        &format!(
            "Broadcast    each message to {}: the first has it after {}, the last after {} (medians){lost}",
            counted(receivers, "connection"),
            median(&load.headers),
            median(&load.service_time),
        ),
    );
}

fn write_server(load: &LoadView, out: &mut String) {
    let Some(server) = &load.server else { return };
    if let Some(reason) = &server.unmeasured {
        line(out, &format!("Server       not measured: {reason}"));
        return;
    }
    let names: Vec<String> =
        server.processes.iter().map(|one| format!("{} (process {})", one.name, one.pid)).collect();
    let mut parts = vec![names.join(", ")];
    parts.extend(server.cpu_per_request_ns.map(|ns| {
        let cores = server.cores.map_or(String::new(), |cores| format!(" ({cores:.2} processors)"));
        format!("{} of CPU a request{cores}", format_ns(ns as u64))
    }));
    parts.extend(server.max_memory_bytes.map(format_bytes));
    line(out, &format!("Server       {}", parts.join(", ")));
    write_tiers(server, out);
    if let Some(unseen_ns) = server.unseen_ns {
        let seen_ns = load.duration_ns.saturating_sub(unseen_ns);
        let (seen, whole) = (format_ns(seen_ns), format_ns(load.duration_ns));
        line(out, &format!("             its processor time is that of {seen} of {whole}"));
    }
}

/// A line for each tier, the one that was loaded first.
fn write_tiers(server: &ServerView, out: &mut String) {
    let width = server.tiers.iter().map(|tier| tier.name.chars().count()).max().unwrap_or(0);
    for tier in &server.tiers {
        let mut parts = vec![tier.cores.map_or("-".into(), |it| format!("{it:.2} processors"))];
        parts.extend(
            tier.cpu_per_request_ns
                .map(|ns| format!("{} of CPU per request", format_ns(ns as u64))),
        );
        parts.extend(tier.max_memory_bytes.map(format_bytes));
        parts.extend(tier.processes.map(|number| match number {
            1 => "1 process".into(),
            number => format!("{number} processes"),
        }));
        line(out, &format!("             {:<width$}  {}", tier.name, parts.join(", ")));
    }
}

fn write_tls(load: &LoadView, out: &mut String) {
    let Some(tls) = &load.tls_sessions else { return };
    for Negotiated { version, cipher_suite, key_exchange, alpn, handshakes, resumed } in
        &tls.negotiated
    {
        let group = key_exchange.as_deref().unwrap_or("no key exchange");
        let alpn = alpn.as_deref().unwrap_or("no ALPN");
        line(
            out,
            &format!(
                "TLS          {version}, {cipher_suite}, {group}, {alpn}: {}, {resumed} of them resumed",
                counted(*handshakes, "handshake")
            ),
        );
    }
    if !tls.verified {
        line(out, "             the server's certificate was not verified");
    }
    for (reason, count) in &tls.failures {
        line(out, &format!("             {count} failed: {reason}"));
    }
}

fn write_spans(load: &LoadView, out: &mut String) {
    line(
        out,
        &format!(
            "{:<14}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "", "min", "mean", "+/-sd", "median", "p99", "max"
        ),
    );
    let spans = [
        ("connect", &load.connect),
        ("headers", &load.headers),
        ("body", &load.body),
        ("service time", &load.service_time),
        ("response time", &load.response_time),
        ("send lag", &load.send_lag),
        ("pick-up lag", &load.pick_up_lag),
    ];
    let tls = load.tls.iter().map(|span| ("tls", span));
    let upgrade = load.upgrade.iter().map(|span| ("upgrade", span));
    let handshakes = tls.chain(upgrade);
    let spans = spans[..1].iter().copied().chain(handshakes).chain(spans[1..].iter().copied());
    for (name, span) in spans.filter(|(_, span)| span.count > 0) {
        let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
        let f = |value: Option<f64>| ns(value.map(|v| v.round() as u64));
        line(
            out,
            &format!(
                "{name:<14}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
                ns(span.min_ns),
                f(span.mean_ns),
                f(span.stdev_ns),
                ns(span.p50_ns),
                ns(span.p99_ns),
                ns(span.max_ns)
            ),
        );
    }
}

fn write_phases(load: &LoadView, out: &mut String) {
    if load.phases.is_empty() {
        return;
    }
    line(out, "");
    line(
        out,
        &format!(
            "{:<10}{:>8}{:>12}{:>12}{:>10}{:>12}{:>12}{:>12}{:>10}",
            "phase",
            "s",
            "answers",
            "right",
            "right/s",
            "connect p99",
            "headers p50",
            "headers p99",
            "errors"
        ),
    );
    for phase in &load.phases {
        let ns = |value: Option<u64>| value.map_or("-".into(), format_ns);
        line(
            out,
            &format!(
                "{:<10}{:>8.1}{:>12}{:>12}{:>10}{:>12}{:>12}{:>12}{:>10}",
                phase.name,
                phase.duration_ns as f64 / 1e9,
                whole(phase.requests.completed),
                whole(phase.requests.good),
                phase.goodput_per_s.map_or("-".into(), format_count),
                ns(phase.connect.p99_ns),
                ns(phase.headers.p50_ns),
                ns(phase.headers.p99_ns),
                phase.errors.values().sum::<u64>()
            ),
        );
    }
}

/// How many errors of each kind there were, and what the first of each looked like.
fn write_errors(page: &mut Page, load: &LoadView) {
    if load.errors.is_empty() {
        return;
    }
    let kinds: Vec<String> =
        load.errors.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    page.line(&format!("Errors       {}", kinds.join(", ")));
    for (kind, first) in &load.firsts {
        page.paragraph("  first      ", &format!("{}: {}", kind.name(), first.in_words()));
    }
}

/// What a server said before it ended.
fn write_log(page: &mut Page, load: &LoadView) {
    let last = load.log_tail.iter().rev().find(|line| !line.trim().is_empty());
    if let Some(line) = last {
        page.paragraph("Log          ", &format!("the server's last line: {}", line.trim()));
    }
}

fn write_verdict(page: &mut Page, load: &LoadView) {
    let verdict = page.paint.verdict(load.verdict, &load.verdict.to_string());
    let interrupted = if load.interrupted { " (interrupted)" } else { "" };
    page.line(&format!("Verdict      {verdict}{interrupted}"));
    let mut caveats: Vec<&Caveat> = load.caveats.iter().collect();
    caveats.sort_by_key(|caveat| Reverse(caveat.severity));
    for caveat in caveats {
        let mark = format!("  {:<8}", remarks::called(caveat.severity));
        let mark = page.paint.severity(caveat.severity, &mark);
        page.paragraph(&mark, &format!("{}: {}", caveat.name(), caveat.evidence));
        if caveat.severity > Severity::Note && !caveat.advice.is_empty() {
            page.paragraph("          → ", &caveat.advice);
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{}", text.trim_end());
}
