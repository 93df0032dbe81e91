//! One Java server three times: interpreted, compiled by the fast compiler alone, and as it comes.
//! Warm, each is faster than the one before; measured cold, the order can be any.
use pippin_model::figure::Figure;
use pippin_model::run::RunRecord;
use pippin_model::trial::TrialRecord;
use pippin_stats::series::quantile::median;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::doubts;
use super::servers::Built;
use crate::measured::measured;

/// The targets and their options, the one that needs least processor time first.
const TARGETS: [(&str, &[&str]); 3] =
    [("default", &[]), ("c1", &["-XX:TieredStopAtLevel=1"]), ("interpreted", &["-Xint"])];

/// What the run said.
#[derive(Debug, Serialize)]
pub struct Order {
    /// Whether each target needs more processor time for a request than the one before.
    is_right: bool,
    targets: Vec<OfTarget>,
}

#[derive(Debug, Serialize)]
struct OfTarget {
    name: &'static str,
    /// The median processor time of a request over the repetitions, in nanoseconds.
    cpu_ns: Option<f64>,
    requests_per_s: Option<f64>,
    /// Whether it was measured in turn with the others in all repetitions.
    is_paired: bool,
    doubts: BTreeSet<String>,
}

/// Runs the plan.
pub fn run(pippin: &Path, built: &Built, seconds: u32, repetitions: u32) -> Result<Order, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    std::fs::write(folder.path().join("pippin.toml"), project(built, seconds, repetitions))
        .map_err(|error| error.to_string())?;
    // It runs in the folder, so the page is written there.
    let run = ["run", "order", "--quiet", "--out", "out"];
    Ok(Order::from_record(&measured(pippin, folder.path(), &run)?.run))
}

fn project(built: &Built, seconds: u32, repetitions: u32) -> String {
    let mut text = String::new();
    for (name, options) in TARGETS {
        let command = built.java(options).join(" ");
        let _ = writeln!(text, "[target.{name}]\ncommand = \"{command} {{PORT}}\"\n");
    }
    let _ = write!(
        text,
        r#"[workload.home]
request = {{ path = "/" }}
answer = {{ status = 200 }}

[plan.order]
workload = "home"
targets = ["default", "c1", "interpreted"]
repetitions = {repetitions}
[plan.order.profile]
kind = "closed"
connections = 10
duration = "{seconds}s"
warm_up = "auto"
"#
    );
    text
}

impl Order {
    fn from_record(record: &RunRecord) -> Self {
        let targets: Vec<OfTarget> =
            TARGETS.map(|(name, _)| OfTarget::from_record(record, name)).into();
        Self { is_right: is_ascending(&targets), targets }
    }

    /// As lines of text.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for target in &self.targets {
            let cpu = target.cpu_ns.map_or_else(|| "-".into(), |ns| format!("{:.1} us", ns / 1e3));
            let rate =
                target.requests_per_s.map_or_else(|| "-".into(), |rate| format!("{rate:.0}/s"));
            let turn = if target.is_paired { "in turn" } else { "apart" };
            let doubts: Vec<&str> = target.doubts.iter().map(String::as_str).collect();
            let _ = writeln!(
                text,
                "{:<12} {cpu:>10} a request {rate:>9}  {turn:<8} {}",
                target.name,
                doubts.join(", ")
            );
        }
        text + if self.is_right { "the order is right" } else { "the order is WRONG" }
    }
}

fn is_ascending(targets: &[OfTarget]) -> bool {
    let cpu: Vec<Option<f64>> = targets.iter().map(|target| target.cpu_ns).collect();
    cpu.windows(2).all(|pair| matches!(pair, [Some(less), Some(more)] if less < more))
}

impl OfTarget {
    fn from_record(record: &RunRecord, name: &'static str) -> Self {
        let own: Vec<_> =
            record.trials.iter().filter(|trial| trial.spec.target.name == name).collect();
        let of = |figure: Figure| {
            let values: Option<Vec<f64>> = own.iter().map(|trial| figure.read(trial)).collect();
            median(&values?)
        };
        let is_in_turn = |trial: &&TrialRecord| {
            trial.company.as_ref().is_some_and(|company| company.targets as usize == TARGETS.len())
        };
        Self {
            name,
            cpu_ns: of(Figure::Cpu),
            requests_per_s: of(Figure::Goodput),
            is_paired: !own.is_empty() && own.iter().all(is_in_turn),
            doubts: own.iter().flat_map(|trial| doubts(trial)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_right_only_if_each_needs_more_and_all_are_known() {
        let order = |cpu: [Option<f64>; 3]| {
            let of = |(cpu_ns, (name, _)): (Option<f64>, (&'static str, &[&str]))| OfTarget {
                name,
                cpu_ns,
                requests_per_s: Some(1_000.0),
                is_paired: true,
                doubts: BTreeSet::new(),
            };
            let targets: Vec<OfTarget> = cpu.into_iter().zip(TARGETS).map(of).collect();
            is_ascending(&targets)
        };
        assert!(order([Some(19.0), Some(24.0), Some(42.0)]));
        assert!(!order([Some(42.0), Some(24.0), Some(19.0)]));
        assert!(!order([Some(19.0), None, Some(42.0)]));
        assert!(!order([Some(19.0), Some(19.0), Some(42.0)]));
    }
}
