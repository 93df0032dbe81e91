//! Proves that the products which steps write are in the table, and that those which they read are from
//! it.
//!
//! An [`Auditor`] takes the steps of the workload's own walks, one at a time: the very requests of the
//! load, with values that are drawn as those of users are. It compares each answer with the table, which
//! it reads itself. Before and after a load it takes each step once, and beside one again and again
//! (`live::audit`). What no walk asks for is in `edges`: the shortest, the longest, what must be refused.
mod edges;
#[cfg(test)]
mod tests;

use pippin_model::request::Request as StepRequest;
use pippin_model::scenario::data::Walk;
use pippin_model::scenario::find;
use pippin_model::scenario::mix::title;
use pippin_model::scenario::text::{Encoding, Text};
use pippin_model::scenario::{Capture, Step};
use pippin_model::workload::Steps;
use pippin_model::workload::draw::Draw;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::http::{Answer, Client, Request};
use super::sampled::unknown_to_targets;
use super::{Subject, Verdict};
use crate::running::way::Way;
use crate::services::products::{Product, ProductTable, Products};
use crate::services::table_kind::PRODUCTS;

/// What is wrong with a step.
#[derive(Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No answer came, so that nothing is known of it.
    Unanswered(String),
    /// The answer, or what it has done to the table.
    Wrong(String),
}

impl Flaw {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        let (Self::Unanswered(words) | Self::Wrong(words)) = self;
        words
    }
}

/// Takes steps and compares them with the table.
pub struct Auditor {
    steps: Arc<Steps>,
    asker: Asker,
    table: Box<dyn Products>,
    /// Called with the number of each step that has an answer of the right status.
    answered: Box<dyn Fn(usize) + Send>,
    draw: Draw,
    seed: u64,
    /// How many walks have begun.
    walks: u64,
    /// Which scenario it walks through, and which step of that is next.
    place: (usize, usize),
    /// Of this walk, by name.
    values: BTreeMap<String, String>,
}

/// Asks on one connection, as a user of the load does.
struct Asker {
    way: Way,
    limit: Duration,
    closes: bool,
    client: Option<Client>,
}

impl Asker {
    fn ask(&mut self, request: Request) -> Result<Answer, Flaw> {
        let request = if self.closes { request.closing() } else { request };
        self.exchange(&request).map_err(Flaw::Unanswered)
    }

    fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(&self.way, self.limit)?,
        };
        let answer = client.exchange(request)?;
        if !answer.closes && !self.closes {
            self.client = Some(client);
        }
        Ok(answer)
    }
}

/// The request of a step with the values of a walk.
struct Asked {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Asked {
    fn filled(asked: &StepRequest, encoding: Encoding, values: &BTreeMap<String, String>) -> Self {
        let fill = |text: &str, encoding| {
            let filled = Text::parse(text)
                .filled(encoding, |name: &str| values.get(name).map(String::as_str));
            String::from_utf8_lossy(&filled).into_owned()
        };
        let header =
            |(name, value): &(String, String)| (name.clone(), fill(value, Encoding::Plain));
        Self {
            method: asked.method.clone(),
            target: fill(&asked.target, Encoding::Percent),
            headers: asked.headers.iter().map(header).collect(),
            body: fill(&String::from_utf8_lossy(&asked.body), encoding).into_bytes(),
        }
    }

    fn request(&self) -> Request {
        let with =
            |request: Request, (name, value): &(String, String)| request.with_header(name, value);
        let request = Request::new(&self.method, &self.target).with_body(self.body.clone());
        self.headers.iter().fold(request, with)
    }

    /// What stands in front of what is wrong with the answer.
    fn title(&self) -> String {
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {}{}{body}", self.method, self.target, if body.is_empty() { "" } else { " " })
    }
}

impl Auditor {
    /// Goes this way to a target, and reads this table.
    #[must_use]
    pub fn new(
        steps: Arc<Steps>,
        (way, closes): (Way, bool),
        table: Box<dyn Products>,
        limit: Duration,
    ) -> Self {
        let mut draw = unknown_to_targets();
        let seed = draw.bits();
        let asker = Asker { way, limit, closes, client: None };
        let (place, values) = ((0, 0), BTreeMap::new());
        let answered = Box::new(|_| ());
        Self { steps, asker, table, answered, draw, seed, walks: 0, place, values }
    }

    /// This one, which also calls this with the number of each step that was answered rightly.
    #[must_use]
    pub fn telling(self, answered: impl Fn(usize) + Send + 'static) -> Self {
        Self { answered: Box::new(answered), ..self }
    }

    /// How many steps the walks through all scenarios have.
    #[must_use]
    pub fn round(&self) -> usize {
        self.steps.requests.len()
    }

