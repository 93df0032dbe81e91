//! Makes a store of 10,000 runs with whole records (1.6 GB), and measures how long opening and reading
//! take: `cargo run --release -p pippin-store --example list_runs -- [FILE] [RUNS]`. If FILE is given,
//! it is kept, so that you can try `pippin --store FILE` on it, and time the list in the browser
//! (docs/decisions/digests.md).
#![allow(clippy::print_stdout, clippy::print_stderr)] // an example, not a part of the program
use pippin_model::example::run::hello;
use pippin_model::run::digest::{CalmSlices, MoreFigures, RunDigest, TargetDigest};
use pippin_model::run::labels::Labels;
use pippin_model::run::{RunHeader, RunRecord, RunState};
use pippin_model::target::commit::Commit;
use pippin_model::target::manifest::Manifest;
use pippin_model::verdict::Verdict;
use pippin_store::Store;
use pippin_store::listing::RunFilter;
use rusqlite::{Connection, Transaction, params};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

const RUNS: u64 = 10_000;
const PLANS: u64 = 8;
const HOSTS: u64 = 3;
/// Runs of a transaction.
const AT_ONCE: usize = 100;
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
        timed("the history of a target", || store.history("go/net-http"))?;
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

/// One run each hour, of several plans and hosts. Each has the trials and the header of the same
/// example, and figures, commits and a digest of its own. Few runs go into a transaction: one for all would need as much
/// room again beside the file before any of it could be written there.
fn make(path: &Path, runs: u64) -> Result<(), Box<dyn Error>> {
    let RunRecord { header, trials, .. } = example()?;
    // The first run creates the tables. The others are copies of its rows.
    let store = Store::open(path)?;
    store.begin(&header)?;
    for (number, trial) in (0..).zip(&trials) {
        store.add_trial(&header.id, number, trial)?;
    }
    store.end(&header.id, RunState::Finished, header.started_unix_ns + 1)?;
    store.keep_digest(&header.id, &digest(0, &header))?;
    drop(store);
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = OFF")?;
    for first in (1..runs).step_by(AT_ONCE) {
        let transaction = connection.transaction()?;
        for run in first..runs.min(first + AT_ONCE as u64) {
            copy(&transaction, &header, run)?;
        }
        transaction.commit()?;
    }
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// What a short run leaves: one repetition, and the manifests of its targets in the header.
fn example() -> Result<RunRecord, Box<dyn Error>> {
    let mut record = hello();
    record.trials.retain(|trial| trial.spec.repetition == 0);
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets");
    for (id, info) in &mut record.header.targets {
        let folder = catalog.join(&id.language).join(&id.name);
        info.manifest = Some(Manifest::read(&folder)?);
    }
    Ok(record)
}

fn copy(transaction: &Transaction<'_>, header: &RunHeader, run: u64) -> Result<(), Box<dyn Error>> {
    let id = format!("{}-{run:05}", header.id);
    let started = header.started_unix_ns + run * HOUR_NS;
    let host = format!("bench-{}", run % HOSTS);
    transaction.execute(
        "INSERT INTO runs SELECT ?2, ?3, ?3 + 1, state, plan || ?4, title || ' ' || ?4, workload, profile, quick, ?5, replace(header, ?1, ?2), maker FROM runs WHERE id = ?1",
        params![header.id, id, started as i64, (run % PLANS) as i64, host],
    )?;
    transaction.execute(
        "INSERT INTO run_targets SELECT ?2, target, ?3, plan || ?4, quick, comparable, ?5 FROM run_targets WHERE run = ?1",
        params![header.id, id, started as i64, (run % PLANS) as i64, commit(run)?],
    )?;
    transaction.execute(
        "INSERT INTO trials SELECT ?2, number, target, repetition, verdict, goodput_per_s * ?3, CAST(p99_ns / ?3 AS INTEGER), record FROM trials WHERE run = ?1",
        params![header.id, id, speed(run)],
    )?;
    let digest = digest(run, header);
    transaction.execute(
        "INSERT INTO digests (run, trials, worst, digest) VALUES (?1, ?2, ?3, ?4)",
        params![
            id,
            digest.trials as i64,
            digest.worst.map(|verdict| verdict.to_string()),
            serde_json::to_string(&digest)?
        ],
    )?;
    Ok(())
}

/// Every run is of another commit.
fn commit(run: u64) -> serde_json::Result<String> {
    let repository = Some("https://example.org/shop/server".to_string());
    serde_json::to_string(&Commit { id: format!("{run:040x}"), changed: false, repository })
}

/// How fast a run is beside the example: 3 % of noise, and 8 % less in every second of the stretches
/// of 700 runs, so that histories have changes to find.
fn speed(run: u64) -> f64 {
    // Steps of the golden ratio scatter evenly (Knuth, multiplicative hashing).
    let noise = (run as f64 * 0.618_033_988_749_895).fract() - 0.5;
    (1.0 + 0.06 * noise) * if (run / 700) % 2 == 1 { 0.92 } else { 1.0 }
}

/// Leaders, verdicts and lines that differ from run to run.
fn digest(run: u64, header: &RunHeader) -> RunDigest {
    let verdicts = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
    let targets = &header.plan.targets;
    let of = |place: usize| TargetDigest {
        target: targets[(place + run as usize) % targets.len()].clone(),
        verdict: Some(Verdict::Valid),
        ranks: Some((place as u32 + 1, place as u32 + 1 + (run % 2) as u32)),
        figure: Some(60_000.0 / (place as f64 + 1.0)),
        conformance: Vec::new(),
        goodput_per_s: Some(1e4),
        p99_ns: Some(2e6),
        more: MoreFigures::default(),
    };
    let wave = |place: usize| 60_000.0 + 5_000.0 * ((place as u64 + run) as f64 / 5.0).sin();
    RunDigest {
        compared: String::new(),
        trust: "Can you trust it? Yes: it was looked at, and no doubt was found.".into(),
        trials: targets.len() as u64,
        load: "closed loop, 10 connections".into(),
        ranked_by: "goodput".into(),
        targets: (0..targets.len()).map(of).collect(),
        worst: Some(verdicts[run as usize % verdicts.len()]),
        slices: Some(CalmSlices { made: 96, calm: 40 + run % 57 }),
        spark: (0..RunDigest::SPARKS).map(wave).collect(),
        labels: Labels::default(),
    }
}
