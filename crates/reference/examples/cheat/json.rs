//! The workload `json`, as docs/add-a-target.md describes it.
//!
//! Every mode writes totals into texts of the items that it has made once, in its own spelling: tests
//! run in a build that is not optimised, where an honest encoder would take most of their time.
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::http::{Answer, Request};
use crate::{Mode, compressed};

type Item = Map<String, Value>;

/// The items of the data file.
static ITEMS: LazyLock<Vec<Item>> = LazyLock::new(|| {
    let path = std::env::var("ITEMS_FILE").unwrap_or_default();
    let text = std::fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
});

/// Requests that are being answered.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// More at once than any proof sends.
const LOAD: usize = 4;

/// The answer to `/json/{n}?m={m}`; `None` if the path is another one.
pub fn answer(mode: Mode, request: &Request) -> Option<Answer> {
    let nth = request.nth;
    let (n, m) = request.path.strip_prefix("/json/")?.split_once("?m=")?;
    let (n, m): (usize, u64) = (n.parse().ok()?, m.parse().ok()?);
    let is_loaded = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1 >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(2));
    }
    let body = match mode.name {
        "json-prepared" => prepared(mode, n, m),
        "json-factor-of-before-under-load" if is_loaded => {
            from_texts(mode, usual(mode), n, 77_777_777)
        }
        "json-fewer-items-under-load" if is_loaded => from_texts(mode, usual(mode), n.min(50), m),
        "json-totals-alone-under-load" if is_loaded => from_texts(mode, nameless(mode), n, m),
        "json-but-ten-of-100" if nth % 100 > 10 => from_texts(mode, nameless(mode), n, m),
        "json-right-at-first" | "coded-right-at-first" if nth > 30 => {
            from_texts(mode, nameless(mode), n, m)
        }
        _ => from_texts(mode, usual(mode), n, m),
    };
    let content_type = match mode.name {
        "json-as-text" => "text/json",
        "json-charset" => "Application/JSON;charset=UTF-8",
        _ => "application/json",
    };
    let answer = Answer { content_type, ..Answer::text(&body) };
    let answer = compressed::packed(mode, request, is_loaded, answer);
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    Some(answer)
}

/// Every size is made once, for the first factor that is asked for.
fn prepared(mode: Mode, n: usize, m: u64) -> String {
    static MADE: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(n).or_insert_with(|| from_texts(mode, usual(mode), n, m)).clone()
}

/// An answer made of these texts of items.
fn from_texts(mode: Mode, texts: &[String], n: usize, m: u64) -> String {
    let rows = texts.iter().zip(&*ITEMS).take(n).enumerate();
    let mut rows: Vec<String> = rows
        .map(|(nth, (text, item))| {
            let rest = text.trim_start_matches('{');
            match total(mode, nth, item, m) {
                Some(total) => format!("{{\"total\"{}{total},{rest}", colon(mode)),
                None => format!("{{{rest}"),
            }
        })
        .collect();
    if mode.is("json-sorted") {
        rows.reverse();
    }
    format!("{{\"count\":{},\"items\":[{}]}}", rows.len(), rows.join(","))
}

fn colon(mode: Mode) -> &'static str {
    if mode.is("json-spaces") { " :\n" } else { ":" }
}

/// The total of the item at this place, as it is written; `None` if it is left out.
fn total(mode: Mode, nth: usize, item: &Item, m: u64) -> Option<String> {
    let number = |key| item.get(key).and_then(Value::as_u64).unwrap_or_default();
    let worth = number("price") * number("quantity");
    let total = worth * m;
    Some(match mode.name {
        "json-without-total" => return None,
        "json-first-total-alone" if nth > 0 => (worth * (m / 2)).to_string(),
        "json-totals-rounded" => ((total as f32) as u64).to_string(),
        "json-totals-with-point" => format!("{total}.0"),
        "json-totals-with-exponent" => format!("{total}e0"),
        _ => total.to_string(),
    })
}

/// The texts of all items.
fn usual(mode: Mode) -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| texts(mode, |nth, item| change(mode, nth, item)))
}

/// The texts of all items, without their names.
fn nameless(mode: Mode) -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| texts(mode, |_, item| item["name"] = "x".into()))
}

fn texts(mode: Mode, change: impl Fn(usize, &mut Item)) -> Vec<String> {
    let text = |(nth, item): (usize, &Item)| {
        let mut item = item.clone();
        change(nth, &mut item);
        spelled(mode, &Value::Object(item))
    };
    ITEMS.iter().enumerate().map(text).collect()
}

/// What is wrong with an item in this mode.
fn change(mode: Mode, nth: usize, item: &mut Item) {
    match mode.name {
        "json-numbers-as-texts" => item["price"] = item["price"].to_string().into(),
        "json-fields-left-out" => drop(item.remove("rating")),
        "json-text-cut" => {
            let name = item["name"].as_str().unwrap_or_default();
            item["name"] = name.chars().filter(char::is_ascii).collect::<String>().into();
        }
        "json-made-up" => item["name"] = format!("Item {nth}").into(),
        _ => {}
    }
}

/// An item in a spelling of this mode, which means the same to a reader of JSON.
fn spelled(mode: Mode, item: &Value) -> String {
    let compact = item.to_string();
    match mode.name {
        "json-indented" => serde_json::to_string_pretty(item).unwrap_or_default(),
        "json-escaped" => escaped(&compact),
        "json-whole-numbers-short" => compact.replace(".0,", ",").replace(".0}", "}"),
        "json-numbers-long" => {
            let score = item["rating"]["score"].as_f64().unwrap_or_default();
            compact.replace(&format!("\"score\":{score:?}}}"), &format!("\"score\":{score:.16}}}"))
        }
        "json-spaces" => compact.replace("\":", "\" : ").replace(",\"", " ,\n\""),
        "json-keys-reversed" => reversed(item),
        _ => compact,
    }
}

/// Everything but ASCII as `\u`, and slashes and brackets escaped, as PHP and .NET do.
fn escaped(json: &str) -> String {
    let escape = |character: char| match character {
        '/' => "\\/".to_string(),
        '<' | '>' | '&' | '\'' => format!("\\u{:04X}", u32::from(character)),
        ' '..='~' => character.to_string(),
        _ => {
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect()
        }
    };
    json.chars().map(escape).collect()
}

/// Every object with its keys from Z to A.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), reversed(value))
            };
            let fields = fields.iter().rev().map(field);
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(reversed).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
