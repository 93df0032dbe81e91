//! Read-only stores and full disks.
use super::support::{Checkout, may_mount, plan, skip, with_mount};
use pippin_model::run::RunState;
use pippin_testing::scripted::{Answer, Script, spawn};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pippin");

/// Runs a line of bash in the checkout. `$PIPPIN` is the program and `$STORE` the store.
fn bash(checkout: &Checkout, line: &str) -> Output {
    Command::new("timeout")
        .args(["--signal=KILL", "600", "bash", "-c", line])
        .current_dir(checkout.path())
        .env("PIPPIN", PROGRAM)
        .env("STORE", checkout.store_path())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    checkout.add_plan("plan", "hello", &["test/it"]);
    checkout.pippin(&["run", "plan", "--install", "--yes"]);
    let id = checkout.store().list().unwrap()[0].id.clone();
    // The user nobody may read everything and write nothing.
    let folder = checkout.store_path().parent().unwrap().to_owned();
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let program = checkout.path().join("pippin");
    fs::copy(PROGRAM, &program).unwrap();
    mode(checkout.path(), 0o755);
    mode(&program, 0o755);
    mode(&checkout.store_path(), 0o444);
    mode(&folder, 0o555);
    // SAFETY: geteuid(2) cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let other = if is_root { "setpriv --reuid 65534 --regid 65534 --clear-groups" } else { "" };
    for command in ["history", "report", "export --format json"] {
        let output = bash(&checkout, &format!("{other} ./pippin --store $STORE {command}"));
        assert!(output.status.success(), "{command}: {output:?}");
        let said = text(&output.stdout);
        assert!(said.contains(&id), "{command}: {said}");
    }
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let load = format!("{other} ./pippin --store $STORE load http://{}/ -n 10", server.address());
    let output = bash(&checkout, &load);
    assert!(text(&output.stderr).contains("can be read but not written"), "{output:?}");
    mode(&folder, 0o755);
}

#[test]
fn a_run_gets_a_name_and_runs_are_removed_when_asked_and_no_others() {
    let checkout = Checkout::new();
    let say = |words: &[&str]| checkout.pippin(words);
    say(&["baseline", "list"]).exits(0).says(&["No run has a name yet"]);
    say(&["store", "size"]).exits(0).says(&["No run is kept in"]);
    assert!(!checkout.store_path().exists(), "looking creates nothing");
    say(&["store", "remove", "20"]).is_a_user_error(&["there is no run `20`"]);
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    for _ in 0..4 {
        say(&["load", &url, "-n", "10", "-q"]);
    }
    let ids: Vec<String> = checkout.store().list().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids.len(), 4);
    let oldest = &ids[3];
    say(&["baseline", "set", "2026", oldest]).is_a_user_error(&["begin with a letter"]);
    say(&["baseline", "set", "released", "nothing"])
        .is_a_user_error(&["there is no run `nothing`"]);
    say(&["baseline", "set", "released", oldest]).exits(0).says(&["`vs released`"]);
    say(&["baseline", "list"]).exits(0).says(&[&format!("released  {oldest}")]);
    let named = say(&["export", "released", "--format", "json"]).exits(0).stdout.clone();
    assert!(named.contains(oldest), "{named}");
    say(&["store", "remove", oldest])
        .is_a_user_error(&["is the baseline released", "baseline remove"]);
    say(&["store", "keep", "1"]).exits(0).says(&[
        "would remove 2 runs",
        "1 more run is kept",
        "--yes",
    ]);
    assert_eq!(checkout.store().list().unwrap().len(), 4, "nobody said yes");
    say(&["store", "keep", "1", "--yes"]).exits(0).says(&["removed 2 runs"]);
    let left: Vec<String> =
        checkout.store().list().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(left, [ids[0].clone(), oldest.clone()]);
    say(&["store", "keep", "1", "--yes"]).exits(0).says(&["nothing to remove"]);
    say(&["baseline", "remove", "released"]).exits(0);
    say(&["baseline", "remove", "released"]).is_a_user_error(&["there is no baseline `released`"]);
    say(&["store", "remove", oldest]).exits(0).says(&["removed 1 run"]);
    say(&["store", "size"]).exits(0).says(&["1 run"]);
    say(&["history"]).exits(0).says(&[&ids[0]]);
}