    /// Takes the next step. After the last one of a scenario, and after one that is wrong, the next
    /// scenario follows.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn step(&mut self) -> Result<(), Flaw> {
        let steps = Arc::clone(&self.steps);
        let parts = steps.scenario.parts();
        let (way, nth) = self.place;
        let part = &parts[way];
        if nth == 0 {
            let walk = Walk { user: 0, users: 1, nth: self.walks };
            self.values = part.drawn(walk, self.seed);
            self.walks += 1;
        }
        let (place, step) = (part.first + nth, &part.steps[nth]);
        let taken = self.take(place, step);
        let is_last = taken.is_err() || nth + 1 == part.steps.len();
        self.place = if is_last { ((way + 1) % parts.len(), 0) } else { (way, nth + 1) };
        taken.map_err(|flaw| {
            let named = |words: String| format!("{}: {words}", title(part.name, &step.name));
            match flaw {
                Flaw::Unanswered(words) => Flaw::Unanswered(named(words)),
                Flaw::Wrong(words) => Flaw::Wrong(named(words)),
            }
        })
    }

    fn take(&mut self, place: usize, step: &Step) -> Result<(), Flaw> {
        let steps = Arc::clone(&self.steps);
        let request = &steps.requests[place];
        let asked = Asked::filled(request, step.body, &self.values);
        let answer = self.ask(&asked, &request.check.status, place)?;
        let wrong = |words: String| Flaw::Wrong(format!("{}: {words}", asked.title()));
        self.compared(&asked, &answer).map_err(wrong)?;
        self.capture(&step.captures, &answer).map_err(wrong)?;
        if asked.method == "GET" && answer.status == 200 {
            self.again(&asked, &answer, place)?;
        }
        Ok(())
    }

    /// Asks, and expects one of these statuses.
    fn ask(&mut self, asked: &Asked, right: &[u16], place: usize) -> Result<Answer, Flaw> {
        let answer = self.asker.ask(asked.request()).map_err(|flaw| match flaw {
            Flaw::Unanswered(why) => Flaw::Unanswered(format!("{}: {why}", asked.title())),
            flaw => flaw,
        })?;
        if right.contains(&answer.status) {
            (self.answered)(place);
            return Ok(answer);
        }
        let right: Vec<String> = right.iter().map(ToString::to_string).collect();
        Err(Flaw::Wrong(format!(
            "{}: status {} instead of {}: {}",
            asked.title(),
            answer.status,
            right.join(" or "),
            answer.excerpt()
        )))
    }

    /// Compares an answer with the table.
    fn compared(&mut self, asked: &Asked, answer: &Answer) -> Verdict {
        let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        match (asked.method.as_str(), answer.status) {
            ("GET", 200) => {
                let expected = self.expected(&asked.target)?;
                difference(&parsed(answer)?, &expected).map_or(Ok(()), Err)
            }
            ("GET", _) => {
                match number(&asked.target).map(|id| self.table.with_id(id)).transpose()? {
                    Some(Some(row)) => {
                        Err(format!("status {}, and the table has {row:?}", answer.status))
                    }
                    _ => Ok(()),
                }
            }
            ("POST", 201) => {
                let row = self.written(&sent, &parsed(answer)?)?;
                let place = format!("/products/{}", row.id);
                match answer.header("location") {
                    Some(location) if location.ends_with(&place) => Ok(()),
                    location => Err(format!(
                        "Location {} instead of {place}",
                        location.unwrap_or_else(|| "missing,".into())
                    )),
                }
            }
            ("PUT", 200) => {
                let row = self.written(&sent, &parsed(answer)?)?;
                if Some(row.id) == number(&asked.target) {
                    return Ok(());
                }
                Err(format!("the answer has the id {}", row.id))
            }
            ("DELETE", 204) => {
                match number(&asked.target).map(|id| self.table.with_id(id)).transpose()? {
                    Some(None) => Ok(()),
                    row => Err(format!("status 204, but the row is still in the table: {row:?}")),
                }
            }
            _ => self.left_alone(&sent),
        }
    }

