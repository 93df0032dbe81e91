//! Targets that do not start, stop or stay up properly: each is named, the others continue, and no
//! process survives.
use super::support::{Checkout, Outcome, cheat};
use pippin_model::trial::{Stage, TrialRecord};
use pippin_model::verdict::{Severity, Verdict};
use pippin_testing::patience::in_time;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pippin_testing::patient_tests!(a_target_that_crashes_under_load_is_named_with_its_last_words);

/// Its first process ends when it is asked again after four loaded connections; its second one answers on.
const ENDS_AFTER_THE_LOAD: &str = r#"
first = os.getpid()
loaded = []

class Ending(Hello):
    def handle(self):
        if len(loaded) >= 4 and os.getppid() == first:
            os.kill(first, signal.SIGKILL)
        self.requests = 0
        super().handle()
        if self.requests > 20:
            loaded.append(self)

    def do_GET(self):
        self.requests += 1
        super().do_GET()

listening = server(Ending)
if os.fork():
    os.wait()
listening.serve_forever()
"#;

/// Checks and runs one target in this mode beside a good one. Returns the output of the check, and
/// the run's record of the bad target.
fn beside_a_good_one(mode: &str, expected_check: i32) -> (Outcome, Vec<TrialRecord>, Outcome) {
    let checkout = Checkout::with_cheat(mode, &["hello"]);
    checkout.add_cheat("good", "right", &["hello"]);
    let check = checkout.pippin(&["targets", "check", "test/it", "--install"]);
    check.exits(expected_check);
    checkout.left_nothing();
    checkout.add_plan("plan", "hello", &["test/it", "test/good"]);
    let outcome = checkout.pippin(&["run", "plan", "--install"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "the good one was measured: {outcome}");
    checkout.left_nothing();
    let run = checkout.store().load("latest").unwrap();
    let (bad, good): (Vec<_>, Vec<_>) =
        run.trials.into_iter().partition(|trial| trial.spec.target.name == "it");
    assert!(
        good.iter().all(|trial| trial.failure.is_none()
            && trial.load.as_ref().unwrap().measured.requests.good > 0)
    );
    assert_eq!(good.len(), 1);
    (check, bad, outcome)
}

#[track_caller]
fn fails_at(trials: &[TrialRecord], stage: Stage, message: &str) {
    let [trial] = trials else { panic!("{} trials", trials.len()) };
    let failure = trial.failure.as_ref().unwrap();
    assert_eq!(failure.stage, stage, "{}", failure.message);
    assert!(failure.message.contains(message), "{}", failure.message);
    assert_eq!(trial.verdict, Verdict::Invalid);
}

#[test]
fn a_target_that_exits_at_start_shows_the_end_of_its_log() {
    let (check, trials, run) = beside_a_good_one("exits", 1);
    check.says(&[
        "start: it exited with code 3 before it listened on 127.0.0.1:",
        "(log: no key `secret` in the configuration)",
    ]);
    run.says(&["| reading the configuration", "| no key `secret` in the configuration"]);
    fails_at(&trials, Stage::Start, "it exited with code 3");
    assert_eq!(
        trials[0].failure.as_ref().unwrap().log_tail.last().unwrap(),
        "no key `secret` in the configuration"
    );
}

#[test]
fn a_target_that_hangs_at_start_is_given_up_after_its_time() {
    let (check, trials, _) = beside_a_good_one("hangs", 1);
    check.says(&[
        "ready: not ready after 2 s at http://127.0.0.1:",
        "nobody listens; see start.ready in its target.toml",
        "(log: waiting for a licence server)",
    ]);
    fails_at(&trials, Stage::Ready, "not ready after 2 s");
}

#[test]
fn a_target_that_answers_500_is_not_ready() {
    let (check, trials, _) = beside_a_good_one("answers-500", 1);
    check.says(&["not ready after 2 s", "GET / answered 500"]);
    fails_at(&trials, Stage::Ready, "GET / answered 500");
}

#[test]
fn a_target_that_closes_each_connection_is_not_ready() {
    let (_, trials, _) = beside_a_good_one("closes-at-once", 1);
    fails_at(&trials, Stage::Ready, "not ready after 2 s");
    let message = &trials[0].failure.as_ref().unwrap().message;
    assert!(!message.contains("nobody listens"), "{message}");
}

#[test]
fn a_target_that_ignores_its_signal_is_killed_and_named() {
    let (check, trials, _) = beside_a_good_one("ignores-sigterm", 1);
    check.says(&["hello FAILED", "it did not stop within 10 s of its signal and was killed"]);
    let [trial] = trials.as_slice() else { panic!("{} trials", trials.len()) };
    assert_eq!(trial.failure, None);
    let caveat = trial.caveats.iter().find(|caveat| caveat.id == "unclean_stop").unwrap();
    assert!(caveat.evidence.contains("was killed"));
}

#[test]
fn a_process_left_behind_in_another_session_is_found_and_killed() {
    let (check, trials, _) = beside_a_good_one("leaves-child", 1);
    check.says(&["it left 1 process(es) behind, which were killed:", "lingers"]);
    let caveat = trials[0].caveats.iter().find(|caveat| caveat.id == "unclean_stop").unwrap();
    assert!(caveat.evidence.contains("lingers"), "{}", caveat.evidence);
}

#[test]
fn a_target_that_ends_between_its_load_and_its_stop_is_named() {
    let ends = "[target.ends]\ncommand = \"python3 server.py {PORT}\"\nserves = [\"home\"]\n";
    let checkout = Checkout::with_a_home(ends, "\"ends\"", "");
    // Counted, so that each connection has enough of them on a busy machine too.
    let file = checkout.path().join("pippin.toml");
    let project = std::fs::read_to_string(&file).unwrap();
    assert!(project.contains("duration = \"2s\""), "{project}");
    std::fs::write(file, project.replace("duration = \"2s\"", "requests = 400")).unwrap();
    checkout.write_server("server.py", ENDS_AFTER_THE_LOAD);
    let outcome = checkout.pippin(&["run", "ci"]);
    let run = checkout.store().load("latest").unwrap();
    let [trial] = run.trials.as_slice() else { panic!("{} trials: {outcome}", run.trials.len()) };
    assert_eq!(trial.failure, None, "{outcome}");
    let caveat = trial.caveats.iter().find(|caveat| caveat.id == "unclean_stop");
    let caveat = caveat.unwrap_or_else(|| panic!("it is not named: {outcome}"));
    assert_eq!(caveat.evidence, "it was ended by signal 9 before Pippin stopped it");
    assert_eq!(trial.verdict, Verdict::Suspect, "{outcome}");
    checkout.left_nothing();
}

#[test]
fn workers_that_end_a_moment_after_their_master_are_not_left_behind() {
    let (check, trials, _) = beside_a_good_one("workers-stop-later", 0);
    check.says(&["hello ok"]);
    assert!(
        trials[0].caveats.iter().all(|caveat| caveat.id != "unclean_stop"),
        "{:?}",
        trials[0].caveats
    );
}

#[test]
fn a_target_that_daemonises_is_told_not_to() {
    let (check, trials, _) = beside_a_good_one("daemonises", 1);
    check.says(&["exited with code 0", "must stay in the foreground"]);
    fails_at(&trials, Stage::Start, "must stay in the foreground");
}

fn a_target_that_crashes_under_load_is_named_with_its_last_words() {
    let (check, trials, run) = beside_a_good_one("crashes-after:100", 1);
    check.says(&["test/it exited with code 70 while it was measured (log: panic: index out of range after 10"]);
    run.says(&[
        "load: test/it exited with code 70 while it was measured",
        "| panic: index out of range",
    ]);
    fails_at(&trials, Stage::Load, "exited with code 70");
    let load = trials[0].load.as_ref().expect("what was measured until then is kept");
    assert!(load.interrupted, "the load ends with its target");
    let [ended] = &trials[0].ended[..] else { panic!("{:?}", trials[0].ended) };
    assert!(ended.pid > 0 && !ended.name.is_empty(), "{ended:?}");
    // What other programs of this machine did meanwhile is said all the same.
    let of_host = ["other_programs", "steal", "cpu_shared"];
    let serious: Vec<&str> = trials[0]
        .caveats
        .iter()
        .filter(|caveat| caveat.severity > Severity::Note)
        .map(|caveat| caveat.id.as_str())
        .filter(|id| !of_host.contains(id))
        .collect();
    // A generator that stood still says so.
    in_time(serious == ["server_ended"], || format!("nothing else is blamed: {serious:?}"));
}

#[test]
fn a_target_with_a_fixed_port_that_is_taken_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (check, trials, _) = beside_a_good_one(&format!("fixed-port:{port}"), 1);
    check.says(&[
        "start: it exited with code 1",
        &format!("cannot listen on 127.0.0.1:{port}: Address already in use"),
    ]);
    fails_at(&trials, Stage::Start, "exited with code 1");
}

