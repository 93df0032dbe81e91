//! The store on real files: databases of other schemas, foreign and damaged ones, and work that must not
//! depend on their size.
#![allow(clippy::unwrap_used)] // helpers of tests are tests too
use pippin_model::example::run::hello;
use pippin_model::run::RunState;
use pippin_model::run::digest::{MoreFigures, RunDigest, TargetDigest};
use pippin_model::run::labels::{Labels, Tag};
use pippin_model::verdict::Verdict;
use pippin_store::listing::RunFilter;
use pippin_store::{Store, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A database with one run.
fn database(folder: &Path) -> PathBuf {
    let path = folder.join("pippin.db");
    let (store, run) = (Store::open(&path).unwrap(), hello());
    store.begin(&run.header).unwrap();
    for (number, trial) in (0..).zip(&run.trials) {
        store.add_trial(&run.header.id, number, trial).unwrap();
    }
    store.end(&run.header.id, RunState::Finished, 1).unwrap();
    drop(store);
    // Everything is in the file itself.
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    path
}

/// To open a pipe would wait for its other end.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, said) in [
        (pipe.as_path(), "a pipe (FIFO)"),
        (Path::new("/dev/zero"), "a device"),
        (folder.path(), "a folder"),
    ] {
        let why = Store::open(path).unwrap_err();
        assert!(matches!(&why, StoreError::Io { source, .. } if source.to_string().contains(said)));
    }
}

#[test]
fn what_is_written_is_read_back_equal() {
    let folder = tempfile::tempdir().unwrap();
    // Read back once: as text, histograms and fractions are rounded.
    let old = Store::open(&database(folder.path())).unwrap().load("latest").unwrap();
    let path = folder.path().join("deep/er/new.db");
    let store = Store::open(&path).unwrap();
    store.begin(&old.header).unwrap();
    for (number, trial) in (0..).zip(&old.trials) {
        store.add_trial(&old.header.id, number, trial).unwrap();
    }
    assert_eq!(
        store.load("latest").unwrap().state,
        RunState::Running,
        "this process still makes it"
    );
    store.end(&old.header.id, RunState::Interrupted, 7).unwrap();
    drop(store);
    let again = Store::open(&path).unwrap().load(&old.header.id).unwrap();
    assert_eq!((again.state, again.ended_unix_ns), (RunState::Interrupted, Some(7)));
    assert_eq!((again.header, again.trials), (old.header, old.trials));
}

/// The file, and the files beside it: SQLite must not have begun a journal.
fn bytes_and_neighbours(path: &Path) -> (Vec<u8>, Vec<PathBuf>) {
    let mut neighbours: Vec<PathBuf> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    neighbours.sort();
    (std::fs::read(path).unwrap(), neighbours)
}

/// Opening is refused with `expected` in the message, and the file is unchanged, byte for byte.
fn refused(path: &Path, expected: &str) {
    let before = bytes_and_neighbours(path);
    let error = Store::open(path).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(expected) && message.contains(path.to_str().unwrap()), "{message}");
    assert_eq!(bytes_and_neighbours(path), before, "the file or its folder was changed");
}

#[test]
fn foreign_files_are_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "Dear diary, today I measured a server. It was fast.\n".repeat(40))
        .unwrap();
    refused(&text, "is not a database of Pippin's");
    let other = folder.path().join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x');")
        .unwrap();
    refused(&other, "another program made it");
}

#[test]
fn a_damaged_database_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let whole = std::fs::read(&path).unwrap();
    // Cut off in the middle, as after a full disk.
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    refused(&path, "it was not changed");
    // A page of the trials overwritten.
    let mut torn = whole;
    for byte in &mut torn[4096..8192] {
        *byte = 0x5a;
    }
    std::fs::write(&path, &torn).unwrap();
    refused(&path, "it was not changed");
}

