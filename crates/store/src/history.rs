//! Histories: the trials of a target over all runs, and its lives. Trials come from an index of
//! `trials` and from rows of `run_targets`, which copy what a header says of a target. Only where
//! such a row is missing, the header itself is read. A life is a small record of its own.
use pippin_model::run::comparable;
use pippin_model::run::life::TargetLife;
use pippin_model::run::{HistoryPoint, RunHeader};
use pippin_model::target::TargetId;
use pippin_model::target::commit::Commit;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::{Store, StoreError, schema};

impl Store {
    /// All trials of a target, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn history(&self, target: &str) -> Result<Vec<HistoryPoint>, StoreError> {
        let found = self.read(|connection| points(connection, target))?;
        if self.read(|connection| self.own_keys.include(connection, &found))? {
            return Ok(found);
        }
        let kept_anew = self.with(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            keep_all_targets(&transaction)?;
            transaction.commit()
        });
        if matches!(kept_anew, Err(StoreError::ReadOnly { .. })) {
            self.with(|connection| schema::stand_in(connection))?;
        } else {
            kept_anew?;
        }
        self.with(|connection| points(connection, target))
    }

    /// The life of a target in those of these runs that measured it, by run. One that cannot be read
    /// is left out.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn lives_of<'a>(
        &self,
        target: &str,
        runs: impl IntoIterator<Item = &'a str>,
    ) -> Result<BTreeMap<String, TargetLife>, StoreError> {
        let query = "SELECT record FROM lives WHERE run = ?1 AND target = ?2";
        self.by_run(query, &[target], runs, |json| serde_json::from_str(json).ok())
    }
}

/// Keeps what a history needs of each target in a run.
pub(crate) fn keep_targets(
    connection: &Connection,
    run: &str,
    header: &RunHeader,
) -> rusqlite::Result<()> {
    let comparable = comparable::key(header);
    let mut statement = connection.prepare_cached(
        "INSERT INTO run_targets (run, target, started_unix_ns, plan, quick, comparable, of_commit)
         SELECT id, ?2, started_unix_ns, plan, quick, ?3, ?4 FROM runs WHERE id = ?1",
    )?;
    let targets: BTreeSet<&TargetId> =
        header.plan.targets.iter().chain(header.targets.keys()).collect();
    for target in targets {
        let commit =
            commit_of(header, target).and_then(|commit| serde_json::to_string(commit).ok());
        statement.execute(params![run, target.to_string(), comparable, commit])?;
    }
    Ok(())
}

/// Keeps it anew for all runs.
pub(crate) fn keep_all_targets(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM run_targets", [])?;
    let mut runs = transaction.prepare("SELECT id, header FROM runs")?;
    let mut rows = runs.query([])?;
    while let Some(row) = rows.next()? {
        let (id, header): (String, String) = (row.get(0)?, row.get(1)?);
        // Without its rows, a run with an unreadable header is shown as far as it is known.
        if let Ok(header) = serde_json::from_str(&header) {
            keep_targets(transaction, &id, &header)?;
        }
    }
    Ok(())
}

fn commit_of<'a>(header: &'a RunHeader, target: &TargetId) -> Option<&'a Commit> {
    header.targets.get(target)?.commit.as_ref()
}

/// What all trials of a target in one run share.
#[derive(Clone)]
struct OfRun {
    run: String,
    started_unix_ns: u64,
    plan: String,
    quick: bool,
    comparable: String,
    commit: Option<Commit>,
}

fn points(connection: &Connection, target: &str) -> rusqlite::Result<Vec<HistoryPoint>> {
    let mut statement = connection.prepare_cached(
        "SELECT trials.run, verdict, goodput_per_s, p99_ns, started_unix_ns, plan, quick, comparable, of_commit
         FROM trials LEFT JOIN run_targets
         ON run_targets.run = trials.run AND run_targets.target = trials.target
         WHERE trials.target = ?1 ORDER BY trials.run, number",
    )?;
    let mut rows = statement.query([target])?;
    let mut points = Vec::new();
    let mut last: Option<OfRun> = None;
    while let Some(row) = rows.next()? {
        let run: String = row.get(0)?;
        let of_run = if let Some(same) = last.take().filter(|last| last.run == run) {
            same
        } else if let Some(kept) = kept(row, &run)? {
            kept
        } else {
            from_header(connection, &run, target)?
        };
        last = Some(of_run.clone());
        let OfRun { run, started_unix_ns, plan, quick, comparable, commit } = of_run;
        points.push(HistoryPoint {
            run,
            started_unix_ns,
            plan,
            quick,
            comparable,
            commit,
            verdict: row.get(1)?,
            goodput_per_s: row.get(2)?,
            p99_ns: row.get::<_, Option<i64>>(3)?.map(|ns| ns as u64),
        });
    }
    // The trials of a run stay in their order.
    points.sort_by_key(|point| point.started_unix_ns);
    Ok(points)
}

