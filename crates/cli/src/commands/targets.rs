//! `pippin targets`
use pippin_lab::LabError;
use pippin_lab::catalog::Catalog;
use pippin_lab::check::{Checked, Checker};
use pippin_lab::install::Installer;
use pippin_lab::scaffold;
use pippin_model::target::TargetId;
use pippin_model::workload::Service;
use std::sync::atomic::Ordering;

use super::{Shared, consent, here, print};
use crate::arguments::TargetsCommand;
use crate::exit::{self, CliError};
use crate::output;
use crate::signals;

pub fn run(shared: &Shared, command: TargetsCommand) -> Result<u8, CliError> {
    let catalog = Catalog::find(&here()?)?;
    match command {
        TargetsCommand::List { json } => list(&catalog, json),
        TargetsCommand::Install { targets, yes } => install(shared, &catalog, &targets, yes),
        TargetsCommand::New { target } => new(&catalog, &target),
        TargetsCommand::Check { targets, all, workloads, install, yes, require } => {
            let names = if all { vec!["all".to_string()] } else { targets };
            let check = Check {
                shared,
                catalog: &catalog,
                workloads: &workloads,
                install,
                yes,
                require: &require,
            };
            check.run(&names)
        }
    }
}

fn list(catalog: &Catalog, json: bool) -> Result<u8, CliError> {
    let mut out = String::new();
    let mut rows = Vec::new();
    for id in catalog.select(&["all".to_string()])? {
        let target = catalog.target(&id)?;
        let workloads = target.manifest.workloads_of(id.variant.as_deref()).to_vec();
        let about = target
            .manifest
            .variant(id.variant.as_deref())
            .and_then(|variant| variant.about.clone())
            .unwrap_or_else(|| target.manifest.framework.clone());
        if json {
            rows.push(serde_json::json!({"target": id, "about": about, "workloads": workloads}));
        } else {
            out.push_str(&format!("{:<32} {:<40} {about}\n", id.to_string(), workloads.join(" ")));
        }
    }
    if json {
        out = format!("{}\n", serde_json::Value::from(rows));
    }
    print(out.as_bytes())
}

fn new(catalog: &Catalog, name: &str) -> Result<u8, CliError> {
    let id: TargetId = name
        .parse()
        .map_err(|error: pippin_model::target::TargetIdError| CliError::User(error.to_string()))?;
    let folder = scaffold::scaffold(catalog, &id)?;
    print(
        format!(
            "{}\nedit target.toml, write the server, then: pippin targets check {id}\n",
            folder.display()
        )
        .as_bytes(),
    )
}

