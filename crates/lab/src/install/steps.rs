//! The steps of a way to install: each under a supervisor, with a time limit, its output in a log.
use pippin_model::cpus::CpuSet;
use pippin_model::manifest::Route;
use pippin_model::trial::{Failure, Stage};
use std::collections::BTreeMap;
use std::time::Duration;

use super::{Installer, base_values};
use crate::catalog::Target;
use crate::environment;
use crate::error::LabError;
use crate::lifecycle::supervised::{Exit, Launch, Supervised};

/// A step that compiles much on a slow machine ends well within this.
const STEP_LIMIT: Duration = Duration::from_secs(20 * 60);

/// Runs all steps of a route in the target's folder.
///
/// # Errors
/// A target failure that names the step and shows the end of its output; interruption.
pub fn run(installer: &Installer<'_>, target: &Target, route: &Route, route_env: &BTreeMap<String, String>) -> Result<(), LabError> {
    let mut values = base_values(target);
    let mut env = environment::inherited();
    env.extend(route_env.clone());
    values.extend(route_env.iter().filter(|(name, _)| *name == "PATH").map(|(name, value)| (name.clone(), value.clone())));
    let log = target.folder.join(".pippin/install.log");
    std::fs::create_dir_all(target.folder.join(".pippin")).map_err(LabError::io(format!("create {}/.pippin", target.folder.display())))?;
    let _ = std::fs::remove_file(&log);
    for step in &route.steps {
        let command: Vec<String> = step.iter().map(|word| environment::fill(word, &values)).collect();
        (installer.say)(&format!("{}: {}", target.id, command.join(" ")));
        let launch = Launch {
            command: command.clone(),
            env: env.clone(),
            folder: target.folder.clone(),
            log: log.clone(),
            cpus: CpuSet::default(),
            stop: "SIGTERM".into(),
            grace: Duration::from_secs(3),
        };
        run_one(&launch, installer)?;
    }
    Ok(())
}

fn run_one(launch: &Launch, installer: &Installer<'_>) -> Result<(), LabError> {
    let fail = |message: String, log_tail| LabError::Target(Failure { stage: Stage::Install, message, log_tail });
    let words = launch.command.join(" ");
    let mut process = Supervised::start(launch).map_err(|error| match error {
        LabError::User(message) => fail(message, Vec::new()),
        other => other,
    })?;
    match process.wait(STEP_LIMIT, installer.interrupted)? {
        Some(Exit::Code(0)) => Ok(()),
        Some(exit) => {
            let tail = process.log_tail(12);
            let last = tail.last().map(|line| format!(": {line}")).unwrap_or_default();
            Err(fail(format!("`{words}` {exit}{last}"), tail))
        }
        None => Err(fail(format!("`{words}` did not end within {} minutes", STEP_LIMIT.as_secs() / 60), process.log_tail(12))),
    }
}
