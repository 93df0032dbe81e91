//! Measures how long listing 1,000 runs takes: `cargo run --release -p pippin-store --example
//! list_runs`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // not a part of the program
use pippin_store::Store;
use std::error::Error;
use std::time::Instant;

const RUNS: i64 = 1_000;
/// As many as a full run of six targets.
const TRIALS: i64 = 18;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("pippin.db");
    let store = Store::open(&path)?;
    let connection = rusqlite::Connection::open(&path)?;
    // A record is about this long; what is in it does not matter to a list.
    let record = "x".repeat(20_000);
    connection.execute_batch("BEGIN")?;
    for run in 0..RUNS {
        let id = format!("run-{run:04}");
        connection.execute(
            "INSERT INTO runs VALUES (?1, ?2, NULL, 'finished', 'hello', 'Hello', 'hello', 'closed', 0, NULL, ?3)",
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
    }
    Ok(())
}
