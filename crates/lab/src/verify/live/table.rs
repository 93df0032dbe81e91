//! The table `users` while it changes: which answers are right.
use pippin_engine::{Exchange, Referee};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock};

use super::changes::{Tally, VERSIONS_KEPT, Versions};
use crate::services::table_kind::TableKind;

/// How many spellings of one version are remembered byte by byte. A target has one, or a few if its
/// maps have no order.
const SPELLINGS_KEPT: usize = 8;

/// The versions of the table, and which answers were right at their time.
pub struct History {
    versions: RwLock<VecDeque<Version>>,
    tally: Tally,
}

struct Version {
    table: Value,
    /// When a later version was known to be committed (CLOCK_MONOTONIC, nanoseconds).
    superseded_ns: u64,
    /// Bodies that were parsed and found to be this version.
    spellings: Vec<Box<[u8]>>,
}

impl Version {
    const fn from_table(table: Value) -> Self {
        Self { table, superseded_ns: u64::MAX, spellings: Vec::new() }
    }
}

impl History {
    /// Of a table as it is now.
    #[must_use]
    pub fn from_table(table: Value) -> Self {
        let versions = RwLock::new([Version::from_table(table)].into());
        Self { versions, tally: Tally::default() }
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
}

impl Versions for History {
    fn kind(&self) -> TableKind {
        TableKind::Users
    }

    fn latest(&self) -> Value {
        let versions = self.versions.read().unwrap_or_else(PoisonError::into_inner);
        versions.back().map_or(Value::Null, |version| version.table.clone())
    }

    fn begins(&self, table: Value) {
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        // If a table returns to an earlier state, it keeps its spellings, because the newest
        // version is searched first.
        let earlier = versions.iter_mut().rev().find(|version| version.table == table);
        let spellings =
            earlier.map(|version| std::mem::take(&mut version.spellings)).unwrap_or_default();
        versions.push_back(Version { spellings, ..Version::from_table(table) });
        if versions.len() > VERSIONS_KEPT {
            versions.pop_front();
        }
    }

    fn committed(&self, at_ns: u64) {
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        for version in versions.iter_mut().rev().skip(1) {
            version.superseded_ns = version.superseded_ns.min(at_ns);
        }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Referee for History {
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        self.superseded_ns(exchange.body)
            .is_some_and(|until_ns| self.tally.count(until_ns, exchange.sent_ns))
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
        let history = History::from_table(table("Ada"));
        assert!(is_right(&history, &body("Ada"), 10));
        assert!(!is_right(&history, &body("Bob"), 10), "never in the table");
        history.begins(table("Bob"));
        assert!(is_right(&history, &body("Ada"), 20) && is_right(&history, &body("Bob"), 20));
        history.committed(30);
        assert!(is_right(&history, &body("Ada"), 29), "its request was sent before the commit");
        assert!(!is_right(&history, &body("Ada"), 30) && is_right(&history, &body("Bob"), 30));
        let said = history.tally.verdict().unwrap_err();
        assert!(said.starts_with("1 answers lacked a change"), "{said}");
    }

    #[test]
    fn keys_and_spaces_are_free_and_values_are_not() {
        let history = History::from_table(table("Ada"));
        assert!(is_right(&history, r#"[ {"email":"a@b", "id":1, "name":"\u0041da"} ]"#, 1));
        for wrong in [
            r#"[{"email":"a@b","id":"1","name":"Ada"}]"#,
            r#"[{"email":"a@b","id":1,"name":"Ada","age":3}]"#,
            "[]",
            "",
        ] {
            assert!(!is_right(&history, wrong, 1), "{wrong}");
        }
        assert_eq!(history.tally.verdict(), Ok(()), "wrong, but not stale");
    }

    #[test]
    fn a_table_that_came_back_is_right_again() {
        let history = History::from_table(table("Ada"));
        for name in ["Bob", "Ada"] {
            assert!(is_right(&history, &history.latest().to_string(), 5));
            history.begins(table(name));
            history.committed(10);
        }
        assert!(is_right(&history, &body("Ada"), 20) && !is_right(&history, &body("Bob"), 20));
    }

    #[test]
    fn only_the_latest_versions_are_kept() {
        let history = History::from_table(table("first"));
        for nth in 0..VERSIONS_KEPT + 5 {
            history.begins(table(&format!("{nth}")));
        }
        assert_eq!(history.versions.read().unwrap().len(), VERSIONS_KEPT);
        assert!(!is_right(&history, &body("first"), 1));
    }
}
