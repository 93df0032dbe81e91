//! Measures how long listing 10,000 runs takes: `cargo run --release -p pippin-store --example
//! list_runs`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // not a part of the program
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use std::error::Error;
use std::time::Instant;

const RUNS: i64 = 10_000;
/// As many as a full run of six targets.
const TRIALS: i64 = 18;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("pippin.db");
    let store = Store::open(&path)?;
    let connection = rusqlite::Connection::open(&path)?;
    // Records are longer; what is in them, and where they end, does not matter to a list.
    let record = "x".repeat(5_000);
    connection.execute_batch("BEGIN")?;
    for run in 0..RUNS {
        let id = format!("run-{run:04}");
        connection.execute(
            "INSERT INTO runs VALUES (?1, ?2, NULL, 'finished', 'hello', 'Hello', 'hello', 'closed', 0, NULL, ?3, NULL)",
            rusqlite::params![id, run, record],
        )?;
        for number in 0..TRIALS {
            connection.execute(
                "INSERT INTO trials VALUES (?1, ?2, ?3, 0, 'VALID', 1.0, 1, ?4)",
                rusqlite::params![id, number, format!("lang/server-{}", number % 6), record],
            )?;
        }
    }
    connection.execute_batch("COMMIT")?;
    let size = std::fs::metadata(&path)?.len() / (1 << 20);
    for attempt in ["first", "second"] {
        let started = Instant::now();
        let listed = store.list()?.len();
        println!(
            "{attempt}: {listed} runs of {TRIALS} trials listed in {:?} (database of {size} MiB)",
            started.elapsed()
        );
        for filter in [
            RunFilter::default(),
            RunFilter { words: vec!["server-5".into()], ..RunFilter::default() },
        ] {
            let started = Instant::now();
            let page = store.page(&filter, 0, 50)?;
            let choices = store.choices()?;
            println!(
                "{attempt}: a page of {} of {} runs and {} targets in {:?} ({:?})",
                page.runs.len(),
                page.kept,
                choices.targets.len(),
                started.elapsed(),
                filter.words
            );
        }
    }
    Ok(())
}
