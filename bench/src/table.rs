//! The table on the terminal.
use crate::peer::Tool;
use crate::scenario::{Scenario, Serving};
use crate::summary::Summary;

/// The output of `--list`.
pub fn print_lists(scenarios: &[Scenario], tools: &[Tool], missing: &[&str]) {
    println!("scenarios");
    for scenario in scenarios {
        println!("  {:<24} {}", scenario.name, scenario.about);
    }
    println!("tools");
    for tool in tools {
        println!("  {:<24} {}", tool.peer.name(), tool.program.display());
    }
    for name in missing {
        println!("  {name:<24} not installed");
    }
}

/// One scenario, with a row for each tool.
pub fn print_scenario(scenario: &Scenario, summaries: &[Summary]) {
    println!("\n{}: {}", scenario.name, scenario.about);
    let to_reference = format!("to {}", scenario.reference());
    println!(
        "  {:<16} {:>9} {:>11} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8} {:>7} {:>7} {:>7} {:>6}",
        "tool",
        "CPU us/rq",
        "range",
        to_reference,
        "range",
        "no spin",
        "calls",
        "rq/s",
        to_reference,
        "RSS MiB",
        "p50 us",
        "p99 us",
        "max us",
        "lag p99",
        "counted",
        "server",
        "stolen",
        "errors"
    );
    for summary in summaries {
        print_row(summary);
    }
    if let Some(row) = truth_of_stall(scenario) {
        println!("{row}");
    }
    for summary in summaries.iter().filter(|summary| {
        matches!(scenario.server, Serving::Stall { .. }) && summary.p95_us.is_some()
    }) {
        println!(
            "  {:<16} p50 {} ms, p90 {} ms, p95 {} ms, p99 {} ms, max {} ms",
            summary.tool,
            ms(summary.p50_us),
            ms(summary.p90_us),
            ms(summary.p95_us),
            ms(summary.p99_us),
            ms(summary.max_us)
        );
    }
    if let Some(megabytes) = scenario.server.megabytes() {
        for summary in summaries {
            println!(
                "  {:<16} {} MB/s, {} us of CPU per MB",
                summary.tool,
                number(summary.throughput_per_s.map(|rate| rate * megabytes), 0),
                number(summary.cpu_per_request_us.map(|cpu| cpu / megabytes), 1),
            );
        }
    }
    for summary in summaries.iter().filter(|summary| summary.server_late_p99_us.is_some()) {
        println!(
            "  {:<16} {} connections at once, {} bytes of memory each; answers were late by the server's own account by p99 {} us",
            summary.tool,
            summary.peak_connections.map_or_else(|| "-".to_owned(), |count| count.to_string()),
            number(summary.rss_bytes_per_connection, 0),
            number(summary.server_late_p99_us, 0),
        );
    }
    for summary in summaries {
        for failure in &summary.failures {
            println!("  {}: failed: {failure}", summary.tool);
        }
    }
}

fn print_row(summary: &Summary) {
    println!(
        "  {:<16} {:>9} {:>11} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8} {:>7} {:>7} {:>7} {:>6}",
        summary.tool,
        number(summary.cpu_per_request_us, 2),
        range(summary.cpu_range_us),
        number(summary.cpu_to_reference, 2),
        range(summary.cpu_to_reference_range),
        number(summary.cpu_without_spin_us, 2),
        number(summary.syscalls_per_request, 2),
        number(summary.throughput_per_s, 0),
        number(summary.throughput_to_reference, 2),
        number(summary.max_rss_kib.map(|kib| kib / 1_024.0), 1),
        number(summary.p50_us, 0),
        number(summary.p99_us, 0),
        number(summary.max_us, 0),
        number(summary.send_lag_p99_us, 1),
        number(summary.counted_ratio, 4),
        percent(summary.server_share),
        percent(summary.stolen),
        summary.errors.map_or_else(|| "-".to_owned(), |errors| errors.to_string()),
    );
}

fn truth_of_stall(scenario: &Scenario) -> Option<String> {
    let quantile = |q| scenario.stall_quantile_ms(q, scenario.seconds).map(|ms| format!("{ms:.0}"));
    Some(format!(
        "  {:<16} p50 ~0 ms, p90 {} ms, p95 {} ms, p99 {} ms, max {} ms",
        "the truth",
        quantile(0.9)?,
        quantile(0.95)?,
        quantile(0.99)?,
        quantile(1.0)?
    ))
}

fn range(ends: Option<(f64, f64)>) -> String {
    ends.map_or_else(|| "-".to_owned(), |(least, most)| format!("{least:.2}-{most:.2}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

fn ms(us: Option<f64>) -> String {
    number(us.map(|us| us / 1e3), 2)
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
