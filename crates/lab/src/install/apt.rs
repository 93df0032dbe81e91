//! Debian packages, through apt-get; with sudo where needed.
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pippin_model::trial::{Failure, Stage};

use super::{Installer, steps};
use crate::error::LabError;
use crate::lifecycle::environment::find_program;

/// Whether this is a Debian system.
#[must_use]
pub fn is_available() -> bool {
    find_program("apt-get").is_some() && find_program("dpkg-query").is_some()
}

/// The packages that are not installed. None on a system that is not Debian: there only the tools
/// decide.
#[must_use]
pub fn missing(packages: &[String]) -> Vec<String> {
    if packages.is_empty() || !is_available() {
        return Vec::new();
    }
    let installed = installed(packages);
    packages.iter().filter(|package| !installed.contains(*package)).cloned().collect()
}

/// Which of these packages are installed. One call asks for all: it reads the whole database each time.
fn installed(packages: &[String]) -> BTreeSet<String> {
    let output = Command::new("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\n", "--"])
        .args(packages)
        .stderr(Stdio::null())
        .output();
    // It fails where it does not know one of them, and still prints the others.
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&text);
    lines.lines().filter_map(|line| line.strip_suffix(" installed")).map(String::from).collect()
}

/// The command that installs packages, for showing and for running.
#[must_use]
pub fn command(packages: &[String]) -> Vec<String> {
    // Words after `--` are names, never options.
    let options = [
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "-o",
        "DPkg::Lock::Timeout=900",
        "--",
    ];
    sudo()
        .iter()
        .map(ToString::to_string)
        .chain(options.map(String::from))
        .chain(packages.iter().cloned())
        .collect()
}

fn sudo() -> &'static [&'static str] {
    // SAFETY: geteuid(2) cannot fail.
    if unsafe { libc::geteuid() } == 0 { &[] } else { &["sudo"] }
}

/// Installs packages; the package lists are brought up to date first, once a process.
///
/// # Errors
/// A target failure with what apt-get printed last.
pub fn install(packages: &[String], installer: &Installer<'_>) -> Result<(), LabError> {
    // Two at once would wait for each other's locks or remove each other's downloads.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    static UPDATED: AtomicBool = AtomicBool::new(false);
    if !UPDATED.swap(true, Ordering::Relaxed) {
        (installer.say)("apt-get update");
        let update: Vec<String> = sudo()
            .iter()
            .map(ToString::to_string)
            .chain(["apt-get", "update"].map(String::from))
            .collect();
        // An old list may still do.
        let _ = run(&update);
    }
    let words = command(packages);
    (installer.say)(&words.join(" "));
    run(&words).map_err(|log_tail| {
        let reason = steps::reason(&log_tail);
        let message = format!("apt-get could not install {}{reason}", packages.join(" "));
        LabError::Target(Failure { stage: Stage::Install, message, log_tail })
    })
}

fn run(words: &[String]) -> Result<(), Vec<String>> {
    let output = Command::new(&words[0])
        .args(&words[1..])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| vec![format!("{}: {error}", words[0])])?;
    if output.status.success() {
        return Ok(());
    }
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let lines: Vec<&str> = text.lines().collect();
    Err(lines[lines.len().saturating_sub(8)..].iter().map(ToString::to_string).collect())
}
