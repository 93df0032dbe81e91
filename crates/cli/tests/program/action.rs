//! The scripts of the GitHub action, with releases in a folder, and with stand-ins for `cargo`, `gh` and
//! `pippin` that write down how they were called.
use super::support::skip;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A job: a folder to work in, and the programs that stand in for others.
struct Job(TempDir);

impl Job {
    fn new() -> Self {
        let job = Self(tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap());
        fs::create_dir(job.at("bin")).unwrap();
        job
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn has(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    /// A program on the PATH that writes its arguments, one on each line, and then runs this.
    fn stand_in(&self, name: &str, then: &str) {
        let calls = self.at("calls");
        let script =
            format!("#!/bin/sh\nprintf '%s\\n' {name} \"$@\" >> '{}'\n{then}\n", calls.display());
        executable(&self.at("bin").join(name), &script);
    }

    /// How the stand-ins were called since the last look.
    fn calls(&self) -> Vec<String> {
        let calls = self.text("calls").lines().map(str::to_string).collect();
        self.has("calls", "");
        calls
    }

    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(root.join("deploy/action").join(script));
        command
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", self.at("bin").display()))
            .env("RUNNER_TOOL_CACHE", self.at("tools"))
            .env("GITHUB_PATH", self.at("path"))
            .env("GITHUB_STEP_SUMMARY", self.at("page"))
            .env("GITHUB_REPOSITORY", "ana/shop")
            .env("PIPPIN_RELEASES", format!("file://{}", self.at("releases").display()))
            .env_remove("PIPPIN_VERSION")
            .envs(variables.iter().copied());
        command.output().unwrap()
    }
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn sh(folder: &Path, script: &str) {
    let output = Command::new("sh").args(["-c", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
}

/// The release 9.9.9 as `deploy/packages/build` makes it.
fn release(job: &Job) {
    let name = format!("pippin-9.9.9-{}-linux-musl", std::env::consts::ARCH);
    let folder = job.at("releases/v9.9.9");
    fs::create_dir_all(folder.join(&name)).unwrap();
    executable(&folder.join(&name).join("pippin"), "#!/bin/sh\necho pippin 9.9.9\n");
    sh(&folder, &format!("tar -czf {name}.tar.gz {name} && sha256sum ./*.tar.gz > SHA256SUMS"));
}

#[test]
fn a_release_is_installed_once_and_only_with_its_checksum() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("action: installs a release", "there is no curl");
    }
    let job = Job::new();
    job.stand_in("cargo", "exit 1");
    release(&job);
    let version = [("PIPPIN_VERSION", "9.9.9")];
    let output = job.run("install", &version);
    assert!(output.status.success(), "{output:?}");
    let folder = job.at("tools/pippin/9.9.9/bin");
    assert_eq!(job.text("path").trim(), folder.to_str().unwrap());
    assert!(folder.join("pippin").is_file());
    // The second time nothing is downloaded.
    fs::remove_dir_all(job.at("releases")).unwrap();
    assert!(job.run("install", &version).status.success());
    fs::remove_dir_all(job.at("tools")).unwrap();
    release(&job);
    let archive =
        format!("releases/v9.9.9/pippin-9.9.9-{}-linux-musl.tar.gz", std::env::consts::ARCH);
    let mut bytes = fs::read(job.at(&archive)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(job.at(&archive), bytes).unwrap();
    let output = job.run("install", &version);
    assert!(!output.status.success() && !job.at("tools").exists(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("::error::"), "{output:?}");
    assert_eq!(job.calls(), [""; 0], "what is wrong is not built instead");
}

#[test]
fn without_a_release_it_is_built_unless_one_was_asked_for() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("action: builds without a release", "there is no curl");
    }
    let job = Job::new();
    let folder = job.at("tools/pippin").join(env!("CARGO_PKG_VERSION"));
    let make = format!(
        "mkdir -p '{0}/bin' && printf '#!/bin/sh\\necho built\\n' > '{0}/bin/pippin' && chmod +x '{0}/bin/pippin'",
        folder.display()
    );
    job.stand_in("cargo", &make);
    let output = job.run("install", &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(job.calls().starts_with(&["cargo".into(), "install".into(), "--locked".into()]));
    let output = job.run("install", &[("PIPPIN_VERSION", "8.8.8")]);
    assert!(!output.status.success() && job.calls().is_empty(), "{output:?}");
}

#[test]
fn arguments_are_lines_that_no_shell_reads_and_the_exit_code_is_kept() {
    let job = Job::new();
    job.stand_in("pippin", "echo '### shop' > pippin-summary.md; exit 5");
    let arguments = "load\nhttp://127.0.0.1:1/?a=1&b=$HOME\r\n\n--fail-if\np99 > 200ms; touch x\n";
    let output = job.run("measure", &[("PIPPIN_ARGUMENTS", arguments)]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(
        job.calls(),
        [
            "pippin",
            "load",
            "http://127.0.0.1:1/?a=1&b=$HOME",
            "--fail-if",
            "p99 > 200ms; touch x",
            "--junit",
            "pippin-junit.xml",
            "--summary",
            "pippin-summary.md"
        ]
    );
    assert_eq!(job.text("page"), "### shop\n");
    // A step that writes no summary does not show the one before.
    job.stand_in("pippin", "exit 2");
    assert_eq!(job.run("measure", &[("PIPPIN_ARGUMENTS", "ci")]).status.code(), Some(2));
    assert_eq!(job.text("page"), "### shop\n");
}

#[test]
fn the_comment_of_the_run_before_is_replaced() {
    let job = Job::new();
    let comment = |found: &str| {
        job.stand_in("gh", &format!("[ \"$2\" != --paginate ] || printf '{found}'"));
        let of = [("PIPPIN_PULL_REQUEST", "7"), ("GITHUB_WORKFLOW", "w"), ("GITHUB_JOB", "j")];
        let output = job.run("comment", &of);
        assert!(output.status.success(), "{output:?}");
        job.calls()
            .into_iter()
            .filter(|line| line.starts_with("repos/") || line.len() < 6)
            .collect::<Vec<_>>()
    };
    assert_eq!(comment(""), [""; 0], "there is no summary");
    job.has("pippin-summary.md", "### shop\n");
    let list = "repos/ana/shop/issues/7/comments";
    assert_eq!(comment(""), ["gh", "api", list, "--jq", "gh", "api", "POST", list]);
    assert_eq!(job.text("pippin-comment.md"), "<!-- pippin: w/j -->\n### shop\n");
    let change = ["PATCH", "repos/ana/shop/issues/comments/31"];
    assert_eq!(
        comment("31\\n44\\n"),
        [&["gh", "api", list, "--jq", "gh", "api"], &change[..]].concat()
    );
    // A pull request from a fork may not write: the job does not fail for it.
    job.stand_in("gh", "exit 1");
    let output = job.run("comment", &[("PIPPIN_PULL_REQUEST", "7")]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("::warning::"), "{output:?}");
}