/// What the user calls a load is in every form of it, and finds it again.
#[test]
fn labels_are_kept_and_find_their_runs() {
    let checkout = Checkout::new();
    let say = |words: &[&str]| checkout.pippin(words);
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let url = format!("http://{}/", server.address());
    let load = |more: &[&str]| say(&[&["load", &url, "-n", "10"][..], more].concat());
    load(&[
        "--name",
        "nightly",
        "--note",
        "after <the> move",
        "--tag",
        "branch=main",
        "--tag",
        "pull=12",
    ])
    .says(&["nightly · branch=main · pull=12", "after <the> move"]);
    load(&["--name", "nightly", "--tag", "branch=other"]);
    load(&[]);
    let ids: Vec<String> = checkout.store().list().unwrap().into_iter().map(|run| run.id).collect();
    let (none, other, main) = (&ids[0], &ids[1], &ids[2]);
    let listed = say(&["history"]).exits(0).stdout.clone();
    let line = |id: &str| listed.lines().find(|line| line.contains(id)).unwrap().to_string();
    assert!(line(main).ends_with(" · nightly · branch=main · pull=12"), "{listed}");
    assert!(!line(none).contains('·'), "{listed}");
    for (flags, found) in [
        (&["--name", "nightly"][..], &[main, other][..]),
        (&["--tag", "branch=main"], &[main]),
        (&["--tag", "branch=main", "--tag", "pull=12", "--name", "nightly"], &[main]),
        (&["--tag", "branch=main", "--tag", "pull=13"], &[]),
    ] {
        let listed = say(&[&["history"], flags].concat()).exits(0).stdout.clone();
        for id in &ids {
            assert_eq!(listed.contains(id.as_str()), found.contains(&id), "{flags:?}: {listed}");
        }
        if found.is_empty() {
            assert!(listed.contains("No run has this name and these tags"), "{listed}");
        }
    }
    let target = checkout.store().load(main).unwrap().trials[0].spec.target.to_string();
    let of_target = say(&["history", &target, "--tag", "branch=main"]).exits(0).stdout.clone();
    assert!(
        of_target.contains(main.as_str()) && !of_target.contains(other.as_str()),
        "{of_target}"
    );
    say(&["history", &target, "--tag", "branch=none"])
        .is_a_user_error(&["has this name and these tags"]);
    say(&["report", main]).exits(0).says(&["nightly · branch=main · pull=12", "after <the> move"]);
    let page = checkout.path().join("page.html");
    say(&["report", main, "--html", page.to_str().unwrap()]).exits(0);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("after &lt;the&gt; move") && page.contains("branch=main"), "no labels");
    let json = say(&["export", main, "--format", "json"]).exits(0).stdout.clone();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["run"]["labels"]["tags"]["pull"], "12");
    let json = say(&["export", none, "--format", "json"]).exits(0).stdout.clone();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["run"].get("labels").is_none());
    load(&["--tag", "a=1", "--tag", "a=2"]).is_a_user_error(&["--tag: `a` is given twice"]);
    load(&["--tag", "a"]).is_a_user_error(&["write KEY=VALUE"]);
    // Nothing is measured, so nothing could have the label.
    for flag in [["--run-name", "x"], ["--note", "x"], ["--tag", "a=x"]] {
        say(&[&["compare", main, other], &flag[..]].concat())
            .is_a_user_error(&[flag[0], "goes with"]);
    }
    let compared = say(&[
        "compare",
        &url,
        &format!("{url}two"),
        "--repeat",
        "2",
        "-d",
        "0.3s",
        "--warm-up",
        "none",
        "--run-name",
        "both",
        "--tag",
        "a=x",
    ]);
    assert!(
        say(&["history", "--name", "both", "--tag", "a=x"]).stdout.contains("both · a=x"),
        "{}",
        compared.stdout
    );
}