/// A small database is checked completely when it is opened. For a large one that would take
/// seconds.
#[test]
fn damage_in_a_large_database_is_named_by_who_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.db");
    let store = Store::open(&path).unwrap();
    begin(&store, "good", 1, 1);
    begin(&store, "bad", 2, 1);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "INSERT INTO settings VALUES ('size', hex(zeroblob(20000000)));
             UPDATE trials SET record = hex(zeroblob(20000)) || 'seek me' || hex(zeroblob(20000)) WHERE run = 'bad';
             PRAGMA wal_checkpoint(TRUNCATE);",
        )
        .unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.windows(7).position(|seven| seven == b"seek me").unwrap();
    let page = place / 4096 * 4096;
    bytes[page..page + 4096].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.load("good").unwrap().trials.len(), 1);
    let message = store.load("bad").unwrap_err().to_string();
    assert!(message.contains("damaged") && message.contains("large.db"), "{message}");
}

#[test]
fn a_database_of_another_schema_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path());
    let of_schema = |version: i64| {
        Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
    };
    of_schema(99);
    assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 99, .. })));
    refused(&path, "update Pippin");
    of_schema(5);
    assert!(matches!(Store::open(&path), Err(StoreError::Older { found: 5, .. })));
    refused(&path, "move it away");
}

#[test]
fn names_of_runs_may_be_cut_short_but_not_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let mut header = hello().header;
    for id in ["20261121-100000-hello", "20261121-100000-hello-2", "20261122-100000-users"] {
        header.id = id.into();
        header.started_unix_ns += 1;
        store.begin(&header).unwrap();
    }
    assert_eq!(store.resolve("20261122").unwrap(), "20261122-100000-users");
    assert_eq!(store.resolve("latest").unwrap(), "20261122-100000-users");
    assert_eq!(
        store.resolve("20261121-100000-hello").unwrap(),
        "20261121-100000-hello",
        "a whole name wins over a longer one"
    );
    assert!(store.resolve("20261121").unwrap_err().to_string().contains("several begin so"));
    assert!(store.resolve("1999").unwrap_err().to_string().contains("pippin history"));
}

#[test]
fn latest_is_the_newest_run_that_has_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let mut record = hello();
    let mut failed = record.trials[0].clone();
    failed.load = None;
    let begin = |record: &mut pippin_model::run::RunRecord, id: &str| {
        record.header.id = id.into();
        record.header.started_unix_ns += 1;
        store.begin(&record.header).unwrap();
    };
    begin(&mut record, "1-failed");
    store.add_trial("1-failed", 0, &failed).unwrap();
    assert_eq!(store.resolve("latest").unwrap(), "1-failed", "no run has a result: the newest");
    begin(&mut record, "2-interrupted");
    store.add_trial("2-interrupted", 0, &failed).unwrap();
    store.add_trial("2-interrupted", 1, &record.trials[0]).unwrap();
    store.end("2-interrupted", RunState::Interrupted, 1).unwrap();
    begin(&mut record, "3-failed");
    store.add_trial("3-failed", 0, &failed).unwrap();
    begin(&mut record, "4-without-trials");
    assert_eq!(store.resolve("latest").unwrap(), "2-interrupted");
    assert_eq!(store.load("latest").unwrap().trials.len(), 2);
    begin(&mut record, "5-finished");
    store.add_trial("5-finished", 0, &record.trials[0]).unwrap();
    assert_eq!(store.resolve("latest").unwrap(), "5-finished");
}

