//! Medians over the rounds, and ratios to one of the tools.
//!
//! A ratio is the median of the rounds' own ratios. A shared machine has several speeds, each of
//! which lasts for seconds. The median of one tool may come from fast rounds and that of another
//! from slow rounds, while both tools of one round mostly saw the same machine.
use std::collections::BTreeMap;

use pippin_stats::series::quantile::median;
use serde::Serialize;

use crate::figures::Figures;
use crate::measure::{Measurement, Outcome};
use crate::scenario::{Scenario, Serving};

/// One row of the table: medians over the successful rounds.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub tool: &'static str,
    pub rounds: usize,
    /// The errors of the failed rounds.
    pub failures: Vec<String>,
    pub cpu_per_request_us: Option<f64>,
    /// Median over the rounds of this tool's CPU time per request, divided by that of the scenario's
    /// reference in the same round.
    pub cpu_to_reference: Option<f64>,
    /// Lowest and highest of those ratios.
    pub cpu_to_reference_range: Option<(f64, f64)>,
    /// Lowest and highest over the rounds.
    pub cpu_range_us: Option<(f64, f64)>,
    /// CPU time per request without polling for deadlines.
    pub cpu_without_spin_us: Option<f64>,
    /// Answers counted by the server, divided by the tool's run time.
    pub throughput_per_s: Option<f64>,
    /// Median over the rounds, like `cpu_to_reference`.
    pub throughput_to_reference: Option<f64>,
    pub max_rss_kib: Option<f64>,
    pub p50_us: Option<f64>,
    pub p90_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
    pub send_lag_p99_us: Option<f64>,
    pub syscalls_per_request: Option<f64>,
    /// The tool's count of answers divided by the server's.
    pub counted_ratio: Option<f64>,
    pub errors: Option<u64>,
    /// How busy the server's core was.
    pub server_share: Option<f64>,
    pub peak_connections: Option<u64>,
    /// Peak resident memory divided by the highest number of connections at the server.
    pub rss_bytes_per_connection: Option<f64>,
    /// Share of the time of all processors that the hypervisor gave to other machines.
    pub stolen: Option<f64>,
    /// How late the server itself was with delayed answers.
    pub server_late_p99_us: Option<f64>,
}

/// One summary for each tool, in the order in which the tools ran first.
pub fn summarise(scenario: &Scenario, measurements: &[Measurement]) -> Vec<Summary> {
    let mut tools: Vec<&'static str> = Vec::new();
    for measurement in measurements {
        if !tools.contains(&measurement.tool) {
            tools.push(measurement.tool);
        }
    }
    tools.into_iter().map(|tool| summarise_tool(tool, scenario, measurements)).collect()
}

/// The figure of each successful round of a tool.
fn by_round(
    measurements: &[Measurement],
    tool: &str,
    value: &dyn Fn(&Outcome) -> Option<f64>,
) -> BTreeMap<u32, f64> {
    let mine = measurements.iter().filter(|measurement| measurement.tool == tool);
    mine.filter_map(|measurement| {
        Some((measurement.round, value(measurement.outcome.as_ref().ok()?)?))
    })
    .collect()
}

/// The ratios of the rounds that both have.
fn ratios(values: &BTreeMap<u32, f64>, references: &BTreeMap<u32, f64>) -> Vec<f64> {
    values
        .iter()
        .filter_map(|(round, value)| ratio(Some(*value), references.get(round).copied()))
        .collect()
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    values.iter().copied().reduce(f64::min).zip(values.iter().copied().reduce(f64::max))
}

fn summarise_tool(
    tool: &'static str,
    scenario: &Scenario,
    measurements: &[Measurement],
) -> Summary {
    let mine = || measurements.iter().filter(|measurement| measurement.tool == tool);
    let outcomes: Vec<&Outcome> =
        mine().filter_map(|measurement| measurement.outcome.as_ref().ok()).collect();
    let over = |value: &dyn Fn(&Outcome) -> Option<f64>| {
        median(&outcomes.iter().filter_map(|outcome| value(outcome)).collect::<Vec<f64>>())
    };
    let said = |value: fn(&Figures) -> Option<u64>| {
        over(&|outcome| value(&outcome.said).map(|ns| ns as f64 / 1e3))
    };
    let cpu = |outcome: &Outcome| outcome.cpu_per_request_ns().map(|ns| ns / 1e3);
    let to_reference = |value: &dyn Fn(&Outcome) -> Option<f64>| {
        ratios(
            &by_round(measurements, tool, value),
            &by_round(measurements, scenario.reference(), value),
        )
    };
    let cpu_to_reference = to_reference(&cpu);
    let all_cpu: Vec<f64> = outcomes.iter().filter_map(|outcome| cpu(outcome)).collect();
    Summary {
        tool,
        rounds: outcomes.len(),
        failures: mine()
            .filter_map(|measurement| measurement.outcome.as_ref().err().cloned())
            .collect(),
        cpu_per_request_us: over(&cpu),
        cpu_to_reference_range: range(&cpu_to_reference),
        cpu_to_reference: median(&cpu_to_reference),
        cpu_range_us: range(&all_cpu),
        cpu_without_spin_us: over(&|outcome| {
            let answers = Some(outcome.server.answers).filter(|answers| *answers > 0)?;
            Some(outcome.cpu_ns.saturating_sub(outcome.said.spin_ns?) as f64 / 1e3 / answers as f64)
        }),
        throughput_per_s: over(&|outcome| throughput_per_s(scenario, outcome)),
        throughput_to_reference: median(&to_reference(&|outcome| {
            throughput_per_s(scenario, outcome)
        })),
        max_rss_kib: over(&|outcome| Some(outcome.max_rss_bytes as f64 / 1_024.0)),
        p50_us: said(|said| said.p50_ns),
        p90_us: said(|said| said.p90_ns),
        p95_us: said(|said| said.p95_ns),
        p99_us: said(|said| said.p99_ns),
        max_us: said(|said| said.max_ns),
        send_lag_p99_us: said(|said| said.send_lag_p99_ns),
        syscalls_per_request: over(&|outcome| {
            Some(
                outcome.said.syscalls? as f64
                    / outcome.said.completed.filter(|count| *count > 0)? as f64,
            )
        }),
        // For devices, the tool counts answers at full number, but the server counts all.
        counted_ratio: over(&|outcome| {
            if scenario.devices.is_some() {
                None
            } else {
                ratio(
                    outcome.said.completed.map(|count| count as f64),
                    Some(outcome.server.answers as f64),
                )
            }
        }),
        errors: outcomes.iter().map(|outcome| outcome.said.errors).sum(),
        server_share: over(&|outcome| Some(outcome.server_cpu_ns as f64 / outcome.wall_ns as f64)),
        peak_connections: outcomes.iter().map(|outcome| outcome.server.peak_connections).max(),
        rss_bytes_per_connection: over(&|outcome| {
            ratio(Some(outcome.max_rss_bytes as f64), Some(outcome.server.peak_connections as f64))
        }),
        stolen: over(&|outcome| outcome.stolen),
        server_late_p99_us: over(&|outcome| outcome.server.late_p99_ns.map(|ns| ns as f64 / 1e3)),
    }
}

