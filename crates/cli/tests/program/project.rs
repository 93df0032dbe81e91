//! `pippin.toml`: your own server, its plans and gates, its revisions; `pippin init`.
use super::support::{Outcome, Started, cheat, command, git};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pippin_testing::patient_tests!(
    two_revisions_are_built_measured_and_compared,
    a_gate_of_a_plan_compares_with_a_revision_that_the_same_run_measures
);

/// A user's own repository.
struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("pippin-test-").tempdir().unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A project whose server is built from a file and answers after this many milliseconds.
    fn with_server(delay_ms: u32) -> Self {
        let repository = Self::new();
        repository.write("delay", &format!("slow:{delay_ms}"));
        repository.write(
            "pippin.toml",
            &format!(
                "[target.shop]\nbuild = [[\"cp\", \"delay\", \"built\"]]\ncommand = [\"sh\", \"-c\", \"exec '{}' $(cat built) own\"]\nserves = [\"hello\"]\n[workload.home]\nrequest = {{ path = \"/\" }}\nanswer = {{ contains = [\"Hello\"], body_bytes = {{ min = 1, max = 100 }} }}\n[plan.ci]\nworkload = \"home\"\ntargets = [\"shop\"]\nrepetitions = 2\nprofile = {{ kind = \"closed\", connections = 4, duration = \"300ms\", warm_up = \"none\" }}\ncpus = {{ share = true }}\nrequire = [\"errors < 1%\", \"status.2xx > 0\"]\n",
                cheat().display()
            ),
        );
        repository
    }

    fn pippin(&self, arguments: &[&str]) -> Outcome {
        let mut command = command(self.path(), arguments);
        Started::spawn(&mut command).finish()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }
}

#[test]
fn one_command_builds_proves_measures_and_judges() {
    let repository = Repository::with_server(5);
    let outcome = repository.pippin(&["run", "ci"]);
    outcome.says(&["own/shop", "gate passed  require errors < 1%"]);
    assert!([Some(0), Some(3)].contains(&outcome.code), "{outcome}");
    assert!(repository.path().join(".pippin/pippin.db").is_file());
    assert_eq!(
        std::fs::read_to_string(repository.path().join(".pippin/.gitignore")).unwrap(),
        "*\n"
    );
    repository.pippin(&["plans"]).exits(0).says(&["ci  ", "workload home, 1 target:"]);
    repository.pippin(&["targets", "list"]).exits(0).says(&["own/shop "]);
    for name in ["own/shop", "shop"] {
        repository.pippin(&["history", name]).exits(0).says(&["-ci"]);
    }
    for arguments in [&["history", "shpo"][..], &["history", "shpo", "--html", "x.html"]] {
        repository.pippin(arguments).is_a_user_error(&["no trial of `shpo` is in the store"]);
    }
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    repository.write("pippin.toml", &text.replace("status.2xx > 0", "status.2xx < 1"));
    let outcome = repository.pippin(&["run", "ci"]);
    outcome.says(&["gate FAILED  require status.2xx < 1"]);
    assert!([Some(1), Some(3)].contains(&outcome.code), "{outcome}");
}

/// The project with another command.
fn with_command(more: &str, command: &str) -> Repository {
    let repository = Repository::with_server(5);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    let given = text.lines().find(|line| line.starts_with("command")).unwrap();
    let program = cheat().display().to_string();
    let command = command.replace("SERVER", &format!("'{program}'"));
    let line = format!("{more}command = {}", serde_json::Value::from(command));
    repository.write("pippin.toml", &text.replace(given, &line));
    repository
}

#[test]
fn a_command_has_its_variables_and_its_folder() {
    let repository = with_command("", "cd api && MODE=slow:5 sh run.sh");
    repository.write("api/run.sh", &format!("exec '{}' $MODE own\n", cheat().display()));
    let outcome = repository.pippin(&["run", "ci"]);
    outcome.says(&["gate passed  require errors < 1%"]);
    let outcome = with_command("", "cd nowhere && SERVER right own").pippin(&["run", "ci"]);
    outcome.says(&["nowhere, in which it is to run, is not there"]);
    with_command("", "SERVER right own > log")
        .pippin(&["run", "ci"])
        .is_a_user_error(&["pippin.toml:3:", "`>` is a shell's; write sh -c"]);
}

