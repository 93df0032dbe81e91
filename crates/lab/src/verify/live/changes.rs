//! Rows of a table that change while a load runs, one after the other.
use pippin_reference::monotonic_ns;
use rand::TryRng;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::meanwhile::{Meanwhile, Turns};
use crate::services::postgres;
use crate::services::table_kind::TableKind;
use crate::verify::Verdict;

/// How often a row changes under load.
const CHANGE_EVERY: Duration = Duration::from_millis(100);

/// How many versions of a table are remembered: those of a minute.
pub const VERSIONS_KEPT: usize = 600;

/// The versions of a table while it changes.
pub trait Versions: Send + Sync + 'static {
    /// Which table it is.
    fn kind(&self) -> TableKind;

    /// The rows as they were written last.
    fn latest(&self) -> Value;

    /// A change to this table is about to be made: answers with it are right from now on, and those
    /// without it still are.
    fn begins(&self, table: Value);

    /// The latest change is committed: an answer without it is stale if its request is sent after
    /// this instant.
    fn committed(&self, at_ns: u64);

    /// What came of the loads so far.
    fn tally(&self) -> &Tally;
}

/// How many answers of the loads so far were right, and how many were stale.
#[derive(Debug, Default)]
pub struct Tally {
    right: AtomicU64,
    stale: AtomicU64,
    /// Why the table could not be changed.
    trouble: Mutex<Option<String>>,
}

impl Tally {
    /// Counts an answer that says what the table was until `until_ns`, and whose request was sent at
    /// `sent_ns`. Returns whether it is right.
    pub fn count(&self, until_ns: u64, sent_ns: u64) -> bool {
        let is_right = until_ns > sent_ns;
        let count = if is_right { &self.right } else { &self.stale };
        count.fetch_add(1, Ordering::Relaxed);
        is_right
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

/// Changes rows beside a load, one after the other, on a connection of its own. At the end the table is as
/// it was before.
///
/// # Errors
/// If the database does not let itself be connected to, or there is no thread.
pub fn change_meanwhile(url: &str, versions: Arc<impl Versions>) -> Result<Meanwhile, String> {
    let client = postgres::connect(url)?;
    Meanwhile::start("changes", CHANGE_EVERY, move |turns| {
        let mut changes = Changes { table: versions.latest(), versions: &*versions, client };
        if let Err(trouble) = changes.make(turns) {
            let kept = &versions.tally().trouble;
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
        }
    })
}

/// Who changes a table.
struct Changes<'a, V> {
    table: Value,
    versions: &'a V,
    client: ::postgres::Client,
}

impl<V: Versions> Changes<'_, V> {
    /// Changes a row at each turn, and all of them back at the end.
    fn make(&mut self, turns: &Turns) -> Verdict {
        let kind = self.versions.kind();
        let original = self.table.clone();
        let mut outcome = Ok(());
        while outcome.is_ok() && turns.next() {
            outcome = drawn(kind, &self.table).and_then(|(nth, text)| self.change(nth, &text));
        }
        for nth in 0..original.as_array().map_or(0, Vec::len) {
            if self.table[nth] != original[nth] {
                let before = original[nth][kind.changes()].as_str().unwrap_or_default();
                outcome = outcome.and_then(|()| self.change(nth, before));
            }
        }
        outcome
    }

    /// Writes a text into a row, in the database and in the history.
    fn change(&mut self, nth: usize, text: &str) -> Result<(), String> {
        let kind = self.versions.kind();
        let id = self.table[nth]["id"].as_i64().unwrap_or_default() as i32;
        self.table[nth][kind.changes()] = text.into();
        self.versions.begins(self.table.clone());
        postgres::change(&mut self.client, kind, id, text)
            .map_err(|error| format!("under load: {error}"))?;
        self.versions.committed(monotonic_ns());
        Ok(())
    }
}

/// A row and a new text for it, which nobody can predict.
fn drawn(kind: TableKind, table: &Value) -> Result<(usize, String), String> {
    let random =
        rand::rngs::SysRng.try_next_u64().map_err(|error| format!("draw a text: {error}"))?;
    let rows = table.as_array().map_or(0, Vec::len);
    if rows == 0 {
        return Err(format!("the table `{}` has no row that could change under load", kind.name()));
    }
    Ok((random as usize % rows, kind.changed(random)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_without_rows_is_told_and_no_panic() {
        assert!(drawn(TableKind::Users, &json!([])).unwrap_err().contains("no row"));
        let table = TableKind::Messages.first_rows();
        let (nth, text) = drawn(TableKind::Messages, &table).unwrap();
        assert!(nth < 12 && text.ends_with("<i>new</i> & more"), "{text}");
    }

    #[test]
    fn stale_answers_are_counted_and_told() {
        let tally = Tally::default();
        assert!(tally.count(31, 30) && !tally.count(30, 30));
        assert_eq!(tally.right(), 1);
        assert!(tally.verdict().unwrap_err().starts_with("1 answers lacked a change"));
    }
}
