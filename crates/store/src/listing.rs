//! Runs in lists: filtered, in pages, with their digests. Nothing here reads a header or a record,
//! so that even ten thousand runs are listed quickly.
use pippin_model::run::RunState;
use pippin_model::run::digest::{RunDigest, TargetDigest, WITHOUT_BOARD};
use pippin_model::run::labels::{Labels, Tag};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};
use std::collections::{BTreeMap, BTreeSet};

use crate::runs::{RunSummary, SUMMARY, summary, to_json};
use crate::{Store, StoreError};

/// The filter of a list. Empty fields filter nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Words that must all occur in name, plan, title, workload, profile, host, a target, or what the
    /// user calls the run.
    pub words: Vec<String>,
    /// Only this plan.
    pub plan: String,
    /// Only runs with this target.
    pub target: String,
    /// Only this host.
    pub host: String,
    /// Only this worst verdict, in its written form: `SUSPECT`.
    pub verdict: String,
    /// Only this state.
    pub state: Option<RunState>,
    /// Only runs with this name of the user's.
    pub name: String,
    /// Only runs with all of these tags.
    pub tags: Vec<Tag>,
    /// Only runs that began at this instant or later, nanoseconds since 1970.
    pub from_unix_ns: Option<u64>,
    /// Only runs that began before it.
    pub before_unix_ns: Option<u64>,
}

impl RunFilter {
    /// Whether it asks for a name or for tags.
    #[must_use]
    pub fn asks_for_labels(&self) -> bool {
        !self.name.is_empty() || !self.tags.is_empty()
    }
}

/// A run of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// The run.
    pub summary: RunSummary,
    /// The host on which it was made.
    pub host: Option<String>,
    /// Its targets, by name.
    pub targets: Vec<String>,
    /// The worst verdict of its trials, or of its targets if its digest is known.
    pub worst: Option<String>,
    /// What the user calls it.
    pub labels: Labels,
    /// The digest of its report; `None` if it was not made yet.
    pub digest: Option<RunDigest>,
}

/// A part of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunPage {
    /// The runs, the newest first.
    pub runs: Vec<ListedRun>,
    /// How many runs match the filter.
    pub kept: u64,
    /// How many runs there are.
    pub all: u64,
}

/// The possible values of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// Plans.
    pub plans: Vec<String>,
    /// Hosts.
    pub hosts: Vec<String>,
    /// Targets.
    pub targets: Vec<String>,
}

/// A target of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTarget {
    /// Its name.
    pub name: String,
    /// The runs with a trial of it.
    pub runs: u64,
    /// When the newest of them began, nanoseconds since 1970.
    pub newest_unix_ns: u64,
}

/// A round of a plan: a run that has a result.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanLeader {
    /// The plan.
    pub plan: String,
    /// Its title.
    pub title: String,
    /// Whether it is the quick form.
    pub quick: bool,
    /// The run.
    pub run: String,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The host on which it was made.
    pub host: Option<String>,
    /// Its digest.
    pub digest: RunDigest,
}

/// The worst verdict of a run, from its digest or else from its trials.
const WORST: &str = "coalesce((SELECT worst FROM digests WHERE run = id), \
    CASE (SELECT max(CASE verdict WHEN 'INVALID' THEN 3 WHEN 'SUSPECT' THEN 2 ELSE 1 END) FROM trials WHERE run = id) \
    WHEN 3 THEN 'INVALID' WHEN 2 THEN 'SUSPECT' WHEN 1 THEN 'VALID' END)";

/// What the user calls a run, as JSON or null: from its digest, or from its header as long as it has
/// none.
const LABELS: &str = "CASE WHEN EXISTS (SELECT 1 FROM digests WHERE run = runs.id) \
    THEN (SELECT json_extract(digest, '$.labels') FROM digests WHERE run = runs.id) \
    ELSE (SELECT json_extract(header, '$.labels') FROM runs AS whole WHERE whole.id = runs.id) END";

/// The values of labels, and tags as they are written, from a tree of JSON.
const WORDS_OF_LABELS: &str =
    "group_concat(CASE WHEN path = '$.tags' THEN key || '=' ELSE '' END || atom, ' ')";