/// A thousand runs are listed in far less than a second (`cargo run --release -p pippin-store
/// --example list_runs` measures it). This test checks why: every look-up of trials uses an index,
/// and no record is read.
#[test]
fn a_thousand_runs_are_listed_by_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for i in 0..1_000i64 {
        connection
            .execute(
                "INSERT INTO runs VALUES (?1, ?2, NULL, 'finished', 'hello', 'Hello', 'hello', 'closed', 0, NULL, 'no JSON: the list does not read it', NULL)",
                rusqlite::params![format!("run-{i:04}"), i],
            )
            .unwrap();
        connection.execute("INSERT INTO trials VALUES (?1, 0, 'go/net-http', 0, 'VALID', 1.0, 1, 'no JSON either')", [format!("run-{i:04}")]).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    let list = store.list().unwrap();
    assert_eq!(
        (list.len(), list[0].id.as_str(), list[999].id.as_str(), list[0].trials),
        (1_000, "run-0999", "run-0000", 1)
    );
    assert!(
        store
            .load("run-0001")
            .unwrap_err()
            .to_string()
            .contains("run run-0001: a trial cannot be read"),
        "but a whole run does"
    );
    let history = store.history("go/net-http").unwrap();
    let ends = [&history[0], &history[999]].map(|point| (point.run.as_str(), point.goodput_per_s));
    assert_eq!(ends, [("run-0000", Some(1.0)), ("run-0999", Some(1.0))]);
    for query in [
        "SELECT count(*) FROM trials WHERE run = 'x'",
        "SELECT count(DISTINCT target) FROM trials WHERE run = 'x'",
        "SELECT count(*) FROM trials WHERE run = 'x' AND verdict = 'INVALID'",
        "SELECT record FROM trials WHERE run = 'x' ORDER BY number",
        "SELECT run, verdict, goodput_per_s, p99_ns FROM trials WHERE target = 'x' ORDER BY run, number",
    ] {
        let plan: Vec<String> = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
            .unwrap()
            .query_map([], |row| row.get(3))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(
            plan.iter().all(|step| !step.starts_with("SCAN"))
                && plan.iter().any(|step| step.contains("INDEX")),
            "{query}: {plan:?}"
        );
    }
}

/// Sets the column for the process of a run to this SQL.
fn set_maker(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute(&format!("UPDATE runs SET maker = {sql}"), []).unwrap();
}

#[test]
fn a_run_whose_process_is_gone_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let old = hello();
    let path = folder.path().join("new.db");
    let store = Store::open(&path).unwrap();
    store.begin(&old.header).unwrap();
    let states = || (store.list().unwrap()[0].state, store.load("latest").unwrap().state);
    assert_eq!(states(), (RunState::Running, RunState::Running));
    // The pid exists, but is another process by now.
    set_maker(&path, "json_set(maker, '$.process.start_ticks', 1)");
    assert_eq!(states(), (RunState::Killed, RunState::Killed));
    // Its process is not known, and there is no live file.
    set_maker(&path, "NULL");
    assert_eq!(states(), (RunState::Killed, RunState::Killed));
    store.end(&old.header.id, RunState::Finished, 7).unwrap();
    assert_eq!(states(), (RunState::Finished, RunState::Finished));
}

/// A run of this name that began at this second and has not ended, with its first trials.
fn begin(store: &Store, id: &str, second: u64, trials: usize) {
    let mut record = hello();
    record.header.id = id.into();
    record.header.started_unix_ns = second * 1_000_000_000;
    store.begin(&record.header).unwrap();
    for (number, trial) in (0..).zip(record.trials.iter().take(trials)) {
        store.add_trial(id, number, trial).unwrap();
    }
}

#[test]
fn a_page_is_a_part_of_what_the_filter_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("pippin.db")).unwrap();
    for second in 0..5 {
        begin(&store, &format!("run-{second}"), second, 2);
        store.end(&format!("run-{second}"), RunState::Finished, 9).unwrap();
    }
    begin(&store, "run-5", 5, 0);
    let names = |filter: &RunFilter, first, count| {
        let page = store.page(filter, first, count).unwrap();
        let names: Vec<String> = page.runs.into_iter().map(|run| run.summary.id).collect();
        (names, page.kept, page.all)
    };
    let all = RunFilter::default();
    assert_eq!(names(&all, 0, 2), (vec!["run-5".into(), "run-4".into()], 6, 6));
    assert_eq!(names(&all, 4, 9).0, ["run-1", "run-0"]);
    let target = RunFilter { target: "rust/axum".into(), ..RunFilter::default() };
    assert_eq!(names(&target, 0, 9).1, 5);
    let words = RunFilter { words: vec!["RUN-3".into(), "axum".into()], ..RunFilter::default() };
    assert_eq!(names(&words, 0, 9).0, ["run-3"]);
    let between = RunFilter {
        from_unix_ns: Some(1_000_000_000),
        before_unix_ns: Some(3_000_000_000),
        ..RunFilter::default()
    };
    assert_eq!(names(&between, 0, 9).0, ["run-2", "run-1"]);
    // This process makes it, so it was not killed.
    let running = RunFilter { state: Some(RunState::Running), ..RunFilter::default() };
    assert_eq!(names(&running, 0, 9), (vec!["run-5".into()], 1, 6));
    let killed = RunFilter { state: Some(RunState::Killed), ..RunFilter::default() };
    assert_eq!(names(&killed, 0, 9), (vec![], 0, 6));
    let choices = store.choices().unwrap();
    assert_eq!((choices.plans, choices.hosts), (vec!["hello".into()], vec!["bench-1".into()]));
    assert!(choices.targets.contains(&"rust/axum".into()), "{:?}", choices.targets);
}

