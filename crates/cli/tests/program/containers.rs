//! `--image`: real containers, if podman can start them on this machine.
use super::support::{Checkout, Started, cheat, command, pippin_with, skip};
use pippin_model::host::usage::Role;
use std::io::Write;
use std::process::{Command, Output, Stdio};

pippin_testing::patient_tests!(images_are_started_measured_and_removed);

const TEST: &str = "containers: images are started, measured and removed";

/// podman with the test's own settings. Sandboxes often forbid raising limits, which podman does by
/// default. And crun refuses some control group setups that runc accepts.
struct Podman {
    settings: String,
    images: Vec<String>,
}

impl Podman {
    fn new(checkout: &Checkout) -> Self {
        let has_runc = Command::new("runc").arg("--version").output().is_ok();
        let runtime = if has_runc { "runtime = \"runc\"\n" } else { "" };
        let text = format!(
            "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1000:1000\"]\n[engine]\n{runtime}"
        );
        let settings = checkout.write("containers.conf", &text).display().to_string();
        Self { settings, images: Vec::new() }
    }

    fn run(&self, words: &[&str], input: &[u8]) -> Result<Output, String> {
        let mut command = Command::new("podman");
        command.args(words).env("CONTAINERS_CONF", &self.settings).stdin(Stdio::piped());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("podman: {error}"))?;
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        _ = writer.join();
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        Err(said.lines().last().unwrap_or("it says nothing").to_string())
    }

    /// An image of the test's server and the libraries it is linked to.
    fn image(&mut self, name: &str, mode: &str, port: Option<u16>) -> Result<String, String> {
        let name = format!("localhost/pippin-test-{name}-{}", std::process::id());
        let start = format!("CMD [\"/server\", \"{mode}\", \"own\"]");
        let mut words = vec!["import", "--change", &start];
        let declared = port.map(|port| format!("EXPOSE {port}"));
        words.extend(declared.iter().flat_map(|declared| ["--change", declared]));
        words.extend(["-", &name]);
        self.run(&words, &files())?;
        self.images.push(name.clone());
        Ok(name)
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        for image in &self.images {
            _ = self.run(&["rmi", "--force", image], b"");
        }
    }
}

/// The libraries that ldd(1) lists for the server, the loader first.
fn libraries() -> Vec<String> {
    let output = Command::new("ldd").arg(cheat()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut paths: Vec<String> =
        text.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_string).collect();
    paths.sort_by_key(|path| !path.contains("/ld-"));
    paths
}

/// The files of the image, as an archive.
fn files() -> Vec<u8> {
    let mut tar = Command::new("tar");
    tar.args(["-ch", "--absolute-names", "--transform", "s|^.*/cheat$|/server|"]);
    tar.arg(cheat()).args(libraries());
    let output = tar.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Whether the test can create its own network namespace.
fn namespaces() -> Result<(), String> {
    let output = Command::new("unshare").args(["--net", "true"]).output();
    let is_allowed = output.is_ok_and(|output| output.status.success());
    is_allowed.then_some(()).ok_or_else(|| "no network namespace may be made here".into())
}

/// This command in its own network namespace. podman's rules for published ports end with it.
/// On the host they would stay and slow down all later loads.
fn in_a_namespace(command: &Command) -> Command {
    let mut outer = Command::new("unshare");
    outer
        .args(["--net", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    outer.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

fn images_are_started_measured_and_removed() {
    let checkout = Checkout::new();
    let mut podman = Podman::new(&checkout);
    let images = podman
        .image("fast", "slow:5", Some(8_080))
        .and_then(|fast| Ok((fast, podman.image("slow", "slow:40", None)?)));
    let (fast, slow) = match images {
        Ok(images) => images,
        Err(why) => return skip(TEST, &why),
    };
    let loader = libraries().remove(0);
    let try_it = ["run", "--rm", "--pull=never", "--network=none", &fast, &loader, "--version"];
    if let Err(why) = podman.run(&try_it, b"").and_then(|_| namespaces()) {
        return skip(TEST, &why);
    }
    let compare = [
        "compare",
        "--image",
        &fast,
        "--image",
        &slow,
        "-c",
        "2",
        "-d",
        "400ms",
        "--warm-up",
        "none",
        "--repeat",
        "3",
        "--fail-if",
        "p50 > 100%",
    ];
    let outcome = Started::spawn(
        in_a_namespace(&command(checkout.path(), &compare))
            .env("CONTAINERS_CONF", &podman.settings),
    )
    .finish();
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&["image/localhost-pippin-test-fast", "gate UNDECIDED  fail if p50 > 100%"]);
    let run = checkout.store().load("latest").unwrap();
    assert_eq!(run.trials.len(), 6, "{outcome}");
    for trial in &run.trials {
        let usage = trial.usage.as_ref().unwrap();
        let target = &usage.roles[&Role::Target];
        assert!(target.rss_max_bytes.is_some_and(|bytes| bytes > 100_000), "{target:?}");
    }
    let left = podman.run(&["ps", "--all", "--format", "{{.Names}}"], b"").unwrap();
    let left = String::from_utf8(left.stdout).unwrap();
    assert!(!left.contains("pippin-"), "{left}");
}

/// A missing image is named with the command that fetches it, before anything starts.
#[test]
fn an_image_that_is_not_here_is_named_with_the_command_that_fetches_it() {
    let checkout = Checkout::new();
    let podman = Podman::new(&checkout);
    if let Err(why) = podman.run(&["info"], b"") {
        return skip("containers: an image that is not here", &why);
    }
    let outcome = pippin_with(
        &checkout,
        &["compare", "--image", "localhost/pippin-none-a", "--image", "localhost/pippin-none-b"],
        &[("CONTAINERS_CONF", &podman.settings)],
    );
    outcome
        .exits(4)
        .says(&["localhost-pippin-none-a", "the image is not here; add --install to fetch it"]);
}
