//! The table `users` while it changes: which answers are right, and who changes it.
use pippin_engine::{Exchange, Referee};
use pippin_reference::monotonic_ns;
use rand::TryRng;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::meanwhile::{Meanwhile, Turns};
use crate::services::postgres;
use crate::verify::Verdict;

/// How often a row changes under load.
const CHANGE_EVERY: Duration = Duration::from_millis(100);

/// How many versions are remembered: those of a minute.
const VERSIONS_KEPT: usize = 600;

/// How many spellings of one version are remembered byte by byte. A target has one, or a few if its
/// maps have no order.
const SPELLINGS_KEPT: usize = 8;

/// The versions of the table, and which answers were right at their time.
pub struct History {
    versions: RwLock<VecDeque<Version>>,
    right: AtomicU64,
    stale: AtomicU64,
    /// Why the table could not be changed.
    trouble: Mutex<Option<String>>,
}

struct Version {
    table: Value,
    /// When a later version was known to be committed (CLOCK_MONOTONIC, nanoseconds).
    superseded_ns: u64,
    /// Bodies that were parsed and found to be this version.
    spellings: Vec<Box<[u8]>>,
}

impl Version {
    const fn of(table: Value) -> Self {
        Self { table, superseded_ns: u64::MAX, spellings: Vec::new() }
    }
}

impl History {
    /// Of a table as it is now.
    #[must_use]
    pub fn of(table: Value) -> Self {
        Self {
            versions: RwLock::new([Version::of(table)].into()),
            right: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            trouble: Mutex::default(),
        }
    }

    /// A change to this table is about to be made: answers with it are right from now on, and those
    /// without it still are.
    fn begins(&self, table: Value) {
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        // If a table returns to an earlier state, it keeps its spellings, because the newest
        // version is searched first.
        let earlier = versions.iter_mut().rev().find(|version| version.table == table);
        let spellings =
            earlier.map(|version| std::mem::take(&mut version.spellings)).unwrap_or_default();
        versions.push_back(Version { spellings, ..Version::of(table) });
        if versions.len() > VERSIONS_KEPT {
            versions.pop_front();
        }
    }

    /// The latest change is committed: an answer without it is stale if its request is sent after
    /// this instant.
    fn committed(&self, at_ns: u64) {
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        for version in versions.iter_mut().rev().skip(1) {
            version.superseded_ns = version.superseded_ns.min(at_ns);
        }
    }

    /// Until when the table was as this body says; `None` if it never was.
    fn superseded_ns(&self, body: &[u8]) -> Option<u64> {
        let known = |version: &&Version| version.spellings.iter().any(|bytes| **bytes == *body);
        {
            let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(version) = versions.iter().rev().find(known) {
                return Some(version.superseded_ns);
            }
        }
        let table: Value = serde_json::from_slice(body).ok()?;
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        let version = versions.iter_mut().rev().find(|version| version.table == table)?;
        if version.spellings.len() < SPELLINGS_KEPT {
            version.spellings.push(body.into());
        }
        Some(version.superseded_ns)
    }

    /// How many answers were right so far.
    pub fn right(&self) -> u64 {
        self.right.load(Ordering::Relaxed)
    }

    /// Whether no answer of the loads so far was stale.
    ///
    /// # Errors
    /// How many were, or why nothing could be changed.
    pub fn verdict(&self) -> Verdict {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trouble) = &*trouble {
            return Err(trouble.clone());
        }
        match self.stale.load(Ordering::Relaxed) {
            0 => Ok(()),
            stale => Err(format!(
                "{stale} answers lacked a change of the table that was committed before their requests were sent: the rows are cached, or queries are shared"
            )),
        }
    }
}

impl Referee for History {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        match self.superseded_ns(exchange.body) {
            None => false,
            Some(until_ns) if until_ns > exchange.sent_ns => {
                self.right.fetch_add(1, Ordering::Relaxed);
                true
            }
            Some(_) => {
                self.stale.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }
}

/// Changes rows beside a load, one after the other, on a connection of its own. At the end the table is as
/// it was before.
///
/// # Errors
/// If the database does not let itself be connected to, or there is no thread.
pub fn change_meanwhile(url: &str, history: Arc<History>) -> Result<Meanwhile, String> {
    let mut client = postgres::connect(url)?;
    Meanwhile::start("changes", CHANGE_EVERY, move |turns| {
        if let Err(trouble) = history.changed_in(turns, &mut client) {
            *history.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
        }
    })
}

/// A new name for a row, which nobody can predict.
fn renamed(table: &Value) -> Result<(usize, String), String> {
    let random =
        rand::rngs::SysRng.try_next_u64().map_err(|error| format!("draw a name: {error}"))?;
    let rows = table.as_array().map_or(0, Vec::len);
    if rows == 0 {
        return Err("the table `users` has no row that could change under load".into());
    }
    Ok((random as usize % rows, format!("User {random:016x}")))
}

impl History {
    fn latest(&self) -> Value {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        versions.back().map_or(Value::Null, |version| version.table.clone())
    }

