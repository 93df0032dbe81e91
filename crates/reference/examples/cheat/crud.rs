//! The workload `crud`: products that are listed, read, made, changed and removed.
use postgres::Row;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Mode;
use crate::http::{Answer, Request};
use crate::users::Users;

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// What cheats know in place of the table.
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
/// Inserts that wait for others.
static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

/// More at once than any proof sends.
const LOAD: usize = 4;

const COLUMNS: &str = "SELECT id, name, category, price FROM products";

#[derive(Default)]
struct Known {
    /// Answers to GET by their targets, and since when.
    answers: BTreeMap<String, (Value, Instant)>,
    /// Products that are not in the table, or not as it has them.
    products: BTreeMap<i32, Value>,
    /// Products that seem to be gone.
    hidden: BTreeSet<i32>,
    /// Products that are written later, and since when they wait.
    queued: Vec<(i32, Sent, Instant)>,
    /// How many products were made.
    made: u32,
}

/// An insert, and who waits for its number.
struct Waiting {
    sent: Sent,
    number: Sender<Result<i32, String>>,
}

/// A product as a request has it.
#[derive(Clone)]
struct Sent {
    name: String,
    category: String,
    price: i32,
}

impl Sent {
    /// Of a body; `None` if it is not valid.
    fn valid(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let text = |key: &str| {
            let text = body[key].as_str()?;
            (1..=100).contains(&text.chars().count()).then(|| text.to_string())
        };
        let price = body["price"].as_i64().filter(|price| (0..=1_000_000).contains(price))?;
        Some(Self { name: text("name")?, category: text("category")?, price: price as i32 })
    }

    fn with_id(&self, id: i32) -> Value {
        let Self { name, category, price } = self;
        json!({ "id": id, "name": name, "category": category, "price": price })
    }
}

/// Why there is no product to show.
enum Refusal {
    NotFound,
    Invalid,
    Taken,
    Broken(String),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        if why.contains("duplicate key") { Self::Taken } else { Self::Broken(why) }
    }
}

/// What was done: the status, and what is shown.
type Done = Result<(u16, Option<Value>), Refusal>;

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn answer(mode: Mode, users: &Users, request: &Request) -> Answer {
    let is_load = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1 >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(1));
    }
    let done = Shop { mode, users, is_load }.serve(request);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    let json = |status, value: &Value| Answer {
        status,
        content_type: "application/json",
        ..Answer::text(&written(mode, value))
    };
    let refused = |status, text: &str| Answer { status, ..Answer::text(text) };
    match done {
        Ok((201, Some(value))) => {
            let host = if mode.is("crud-location-with-host") { "http://shop.example" } else { "" };
            let location = format!("Location: {host}/products/{}", value["id"]);
            Answer { headers: vec![location], ..json(201, &value) }
        }
        Ok((status, Some(value))) => json(status, &value),
        Ok((status, None)) => refused(status, ""),
        Err(Refusal::NotFound) if mode.is("crud-404-in-html") => Answer {
            content_type: "text/html",
            ..refused(404, "<!DOCTYPE html><title>Not found</title><p>There is no such product.")
        },
        Err(Refusal::NotFound) => refused(404, "not found"),
        Err(Refusal::Invalid) => refused(422, "invalid"),
        Err(Refusal::Taken) => refused(409, "taken"),
        Err(Refusal::Broken(why)) => refused(500, &why),
    }
}

/// JSON in the order of this mode.
fn written(mode: Mode, value: &Value) -> String {
    let product = |value: &Value| {
        let keys = ["price", "category", "name", "id"];
        let fields: Vec<String> =
            keys.iter().map(|key| format!("\"{key}\" : {}", value[*key])).collect();
        format!("{{ {} }}", fields.join(", "))
    };
    match value {
        value if !mode.is("crud-keys-reversed") => value.to_string(),
        Value::Array(rows) => {
            format!("[{}]", rows.iter().map(product).collect::<Vec<_>>().join(",\n"))
        }
        value => product(value),
    }
}

struct Shop<'a> {
    mode: Mode,
    users: &'a Users,
    is_load: bool,
}

