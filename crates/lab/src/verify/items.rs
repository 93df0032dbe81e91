//! Answers that are made of items of the data file: all totals under load, and samples whole.
use memchr::memmem;
use pippin_engine::{Briefing, Exchange, Referee};
use pippin_model::load::LoadSpec;
use pippin_model::request::coding::{Accepted, Coding};
use pippin_model::trial::Packed;
use pippin_model::workload::Sample;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::sync::Arc;

use super::live::deputy::{self, Judges};
use super::packed::{self, Packing};
use super::sampled::{Exchanged, Found, Sampled};
use crate::services::items::{Item, Items};

/// So many answers of a load are kept to be compared. The longest have about 200 kB.
const KEPT: usize = 300;

/// How far a number with a point may be from the right one, as a part of it. Numbers of 64 bits have
/// 15 digits that count, those of 32 bits have 6.
const ROUNDING: f64 = 1e-12;

/// What a request asks for: how many items, the factor of their totals, and in which codings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemsRequest {
    n: u32,
    m: u64,
    #[serde(default)]
    accepted: Accepted,
}

impl ItemsRequest {
    /// Of a sample; `None` if it has no such numbers, which no workload allows.
    #[must_use]
    pub fn from_sample(sample: &Sample) -> Option<Self> {
        let number = |name| sample.binding.get(name)?.parse::<u64>().ok();
        let is_it = |name: &String| name.eq_ignore_ascii_case("accept-encoding");
        let field = sample.headers.iter().find(|(name, _)| is_it(name));
        let accepted = field.map(|(_, value)| Accepted::of_field(value)).unwrap_or_default();
        Some(Self { n: number("n")?.try_into().ok()?, m: number("m")?, accepted })
    }

    /// With the factor that was drawn when it was sent, if one was.
    fn redrawn(self, drawn: &str) -> Self {
        Self { m: drawn.parse().unwrap_or(self.m), ..self }
    }

    const fn count(self) -> usize {
        self.n as usize
    }
}

/// All that is needed to judge the answers of a load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    /// Of the data file.
    seed: u64,
    /// What each request asks for, by its place.
    asked: Vec<ItemsRequest>,
    /// From how many bytes on an answer must be packed; `None` where none may be.
    #[serde(default)]
    coded_from: Option<u64>,
}

/// Judges the answers of a target that has this data file.
pub struct ItemAnswers {
    items: Arc<Items>,
    asked: Vec<ItemsRequest>,
    coded_from: Option<u64>,
    sampled: Sampled,
}

impl ItemAnswers {
    /// For a workload whose answers are packed from so many bytes on, before any request.
    #[must_use]
    pub fn from_items(items: Arc<Items>, coded_from: Option<u64>) -> Self {
        let sampled = Sampled::new(KEPT, Found::default());
        Self { items, asked: Vec::new(), coded_from, sampled }
    }

    /// For a deputy, which draws the same items again.
    #[must_use]
    pub fn expecting(Expected { seed, asked, coded_from }: Expected) -> Self {
        Self { asked, ..Self::from_items(Arc::new(Items::drawn(seed)), coded_from) }
    }

    /// For requests that were made of these samples, with what was found in earlier loads.
    #[must_use]
    pub fn for_samples(&self, samples: &[Sample]) -> Self {
        let asked = samples.iter().map_while(ItemsRequest::from_sample).collect();
        let sampled = Sampled::new(KEPT, self.compared());
        Self { items: Arc::clone(&self.items), asked, coded_from: self.coded_from, sampled }
    }

    /// What is wrong with the answer to a sample, if anything is.
    #[must_use]
    pub fn differs(&self, sample: &Sample, coding: Coding, body: &[u8]) -> Option<String> {
        let Some(asked) = ItemsRequest::from_sample(sample) else {
            return Some("the request does not say how many items it wants".into());
        };
        self.opened(asked, coding, body)
            .map_or_else(Some, |body| differs(&self.items, asked, &body))
    }

