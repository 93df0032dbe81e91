use super::*;
use crate::load;
use crate::verify::{walk, within};
use pippin_model::load::{BodyCheck, Connections, LoadSpec, StopRule};
use pippin_model::workload::Workload;
use pippin_reference::handle::Running;
use pippin_testing::scripted::{Account, Answer as Sent, Script, spawn};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The rows that a shop writes and the lab reads.
#[derive(Clone)]
struct Shelf(Arc<Mutex<BTreeMap<i32, Product>>>);

impl Shelf {
    fn new() -> Self {
        let rows = crate::services::table_kind::TableKind::Products.first_rows();
        let rows: Vec<Product> = serde_json::from_value(rows).unwrap();
        Self(Arc::new(Mutex::new(rows.into_iter().map(|row| (row.id, row)).collect())))
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<i32, Product>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Products for Shelf {
    fn with_id(&mut self, id: i32) -> Result<Option<Product>, String> {
        Ok(self.with(|rows| rows.get(&id).cloned()))
    }

    fn with_name(&mut self, name: &str) -> Result<Option<Product>, String> {
        Ok(self.with(|rows| rows.values().find(|row| row.name == name).cloned()))
    }

    fn page(&mut self, category: Option<&str>, page: i64) -> Result<Vec<Product>, String> {
        let is_in = |row: &&Product| category.is_none_or(|category| row.category == category);
        let first = (page as usize - 1) * 20;
        Ok(self.with(|rows| rows.values().filter(is_in).skip(first).take(20).cloned().collect()))
    }

    fn count(&mut self, category: &str) -> Result<i64, String> {
        Ok(self.with(|rows| rows.values().filter(|row| row.category == category).count()) as i64)
    }

    fn set_price(&mut self, id: i32, price: i32) -> Result<(), String> {
        self.with(|rows| rows.get_mut(&id).map(|row| row.price = price));
        Ok(())
    }
}

/// A shop that is right but for what its name says.
struct Shop {
    is: &'static str,
    shelf: Shelf,
    /// What it has in memory in place of the table.
    memory: BTreeMap<i32, Product>,
    answers: BTreeMap<String, String>,
    next: i32,
}

impl Shop {
    fn answer(&mut self, bytes: &[u8]) -> Sent {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (status, shown) = self.serve(method, target, body);
        let json = |status, text: &str| {
            Sent::new(status, text.as_bytes()).header("Content-Type: application/json")
        };
        match shown {
            Some(shown) if status == 201 && self.is != "says no place" => {
                let id = serde_json::from_str::<Value>(&shown).unwrap()["id"].clone();
                json(201, &shown).header(&format!("Location: http://host/products/{id}"))
            }
            Some(shown) => json(status, &shown),
            None if status != 204 && self.is == "refuses in HTML" => {
                Sent::new(status, b"<p>no").header("Content-Type: text/html")
            }
            None => Sent::new(status, b""),
        }
    }

    fn serve(&mut self, method: &str, target: &str, body: &str) -> (u16, Option<String>) {
        let is_kept = method == "GET" && self.is == "remembers answers";
        if let Some(answer) = self.answers.get(target).filter(|_| is_kept) {
            return (200, Some(answer.clone()));
        }
        let id = number(target).filter(|_| target != "/products");
        let (status, shown) = match (method, id) {
            ("GET", None) if target.starts_with("/products/") => (404, None),
            ("GET", None) => self.list(target),
            ("GET", Some(id)) => self.row(id).map_or((404, None), |row| (200, Some(row))),
            ("POST", None) => self.create(body),
            ("PUT", Some(id)) => self.change(id, body),
            ("DELETE", Some(id)) => self.remove(id),
            _ => (404, None),
        };
        let shown = shown.map(|shown| self.written(&shown));
        if let (200, Some(shown)) = (status, &shown) {
            self.answers.insert(target.into(), shown.clone());
        }
        (status, shown)
    }

    fn written(&self, shown: &Value) -> String {
        match shown {
            Value::Object(row) if self.is == "turns keys round" => {
                let fields = row.iter().rev().map(|(key, value)| format!("\"{key}\" : {value}"));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }

    fn list(&mut self, target: &str) -> (u16, Option<Value>) {
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let value = |name: &str| {
            let mut fields = query.split('&').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let page: i64 = value("page").unwrap_or("1").parse().unwrap_or(0);
        if page < 1 {
            return (422, None);
        }
        let page = if self.is == "has one page" { 1 } else { page };
        (200, Some(json!(self.shelf.page(value("category"), page).unwrap())))
    }

    fn row(&mut self, id: i32) -> Option<Value> {
        let known = self.memory.get(&id).cloned();
        let row = known.or_else(|| self.shelf.with(|rows| rows.get(&id).cloned()))?;
        (row.category != "hidden").then(|| json!(row))
    }

    fn sent(body: &str) -> Option<Product> {
        let mut body: Value = serde_json::from_str(body).ok()?;
        body["id"] = 0.into();
        let row: Product = serde_json::from_value(body).ok()?;
        let is_text = |text: &str| (1..=100).contains(&text.chars().count());
        let is_valid = is_text(&row.name) && is_text(&row.category);
        (is_valid && (0..=1_000_000).contains(&row.price)).then_some(row)
    }

    fn is_taken(&mut self, name: &str, id: i32) -> bool {
        self.shelf.with_name(name).unwrap().is_some_and(|row| row.id != id)
    }

    fn create(&mut self, body: &str) -> (u16, Option<Value>) {
        self.next += if self.is == "leaves gaps" { 7 } else { 1 };
        let id = self.next;
        let Some(sent) = Self::sent(body) else {
            let body: Value = serde_json::from_str(body).unwrap();
            if self.is == "writes before it looks" {
                let text = |key: &str| body[key].as_str().unwrap_or("none").to_string();
                let row = Product { id, name: text("name"), category: text("category"), price: 0 };
                self.shelf.with(|rows| rows.insert(id, row));
            }
            return (422, None);
        };
        if self.is_taken(&sent.name, id) {
            return (409, None);
        }
        let row = Product { id, ..sent };
        match self.is {
            "writes behind" => self.memory.insert(id, row.clone()),
            "writes other prices" => {
                let row = Product { price: row.price / 2, ..row.clone() };
                self.shelf.with(|rows| rows.insert(id, row))
            }
            _ => self.shelf.with(|rows| rows.insert(id, row.clone())),
        };
        (201, Some(json!(row)))
    }

    fn change(&mut self, id: i32, body: &str) -> (u16, Option<Value>) {
        if self.row(id).is_none() {
            return (404, None);
        }
        let Some(sent) = Self::sent(body) else { return (422, None) };
        if self.is_taken(&sent.name, id) {
            return (409, None);
        }
        let row = Product { id, ..sent };
        if self.is == "changes nothing" {
            self.memory.insert(id, row.clone());
        } else {
            self.shelf.with(|rows| rows.insert(id, row.clone()));
        }
        (200, Some(json!(row)))
    }

    fn remove(&mut self, id: i32) -> (u16, Option<Value>) {
        if self.row(id).is_none() {
            return (404, None);
        }
        if self.is == "hides" {
            let hidden = |rows: &mut BTreeMap<i32, Product>| {
                rows.get_mut(&id).map(|row| row.category = "hidden".into())
            };
            self.shelf.with(hidden);
        } else {
            self.memory.remove(&id);
            self.shelf.with(|rows| rows.remove(&id));
        }
        (204, None)
    }
}

fn serve(is: &'static str) -> (Running<Account>, Shelf) {
    let shelf = Shelf::new();
    let (memory, answers) = (BTreeMap::new(), BTreeMap::new());
    let mut shop = Shop { is, shelf: shelf.clone(), memory, answers, next: 1_000 };
    let server = spawn(Script::each(move |received, _| shop.answer(received.bytes))).unwrap();
    (server, shelf)
}

fn workload() -> Workload {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/crud.toml");
    Workload::read(&path).unwrap()
}

fn auditor(server: &Running<Account>, shelf: Shelf, limit: Duration) -> Auditor {
    let way = (Way::plain(server.address()), false);
    Auditor::new(workload().walk.unwrap(), way, Box::new(shelf), limit)
}

fn audited(is: &'static str) -> Result<(), Flaw> {
    let (server, shelf) = serve(is);
    auditor(&server, shelf, Duration::from_secs(20)).whole()
}

#[test]
fn a_shop_that_writes_and_reads_the_table_passes_whatever_its_form() {
    for is in ["right", "turns keys round", "leaves gaps", "refuses in HTML"] {
        assert_eq!(audited(is), Ok(()), "{is}");
    }
}

#[test]
fn each_cheat_is_told() {
    for (is, words) in [
        ("remembers answers", "the answer is cached"),
        ("writes behind", "the table has no such row: it was not written, or later"),
        ("writes other prices", "the table has not what was sent: price"),
        ("changes nothing", "the table has not what was sent: "),
        ("hides", "status 204, but the row is still in the table"),
        ("has one page", "product 1 of the list: "),
        ("writes before it looks", "it was refused, and the table has"),
        ("says no place", "Location missing, instead of /products/"),
    ] {
        match audited(is) {
            Err(Flaw::Wrong(said)) => assert!(said.contains(words), "{is}: {said}"),
            other => panic!("{is}: {other:?}"),
        }
    }
}

#[test]
fn prices_are_as_they_were_and_each_answer_is_told() {
    let (server, mut shelf) = serve("right");
    let before = shelf.with(|rows| rows.clone());
    let told = Arc::new(Mutex::new(vec![0; 13]));
    let count = Arc::clone(&told);
    let mut auditor = auditor(&server, shelf.clone(), Duration::from_secs(20))
        .telling(move |step| count.lock().unwrap()[step] += 1);
    assert_eq!(auditor.round(), 13);
    for _ in 0..26 {
        assert_eq!(auditor.step(), Ok(()));
    }
    // Lists and products of the first thousand are asked for twice each time.
    let expected = [4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
    assert_eq!(*told.lock().unwrap(), expected);
    assert_eq!(
        [shelf.count("kept"), shelf.count("changed"), shelf.count("gone")],
        [Ok(2), Ok(2), Ok(0)]
    );
    assert!(before.iter().all(|(id, row)| shelf.with_id(*id).unwrap().as_ref() == Some(row)));
}

#[test]
fn who_does_not_answer_is_not_wrong() {
    let server = spawn(Script::always(Sent::silence())).unwrap();
    let said = within(Duration::from_secs(20), move || {
        auditor(&server, Shelf::new(), Duration::from_millis(100)).step()
    });
    assert!(
        matches!(&said, Err(Flaw::Unanswered(why)) if why.starts_with("browse: list: GET /products?")),
        "{said:?}"
    );
}

/// A server cannot tell a step beside the load from those of the load.
#[test]
fn steps_beside_the_load_have_the_very_heads_of_the_load() {
    let heads = Arc::new(Mutex::new(BTreeSet::new()));
    let (seen, shelf) = (Arc::clone(&heads), Shelf::new());
    let (memory, answers) = (BTreeMap::new(), BTreeMap::new());
    let mut shop = Shop { is: "right", shelf: shelf.clone(), memory, answers, next: 1_000 };
    let server = spawn(Script::each(move |received, _| {
        let text = String::from_utf8_lossy(received.bytes).into_owned();
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let method = lines.next().unwrap_or_default().split(' ').next().unwrap_or_default();
        // Lengths of bodies differ.
        let line = |line: &str| line.split(|it: char| it.is_ascii_digit()).next().map(String::from);
        let fields: Vec<String> = lines.filter_map(line).collect();
        seen.lock().unwrap().insert((method.to_string(), fields));
        shop.answer(received.bytes)
    }))
    .unwrap();
    let mut auditor = auditor(&server, shelf, Duration::from_secs(20));
    for _ in 0..auditor.round() {
        assert_eq!(auditor.step(), Ok(()));
    }
    let audited = std::mem::take(&mut *heads.lock().unwrap());
    let workload = workload();
    let way = Way::plain(server.address());
    let scenario = workload.walk.as_ref().map(|walk| walk::without_thoughts(&walk.scenario));
    let base = LoadSpec { threads: 1, scenario, ..way.base(Vec::new(), 1) };
    let requests = load::requests(&workload, &[], &BodyCheck::Any, way.address());
    let stop = StopRule::requests(400);
    let load = load::run_closed(base, requests, Connections::kept(4), stop, None).unwrap();
    assert_eq!(load.measured.requests.good, 400, "{:?}", load.measured.errors);
    assert_eq!(audited, *heads.lock().unwrap());
    let methods: BTreeSet<&str> = audited.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods, ["DELETE", "GET", "POST", "PUT"].into());
}