/// What the row of `run_targets` says; `None` if there is none.
fn kept(row: &Row<'_>, run: &str) -> rusqlite::Result<Option<OfRun>> {
    let Some(started) = row.get::<_, Option<i64>>(4)? else { return Ok(None) };
    let commit: Option<String> = row.get(8)?;
    Ok(Some(OfRun {
        run: run.into(),
        started_unix_ns: started as u64,
        plan: row.get(5)?,
        quick: row.get(6)?,
        comparable: row.get(7)?,
        commit: commit.and_then(|json| serde_json::from_str(&json).ok()),
    }))
}

/// What histories need to know, from the run and its header. Unreadable headers are only comparable
/// with each other.
fn from_header(connection: &Connection, run: &str, target: &str) -> rusqlite::Result<OfRun> {
    let mut statement = connection
        .prepare_cached("SELECT started_unix_ns, plan, quick, header FROM runs WHERE id = ?1")?;
    statement.query_row([run], |row| {
        let header = serde_json::from_str::<RunHeader>(&row.get::<_, String>(3)?).ok();
        let commit = header.as_ref().and_then(|header| {
            let target: TargetId = target.parse().ok()?;
            commit_of(header, &target).cloned()
        });
        Ok(OfRun {
            run: run.into(),
            started_unix_ns: row.get::<_, i64>(0)? as u64,
            plan: row.get(1)?,
            quick: row.get(2)?,
            comparable: header.as_ref().map(comparable::key).unwrap_or_default(),
            commit,
        })
    })
}

/// Keys of what can be compared that this version of Pippin was seen to make too, so that headers
/// are not read again for each page.
#[derive(Debug, Default)]
pub(crate) struct OwnKeys(Mutex<BTreeSet<String>>);

impl OwnKeys {
    /// Whether this version of Pippin makes the keys of all these points. It reads the header of
    /// one run for each new key. A key of another version would begin a history of its own.
    fn include(&self, connection: &Connection, points: &[HistoryPoint]) -> rusqlite::Result<bool> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let one_of_each: BTreeMap<&str, &str> = points
            .iter()
            .filter(|point| !seen.contains(&point.comparable))
            .map(|point| (point.comparable.as_str(), point.run.as_str()))
            .collect();
        let mut statement = connection.prepare_cached("SELECT header FROM runs WHERE id = ?1")?;
        for (key, run) in &one_of_each {
            let header: Option<String> = statement.query_row([run], |row| row.get(0)).optional()?;
            let read = header.and_then(|json| serde_json::from_str::<RunHeader>(&json).ok());
            if read.is_some_and(|header| comparable::key(&header) != *key) {
                return Ok(false);
            }
        }
        let new = one_of_each.into_keys().map(Into::into);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::example::run::hello;
    use pippin_model::run::RunState;
    use std::path::Path;

    const TARGET: &str = "rust/axum";

    /// Four runs: two alike, one of another load and commit, and one whose header cannot be read.
    fn runs(path: &Path) -> Store {
        let store = Store::open(path).unwrap();
        let like = hello();
        for place in 0..4u64 {
            let mut header = like.header.clone();
            // The newest first by name, and the oldest first by time.
            header.id = format!("run-{}", 9 - place);
            header.started_unix_ns += place;
            if place == 2 {
                header.plan.quick = true;
                header.plan.profile.connections.count += 1;
                let of = header.targets.get_mut(&TARGET.parse().unwrap()).unwrap();
                of.commit = Some(Commit { id: "b".repeat(40), changed: true, repository: None });
            }
            store.begin(&header).unwrap();
            for (number, trial) in (0..).zip(&like.trials) {
                store.add_trial(&header.id, number, trial).unwrap();
            }
            store.end(&header.id, RunState::Finished, 1).unwrap();
        }
        let spoil = "DELETE FROM run_targets WHERE run = 'run-6'; UPDATE runs SET header = '{}' WHERE id = 'run-6'";
        store.with(|connection| connection.execute_batch(spoil)).unwrap();
        store
    }

