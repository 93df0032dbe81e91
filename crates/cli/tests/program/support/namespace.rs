//! Mounts that only one process and its children see (unshare(1)).
use std::ffi::OsStr;
use std::process::Command;

/// A command in its own mount namespace, after `mount` was called there with these words. The
/// caller adds the program.
pub fn with_mount(words: &[&OsStr]) -> Command {
    let mut command = Command::new("unshare");
    // SAFETY: geteuid(2) cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    command.args(if is_root {
        &["--mount"][..]
    } else {
        &["--user", "--map-root-user", "--mount"]
    });
    let count = words.len();
    let script = format!("mount \"${{@:1:{count}}}\" && shift {count} && exec \"$@\"");
    command.args(["bash", "-c", &script, "bash"]).args(words);
    command
}

/// Whether this machine allows it.
pub fn may_mount(words: &[&OsStr]) -> bool {
    with_mount(words).arg("true").output().is_ok_and(|done| done.status.success())
}
