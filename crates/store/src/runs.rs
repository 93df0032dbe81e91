//! Writing and reading runs.
use pippin_model::run::life::TargetLife;
use pippin_model::run::{Calibration, RunHeader, RunRecord, RunState};
use pippin_model::trial::TrialRecord;
use rusqlite::{OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use crate::maker::Maker;
use crate::{Store, StoreError, history};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RunSummary {
    /// Its name.
    pub id: String,
    /// Nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// `None` while it runs, and if Pippin was killed.
    pub ended_unix_ns: Option<u64>,
    /// How it ended.
    pub state: RunState,
    /// The plan's name.
    pub plan: String,
    /// The plan's title.
    pub title: String,
    /// The workload.
    pub workload: String,
    /// The kind of the profile.
    pub profile: String,
    /// Whether it was the quick form.
    pub quick: bool,
    /// The number of finished trials.
    pub trials: u64,
    /// The number of different targets among them.
    pub targets: u64,
    /// The number of trials with the verdict INVALID.
    pub invalid: u64,
}

impl Store {
    /// Writes the beginning of a run.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn begin(&self, header: &RunHeader) -> Result<(), StoreError> {
        let json = to_json(&header.id, "the header", header)?;
        let maker =
            Maker::this().map(|maker| to_json(&header.id, "its process", &maker)).transpose()?;
        self.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO runs (id, started_unix_ns, state, plan, title, workload, profile, quick, hostname, header, maker) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    header.id,
                    header.started_unix_ns as i64,
                    RunState::Running.name(),
                    header.plan.id,
                    header.plan.title,
                    header.workload.id,
                    header.plan.profile.kind(),
                    header.plan.quick,
                    header.host.hostname,
                    json,
                    maker
                ],
            )?;
            history::keep_targets(&transaction, &header.id, header)?;
            transaction.commit()
        })?;
        self.reserve.fill(&self.path);
        Ok(())
    }

    /// Writes a finished trial. It is on disk when this returns.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn add_trial(
        &self,
        run: &str,
        number: u64,
        record: &TrialRecord,
    ) -> Result<(), StoreError> {
        let json = to_json(run, "a trial", record)?;
        let measured = record.load.as_ref().map(|load| &load.measured);
        let goodput = measured.and_then(|measured| measured.goodput_per_s());
        let p99 = measured
            .and_then(|measured| measured.spans.response_time.quantile_ns(0.99))
            .map(|ns| ns as i64);
        self.with(|connection| {
            connection.execute(
                "INSERT INTO trials (run, number, target, repetition, verdict, goodput_per_s, p99_ns, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![run, number as i64, record.spec.target.to_string(), record.spec.repetition, record.verdict.to_string(), goodput, p99, json],
            )
        })?;
        Ok(())
    }

    /// Writes the life of a target.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn add_life(&self, run: &str, life: &TargetLife) -> Result<(), StoreError> {
        let json = to_json(run, "a life", life)?;
        self.with(|connection| {
            connection.execute(
                "INSERT INTO lives (run, target, record) VALUES (?1, ?2, ?3)",
                params![run, life.target.to_string(), json],
            )
        })?;
        Ok(())
    }

    /// Writes the end of a run.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn end(&self, run: &str, state: RunState, ended_unix_ns: u64) -> Result<(), StoreError> {
        let write = || {
            self.with(|connection| {
                connection.execute(
                    "UPDATE runs SET state = ?2, ended_unix_ns = ?3 WHERE id = ?1",
                    params![run, state.name(), ended_unix_ns as i64],
                )
            })
        };
        self.reserve.release();
        let written = write();
        if matches!(written, Err(StoreError::Full { .. })) {
            // Moving the content of the -wal file into the database may free enough space.
            self.with(|connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            })?;
            write()?;
        } else {
            written?;
        }
        Ok(())
    }

    /// Removes a run without results, with its trials.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn forget(&self, run: &str) -> Result<(), StoreError> {
        self.with(|connection| connection.execute("DELETE FROM runs WHERE id = ?1", [run]))?;
        Ok(())
    }

    /// All runs, the newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        let runs: Vec<(RunSummary, Option<String>)> = self.read(|connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT {SUMMARY}, maker FROM runs ORDER BY started_unix_ns DESC"
            ))?;
            let run = |row: &Row<'_>| Ok((summary(row)?, row.get(12)?));
            statement.query_map([], run)?.collect()
        })?;
        let now = |(run, maker): (RunSummary, Option<String>)| {
            let state = self.state_now(run.state, &run.id, maker.as_deref());
            RunSummary { state, ..run }
        };
        Ok(runs.into_iter().map(now).collect())
    }

    /// The state of a run: as written, or killed. Where its process is not known, the live file
    /// decides.
    pub(crate) fn state_now(&self, written: RunState, run: &str, maker: Option<&str>) -> RunState {
        if written != RunState::Running {
            return written;
        }
        let maker = maker.and_then(|json| serde_json::from_str::<Maker>(json).ok());
        let is_gone = maker.map_or_else(|| self.live_run(run).is_none(), |maker| maker.is_gone());
        if is_gone { RunState::Killed } else { RunState::Running }
    }

    /// A whole run, by its name, the beginning of its name, or `latest` (see
    /// [`resolve`](Self::resolve)).
    ///
    /// # Errors
    /// If there is no such run, several names begin this way, or it cannot be read.
    pub fn load(&self, name: &str) -> Result<RunRecord, StoreError> {
        let id = self.resolve(name)?;
        let (header, state, ended, maker): (String, String, Option<i64>, Option<String>) = self
            .read(|connection| {
                connection.query_row(
                    "SELECT header, state, ended_unix_ns, maker FROM runs WHERE id = ?1",
                    [&id],
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
                )
            })?;
        let trials = "SELECT record FROM trials WHERE run = ?1 ORDER BY number";
        let trials = self.records(&id, "a trial", trials)?;
        let lives = "SELECT record FROM lives WHERE run = ?1 ORDER BY rowid";
        Ok(RunRecord {
            header: from_json(&id, "the header", &header)?,
            state: self.state_now(state_of(&state), &id, maker.as_deref()),
            ended_unix_ns: ended.map(|ns| ns as u64),
            trials,
            lives: self.records(&id, "a life", lives)?,
        })
    }

    /// The records of a run that a statement finds.
    fn records<T: DeserializeOwned>(
        &self,
        run: &str,
        what: &str,
        sql: &str,
    ) -> Result<Vec<T>, StoreError> {
        let found: Vec<String> = self.read(|connection| {
            connection.prepare(sql)?.query_map([run], |row| row.get(0))?.collect()
        })?;
        found.iter().map(|json| from_json(run, what, json)).collect()
    }

    /// What a run was, without its trials. `run` is its full name.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be read.
    pub fn header(&self, run: &str) -> Result<RunHeader, StoreError> {
        let header: String = self.read(|connection| {
            connection.query_row("SELECT header FROM runs WHERE id = ?1", [run], |row| row.get(0))
        })?;
        from_json(run, "the header", &header)
    }

    /// The full name of a run, by that, its beginning, or a baseline. `latest` is the newest run that has a result. If no run has one, it
    /// is the newest run.
    ///
    /// # Errors
    /// If there is no such run, or several names begin this way.
    pub fn resolve(&self, name: &str) -> Result<String, StoreError> {
        let found: Vec<String> = self.read(|connection| {
            let (sql, argument) = if name == "latest" {
                (
                    "SELECT coalesce(
                        (SELECT id FROM runs WHERE EXISTS (SELECT 1 FROM trials WHERE run = id AND goodput_per_s IS NOT NULL)
                         ORDER BY started_unix_ns DESC LIMIT 1),
                        (SELECT id FROM runs ORDER BY started_unix_ns DESC LIMIT 1)
                     ) AS newest WHERE ?1 = 'latest' AND newest IS NOT NULL",
                    name.to_string(),
                )
            } else {
                ("SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, id", name.to_string())
            };
            connection.prepare(sql)?.query_map([argument], |row| row.get(0))?.collect()
        })?;
        match found.as_slice() {
            [] if name == "latest" => Err(StoreError::UnknownRun(
                name.into(),
                format!(": no run is kept in {} yet", self.path().display()),
            )),
            [] => self.baseline(name)?.ok_or_else(|| {
                StoreError::UnknownRun(name.into(), "; `pippin history` lists them".into())
            }),
            [id, ..] if id == name => Ok(id.clone()),
            [id] => Ok(id.clone()),
            several => Err(StoreError::UnknownRun(
                name.into(),
                format!(": several begin so: {}", several.join(", ")),
            )),
        }
    }

    /// Keeps the calibration of this machine.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn keep_calibration(&self, calibration: &Calibration) -> Result<(), StoreError> {
        let json = to_json("-", "the calibration", calibration)?;
        self.with(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES ('calibration', ?1)",
                [json],
            )
        })?;
        Ok(())
    }

    /// The calibration of this machine, if one was kept.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn calibration(&self) -> Result<Option<Calibration>, StoreError> {
        let json: Option<String> = self.read(|connection| {
            connection
                .query_row("SELECT value FROM settings WHERE name = 'calibration'", [], |row| {
                    row.get(0)
                })
                .optional()
        })?;
        json.map(|json| from_json("-", "the calibration", &json)).transpose()
    }
}

