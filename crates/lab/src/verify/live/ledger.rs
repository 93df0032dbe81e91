//! What the answers of loads have done to the table `products`, by their own words, and what the table
//! and PostgreSQL's account of statements say of it when a load is over.
use pippin_engine::{Exchange, Referee};
use pippin_model::workload::{Steps, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::audit::{Findings, audit_meanwhile};
use super::meanwhile::Meanwhile;
use super::{AUDIT, QUERIES, STORED};
use crate::running::way::Way;
use crate::services::postgres::Postgres;
use crate::services::products::{Product, ProductTable, Products, Statements};
use crate::verify::Verdict;
use crate::verify::sampled::{Exchanged, Found, Sampled};
use crate::verify::stored::Auditor;

/// So many products of a load are kept as they were answered, and looked for when it is over.
const KEPT: usize = 5_000;

/// How long the answer to a step beside the load may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a right answer to a step has done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Deed {
    /// Looked for a product, or for several.
    Read,
    /// Made a product of this category.
    Created(String),
    Changed,
    /// Removed a product of this category.
    Deleted(String),
    Refused,
}

/// A step, and whether a later one of its walk writes the same product.
#[derive(Debug, Clone)]
struct Act {
    deed: Deed,
    is_last: bool,
}

/// What each step does. A walk has one product, which it makes first.
fn acts(steps: &Steps) -> Result<Vec<Act>, String> {
    let mut acts: Vec<Act> = Vec::new();
    for part in steps.scenario.parts() {
        let (mut category, mut writes) = (None, None);
        let requests = &steps.requests[part.first..part.first + part.steps.len()];
        for (request, step) in requests.iter().zip(part.steps) {
            let missing = || {
                format!(
                    "proof `stored`: step `{}` needs a product: a POST before it, whose JSON names a `category` without a placeholder",
                    step.name
                )
            };
            let status = request.check.status.first().copied().unwrap_or(200);
            let deed = match (request.method.as_str(), status) {
                ("GET" | "HEAD", _) => Deed::Read,
                ("POST", 200..=299) => {
                    category = Some(category_of(&request.body).ok_or_else(missing)?);
                    Deed::Created(category.clone().ok_or_else(missing)?)
                }
                ("PUT" | "PATCH", 200..=299) => Deed::Changed,
                ("DELETE", 200..=299) => Deed::Deleted(category.clone().ok_or_else(missing)?),
                _ => Deed::Refused,
            };
            if !matches!(deed, Deed::Read | Deed::Refused) {
                let earlier = writes.replace(acts.len());
                if let Some(earlier) = earlier.filter(|_| !matches!(deed, Deed::Created(_))) {
                    acts[earlier].is_last = false;
                }
            }
            let is_last = matches!(deed, Deed::Created(_) | Deed::Changed);
            acts.push(Act { deed, is_last });
        }
    }
    Ok(acts)
}

/// The category in the JSON of a step, whose other values may be placeholders.
fn category_of(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("\"category\"")?;
    let (_, rest) = rest.trim_start().strip_prefix(':')?.split_once('"')?;
    let (category, _) = rest.split_once('"')?;
    (!category.is_empty() && !category.contains('{')).then(|| category.into())
}

/// Counts what answers say that they have done.
pub struct Ledger {
    acts: Vec<Act>,
    /// How many answers each step had.
    done: Vec<AtomicU64>,
    sampled: Sampled,
}

impl Ledger {
    fn from_steps(steps: &Steps) -> Result<Self, String> {
        let acts = acts(steps)?;
        let done = acts.iter().map(|_| AtomicU64::new(0)).collect();
        Ok(Self { acts, done, sampled: Sampled::new(KEPT, Found::default()) })
    }

