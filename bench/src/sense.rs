//! `make sense`: whether Pippin tells apart targets that differ in a known way, and only these.
//!
//! One real server is measured many times, together with copies of itself that are slower by a
//! known amount. The table shows in how many runs each was told apart.
//!
//! | module | what it holds |
//! |---|---|
//! | `variations` | the differences, and how often they must be found |
//! | `catalog` | the targets and the plan, in a folder of their own |
//! | `tally` | which targets were told apart, run by run |
//! | `summary` | how often, as a table and as JSON |
mod catalog;
mod summary;
mod tally;
mod variations;

use clap::Args;
use pippin_model::run::{RunRecord, RunState};
use pippin_store::{Store, StoreError};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catalog::SenseCatalog;
use tally::Tally;

/// `pippin-bench sense`
#[derive(Debug, Args)]
pub struct SenseArguments {
    /// The number of runs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Use the full form of the plan `hello`, and not the quick one of `make run`.
    #[arg(long)]
    full: bool,
    /// Judge this many runs in a row as one run with as many times the repetitions.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    join: u32,
    /// The program that measures; by default `pippin` beside this one.
    #[arg(long, value_name = "FILE")]
    pippin: Option<PathBuf>,
    /// A checkout of Pippin with its plan and its workload.
    #[arg(long, value_name = "DIR", default_value = ".")]
    checkout: PathBuf,
    /// A folder that keeps the runs. If it already has finished runs, they are not made again.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Folder for the result as JSON.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    results: PathBuf,
}

/// Measures the cost of burning CPU time, runs everything, prints the tally and keeps it.
pub fn run(arguments: &SenseArguments) -> Result<(), String> {
    if !arguments.runs.is_multiple_of(arguments.join) {
        return Err(format!(
            "--runs {} is no multiple of --join {}",
            arguments.runs, arguments.join
        ));
    }
    let pippin = program(arguments.pippin.as_deref())?;
    let passing = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let folder = arguments.folder.as_deref().unwrap_or(passing.path());
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let catalog = SenseCatalog::write(&folder, &arguments.checkout)?;
    let lab = Lab { pippin, folder: &folder, full: arguments.full };

    say("measuring the cost of CPU time");
    catalog.plan(&variations::for_scale())?;
    let burnt = lab.run(0)?;
    let step = variations::cpu_of_a_step(&burnt)?;
    catalog.targets(step)?;
    catalog.plan(&variations::names())?;

    let (mut tallies, mut lasted_ns, mut records) = (Vec::new(), 0, Vec::new());
    for number in 1..=arguments.runs {
        say(&format!("run {number} of {}", arguments.runs));
        let record = lab.run(number)?;
        lasted_ns +=
            record.ended_unix_ns.unwrap_or(0).saturating_sub(record.header.started_unix_ns);
        records.push(record);
        if records.len() == arguments.join as usize {
            tallies.extend(
                join(std::mem::take(&mut records)).as_ref().map(Tally::from_record).transpose()?,
            );
        }
    }
    say("");
    let form = summary::Form { full: arguments.full, joined: arguments.join };
    let summary = summary::Summary::from_tallies(&tallies, form, lasted_ns / 1_000_000_000);
    println!("{}", summary.table());
    let path = summary.keep(&arguments.results)?;
    eprintln!("kept in {}", path.display());
    Ok(())
}

/// Runs of the same plan as one run with the repetitions of all; `None` without a run.
fn join(records: Vec<RunRecord>) -> Option<RunRecord> {
    let mut records = records.into_iter();
    let mut whole = records.next()?;
    for record in records {
        let after = whole.trials.iter().map(|trial| trial.spec.repetition + 1).max().unwrap_or(0);
        whole.trials.extend(record.trials.into_iter().map(|mut trial| {
            trial.spec.repetition += after;
            trial
        }));
    }
    Some(whole)
}

/// The program that measures: the given one, or `pippin` beside this one.
pub fn program(named: Option<&Path>) -> Result<PathBuf, String> {
    let beside = || {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok::<PathBuf, String>(own.with_file_name("pippin"))
    };
    let path = named.map_or_else(beside, |path| Ok(path.to_path_buf()))?;
    let absolute = std::path::absolute(&path).map_err(|error| error.to_string())?;
    if absolute.is_file() {
        Ok(absolute)
    } else {
        Err(format!(
            "there is no {}; build it with `cargo build --release`, or name it with --pippin",
            path.display()
        ))
    }
}

/// How a plan is run.
struct Lab<'a> {
    pippin: PathBuf,
    folder: &'a Path,
    full: bool,
}

impl Lab<'_> {
    /// The run with this number as its seed: the kept one, or else a new one.
    fn run(&self, seed: u32) -> Result<RunRecord, String> {
        self.kept(seed)?.map_or_else(|| self.measure(seed), Ok)
    }

    fn store(&self) -> PathBuf {
        self.folder.join("pippin.db")
    }

    fn kept(&self, seed: u32) -> Result<Option<RunRecord>, String> {
        let path = self.store();
        if !path.exists() {
            return Ok(None);
        }
        let told = |error: StoreError| format!("{}: {error}", path.display());
        let store = Store::open(&path).map_err(told)?;
        for run in store.list().map_err(told)? {
            let record = store.load(&run.id).map_err(told)?;
            if record.state == RunState::Finished && record.header.seed == u64::from(seed) {
                return if record.header.plan.quick == self.full {
                    Err(format!(
                        "{}: run {} is of the other form of the plan; name another --folder",
                        path.display(),
                        run.id
                    ))
                } else {
                    Ok(Some(record))
                };
            }
        }
        Ok(None)
    }

    /// One run of the plan, with its number as the seed.
    fn measure(&self, seed: u32) -> Result<RunRecord, String> {
        let store = self.store();
        let mut command = Command::new(&self.pippin);
        command
            .args(["run", "sense", "--install", "--yes", "--seed", &seed.to_string(), "--quiet"])
            .arg("--store")
            .arg(&store)
            .arg("--out")
            .arg(self.folder.join(format!("run-{seed}")))
            .args((!self.full).then_some("--quick"))
            .env("PIPPIN_HOME", self.folder)
            .current_dir(self.folder)
            .stdin(Stdio::null());
        let output =
            command.output().map_err(|error| format!("{}: {error}", self.pippin.display()))?;
        // 3 is an INVALID result. The tally leaves it out.
        if !matches!(output.status.code(), Some(0 | 3)) {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("pippin run ended with {}:\n{told}", output.status));
        }
        Store::open(&store)
            .and_then(|store| store.load("latest"))
            .map_err(|error| format!("{}: {error}", store.display()))
    }
}

/// Replaces the line on a terminal.
fn say(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tally::tests::run;

    #[test]
    fn joined_runs_have_the_repetitions_of_all() {
        let whole = join(vec![run(), run()]).unwrap();
        let mut found: Vec<u32> = whole.trials.iter().map(|trial| trial.spec.repetition).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [0, 1, 2, 3, 4, 5]);
        assert_eq!(whole.trials.len(), 2 * run().trials.len());
        assert!(join(Vec::new()).is_none());
    }
}