/// The columns that [`summary`] reads, in its order.
pub(crate) const SUMMARY: &str = "id, started_unix_ns, ended_unix_ns, state, plan, title, workload, profile, quick, \
    (SELECT count(*) FROM trials WHERE run = id), \
    (SELECT count(DISTINCT target) FROM trials WHERE run = id), \
    (SELECT count(*) FROM trials WHERE run = id AND verdict = 'INVALID')";

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        id: row.get(0)?,
        started_unix_ns: row.get::<_, i64>(1)? as u64,
        ended_unix_ns: row.get::<_, Option<i64>>(2)?.map(|ns| ns as u64),
        state: state_of(&row.get::<_, String>(3)?),
        plan: row.get(4)?,
        title: row.get(5)?,
        workload: row.get(6)?,
        profile: row.get(7)?,
        quick: row.get(8)?,
        trials: row.get::<_, i64>(9)? as u64,
        targets: row.get::<_, i64>(10)? as u64,
        invalid: row.get::<_, i64>(11)? as u64,
    })
}

fn state_of(name: &str) -> RunState {
    [RunState::Running, RunState::Finished, RunState::Interrupted]
        .into_iter()
        .find(|state| state.name() == name)
        .unwrap_or(RunState::Failed)
}

pub(crate) fn to_json<T: serde::Serialize>(
    run: &str,
    what: &str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|source| StoreError::Content {
        run: run.into(),
        what: what.into(),
        source,
    })
}

pub(crate) fn from_json<T: DeserializeOwned>(
    run: &str,
    what: &str,
    json: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|source| StoreError::Content {
        run: run.into(),
        what: what.into(),
        source,
    })
}
