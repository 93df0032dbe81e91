//! Examples of schemas, parameters and bodies.
use serde_json::{Map, Value};
use std::ptr;

use super::Document;
use super::written::{Parameter, Shape};

/// So many schemas may hold each other.
const DEEPEST: usize = 64;

impl<'a> Document<'a> {
    /// Gives a parameter its value: an example; of a required one also its default, or the first
    /// of its list. An optional one without an example gets none.
    pub(super) fn fill(&self, parameter: &mut Parameter<'a>) -> Result<(), String> {
        let given = match parameter.content() {
            Some(media) => {
                parameter.shape = Shape::Text;
                self.of_media(media).map(|value| Value::String(value.to_string()))
            }
            None => self.given(parameter.definition).cloned().or_else(|| {
                let schema = self.resolved(parameter.definition.get("schema")?).ok()?;
                self.given(schema)
                    .cloned()
                    .or_else(|| parameter.is_required.then(|| self.of_schema(schema)).flatten())
            }),
        };
        match given {
            Some(value) => parameter.value = value,
            None if parameter.is_required => {
                return Err(format!(
                    "operations without an example of their parameter `{}`",
                    parameter.name
                ));
            }
            None => {}
        }
        Ok(())
    }

    /// The example of a media type, or one that its schema makes.
    pub(super) fn of_media(&self, media: &'a Value) -> Option<Value> {
        self.given(media).cloned().or_else(|| self.of_schema(media.get("schema")?))
    }

    /// The example that stands beside other keys: `example`, or the first of `examples`.
    fn given(&self, holder: &'a Value) -> Option<&'a Value> {
        if let Some(example) = holder.get("example") {
            return Some(example);
        }
        match holder.get("examples")? {
            Value::Array(all) => all.first(),
            Value::Object(all) => {
                all.values().find_map(|one| self.resolved(one).ok()?.get("value"))
            }
            _ => None,
        }
    }

    /// A value of a schema: its example, default or first possible value, or made of the examples of
    /// its parts. `None` if a part that it needs has none.
    fn of_schema(&self, schema: &'a Value) -> Option<Value> {
        let schema = self.resolved(schema).ok()?;
        let is_under_way = {
            let under_way = self.under_way.borrow();
            under_way.len() >= DEEPEST || under_way.contains(&ptr::from_ref(schema))
        };
        if is_under_way {
            return None;
        }
        self.under_way.borrow_mut().push(schema);
        let made = self.made_of(schema);
        self.under_way.borrow_mut().pop();
        self.left.set(self.left.get().checked_sub(1 + size(made.as_ref()?) / 1_000)?);
        made
    }

    /// As [`Self::of_schema`], of a schema that is no reference.
    fn made_of(&self, schema: &'a Value) -> Option<Value> {
        self.left.set(self.left.get().checked_sub(1)?);
        let first = |key: &str| schema.get(key)?.as_array()?.first();
        let known = self.given(schema).or_else(|| schema.get("default"));
        let known = known.or_else(|| schema.get("const")).or_else(|| first("enum"));
        if let Some(known) = known {
            return Some(known.clone());
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.of_all(schema, parts);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(ways) = schema.get(key).and_then(Value::as_array) {
                return ways.iter().find_map(|way| self.of_schema(way));
            }
        }
        match schema.get("items") {
            Some(items) => Some(Value::Array(vec![self.of_schema(items)?])),
            None => self.of_properties(schema).map(Value::Object),
        }
    }

    /// An object of all of these schemas, and of the properties beside them.
    fn of_all(&self, schema: &'a Value, parts: &'a [Value]) -> Option<Value> {
        let mut whole = Map::new();
        for part in parts {
            match self.of_schema(part)? {
                Value::Object(part) => whole.extend(part),
                // One part says what it is, and the others only describe it.
                other => return Some(other),
            }
        }
        if schema.get("properties").is_some() {
            whole.extend(self.of_properties(schema)?);
        }
        Some(Value::Object(whole))
    }

    fn of_properties(&self, schema: &'a Value) -> Option<Map<String, Value>> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let mut made = Map::new();
        for (name, property) in schema.get("properties")?.as_object()? {
            // The server alone sets it.
            if property.get("readOnly") == Some(&Value::Bool(true)) {
                continue;
            }
            match self.of_schema(property) {
                Some(value) => _ = made.insert(name.clone(), value),
                None if is_required(name) => return None,
                None => {}
            }
        }
        (!made.is_empty()).then_some(made)
    }
}

/// The bytes of all texts of a value, and one for each of its parts.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(object) => {
            1 + object.iter().map(|(key, value)| key.len() + size(value)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
