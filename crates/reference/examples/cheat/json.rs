//! The workload `json`, as docs/add-a-target.md describes it.
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::Mode;
use crate::http::Answer;

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

/// The answer to `/json/{n}?m={m}`, whose request has this number on its connection; `None` if the
/// path is another one.
pub fn answer(mode: Mode, path: &str, nth: u32) -> Option<Answer> {
    let (n, m) = path.strip_prefix("/json/")?.split_once("?m=")?;
    let (n, m): (usize, u64) = (n.parse().ok()?, m.parse().ok()?);
    let is_loaded = UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1 >= LOAD;
    if mode.name.ends_with("-under-load") {
        // So that others come meanwhile.
        std::thread::sleep(Duration::from_millis(2));
    }
    let body = match mode.name {
        "json-prepared" => prepared(n, m),
        "json-patched" => patched(n, m),
        "json-factor-of-before-under-load" if is_loaded => spelled(mode, &of(n, 77_777_777)),
        "json-fewer-items-under-load" if is_loaded => spelled(mode, &of(n.min(50), m)),
        "json-totals-alone-under-load" if is_loaded => spelled(mode, &without_fields(of(n, m))),
        "json-but-each-100th" if nth % 100 != 1 => spelled(mode, &without_fields(of(n, m))),
        "json-right-at-first" if nth > 30 => spelled(mode, &without_fields(of(n, m))),
        _ => spelled(mode, &changed(mode, of(n, m), m)),
    };
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    let content_type = match mode.name {
        "json-as-text" => "text/json",
        "json-charset" => "Application/JSON;charset=UTF-8",
        _ => "application/json",
    };
    Some(Answer { content_type, ..Answer::text(&body) })
}

fn total(item: &Item, m: u64) -> u64 {
    let number = |key| item.get(key).and_then(Value::as_u64).unwrap_or_default();
    number("price") * number("quantity") * m
}

/// The right answer.
fn of(n: usize, m: u64) -> Value {
    let with_total = |item: &Item| {
        let mut item = item.clone();
        item.insert("total".into(), total(&item, m).into());
        Value::Object(item)
    };
    let items: Vec<Value> = ITEMS.iter().take(n).map(with_total).collect();
    json!({ "count": n, "items": items })
}

/// What every item of the answer becomes, by its place.
fn each(mut answer: Value, mut change: impl FnMut(usize, &mut Item)) -> Value {
    let items = answer["items"].as_array_mut().into_iter().flatten();
    let items = items.filter_map(Value::as_object_mut);
    items.enumerate().for_each(|(nth, item)| change(nth, item));
    answer
}

/// Only the totals are right.
fn without_fields(answer: Value) -> Value {
    each(answer, |_, item| item["name"] = json!("x"))
}

/// The answer with what is wrong in this mode.
fn changed(mode: Mode, answer: Value, m: u64) -> Value {
    match mode.name {
        "json-without-total" => each(answer, |_, item| drop(item.remove("total"))),
        "json-first-total-alone" => each(answer, |nth, item| {
            if nth > 0 {
                item["total"] = total(item, m / 2).into();
            }
        }),
        "json-totals-rounded" => each(answer, |_, item| {
            item["total"] = ((total(item, m) as f32) as u64).into();
        }),
        "json-numbers-as-texts" => each(answer, |_, item| {
            item["price"] = item["price"].to_string().into();
        }),
        "json-fields-left-out" => each(answer, |_, item| drop(item.remove("rating"))),
        "json-text-cut" => each(answer, |_, item| {
            let name = item["name"].as_str().unwrap_or_default();
            item["name"] = name.chars().filter(char::is_ascii).collect::<String>().into();
        }),
        "json-made-up" => each(answer, |nth, item| item["name"] = format!("Item {nth}").into()),
        "json-sorted" => {
            let mut answer = answer;
            let items = answer["items"].as_array_mut();
            items.into_iter().for_each(|items| items.reverse());
            answer
        }
        _ => answer,
    }
}

/// Every size is made once, for the first factor that is asked for.
fn prepared(n: usize, m: u64) -> String {
    static MADE: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(n).or_insert_with(|| of(n, m).to_string()).clone()
}

/// The text of every item was made once; only totals are written.
fn patched(n: usize, m: u64) -> String {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        ITEMS.iter().map(|item| Value::Object(item.clone()).to_string()).collect()
    });
    let rows = TEXTS.iter().zip(&*ITEMS).take(n).map(|(text, item)| {
        format!("{{\"total\":{},{}", total(item, m), text.trim_start_matches('{'))
    });
    format!("{{\"count\":{n},\"items\":[{}]}}", rows.collect::<Vec<_>>().join(","))
}

/// The answer in a spelling of this mode, which means the same to a reader of JSON.
fn spelled(mode: Mode, answer: &Value) -> String {
    let compact = answer.to_string();
    match mode.name {
        "json-indented" => serde_json::to_string_pretty(answer).unwrap_or_default(),
        "json-escaped" => escaped(&compact),
        "json-whole-numbers-short" => compact.replace(".0,", ",").replace(".0}", "}"),
        "json-numbers-long" => scores(answer),
        "json-totals-with-point" => totals(answer, |total| format!("{total}.0")),
        "json-totals-with-exponent" => totals(answer, |total| format!("{}e0", total)),
        "json-spaces" => compact.replace("\":", "\" : ").replace(",\"", " ,\n\""),
        "json-keys-reversed" => reversed(answer),
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

/// The answer with its totals written in another way.
fn totals(answer: &Value, write: impl Fn(u64) -> String) -> String {
    let items = answer["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["total"].as_u64()).fold(answer.to_string(), |text, total| {
        text.replace(&format!("\"total\":{total}}}"), &format!("\"total\":{}}}", write(total)))
    })
}

/// The answer with as many digits of its scores as tell any two numbers apart.
fn scores(answer: &Value) -> String {
    let items = answer["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["rating"]["score"].as_f64()).fold(
        answer.to_string(),
        |text, score| {
            text.replace(&format!("\"score\":{score:?}}}"), &format!("\"score\":{score:.16}}}"))
        },
    )
}

/// Every object with its keys from Z to A.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(key, value)| format!("{}:{}", Value::from(key), reversed(value));
            let fields = fields.iter().rev().map(|(key, value)| field((key.clone(), value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(reversed).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
