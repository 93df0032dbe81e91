//! What `-v` adds to a load of a URL: every count, what server and generator used, connections,
//! time spans.
use pippin_model::host::usage::Runtime;
use pippin_model::load::network::NetworkUse;
use pippin_model::load::tls::Negotiated;
use pippin_model::load::websocket::WebSocketUse;
use pippin_model::result::QuicUse;
use pippin_model::result::closes::Closes;
use pippin_model::schedule::users;
use pippin_model::text::units::{counted, format_bytes, format_ns};
use pippin_stats::judge::held;

use super::Page;
use super::grid::Grid;
use crate::view::load::{LoadView, ServerView};
use crate::words::{self, whole};

pub fn write(page: &mut Page, load: &LoadView) {
    page.line("");
    measured(page, load);
    requests(page, load);
    bytes(page, load);
    stamps(page, load);
    generator(page, load);
    proxy(page, load);
    server(page, load);
    connections(page, load);
    tls(page, load);
    websocket(page, load);
    network(page, load);
    quic(page, load);
    spans(page, load);
}

fn measured(page: &mut Page, load: &LoadView) {
    let length = if load.duration_ns < 1_000_000_000 {
        format_ns(load.duration_ns)
    } else {
        format!("{:.2} s", load.duration_ns as f64 / 1e9)
    };
    let connections = &load.connections;
    let threads = counted(load.threads.into(), "thread");
    let asked = counted(connections.asked, "connection");
    page.field(
        "Measured",
        &format!("{length}, {threads}, {} of {asked}, {}", connections.peak, load.io),
    );
    if load.warm_up.duration_ns > 0 {
        let steady = match load.warm_up.steady {
            Some(true) => ", then steady",
            Some(false) => ", still trending at its bound",
            None => "",
        };
        let (length, requests) =
            (format_ns(load.warm_up.duration_ns), counted(load.warm_up.completed, "request"));
        page.field("", &format!("after a warm-up of {length} ({requests}{steady})"));
    }
}

