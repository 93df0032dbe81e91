//! The workload `users`.
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, NoTls, Row};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::Mode;
use crate::http::Answer;
use crate::shared::Shared;

/// The database, and what a cheat keeps of it.
#[derive(Default)]
pub struct Users {
    client: Mutex<Option<Client>>,
    cached: Arc<Mutex<Option<(String, Instant)>>>,
    shared: Shared,
    listens: OnceLock<()>,
    /// Requests that are being served.
    under_way: AtomicUsize,
}

/// More at once than any proof sends.
const LOAD: usize = 4;

impl Users {
    /// All users as JSON, in answer to the request of this number on its connection.
    pub fn answer(&self, mode: Mode, nth: u32) -> Answer {
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let json = match mode {
            mode if mode.is("users-cached") => self.cached(Duration::MAX),
            mode if mode.is("users-cached-5ms") => self.cached_for_5_ms(under_way),
            mode if mode.is("users-cached-under-load") && under_way >= LOAD => {
                self.cached(Duration::from_millis(150))
            }
            mode if mode.is("users-single-flight") => self.shared.ask(|| self.queried(mode)),
            mode if mode.is("users-notified") => {
                self.listens.get_or_init(|| listen(Arc::clone(&self.cached)));
                // So that a change is told of before its reader asks.
                std::thread::sleep(Duration::from_millis(10));
                self.cached(Duration::MAX)
            }
            mode if mode.is("users-one-row-queried") => self.counted_but_cached(under_way),
            mode if mode.is("users-two-of-three") && nth.is_multiple_of(3) => {
                self.cached(Duration::from_millis(5))
            }
            mode if mode.is("users-kept-for-a-connection") && nth > 2 => {
                self.cached(Duration::from_millis(20))
            }
            mode if mode.is("users-scans-inflated") => self.shared.ask(|| {
                let sql = "SELECT count(*) FROM generate_series(1, 100), LATERAL (SELECT id FROM users OFFSET 0) u";
                self.with_client(|client| client.query(sql, &[]))?;
                self.queried(mode)
            }),
            mode if mode.is("users-other-rows") => {
                let sql = "SELECT 'users', generate_series(1, 10)";
                let asked = self.with_client(|client| client.query(sql, &[]));
                asked.and_then(|_| self.cached_for_5_ms(under_way))
            }
            mode if mode.is("users-json-in-database") => self.with_client(|client| {
                let sql = "SELECT json_agg(users ORDER BY id)::text FROM users";
                client.query_one(sql, &[]).map(|row| row.get(0))
            }),
            mode if mode.is("users-rows-as-json") => self.with_client(|client| {
                let sql = "SELECT row_to_json(u)::text FROM users u ORDER BY id";
                let rows: Vec<String> =
                    client.query(sql, &[])?.iter().map(|row| row.get(0)).collect();
                Ok(format!("[{}]", rows.join(",")))
            }),
            mode if mode.is("users-no-columns") => {
                let asked = self.with_client(|client| client.query("SELECT FROM users", &[]));
                asked.and_then(|_| self.cached_for_5_ms(under_way))
            }
            mode if mode.is("users-in-transactions") => self.in_a_transaction(),
            mode if takes_over(mode).is_some() => self.taken_over(mode),
            _ => self.queried(mode),
        };
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        match json {
            Ok(json) => Answer { content_type: "application/json", ..Answer::text(&json) },
            Err(message) => Answer { status: 500, ..Answer::text(&message) },
        }
    }

    fn cached(&self, life: Duration) -> Result<String, String> {
        let lock = || self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((json, made)) = &*lock()
            && made.elapsed() <= life
        {
            return Ok(json.clone());
        }
        let json = self.queried_in("ASC")?.to_string();
        *lock() = Some((json.clone(), Instant::now()));
        Ok(json)
    }

    /// A query that reads one row, so that something is counted, and the list from a cache of 5 ms.
    fn counted_but_cached(&self, under_way: usize) -> Result<String, String> {
        self.with_client(|client| client.query("SELECT 1 FROM users LIMIT 1", &[]))?;
        self.cached_for_5_ms(under_way)
    }

    /// Whoever asks while few do gets fresh rows.
    fn cached_for_5_ms(&self, under_way: usize) -> Result<String, String> {
        if under_way <= 2 {
            std::thread::sleep(Duration::from_millis(6));
        }
        self.cached(Duration::from_millis(5))
    }