impl Store {
    /// The runs that match a filter, the newest first: `count` of them from position `first` on.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn page(&self, filter: &RunFilter, first: u64, count: u64) -> Result<RunPage, StoreError> {
        // No table knows whether a run that has not ended is still running.
        let is_undecided = matches!(filter.state, Some(RunState::Running | RunState::Killed));
        let (condition, values) = condition(filter);
        let (limit, offset) = if is_undecided { (-1, 0) } else { (count as i64, first as i64) };
        let (rows, kept, all) = self.read(|connection| {
            let count = |condition: &str, values: &[Value]| -> rusqlite::Result<i64> {
                let sql = format!("SELECT count(*) FROM runs WHERE {condition}");
                connection.query_row(&sql, params_from_iter(values), |row| row.get(0))
            };
            let all = count("1", &[])?;
            let kept = if values.is_empty() { all } else { count(&condition, &values)? };
            let mut statement = connection.prepare(&format!(
                "SELECT {SUMMARY}, maker, hostname, {WORST},
                        (SELECT group_concat(target, char(10)) FROM (SELECT DISTINCT target FROM trials WHERE run = id)),
                        (SELECT digest FROM digests WHERE run = id), {LABELS}
                 FROM runs WHERE {condition} ORDER BY started_unix_ns DESC LIMIT {limit} OFFSET {offset}"
            ))?;
            let rows: Vec<(ListedRun, Option<String>)> =
                statement.query_map(params_from_iter(&values), listed)?.collect::<Result<_, _>>()?;
            Ok((rows, kept as u64, all as u64))
        })?;
        let mut runs: Vec<ListedRun> = rows
            .into_iter()
            .map(|(run, maker)| {
                let state = self.state_now(run.summary.state, &run.summary.id, maker.as_deref());
                ListedRun { summary: RunSummary { state, ..run.summary }, ..run }
            })
            .collect();
        if !is_undecided {
            return Ok(RunPage { runs, kept, all });
        }
        runs.retain(|run| Some(run.summary.state) == filter.state);
        let kept = runs.len() as u64;
        let runs = runs.into_iter().skip(first as usize).take(count as usize).collect();
        Ok(RunPage { runs, kept, all })
    }

    /// All plans, hosts and targets in the database.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn choices(&self) -> Result<Choices, StoreError> {
        self.read(|connection| {
            let column = |table: &str, column: &str| -> rusqlite::Result<Vec<String>> {
                let mut statement = connection.prepare(&distinct(table, column))?;
                statement.query_map([], |row| row.get(0))?.collect()
            };
            Ok(Choices {
                plans: column("runs", "plan")?,
                hosts: column("runs", "hostname")?,
                targets: column("trials", "target")?,
            })
        })
    }

    /// Keeps the digest of a run, and replaces an older one.
    ///
    /// # Errors
    /// If the database cannot be written, or there is no such run.
    pub fn keep_digest(&self, run: &str, digest: &RunDigest) -> Result<(), StoreError> {
        let json = to_json(run, "its digest", digest)?;
        let worst = digest.worst.map(|verdict| verdict.to_string());
        self.with(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO digests (run, trials, worst, digest) VALUES (?1, ?2, ?3, ?4)",
                params![run, digest.trials as i64, worst, json],
            )
        })?;
        Ok(())
    }

    /// The newest run that has ended and has trials, but no digest of all of them, with its
    /// beginning. If `before` is given, only runs that began before that instant count.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn without_digest(
        &self,
        before_unix_ns: Option<u64>,
    ) -> Result<Option<(String, u64)>, StoreError> {
        self.read(|connection| {
            connection
                .query_row(
                    "SELECT id, started_unix_ns FROM runs WHERE ended_unix_ns IS NOT NULL
                     AND (?1 IS NULL OR started_unix_ns < ?1)
                     AND EXISTS (SELECT 1 FROM trials WHERE run = id)
                     AND NOT EXISTS (SELECT 1 FROM digests WHERE run = id AND trials >= (SELECT count(*) FROM trials WHERE run = id))
                     ORDER BY started_unix_ns DESC LIMIT 1",
                    [before_unix_ns.map(|ns| ns as i64)],
                    |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)),
                )
                .optional()
        })
    }

    /// The newest round of each plan and of its quick form: a finished run in which a target has a
    /// result. Only of one host, if it is given. What somebody named on a command line is no plan.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn newest_by_plan(&self, host: Option<&str>) -> Result<Vec<PlanLeader>, StoreError> {
        let rows: Vec<Option<PlanLeader>> = self.read(|connection| {
            // From the newest run of each plan back to the first that has all that is asked for.
            let mut statement = connection.prepare(&format!(
                "SELECT plan, title, runs.quick, id, started_unix_ns, hostname, digest
                 FROM ({plans}) AS plans JOIN (SELECT 0 AS quick UNION ALL SELECT 1) AS forms
                 JOIN runs ON id = (
                    SELECT id FROM runs WHERE plan = plans.value AND quick = forms.quick AND state = 'finished'
                    AND (?1 IS NULL OR hostname = ?1) AND {HAS_RESULT}
                    ORDER BY started_unix_ns DESC LIMIT 1)
                 JOIN digests ON run = id WHERE plan NOT IN ({without}) ORDER BY plan, runs.quick",
                plans = distinct("runs", "plan"),
                without = WITHOUT_BOARD.map(|plan| format!("'{plan}'")).join(", "),
            ))?;
            statement.query_map([host], plan_leader)?.collect()
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The newest rounds of a plan, the newest first, at most `count`: finished runs in which a target
    /// has a result. Only of one host, if it is given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn rounds(
        &self,
        plan: &str,
        quick: bool,
        host: Option<&str>,
        count: u64,
    ) -> Result<Vec<PlanLeader>, StoreError> {
        let rows: Vec<Option<PlanLeader>> = self.read(|connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT plan, title, quick, id, started_unix_ns, hostname, digest
                 FROM runs JOIN digests ON run = id
                 WHERE plan = ?1 AND quick = ?2 AND state = 'finished'
                 AND (?3 IS NULL OR hostname = ?3) AND {HAS_RESULT}
                 ORDER BY started_unix_ns DESC LIMIT ?4"
            ))?;
            statement.query_map(params![plan, quick, host, count as i64], plan_leader)?.collect()
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// All targets with a trial, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn targets(&self) -> Result<Vec<ListedTarget>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT target, count(*), max(started_unix_ns)
                 FROM (SELECT DISTINCT target, run FROM trials) JOIN runs ON id = run
                 GROUP BY target ORDER BY target",
            )?;
            let target = |row: &Row<'_>| {
                let (runs, newest): (i64, i64) = (row.get(1)?, row.get(2)?);
                let (runs, newest_unix_ns) = (runs as u64, newest as u64);
                Ok(ListedTarget { name: row.get(0)?, runs, newest_unix_ns })
            };
            statement.query_map([], target)?.collect()
        })
    }

    /// What the digests of these runs say of a target, by run. A run without a readable digest, or
    /// whose digest does not know the target, is left out.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn digests_of<'a>(
        &self,
        target: &str,
        runs: impl IntoIterator<Item = &'a str>,
    ) -> Result<BTreeMap<String, TargetDigest>, StoreError> {
        self.by_run("SELECT digest FROM digests WHERE run = ?1", &[], runs, |json| {
            let digest: RunDigest = serde_json::from_str(json).ok()?;
            digest.targets.into_iter().find(|one| one.target.to_string() == target)
        })
    }

    /// What this query finds for each of these runs, by run. Its first parameter is the run, the others
    /// are `more`. A run for which it finds nothing, or nothing that can be read, is left out.
    pub(crate) fn by_run<'a, T>(
        &self,
        query: &str,
        more: &[&str],
        runs: impl IntoIterator<Item = &'a str>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<BTreeMap<String, T>, StoreError> {
        let runs: BTreeSet<&str> = runs.into_iter().collect();
        self.read(|connection| {
            let mut statement = connection.prepare_cached(query)?;
            let mut found = BTreeMap::new();
            for run in runs {
                let parameters = params_from_iter(std::iter::once(run).chain(more.iter().copied()));
                let text: Option<String> =
                    statement.query_row(parameters, |row| row.get(0)).optional()?;
                let of_run = text.and_then(|text| parse(&text));
                found.extend(of_run.map(|one| (run.to_string(), one)));
            }
            Ok(found)
        })
    }
}

