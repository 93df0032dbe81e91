//! `{{name}}` in the texts of a collection.
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;

use super::{Stop, is_on};

/// So many variables are filled in for one text, those within others included.
const MOST_FILLED: u32 = 1_000;
/// So many bytes a filled text may have.
const MOST_BYTES: usize = 16 << 20;

/// The values of variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    of_collection: BTreeMap<String, String>,
    /// The user's, which come first.
    given: BTreeMap<String, String>,
}

impl Variables {
    pub fn new(given: &BTreeMap<String, String>) -> Self {
        Self { given: given.clone(), ..Self::default() }
    }

    /// Adds those of a list: they replace others of the same name.
    pub fn add(&mut self, list: Option<&Value>) {
        for entry in list.and_then(Value::as_array).into_iter().flatten().filter(is_on) {
            let name = entry.get("key").or_else(|| entry.get("id")).and_then(Value::as_str);
            if let (Some(name), Some(value)) = (name, text(entry.get("value"))) {
                self.of_collection.insert(name.into(), value);
            }
        }
    }

    /// A text with the values of its variables. Values may have variables in turn.
    pub fn fill(&self, text: &str) -> Result<String, Stop> {
        let left = Cell::new(MOST_FILLED);
        let mut out = String::new();
        self.put(text, &mut Vec::new(), &left, &mut out)?;
        Ok(out)
    }

    fn put<'a>(
        &'a self,
        text: &'a str,
        within: &mut Vec<&'a str>,
        left: &Cell<u32>,
        out: &mut String,
    ) -> Result<(), Stop> {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, after)) = behind.split_once("}}") else { break };
            let name = name.trim();
            out.push_str(before);
            let value = self.given.get(name).or_else(|| self.of_collection.get(name));
            let value = value.ok_or_else(|| Stop::Unknown(name.into()))?;
            let is_over = left.get() == 0 || out.len() > MOST_BYTES || within.contains(&name);
            if is_over {
                return Err(Stop::Endless(name.into()));
            }
            left.set(left.get() - 1);
            within.push(name);
            self.put(value, within, left, out)?;
            within.pop();
            rest = after;
        }
        out.push_str(rest);
        Ok(())
    }
}

/// A value as text; `None` if there is none, or it is a list.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
