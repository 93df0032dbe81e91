//! The tables. A database stores in `user_version` which form of them it has.
use rusqlite::Connection;

/// "Pipn" in ASCII. It marks a database as Pippin's (sqlite.org/pragma.html, `application_id`).
pub const APPLICATION_ID: i64 = 0x5069_706e;

/// The schema of this Pippin. It rises when a table, or the meaning of what it holds, changes.
pub const VERSION: i64 = 8;

/// Runs and trials as JSON documents beside the columns that lists and searches need. Lists read
/// digests, and indexes that have all of their columns, so that they read no header and no record.
const TABLES: &str = "
CREATE TABLE runs (
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
    header TEXT NOT NULL,
    maker TEXT
);
CREATE INDEX runs_in_lists ON runs (started_unix_ns, id, ended_unix_ns, state, plan, title, workload, profile, quick, hostname, maker);
CREATE INDEX runs_by_plan ON runs (plan, quick, started_unix_ns, state, hostname, id);
CREATE INDEX runs_by_host ON runs (hostname);
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
CREATE INDEX trials_in_lists ON trials (run, target, verdict);
CREATE INDEX trials_in_histories ON trials (target, run, number, verdict, goodput_per_s, p99_ns);
CREATE TABLE digests (
    run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    trials INTEGER NOT NULL,
    worst TEXT,
    digest TEXT NOT NULL
);
CREATE TABLE lives (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, target)
);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);";

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

/// Puts an empty table before the one that histories read. It belongs to the connection and not to
/// the file. Histories then read all headers.
pub(crate) fn stand_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("CREATE TEMP {RUN_TARGETS}"))
}

/// Makes the tables of a new database in one transaction, so that another Pippin sees either none
/// of them or all.
pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        transaction.execute_batch(&format!("{TABLES} CREATE {RUN_TARGETS};"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
