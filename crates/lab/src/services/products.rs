//! The table `products`, which targets write: its rows as the lab reads and changes them, and what
//! PostgreSQL's account says of the statements on it.
use postgres::{Client, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::postgres::{OF_OTHERS, Postgres, STATEMENTS, change, connect, no_account, said, word};
use super::table_kind::TableKind;

/// A row of the table, and what a target sends of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Its number.
    pub id: i32,
    /// Its name, which no other product has.
    pub name: String,
    /// What it is filed under.
    pub category: String,
    /// Its price, a whole number.
    pub price: i32,
}

/// How many products a page of a list has at most.
pub const PAGE: i64 = 20;

/// The table as the lab sees it.
pub trait Products: Send {
    /// The product with this number.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn with_id(&mut self, id: i32) -> Result<Option<Product>, String>;

    /// The product with this name.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn with_name(&mut self, name: &str) -> Result<Option<Product>, String>;

    /// A page of a category, or of all products: counted from 1, in the order of their numbers.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn page(&mut self, category: Option<&str>, page: i64) -> Result<Vec<Product>, String>;

    /// How many products a category has.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn count(&mut self, category: &str) -> Result<i64, String>;

    /// Gives a product another price.
    ///
    /// # Errors
    /// If it cannot be changed.
    fn set_price(&mut self, id: i32, price: i32) -> Result<(), String>;
}

/// The table in a database, on a connection of its own.
pub struct ProductTable(Client);

/// The lab changes only what no target has a reason to hold: whoever locks it for longer is at fault.
const PATIENCE: &str = "SET statement_timeout = '10s'";

const COLUMNS: &str = "SELECT id, name, category, price FROM products";

impl ProductTable {
    /// Connects to this database.
    ///
    /// # Errors
    /// If it does not let itself be connected to.
    pub fn connect(url: &str) -> Result<Self, String> {
        let mut client = connect(url)?;
        client.batch_execute(PATIENCE).map_err(|error| failed("connect to", &error))?;
        Ok(Self(client))
    }
}

fn failed(what: &str, error: &::postgres::Error) -> String {
    format!("{what} the table `products`: {}", said(error))
}

fn product(row: &Row) -> Product {
    Product { id: row.get(0), name: row.get(1), category: row.get(2), price: row.get(3) }
}

impl Products for ProductTable {
    fn with_id(&mut self, id: i32) -> Result<Option<Product>, String> {
        let found = self.0.query_opt(&format!("{COLUMNS} WHERE id = $1"), &[&id]);
        found.map(|row| row.as_ref().map(product)).map_err(|error| failed("read", &error))
    }

    fn with_name(&mut self, name: &str) -> Result<Option<Product>, String> {
        let found = self.0.query_opt(&format!("{COLUMNS} WHERE name = $1"), &[&name]);
        found.map(|row| row.as_ref().map(product)).map_err(|error| failed("read", &error))
    }

    fn page(&mut self, category: Option<&str>, page: i64) -> Result<Vec<Product>, String> {
        let sql = format!(
            "{COLUMNS} WHERE category = $1 OR $1::text IS NULL ORDER BY id LIMIT {PAGE} OFFSET $2"
        );
        let found = self.0.query(&sql, &[&category, &((page - 1) * PAGE)]);
        found.map(|rows| rows.iter().map(product).collect()).map_err(|error| failed("read", &error))
    }

    fn count(&mut self, category: &str) -> Result<i64, String> {
        let sql = "SELECT count(*) FROM products WHERE category = $1";
        let found = self.0.query_one(sql, &[&category]);
        found.map(|row| row.get(0)).map_err(|error| failed("read", &error))
    }

    fn set_price(&mut self, id: i32, price: i32) -> Result<(), String> {
        change(&mut self.0, TableKind::Products, id, &price.to_string())
    }
}

/// How often others have read and written the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statements {
    /// SELECT, of all columns.
    pub select: u64,
    /// INSERT.
    pub insert: u64,
    /// UPDATE.
    pub update: u64,
    /// DELETE.
    pub delete: u64,
}

impl Statements {
    /// What came since these.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.each(before, u64::saturating_sub)
    }

    /// These and others.
    #[must_use]
    pub fn plus(self, others: Self) -> Self {
        self.each(others, u64::saturating_add)
    }

    fn each(self, other: Self, of_both: fn(u64, u64) -> u64) -> Self {
        Self {
            select: of_both(self.select, other.select),
            insert: of_both(self.insert, other.insert),
            update: of_both(self.update, other.update),
            delete: of_both(self.delete, other.delete),
        }
    }
}

impl Postgres {
    /// How often others have read and written the table `products`, by PostgreSQL's own account
    /// (`pg_stat_statements`): a statement for many rows counts once. One that reads must name all columns
    /// (or `*`). Statements that failed, as by a name that is taken, are not in the account.
    ///
    /// # Errors
    /// If there is no such account.
    pub fn statements(&mut self) -> Result<Statements, String> {
        let sql = format!("SELECT verb, sum(calls)::bigint FROM (
            SELECT calls, said, lower((regexp_match(said, '\\m(select|insert|update|delete)\\M', 'i'))[1]) AS verb
            FROM {STATEMENTS} AND said ~* $2 AND ({OF_OTHERS} OR $1)) AS on_table
            WHERE verb IN ('insert', 'update', 'delete') OR verb = 'select' AND (said ~* ALL ($3) OR regexp_replace(said, 'count\\s*\\(\\s*\\*\\s*\\)', '', 'gi') ~ '\\*')
            GROUP BY verb");
        let (is_given, named) = (self.is_given(), word(TableKind::Products.name()));
        let columns = self.columns_as_words();
        let rows = self
            .client()?
            .query(&sql, &[&is_given, &named, &columns])
            .map_err(|error| no_account(&error))?;
        let calls: BTreeMap<String, u64> =
            rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).max(0) as u64)).collect();
        let [select, insert, update, delete] = ["select", "insert", "update", "delete"]
            .map(|verb| calls.get(verb).copied().unwrap_or_default());
        Ok(Statements { select, insert, update, delete })
    }

    /// How many rows each category has, without those that the lab has made at first.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn added(&mut self) -> Result<BTreeMap<String, i64>, String> {
        let own = TableKind::Products.own_rows();
        let sql =
            format!("SELECT category, count(*) FROM products WHERE NOT ({own}) GROUP BY category");
        let rows = self.client()?.query(&sql, &[]).map_err(|error| failed("read", &error))?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}