    /// An answer as it was before it was packed.
    fn opened<'a>(
        &self,
        asked: ItemsRequest,
        coding: Coding,
        body: &'a [u8],
    ) -> Result<Cow<'a, [u8]>, String> {
        match self.coded_from {
            Some(from) => packed::opened(asked.accepted, coding, body, from),
            None => Ok(body.into()),
        }
    }

    fn asked(&self, request: u32, drawn: &str) -> Option<ItemsRequest> {
        self.asked.get(request as usize).map(|asked| asked.redrawn(drawn))
    }

    /// Compares what was kept. Returns what was found so far.
    #[must_use]
    pub fn compared(&self) -> Found {
        self.sampled.compared(|Exchanged { request, drawn, coding, body, .. }, packed| {
            let Some(asked) = self.asked(*request, drawn) else {
                return Some(format!("nobody knows what request {request} asked for"));
            };
            let unpacked = match self.opened(asked, *coding, body) {
                Ok(unpacked) => unpacked,
                Err(fault) => return Some(fault),
            };
            if self.coded_from.is_some() && *coding != Coding::Plain {
                let (packed_bytes, unpacked_bytes) = (body.len() as u64, unpacked.len() as u64);
                *packed.entry(*coding).or_default() += Packed { packed_bytes, unpacked_bytes };
            }
            differs(&self.items, asked, &unpacked)
        })
    }
}

impl Referee for ItemAnswers {
    /// An answer whose totals are written in an unusual way is compared whole. A packed one is not
    /// unpacked before the load is over.
    fn is_right(&self, exchange: &Exchange<'_>) -> bool {
        let Exchange { request, body, drawn, coding, .. } = *exchange;
        self.asked(request, drawn).is_some_and(|asked| {
            match self.coded_from.map(|from| packed::seen(asked.accepted, coding, body, from)) {
                Some(Packing::Wrong) => return false,
                Some(Packing::Packed) => return true,
                Some(Packing::Plain) | None => {}
            }
            has_totals(self.items.first(asked.count()), asked.m, body)
                || differs(&self.items, asked, body).is_none()
        })
    }

    fn examine(&self, exchange: &Exchange<'_>) {
        self.sampled.take(exchange);
    }

    fn briefing(&self, _: &LoadSpec) -> Option<Briefing> {
        let (seed, asked) = (self.items.seed(), self.asked.clone());
        let expected = Expected { seed, asked, coded_from: self.coded_from };
        deputy::briefing(&Judges::Items(expected), false)
    }

    fn found(&self) -> String {
        serde_json::to_string(&self.compared()).unwrap_or_default()
    }

    fn take(&self, found: &str) -> Result<(), String> {
        self.sampled.add(deputy::read(found)?);
        Ok(())
    }
}

/// Whether the body has the total of each of these items, in their order, and no others. It is not
/// parsed: this is asked of every answer of a load.
fn has_totals(items: &[Item], m: u64, body: &[u8]) -> bool {
    const KEY: &[u8] = b"\"total\"";
    let mut places = memmem::find_iter(body, KEY);
    let each = |item: &Item| {
        places.next().is_some_and(|at| number_after(&body[at + KEY.len()..]) == Some(item.total(m)))
    };
    items.iter().all(each) && places.next().is_none()
}