/// A run is found by its labels from its first moment, and as well when only its digest is read.
#[test]
fn runs_are_found_by_name_and_tags() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("pippin.db")).unwrap();
    let tags = |all: &[&str]| all.iter().map(|tag| Tag::parse(tag).unwrap()).collect::<Vec<_>>();
    let labels = |name: &str, all: &[&str]| {
        Labels::from_parts(Some(name.into()), Some("a Note of it".into()), &tags(all)).unwrap()
    };
    let all = [
        labels("nightly", &["branch=main", "pull=12"]),
        labels("nightly", &["branch=other"]),
        Labels::default(),
    ];
    for (second, labels) in (0..).zip(&all) {
        let mut record = hello();
        record.header.id = format!("run-{second}");
        record.header.started_unix_ns = second;
        record.header.labels = labels.clone();
        store.begin(&record.header).unwrap();
    }
    let names = |filter: &RunFilter| -> Vec<String> {
        let runs = store.page(filter, 0, 9).unwrap().runs;
        runs.into_iter().map(|run| run.summary.id).collect()
    };
    let by = |name: &str, all: &[&str]| RunFilter {
        name: name.into(),
        tags: tags(all),
        ..RunFilter::default()
    };
    let words = |word: &str| RunFilter { words: vec![word.into()], ..RunFilter::default() };
    let check = || {
        assert_eq!(names(&by("nightly", &[])), ["run-1", "run-0"]);
        assert_eq!(names(&by("", &["branch=main"])), ["run-0"]);
        assert_eq!(names(&by("nightly", &["branch=main", "pull=12"])), ["run-0"]);
        assert_eq!(names(&by("night", &[])), Vec::<String>::new());
        assert_eq!(names(&by("", &["branch=mai"])), Vec::<String>::new());
        assert_eq!(names(&by("", &["branch=main", "pull=1"])), Vec::<String>::new());
        for word in ["Nightly", "note", "NIGHT"] {
            assert_eq!(names(&words(word)), ["run-1", "run-0"], "{word}");
        }
        assert_eq!(names(&words("branch=OTHER")), ["run-1"]);
        // The words of JSON are nobody's.
        assert_eq!(names(&words("\"tags\"")), Vec::<String>::new());
        let listed = store.page(&RunFilter::default(), 0, 9).unwrap().runs;
        let shown: Vec<Labels> = listed.into_iter().rev().map(|run| run.labels).collect();
        assert_eq!(shown, all);
    };
    check();
    for (second, labels) in all.iter().enumerate() {
        let mut digest = digest_of(1);
        digest.labels = labels.clone();
        store.keep_digest(&format!("run-{second}"), &digest).unwrap();
    }
    check();
}

fn digest_of(trials: u64) -> RunDigest {
    RunDigest {
        compared: String::new(),
        trust: "Can you trust it? Yes: it was looked at, and no doubt was found.".into(),
        trials,
        load: "closed loop, 10 connections".into(),
        ranked_by: "goodput".into(),
        targets: vec![TargetDigest {
            target: "rust/axum".parse().unwrap(),
            verdict: Some(Verdict::Suspect),
            ranks: Some((1, 2)),
            figure: Some(1e4),
            conformance: Vec::new(),
            goodput_per_s: Some(1e4),
            p99_ns: Some(2e6),
            more: MoreFigures::default(),
        }],
        worst: Some(Verdict::Suspect),
        slices: None,
        spark: vec![1.0, 2.0],
        labels: Labels::default(),
    }
}

