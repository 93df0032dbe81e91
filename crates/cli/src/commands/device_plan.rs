//! `pippin device-plan`
use pippin_model::text::units::{format_bytes, format_count, parse_bytes};
use pippin_stats::scalability::device_plan::{DevicePlan, Machine, Measured, plan};

use super::{Shared, print_text};
use crate::arguments::DevicePlanArguments;
use crate::exit::CliError;

pub fn run(shared: &Shared, arguments: &DevicePlanArguments) -> Result<u8, CliError> {
    let memory_bytes = parse_bytes(&arguments.memory)
        .map_err(|error| CliError::User(format!("--memory: {error}")))?;
    let machine = Machine { cores: f64::from(arguments.cores), memory_bytes };
    let store = shared.store()?;
    let mut measured = Vec::new();
    for run in &arguments.runs {
        let record = store.load(run)?;
        if record.header.plan.profile.kind() != "devices" {
            return Err(CliError::User(format!(
                "run {} is not a device run but `{}`; `pippin run devices-10k` makes one",
                record.header.id,
                record.header.plan.profile.kind()
            )));
        }
        measured.extend(record.trials.iter().filter_map(Measured::from_trial));
    }
    let mut targets: Vec<_> = measured.iter().map(|m| m.target.clone()).collect();
    targets.sort();
    targets.dedup();
    let plans: Vec<DevicePlan> = targets
        .iter()
        .filter_map(|target| {
            let of_target: Vec<Measured> =
                measured.iter().filter(|m| m.target == *target).cloned().collect();
            plan(&of_target, &machine)
        })
        .collect();
    if plans.is_empty() {
        return Err(CliError::User("none of the runs has a measured trial".into()));
    }
    let text = || print_text(&text(&machine, &plans));
    arguments.json.show(text, || serde_json::to_string_pretty(&plans))
}

fn text(machine: &Machine, plans: &[DevicePlan]) -> String {
    let mut out = format!(
        "{} processors, {} of memory for the target\n\n",
        machine.cores,
        format_bytes(machine.memory_bytes)
    );
    for plan in plans {
        let count = |value: Option<f64>| value.map_or("unknown".into(), format_count);
        out.push_str(&format!(
            "{}: {} devices (by processor time {}, by memory {})\n",
            plan.target,
            count(plan.devices),
            count(plan.by_cpu),
            count(plan.by_memory)
        ));
        for assumption in &plan.assumptions {
            out.push_str(&format!("  - {assumption}\n"));
        }
    }
    out
}