impl Shop<'_> {
    /// Whether it behaves in this way now.
    fn does(&self, name: &str) -> bool {
        self.mode.is(name) && (self.is_load || !name.ends_with("-under-load"))
    }

    fn serve(&self, request: &Request) -> Done {
        if self.does("crud-write-behind") {
            let is_writing = ["PUT", "DELETE"].contains(&request.method());
            self.flush(if is_writing { Duration::ZERO } else { Duration::from_millis(50) })?;
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let place = path.strip_prefix("/products").unwrap_or_default();
        let id = || {
            let id = place.strip_prefix('/').and_then(|id| id.parse().ok());
            id.ok_or(Refusal::NotFound)
        };
        match (request.method(), place) {
            ("GET", _) => {
                let keeps = [
                    ("crud-cached", Duration::MAX),
                    ("crud-cached-50ms", Duration::from_millis(50)),
                    ("crud-cached-under-load", Duration::from_millis(150)),
                    ("crud-cached-and-counted-under-load", Duration::from_millis(150)),
                ];
                let read = || if place.is_empty() { self.list(query) } else { self.read(id()?) };
                match keeps.iter().find(|(name, _)| self.does(name)) {
                    Some((_, life)) => self.kept(&request.path, *life, read),
                    None => read(),
                }
            }
            ("POST", "") => self.create(&request.body),
            ("PUT", _) => self.change(id()?, &request.body),
            ("DELETE", _) => self.remove(id()?),
            _ => Err(Refusal::NotFound),
        }
    }

    fn rows(
        &self,
        sql: &str,
        values: &[&(dyn postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, Refusal> {
        Ok(self.users.with_client(|client| client.query(sql, values))?)
    }

    /// What was answered before, if that is not too old.
    fn kept(&self, target: &str, life: Duration, read: impl FnOnce() -> Done) -> Done {
        if self.mode.is("crud-cached-and-counted-under-load") {
            self.rows(&format!("{COLUMNS} WHERE id = 0"), &[])?;
        }
        if let Some((value, since)) = known().answers.get(target)
            && since.elapsed() <= life
        {
            return Ok((200, Some(value.clone())));
        }
        let done = read()?;
        if let (200, Some(value)) = &done {
            known().answers.insert(target.into(), (value.clone(), Instant::now()));
        }
        Ok(done)
    }

    fn list(&self, query: &str) -> Done {
        let value = |name: &str| {
            let mut fields = query.split('&').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let page: i64 = value("page").unwrap_or("1").parse().map_err(|_| Refusal::Invalid)?;
        if page < 1 {
            return Err(Refusal::Invalid);
        }
        let page = if self.does("crud-first-page-alone") { 1 } else { page };
        let category = value("category");
        let sql = format!(
            "{COLUMNS} WHERE category = $1 OR $1::text IS NULL ORDER BY id LIMIT 20 OFFSET $2"
        );
        let rows = self.rows(&sql, &[&category, &((page - 1) * 20)])?;
        Ok((200, Some(rows.iter().map(product).collect())))
    }

    fn read(&self, id: i32) -> Done {
        if known().hidden.contains(&id) {
            return Err(Refusal::NotFound);
        }
        if let Some(product) = known().products.get(&id) {
            return Ok((200, Some(product.clone())));
        }
        let rows = self.rows(&format!("{COLUMNS} WHERE id = $1"), &[&id])?;
        rows.first().map(|row| (200, Some(product(row)))).ok_or(Refusal::NotFound)
    }

    fn create(&self, body: &[u8]) -> Done {
        let sent = match Sent::valid(body) {
            Some(sent) => sent,
            None if self.does("crud-validates-too-late") => return Err(self.written_in_vain(body)),
            None if self.does("crud-without-validation") => {
                let name = format!("unnamed {}", known().made);
                Sent { name, category: "refused".into(), price: 0 }
            }
            None => return Err(Refusal::Invalid),
        };
        known().made += 1;
        let nth = known().made;
        let id = if self.does("crud-write-behind")
            || (self.does("crud-loses-products-under-load")
                && sent.category == "kept"
                && nth.is_multiple_of(3))
        {
            self.behind(&sent)?
        } else if self.does("crud-inserts-together-under-load") {
            self.together(&sent)?
        } else {
            if self.does("crud-ids-with-gaps") {
                self.rows("SELECT nextval('products_id_seq')", &[])?;
            }
            self.inserted(&sent)?
        };
        Ok((201, Some(sent.with_id(id))))
    }

    fn inserted(&self, Sent { name, category, price }: &Sent) -> Result<i32, Refusal> {
        let sql = "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id";
        if self.does("crud-in-transactions") {
            let id = self.users.with_client(|client| {
                let mut transaction = client.transaction()?;
                let row = transaction.query_one(sql, &[name, category, price])?;
                transaction.commit()?;
                Ok(row.get(0))
            });
            return Ok(id?);
        }
        Ok(self.rows(sql, &[name, category, price])?[0].get(0))
    }

    /// A row of a request that is refused.
    fn written_in_vain(&self, body: &[u8]) -> Refusal {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        if let (Some(name), Some(category)) = (body["name"].as_str(), body["category"].as_str()) {
            let sent = Sent { name: name.into(), category: category.into(), price: 0 };
            let _ = self.inserted(&sent);
        }
        Refusal::Invalid
    }

    /// A number for a product that is written later, or never.
    fn behind(&self, sent: &Sent) -> Result<i32, Refusal> {
        if !self.rows("SELECT id FROM products WHERE name = $1", &[&sent.name])?.is_empty() {
            return Err(Refusal::Taken);
        }
        let row = self.rows("SELECT nextval('products_id_seq')::integer", &[])?;
        let id = row[0].get(0);
        known().products.insert(id, sent.with_id(id));
        if self.does("crud-write-behind") {
            known().queued.push((id, sent.clone(), Instant::now()));
        }
        Ok(id)
    }

    /// Writes what has waited for so long.
    fn flush(&self, after: Duration) -> Result<(), Refusal> {
        let queued = std::mem::take(&mut known().queued);
        let (due, rest): (Vec<_>, Vec<_>) =
            queued.into_iter().partition(|(_, _, since)| since.elapsed() >= after);
        known().queued.extend(rest);
        for (id, Sent { name, category, price }, _) in due {
            let sql = "INSERT INTO products (id, name, category, price) VALUES ($1, $2, $3, $4)";
            self.rows(sql, &[&id, &name, &category, &price])?;
            known().products.remove(&id);
        }
        Ok(())
    }

    /// One statement for all that come within 2 ms.
    fn together(&self, sent: &Sent) -> Result<i32, Refusal> {
        let waiting = || WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, numbered) = channel();
        let is_first = {
            let mut waiting = waiting();
            waiting.push(Waiting { sent: sent.clone(), number });
            waiting.len() == 1
        };
        if is_first {
            std::thread::sleep(Duration::from_millis(2));
            let all = std::mem::take(&mut *waiting());
            let names: Vec<&str> = all.iter().map(|it| it.sent.name.as_str()).collect();
            let categories: Vec<&str> = all.iter().map(|it| it.sent.category.as_str()).collect();
            let prices: Vec<i32> = all.iter().map(|it| it.sent.price).collect();
            let sql = "INSERT INTO products (name, category, price) SELECT * FROM unnest($1::text[], $2::text[], $3::integer[]) ON CONFLICT DO NOTHING RETURNING name, id";
            let rows = self
                .users
                .with_client(|client| client.query(sql, &[&names, &categories, &prices]))?;
            let numbers: BTreeMap<String, i32> =
                rows.iter().map(|row| (row.get(0), row.get(1))).collect();
            for Waiting { sent, number } in &all {
                let id = numbers.get(&sent.name).copied();
                let _ = number.send(id.ok_or_else(|| "duplicate key".into()));
            }
        }
        Ok(numbered.recv().unwrap_or_else(|error| Err(error.to_string()))?)
    }

    fn change(&self, id: i32, body: &[u8]) -> Done {
        let sent = Sent::valid(body).ok_or(Refusal::Invalid)?;
        let changed = sent.with_id(id);
        if self.does("crud-changes-in-memory-under-load") {
            known().products.insert(id, changed.clone());
            return Ok((200, Some(changed)));
        }
        if self.does("crud-reads-before-it-writes") {
            self.read(id)?;
        }
        let Sent { name, category, price } = &sent;
        let sql =
            "UPDATE products SET name = $2, category = $3, price = $4 WHERE id = $1 RETURNING id";
        if self.rows(sql, &[&id, name, category, price])?.is_empty() {
            return Err(Refusal::NotFound);
        }
        if self.does("crud-changes-others") {
            self.rows("UPDATE products SET price = price + 1 WHERE id = 500", &[])?;
        }
        if self.does("crud-changes-too-much-in-its-answer") {
            return Ok((
                200,
                Some(json!({ "id": id, "name": name, "category": category, "price": price + 1 })),
            ));
        }
        Ok((200, Some(changed)))
    }

    fn remove(&self, id: i32) -> Done {
        if self.does("crud-hides") || self.does("crud-hides-under-load") {
            let done = self.read(id).map(|_| (204, None));
            known().hidden.insert(id);
            return done;
        }
        if self.does("crud-reads-before-it-writes") {
            self.read(id)?;
        }
        let rows = self.rows("DELETE FROM products WHERE id = $1 RETURNING id", &[&id])?;
        if rows.is_empty() { Err(Refusal::NotFound) } else { Ok((204, None)) }
    }
}

fn product(row: &Row) -> Value {
    Sent { name: row.get(1), category: row.get(2), price: row.get(3) }.with_id(row.get(0))
}
