//! What a database takes, and removing runs from it. Nothing is removed that nobody asked for.
use pippin_model::run::RunState;
use std::collections::BTreeSet;

use crate::runs::RunSummary;
use crate::{Store, StoreError};

/// What a database takes on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The file with its write-ahead log, bytes.
    pub bytes: u64,
    /// Pages of the file that hold nothing and are used again, bytes.
    pub free_bytes: u64,
    /// How many runs there are.
    pub runs: u64,
}

/// What a rule of retention leaves and takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Retention {
    /// The full names of the runs to remove, the newest first.
    pub remove: Vec<String>,
    /// How many older runs stay because they are a baseline or still run.
    pub spared: usize,
}

/// Which runs to remove so that the newest `keep` are left. `runs` are all of them, the newest first.
/// A run under way and a run that is a baseline stay, and count as one of `keep` only if they are
/// among the newest.
#[must_use]
pub fn retention(runs: &[RunSummary], baselines: &BTreeSet<String>, keep: usize) -> Retention {
    let stays =
        |run: &RunSummary| run.state == RunState::Running || baselines.contains(run.id.as_str());
    let older = runs.get(keep..).unwrap_or_default();
    let (spared, remove): (Vec<&RunSummary>, Vec<&RunSummary>) =
        older.iter().partition(|run| stays(run));
    Retention {
        remove: remove.into_iter().map(|run| run.id.clone()).collect(),
        spared: spared.len(),
    }
}

impl Store {
    /// What the database takes.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn size(&self) -> Result<Size, StoreError> {
        let of_file = |suffix: &str| {
            let mut name = self.path().as_os_str().to_owned();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |file| file.len())
        };
        self.read(|connection| {
            let pragma =
                |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let runs: i64 =
                connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?;
            Ok(Size {
                bytes: of_file("") + of_file("-wal"),
                free_bytes: (pragma("freelist_count")? * pragma("page_size")?) as u64,
                runs: runs as u64,
            })
        })
    }

    /// Removes these runs with their trials and digests, all or none. The file keeps its size; see
    /// [`shrink`](Self::shrink).
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn remove(&self, runs: &[String]) -> Result<(), StoreError> {
        self.with(|connection| {
            let transaction = connection.transaction()?;
            for run in runs {
                transaction.execute("DELETE FROM runs WHERE id = ?1", [run])?;
            }
            transaction.commit()
        })
    }

    /// Gives what removed runs took back to the disk. It writes the whole database anew
    /// (sqlite.org/lang_vacuum.html), and needs as much room for that.
    ///
    /// # Errors
    /// If the database cannot be written, or there is no room.
    pub fn shrink(&self) -> Result<(), StoreError> {
        self.with(|connection| {
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run as example;
    use pippin_model::run::RunRecord;

    fn stored(count: usize) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("pippin.db")).unwrap();
        for nth in 0..count {
            let mut record: RunRecord = example::hello();
            record.header.id = format!("20261127-10000{nth}-hello");
            record.header.started_unix_ns += nth as u64;
            store.begin(&record.header).unwrap();
            for (place, trial) in record.trials.iter().enumerate() {
                store.add_trial(&record.header.id, place as u64, trial).unwrap();
            }
            store.end(&record.header.id, RunState::Finished, 1).unwrap();
        }
        (folder, store)
    }

    #[test]
    fn a_removed_run_leaves_nothing_and_the_others_stay() {
        let (_folder, store) = stored(4);
        let full = store.size().unwrap();
        assert_eq!(full.runs, 4);
        let gone: Vec<String> = (0..3).map(|nth| format!("20261127-10000{nth}-hello")).collect();
        store.remove(&gone).unwrap();
        let emptied = store.size().unwrap();
        assert!(emptied.free_bytes > full.free_bytes, "{full:?} {emptied:?}");
        store.shrink().unwrap();
        let shrunk = store.size().unwrap();
        assert!(shrunk.bytes < full.bytes && shrunk.free_bytes == 0, "{full:?} {shrunk:?}");
        assert_eq!((shrunk.runs, store.list().unwrap().len()), (1, 1));
        assert!(!store.load("20261127-100003").unwrap().trials.is_empty());
        assert!(store.load("20261127-100001-hello").is_err());
        let left: i64 = store
            .read(|connection| {
                connection.query_row(
                    "SELECT (SELECT count(DISTINCT run) FROM trials) + (SELECT count(DISTINCT run) FROM run_targets)",
                    [],
                    |row| row.get(0),
                )
            })
            .unwrap();
        assert_eq!(left, 2, "one run in each of the two tables");
    }

    #[test]
    fn a_baseline_names_a_run_as_its_own_name_does() {
        let (_folder, store) = stored(3);
        let runs = ["20261127-100000-hello", "20261127-100001-hello"];
        assert_eq!(store.set_baseline("main", runs[0]).unwrap(), None);
        assert_eq!(store.set_baseline("main", runs[1]).unwrap().as_deref(), Some(runs[0]));
        store.set_baseline("older", runs[0]).unwrap();
        assert_eq!(store.resolve("main").unwrap(), runs[1]);
        assert_eq!(store.load("older").unwrap().header.id, runs[0]);
        let named: Vec<_> =
            store.baselines().unwrap().into_iter().map(|it| (it.name, it.run)).collect();
        let of = |name: &str, run: &str| (name.to_string(), run.to_string());
        assert_eq!(named, [of("main", runs[1]), of("older", runs[0])]);
        assert!(store.remove_baseline("main").unwrap() && !store.remove_baseline("main").unwrap());
        assert!(store.resolve("main").is_err());
        assert_eq!(store.list().unwrap().len(), 3, "the run stays");
    }

    #[test]
    fn retention_spares_baselines_and_runs_under_way() {
        let (_folder, store) = stored(5);
        let mut runs = store.list().unwrap();
        runs[3].state = RunState::Running;
        let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
        let baselines = BTreeSet::from([ids[4].clone(), ids[0].clone()]);
        let of = |keep| {
            let Retention { remove, spared } = retention(&runs, &baselines, keep);
            (remove, spared)
        };
        assert_eq!(of(1), (vec![ids[1].clone(), ids[2].clone()], 2));
        assert_eq!(of(3), (vec![], 2));
        assert_eq!(of(9), (vec![], 0));
        assert_eq!(of(0), (vec![ids[1].clone(), ids[2].clone()], 3));
    }
}