    /// Counts an answer to a step.
    fn count(&self, step: usize) {
        if let Some(done) = self.done.get(step) {
            done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many answers there were to steps of some kind.
    fn sum(&self, is_wanted: impl Fn(&Act) -> bool) -> u64 {
        let steps = self.acts.iter().zip(&self.done);
        steps.filter(|(act, _)| is_wanted(act)).map(|(_, done)| done.load(Ordering::Relaxed)).sum()
    }

    /// How many statements the answers needed at least.
    fn needed(&self) -> Statements {
        Statements {
            select: self.sum(|act| act.deed == Deed::Read),
            insert: self.sum(|act| matches!(act.deed, Deed::Created(_))),
            update: self.sum(|act| act.deed == Deed::Changed),
            delete: self.sum(|act| matches!(act.deed, Deed::Deleted(_))),
        }
    }

    /// How many rows each category must have more.
    fn gains(&self) -> BTreeMap<String, i64> {
        let mut gains = BTreeMap::new();
        for (act, done) in self.acts.iter().zip(&self.done) {
            let done = done.load(Ordering::Relaxed) as i64;
            match &act.deed {
                Deed::Created(category) => *gains.entry(category.clone()).or_default() += done,
                Deed::Deleted(category) => *gains.entry(category.clone()).or_default() -= done,
                Deed::Read | Deed::Changed | Deed::Refused => {}
            }
        }
        gains
    }

    /// Compares a sample of the products that were answered and that nobody has written since with the
    /// table. Returns what was found in all loads so far.
    fn compared(&self, table: &mut dyn Products) -> Found {
        self.sampled.compared(|Exchanged { body, .. }, _| differs(body, table))
    }
}

fn differs(body: &[u8], table: &mut dyn Products) -> Option<String> {
    let Ok(answered) = serde_json::from_slice::<Product>(body) else {
        return Some(format!("no product: {}", String::from_utf8_lossy(body)));
    };
    match table.with_id(answered.id) {
        Ok(Some(row)) if row == answered => None,
        Ok(Some(row)) => Some(format!("{answered:?} was answered, and the table has {row:?}")),
        Ok(None) => Some(format!("{answered:?} was answered, and is not in the table")),
        Err(why) => Some(why),
    }
}

impl Referee for Ledger {
    /// The checks of the steps say what is right. Here it is counted.
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let step = exchange.request as usize;
        self.count(step);
        if self.acts.get(step).is_some_and(|act| act.is_last) {
            self.sampled.take(exchange);
        }
        true
    }
}

/// The table `products` over the loads of a target.
pub struct Written {
    steps: Arc<Steps>,
    ledger: Arc<Ledger>,
    findings: Arc<Findings>,
    /// Takes steps beside a load.
    pub meanwhile: Option<Meanwhile>,
    /// The table and the account when the load began that runs.
    before: Option<Account>,
    books: Books,
}

/// What the table and PostgreSQL's account say.
#[derive(Debug, Clone, Default)]
struct Account {
    rows: BTreeMap<String, i64>,
    statements: Statements,
}

/// What came of the loads so far.
#[derive(Debug, Default)]
struct Books {
    /// Rows that each category has more.
    gained: BTreeMap<String, i64>,
    /// Statements of the loads.
    counted: Statements,
    /// Statements that may not have been in the account when a load ended: one of each connection.
    missing: u64,
    /// What was found in the sample.
    found: Found,
    /// Why the rows are not as they must be, or are unknown.
    trouble: Option<String>,
    /// Why the statements are unknown.
    uncounted: Option<String>,
}

impl Written {
    /// For a workload whose steps write the table.
    ///
    /// # Errors
    /// If it cannot be told what they write.
    pub fn from_workload(workload: &Workload) -> Result<Self, String> {
        let steps = workload.walk.clone();
        let steps = steps.ok_or("the workload needs steps for the proof `stored`")?;
        Ok(Self {
            ledger: Arc::new(Ledger::from_steps(&steps)?),
            steps,
            findings: Arc::default(),
            meanwhile: None,
            before: None,
            books: Books::default(),
        })
    }