    /// The row of an answer, which must be in the table with what was sent.
    fn written(&mut self, sent: &Value, given: &Value) -> Result<Product, String> {
        let id = given["id"].as_i64().and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| format!("no whole number as id: {given}"))?;
        let Some(row) = self.table.with_id(id)? else {
            return Err(format!(
                "the answer has the id {id}, and the table has no such row: it was not written, or later"
            ));
        };
        let mut expected = sent.clone();
        let Some(fields) = expected.as_object_mut() else {
            return Err(format!("the request has no product to compare with: {sent}"));
        };
        fields.insert("id".into(), id.into());
        if let Some(difference) = difference(&json!(row), &expected) {
            return Err(format!("the table has not what was sent: {difference}"));
        }
        difference(given, &expected).map_or(Ok(row), Err)
    }

    /// Whoever refuses a product writes none.
    fn left_alone(&mut self, sent: &Value) -> Verdict {
        let Some(name) = sent["name"].as_str() else { return Ok(()) };
        match self.table.with_name(name)? {
            Some(row) if sent["category"].as_str() == Some(&row.category) => {
                Err(format!("it was refused, and the table has {row:?}"))
            }
            _ => Ok(()),
        }
    }

    fn capture(&mut self, captures: &[Capture], answer: &Answer) -> Verdict {
        let head = answer.head();
        let searched = find::Answer::new(&head, &answer.body);
        for Capture { name, from } in captures {
            let found = from.finder()?.find(&searched);
            let found = found.ok_or_else(|| format!("nothing to capture as `{name}` at {from}"))?;
            self.values.insert(name.clone(), found);
        }
        Ok(())
    }

    /// A product that was read gets another price in the table, which the very next answer must have.
    /// The price is changed back.
    fn again(&mut self, asked: &Asked, answer: &Answer, place: usize) -> Result<(), Flaw> {
        let first = parsed(answer).map_err(Flaw::Wrong)?;
        let rows = if first.is_array() { first } else { json!([first]) };
        let rows: Vec<Product> = serde_json::from_value(rows).unwrap_or_default();
        let own: Vec<Product> =
            rows.into_iter().filter(|row| (1..=PRODUCTS).contains(&row.id)).collect();
        let chosen = self.draw.below(own.len().max(1) as u64) as usize;
        let Some(&Product { id, price: before, .. }) = own.get(chosen) else { return Ok(()) };
        let price = 1_000_000 - self.draw.below(900_000) as i32;
        self.table.set_price(id, price).map_err(Flaw::Wrong)?;
        // At once: a cache may live for milliseconds.
        let second = self.ask(asked, &[200], place);
        let expected = self.expected(&asked.target);
        self.table.set_price(id, before).map_err(Flaw::Wrong)?;
        let (second, expected) = (second?, expected.map_err(Flaw::Wrong)?);
        let second = parsed(&second).map_err(Flaw::Wrong)?;
        difference(&second, &expected).map_or(Ok(()), |difference| {
            Err(Flaw::Wrong(format!(
                "{}: product {id} was changed in the table to the price {price}, but in the next answer: {difference}; the answer is cached",
                asked.title()
            )))
        })
    }

    /// What the answer to a GET must have now.
    fn expected(&mut self, target: &str) -> Result<Value, String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != "/products" {
            let row = number(target).map(|id| self.table.with_id(id)).transpose()?.flatten();
            return row.map(|row| json!(row)).ok_or_else(|| "the table has no such row".into());
        }
        let value = |name: &str| {
            let mut fields = query.split('&').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let page = value("page").map_or(Ok(1), str::parse);
        let page = page.map_err(|_| format!("`{target}` asks for no page"))?;
        self.table.page(value("category"), page).map(|rows| json!(rows))
    }
}

/// The number of the product that a target names.
fn number(target: &str) -> Option<i32> {
    target.strip_prefix("/products/")?.parse().ok()
}

fn parsed(answer: &Answer) -> Result<Value, String> {
    serde_json::from_slice(&answer.body)
        .map_err(|error| format!("not JSON ({error}): {}", answer.excerpt()))
}

/// The first difference between what is served and what the table has.
fn difference(given: &Value, expected: &Value) -> Option<String> {
    if given == expected {
        return None;
    }
    match (given, expected) {
        (Value::Array(rows), Value::Array(products)) if rows.len() != products.len() => {
            Some(format!("{} products instead of {}", rows.len(), products.len()))
        }
        (Value::Array(rows), Value::Array(products)) => {
            let differs = |(row, product)| difference(row, product);
            let (nth, words) = (1..)
                .zip(rows.iter().zip(products).map(differs))
                .find_map(|(nth, it)| Some((nth, it?)))?;
            Some(format!("product {nth} of the list: {words}"))
        }
        (Value::Object(row), Value::Object(product)) => {
            let differs = |(key, value): (&String, &Value)| match row.get(key) {
                Some(given) if given == value => None,
                Some(given) => Some(format!("{key} {given} instead of {value}")),
                None => Some(format!("{key} is missing")),
            };
            product
                .iter()
                .find_map(differs)
                .or_else(|| Some(format!("{given} has more than {expected}")))
        }
        _ => Some(format!("{given} instead of {expected}")),
    }
}

/// Each step of each walk is what the table says, what must be refused is refused, and the rows that
/// nobody but the lab may change are as it wrote them.
///
/// # Errors
/// What is wrong first.
pub fn stored(subject: &mut Subject<'_>) -> Verdict {
    let Some(steps) = subject.workload.walk.clone() else { return Ok(()) };
    let table = ProductTable::connect(subject.services.postgres()?.lab_url())?;
    let way = (subject.way.clone(), subject.closes);
    let mut auditor = Auditor::new(steps, way, Box::new(table), subject.limit);
    auditor.whole().map_err(Flaw::words)?;
    subject.services.postgres()?.is_as_written()
}
