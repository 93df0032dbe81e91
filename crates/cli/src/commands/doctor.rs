//! `pippin doctor`
use pippin_lab::LabError;
use pippin_lab::host::demand;
use pippin_lab::target::catalog::Catalog;
use pippin_model::plan::{Plan, PlanOptions};
use pippin_probe::doctor::{self, Demand, Finding, Severity, fix};

use super::{Shared, catalog, place, print_text};
use crate::arguments::DoctorArguments;
use crate::exit::{self, CliError};

/// The connections of the load for which this machine is examined if no plan is named.
const USUAL: u64 = 256;

pub fn run(_shared: &Shared, arguments: &DoctorArguments) -> Result<u8, CliError> {
    let catalog = catalog(&place()?)?;
    let options = PlanOptions { quick: arguments.quick, ..PlanOptions::default() };
    let names = &arguments.plans;
    let plans: Vec<Plan> =
        names.iter().map(|name| catalog.plan(name, &options)).collect::<Result<_, LabError>>()?;
    let demands: Vec<Demand> = match plans.as_slice() {
        // Nobody asked for a plan, so it is only about this machine.
        [] => vec![Demand::new(format!("a load of {USUAL} connections"), USUAL)],
        plans => plans
            .iter()
            .map(|plan| demand::from_plan(&catalog, plan))
            .collect::<Result<_, LabError>>()?,
    };
    let findings = doctor::examine(&doctor::observe(), &demands);
    let mut out = String::new();
    for finding in &findings {
        write_finding(&mut out, finding);
    }
    let lacking = write_tools(&mut out, &catalog, &plans)?;
    if arguments.fix {
        write_fixes(&mut out, &findings);
    }
    print_text(&out)?;
    let problem = findings.iter().any(|finding| finding.severity == Severity::Problem);
    Ok(if problem || lacking { exit::FAILED } else { exit::OK })
}

fn write_finding(out: &mut String, finding: &Finding) {
    let mark = match finding.severity {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Warning => "WARNING",
        Severity::Problem => "PROBLEM",
    };
    out.push_str(&format!("{mark:<8} {}: {}\n", finding.id, finding.what));
    if finding.severity == Severity::Ok {
        return;
    }
    out.push_str(&format!("         {}\n", finding.effect));
    for command in &finding.commands {
        out.push_str(&format!("         $ {command}\n"));
    }
    for command in &finding.undo {
        out.push_str(&format!("         undo: {command}\n"));
    }
}

/// Writes what the targets' installations lack. Returns whether any lacks something.
fn write_tools(out: &mut String, catalog: &Catalog, plans: &[Plan]) -> Result<bool, CliError> {
    let mut any = false;
    for plan in plans {
        let all_lacking = demand::lacking_tools(catalog, plan)?;
        for lacking in &all_lacking {
            out.push_str(&format!(
                "PROBLEM  tools: plan {}: {} cannot be installed\n",
                plan.id, lacking.target
            ));
            for (route, tools, packages) in &lacking.routes {
                out.push_str(&format!("         route {route} lacks {}\n", tools.join("; ")));
                if !packages.is_empty() {
                    out.push_str(&format!(
                        "         $ {}\n",
                        pippin_lab::install::apt::command(packages).join(" ")
                    ));
                }
            }
        }
        any |= !all_lacking.is_empty();
        if all_lacking.is_empty() {
            out.push_str(&format!(
                "ok       tools: plan {}: every target is installed or can be\n",
                plan.id
            ));
        }
    }
    Ok(any)
}

/// Applies the fixes that are safe and last until the next boot, and says how to undo them.
fn write_fixes(out: &mut String, findings: &[Finding]) {
    let fixable: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning && finding.fixable.is_some())
        .collect();
    if fixable.is_empty() {
        out.push_str("\nnothing that --fix could apply\n");
    }
    for finding in fixable {
        match fix::apply(finding) {
            Ok(undo) => {
                out.push_str(&format!("\nfixed {} until the next boot; to undo it:\n", finding.id));
                for command in undo.commands() {
                    out.push_str(&format!("         $ {command}\n"));
                }
            }
            Err(error) => out.push_str(&format!("\nnot fixed: {}: {error}\n", finding.id)),
        }
    }
}
