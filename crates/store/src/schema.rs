//! The tables. Each change is a new migration. A database stores in `user_version` how many it has.
use rusqlite::{Connection, Transaction};
use serde_json::{Value, json};

use crate::history;

/// "Pipn" in ASCII. It marks a database as Pippin's (sqlite.org/pragma.html, `application_id`).
pub const APPLICATION_ID: i64 = 0x5069_706e;

type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

const MIGRATIONS: &[Migration] = &[first, answered, flat_profiles, maker, digests, histories];

/// The newest schema.
pub const VERSION: i64 = MIGRATIONS.len() as i64;
/// The oldest schema that can be read without an update, in a file that may only be read.
pub(crate) const READABLE: i64 = 5;

/// Runs and trials as JSON documents beside the columns that lists and searches need.
fn first(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            started_unix_ns INTEGER NOT NULL,
            ended_unix_ns INTEGER,
            state TEXT NOT NULL,
            plan TEXT NOT NULL,
            title TEXT NOT NULL,
            workload TEXT NOT NULL,
            profile TEXT NOT NULL,
            quick INTEGER NOT NULL,
            hostname TEXT,
            header TEXT NOT NULL
        );
        CREATE INDEX runs_by_time ON runs (started_unix_ns);
        CREATE TABLE trials (
            run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            target TEXT NOT NULL,
            repetition INTEGER NOT NULL,
            verdict TEXT NOT NULL,
            goodput_per_s REAL,
            p99_ns INTEGER,
            record TEXT NOT NULL,
            PRIMARY KEY (run, number)
        );
        CREATE INDEX trials_by_target ON trials (target, run);
        CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);",
    )
}

/// Since this version, throughput counts the answers that ended within a stretch. Before, it
/// counted the requests that were due within it. Older trials keep their figures.
fn answered(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let rows: Vec<(i64, String)> = transaction
        .prepare("SELECT rowid, record FROM trials")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (row, record) in rows {
        // Leave unreadable records unchanged. Loading the run reports them.
        let Ok(mut record) = serde_json::from_str::<Value>(&record) else { continue };
        let load = &mut record["load"];
        if load.is_null() {
            continue;
        }
        add_answered(&mut load["measured"]);
        for phase in load["phases"].as_array_mut().into_iter().flatten() {
            add_answered(&mut phase["measured"]);
        }
        transaction.execute(
            "UPDATE trials SET record = ?2 WHERE rowid = ?1",
            rusqlite::params![row, record.to_string()],
        )?;
    }
    Ok(())
}

fn add_answered(measured: &mut Value) {
    if measured.get("answered").is_none() && measured.get("requests").is_some() {
        let requests = &measured["requests"];
        measured["answered"] =
            json!({"completed": requests["completed"], "good": requests["good"]});
    }
}

/// Since this version, profiles are flat, and trials hold the load that the generator was given.
/// The older form can still be read (`pippin_model::plan::profile`), so nothing is rewritten. The version
/// tells an older Pippin that it cannot read new runs.
const fn flat_profiles(_: &Transaction<'_>) -> rusqlite::Result<()> {
    Ok(())
}

/// Adds the process that makes a run, to detect killed runs. Older runs do not have it.
fn maker(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch("ALTER TABLE runs ADD COLUMN maker TEXT")
}

/// Adds digests: lists show who leads a run, which only its report knows. The index holds the
/// values that lists count, so that no record is read for them.
fn digests(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE digests (
            run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            trials INTEGER NOT NULL,
            worst TEXT,
            digest TEXT NOT NULL
        );
        CREATE INDEX trials_in_lists ON trials (run, target, verdict);
        CREATE INDEX runs_by_plan ON runs (plan, quick, started_unix_ns);",
    )
}

/// What histories need to know of each target in a run, copied from the run and its header.
const RUN_TARGETS: &str = "TABLE IF NOT EXISTS run_targets (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL,
    plan TEXT NOT NULL,
    quick INTEGER NOT NULL,
    comparable TEXT NOT NULL,
    of_commit TEXT,
    PRIMARY KEY (run, target)
) WITHOUT ROWID";

/// Adds what histories read, and indexes that have all columns of a list. Before, both read the
/// pages of headers and records.
fn histories(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(&format!(
        "CREATE {RUN_TARGETS};
        DROP INDEX trials_by_target;
        CREATE INDEX trials_in_histories ON trials (target, run, number, verdict, goodput_per_s, p99_ns);
        DROP INDEX runs_by_time;
        CREATE INDEX runs_in_lists ON runs (started_unix_ns, id, ended_unix_ns, state, plan, title, workload, profile, quick, hostname, maker);
        DROP INDEX runs_by_plan;
        CREATE INDEX runs_by_plan ON runs (plan, quick, started_unix_ns, state, hostname, id);
        CREATE INDEX runs_by_host ON runs (hostname);"
    ))?;
    history::keep_all_targets(transaction)
}

/// Puts an empty table before the one that histories read, or in place of it where an older schema
/// lacks it. It belongs to the connection and not to the file. Histories then read all headers.
pub(crate) fn stand_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("CREATE TEMP {RUN_TARGETS}"))
}

/// Updates a database in one transaction, so that another Pippin sees either the old schema or the
/// new one.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(version.max(0) as usize) {
        migration(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION.max(version))?;
    transaction.commit()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Brings a database to an older schema than the newest.
    pub(crate) fn migrate_to(version: usize, connection: &mut Connection) {
        let transaction = connection.transaction().unwrap();
        let before: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        for migration in &MIGRATIONS[before as usize..version] {
            migration(&transaction).unwrap();
        }
        transaction.pragma_update(None, "user_version", version as i64).unwrap();
        transaction.commit().unwrap();
    }
}
