//! Makes a store of 10,000 runs with whole records, and measures how long opening and reading take:
//! `cargo run --release -p pippin-store --example list_runs -- [FILE] [RUNS]`. If FILE is given, it
//! is kept, so that you can try `pippin --store FILE` on it.
#![allow(clippy::print_stdout, clippy::print_stderr)] // an example, not a part of the program
use pippin_model::example::run::hello;
use pippin_model::run::RunRecord;
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use rusqlite::{Connection, params};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

const RUNS: u64 = 10_000;
const PLANS: u64 = 8;
const HOUR_NS: u64 = 3_600_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = tempfile::tempdir()?;
    let path = arguments.first().map_or_else(|| folder.path().join("pippin.db"), PathBuf::from);
    let runs = arguments.get(1).map_or(Ok(RUNS), |text| text.parse())?;
    if !path.exists() {
        make(&path, runs)?;
    }
    let size = path.metadata()?.len() / (1 << 20);
    println!("{runs} runs, {size} MiB");
    for attempt in ["first", "second"] {
        println!("{attempt} time:");
        let store = timed("open", || Store::open(&path))?;
        timed("list all", || store.list())?;
        timed("the newest run", || store.load("latest"))?;
        for words in [vec![], vec!["go/net-http".to_string()]] {
            let what = format!("a page of 50, filter {words:?}");
            let filter = RunFilter { words, ..RunFilter::default() };
            timed(&what, || store.page(&filter, 0, 50))?;
        }
        timed("what filters can be set to", || store.choices())?;
        timed("the newest run of each plan", || store.newest_by_plan(None))?;
    }
    Ok(())
}

fn timed<T>(
    what: &str,
    work: impl FnOnce() -> Result<T, pippin_store::StoreError>,
) -> Result<T, pippin_store::StoreError> {
    let started = Instant::now();
    let done = work()?;
    println!("  {what}: {:.1?}", started.elapsed());
    Ok(done)
}

/// One run each hour of several plans, all with the trials of the same example.
fn make(path: &Path, runs: u64) -> Result<(), Box<dyn Error>> {
    let RunRecord { header, trials, .. } = hello();
    // The first run creates the tables. The others are copies of its rows.
    let store = Store::open(path)?;
    store.begin(&header)?;
    for (number, trial) in (0..).zip(&trials) {
        store.add_trial(&header.id, number, trial)?;
    }
    store.end(&header.id, pippin_model::run::RunState::Finished, header.started_unix_ns + 1)?;
    drop(store);
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN")?;
    for run in 1..runs {
        let id = format!("{}-{run:05}", header.id);
        let started = header.started_unix_ns + run * HOUR_NS;
        connection.execute(
            "INSERT INTO runs SELECT ?2, ?3, ?3 + 1, state, plan || ?4, title, workload, profile, quick, hostname, replace(header, ?1, ?2), maker FROM runs WHERE id = ?1",
            params![header.id, id, started as i64, (run % PLANS) as i64],
        )?;
        connection.execute(
            "INSERT INTO trials SELECT ?2, number, target, repetition, verdict, goodput_per_s, p99_ns, record FROM trials WHERE run = ?1",
            params![header.id, id],
        )?;
    }
    connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}