/// A plan of 30 repetitions, already installed.
fn with_many_repetitions() -> Checkout {
    let checkout = Checkout::with_cheat("right", &["hello"]);
    let profile = "kind = \"closed\"\nconnections = 4\nduration = \"300ms\"\nwarm_up = \"none\"\n";
    let text_of_plan =
        plan("hello", &["test/it"], profile).replace("repetitions = 1", "repetitions = 30");
    checkout.write("plans/plan.toml", &text_of_plan);
    checkout.pippin(&["targets", "install", "test/it", "--yes"]).exits(0);
    checkout
}

#[test]
fn a_file_that_may_not_grow_ends_a_run_with_what_is_finished() {
    let checkout = with_many_repetitions();
    drop(checkout.store());
    // In KiB: enough for the first trials, but not for all.
    let output = bash(&checkout, "ulimit -f 400; $PIPPIN --store $STORE run plan");
    ends_with_what_is_finished(&checkout, &output);
}

/// A reader needs a few KiB beside the store. A disk that has not even these is no damage.
#[test]
fn a_full_disk_does_not_stop_reading() {
    let checkout = Checkout::new();
    let run = pippin_model::example::run::hello();
    checkout.store().begin(&run.header).unwrap();
    checkout.store().add_trial(&run.header.id, 0, &run.trials[0]).unwrap();
    let id = &run.header.id;
    // Neither the size of the file nor of those beside it may grow.
    for command in ["history", "report", "export --format json"] {
        let line = format!("ulimit -f 8; $PIPPIN --store $STORE {command}");
        let output = bash(&checkout, &line);
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(text(&output.stdout).contains(id), "{command}: {output:?}");
    }
    let server = spawn(Script::always(Answer::ok(b"hello"))).unwrap();
    let load =
        format!("ulimit -f 8; $PIPPIN --store $STORE load http://{}/ -n 10 2>&1", server.address());
    let output = bash(&checkout, &load);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("the disk is full: ") && !said.contains("move it away"), "{said}");
    checkout.pippin(&["history"]).exits(0);
}

/// A file system of 1,100 KiB for everything that Pippin writes in the checkout.
#[test]
fn a_full_disk_ends_a_run_with_what_is_finished() {
    let checkout = with_many_repetitions();
    let folder = checkout.store_path().parent().unwrap().to_owned();
    let words = ["-t", "tmpfs", "-o", "size=1100k", "tmpfs"].map(OsStr::new);
    let words: Vec<&OsStr> = words.into_iter().chain([folder.as_os_str()]).collect();
    fs::create_dir_all(&folder).unwrap();
    if !may_mount(&words) {
        return skip("a full disk", "mounting is not allowed here");
    }
    // The file system disappears with the last process in it, so copy the store before.
    let line = "$PIPPIN --store $STORE run plan; code=$?; mkdir kept; cp .pippin/pippin.db kept; [ ! -f .pippin/pippin.db-wal ] || cp .pippin/pippin.db-wal kept; exit $code";
    let output = with_mount(&words)
        .args(["timeout", "--signal=KILL", "600", "bash", "-c", line])
        .current_dir(checkout.path())
        .env("PIPPIN", PROGRAM)
        .env("STORE", checkout.store_path())
        .output()
        .unwrap();
    let kept = fs::read_dir(checkout.path().join("kept")).unwrap().flatten();
    for file in kept {
        fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    ends_with_what_is_finished(&checkout, &output);
}

/// One line says what happened, and the store has the trials that were finished.
#[track_caller]
fn ends_with_what_is_finished(checkout: &Checkout, output: &Output) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("the disk is full")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let record = checkout.store().load("latest").unwrap();
    assert_eq!(record.state, RunState::Failed);
    assert!((1..30).contains(&record.trials.len()), "{}", record.trials.len());
    checkout.is_soon_left_by_all();
}