/// The condition that a target of a run has a result ([`TargetDigest::has_result`]).
const HAS_RESULT: &str = "EXISTS (SELECT 1 FROM digests, json_each(digest, '$.targets') WHERE run = runs.id \
    AND json_extract(value, '$.figure') IS NOT NULL AND json_extract(value, '$.verdict') <> 'INVALID')";

/// A query for the different values of a column, in their order. An index of the column is stepped
/// through value by value (sqlite.org/lang_with.html, recursive queries); DISTINCT would read all of
/// it.
fn distinct(table: &str, column: &str) -> String {
    format!(
        "WITH RECURSIVE each(value) AS (
            SELECT min({column}) FROM {table}
            UNION ALL SELECT (SELECT min({column}) FROM {table} WHERE {column} > value) FROM each WHERE value IS NOT NULL
         ) SELECT value FROM each WHERE value IS NOT NULL"
    )
}

/// The SQL condition of a filter, and the values of its parameters.
fn condition(filter: &RunFilter) -> (String, Vec<Value>) {
    let mut parts = vec!["1".to_string()];
    let mut values: Vec<Value> = Vec::new();
    let mut add = |sql: &str, value: Value| {
        values.push(value);
        parts.push(sql.replace('?', &format!("?{}", values.len())));
    };
    for word in &filter.words {
        // The targets with this word are looked up once, and not for each run.
        let targets = distinct("trials", "target");
        add(
            &format!(
                "(instr(lower(id || ' ' || plan || ' ' || title || ' ' || workload || ' ' || profile || ' ' || state || ' ' || coalesce(hostname, '')), ?) > 0
                  OR EXISTS (SELECT 1 FROM trials WHERE run = id AND target IN ({targets} AND instr(lower(value), ?) > 0))
                  OR instr(lower((SELECT {WORDS_OF_LABELS} FROM json_tree({LABELS}))), ?) > 0)"
            ),
            Value::Text(word.to_lowercase()),
        );
    }
    let mut equal = |column: &str, value: &str| {
        if !value.is_empty() {
            // The plus keeps to the index of lists (sqlite.org/optoverview.html, "Disqualifying
            // WHERE Clause Terms"): a smaller one leads to rows with headers.
            add(&format!("+{column} = ?"), Value::Text(value.into()));
        }
    };
    equal("plan", &filter.plan);
    equal("hostname", &filter.host);
    equal(WORST, &filter.verdict);
    if !filter.name.is_empty() {
        add(&format!("json_extract({LABELS}, '$.name') = ?"), Value::Text(filter.name.clone()));
    }
    for Tag { key, value } in &filter.tags {
        let held = format!(
            "EXISTS (SELECT 1 FROM json_each({LABELS}, '$.tags') WHERE key || '=' || value = ?)"
        );
        add(&held, Value::Text(format!("{key}={value}")));
    }
    if !filter.target.is_empty() {
        add(
            "EXISTS (SELECT 1 FROM trials WHERE run = id AND target = ?)",
            Value::Text(filter.target.clone()),
        );
    }
    if let Some(state) = filter.state {
        // In the table, a killed run is still marked as running.
        let written = if state == RunState::Killed { RunState::Running } else { state };
        add("state = ?", Value::Text(written.name().into()));
    }
    if let Some(from) = filter.from_unix_ns {
        add("started_unix_ns >= ?", Value::Integer(from as i64));
    }
    if let Some(before) = filter.before_unix_ns {
        add("started_unix_ns < ?", Value::Integer(before as i64));
    }
    (parts.join(" AND "), values)
}