#[test]
fn a_digest_is_kept_until_the_run_has_more_trials_and_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("pippin.db")).unwrap();
    begin(&store, "run-1", 1, 1);
    assert_eq!(store.without_digest(None).unwrap(), None, "it has not ended");
    store.end("run-1", RunState::Finished, 9).unwrap();
    assert_eq!(store.without_digest(None).unwrap(), Some(("run-1".into(), 1_000_000_000)));
    assert_eq!(store.without_digest(Some(1_000_000_000)).unwrap(), None);
    let digest = digest_of(1);
    store.keep_digest("run-1", &digest).unwrap();
    assert_eq!(store.without_digest(None).unwrap(), None);
    let suspect = RunFilter { verdict: "SUSPECT".into(), ..RunFilter::default() };
    let page = store.page(&suspect, 0, 9).unwrap();
    assert_eq!(page.runs[0].digest.as_ref(), Some(&digest));
    let newest = store.newest_by_plan(Some("bench-1")).unwrap();
    assert_eq!((newest.len(), newest[0].run.as_str(), &newest[0].digest), (1, "run-1", &digest));
    assert_eq!(store.newest_by_plan(Some("elsewhere")).unwrap(), []);
    store.add_trial("run-1", 1, &hello().trials[1]).unwrap();
    assert_eq!(store.without_digest(None).unwrap().map(|(run, _)| run), Some("run-1".into()));
    store.forget("run-1").unwrap();
    assert_eq!(store.newest_by_plan(None).unwrap(), []);
}

/// Five runs: two rounds of a plan, a newer one without a result, one that was interrupted, and a load.
fn rounds(store: &Store) {
    let mut record = hello();
    let runs = [
        ("a", "hello", RunState::Finished, Some(Verdict::Valid)),
        ("b", "hello", RunState::Finished, Some(Verdict::Suspect)),
        ("c", "hello", RunState::Finished, Some(Verdict::Invalid)),
        ("d", "hello", RunState::Interrupted, Some(Verdict::Valid)),
        ("e", "load", RunState::Finished, Some(Verdict::Valid)),
    ];
    for (place, (id, plan, state, verdict)) in (1..).zip(runs) {
        record.header.id = id.into();
        record.header.plan.id = plan.into();
        record.header.started_unix_ns = place;
        store.begin(&record.header).unwrap();
        store.add_trial(id, 0, &record.trials[0]).unwrap();
        store.end(id, state, place + 1).unwrap();
        let mut digest = digest_of(1);
        digest.targets[0].verdict = verdict;
        digest.targets[0].goodput_per_s = Some(place as f64);
        store.keep_digest(id, &digest).unwrap();
    }
}

#[test]
fn rounds_of_a_plan_are_finished_runs_with_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("pippin.db")).unwrap();
    rounds(&store);
    let names = |found: Vec<pippin_store::listing::PlanLeader>| -> Vec<String> {
        found.into_iter().map(|round| round.run).collect()
    };
    assert_eq!(names(store.newest_by_plan(None).unwrap()), ["b"], "a load is no round of a plan");
    let of = |plan, quick, host, count| names(store.rounds(plan, quick, host, count).unwrap());
    assert_eq!(of("hello", false, None, 9), ["b", "a"]);
    assert_eq!(of("hello", false, Some("bench-1"), 1), ["b"]);
    assert!(of("hello", true, None, 9).is_empty() && of("users", false, None, 9).is_empty());
    assert!(of("hello", false, Some("elsewhere"), 9).is_empty());
}

#[test]
fn targets_are_listed_with_their_runs_and_what_digests_say_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("pippin.db")).unwrap();
    rounds(&store);
    let measured = hello().trials[0].spec.target.to_string();
    let listed = store.targets().unwrap();
    let told: Vec<_> =
        listed.iter().map(|it| (it.name.as_str(), it.runs, it.newest_unix_ns)).collect();
    assert_eq!(told, [(measured.as_str(), 5, 5)]);
    let of = |target, runs: &[&str]| store.digests_of(target, runs.iter().copied()).unwrap();
    let found = of("rust/axum", &["a", "b", "a", "none"]);
    let rates: Vec<_> = found.iter().map(|(run, it)| (run.as_str(), it.goodput_per_s)).collect();
    assert_eq!(rates, [("a", Some(1.0)), ("b", Some(2.0))]);
    assert!(of("go/none", &["a"]).is_empty());
}
