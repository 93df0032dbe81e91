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
    let mut env = env_of(&target.kind);
    if matches!(target.kind, Kind::Command) {
        values.extend(target.revision.iter().map(|it| ("PIPPIN_REVISION".into(), it.clone())));
        env.extend(target.revision.iter().map(|it| ("PIPPIN_REVISION".into(), it.clone())));
        env.extend(environment::of_a_build(&target.manifest.start.env, &values));
    }
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
        run_one(&launch, (Stage::Install, STEP_LIMIT), installer.interrupted)?;
    }
    Ok(())
}

/// What installs of this kind and their version commands inherit.
#[must_use]
pub fn env_of(kind: &Kind) -> BTreeMap<String, String> {
    match kind {
        Kind::Image(_) => environment::for_runtimes(),
        Kind::Command => environment::of_the_users_builds(),
        Kind::Catalog | Kind::Listening(_) => environment::inherited(),
    }
}

/// Runs one command to its end, within this limit. Failures are of this stage.
///
/// # Errors
/// A target failure that names the command and shows the end of its output; interruption.
pub fn run_one(
    launch: &Launch,
    (stage, limit): (Stage, Duration),
    interrupted: &dyn Fn() -> bool,
) -> Result<(), LabError> {
    let fail = |message: String, log_tail| LabError::Target(Failure { stage, message, log_tail });
    let words = launch.command.join(" ");
    let mut process = Supervised::start(launch).map_err(|error| match error {
        LabError::User(message) => fail(message, Vec::new()),
        other => other,
    })?;
    match process.wait(limit, interrupted)? {
        Some(Exit::Code(0)) => Ok(()),
        Some(exit) => {
            let tail = told(process.log_tail(MOST_LINES));
            Err(fail(format!("`{words}` {exit}{}", reason(&tail)), tail))
        }
        None => Err(fail(
            format!("`{words}` did not end within {}", spoken(limit)),
            told(process.log_tail(MOST_LINES)),
        )),
    }
}

/// "20 minutes", "90 s"
fn spoken(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if seconds >= 120 && seconds % 60 == 0 => format!("{} minutes", seconds / 60),
        _ => format!("{} s", limit.as_secs_f64()),
    }
}

/// How many lines of a log are looked at, and how many are kept of those that say something.
const MOST_LINES: usize = 200;
const KEPT_LINES: usize = 12;

/// The last lines of a log that say something. The places of a stack trace do not, and the reason
/// stands above them.
fn told(mut lines: Vec<String>) -> Vec<String> {
    lines.retain(|line| !is_place(line));
    lines.split_off(lines.len().saturating_sub(KEPT_LINES))
}

/// Whether a line is a place of a stack trace, as the JVM, .NET and Node.js write it: indented, `at`,
/// and more.
fn is_place(line: &str) -> bool {
    let rest = line.trim_start();
    // Control characters are left out of a log's lines, so an indent of tabs does not show.
    rest.starts_with("at ") && (rest.len() < line.len() || rest.contains('('))
}

/// The line of a log that gives the reason, behind a colon; nothing of an empty log.
pub fn reason(tail: &[String]) -> String {
    telling_line(tail).map(|line| format!(": {line}")).unwrap_or_default()
}

/// The line of a log that gives the reason: the first that mentions a failure, else the last.
fn telling_line(tail: &[String]) -> Option<&str> {
    const WORDS: [&str; 10] = [
        "error",
        "failed",
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "unable to",
        "exception",
        "not found",
        "no such",
    ];
    let speaks = |line: &&String| {
        let line = line.to_ascii_lowercase();
        WORDS.iter().any(|word| line.contains(word))
    };
    tail.iter().find(speaks).or(tail.last()).map(|line| line.trim())
}

#[cfg(test)]
mod tests {
    use super::{telling_line, told};

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

    /// A stack trace of any length hides no reason.
    #[test]
    fn the_reason_above_a_stack_trace_is_found() {
        const REASON: &str = "Process terminated. Couldn't find a valid ICU package";
        let frames = [
            "   at System.Environment.FailFast(System.String)",
            "at org.example.Main.main(Main.java:7)",
            "    at node:internal/main/run_main_module:36:49",
        ];
        for length in [0, 1, 12, 150] {
            let frames = frames.iter().cycle().take(length).copied();
            let log = ["building", REASON].into_iter().chain(frames).map(String::from).collect();
            let said = told(log);
            assert_eq!(said, ["building", REASON], "{length}");
            assert_eq!(telling_line(&said), Some(REASON));
        }
        let kept = told((0..40).map(|line| format!("at last {line}")).collect());
        assert_eq!((kept.len(), kept[11].as_str()), (12, "at last 39"));
    }
}
