//! What tests install from registries, once, into the folder of the build.
use super::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs of a virtual environment with this package of Python; `None`, and the test is named as
/// skipped, where it cannot be had.
pub fn virtual_environment(test: &str, package: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python-{package}"));
    let (bin, done) = (folder.join("bin"), folder.join("installed"));
    let [place, pip] = [&folder, &bin.join("pip")].map(|path| path.display().to_string());
    let install = || {
        succeeds(&["python3", "-m", "venv", &place])
            && succeeds(&[&pip, "install", "--quiet", package])
            && std::fs::write(&done, "").is_ok()
    };
    if done.is_file() || install() {
        return Some(bin);
    }
    skip(test, &format!("{package} cannot be installed here"));
    None
}

/// Whether a command ends well. What it prints is left out.
pub fn succeeds(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    let quiet = command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
