//! Results as JSON, to compare runs over time.
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::measure::Measurement;
use crate::peer::Tool;
use crate::scenario::Scenario;
use crate::summary::Summary;

/// A scenario with all its measurements.
#[derive(Debug, Serialize)]
pub struct ScenarioResult {
    pub scenario: Scenario,
    pub summaries: Vec<Summary>,
    pub measurements: Vec<Measurement>,
}

#[derive(Debug, Serialize)]
struct Results<'a> {
    /// 3 since ratios may be to another tool than wrk; 2 since ratios are taken by round and stolen
    /// time is kept.
    schema: u32,
    unix_seconds: u64,
    quick: bool,
    rounds: u32,
    machine: Machine,
    tools: Vec<&'a str>,
    not_installed: &'a [&'static str],
    scenarios: &'a [ScenarioResult],
}

/// The properties that affect the figures most.
#[derive(Debug, Serialize)]
pub struct Machine {
    cpu_model: Option<String>,
    cores: Option<usize>,
    kernel: Option<String>,
    /// /proc/loadavg at the end, to show other activity.
    load_average: Option<String>,
}

/// Writes all results to a file named after the time. Returns its path.
pub fn keep(
    folder: &Path,
    quick: bool,
    rounds: u32,
    tools: &[Tool],
    missing: &[&'static str],
    scenarios: &[ScenarioResult],
) -> Result<PathBuf, String> {
    let unix_seconds = unix_seconds();
    let results = Results {
        schema: 3,
        unix_seconds,
        quick,
        rounds,
        machine: machine(),
        tools: tools.iter().map(|tool| tool.peer.name()).collect(),
        not_installed: missing,
        scenarios,
    };
    write(folder, &unix_seconds.to_string(), &results)
}

/// Writes a result as JSON to a file of this name. Creates the folder if needed. Returns the path.
pub fn write(folder: &Path, name: &str, result: &impl Serialize) -> Result<PathBuf, String> {
    let path = folder.join(format!("{name}.json"));
    let text = serde_json::to_string(result).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text + "\n"))
        .map_err(|error| format!("writing {}: {error}", path.display()))?;
    Ok(path)
}

/// Now, in seconds since 1970.
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

pub fn machine() -> Machine {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let model = read("/proc/cpuinfo")
        .and_then(|text| crate::figures::after(&text, "model name\t:").map(str::to_owned));
    Machine {
        cpu_model: model,
        cores: std::thread::available_parallelism().ok().map(std::num::NonZero::get),
        kernel: read("/proc/sys/kernel/osrelease"),
        load_average: read("/proc/loadavg"),
    }
}
