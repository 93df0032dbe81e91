//! Two processes write runs to one database at the same time, and nothing is lost. The test starts
//! itself twice as the writers, so that they are processes and not threads.
#![allow(clippy::unwrap_used)] // helpers of tests are tests too
#![allow(clippy::print_stdout)] // how the two processes of the test speak
use pippin_model::example::run::hello;
use pippin_model::run::RunState;
use pippin_store::Store;
use std::path::Path;
use std::process::{Command, ExitCode};

const RUNS: u64 = 5;
const TRIALS: u64 = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [word, path, writer] if word == "write" => write(Path::new(path), writer),
        [first, ..] if first == "--list" => println!("two_processes_lose_nothing: test"),
        // As Rust's own harness does: a word that is no flag chooses tests by their names.
        [word, ..]
            if !word.starts_with("--") && !"two_processes_lose_nothing".contains(word.as_str()) => {
        }
        _ => {
            two_processes_lose_nothing();
            println!("test two_processes_lose_nothing ... ok");
        }
    }
    ExitCode::SUCCESS
}

/// Writes runs whose trials contain their number.
fn write(path: &Path, writer: &str) {
    let like = hello();
    // Both also create the database: the second one finds it half made or complete.
    let store = Store::open(path).unwrap();
    for run in 0..RUNS {
        let mut header = like.header.clone();
        header.id = format!("{writer}-{run}");
        store.begin(&header).unwrap();
        for number in 0..TRIALS {
            let mut trial = like.trials[0].clone();
            trial.spec.seed = number;
            store.add_trial(&header.id, number, &trial).unwrap();
        }
        store.end(&header.id, RunState::Finished, run).unwrap();
    }
}

fn two_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let this = std::env::current_exe().unwrap();
    let start =
        |writer: &str| Command::new(&this).arg("write").arg(&path).arg(writer).spawn().unwrap();
    let mut writers = [start("a"), start("b")];
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success(), "a writer failed");
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(store.list().unwrap().len() as u64, 2 * RUNS);
    for writer in ["a", "b"] {
        for run in 0..RUNS {
            let record = store.load(&format!("{writer}-{run}")).unwrap();
            assert_eq!((record.state, record.ended_unix_ns), (RunState::Finished, Some(run)));
            let numbers: Vec<u64> = record.trials.iter().map(|trial| trial.spec.seed).collect();
            assert_eq!(numbers, (0..TRIALS).collect::<Vec<_>>());
        }
    }
}
