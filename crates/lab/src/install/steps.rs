//! The steps of a way to install: each under a supervisor, with a time limit, its output in a log.
use pippin_model::plan::cpus::CpuSet;
use pippin_model::target::manifest::Route;
use pippin_model::trial::{Failure, Stage};
use std::collections::BTreeMap;
use std::time::Duration;

use super::{Installer, base_values};
use crate::error::LabError;
use crate::lifecycle::environment;
use crate::lifecycle::supervised::{Launch, Supervised};
use crate::target::Kind;
use crate::target::catalog::Target;
use pippin_model::trial::Exit;

/// Enough for a step that compiles much on a slow machine.
const STEP_LIMIT: Duration = Duration::from_secs(20 * 60);

/// Runs all steps of a route in the target's folder.
///
/// # Errors
/// A target failure that names the step and shows the end of its output; interruption.
pub fn run(
    installer: &Installer<'_>,
    target: &Target,
    route: &Route,
    route_env: &BTreeMap<String, String>,
) -> Result<(), LabError> {
    let mut values = base_values(target);
    let mut env = match target.kind {
        Kind::Image(_) => environment::for_runtimes(),
        _ => environment::inherited(),
    };
    env.extend(route_env.clone());
    values.extend(
        route_env
            .iter()
            .filter(|(name, _)| *name == "PATH")
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let log = target.folder.join(".pippin/install.log");
    std::fs::create_dir_all(target.folder.join(".pippin"))
        .map_err(LabError::io(format!("create {}/.pippin", target.folder.display())))?;
    let _ = std::fs::remove_file(&log);
    for step in &route.steps {
        let command: Vec<String> =
            step.iter().map(|word| environment::fill(word, &values)).collect();
        (installer.say)(&format!("{}: {}", target.id, command.join(" ")));
        let launch = Launch {
            command: command.clone(),
            env: env.clone(),
            folder: target.folder.clone(),
            log: log.clone(),
            errors: None,
            cpus: CpuSet::default(),
            stop: "SIGTERM".into(),
            grace: Duration::from_secs(3),
            apart: false,
        };
        run_one(&launch, installer)?;
    }
    Ok(())
}

fn run_one(launch: &Launch, installer: &Installer<'_>) -> Result<(), LabError> {
    let fail = |message: String, log_tail| {
        LabError::Target(Failure { stage: Stage::Install, message, log_tail })
    };
    let words = launch.command.join(" ");
    let mut process = Supervised::start(launch).map_err(|error| match error {
        LabError::User(message) => fail(message, Vec::new()),
        other => other,
    })?;
    match process.wait(STEP_LIMIT, installer.interrupted)? {
        Some(Exit::Code(0)) => Ok(()),
        Some(exit) => {
            let tail = process.log_tail(12);
            Err(fail(format!("`{words}` {exit}{}", reason(&tail)), tail))
        }
        None => Err(fail(
            format!("`{words}` did not end within {} minutes", STEP_LIMIT.as_secs() / 60),
            process.log_tail(12),
        )),
    }
}

/// The line of a log that gives the reason, behind a colon; nothing of an empty log.
pub fn reason(tail: &[String]) -> String {
    telling_line(tail).map(|line| format!(": {line}")).unwrap_or_default()
}

/// The line of a log that gives the reason: the first that mentions a failure, else the last.
fn telling_line(tail: &[String]) -> Option<&str> {
    const WORDS: [&str; 7] =
        ["error", "failed", "cannot", "can't", "could not", "not found", "no such"];
    let speaks = |line: &&String| {
        let line = line.to_ascii_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    tail.iter().find(speaks).or(tail.last()).map(|line| line.trim())
}

#[cfg(test)]
mod tests {
    use super::telling_line;

    #[test]
    fn the_line_that_says_why_is_found() {
        let log = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let lines = log(&[
            "fetching",
            "** (Mix) httpc request failed with: nxdomain",
            "Alternatively, compile it",
        ]);
        assert_eq!(telling_line(&lines), Some("** (Mix) httpc request failed with: nxdomain"));
        assert_eq!(telling_line(&log(&["one", "  two"])), Some("two"));
        assert_eq!(telling_line(&[]), None);
    }
}
