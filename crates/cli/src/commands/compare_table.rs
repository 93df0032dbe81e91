//! The table of a comparison, and what follows from it: which bound was passed, which side is INVALID.
use pippin_model::caveat::Verdict;
use pippin_model::trial::Step;
use pippin_model::units::{format_bytes, format_count, format_ns};
use pippin_stats::compare::{Change, Comparison, Difference, Metric, TargetChange};
use pippin_stats::fail_if::{FailIf, FailIfError, Standing};

use super::print;
use crate::arguments::CompareArguments;
use crate::exit::{self, CliError};

/// What is compared, and how it is called.
pub struct Sides {
    /// The first, in words.
    pub a: String,
    /// The second, in words.
    pub b: String,
    /// The comparison.
    pub comparison: Comparison,
    /// What differs besides.
    pub differences: Vec<Difference>,
    /// More for the JSON form, by key.
    pub more: Vec<(&'static str, serde_json::Value)>,
}

/// The bounds of the command line.
pub fn bounds(arguments: &CompareArguments) -> Result<Vec<FailIf>, CliError> {
    arguments.fail_if.iter().map(|text| text.parse()).collect::<Result<_, FailIfError>>().map_err(|error| CliError::User(error.to_string()))
}

/// Writes the comparison; the exit code. A result that is not what it claims to be passes no bound.
pub fn conclude(arguments: &CompareArguments, bounds: &[FailIf], sides: &Sides) -> Result<u8, CliError> {
    let out = if arguments.json { json(sides)? } else { text(sides) };
    print(out.as_bytes())?;
    let failed = judge(&sides.comparison, bounds);
    let invalid = tell_invalid(&sides.comparison);
    Ok(match (invalid && !arguments.force, failed) {
        (true, _) => exit::INVALID,
        (false, true) => exit::FAILED,
        (false, false) => exit::OK,
    })
}

fn json(sides: &Sides) -> Result<String, CliError> {
    let mut value = serde_json::json!({"comparison": sides.comparison, "differences": sides.differences});
    for (key, more) in &sides.more {
        value[*key] = more.clone();
    }
    let text = serde_json::to_string_pretty(&value).map_err(|error| CliError::Io("write JSON".into(), error.into()))?;
    Ok(format!("{text}\n"))
}

/// Whether a side is INVALID; each is told on standard error.
fn tell_invalid(comparison: &Comparison) -> bool {
    let mut invalid = false;
    for target in &comparison.targets {
        for (name, verdict) in [(&target.a, target.a_verdict), (&target.b, target.b_verdict)] {
            if verdict == Verdict::Invalid {
                invalid = true;
                eprintln!("{name}: INVALID, so that its figures are not what they claim to be; `pippin report RUN` says why, --force compares all the same");
            }
        }
    }
    invalid
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

fn text(sides: &Sides) -> String {
    let (comparison, differing) = (&sides.comparison, &sides.differences);
    let mut out = format!("A {}\nB {}\n\n{:<30} {:<8} {:>12} {:>12} {:>9}  95 % interval of B/A\n", sides.a, sides.b, "target", "", "A", "B", "B/A - 1");
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
