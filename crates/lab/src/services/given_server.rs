//! A PostgreSQL that the user gave, in which databases are made for the starts of the user's own targets.
use postgres::Client;
use postgres::error::SqlState;

use super::postgres::{connect, run, without_password};
use super::secret;
use crate::error::LabError;

/// Names it.
pub const VARIABLE: &str = "PIPPIN_DATABASE_URL";

/// The server, and how it is shown whose databases are in use.
pub struct GivenServer {
    /// Its address, as the user gave it.
    pub url: String,
    /// How the names of the databases of this process begin.
    pub prefix: String,
    /// Why no databases can be made in it.
    pub denied: Option<String>,
    /// Bears the prefix as its name as long as this process lives, so that others leave the databases alone.
    _presence: Client,
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

impl GivenServer {
    /// Connects to it, drops what killed Pippins have left there, and finds out whether databases can be made.
    ///
    /// # Errors
    /// If it does not answer, or the address is no URL.
    pub fn find(url: String) -> Result<Self, LabError> {
        let wrong = |why: String| LabError::User(format!("{VARIABLE}: {why}"));
        if with_database(&url, "x").is_none() {
            return Err(wrong("write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE".into()));
        }
        let mut presence = connect(&url).map_err(wrong)?;
        let random = secret::random("name databases")?;
        let prefix = format!("pippin_{:016x}", random as u64);
        run(&mut presence, &format!("SET application_name = '{prefix}'"))?;
        let left = presence.query(LEFT, &[]).map_err(|error| wrong(error.to_string()))?;
        for row in left {
            let name: String = row.get(0);
            run(&mut presence, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        }
        let denied = try_to_make(&mut presence, &format!("{prefix}_0"))?;
        Ok(Self { url, prefix, denied, _presence: presence })
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
    use super::with_database;

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