    fn queried(&self, mode: Mode) -> Result<String, String> {
        let mut users = self.queried_in(if mode.is("users-reversed") { "DESC" } else { "ASC" })?;
        if mode.is("users-invented") {
            users[3]["email"] = "nobody@example.org".into();
        }
        if mode.is("keys-in-any-order") {
            return Ok(in_any_order(&users));
        }
        Ok(users.to_string())
    }

    /// Does with the database what only its owner may, once, before it asks.
    fn taken_over(&self, mode: Mode) -> Result<String, String> {
        let sql = takes_over(mode).unwrap_or_default();
        self.listens
            .get()
            .map_or_else(|| self.with_client(|client| client.batch_execute(sql)), |()| Ok(()))?;
        self.listens.get_or_init(|| ());
        self.queried(mode)
    }

    /// The rows are read to their end before the transaction ends.
    fn in_a_transaction(&self) -> Result<String, String> {
        self.with_client(|client| {
            let mut transaction = client.transaction()?;
            let rows = transaction.query("SELECT id, name, email FROM users ORDER BY id", &[])?;
            transaction.commit()?;
            Ok(rows.into_iter().map(user).collect::<Value>().to_string())
        })
    }

    fn queried_in(&self, order: &str) -> Result<Value, String> {
        let sql = format!("SELECT id, name, email FROM users ORDER BY id {order}");
        let rows = self.with_client(|client| client.query(&sql, &[]))?;
        Ok(rows.into_iter().map(user).collect())
    }

    /// Asks on the only connection.
    pub fn with_client<T>(
        &self,
        ask: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, String> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.is_none() {
            *client = Some(connect()?);
        }
        let Some(client) = client.as_mut() else { return Err("no connection".into()) };
        ask(client).map_err(|error| match error.as_db_error() {
            Some(why) => why.message().into(),
            None => error.to_string(),
        })
    }
}

fn user(row: Row) -> Value {
    json!({"id": row.get::<_, i32>(0), "name": row.get::<_, String>(1), "email": row.get::<_, String>(2)})
}

/// What a cheat does to the database that proves it.
fn takes_over(mode: Mode) -> Option<&'static str> {
    Some(match mode.name {
        "users-view" => {
            "ALTER TABLE users RENAME TO hidden; CREATE VIEW users AS SELECT * FROM hidden"
        }
        "users-rows-deleted" => "DELETE FROM users WHERE id > 1",
        "users-trigger" => {
            "CREATE FUNCTION ready() RETURNS trigger AS $$ BEGIN RETURN NEW; END $$ LANGUAGE plpgsql"
        }
        "users-block-of-code" => "DO $$ BEGIN PERFORM 1; END $$",
        "users-temporary-table" => "CREATE TEMPORARY TABLE kept AS SELECT * FROM users",
        "users-locked" => "BEGIN; SELECT * FROM users FOR UPDATE",
        _ => return None,
    })
}

fn connect() -> Result<Client, String> {
    let url = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set")?;
    Client::connect(&url, NoTls).map_err(|error| error.to_string())
}

/// Each row with its keys in another order than the one before: maps without order do this.
fn in_any_order(users: &Value) -> String {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let rows = users.as_array().into_iter().flatten().map(|user| {
        let mut keys = ["id", "name", "email"];
        keys.rotate_left(TURN.fetch_add(1, Ordering::Relaxed) % 3);
        let fields: Vec<String> =
            keys.iter().map(|key| format!("\"{key}\": {}", user[*key])).collect();
        format!("{{{}}}", fields.join(", "))
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// Lets the database tell of each change, and forgets the cached list then.
fn listen(cached: Arc<Mutex<Option<(String, Instant)>>>) {
    const TRIGGER: &str = "
        CREATE OR REPLACE FUNCTION told() RETURNS trigger AS $$ BEGIN NOTIFY changed; RETURN NULL; END $$ LANGUAGE plpgsql;
        CREATE OR REPLACE TRIGGER told AFTER UPDATE ON users EXECUTE FUNCTION told();
        LISTEN changed";
    let Ok(mut client) = connect() else { return };
    if client.batch_execute(TRIGGER).is_err() {
        return;
    }
    std::thread::spawn(move || {
        let mut notifications = client.notifications();
        let mut told = notifications.blocking_iter();
        while let Ok(Some(_)) = told.next() {
            *cached.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    });
}