    /// A load begins. What is returned counts its answers.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn begin(
        &mut self,
        postgres: &mut Postgres,
        way: &Way,
        closes: bool,
    ) -> Result<Arc<dyn Referee>, String> {
        self.before = Some(account(postgres)?);
        let table = Box::new(ProductTable::connect(postgres.lab_url())?);
        let way = (way.clone(), closes);
        let ledger = Arc::clone(&self.ledger);
        let auditor = Auditor::new(Arc::clone(&self.steps), way, table, PATIENCE)
            .telling(move |step| ledger.count(step));
        self.meanwhile = Some(audit_meanwhile(auditor, Arc::clone(&self.findings))?);
        Ok(Arc::clone(&self.ledger) as Arc<dyn Referee>)
    }

    /// The load is over: the table is read at once.
    pub fn end(&mut self, postgres: &mut Postgres) {
        let Some(before) = self.before.take() else { return };
        if let Err(why) = self.close(&before, postgres) {
            self.books.trouble = Some(why);
        }
        match postgres.statements().and_then(|now| Ok((now, postgres.connections_of_others()?))) {
            Ok((now, open)) => {
                let since = now.since(before.statements);
                self.books.counted = self.books.counted.plus(since);
                self.books.missing += u64::from(open);
            }
            Err(why) => self.books.uncounted = Some(why),
        }
    }

    fn close(&mut self, before: &Account, postgres: &mut Postgres) -> Verdict {
        let rows = postgres.added()?;
        for (category, now) in rows {
            *self.books.gained.entry(category).or_default() += now;
        }
        for (category, then) in &before.rows {
            *self.books.gained.entry(category.clone()).or_default() -= then;
        }
        let mut table = ProductTable::connect(postgres.lab_url())?;
        self.books.found = self.ledger.compared(&mut table);
        postgres.is_as_written()
    }

    /// What the loads so far have shown, of which so many requests had no answer.
    pub fn verdicts(&self, unanswered: u64) -> [(&'static str, Verdict); 3] {
        let unknown = unanswered + self.findings.unanswered();
        [
            (AUDIT, self.findings.verdict()),
            (STORED, self.books.rows(&self.ledger, unknown)),
            (QUERIES, self.books.statements(&self.ledger)),
        ]
    }

    /// What is not certain.
    pub fn doubts(&self) -> Vec<(&'static str, String)> {
        let lasting = self.ledger.sum(|act| act.is_last);
        let too_short = (lasting == 0).then(|| "the load was too short: no product was made or changed under load, so that none was looked for; measure longer".into());
        let audit = self.findings.doubt().map(|doubt| (AUDIT, doubt));
        too_short.map(|doubt| (STORED, doubt)).into_iter().chain(audit).collect()
    }

    /// What is said of steps beside the load that had no answer.
    pub fn remark(&self) -> Option<String> {
        self.findings.remark()
    }
}

fn account(postgres: &mut Postgres) -> Result<Account, String> {
    Ok(Account { rows: postgres.added()?, statements: postgres.statements()? })
}

impl Books {
    /// Whether the table has what was answered, give or take requests without an answer.
    fn rows(&self, ledger: &Ledger, unanswered: u64) -> Verdict {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let Found { compared, wrong, first, .. } = &self.found;
        if *wrong > 0 {
            return Err(format!(
                "{wrong} of {compared} products that were looked for are not in the table as they were answered; the first: {}",
                first.clone().unwrap_or_default()
            ));
        }
        if *compared == 0 && ledger.sum(|act| act.is_last) > unanswered {
            return Err("no product that was answered could be looked for".into());
        }
        let expected = ledger.gains();
        let categories: BTreeSet<&String> = expected.keys().chain(self.gained.keys()).collect();
        for category in categories {
            let gained = self.gained.get(category).copied().unwrap_or_default();
            // Nothing explains a row of a category that no step makes.
            let (answered, unknown) = expected.get(category).map_or((0, 0), |it| (*it, unanswered));
            if gained.abs_diff(answered) > unknown {
                return Err(format!(
                    "the table has {gained} rows more of the category `{category}`, and by the answers it would be {answered} (requests without an answer: {unanswered})"
                ));
            }
        }
        Ok(())
    }

