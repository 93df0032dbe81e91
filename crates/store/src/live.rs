//! The state of runs under way: a small file for each, beside the database. It is not part of the
//! database, because nothing of it must survive, and syncing a database to disk each second would
//! disturb the measurement (docs/decisions/live-file.md).
use pippin_model::run::live::{LiveRun, ProcessName};
use pippin_probe::process::parse_process_stat;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Store;

impl Store {
    /// The file for a run that this process makes. Removes the files of processes that are gone.
    /// Nothing is written yet.
    ///
    /// # Errors
    /// If the folder beside the database cannot be made.
    pub fn live_file(&self, run: &str) -> io::Result<LiveFile> {
        let folder = live_folder(self.path());
        crate::private::folder(&folder)?;
        for (path, live) in files(&folder) {
            if live.is_ok_and(|live| !is_alive(live.process)) {
                // Another Pippin may have removed it already.
                drop(std::fs::remove_file(path));
            }
        }
        let process =
            this_process().ok_or_else(|| io::Error::other("/proc does not know this process"))?;
        Ok(LiveFile { folder, run: run.into(), process, written: AtomicU64::new(0) })
    }

    /// Every run that a living process of this machine makes, by name.
    #[must_use]
    pub fn live_runs(&self) -> Vec<LiveRun> {
        let folder = live_folder(self.path());
        let mut found = files(&folder);
        for _ in 0..RETRIES {
            let vanished = |(_, live): &(PathBuf, io::Result<LiveRun>)| {
                live.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            };
            if !found.iter().any(vanished) {
                break;
            }
            // The file was replaced after the folder was listed.
            found = files(&folder);
        }
        let mut runs: BTreeMap<String, LiveRun> = BTreeMap::new();
        for live in found
            .into_iter()
            .filter_map(|(_, live)| live.ok())
            .filter(|live| is_alive(live.process))
        {
            // While a file replaces another, both exist.
            if runs.get(&live.run).is_none_or(|other| other.updated_unix_ns < live.updated_unix_ns)
            {
                runs.insert(live.run.clone(), live);
            }
        }
        runs.into_values().collect()
    }

    /// The run of this name, if a living process of this machine makes it.
    #[must_use]
    pub fn live_run(&self, run: &str) -> Option<LiveRun> {
        self.live_runs().into_iter().find(|live| live.run == run)
    }
}

/// How often to list a folder again if its files change meanwhile.
const RETRIES: usize = 5;

/// The file with the state of a run. Dropping it removes the file.
#[derive(Debug)]
pub struct LiveFile {
    folder: PathBuf,
    run: String,
    process: ProcessName,
    /// How many files were written; only the last one exists.
    written: AtomicU64,
}

impl LiveFile {
    /// The process that writes it.
    #[must_use]
    pub const fn process(&self) -> ProcessName {
        self.process
    }

    /// Replaces the state. A reader sees the old or the new text, never a part.
    ///
    /// Each text is a new file with its own name, and the previous file is removed. If a file were
    /// renamed over another one, the file system would write it to disk at once (ext4(5),
    /// auto_da_alloc), which takes milliseconds. A file that is removed soon is never written to
    /// disk.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, live: &LiveRun) -> io::Result<()> {
        let text = serde_json::to_vec(live).map_err(io::Error::other)?;
        let beside = self.folder.join(format!("{}.new", self.run));
        let number = self.written.load(Ordering::Relaxed) + 1;
        std::fs::write(&beside, text)?;
        std::fs::rename(&beside, self.path(number))?;
        self.written.store(number, Ordering::Relaxed);
        drop(std::fs::remove_file(self.path(number - 1)));
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}.{number}.json", self.run))
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        // If this fails, readers still see that the process is gone.
        drop(std::fs::remove_file(self.path(self.written.load(Ordering::Relaxed))));
    }
}

/// `pippin.db-live` beside `pippin.db`, as SQLite names its own files.
fn live_folder(database: &Path) -> PathBuf {
    let mut name: OsString = database.as_os_str().to_owned();
    name.push("-live");
    name.into()
}

/// All files with their content. Another version of Pippin may use another form.
fn files(folder: &Path) -> Vec<(PathBuf, io::Result<LiveRun>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths
        .map(|path| {
            let live = std::fs::read(&path)
                .and_then(|text| serde_json::from_slice(&text).map_err(io::Error::other));
            (path, live)
        })
        .collect()
}

pub(crate) fn this_process() -> Option<ProcessName> {
    let pid = std::process::id() as i32;
    Some(ProcessName { pid, start_ticks: start_ticks(pid)? })
}

pub(crate) fn is_alive(process: ProcessName) -> bool {
    start_ticks(process.pid) == Some(process.start_ticks)
}