/// A row of [`Store::page`], and the process that makes the run.
fn listed(row: &Row<'_>) -> rusqlite::Result<(ListedRun, Option<String>)> {
    let targets: Option<String> = row.get(15)?;
    let digest: Option<String> = row.get(16)?;
    let labels: Option<String> = row.get(17)?;
    let run = ListedRun {
        summary: summary(row)?,
        host: row.get(13)?,
        worst: row.get(14)?,
        targets: targets.iter().flat_map(|names| names.lines()).map(Into::into).collect(),
        labels: labels.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
        // An unreadable digest of a newer Pippin counts as missing.
        digest: digest.and_then(|json| serde_json::from_str(&json).ok()),
    };
    Ok((run, row.get(12)?))
}

/// `None` if a newer Pippin wrote the digest in another form.
fn plan_leader(row: &Row<'_>) -> rusqlite::Result<Option<PlanLeader>> {
    let json: String = row.get(6)?;
    let Ok(digest) = serde_json::from_str(&json) else { return Ok(None) };
    Ok(Some(PlanLeader {
        plan: row.get(0)?,
        title: row.get(1)?,
        quick: row.get(2)?,
        run: row.get(3)?,
        started_unix_ns: row.get::<_, i64>(4)? as u64,
        host: row.get(5)?,
        digest,
    }))
}