    /// Whether PostgreSQL has counted a statement for each answer that needs one.
    fn statements(&self, ledger: &Ledger) -> Verdict {
        if let Some(why) = &self.uncounted {
            return Err(why.clone());
        }
        let (counted, needed) = (self.counted, ledger.needed());
        for (what, counted, needed) in [
            ("read all columns of", counted.select, needed.select),
            ("insert into", counted.insert, needed.insert),
            ("update", counted.update, needed.update),
            ("delete from", counted.delete, needed.delete),
        ] {
            if counted + self.missing < needed {
                return Err(format!(
                    "PostgreSQL counts {counted} statements that {what} `products` for {needed} answers that need one each: statements were merged, or answers came from elsewhere"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn workload() -> Workload {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/crud.toml");
        Workload::read(&path).unwrap()
    }

    fn ledger() -> Ledger {
        Ledger::from_steps(&workload().walk.unwrap()).unwrap()
    }

    #[test]
    fn only_this_process_knows_what_the_table_has() {
        assert!(crate::verify::live::is_judged_here(&workload()));
    }

    /// The places of the steps that make, keep, change and remove products, and of one that is refused.
    const LIST: usize = 0;
    const KEEP: usize = 2;
    const MAKE_TO_CHANGE: usize = 4;
    const CHANGE: usize = 5;
    const MAKE_TO_REMOVE: usize = 7;
    const REMOVE: usize = 8;
    const INVALID: usize = 10;

    #[test]
    fn what_each_step_does_is_read_from_the_workload() {
        let Ledger { acts, .. } = ledger();
        let of = |category: &str| category.to_string();
        assert_eq!(acts.len(), 13);
        for (step, deed, is_last) in [
            (LIST, Deed::Read, false),
            (KEEP, Deed::Created(of("kept")), true),
            (MAKE_TO_CHANGE, Deed::Created(of("changed")), false),
            (CHANGE, Deed::Changed, true),
            (MAKE_TO_REMOVE, Deed::Created(of("gone")), false),
            (REMOVE, Deed::Deleted(of("gone")), false),
            (9, Deed::Read, false),
            (INVALID, Deed::Refused, false),
            (11, Deed::Read, false),
            (12, Deed::Refused, false),
        ] {
            assert_eq!((&acts[step].deed, acts[step].is_last), (&deed, is_last), "{step}");
        }
        for body in ["{}", "{\"category\":\"{c}\"}", "{\"category\":7}", "{\"category\":\"\"}"] {
            assert_eq!(category_of(body.as_bytes()), None, "{body}");
        }
    }

    /// The table after a load, as a map.
    #[derive(Default)]
    struct Rows(BTreeMap<i32, Product>);

    impl Products for Rows {
        fn with_id(&mut self, id: i32) -> Result<Option<Product>, String> {
            Ok(self.0.get(&id).cloned())
        }

        fn with_name(&mut self, _: &str) -> Result<Option<Product>, String> {
            Err("not asked".into())
        }

        fn page(&mut self, _: Option<&str>, _: i64) -> Result<Vec<Product>, String> {
            Err("not asked".into())
        }

        fn count(&mut self, _: &str) -> Result<i64, String> {
            Err("not asked".into())
        }

        fn set_price(&mut self, _: i32, _: i32) -> Result<(), String> {
            Err("not asked".into())
        }
    }

    /// A load of 20 walks of each kind, and what the table and the account have of it.
    struct World {
        ledger: Ledger,
        rows: Rows,
        books: Books,
    }

    impl World {
        fn new() -> Self {
            let ledger = ledger();
            let mut rows = Rows::default();
            for nth in 0..20 {
                let name = format!("n{nth}");
                let row = |id, category: &str| Product {
                    id,
                    name: name.clone(),
                    category: category.into(),
                    price: nth,
                };
                let (kept, changed) = (row(1_001 + nth, "kept"), row(2_001 + nth, "changed"));
                for (step, product) in [
                    (LIST, None),
                    (KEEP, Some(&kept)),
                    (MAKE_TO_CHANGE, None),
                    (CHANGE, Some(&changed)),
                    (MAKE_TO_REMOVE, None),
                    (REMOVE, None),
                    (INVALID, None),
                ] {
                    let body = product.map(|it| json!(it).to_string()).unwrap_or_default();
                    let exchange = Exchange {
                        request: step as u32,
                        body: body.as_bytes(),
                        ..Exchange::default()
                    };
                    assert!(ledger.is_right(&exchange));
                }
                rows.0.extend([(kept.id, kept), (changed.id, changed)]);
            }
            let gained =
                [("kept", 20), ("changed", 20)].map(|(category, count)| (category.into(), count));
            let counted = Statements { select: 20, insert: 60, update: 20, delete: 20 };
            let books = Books { gained: gained.into(), counted, ..Books::default() };
            Self { ledger, rows, books }
        }

        /// What is said of the rows and of the statements, where so many requests had no answer.
        fn said(mut self, unanswered: u64) -> (Verdict, Verdict) {
            self.books.found = self.ledger.compared(&mut self.rows);
            (self.books.rows(&self.ledger, unanswered), self.books.statements(&self.ledger))
        }

        fn gained(mut self, category: &str, count: i64) -> Self {
            self.books.gained.insert(category.into(), count);
            self
        }

        fn counted(mut self, counted: impl FnOnce(&mut Statements)) -> Self {
            counted(&mut self.books.counted);
            self
        }
    }

    #[test]
    fn a_table_with_what_was_answered_and_a_statement_for_each_answer_are_right() {
        assert_eq!(World::new().said(0), (Ok(()), Ok(())));
        let more = |counted: &mut Statements| counted.select += 100;
        assert_eq!(
            World::new().counted(more).said(0),
            (Ok(()), Ok(())),
            "mappers read before they write"
        );
        // Three requests had no answer: they may have made rows, removed them, or neither.
        for (category, count) in [("kept", 23), ("gone", -3), ("changed", 17)] {
            assert_eq!(World::new().gained(category, count).said(3).0, Ok(()), "{category}");
        }
        let mut open = World::new().counted(|counted| counted.insert -= 2);
        open.books.missing = 2;
        assert_eq!(open.said(0).1, Ok(()), "a transaction of each connection may still be open");
    }

    #[test]
    fn rows_that_are_lost_hidden_or_too_many_are_told() {
        let said = |world: World| world.said(3).0.unwrap_err();
        let mut lost = World::new();
        lost.rows.0.remove(&1_005);
        assert!(said(lost).starts_with("1 of 40 products that were looked for are not in the table as they were answered; the first: Product { id: 1005"));
        let mut behind = World::new();
        behind.rows.0.get_mut(&2_007).unwrap().price = 999;
        assert!(said(behind).contains("and the table has Product { id: 2007"));
        let hidden = said(World::new().gained("gone", 20));
        assert!(hidden.starts_with("the table has 20 rows more of the category `gone`, and by the answers it would be 0"), "{hidden}");
        assert!(said(World::new().gained("kept", 16)).contains("by the answers it would be 20"));
        let refused = said(World::new().gained("refused", 1));
        assert!(
            refused.contains("1 rows more of the category `refused`"),
            "one is too many: {refused}"
        );
        let mut none = World::new();
        none.books.gained.clear();
        assert!(said(none).contains("0 rows more of the category `changed`"));
        let mut touched = World::new();
        touched.books.trouble = Some("somebody else has changed it".into());
        assert_eq!(said(touched), "somebody else has changed it");
    }

    #[test]
    fn statements_that_are_shared_or_left_out_are_told() {
        let said =
            |counted: fn(&mut Statements)| World::new().counted(counted).said(0).1.unwrap_err();
        for (said, words) in [
            (
                said(|counted| counted.select -= 1),
                "counts 19 statements that read all columns of `products` for 20 answers",
            ),
            (
                said(|counted| counted.insert = 7),
                "counts 7 statements that insert into `products` for 60 answers",
            ),
            (said(|counted| counted.update -= 1), "19 statements that update `products`"),
            (said(|counted| counted.delete = 0), "0 statements that delete from `products`"),
        ] {
            assert!(said.contains(words), "{said}");
        }
        let mut unknown = World::new();
        unknown.books.uncounted = Some("no account".into());
        assert_eq!(unknown.said(0).1, Err("no account".into()));
    }
}