/// When a process started; `None` if it is gone, even if its parent has not waited for it yet.
fn start_ticks(pid: i32) -> Option<u64> {
    let stat = parse_process_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    (!stat.is_zombie()).then_some(stat.start_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(run: &str, process: ProcessName) -> LiveRun {
        LiveRun {
            run: run.into(),
            title: "Hello".into(),
            process,
            updated_unix_ns: 1,
            is_stopping: false,
            repetitions: 3,
            by_time: false,
            trial: None,
            overall: None,
            finished: Vec::new(),
            queued: Vec::new(),
        }
    }

    #[test]
    fn a_run_is_seen_while_it_is_made_and_not_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.db");
        let (maker, reader) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
        let file = maker.live_file("a").unwrap();
        assert_eq!(reader.live_run("a"), None, "nothing was written yet");
        file.write(&live("a", file.process())).unwrap();
        let mut second = live("a", file.process());
        second.updated_unix_ns = 2;
        file.write(&second).unwrap();
        assert_eq!(reader.live_run("a"), Some(second));
        drop(file);
        assert_eq!(reader.live_runs(), []);
    }

    /// The figures in docs/decisions/live-file.md: `cargo test --release -p pippin-store --
    /// what_a_write_costs --nocapture`.
    #[test]
    fn what_a_write_costs() {
        use pippin_model::run::live::{LiveFinished, LiveSecond, LiveTrial};
        use pippin_model::verdict::Verdict;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let file = store.live_file("a").unwrap();
        let target: pippin_model::target::TargetId = "javascript/express:cluster".parse().unwrap();
        let over = LiveFinished {
            target: target.clone(),
            repetition: 2,
            step: None,
            requests_per_s: Some(12_345.6),
            p50_ns: Some(123_456),
            p99_ns: Some(1_234_567),
            errors: Some(0),
            verdict: Verdict::Suspect,
            failed_at: None,
            remark: Some("x".repeat(80)),
            more_caveats: 0,
        };
        let second = LiveSecond {
            from_ns: 17_000_000_000,
            requests_per_s: Some(12_345.678_9),
            offered_per_s: None,
            p50_ns: Some(123_456),
            p99_ns: Some(1_234_567),
            errors: 0,
            target_cores: Some(0.98),
            generator_cores: Some(0.45),
        };
        let trial = LiveTrial {
            target,
            repetition: 2,
            load: "10 connections".into(),
            stage: "measuring".into(),
            stage_began_unix_ns: 1,
            fraction: Some(0.5),
            left_ns: Some(1),
            seconds: vec![second; 120],
            errors: 0,
            live_connections: Some(10),
            asked: 10,
            uses: Vec::new(),
            target_memory_bytes: Some(1),
        };
        let told =
            LiveRun { trial: Some(trial), finished: vec![over; 60], ..live("a", file.process()) };
        let begun = std::time::Instant::now();
        for _ in 0..100 {
            file.write(&told).unwrap();
        }
        println!(
            "a write of {} bytes takes {:?}",
            serde_json::to_vec(&told).unwrap().len(),
            begun.elapsed() / 100
        );
        assert_eq!(store.live_run("a"), Some(told));
    }

    #[test]
    fn a_reader_never_misses_a_run_that_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.db");
        let store = Store::open(&path).unwrap();
        let file = store.live_file("a").unwrap();
        file.write(&live("a", file.process())).unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    file.write(&live("a", file.process())).unwrap();
                    // Much more often than once a second.
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
            });
            let missed = (0..300).filter(|_| store.live_runs().len() != 1).count();
            over.store(true, Ordering::Relaxed);
            assert_eq!(missed, 0);
        });
    }

    #[test]
    fn a_process_that_is_gone_makes_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let file = store.live_file("mine").unwrap();
        file.write(&live("mine", file.process())).unwrap();
        // The pid now belongs to another process, or to none.
        for (run, process) in [
            (
                "reused",
                ProcessName { start_ticks: file.process().start_ticks + 1, ..file.process() },
            ),
            ("gone", ProcessName { pid: i32::MAX, start_ticks: 1 }),
        ] {
            std::fs::write(
                file.folder.join(format!("{run}.3.json")),
                serde_json::to_vec(&live(run, process)).unwrap(),
            )
            .unwrap();
        }
        std::fs::write(file.folder.join("other.json"), "{}").unwrap();
        assert_eq!(
            store.live_runs().into_iter().map(|live| live.run).collect::<Vec<_>>(),
            ["mine"]
        );
        // The next run removes old files, and leaves files that it does not understand.
        drop(store.live_file("next").unwrap());
        let mut left: Vec<_> = std::fs::read_dir(live_folder(store.path()))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["mine.1.json", "other.json"]);
    }
}
