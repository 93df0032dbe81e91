//! Repositories of git.
use std::path::Path;
use std::process::Command;

/// Runs git in a folder, with an identity that no machine has. Returns what it printed.
#[track_caller]
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Commits all files of a folder.
#[track_caller]
pub fn commit(folder: &Path, text: &str) {
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", text]);
}

/// Removes the variables by which a job names the base of a checkout: these tests may be part of one.
pub fn without_job(command: &mut Command) {
    for name in
        ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_COMMIT_TARGET_BRANCH"]
    {
        command.env_remove(name);
    }
}
