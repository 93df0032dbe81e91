//! `make search`: whether the capacity search finds the known capacity of servers, starting below
//! or above it.
//!
//! The server answers a fixed number of requests per second and no more ([`Script::at_most`]), so the
//! truth needs no measurement.
use clap::Args;
use pippin_stats::capacity::found::searches;
use pippin_testing::scripted::{Answer, Script, spawn};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::measured::{Measured, measured};
use crate::results::{self, Machine};
use crate::sense;

/// Answers per second.
const TRUTHS: [f64; 3] = [100.0, 1_000.0, 20_000.0];
/// Where a search starts, as a fraction of the truth.
const STARTS: [(&str, f64); 2] = [("low", 0.1), ("high", 3.0)];
/// A search is right if it is this close to the truth.
const NEAR: f64 = 0.05;
/// At a rate this fraction above the truth, the queue reaches the objective's limit by the end of a
/// step.
const OVERLOAD: f64 = 0.015;

/// `pippin-bench search`
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// The number of searches: each truth from each start in turn.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    searches: u32,
    /// Seconds of a step.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// The program that searches; by default `pippin` beside this one.
    #[arg(long, value_name = "FILE")]
    pippin: Option<PathBuf>,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Row {
    truth_per_s: f64,
    start: &'static str,
    /// The confirmed result; `None` if there is none.
    found_per_s: Option<f64>,
    outcome: String,
    steps: u32,
    seconds: f64,
    exit_code: Option<i32>,
}

impl Row {
    fn is_right(&self) -> bool {
        self.found_per_s.is_some_and(|found| (found / self.truth_per_s - 1.0).abs() <= NEAR)
    }
}

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    unix_seconds: u64,
    seconds_of_a_step: u32,
    right: usize,
    machine: Machine,
    searches: &'a [Row],
}

/// Runs the searches, prints the table and keeps it.
pub fn run(arguments: &SearchArguments) -> Result<(), String> {
    let pippin = sense::program(arguments.pippin.as_deref())?;
    let kinds: Vec<(f64, (&'static str, f64))> =
        TRUTHS.iter().flat_map(|truth| STARTS.map(|start| (*truth, start))).collect();
    let mut rows = Vec::new();
    println!("{}", line(["truth", "start", "found", "off by", "steps", "took", "exit", "outcome"]));
    for (truth, (start, part)) in kinds.iter().cycle().take(arguments.searches as usize) {
        let row = search(&pippin, *truth, start, truth * part, arguments.seconds)?;
        println!("{}", told(&row));
        rows.push(row);
    }
    let right = rows.iter().filter(|row| row.is_right()).count();
    println!("{right} of {} within {:.0} %", rows.len(), NEAR * 100.0);
    let unix_seconds = results::unix_seconds();
    let kept = Results {
        schema: "pippin-search/1",
        unix_seconds,
        seconds_of_a_step: arguments.seconds,
        right,
        machine: results::machine(),
        searches: &rows,
    };
    let path = results::write(&arguments.results, &format!("search-{unix_seconds}"), &kept)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

fn search(
    pippin: &Path,
    truth: f64,
    start: &'static str,
    start_per_s: f64,
    seconds: u32,
) -> Result<Row, String> {
    let server =
        spawn(Script::at_most(truth, Answer::ok(b"hello"))).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let bound_ms = f64::from(seconds) * 1e3 * OVERLOAD;
    let began = Instant::now();
    let url = format!("http://{}/", server.address());
    let objective = format!("p99 < {bound_ms}ms, errors < 0.1%");
    let (rate, duration) = (format!("{start_per_s}"), format!("{seconds}s"));
    let load = ["load", &url, "--quiet", "-c", "64", "--objective", &objective];
    let how = ["-R", &rate, "-d", &duration];
    let Measured { run, output } = measured(pippin, folder.path(), &[&load[..], &how].concat())?;
    let trials: Vec<_> = run.trials.iter().collect();
    let found = searches(&trials).into_iter().next();
    let found = found.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    Ok(Row {
        truth_per_s: truth,
        start,
        found_per_s: found.outcome.confirmed_per_s(),
        outcome: found.outcome.words(found.of),
        steps: found.steps,
        seconds: began.elapsed().as_secs_f64(),
        exit_code: output.status.code(),
    })
}

fn told(row: &Row) -> String {
    let unknown = || "-".to_string();
    let off = |found: f64| format!("{:+.1} %", (found / row.truth_per_s - 1.0) * 100.0);
    line([
        &format!("{:.0}/s", row.truth_per_s),
        row.start,
        &row.found_per_s.map_or_else(unknown, |found| format!("{found:.1}/s")),
        &row.found_per_s.map_or_else(unknown, off),
        &row.steps.to_string(),
        &format!("{:.0} s", row.seconds),
        &row.exit_code.map_or_else(unknown, |code| code.to_string()),
        &row.outcome,
    ])
}

fn line(cells: [&str; 8]) -> String {
    let [truth, start, found, off, steps, took, exit, outcome] = cells;
    format!("{truth:>9} {start:<5} {found:>11} {off:>8} {steps:>6} {took:>6} {exit:>5}  {outcome}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_five_percent_to_either_side_and_nothing_is_not_near() {
        let row = |found_per_s| Row {
            truth_per_s: 1_000.0,
            start: "low",
            found_per_s,
            outcome: String::new(),
            steps: 1,
            seconds: 1.0,
            exit_code: Some(0),
        };
        assert!(row(Some(951.0)).is_right() && row(Some(1_049.0)).is_right());
        assert!(!row(Some(949.0)).is_right() && !row(Some(1_051.0)).is_right());
        assert!(!row(None).is_right());
    }
}
