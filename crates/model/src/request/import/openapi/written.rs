//! Parameters as they stand in paths, queries and headers (OpenAPI 3.1, Style Values).
use serde_json::Value;

use crate::workload::percent_encode;

/// How a value of several parts is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `form` and `simple`: parts between commas, or each by itself if it is `exploded`.
    Plain { exploded: bool },
    /// `deepObject`: `name[key]=value`.
    Deep,
    /// Parts between this text.
    Joined(&'static str),
    /// A text that may hold anything.
    Text,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'a> {
    pub name: &'a str,
    /// `path`, `query`, `header` or `cookie`.
    pub place: &'a str,
    pub definition: &'a Value,
    pub is_required: bool,
    pub shape: Shape,
    /// Its value; null until there is one.
    pub value: Value,
}

impl<'a> Parameter<'a> {
    pub fn read(definition: &'a Value) -> Result<Self, String> {
        let text = |key: &str| definition.get(key).and_then(Value::as_str);
        let (Some(name), Some(place)) = (text("name"), text("in")) else {
            return Err("operations with a parameter that has no name or place".into());
        };
        let usual = if ["query", "cookie"].contains(&place) { "form" } else { "simple" };
        let style = text("style").unwrap_or(usual);
        let exploded =
            definition.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
        let shape = match style {
            "form" | "simple" => Shape::Plain { exploded },
            "deepObject" => Shape::Deep,
            "spaceDelimited" => Shape::Joined("%20"),
            "pipeDelimited" => Shape::Joined("|"),
            other => return Err(format!("operations with parameters of the style `{other}`")),
        };
        let is_required = definition.get("required").and_then(Value::as_bool).unwrap_or(false);
        let is_required = is_required || place == "path";
        Ok(Self { name, place, definition, is_required, shape, value: Value::Null })
    }

    /// The only media type of a parameter that is written as such.
    pub fn content(&self) -> Option<&'a Value> {
        self.definition.get("content")?.as_object()?.values().next()
    }

    /// In a path: percent-encoded.
    pub fn in_path(&self) -> Result<String, String> {
        match &self.value {
            Value::Object(object) if self.shape == (Shape::Plain { exploded: true }) => {
                let each = object.iter().map(|(key, value)| {
                    Ok(format!("{}={}", percent_encode(key), self.encoded(value)?))
                });
                Ok(each.collect::<Result<Vec<_>, String>>()?.join(","))
            }
            _ => self.joined(","),
        }
    }

    /// In a query: `name=value`, once or several times.
    pub fn in_query(&self) -> Result<Vec<String>, String> {
        let name = percent_encode(self.name);
        let of_object = |named: &dyn Fn(&str) -> String| -> Result<Vec<String>, String> {
            let object = self.value.as_object().into_iter().flatten();
            object
                .map(|(key, value)| Ok(format!("{}={}", named(key), self.encoded(value)?)))
                .collect()
        };
        match (&self.value, self.shape) {
            (Value::Array(items), Shape::Plain { exploded: true } | Shape::Deep) => {
                items.iter().map(|item| Ok(format!("{name}={}", self.encoded(item)?))).collect()
            }
            (Value::Object(_), Shape::Plain { exploded: true }) => {
                of_object(&|key| percent_encode(key))
            }
            (Value::Object(_), Shape::Deep) => {
                of_object(&|key| format!("{name}[{}]", percent_encode(key)))
            }
            (_, Shape::Joined(between)) => Ok(vec![format!("{name}={}", self.joined(between)?)]),
            _ => Ok(vec![format!("{name}={}", self.joined(",")?)]),
        }
    }

    /// In a header or a cookie: as it is.
    pub fn in_header(&self) -> Result<String, String> {
        let each = self.parts()?;
        Ok(each.join(","))
    }

    fn joined(&self, between: &str) -> Result<String, String> {
        let parts = self.parts()?;
        Ok(parts.iter().map(|part| percent_encode(part)).collect::<Vec<_>>().join(between))
    }

    /// The parts of its value: items, or keys and values in turn.
    fn parts(&self) -> Result<Vec<String>, String> {
        match &self.value {
            Value::Array(items) => items.iter().map(|item| self.text(item)).collect(),
            Value::Object(object) => {
                let each = object.iter().map(|(key, value)| Ok([key.clone(), self.text(value)?]));
                Ok(each.collect::<Result<Vec<_>, String>>()?.concat())
            }
            other => Ok(vec![self.text(other)?]),
        }
    }

    fn encoded(&self, value: &Value) -> Result<String, String> {
        self.text(value).map(|text| percent_encode(&text))
    }

    fn text(&self, value: &Value) -> Result<String, String> {
        scalar(value).ok_or_else(|| {
            format!("operations whose parameter `{}` has lists within lists", self.name)
        })
    }
}

/// A text, a number, a truth value as text; `None` for lists and objects.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