fn throughput_per_s(scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
    if scenario.devices.is_some() {
        // Most of the run is ramps. Only the tool knows the part at full number.
        return outcome.said.measured_per_s;
    }
    let is_plain = matches!(scenario.server, Serving::Null | Serving::Upstream | Serving::Nginx);
    (is_plain || scenario.server.megabytes().is_some())
        .then(|| outcome.server.answers as f64 * 1e9 / outcome.wall_ns as f64)
}

fn ratio(value: Option<f64>, reference: Option<f64>) -> Option<f64> {
    reference
        .filter(|reference| *reference > 0.0)
        .and_then(|reference| value.map(|value| value / reference))
}

#[cfg(test)]
mod tests {
    use super::summarise;
    use crate::figures::Figures;
    use crate::measure::{Measurement, Outcome};
    use crate::scenario::ALL;
    use crate::server::Account;

    fn measurement(tool: &'static str, round: u32, cpu_ms: u64, answers: u64) -> Measurement {
        let outcome = Outcome {
            wall_ns: 1_000_000_000,
            cpu_ns: cpu_ms * 1_000_000,
            max_rss_bytes: 1 << 20,
            server_cpu_ns: 500_000_000,
            stolen: None,
            server: Account { answers, ..Account::default() },
            said: Figures { completed: Some(answers - 1), ..Figures::default() },
        };
        Measurement { tool, round, outcome: Ok(outcome) }
    }

    #[test]
    fn ratios_are_of_rounds() {
        // wrk: 8, 10 and 30 us per request; Pippin: 5 and 7.
        let mut all = vec![
            measurement("wrk", 1, 800, 100_000),
            measurement("pippin", 1, 500, 100_000),
            measurement("wrk", 2, 1_000, 100_000),
        ];
        all.extend([measurement("pippin", 2, 700, 100_000), measurement("wrk", 3, 3_000, 100_000)]);
        all.push(Measurement { tool: "pippin", round: 3, outcome: Err("broke".into()) });
        let summaries = summarise(&ALL[0], &all);
        assert_eq!(
            summaries.iter().map(|summary| summary.tool).collect::<Vec<_>>(),
            ["wrk", "pippin"]
        );
        assert_eq!(
            (summaries[0].cpu_per_request_us, summaries[0].cpu_range_us),
            (Some(10.0), Some((8.0, 30.0)))
        );
        assert_eq!(
            (summaries[0].cpu_to_reference, summaries[0].cpu_to_reference_range),
            (Some(1.0), Some((1.0, 1.0)))
        );
        assert_eq!((summaries[1].cpu_per_request_us, summaries[1].rounds), (Some(6.0), 2));
        // 5 : 8 and 7 : 10; the failed round has no ratio.
        assert_eq!(
            (summaries[1].cpu_to_reference, summaries[1].cpu_to_reference_range),
            (Some(0.6625), Some((0.625, 0.7)))
        );
        assert_eq!(summaries[1].throughput_to_reference, Some(1.0));
        assert_eq!(summaries[1].failures, ["broke"]);
        assert_eq!((summaries[1].p99_us, summaries[1].errors), (None, None));
        assert_eq!(summaries[1].counted_ratio, Some(99_999.0 / 100_000.0));
    }

    #[test]
    fn a_machine_of_two_speeds_does_not_change_the_ratio() {
        // Some rounds are half as fast, and in the last one, a slow one, one tool failed. The
        // medians alone would give 10.5 : 20.
        let speeds = [1, 2, 1, 2, 2];
        let mut all: Vec<Measurement> = Vec::new();
        for (round, speed) in (1..).zip(speeds) {
            all.push(measurement("wrk", round, 1_000 * speed, 100_000));
            if round != 5 {
                all.push(measurement("pippin", round, 700 * speed, 100_000));
            }
        }
        let summaries = summarise(&ALL[0], &all);
        assert_eq!(summaries[1].cpu_to_reference, Some(0.7));
        assert_eq!(summaries[1].cpu_per_request_us, Some(10.5));
        assert_eq!(summaries[0].cpu_per_request_us, Some(20.0));
    }
}