#[test]
fn a_target_that_listens_elsewhere_is_told_where_and_where_it_was_asked() {
    // Any port but the one that it was asked for.
    let checkout = Checkout::with_cheat("fixed-port:0", &["hello"]);
    checkout
        .pippin(&["targets", "check", "test/it", "--install"])
        .exits(1)
        .says(&["your server listens on 127.0.0.1:", ", not on 127.0.0.1:", "use PORT"])
        .keeps_quiet_about(&["not ready"]);
    checkout.left_nothing();
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let checkout = Checkout::new();
    let manifest = checkout
        .manifest("it", "right", &["hello"])
        .replace(&super::support::cheat().display().to_string(), "bin/server");
    checkout.write("targets/test/it/target.toml", &manifest);
    checkout
        .pippin(&["targets", "check", "test/it", "--install"])
        .exits(1)
        .says(&["start: cannot start `bin/server`", "is it installed?"]);
}

/// Two Pippins may choose one port. The other's server answers rightly, while the target still starts.
#[test]
fn who_took_the_port_for_another_pippin_is_not_taken_for_the_target() {
    let checkout = shell_target(
        "echo $PORT > ../../../port.new; mv ../../../port.new ../../../port; sleep 20",
    );
    let file = checkout.path().join("port");
    // What stands for the other Pippin: a process with the name of its supervisor, above a server.
    let line = format!(
        "until [ -s {0} ]; do sleep 0.05; done; HOST=127.0.0.1 PORT=$(cat {0}) {1} right other; :",
        file.display(),
        cheat().display()
    );
    let mut other =
        Command::new("sh").args(["-c", &line, "__supervise"]).process_group(0).spawn().unwrap();
    let outcome = checkout.pippin(&["targets", "check", "test/it", "--install"]);
    // SAFETY: a system call without memory.
    unsafe { libc::kill(-other.id().cast_signed(), libc::SIGKILL) };
    other.wait().unwrap();
    outcome.exits(1).says(&["start: cheat (process ", "which another Pippin started, answers at"]);
    checkout.left_nothing();
}

