//! How often the table was read: at least once for each right answer, by PostgreSQL's own account
//! of statements.
//!
//! A statement is in the account when it has ended (`pgss_ExecutorEnd` in PostgreSQL 15), which is
//! before its client is told so. Within a transaction of several messages that can be later: at the
//! end of the transaction, or with the next statement of the connection. What is read between loads
//! does not count: whoever answers first and reads later, has not read for the answer.

use crate::services::postgres::Postgres;
use crate::services::table_kind::TableKind;
use crate::verify::Verdict;

/// The use of the table by one target, over its loads.
#[derive(Debug, Default)]
pub struct Scans {
    /// Rows of the table.
    rows: u64,
    right: u64,
    /// Statements that have read the list, in the loads before the one that runs.
    read: u64,
    /// The account at the beginning of the load that runs.
    begun: Option<u64>,
    /// Statements that may not have been in the account when a load ended: one of each connection.
    missing: u64,
    /// Why something of it is unknown.
    unknown: Option<String>,
}

impl Scans {
    /// A load begins.
    pub fn load_begins(&mut self, postgres: &mut Postgres) {
        self.rows = postgres.written().as_array().map_or(0, Vec::len) as u64;
        self.goes_on(postgres);
    }

    /// Another load begins, where targets take turns.
    pub fn goes_on(&mut self, postgres: &mut Postgres) {
        if self.begun.is_none() {
            self.begun = self.account(postgres);
        }
    }

    /// A load is over, and others may follow.
    pub fn pauses(&mut self, postgres: &mut Postgres) {
        if let (Some(begun), Some(ended)) = (self.begun.take(), self.account(postgres)) {
            self.read += ended.saturating_sub(begun);
            match postgres.connections_of_others() {
                Ok(open) => self.missing += u64::from(open),
                Err(why) => self.unknown = Some(why),
            }
        }
    }

    /// The loads so far had `right` right answers.
    pub fn load_ends(&mut self, postgres: &mut Postgres, right: u64) {
        self.right = right;
        self.pauses(postgres);
    }

    fn account(&mut self, postgres: &mut Postgres) -> Option<u64> {
        postgres.lists_read(self.rows).map_err(|why| self.unknown = Some(why)).ok()
    }

    /// Whether the account covers the right answers, and the table is as it was written. Of each load,
    /// one statement of each connection may be missing.
    ///
    /// # Errors
    /// What PostgreSQL has counted instead, or why that is unknown.
    pub fn verdict(&self, postgres: &mut Postgres) -> Verdict {
        if let Some(why) = &self.unknown {
            return Err(why.clone());
        }
        postgres.is_as_written()?;
        let kind = postgres.kind();
        self.judge(kind)
    }

    fn judge(&self, kind: TableKind) -> Verdict {
        let read = self.read;
        if read + self.missing >= self.right {
            return Ok(());
        }
        let (unsorted, or_sorted) = if kind.is_sorted_by_targets() {
            (" and do not sort or join them", ", or the database sorted them or added to them")
        } else {
            ("", "")
        };
        Err(format!(
            "PostgreSQL counts {read} statements that read all {} rows of `{}`{unsorted} for {} right answers: answers were not read from the table{or_sorted}",
            self.rows,
            kind.name(),
            self.right
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_answer_needs_a_statement_of_its_own() {
        let scans =
            |read, missing| Scans { rows: 10, right: 100, read, missing, ..Scans::default() };
        assert_eq!(scans(100, 0).judge(TableKind::Users), Ok(()));
        assert_eq!(scans(99, 1).judge(TableKind::Users), Ok(()));
        let said = scans(99, 0).judge(TableKind::Users).unwrap_err();
        assert!(said.contains("99 statements that read all 10 rows") && said.contains("100 right"));
    }
}