fn install(
    shared: &Shared,
    catalog: &Catalog,
    names: &[String],
    yes: bool,
) -> Result<u8, CliError> {
    let targets = catalog.select(names)?;
    let apt = consent::for_packages(catalog, &targets, &[], yes)?;
    let stop = signals::catch();
    let interrupted = || stop.load(Ordering::Relaxed);
    let say = |text: &str| say(shared, text);
    let installer =
        Installer { apt_allowed: apt, steps_allowed: true, say: &say, interrupted: &interrupted };
    let mut failed = 0;
    for id in targets.iter().filter(|id| id.variant.is_none()) {
        match installer.install(&catalog.target(id)?) {
            Ok(installed) => {
                drop(print(format!("{id}: installed by route {}\n", installed.route).as_bytes()))
            }
            Err(LabError::Target(failure)) => {
                failed += 1;
                print(format!("{id}: unavailable: {}\n", failure.message).as_bytes())?;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(if failed > 0 { exit::FAILED } else { exit::OK })
}

fn say(shared: &Shared, text: &str) {
    if !shared.quiet {
        output::say(text);
    }
}

struct Check<'a> {
    shared: &'a Shared,
    catalog: &'a Catalog,
    workloads: &'a [String],
    install: bool,
    yes: bool,
    require: &'a [String],
}

impl Check<'_> {
    fn run(&self, names: &[String]) -> Result<u8, CliError> {
        for workload in self.workloads {
            self.catalog.workload(workload)?;
        }
        let targets = self.catalog.select(names)?;
        let required = self.catalog.select(self.require)?;
        let apt = self.install
            && consent::for_packages(self.catalog, &targets, &self.services(&targets)?, self.yes)?;
        let stop = signals::catch();
        let interrupted = || stop.load(Ordering::Relaxed);
        let say = |text: &str| say(self.shared, text);
        let installer = Installer {
            apt_allowed: apt,
            steps_allowed: self.install,
            say: &say,
            interrupted: &interrupted,
        };
        let folder = self.catalog.root().join(".pippin/check");
        std::fs::create_dir_all(&folder)
            .map_err(CliError::io(format!("create {}", folder.display())))?;
        let checker = Checker {
            catalog: self.catalog,
            installer: &installer,
            folder: &folder,
            only: self.workloads,
        };
        let mut results = Vec::new();
        for id in &targets {
            let checked = checker.check(id)?;
            print(row(&checked).as_bytes())?;
            results.push(checked);
        }
        self.conclude(&results, &required)
    }

    /// The services that the checked workloads need.
    fn services(&self, targets: &[TargetId]) -> Result<Vec<Service>, CliError> {
        let mut services = Vec::new();
        for id in targets {
            let target = self.catalog.target(id)?;
            for name in target.manifest.workloads_of(id.variant.as_deref()) {
                if self.workloads.is_empty() || self.workloads.contains(name) {
                    // A workload that is not there is named by the check itself, with the manifest
                    // that names it.
                    services.extend(
                        self.catalog
                            .workload(name)
                            .map(|workload| workload.services)
                            .unwrap_or_default(),
                    );
                }
            }
        }
        Ok(services)
    }

    fn conclude(&self, results: &[Checked], required: &[TargetId]) -> Result<u8, CliError> {
        let passed = results.iter().filter(|checked| checked.passed()).count();
        let unavailable: Vec<&Checked> =
            results.iter().filter(|checked| checked.is_unavailable()).collect();
        let failed = results.len() - passed - unavailable.len();
        let missed: Vec<String> = unavailable
            .iter()
            .filter(|checked| required.contains(&checked.target))
            .map(|checked| checked.target.to_string())
            .collect();
        let mut out = format!(
            "targets: {passed} passed, {failed} failed, {} unavailable\n",
            unavailable.len()
        );
        if !missed.is_empty() {
            out.push_str(&format!("unavailable, but required: {}\n", missed.join(", ")));
        }
        print(out.as_bytes())?;
        Ok(if failed > 0 || !missed.is_empty() { exit::FAILED } else { exit::OK })
    }
}

/// One line a target, and one more for each thing that is wrong.
fn row(checked: &Checked) -> String {
    let name = checked.target.to_string();
    if let Some(failure) = &checked.failure {
        let word = if checked.is_unavailable() { "unavailable" } else { "FAIL" };
        return format!("{name:<32} {word:<11}  {}: {}\n", failure.stage.name(), failure.message);
    }
    let mark = |(workload, wrong): (&String, &Vec<String>)| {
        format!("{workload} {}", if wrong.is_empty() { "ok" } else { "FAILED" })
    };
    let marks: Vec<String> = checked.workloads.iter().map(mark).collect();
    let route = checked
        .route
        .as_deref()
        .filter(|route| *route != "default")
        .map(|route| format!("  (route {route})"))
        .unwrap_or_default();
    let mut out = format!(
        "{name:<32} {:<11}  {}{route}\n",
        if checked.passed() { "pass" } else { "FAIL" },
        marks.join(", ")
    );
    for (workload, wrong) in &checked.workloads {
        for reason in wrong {
            out.push_str(&format!("    {workload}: {reason}\n"));
        }
    }
    out
}
