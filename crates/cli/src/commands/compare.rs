//! `pippin compare`
use pippin_model::run::RunRecord;
use pippin_model::trial::Step;
use pippin_model::units::{format_bytes, format_count, format_ns};
use pippin_stats::compare::{Change, Comparison, Difference, Metric, TargetChange, compare, differences};
use pippin_stats::fail_if::{FailIf, Standing};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

use super::{Shared, print, root};
use crate::arguments::CompareArguments;
use crate::exit::{self, CliError};

pub fn run(shared: &Shared, arguments: &CompareArguments) -> Result<u8, CliError> {
    let bounds: Vec<FailIf> = arguments
        .fail_if
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, pippin_stats::fail_if::FailIfError>>()
        .map_err(|error| CliError::User(error.to_string()))?;
    let (a, b) = (side(shared, &arguments.a)?, side(shared, &arguments.b)?);
    let differing = differences(&a.header, &b.header);
    let refusing: Vec<&Difference> = differing.iter().filter(|difference| difference.refuses).collect();
    if !refusing.is_empty() && !arguments.force {
        let list: Vec<String> = refusing.iter().map(|d| format!("  {}: {} against {}", d.what, d.a, d.b)).collect();
        return Err(CliError::User(format!("these two cannot be compared like with like; --force compares them all the same:\n{}", list.join("\n"))));
    }
    // The same seed gives the same intervals each time the same two are compared.
    let comparison = compare(&a.trials, &b.trials, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    if comparison.targets.is_empty() {
        return Err(CliError::User("the two have no target in common".into()));
    }
    if arguments.json {
        let json = serde_json::to_string_pretty(&serde_json::json!({"comparison": comparison, "differences": differing}));
        print(format!("{}\n", json.map_err(|error| CliError::Io("write JSON".into(), error.into()))?).as_bytes())?;
    } else {
        print(text(&a, &b, &comparison, &differing).as_bytes())?;
    }
    Ok(if judge(&comparison, &bounds) { exit::FAILED } else { exit::OK })
}

/// A run of the store, or the JSON of one in a file; a target behind `#` narrows it: `latest#go/net-http`.
fn side(shared: &Shared, name: &str) -> Result<RunRecord, CliError> {
    let (name, target) = name.split_once('#').map_or((name, None), |(name, target)| (name, Some(target)));
    let mut record = if Path::new(name).is_file() {
        let text = std::fs::read_to_string(name).map_err(CliError::io(format!("read {name}")))?;
        serde_json::from_str(&text).map_err(|error| CliError::User(format!("{name} is no run: {error}; `pippin export RUN --format record` writes one")))?
    } else {
        shared.store(&root()?)?.load(name)?
    };
    if let Some(target) = target {
        let known: Vec<String> = record.header.plan.targets.iter().map(ToString::to_string).collect();
        record.trials.retain(|trial| trial.spec.target.to_string() == target);
        if record.trials.is_empty() {
            return Err(CliError::User(format!("run {} has no trial of `{target}` (it has {})", record.header.id, known.join(", "))));
        }
    }
    Ok(record)
}

/// Whether a bound was passed; each is told on standard error.
fn judge(comparison: &Comparison, bounds: &[FailIf]) -> bool {
    let mut failed = false;
    for target in &comparison.targets {
        for bound in bounds {
            let Some(change) = target.changes.iter().find(|change| change.metric == bound.metric) else { continue };
            let relative = change.relative().map_or("unknown".into(), |relative| format!("{:+.2} %", relative * 100.0));
            match bound.standing(change) {
                Standing::Held => {}
                Standing::NotSignificant => eprintln!("{}: {} changed by {relative}, past `{bound}`, but that may be chance", target.b, bound.metric.name()),
                Standing::Failed | Standing::Unknown => {
                    failed = true;
                    eprintln!("{}: {} changed by {relative}: past `{bound}`", target.b, bound.metric.name());
                }
            }
        }
    }
    failed
}

fn text(a: &RunRecord, b: &RunRecord, comparison: &Comparison, differing: &[Difference]) -> String {
    let mut out =
        format!("A {}\nB {}\n\n{:<30} {:<8} {:>12} {:>12} {:>9}  95 % interval of B/A\n", a.header.id, b.header.id, "target", "", "A", "B", "B/A - 1");
    for target in &comparison.targets {
        for (index, change) in target.changes.iter().enumerate() {
            out.push_str(&row(target, change, index == 0));
        }
    }
    for (side, only) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !only.is_empty() {
            let names: Vec<String> = only.iter().map(ToString::to_string).collect();
            out.push_str(&format!("only in {side}: {}\n", names.join(", ")));
        }
    }
    if !differing.is_empty() {
        out.push_str("\nWhat differs besides:\n");
    }
    for difference in differing {
        out.push_str(&format!("  {}: {} -> {}\n", difference.what, difference.a, difference.b));
    }
    out
}

fn row(target: &TargetChange, change: &Change, first: bool) -> String {
    let step = match target.step {
        Some(Step::Connections { count }) => format!(" @{count}"),
        Some(Step::Rate { per_s }) => format!(" @{}/s", format_count(per_s)),
        None => String::new(),
    };
    let name = match (first, target.a == target.b) {
        (false, _) => String::new(),
        (true, true) => format!("{}{step}", target.b),
        (true, false) => format!("{} -> {}{step}", target.a, target.b),
    };
    let figure = |value: Option<f64>| value.map_or("-".into(), |value| in_units(change.metric, value));
    let relative = change.relative().map_or("-".into(), |relative| format!("{:+.2} %", relative * 100.0));
    let interval = change.ratio.map_or("-".into(), |ratio| {
        let sure = if ratio.is_significant() { "" } else { "  (covers 1: no difference shown)" };
        format!("{:.3} to {:.3}{sure}", ratio.interval.low, ratio.interval.high)
    });
    format!("{name:<30} {:<8} {:>12} {:>12} {relative:>9}  {interval}\n", change.metric.name(), figure(change.a), figure(change.b))
}

fn in_units(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Goodput => format!("{}/s", format_count(value)),
        Metric::P50 | Metric::P99 => format_ns(value as u64),
        Metric::Cpu => format!("{value:.2} s/M"),
        Metric::Memory => format_bytes(value as u64),
    }
}
