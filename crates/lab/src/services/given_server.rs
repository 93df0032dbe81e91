//! A PostgreSQL that the user gave, in which databases are made for the starts of the user's own targets.
use postgres::Client;
use postgres::error::SqlState;
use std::env::VarError;
use std::time::Duration;

use super::postgres::{connect, run, without_password};
use super::secret;
use crate::error::LabError;

/// Names it.
pub const VARIABLE: &str = "PIPPIN_DATABASE_URL";

/// The address that the user gave; `None` if there is none.
///
/// # Errors
/// If it is not UTF-8.
pub fn url() -> Result<Option<String>, LabError> {
    read(std::env::var(VARIABLE))
}

fn read(variable: Result<String, VarError>) -> Result<Option<String>, LabError> {
    match variable {
        Ok(url) => Ok(Some(url)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(LabError::User(format!(
            "{VARIABLE} is not UTF-8; write it as {FORM}, with other bytes as %XX"
        ))),
    }
}

/// How the address is written.
const FORM: &str = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/// The server, and how it is shown whose databases are in use.
pub struct GivenServer {
    /// Its address, as the user gave it.
    pub url: String,
    /// How the names of the databases of this process begin.
    pub prefix: String,
    /// Why no databases can be made in it.
    pub denied: Option<String>,
    /// Bears the prefix as its name as long as this process lives, so that others leave the databases alone.
    presence: Client,
}

impl std::fmt::Debug for GivenServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GivenServer")
            .field("url", &without_password(&self.url))
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// The databases of Pippins that were killed. Other roles' databases, and names of other connections, are
/// not to be seen.
const LEFT: &str = "SELECT d.datname FROM pg_database d
    WHERE pg_get_userbyid(d.datdba) = current_user AND d.datname ~ '^pippin_[0-9a-f]{16}_[0-9]+$'
    AND NOT EXISTS (SELECT FROM pg_stat_activity
        WHERE application_name = substring(d.datname FROM '^pippin_[0-9a-f]{16}'))";

/// Keeps a connection on which nothing is said, on servers that know the setting.
const STAYS: &str =
    "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'";

impl GivenServer {
    /// Connects to it, drops what killed Pippins have left there, and finds out whether databases can be made.
    ///
    /// # Errors
    /// If it does not answer, or the address is no URL.
    pub fn find(url: String) -> Result<Self, LabError> {
        let wrong = |why: String| LabError::User(format!("{VARIABLE}: {why}"));
        if with_database(&url, "x").is_none() {
            return Err(wrong(format!("write it as {FORM}")));
        }
        let mut presence = connect(&url).map_err(wrong)?;
        let random = secret::random("name databases")?;
        let prefix = format!("pippin_{:016x}", random as u64);
        run(&mut presence, &format!("SET application_name = '{prefix}'"))?;
        // It says nothing all the time, and must stay. The setting is there since PostgreSQL 14.
        presence.query(STAYS, &[]).map_err(|error| wrong(error.to_string()))?;
        let left = presence.query(LEFT, &[]).map_err(|error| wrong(error.to_string()))?;
        for row in left {
            let name: String = row.get(0);
            run(&mut presence, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        }
        let denied = try_to_make(&mut presence, &format!("{prefix}_0"))?;
        Ok(Self { url, prefix, denied, presence })
    }

    /// Whether others still see that this process lives.
    ///
    /// # Errors
    /// If its connection is closed: another Pippin may then drop the databases of this one.
    pub fn is_present(&mut self) -> Result<(), LabError> {
        let is_valid = self.presence.is_valid(Duration::from_secs(10));
        is_valid.map_err(|error| {
            LabError::User(format!(
                "{VARIABLE}: the PostgreSQL server closed the connection that shows that this Pippin still runs ({error}). Another one may now drop the databases of this run. Let the server keep idle connections open, and run again"
            ))
        })
    }

    /// The address of another of its databases.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        with_database(&self.url, database).unwrap_or_else(|| self.url.clone())
    }
}

/// Makes a database and drops it. What PostgreSQL says if that is not allowed.
fn try_to_make(client: &mut Client, name: &str) -> Result<Option<String>, LabError> {
    match client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")) {
        Ok(()) => run(client, &format!("DROP DATABASE {name}")).map(|()| None),
        Err(error) => match error.as_db_error() {
            Some(said) if *said.code() == SqlState::INSUFFICIENT_PRIVILEGE => {
                Ok(Some(said.message().to_string()))
            }
            _ => Err(LabError::User(format!("{VARIABLE}: cannot make a database: {error}"))),
        },
    }
}

/// The address of another database of a server; `None` if it is no URL.
fn with_database(url: &str, database: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, format!("?{query}")),
        None => (rest, String::new()),
    };
    let place = place.split('/').next().unwrap_or_default();
    Some(format!("{scheme}://{place}/{database}{query}"))
}

#[cfg(test)]
mod tests {
    use super::{read, with_database};
    use std::env::VarError;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn an_address_that_is_not_utf8_is_refused() {
        assert_eq!(read(Err(VarError::NotPresent)).unwrap(), None);
        let bytes = std::ffi::OsString::from_vec(b"postgres://h/\xff".to_vec());
        let error = read(Err(VarError::NotUnicode(bytes))).unwrap_err().to_string();
        assert!(error.starts_with("PIPPIN_DATABASE_URL is not UTF-8; write it as"), "{error}");
    }

    #[test]
    fn only_the_database_of_an_address_changes() {
        for (url, other) in [
            (
                "postgres://me:secret@host:5432/db?sslmode=disable",
                "postgres://me:secret@host:5432/x?sslmode=disable",
            ),
            ("postgresql://host", "postgresql://host/x"),
            ("postgres://me@host/", "postgres://me@host/x"),
        ] {
            assert_eq!(with_database(url, "x").as_deref(), Some(other));
        }
        assert_eq!(with_database("host=h dbname=d", "x"), None);
    }
}