fn requests(page: &mut Page, load: &LoadView) {
    if load.goodput_per_s != load.throughput_per_s {
        let (right, all) = (words::count(load.goodput_per_s), words::count(load.throughput_per_s));
        page.field("Answers/s", &format!("{right} right, {all} with any answer"));
    }
    let r = &load.requests;
    page.field(
        "Requests",
        &format!(
            "{} scheduled = {} sent + {} unsent; sent = {} completed + {} failed + {} censored",
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
        page.field("", &format!("{times} sent again, as the server had not read it"));
    }
}

fn bytes(page: &mut Page, load: &LoadView) {
    let seconds = load.duration_ns as f64 / 1e9;
    let per_second = |bytes: u64| {
        if seconds > 0.0 { format_bytes((bytes as f64 / seconds) as u64) } else { "-".into() }
    };
    let (received, sent) = (load.bytes.received, load.bytes.sent);
    page.field("Transfer/s", &format!("{} in, {} out", per_second(received), per_second(sent)));
    let per_answer =
        load.overhead_per_answer_bytes.map_or("-".into(), |bytes| format!("{bytes:.0} B"));
    page.field(
        "Bytes",
        &format!(
            "{} in, {} out, {} of bodies, {per_answer} around each body",
            whole(received),
            whole(sent),
            whole(load.bytes.body)
        ),
    );
}

/// Which clock timed the answers, and how many times are bounds.
fn stamps(page: &mut Page, load: &LoadView) {
    let Some(name) = &load.stamps else { return };
    let counts = &load.stamp_counts;
    let bounds: Vec<String> = [
        (counts.shared, "with the stamp of a later answer"),
        (counts.with_end, "with the end of their connection"),
        (counts.early, "before their estimated sending"),
        (counts.impossible, "sooner than any answer can"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} came {what}", whole(*count)))
    .collect();
    let sampled = if counts.sampled == 0 {
        String::new()
    } else {
        let off = whole(counts.sampled_off);
        format!(
            "; of {} sampled sends, {off} left more than 5 µs from their estimate",
            whole(counts.sampled)
        )
    };
    let bounds = if bounds.is_empty() { String::new() } else { format!("; {}", bounds.join(", ")) };
    page.field("Stamps", &format!("{name}{bounds}{sampled}"));
}

fn generator(page: &mut Page, load: &LoadView) {
    let used = &load.generator;
    let cpu = words::ns_f(used.cpu_per_request_ns);
    let threads = words::ns_f(used.threads_cpu_per_request_ns);
    let memory = words::bytes(used.max_rss_bytes);
    let text = format!("{cpu} of CPU per request (its load threads {threads}), {memory}");
    page.field("Generator", &text);
}

fn proxy(page: &mut Page, load: &LoadView) {
    let Some(proxy) = &load.proxy else { return };
    let how = match &proxy.tunnel {
        Some(to) => format!("a tunnel to {to} for each connection"),
        None => "it reads each request".into(),
    };
    page.field("Proxy", &format!("{}: {how}", proxy.authority));
    if load.server.as_ref().is_some_and(|server| server.unmeasured.is_none()) {
        page.field(
            "",
            "the processes that listen there are measured, unless --target-pid named others",
        );
    }
}

fn server(page: &mut Page, load: &LoadView) {
    let Some(server) = &load.server else { return };
    if let Some(reason) = &server.unmeasured {
        return page.field("Server", &format!("not measured: {reason}"));
    }
    let names: Vec<String> =
        server.processes.iter().map(|one| format!("{} (process {})", one.name, one.pid)).collect();
    let mut parts = vec![names.join(", ")];
    parts.extend(server.cpu_per_request_ns.map(|ns| {
        let cores = server.cores.map_or(String::new(), |cores| format!(" ({cores:.2} processors)"));
        format!("{} of CPU per request{cores}", words::ns_f(Some(ns)))
    }));
    parts.extend(server.max_memory_bytes.map(format_bytes));
    page.field("Server", &parts.join(", "));
    if !server.runtimes.is_empty() {
        page.field("", &format!("runtime: {}", Runtime::listed(&server.runtimes)));
    }
    tiers(page, server);
    if let Some(unseen_ns) = server.unseen_ns {
        let seen_ns = load.duration_ns.saturating_sub(unseen_ns);
        let (seen, whole) = (format_ns(seen_ns), format_ns(load.duration_ns));
        page.field("", &format!("its processor time is that of {seen} of {whole}"));
    }
}

/// A line for each tier, the one that was loaded first.
fn tiers(page: &mut Page, server: &ServerView) {
    for tier in &server.tiers {
        let mut parts = vec![tier.cores.map_or("-".into(), |it| format!("{it:.2} processors"))];
        parts.extend(
            tier.cpu_per_request_ns
                .map(|ns| format!("{} of CPU per request", words::ns_f(Some(ns)))),
        );
        parts.extend(tier.max_memory_bytes.map(format_bytes));
        parts.extend(tier.processes.map(|number| match number {
            1 => "1 process".into(),
            number => format!("{number} processes"),
        }));
        page.field("", &format!("{}: {}", tier.name, parts.join(", ")));
    }
}

fn connections(page: &mut Page, load: &LoadView) {
    let c = &load.connections;
    let mut title = "Connections";
    if let Some(with_target) = load.connections_with_target {
        let streams = load.profile.connections.streams;
        let carrier = if streams > 1 { "stream" } else { "connection" };
        let asked = c.asked as f64 * f64::from(streams);
        let users = load.profile.schedule.user_stages().map_or(asked, users::mean);
        page.field(title, &held::in_words(users, carrier, with_target));
        title = "";
    }
    if c.reconnects + c.closed_by_server > 0 {
        page.field(
            title,
            &format!(
                "{} opened, {} of them before measuring, {} closed by the server{}, {} reconnects",
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

fn tls(page: &mut Page, load: &LoadView) {
    let Some(tls) = &load.tls_sessions else { return };
    for Negotiated { version, cipher_suite, key_exchange, alpn, handshakes, resumed } in
        &tls.negotiated
    {
        let group = key_exchange.as_deref().unwrap_or("no key exchange");
        let alpn = alpn.as_deref().unwrap_or("no ALPN");
        let handshakes = counted(*handshakes, "handshake");
        page.field(
            "TLS",
            &format!(
                "{version}, {cipher_suite}, {group}, {alpn}: {handshakes}, {resumed} of them resumed"
            ),
        );
    }
    if !tls.verified {
        page.field("", "the server's certificate was not verified");
    }
}

fn websocket(page: &mut Page, load: &LoadView) {
    // What is part of the answer stands with the statuses of other loads.
    let Some(seen) = &load.websocket else { return };
    let WebSocketUse { pings, unasked, close_codes, receivers: _, lost: _, failures: _ } = seen;
    if *pings > 0 {
        page.field("WebSocket", &format!("{} of the server answered", counted(*pings, "ping")));
    }
    if *unasked > 0 {
        let messages = counted(*unasked, "message");
        page.field("WebSocket", &format!("{messages} came that nobody waited for"));
    }
    for (code, count) in close_codes {
        let code = if *code == 1005 { "no code".into() } else { format!("code {code}") };
        let times = counted(*count, "time");
        page.field("WebSocket", &format!("closed by the server with {code}, {times}"));
    }
}

fn network(page: &mut Page, load: &LoadView) {
    let Some(NetworkUse { packets, lost }) = load.network else { return };
    let text = format!("simulated: {}, {} of them lost", counted(packets, "packet"), whole(lost));
    page.field("Network", &text);
}

fn quic(page: &mut Page, load: &LoadView) {
    let Some(QuicUse { sent, received, lost }) = load.quic else { return };
    let lost = match lost {
        0 => "none of ours was lost".into(),
        some => format!("{} of ours lost and sent again", counted(some, "packet")),
    };
    let text = format!("{} sent, {} received, {lost}", counted(sent, "datagram"), whole(received));
    page.field("QUIC", &text);
}

fn spans(page: &mut Page, load: &LoadView) {
    page.line("");
    let mut grid = Grid::default().left("Time span");
    for title in ["min", "mean", "+/-sd", "median", "p99", "max"] {
        grid = grid.right(title);
    }
    let spans = [
        ("headers", &load.headers),
        ("body", &load.body),
        ("service time", &load.service_time),
        ("response time", &load.response_time),
        ("send lag", &load.send_lag),
        ("own lag", &load.own_lag),
        ("pick-up lag", &load.pick_up_lag),
    ];
    let opening = [
        ("connect", Some(&load.connect)),
        ("tunnel", load.tunnel.as_ref()),
        ("tls", load.tls.as_ref()),
        ("upgrade", load.upgrade.as_ref()),
    ];
    let opening = opening.into_iter().filter_map(|(name, span)| Some((name, span?)));
    for (name, span) in opening.chain(spans).filter(|(_, span)| span.count > 0) {
        grid.row(vec![
            name.into(),
            words::ns(span.min_ns),
            words::ns_f(span.mean_ns),
            words::ns_f(span.stdev_ns),
            words::ns(span.p50_ns),
            words::ns(span.p99_ns),
            words::ns(span.max_ns),
        ]);
    }
    grid.write(page, 0);
}
