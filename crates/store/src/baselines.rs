//! Baselines: runs with a name of the user's, with which gates and comparisons compare.
use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError};

/// Names of settings that are baselines begin so.
const PREFIX: &str = "baseline:";

/// A run with a name of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The name.
    pub name: String,
    /// The full name of the run.
    pub run: String,
}

/// Whether a text can be the name of a baseline: it is written after `vs` in gates, and must not be
/// taken for a run.
///
/// # Errors
/// If it is not; the text says how to write it.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if name == "latest" {
        return Err("`latest` is always the newest run: choose another name".into());
    }
    if !begins || !name.chars().all(is_word) || name.len() > 64 {
        return Err(format!(
            "`{name}` cannot name a baseline: begin with a letter, then letters, digits, `-`, `_` and `.`, at most 64 in all"
        ));
    }
    Ok(())
}

impl Store {
    /// Gives a run a name, instead of the run that had it before. Returns that one. `run` is the
    /// run's full name; see [`check_name`] for `name`.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn set_baseline(&self, name: &str, run: &str) -> Result<Option<String>, StoreError> {
        let key = format!("{PREFIX}{name}");
        self.with(|connection| {
            let transaction = connection.transaction()?;
            let before = transaction
                .query_row("SELECT value FROM settings WHERE name = ?1", [&key], |row| row.get(0))
                .optional()?;
            transaction.execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)",
                params![key, run],
            )?;
            transaction.commit()?;
            Ok(before)
        })
    }

    /// All baselines, in the order of their names.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT substr(name, length(?1) + 1), value FROM settings
                 WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name",
            )?;
            let one =
                |row: &rusqlite::Row<'_>| Ok(Baseline { name: row.get(0)?, run: row.get(1)? });
            statement.query_map([PREFIX], one)?.collect()
        })
    }

    /// The run that a baseline names.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn baseline(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            connection
                .query_row(
                    "SELECT value FROM settings WHERE name = ?1",
                    [format!("{PREFIX}{name}")],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    /// Removes a name; the run stays. Returns whether there was one.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn remove_baseline(&self, name: &str) -> Result<bool, StoreError> {
        let key = format!("{PREFIX}{name}");
        let removed = self
            .with(|connection| connection.execute("DELETE FROM settings WHERE name = ?1", [key]))?;
        Ok(removed > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_that_is_no_run() {
        for name in ["main", "v1.2", "before_the-move", "A"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "latest", "20261127-101112-hello", "a b", "a/b", "ä", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