/// It has a minute to be ready, and is told within its first seconds.
#[test]
fn a_server_that_listens_on_another_address_is_told_so() {
    let outcome = with_command("", "HOST=[::1] SERVER right own").pippin(&["run", "ci"]);
    outcome
        .says(&["your server listens on [::1]:", ", not on 127.0.0.1:", "{HOST} in its command"])
        .keeps_quiet_about(&["not ready"]);
}

#[test]
fn a_server_is_ready_with_the_status_that_is_asked_for() {
    let ready = "ready = { path = \"/\", status = 418 }\nready_within = \"5s\"\n";
    let outcome = with_command(ready, "SERVER right own").pippin(&["run", "ci"]);
    outcome.says(&["not ready after 5 s", "GET / answered 200 and not 418"]);
    let ready = "ready = { path = \"/\", status = 200 }\n";
    let outcome = with_command(ready, "SERVER slow:5 own").pippin(&["run", "ci"]);
    outcome.says(&["gate passed  require errors < 1%"]);
}

#[test]
fn a_shipped_workload_that_it_serves_is_measured_and_for_others_the_route_is_told() {
    let repository = Repository::with_server(5);
    repository.write(
        "plans/short.toml",
        "title = \"Short\"\nworkload = \"hello\"\ntargets = [\"own/shop\"]\nrepetitions = 1\nconnections = 2\nduration = \"300ms\"\n[cpus]\nshare = true\n",
    );
    repository
        .pippin(&["run", "short", "--targets", "shop"])
        .says(&["own/shop"])
        .keeps_quiet_about(&["failed at"]);
    repository.pippin(&["run", "hola", "--targets", "shop"]).is_a_user_error(&[
        "own/shop does not serve the workload `hola` (it serves home, hello)",
        "let it answer GET /hola/{name} with 200",
        "serves = [\"hola\"] in [target.shop]",
    ]);
}

fn two_revisions_are_built_measured_and_compared() {
    let repository = Repository::with_server(20);
    repository.git(&["init", "-q", "-b", "main"]);
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "Fast"]);
    repository
        .pippin(&["compare", "main", "HEAD"])
        .is_a_user_error(&["the repository has the same files"]);
    repository.git(&["checkout", "-q", "-b", "next"]);
    repository.write("delay", "slow:60");
    repository.git(&["commit", "-q", "-a", "-m", "Slow"]);
    let outcome = repository.pippin(&[
        "compare",
        "main",
        "HEAD",
        "--fail-if",
        "goodput < -20%",
        "--repeat",
        "3",
    ]);
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&[
        "A main (commit ",
        "B HEAD (commit ",
        "own/shop@main -> own/shop@HEAD",
        "gate UNDECIDED",
    ]);
    repository.pippin(&["history"]).exits(0).says(&[": main (", ") and HEAD ("]);
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1, "both are removed");
    assert_eq!(repository.git(&["status", "--porcelain"]), "?? built\n".replace("?? built\n", ""));
    for sides in [["main", "mian"], ["mian", "main"]] {
        let said = ["git knows no revision `mian`; did you mean `main`?"];
        repository.pippin(&["compare", sides[0], sides[1]]).is_a_user_error(&said);
    }
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    repository.write("pippin.toml", &text.replace(" own\"]", " own as-now\"]"));
    let whose = |file| {
        let flags = ["--repeat", "1", "--base-file", file, "--html", ".pippin/page.html"];
        repository.pippin(&[&["compare", "main", "HEAD"], &flags[..]].concat());
        let store = repository.path().join(".pippin/pippin.db");
        let run = pippin_store::Store::open(&store).unwrap().load("latest").unwrap();
        let manifests = run.header.targets.values().map(|info| info.manifest.clone().unwrap());
        manifests.map(|it| it.start.command.concat().contains("as-now")).collect::<Vec<_>>()
    };
    assert_eq!((whose("own"), whose("checkout")), (vec![false; 2], vec![true; 2]));
    assert!(repository.path().join(".pippin/page.html").is_file());
}