/// The target `test/it`, which is this line of a shell; `$CHEAT` is the server that behaves.
fn shell_target(line: &str) -> Checkout {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let manifest = checkout.manifest("it", "right", &["hello"]);
    let cheat = format!("{} right {}", cheat().display(), checkout.marker());
    let command = ["/bin/sh", "-c", &line.replace("$CHEAT", &cheat)];
    let (before, rest) = manifest.split_once("command = ").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    checkout
        .write("targets/test/it/target.toml", &format!("{before}command = {command:?}\n{after}"));
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout
}

/// A daemon in its own session, then the death of the supervisor, which is the parent process.
#[test]
fn a_target_that_kills_its_supervisor_leaves_nothing() {
    let checkout = shell_target("setsid sleep 1000 & sleep 0.2; kill -9 $PPID; exec $CHEAT");
    // Nobody gets it ready any more.
    let path = checkout.path().join("targets/test/it/target.toml");
    let manifest = std::fs::read_to_string(&path).unwrap().replace("\"60s\"", "\"2s\"");
    std::fs::write(path, manifest).unwrap();
    let check = checkout.pippin(&["targets", "check", "test/it", "--install"]);
    check.exits(1);
    checkout.left_nothing();
    let run = checkout.pippin(&["run", "plan", "--install"]);
    assert_ne!(run.code, Some(0), "{run}");
    checkout.left_nothing();
    // The same if the supervisor dies under load.
    let checkout = shell_target("setsid sleep 1000 & (sleep 1.5; kill -9 $PPID) & exec $CHEAT");
    checkout.pippin(&["run", "plan", "--install"]);
    checkout.is_soon_left_by_all();
}

/// A log of 100 MB: its size is reported, and at most 64 MiB stay on the disk.
#[test]
fn a_long_log_is_cut_and_that_is_told() {
    use std::os::unix::fs::MetadataExt;
    let checkout = shell_target("head -c 100000000 /dev/zero | tr '\\\\0' x; echo; exec $CHEAT");
    let run = checkout.pippin(&["run", "plan", "--install"]);
    assert!(matches!(run.code, Some(0 | 3)), "{run}");
    run.says(&["its log grew beyond 64 MiB"]);
    let record = checkout.store().load("latest").unwrap();
    let [trial] = record.trials.as_slice() else { panic!("{:?}", record.trials.len()) };
    assert!(trial.caveats.iter().any(|caveat| caveat.id == "log_cut"), "{:?}", trial.caveats);
    let logs: Vec<std::fs::Metadata> = walk(checkout.path())
        .into_iter()
        .filter_map(|path| path.metadata().ok())
        .filter(|metadata| metadata.len() >= 100_000_000)
        .collect();
    let [log] = logs.as_slice() else { panic!("{:?}", walk(checkout.path())) };
    assert!(log.blocks() * 512 <= 64 << 20, "{} blocks", log.blocks());
}

/// All files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
