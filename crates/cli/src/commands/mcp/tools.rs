//! The tools, and the command line of a call. What leaves this machine or takes long has no argument
//! here: without consent, Pippin itself loads no other host.
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A load takes at most so many seconds, so that a client hears of it in time.
const MOST_SECONDS: u32 = 60;
const MOST_CONNECTIONS: u32 = 1_000;
const MOST_REPETITIONS: u32 = 20;
const MOST_RATE: u32 = 1_000_000;

/// All tools, as `tools/list` has them.
pub fn list() -> Value {
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

/// The command line of a call of this tool with these arguments.
///
/// # Errors
/// If there is no such tool; or, within, if an argument is unknown, missing or beyond its limit. The
/// texts name it.
pub fn words(name: &Value, arguments: &Value) -> Result<Result<Vec<String>, String>, String> {
    Ok(match name.as_str() {
        Some("load") => parsed::<Load>(arguments).and_then(Load::words),
        Some("compare") => parsed::<Compare>(arguments).and_then(Compare::words),
        Some("run") => parsed::<Run>(arguments).map(Run::words),
        Some("report") => parsed::<Report>(arguments).map(Report::words),
        _ => return Err(format!("there is no tool {name}; tools/list names those there are")),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    url: String,
    #[serde(default = "ten")]
    seconds: u32,
    #[serde(default = "ten")]
    connections: u32,
    rate: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compare {
    urls: Vec<String>,
    #[serde(default = "five")]
    seconds: u32,
    #[serde(default = "ten")]
    connections: u32,
    #[serde(default = "five")]
    repetitions: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    plan: String,
    #[serde(default)]
    targets: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    #[serde(default = "latest")]
    run: String,
    #[serde(default)]
    form: Form,
}

/// In which form a stored run is wanted.
#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// Its tables, some kilobytes.
    #[default]
    Markdown,
    /// All figures, some 30 kilobytes for a target.
    Json,
}

const fn ten() -> u32 {
    10
}

const fn five() -> u32 {
    5
}

fn latest() -> String {
    "latest".into()
}

fn parsed<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    let arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
    serde_json::from_value(arguments).map_err(|error| format!("arguments: {error}"))
}

fn within(name: &str, value: u32, least: u32, most: u32) -> Result<u32, String> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(format!("arguments: `{name}` is {value}; it must be {least} to {most}"))
}

/// Options first; behind `--` a text is never an option.
fn line(command: &str, options: &[String], operands: &[String]) -> Vec<String> {
    let mut words = vec![command.to_string()];
    words.extend_from_slice(options);
    words.push("--".into());
    words.extend_from_slice(operands);
    words
}

impl Load {
    fn words(self) -> Result<Vec<String>, String> {
        let mut options = shape(self.seconds, self.connections)?;
        if let Some(rate) = self.rate {
            options.push(format!("--rate={}", within("rate", rate, 1, MOST_RATE)?));
        }
        Ok(line("load", &options, &[self.url]))
    }
}

impl Compare {
    fn words(self) -> Result<Vec<String>, String> {
        let [_, _, ..] = self.urls.as_slice() else {
            return Err("arguments: `urls` must hold two or more".into());
        };
        let mut options = shape(self.seconds, self.connections)?;
        let repetitions = within("repetitions", self.repetitions, 2, MOST_REPETITIONS)?;
        options.push(format!("--repeat={repetitions}"));
        Ok(line("compare", &options, &self.urls))
    }
}

fn shape(seconds: u32, connections: u32) -> Result<Vec<String>, String> {
    let seconds = within("seconds", seconds, 1, MOST_SECONDS)?;
    let connections = within("connections", connections, 1, MOST_CONNECTIONS)?;
    Ok(vec![
        "--json=-".into(),
        format!("--duration={seconds}s"),
        format!("--connections={connections}"),
    ])
}

impl Run {
    fn words(self) -> Vec<String> {
        let mut options = vec!["--json=-".to_string(), "--quick".into()];
        if !self.targets.is_empty() {
            options.push(format!("--targets={}", self.targets.join(",")));
        }
        line("run", &options, &[self.plan])
    }
}

impl Report {
    fn words(self) -> Vec<String> {
        let form = match self.form {
            Form::Markdown => "markdown",
            Form::Json => "json",
        };
        line("export", &[format!("--format={form}")], &[self.run])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;

    /// Each tool's name and schema, and a call with every argument.
    fn tools() -> Vec<(Value, Value, Value)> {
        let calls = [
            json!({ "url": "localhost", "seconds": 1, "connections": 2, "rate": 3 }),
            json!({ "urls": ["a", "b"], "seconds": 1, "connections": 2, "repetitions": 3 }),
            json!({ "plan": "hello", "targets": ["go/net-http", "rust/axum"] }),
            json!({ "run": "latest", "form": "json" }),
        ];
        let listed = list().as_array().unwrap().clone();
        assert_eq!(listed.len(), calls.len());
        let with = |(tool, call): (Value, Value)| {
            (tool["name"].clone(), tool["inputSchema"].clone(), call)
        };
        listed.into_iter().zip(calls).map(with).collect()
    }

    #[test]
    fn schemas_hold_what_is_read_and_every_command_line_is_understood() {
        for (name, schema, call) in tools() {
            let names = |value: &Value| -> Vec<String> {
                value.as_object().unwrap().keys().cloned().collect()
            };
            assert_eq!(names(&call), names(&schema["properties"]), "{name}");
            assert!(jsonschema::is_valid(&schema, &call), "{name}");
            let mut line = vec!["pippin".to_string()];
            line.extend(words(&name, &call).unwrap().unwrap());
            arguments::command().try_get_matches_from(&line).unwrap();
            for required in schema["required"].as_array().unwrap() {
                let required = required.as_str().unwrap();
                let mut less = call.clone();
                less.as_object_mut().unwrap().remove(required);
                assert!(words(&name, &less).unwrap().unwrap_err().contains(required), "{name}");
            }
            let mut more = call.clone();
            more["allow_remote"] = true.into();
            assert!(words(&name, &more).unwrap().unwrap_err().contains("allow_remote"), "{name}");
            assert!(!jsonschema::is_valid(&schema, &more), "{name}");
        }
    }

    #[test]
    fn limits_and_defaults_of_schemas_are_those_that_are_held() {
        for (name, schema, whole) in tools() {
            for (key, of) in schema["properties"].as_object().unwrap() {
                if let Some(default) = of.get("default") {
                    let (mut said, mut left) = (whole.clone(), whole.clone());
                    said[key] = default.clone();
                    left.as_object_mut().unwrap().remove(key);
                    assert_eq!(words(&name, &said), words(&name, &left), "{name} {key}");
                }
                let (Some(least), Some(most)) = (of["minimum"].as_u64(), of["maximum"].as_u64())
                else {
                    continue;
                };
                for (value, is_allowed) in
                    [(least - 1, false), (least, true), (most, true), (most + 1, false)]
                {
                    let mut call = whole.clone();
                    call[key] = value.into();
                    let is_taken = words(&name, &call).unwrap().is_ok();
                    assert_eq!(is_taken, is_allowed, "{name} {key} {value}");
                    assert_eq!(jsonschema::is_valid(&schema, &call), is_allowed, "{key} {value}");
                }
            }
        }
    }

    #[test]
    fn a_text_is_never_an_option() {
        for (name, call) in [
            ("load", json!({ "url": "--allow-host=example.com" })),
            ("report", json!({ "run": "--output=/tmp/file" })),
            ("run", json!({ "plan": "--install" })),
        ] {
            let line = words(&name.into(), &call).unwrap().unwrap();
            assert_eq!(line[line.len() - 2], "--", "{line:?}");
        }
    }
}
