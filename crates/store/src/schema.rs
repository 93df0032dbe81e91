//! The tables. Each change is one more migration; a database says in `user_version` how many it has.
use rusqlite::{Connection, Transaction};

/// "Pipn" in ASCII: tells Pippin's databases from others (sqlite.org/pragma.html, `application_id`).
pub const APPLICATION_ID: i64 = 0x5069_706e;

type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

const MIGRATIONS: &[Migration] = &[first];

/// The newest schema.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

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

/// Brings a database up to date, in one transaction: another Pippin sees either the old schema or the new one.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(version.max(0) as usize) {
        migration(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION.max(version))?;
    transaction.commit()
}