/// The whole number that is the value of a key; `None` where it is written in another way.
fn number_after(rest: &[u8]) -> Option<u64> {
    let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = matches!(rest.get(digits), Some(b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n'));
    // More digits than 18 could be too many for 64 bits.
    if !ends || !(1..=18).contains(&digits) {
        return None;
    }
    Some(rest[..digits].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// What is wrong with an answer, if anything is: `{"count": n, "items": [...]}`, with the first n
/// items of the file and their totals. The order of keys, white space, escapes and the spelling of
/// numbers are free.
fn differs(items: &Items, ItemsRequest { n, m, .. }: ItemsRequest, body: &[u8]) -> Option<String> {
    let given: Value = match serde_json::from_slice(body) {
        Ok(given) => given,
        Err(error) => return Some(format!("the body is no JSON: {error}")),
    };
    let Some(answer) = given.as_object() else {
        return Some(format!("the body is {} instead of an object", short(&given)));
    };
    let Some(rows) = answer.get("items").and_then(Value::as_array) else {
        return Some("the body has no array `items`".into());
    };
    let expected = items.first(n as usize);
    if rows.len() != expected.len() {
        return Some(format!("{} items instead of {}", rows.len(), expected.len()));
    }
    field("", "count", &n.into(), answer.get("count"))
        .or_else(|| unwanted("", answer, |key| ["count", "items"].contains(&key)))
        .or_else(|| {
            let mut rows = (0..).zip(expected).zip(rows);
            rows.find_map(|((nth, item), row)| row_differs(nth, item, m, row))
        })
}

fn row_differs(nth: usize, item: &Item, m: u64, row: &Value) -> Option<String> {
    let mut expected = item.fields.clone();
    expected.insert("total".into(), item.total(m).into());
    differ(&format!("/items/{nth}"), &Value::Object(expected), row)
}

/// Where two values differ, as the pointer of RFC 6901.
fn differ(at: &str, expected: &Value, given: &Value) -> Option<String> {
    let is_same = match (expected, given) {
        (Value::Object(expected), Value::Object(given)) => {
            return expected
                .iter()
                .find_map(|(key, value)| field(at, key, value, given.get(key)))
                .or_else(|| unwanted(at, given, |key| expected.contains_key(key)));
        }
        (Value::Array(expected), Value::Array(given)) if expected.len() == given.len() => {
            return (0..).zip(expected.iter().zip(given)).find_map(|(nth, (expected, given))| {
                differ(&format!("{at}/{nth}"), expected, given)
            });
        }
        (Value::Number(expected), Value::Number(given)) => is_equal(expected, given),
        _ => expected == given,
    };
    (!is_same).then(|| format!("{at} is {} instead of {}", short(given), short(expected)))
}

fn field(at: &str, key: &str, expected: &Value, given: Option<&Value>) -> Option<String> {
    match given {
        Some(given) => differ(&format!("{at}/{key}"), expected, given),
        None => Some(format!("{at}/{key} is missing")),
    }
}

/// A key that nobody asked for.
fn unwanted(
    at: &str,
    given: &Map<String, Value>,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<String> {
    let key = given.keys().find(|key| !is_wanted(key))?;
    Some(format!("{at}/{key} is there, and nobody asked for it"))
}

/// Whether two numbers have one value: 4 and 4.0 are the same. Whole numbers are compared exactly.
/// Others may differ in their last digits, which encoders round in different ways.
fn is_equal(one: &Number, other: &Number) -> bool {
    if let (Some(one), Some(other)) = (one.as_i64(), other.as_i64()) {
        return one == other;
    }
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= one.abs() * ROUNDING,
        _ => false,
    }
}

/// A value, cut where it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ASKED: ItemsRequest = ItemsRequest { n: 50, m: 12_345_678, accepted: Accepted::NONE };

    fn right(items: &Items, ItemsRequest { n, m, .. }: ItemsRequest) -> Value {
        let rows: Vec<Value> = items
            .first(n as usize)
            .iter()
            .map(|item| {
                let mut fields = item.fields.clone();
                fields.insert("total".into(), item.total(m).into());
                Value::Object(fields)
            })
            .collect();
        json!({ "count": n, "items": rows })
    }

    fn answers() -> ItemAnswers {
        ItemAnswers::expecting(Expected { seed: 3, asked: vec![ASKED], coded_from: None })
    }

    fn exchange<'a>(body: &'a str, drawn: &'a str) -> Exchange<'a> {
        Exchange { body: body.as_bytes(), drawn, read_ns: 1, ..Exchange::default() }
    }

    /// Every spelling that JSON allows is right, by the quick look and by the whole comparison.
    #[test]
    fn order_of_keys_spaces_escapes_and_spelling_of_numbers_are_free() {
        let (items, answers) = (Items::drawn(3), answers());
        let right = right(&items, ASKED);
        let compact = right.to_string();
        let total = items.first(1)[0].total(ASKED.m).to_string();
        for body in [
            compact.clone(),
            serde_json::to_string_pretty(&right).unwrap(),
            compact.replace('/', "\\/").replace('é', "\\u00e9").replace('<', "\\u003c"),
            compact.replace(".0,", ",").replace(".0}", "}"),
            compact.replace("\"total\"", "\"\\u0074otal\""),
            compact.replace(&total, &format!("{total}.0")),
            compact.replace("\"total\":", "\"total\" :\n"),
            compact.replace("4.7", "4.7000000000000002").replace("2.3", "2.2999999999999998"),
        ] {
            assert_eq!(differs(&items, ASKED, body.as_bytes()), None);
            assert!(answers.is_right(&exchange(&body, "")), "{body}");
        }
    }

    /// Any single change of a value is seen, and named by its place.
    #[test]
    fn each_changed_missing_or_added_field_is_named() {
        let items = Items::drawn(3);
        let differs = |change: &dyn Fn(&mut Value)| {
            let mut answer = right(&items, ASKED);
            change(&mut answer);
            differs(&items, ASKED, answer.to_string().as_bytes()).unwrap_or_default()
        };
        for key in items.first(1)[0].fields.keys().map(String::as_str).chain(["total"]) {
            let said = differs(&|answer| answer["items"][7][key] = json!("other"));
            assert!(said.starts_with(&format!("/items/7/{key} is \"other\"")), "{said}");
            let said = differs(&|answer| {
                answer["items"][7].as_object_mut().unwrap().remove(key);
            });
            assert_eq!(said, format!("/items/7/{key} is missing"));
        }
        for (change, words) in [
            (
                &(|it: &mut Value| it["count"] = json!(51)) as &dyn Fn(&mut Value),
                "/count is 51 instead of 50",
            ),
            (&|it| it["page"] = json!(1), "/page is there"),
            (&|it| it["items"][0]["more"] = json!(1), "/items/0/more is there"),
            (&|it| it["items"].as_array_mut().unwrap().truncate(49), "49 items instead of 50"),
            (&|it| it["items"].as_array_mut().unwrap().swap(0, 1), "/items/0/"),
            (&|it| it["items"] = json!({}), "the body has no array `items`"),
            (&|it| *it = json!([]), "the body is [] instead of an object"),
        ] {
            let said = differs(change);
            assert!(said.starts_with(words), "{said}");
        }
        let said = super::differs(&items, ASKED, b"{").unwrap();
        assert!(said.starts_with("the body is no JSON"), "{said}");
    }

    #[test]
    fn under_load_each_total_of_each_answer_must_be_that_of_its_request() {
        let (items, answers) = (Items::drawn(3), answers());
        let drawn = ItemsRequest { m: 87_654_321, ..ASKED };
        let (old, new) = (right(&items, ASKED).to_string(), right(&items, drawn).to_string());
        assert!(answers.is_right(&exchange(&new, "87654321")));
        assert!(!answers.is_right(&exchange(&old, "87654321")), "prepared for another factor");
        let last = items.first(50)[49].total(drawn.m);
        let one_wrong = new.replace(&last.to_string(), &(last + 1).to_string());
        assert!(!answers.is_right(&exchange(&one_wrong, "87654321")));
        let fewer = right(&items, ItemsRequest { n: 49, ..drawn }).to_string();
        assert!(!answers.is_right(&exchange(&fewer, "87654321")));
        assert!(!answers.is_right(&exchange("", "87654321")));
        let unknown = Exchange { request: 1, ..exchange(&new, "87654321") };
        assert!(!answers.is_right(&unknown));
    }

    #[test]
    fn a_deputy_draws_the_same_items_and_finds_what_only_a_whole_look_shows() {
        let answers = answers();
        let briefing = answers.briefing(&LoadSpec::default()).unwrap();
        let deputy = deputy::from_briefing(&briefing.text).unwrap();
        let body = right(&Items::drawn(3), ASKED).to_string();
        let patched = body.replacen("\"active\":true", "\"active\":null", 1);
        for body in [&body, &patched] {
            assert!(deputy.is_right(&exchange(body, "")), "the totals are right");
            deputy.examine(&exchange(body, ""));
        }
        answers.take(&deputy.found()).unwrap();
        let found = answers.compared();
        assert_eq!((found.compared, found.wrong), (2, 1));
        let said = found.verdict(10, "answers").unwrap_err();
        assert!(said.contains("/active is null instead of true"), "{said}");
    }

    #[test]
    fn only_whole_numbers_are_read_without_parsing() {
        for (rest, number) in [
            (&b":12,"[..], Some(12)),
            (b" : 7}", Some(7)),
            (b":0 ", Some(0)),
            (b":12", None),
            (b":,", None),
            (b"12,", None),
            (b":1.0,", None),
            (b":1e3,", None),
            (b":\"1\",", None),
            (b":1234567890123456789,", None),
        ] {
            assert_eq!(number_after(rest), number, "{}", String::from_utf8_lossy(rest));
        }
    }
}