    fn count(store: &Store, sql: &str) -> i64 {
        store.with(|connection| connection.query_row(sql, [], |row| row.get(0))).unwrap()
    }

    #[test]
    fn what_is_kept_says_the_same_as_the_headers() {
        let folder = tempfile::tempdir().unwrap();
        let store = runs(&folder.path().join("pippin.db"));
        let kept = store.history(TARGET).unwrap();
        let told = kept.iter().step_by(3).map(|point| {
            (point.run.as_str(), point.quick, point.comparable.len(), point.commit.is_some())
        });
        let told: Vec<_> = told.collect();
        assert_eq!(
            told,
            [
                ("run-9", false, 16, false),
                ("run-8", false, 16, false),
                ("run-7", true, 16, true),
                ("run-6", false, 0, false)
            ]
        );
        assert_eq!(kept.len(), 12, "three trials each");
        assert!(
            kept[0].comparable == kept[3].comparable && kept[0].comparable != kept[6].comparable
        );
        store.with(|connection| connection.execute("DELETE FROM run_targets", [])).unwrap();
        assert_eq!(store.history(TARGET).unwrap(), kept);
        assert_eq!(store.history("go/none").unwrap(), []);
    }

    #[test]
    fn a_life_is_found_in_the_runs_that_measured_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = runs(&folder.path().join("pippin.db"));
        let life = |target: &str, start_ns| TargetLife {
            start_ns: Some(start_ns),
            ..TargetLife::new(target.parse().unwrap())
        };
        store.add_life("run-9", &life(TARGET, 12_000_000)).unwrap();
        store.add_life("run-9", &life("go/net-http", 7)).unwrap();
        store.add_life("run-7", &life(TARGET, 15_000_000)).unwrap();
        store.add_life("run-6", &life(TARGET, 1)).unwrap();
        let spoil = "UPDATE lives SET record = '{}' WHERE run = 'run-6'";
        store.with(|connection| connection.execute(spoil, [])).unwrap();
        let points = store.history(TARGET).unwrap();
        let lives = store.lives_of(TARGET, points.iter().map(|point| &*point.run)).unwrap();
        let starts: Vec<_> = lives.iter().map(|(run, life)| (&**run, life.start_ns)).collect();
        assert_eq!(starts, [("run-7", Some(15_000_000)), ("run-9", Some(12_000_000))]);
        assert_eq!(store.lives_of(TARGET, ["run-8", "run-9"]).unwrap().len(), 1);
        store.forget("run-9").unwrap();
        assert!(store.lives_of(TARGET, ["run-9"]).unwrap().is_empty());
    }

    #[test]
    fn a_forgotten_run_takes_its_rows_along() {
        let folder = tempfile::tempdir().unwrap();
        let store = runs(&folder.path().join("pippin.db"));
        let rows = "SELECT count(*) FROM run_targets WHERE run = 'run-9'";
        assert!(count(&store, rows) > 1);
        store.forget("run-9").unwrap();
        assert_eq!(count(&store, rows), 0);
        assert_eq!(store.history(TARGET).unwrap().len(), 9, "three runs are left");
    }

    #[test]
    fn keys_of_another_version_are_made_anew_or_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pippin.db");
        let store = runs(&path);
        let right = store.history(TARGET).unwrap();
        let spoil = "UPDATE run_targets SET comparable = 'of another version' WHERE run <> 'run-9'";
        let spoilt = format!(
            "{rows} WHERE comparable = 'of another version'",
            rows = "SELECT count(*) FROM run_targets"
        );
        store.with(|connection| connection.execute(spoil, [])).unwrap();
        let reader = Store::from_connection(
            &path,
            Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap(),
        );
        assert_eq!(reader.history(TARGET).unwrap(), right);
        assert!(count(&store, &spoilt) > 0, "a reader changes nothing");
        assert_eq!(store.history(TARGET).unwrap(), right);
        assert_eq!(count(&store, &spoilt), 0);
    }

    #[test]
    fn the_header_behind_a_key_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = runs(&folder.path().join("pippin.db"));
        let first = store.history(TARGET).unwrap();
        // Headers never change; this one shows whether it is read again.
        let other = "UPDATE runs SET header = (SELECT header FROM runs WHERE id = 'run-7') WHERE id <> 'run-6'";
        store.with(|connection| connection.execute(other, [])).unwrap();
        assert_eq!(store.history(TARGET).unwrap(), first);
        // Whoever opens the database later reads it.
        let later = Store::open(store.path()).unwrap().history(TARGET).unwrap();
        assert_ne!(later, first);
    }
}
