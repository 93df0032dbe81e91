//! How often PostgreSQL was asked for the table: at least once for each right answer, by its own
//! account.
//!
//! A backend adds what it has counted to the common account at the end of a statement, but at most
//! once a second, and otherwise after 10 s without one (`PGSTAT_MIN_INTERVAL` and
//! `PGSTAT_IDLE_INTERVAL` in pgstat.c of PostgreSQL 15). So the counters may lag behind the answers
//! but are never ahead of them.
use pippin_model::load::{BodyCheck, LoadSpec, StopRule};
use std::time::{Duration, Instant};

use crate::load;
use crate::services::postgres::{Postgres, TableUse};
use crate::verify::{Subject, Verdict};

/// After this time a statement makes its backend add to the account.
const BUSY_FLUSH: Duration = Duration::from_millis(1_100);
/// After this time an idle backend has added to the account by itself.
const IDLE_FLUSH: Duration = Duration::from_secs(11);
/// How often requests are sent to make backends add to the account, before idling is waited for.
const NUDGES: u32 = 2;

/// The use of the table by one target, over its loads, between which nobody else uses it.
#[derive(Debug, Default)]
pub struct Scans {
    /// Rows of the table.
    rows: u64,
    right: u64,
    used: TableUse,
    /// The account at the beginning of the load that runs.
    begun: Option<TableUse>,
    /// The account at the end of the last load.
    ended: Option<TableUse>,
    /// PostgreSQL keeps no account that can be relied on.
    is_unknown: bool,
}

impl Scans {
    /// # Errors
    /// If the database does not answer.
    pub fn load_begins(&mut self, postgres: &mut Postgres) -> Result<(), String> {
        self.rows = postgres.users()?.as_array().map_or(0, Vec::len) as u64;
        let now = postgres.table_use()?;
        self.is_unknown |= now.is_none();
        // What is counted between two loads was done in the first: backends report late.
        self.begun = self.ended.or(now);
        Ok(())
    }

    /// The loads so far had `right` right answers.
    pub fn load_ends(&mut self, postgres: &mut Postgres, right: u64) {
        self.right = right;
        self.ended = postgres.table_use().ok().flatten();
        match (self.begun.take(), self.ended) {
            (Some(begun), Some(ended)) => self.used = self.used + (ended - begun),
            _ => self.is_unknown = true,
        }
    }

    /// Whether the account covers the right answers. Waits until it does, or must.
    ///
    /// # Errors
    /// What PostgreSQL has counted instead.
    pub fn verdict(&self, subject: &mut Subject<'_>) -> Verdict {
        let Some(ended) = self.ended.filter(|_| !self.is_unknown) else { return Ok(()) };
        let used_by_now = |subject: &mut Subject<'_>| -> Result<TableUse, String> {
            let now = subject.services.postgres()?.table_use()?.unwrap_or(ended);
            Ok(self.used + (now - ended))
        };
        let mut used = used_by_now(subject)?;
        for _ in 0..NUDGES {
            if self.is_covered_by(used) {
                return Ok(());
            }
            std::thread::sleep(BUSY_FLUSH);
            nudge(subject);
            used = used_by_now(subject)?;
        }
        let deadline = Instant::now() + IDLE_FLUSH;
        while !self.is_covered_by(used) && Instant::now() < deadline {
            std::thread::sleep(BUSY_FLUSH);
            used = used_by_now(subject)?;
        }
        self.judge(used)
    }

    const fn is_covered_by(&self, used: TableUse) -> bool {
        used.scans >= self.right && used.rows >= self.right * self.rows
    }

    fn judge(&self, used: TableUse) -> Verdict {
        if self.is_covered_by(used) {
            return Ok(());
        }
        Err(format!(
            "PostgreSQL counts {} scans and {} rows of `users` for {} right answers of {} rows: answers were not read from the table",
            used.scans, used.rows, self.right, self.rows
        ))
    }
}

/// Sends enough requests to reach all database connections of the target. This proof does not care
/// whether they are answered.
fn nudge(subject: &mut Subject<'_>) {
    let backends =
        subject.services.postgres().and_then(Postgres::connections_of_others).unwrap_or(1);
    let connections = (2 * backends).clamp(8, 64);
    let base = LoadSpec { threads: 1, ..subject.way.base(Vec::new(), 1) };
    let mut requests =
        load::requests(subject.workload, subject.samples, &BodyCheck::Any, subject.way.address());
    requests.iter_mut().for_each(|request| request.check.body = BodyCheck::Any);
    let stop = StopRule::requests(u64::from(connections) * 4);
    let _ = load::run_closed(base, requests, subject.connections(connections), stop, None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_answer_needs_a_scan_and_its_rows() {
        let scans = Scans { rows: 10, right: 100, ..Scans::default() };
        let judged = |scanned, rows| scans.judge(TableUse { scans: scanned, rows });
        assert_eq!(judged(100, 1_000), Ok(()));
        assert_eq!(judged(130, 1_010), Ok(()));
        assert!(judged(99, 1_000).unwrap_err().contains("99 scans and 1000 rows"));
        assert!(judged(100, 999).is_err(), "a scan that reads one row is not the list");
    }
}
