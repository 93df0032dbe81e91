//! `pippin plans`
use pippin_lab::LabError;
use pippin_lab::target::catalog::Catalog;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_model::text::units::counted;
use pippin_report::view::run::in_words;
use std::fmt::Write as _;

use super::{catalog, place, print_text};
use crate::arguments::PlansArguments;
use crate::exit::CliError;

pub fn run(arguments: &PlansArguments) -> Result<u8, CliError> {
    let catalog = catalog(&place()?)?;
    let names = catalog.plan_ids()?;
    let out = if arguments.json { json(&catalog, &names)? } else { text(&catalog, &names) };
    print_text(&out)
}

fn read(catalog: &Catalog, name: &str) -> Result<Plan, LabError> {
    catalog.plan(name, &PlanOptions::default())
}

/// A file that cannot be read does not hide the others.
fn text(catalog: &Catalog, names: &[String]) -> String {
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    for name in names {
        // Writing into a String cannot fail.
        let _ = match read(catalog, name) {
            Ok(plan) => {
                let load = in_words(&plan.profile);
                let targets = counted(plan.targets.len() as u64, "target");
                let blank = "";
                writeln!(
                    out,
                    "{name:<width$}  {}\n{blank:<width$}  workload {}, {targets}: {load}",
                    plan.title, plan.workload
                )
            }
            Err(error) => writeln!(out, "{name:<width$}  cannot be used: {error}"),
        };
    }
    out
}

fn json(catalog: &Catalog, names: &[String]) -> Result<String, CliError> {
    let mut rows = Vec::new();
    for name in names {
        let plan = read(catalog, name)?;
        rows.push(serde_json::json!({
            "plan": name,
            "title": plan.title,
            "summary": plan.summary,
            "workload": plan.workload,
            "targets": plan.targets,
            "profile": plan.profile,
            "repetitions": plan.repetitions,
            "goal": plan.goal,
        }));
    }
    Ok(format!("{}\n", serde_json::Value::from(rows)))
}
