//! Standard output and standard error that nobody reads or that are full, and signals that the
//! parent process blocked or ignored.
use super::support::{Checkout, plan, until};
use pippin_model::run::RunState;
use pippin_testing::Running;
use pippin_testing::scripted::{Account, Answer, Script, spawn};
use std::process::{Command, Output};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pippin");

fn server() -> Running<Account> {
    spawn(Script::always(Answer::ok(b"hello").delay(Duration::from_millis(5)))).unwrap()
}

/// Runs a line of bash for at most a minute, because otherwise a hung load would hang the test.
/// `$PIPPIN` is the program. Its store is new each time, so that no other test or version wrote it.
fn bash(line: &str) -> Output {
    let state = tempfile::tempdir().unwrap();
    Command::new("timeout")
        .args(["--signal=KILL", "60", "bash", "-c", line])
        .current_dir(std::env::temp_dir())
        .env("PIPPIN", PROGRAM)
        .env("XDG_STATE_HOME", state.path())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_load_whose_reader_is_gone_ends_quietly() {
    let server = server();
    let line = format!(
        "$PIPPIN load http://{}/ -d 600s 2>&1 | head -1 >&2; echo ${{PIPESTATUS[0]}}",
        server.address()
    );
    let output = bash(&line);
    assert_eq!(text(&output.stdout), "141\n", "{output:?}");
    assert!(text(&output.stderr).contains("requests/s"), "{output:?}");
}

#[test]
fn a_load_whose_progress_cannot_be_written_is_measured_all_the_same() {
    let server = server();
    let output = bash(&format!("$PIPPIN load http://{}/ -c 1 -d 1s 2>/dev/full", server.address()));
    // A busy machine may make it invalid.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    assert!(text(&output.stdout).contains(" requests/s"), "{output:?}");
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure_that_is_told() {
    let server = server();
    let output =
        bash(&format!("$PIPPIN load http://{}/ -c 1 -n 10 -q >/dev/full", server.address()));
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(text(&output.stderr).contains("write the result: No space left"), "{output:?}");
    for command in ["completions bash", "man", "--help"] {
        let output = bash(&format!("$PIPPIN {command} >/dev/full"));
        assert!(!text(&output.stderr).contains("panicked"), "{command}: {output:?}");
    }
}

fn long(checkout: &Checkout) {
    let profile = "kind = \"closed\"\nconnections = 2\nduration = \"600s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/long.toml", &plan("hello", &["test/it"], profile));
    checkout.pippin(&["targets", "install", "test/it"]).exits(0);
}

#[test]
fn a_run_whose_reader_is_gone_is_interrupted() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_cheat("quick", "exits", &["hello"]);
    let profile = "kind = \"closed\"\nconnections = 2\nduration = \"2s\"\nwarm_up = \"none\"\n";
    checkout.write("plans/two.toml", &plan("hello", &["test/quick", "test/it"], profile));
    checkout.pippin(&["targets", "install", "test/it", "test/quick"]).exits(0);
    let line = format!(
        "cd {0}; PIPPIN_HOME={0} $PIPPIN --store {1} run two 2>&1 | head -1 >&2; echo ${{PIPESTATUS[0]}}",
        checkout.path().display(),
        checkout.store_path().display()
    );
    let output = bash(&line);
    assert_eq!(text(&output.stdout), "141\n", "{output:?}");
    assert!(!text(&output.stderr).contains("panicked"), "{output:?}");
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(record.state, RunState::Interrupted);
    assert!(record.ended_unix_ns.is_some());
    checkout.left_nothing();
}

/// Starts a run of ten minutes under `env` with these words and sends it a signal. It must end as
/// interrupted.
fn is_interrupted_by(env: &[&str], signal: libc::c_int) {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    long(&checkout);
    let mut child = Command::new("env")
        .args(env)
        .args([PROGRAM, "--quiet", "--store"])
        .arg(checkout.store_path())
        .args(["run", "long"])
        .current_dir(checkout.path())
        .env("PIPPIN_HOME", checkout.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    checkout.wait_for_process("right");
    // SAFETY: kill(2) on our own child, which has not been waited for; `env` has become Pippin.
    unsafe { libc::kill(child.id() as i32, signal) };
    let mut code = None;
    let over = until(|| {
        // SAFETY: waitid(2) only looks and leaves the child for `wait`.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(
                libc::P_PID,
                child.id(),
                &raw mut info,
                libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
            );
            info.si_pid() != 0
        }
    });
    if over {
        code = child.wait().unwrap().code();
    } else {
        let _ = child.kill();
        let _ = child.wait();
    }
    assert_eq!(code, Some(130), "{env:?}, signal {signal}");
    assert_eq!(checkout.store().load("latest").unwrap().state, RunState::Interrupted);
    checkout.is_soon_left_by_all();
}

#[test]
fn the_first_sigint_or_sigterm_counts_even_where_it_was_blocked_or_ignored() {
    is_interrupted_by(&["--block-signal=INT,TERM"], libc::SIGTERM);
    is_interrupted_by(&["--block-signal=INT,TERM"], libc::SIGINT);
    is_interrupted_by(&["--ignore-signal=INT,TERM"], libc::SIGTERM);
}

#[test]
fn a_closed_terminal_interrupts_and_nohup_still_works() {
    is_interrupted_by(&["--default-signal=HUP"], libc::SIGHUP);
    let server = server();
    let url = format!("http://{}/", server.address());
    let load = ["timeout", "--signal=KILL", "60", "nohup", PROGRAM, "load", &url, "-d", "2s", "-q"];
    let mut command = Command::new(load[0]);
    command.args(&load[1..]).current_dir(std::env::temp_dir());
    let null = std::process::Stdio::null;
    let state = tempfile::tempdir().unwrap();
    let command = command.env("XDG_STATE_HOME", state.path());
    let child = command.stdin(null()).stdout(null()).stderr(null()).spawn().unwrap();
    // By then it has come to know whether it may be hung up.
    assert!(until(|| server.account().requests > 20), "it sends nothing");
    let of_child = format!("/proc/{0}/task/{0}/children", child.id());
    let pids = std::fs::read_to_string(of_child).unwrap();
    // SAFETY: kill(2) on the only child of our own child, which waits for it.
    assert_eq!(unsafe { libc::kill(pids.trim().parse().unwrap(), libc::SIGHUP) }, 0);
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
}