fn a_gate_of_a_plan_compares_with_a_revision_that_the_same_run_measures() {
    let repository = Repository::with_server(20);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    let gates = "require = [\"goodput > -30% vs main\", \"errors < 1%\"]";
    let text = format!("{}{gates}\n", text.split("require = ").next().unwrap());
    repository.write("pippin.toml", &text);
    repository.pippin(&["run", "ci"]).is_a_user_error(&["goodput > -30% vs main", "main"]);
    repository.git(&["init", "-q", "-b", "main"]);
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "Fast"]);
    repository.write("delay", "slow:60");
    let three = repository.pippin(&["run", "ci", "--repeat", "3"]);
    assert!([Some(5), Some(3)].contains(&three.code), "{three}");
    three
        .says(&["gate UNDECIDED  require goodput > -30% vs main", "compared with own/shop@main: "]);
    let gates = three.stdout.lines().filter(|line| line.starts_with("gate ")).count();
    assert_eq!(gates, 2, "the revision itself is judged by no gate: {three}");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1, "it is removed");
}

#[test]
fn a_target_that_cannot_be_built_fails_its_gates() {
    let repository = Repository::with_server(5);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    let gates = "require = [\"errors < 1%\", \"goodput > -90% vs main\"]";
    let text = format!("{}{gates}\n", text.split("require = ").next().unwrap());
    repository.write("pippin.toml", &text);
    repository.git(&["init", "-q", "-b", "main"]);
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "It builds"]);
    repository.write("pippin.toml", &text.replace("\"cp\", \"delay\"", "\"cp\", \"gone\""));
    let outcome = repository.pippin(&["run", "ci", "--junit", "j.xml", "--summary", "s.md"]);
    // INVALID, which the load of the revision may be, comes first.
    assert!([Some(1), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&[
        "own/shop@main",
        "gate FAILED  require errors < 1%  not measured: install: `cp gone built`",
        "gate FAILED  require goodput > -90% vs main  not measured: install: `cp gone built`",
    ]);
    let read = |file| std::fs::read_to_string(repository.path().join(file)).unwrap();
    let (junit, summary) = (read("j.xml"), read("s.md"));
    assert!(junit.contains("<testsuite name=\"own/shop\" tests=\"2\""), "{junit}");
    assert_eq!(junit.matches("not measured: install: `cp gone built`").count(), 4, "{junit}");
    assert!(summary.contains("2 of 2 gates FAILED"), "{summary}");
    assert!(summary.contains("not measured: install: "), "{summary}");
}

#[test]
fn the_base_of_a_gate_may_be_the_short_name_of_a_target() {
    let repository = Repository::with_server(5);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    let (rest, server) = (text.split("require = ").next().unwrap(), text.lines().nth(2).unwrap());
    let rest = rest.replace("targets = [\"shop\"]", "targets = [\"shop\", \"old\"]");
    repository.git(&["init", "-q", "-b", "main"]);
    let old = format!("[target.old]\nbuild = [[\"cp\", \"delay\", \"built\"]]\n{server}\n");
    let with_gate = |base: &str| format!("{rest}require = [\"p50 < 900000% vs {base}\"]\n{old}");
    repository.write("pippin.toml", &with_gate("old"));
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "Two targets"]);
    let outcome = repository.pippin(&["run", "ci", "--repeat", "1"]);
    assert!([Some(5), Some(3)].contains(&outcome.code), "{outcome}");
    outcome.says(&["gate UNDECIDED  require p50 < 900000% vs old  ", "compared with own/old: "]);
    outcome.keeps_quiet_about(&["own/shop@", "nothing to compare with"]);
    let gates = outcome.stdout.lines().filter(|line| line.starts_with("gate ")).count();
    assert_eq!(gates, 1, "nothing is compared with itself: {outcome}");
    // Git also knows a branch of this name.
    repository.git(&["branch", "old"]);
    repository.pippin(&["run", "ci"]).is_a_user_error(&[
        "`old` has two meanings: the target own/old (write own/old)",
        "refs/heads/old",
    ]);
    repository.write("pippin.toml", &with_gate("odl"));
    repository.pippin(&["run", "ci"]).is_a_user_error(&[
        "this repository has no branch, tag or commit of this name, and there is no run `odl`",
    ]);
}

