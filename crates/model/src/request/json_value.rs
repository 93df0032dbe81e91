//! A value that the JSON of a right body has: `/data/id=7`.
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::scenario::find::Answer;

/// A value that a right body has at a place. Both are compared as text, as in the steps of a scenario:
/// a text without its quotes, a number as it is written, a list or an object without spaces and with
/// its keys sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JsonValue {
    /// The place: a pointer of RFC 6901. The empty pointer is the whole body.
    pub pointer: String,
    /// The value; `None` if there must be a null, or nothing.
    pub is: Option<String>,
}

/// The longest text of a value that a message shows, in characters.
const SHOWN: usize = 60;

impl JsonValue {
    /// Reads `/data/id=7`. A value that is JSON is meant as JSON, so that `null` is no text; anything
    /// else is a text.
    ///
    /// # Errors
    /// If there is no `=`, or what is before it is not a pointer.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (pointer, value) = text.split_once('=').ok_or_else(|| {
            format!("`{text}` has no `=`: write a pointer and a value, as /data/id=7")
        })?;
        check_pointer(pointer)?;
        let is = if serde_json::from_str::<serde::de::IgnoredAny>(value).is_ok() {
            Answer::new(b"", value.as_bytes()).at("")
        } else {
            Some(value.into())
        };
        Ok(Self { pointer: pointer.into(), is })
    }

    /// From a value of a file.
    ///
    /// # Errors
    /// If the place is not a pointer.
    pub fn new(pointer: &str, value: &serde_json::Value) -> Result<Self, String> {
        check_pointer(pointer)?;
        let is = match value {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Ok(Self { pointer: pointer.into(), is })
    }

    /// What is wrong with the answer; `None` if it has this value. What is no JSON is wrong.
    #[must_use]
    pub fn fault(&self, answer: &Answer<'_>) -> Option<String> {
        if !answer.is_json() {
            return Some(format!("{}, and the body is not JSON", self.wanted()));
        }
        let found = answer.at(&self.pointer);
        if found == self.is {
            return None;
        }
        Some(match found {
            None => format!("{}, and is not there", self.wanted()),
            Some(found) => format!("{}, and is `{}`", self.wanted(), excerpt(&found)),
        })
    }

    fn wanted(&self) -> String {
        let place = if self.pointer.is_empty() { "the body" } else { &self.pointer };
        match &self.is {
            None => format!("{place} must be null or absent"),
            Some(is) => format!("{place} must be `{}`", excerpt(is)),
        }
    }
}

impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pointer, self.is.as_deref().unwrap_or("null"))
    }
}

fn excerpt(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{more}", shown.escape_debug())
}

/// RFC 6901 section 3: empty, or each part begins with `/`, and `~` stands only in `~0` and `~1`.
fn check_pointer(pointer: &str) -> Result<(), String> {
    let fix = "write a pointer of RFC 6901, as /data/id or /items/0/id";
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(format!("`{pointer}` does not begin with `/`: {fix}"));
    }
    let is_escape = |rest: &str| rest.starts_with(['0', '1']);
    if pointer.split('~').skip(1).all(is_escape) {
        return Ok(());
    }
    Err(format!("`{pointer}` has a `~` that is neither ~0 (for ~) nor ~1 (for /): {fix}"))
}

/// Values of a file, as a table: `{ "/data/id" = 7 }`.
pub mod table {
    use super::JsonValue;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::collections::BTreeMap;

    /// Writes them as a table of texts and nulls.
    ///
    /// # Errors
    /// If the format cannot hold them.
    pub fn serialize<S: Serializer>(all: &[JsonValue], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(all.iter().map(|one| (&one.pointer, &one.is)))
    }

    /// Reads a table of pointers and values.
    ///
    /// # Errors
    /// If a key is not a pointer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<JsonValue>, D::Error> {
        let all = BTreeMap::<String, serde_json::Value>::deserialize(from)?;
        let one = |(pointer, value): (String, serde_json::Value)| {
            JsonValue::new(&pointer, &value).map_err(D::Error::custom)
        };
        all.into_iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"data": {"id": 7, "price": 1.10, "name": "Ana", "a/b": "x=y", "~": 1},
        "errors": null, "list": [1, {"b": 2, "a": 1}], "ok": true, "word": "null"}"#;

    fn fault(written: &str, body: &str) -> Option<String> {
        JsonValue::parse(written).unwrap().fault(&Answer::new(b"", body.as_bytes()))
    }

    #[test]
    fn values_are_found_by_their_pointer_and_compared_as_text() {
        for right in [
            "/data/id=7",
            "/data/id=\"7\"",
            "/data/price=1.10",
            "/data/name=Ana",
            "/data/name=\"Ana\"",
            "/data/a~1b=x=y",
            "/data/~0=1",
            "/errors=null",
            "/none/at/all=null",
            "/list/0=1",
            "/list=[ 1, {\"a\": 1, \"b\": 2} ]",
            "/ok=true",
            "/word=\"null\"",
        ] {
            assert_eq!(fault(right, BODY), None, "{right}");
        }
        assert_eq!(fault("=ok", "\"ok\""), None);
    }

    #[test]
    fn what_is_wrong_names_place_and_value() {
        for (wrong, body, said) in [
            ("/data/id=8", BODY, "/data/id must be `8`, and is `7`"),
            ("/data/price=1.1", BODY, "/data/price must be `1.1`, and is `1.10`"),
            ("/data/no=8", BODY, "/data/no must be `8`, and is not there"),
            ("/word=null", BODY, "/word must be null or absent, and is `null`"),
            (
                "/errors=null",
                r#"{"errors":["no"]}"#,
                "must be null or absent, and is `[\\\"no\\\"]`",
            ),
            ("/errors=null", "<html>", "must be null or absent, and the body is not JSON"),
            ("/errors=null", "", "the body is not JSON"),
            ("/a=1", r#"{"a":1} x"#, "the body is not JSON"),
            ("=ok", "\"no\"", "the body must be `ok`, and is `no`"),
        ] {
            let found = fault(wrong, body).unwrap();
            assert!(found.contains(said), "{wrong}: {found}");
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(500));
        assert!(fault("/a=b", &long).unwrap().len() < 120);
    }

    #[test]
    fn what_is_no_pointer_is_refused_with_the_fix() {
        for (written, said) in [
            ("/data/id", "has no `=`"),
            ("data.id=7", "does not begin with `/`"),
            ("$.data.id=7", "as /data/id"),
            ("/a~2=1", "neither ~0"),
            ("/a~=1", "neither ~0"),
        ] {
            let why = JsonValue::parse(written).unwrap_err();
            assert!(why.contains(said), "{written}: {why}");
        }
    }
}