    /// Changes a row at each turn, and all of them back at the end.
    fn changed_in(&self, turns: &Turns, client: &mut ::postgres::Client) -> Verdict {
        let original = self.latest();
        let mut table = original.clone();
        let mut outcome = Ok(());
        while outcome.is_ok() && turns.next() {
            outcome = renamed(&table).and_then(|change| self.change(client, &mut table, &change));
        }
        let back = |nth| (nth, original[nth]["name"].as_str().unwrap_or_default().into());
        for nth in 0..original.as_array().map_or(0, Vec::len) {
            if table[nth] != original[nth] {
                outcome = outcome.and_then(|()| self.change(client, &mut table, &back(nth)));
            }
        }
        outcome
    }

    /// Gives a row this name, in the database and in the history.
    fn change(
        &self,
        client: &mut ::postgres::Client,
        table: &mut Value,
        (nth, name): &(usize, String),
    ) -> Result<(), String> {
        let id = table[*nth]["id"].as_i64().unwrap_or_default() as i32;
        table[*nth]["name"] = name.as_str().into();
        self.begins(table.clone());
        client
            .execute("UPDATE users SET name = $2 WHERE id = $1", &[&id, name])
            .map_err(|error| format!("change user {id} under load: {error}"))?;
        self.committed(monotonic_ns());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(name: &str) -> Value {
        json!([{"id": 1, "name": name, "email": "a@b"}])
    }

    fn is_right(history: &History, body: &str, sent_ns: u64) -> bool {
        history.is_right(&Exchange {
            body: body.as_bytes(),
            sent_ns,
            read_ns: sent_ns + 1,
            ..Exchange::default()
        })
    }

    fn body(name: &str) -> String {
        table(name).to_string()
    }

    #[test]
    fn an_answer_is_stale_once_its_successor_was_committed_before_its_request() {
        let history = History::of(table("Ada"));
        assert!(is_right(&history, &body("Ada"), 10));
        assert!(!is_right(&history, &body("Bob"), 10), "never in the table");
        history.begins(table("Bob"));
        assert!(is_right(&history, &body("Ada"), 20) && is_right(&history, &body("Bob"), 20));
        history.committed(30);
        assert!(is_right(&history, &body("Ada"), 29), "its request was sent before the commit");
        assert!(!is_right(&history, &body("Ada"), 30) && is_right(&history, &body("Bob"), 30));
        let said = history.verdict().unwrap_err();
        assert!(said.starts_with("1 answers lacked a change"), "{said}");
    }

    #[test]
    fn keys_and_spaces_are_free_and_values_are_not() {
        let history = History::of(table("Ada"));
        assert!(is_right(&history, r#"[ {"email":"a@b", "id":1, "name":"\u0041da"} ]"#, 1));
        for wrong in [
            r#"[{"email":"a@b","id":"1","name":"Ada"}]"#,
            r#"[{"email":"a@b","id":1,"name":"Ada","age":3}]"#,
            "[]",
            "",
        ] {
            assert!(!is_right(&history, wrong, 1), "{wrong}");
        }
        assert_eq!(history.verdict(), Ok(()), "wrong, but not stale");
    }

    #[test]
    fn a_table_that_came_back_is_right_again() {
        let history = History::of(table("Ada"));
        for name in ["Bob", "Ada"] {
            assert!(is_right(&history, &history.latest().to_string(), 5));
            history.begins(table(name));
            history.committed(10);
        }
        assert!(is_right(&history, &body("Ada"), 20) && !is_right(&history, &body("Bob"), 20));
    }

    #[test]
    fn a_table_without_rows_is_told_and_no_panic() {
        assert!(renamed(&json!([])).unwrap_err().contains("no row"));
        let (nth, name) = renamed(&table("Ada")).unwrap();
        assert!(nth == 0 && name.starts_with("User "), "{name}");
    }

    #[test]
    fn only_the_latest_versions_are_kept() {
        let history = History::of(table("first"));
        for nth in 0..VERSIONS_KEPT + 5 {
            history.begins(table(&format!("{nth}")));
        }
        assert_eq!(history.versions.read().unwrap().len(), VERSIONS_KEPT);
        assert!(!is_right(&history, &body("first"), 1));
    }
}