#[test]
fn a_server_that_is_never_ready_is_sent_to_the_project_file() {
    let repository = Repository::with_server(5);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    let start = text.lines().nth(2).unwrap();
    for (command, says) in [
        ("command = \"sleep 60\"\nready_within = \"1s\"", "`ready` and `ready_within`"),
        ("command = \"true\"", "`command`"),
        ("command = \"bin/gone\"", "`build`"),
    ] {
        repository.write("pippin.toml", &text.replace(start, command));
        let says = format!("{says} in [target.shop] of pippin.toml");
        let outcome = repository.pippin(&["run", "ci"]);
        let record = repository.pippin(&["export", "latest", "--format", "record"]);
        assert!(record.stdout.contains(&says), "{says}: {outcome}\n{record}");
        record.keeps_quiet_about(&["its target.toml", "pippin targets install"]);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let repository = Repository::with_server(5);
    for flag in ["--junit", "--summary"] {
        let missing = format!("{flag}: there is no folder no/such; make it first");
        let folder = format!("{flag}: .pippin is a folder; name a file");
        repository.pippin(&["run", "ci", flag, "no/such/x"]).is_a_user_error(&[&missing]);
        assert!(!repository.path().join("built").exists(), "nothing is built");
        repository.write(".pippin/.gitignore", "*\n");
        repository.pippin(&["run", "ci", flag, ".pippin"]).is_a_user_error(&[&folder]);
        for command in ["compare", "load"] {
            let sides = &["http://127.0.0.1:9/", "http://127.0.0.1:9/"];
            let sides = if command == "load" { &sides[..1] } else { &sides[..] };
            let all = [&[command], sides, &[flag, ".pippin"]].concat();
            repository.pippin(&all).is_a_user_error(&[&folder]);
        }
    }
    let json = ["load", "http://127.0.0.1:9/", "--json", ".pippin"];
    repository.pippin(&json).is_a_user_error(&["--json: .pippin is a folder; name a file"]);
    assert!(!repository.path().join("built").exists(), "nothing is built");
}

#[test]
fn a_slip_names_file_line_and_fix() {
    let repository = Repository::with_server(5);
    let text = std::fs::read_to_string(repository.path().join("pippin.toml")).unwrap();
    for (from, to, says) in [
        (
            "serves = [\"hello\"]",
            "serves = [\"helo\"]",
            "pippin.toml:4: there is no workload `helo`; did you mean `hello`?",
        ),
        (
            "targets = [\"shop\"]",
            "targets = [\"shpo\"]",
            "pippin.toml:10: there is no [target.shpo]; did you mean `shop`?",
        ),
        (
            "workload = \"home\"",
            "workload = \"hom\"",
            "pippin.toml:9: there is no workload `hom`; did you mean `home`?",
        ),
        (
            "workload = \"home\"",
            "wrkload = \"home\"",
            "pippin.toml:9: unknown key `wrkload`: did you mean `workload`?",
        ),
        ("errors < 1%", "erors < 1%", "pippin.toml:14: require: `erors < 1%` "),
    ] {
        repository.write("pippin.toml", &text.replace(from, to));
        repository.pippin(&["run", "ci"]).is_a_user_error(&[says]);
    }
}

#[test]
fn init_writes_a_file_that_works_and_spares_what_is_there() {
    let repository = Repository::new();
    repository
        .pippin(&["init"])
        .is_a_user_error(&["there is no terminal to ask on; add --command, --url or --image"]);
    repository.pippin(&["init", "--command", "'x"]).is_a_user_error(&["a quote is not closed"]);
    repository
        .pippin(&["init", "--command", "x", "--name", "a b"])
        .is_a_user_error(&["pippin.toml:3: "]);
    assert!(!repository.path().join("pippin.toml").exists(), "nothing is left of a slip");
    let server = format!("'{}' slow:5 own", cheat().display());
    repository
        .pippin(&["init", "--command", &server, "--build", "true"])
        .exits(0)
        .says(&["pippin.toml is written", "pippin run ci"]);
    let outcome = repository.pippin(&["run", "ci", "--repeat", "1"]);
    outcome.says(&["own/app", "gate passed  require errors < 0.1%"]);
    repository
        .pippin(&["init", "--command", &server])
        .is_a_user_error(&["exists already; edit it"]);
    for how in [["--url", "127.0.0.1:9"], ["--image", "example/x"]] {
        let repository = Repository::new();
        repository.pippin(&[&["init"], &how[..]].concat()).exits(0);
        repository.pippin(&["plans"]).exits(0).says(&["ci  "]);
    }
}
