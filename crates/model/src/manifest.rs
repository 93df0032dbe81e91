//! `targets/<language>/<name>/target.toml`: how a target is installed, started and stopped.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

use crate::file::{FileError, nearest, read_toml};
use crate::units::parse_duration_ns;

/// A command as an argument array; no shell reads it.
pub type Command = Vec<String>;

/// The manifest of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the file format: 1.
    pub schema: u32,
    /// The name; equals the folder's.
    pub name: String,
    /// The language; equals the folder above.
    pub language: String,
    /// The framework, as its community writes it.
    pub framework: String,
    /// What runs it: `node`, `beam`, `native`.
    pub runtime: String,
    /// Where the framework is documented.
    pub website: Option<String>,
    /// The workloads it serves.
    pub workloads: Vec<String>,
    /// What must be there for the only way to install.
    pub needs: Option<Needs>,
    /// The only way to install.
    pub install: Option<Install>,
    /// Several ways to install, tried in order.
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    /// How it is started.
    pub start: Start,
    /// Label to command; recorded with each run.
    #[serde(default)]
    pub versions: BTreeMap<String, Command>,
    /// The same target started differently.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// Where it differs from what its community's guide says.
    #[serde(default, rename = "deviation")]
    pub deviations: Vec<Deviation>,
}

/// What must be there before an installation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Programs on PATH, with an optional least version: `"node >= 18"`.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Debian packages that give them.
    #[serde(default)]
    pub apt: Vec<String>,
}

/// The steps of an installation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// Commands, run in the target's folder.
    pub steps: Vec<Command>,
}

/// One of several ways to install.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Its name, recorded with the run.
    pub name: String,
    /// What it is, for people.
    pub about: Option<String>,
    /// As in [`Needs`].
    #[serde(default)]
    pub tools: Vec<String>,
    /// As in [`Needs`].
    #[serde(default)]
    pub apt: Vec<String>,
    /// As in [`Install`].
    #[serde(default)]
    pub steps: Vec<Command>,
    /// Environment of the steps, the start and the version commands.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// How a target is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The command.
    pub command: Command,
    /// Environment beside HOST, PORT and the like.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How readiness is found out.
    pub ready: Ready,
    /// The signal that stops it cleanly.
    #[serde(default = "sigterm")]
    pub stop: String,
    /// Whether WORKERS is a number of processes that share the port, each with descriptors of its
    /// own.
    #[serde(default)]
    pub process_per_worker: bool,
}

/// How readiness is found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Asked until it answers with a status below 500.
    pub path: String,
    /// How long at most: `"20s"`.
    pub timeout: String,
}

/// The same target started differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name behind the colon.
    pub name: String,
    /// What is different, for people.
    pub about: Option<String>,
    /// Replaces the command of `[start]`.
    pub command: Option<Command>,
    /// Added to the environment of `[start]`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Replaces the list of workloads.
    pub workloads: Option<Vec<String>>,
    /// Replaces that of `[start]`.
    pub process_per_worker: Option<bool>,
}

/// Where a target differs from what its community's guide says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// What is different.
    pub what: String,
    /// Why.
    pub why: String,
}

fn sigterm() -> String {
    "SIGTERM".into()
}

/// The signals that a manifest may name.
pub const STOP_SIGNALS: [&str; 4] = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"];

/// What may stand in braces in commands and environments.
pub const PLACEHOLDERS: [&str; 9] = [
    "HOST",
    "PORT",
    "WORKERS",
    "DATABASE_URL",
    "DATABASE_POOL",
    "UPSTREAM_URL",
    "DIR",
    "PATH",
    "HOME",
];

impl Manifest {
    /// Reads and checks the manifest in a target's folder, which must lie at `<language>/<name>`.
    ///
    /// # Errors
    /// If the file cannot be used; the message names the place and the fix.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join("target.toml");
        let manifest: Self = read_toml(&path)?;
        let folder_name = |p: Option<&Path>| {
            p.and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or_default().to_string()
        };
        manifest
            .check(&folder_name(folder.parent()), &folder_name(Some(folder)))
            .map_err(|message| FileError::content(&path, message))?;
        Ok(manifest)
    }

    fn check(&self, language: &str, name: &str) -> Result<(), String> {
        if self.schema != 1 {
            return Err(format!("schema {} is not known; this Pippin reads schema 1", self.schema));
        }
        if (self.language.as_str(), self.name.as_str()) != (language, name) {
            return Err(format!(
                "language and name are `{}/{}`, but the folder is `{language}/{name}`",
                self.language, self.name
            ));
        }
        self.check_commands()?;
        if self.workloads.is_empty() {
            return Err("workloads is empty; name at least one that it serves, as \"hello\"".into());
        }
        if !self.routes.is_empty() && (self.needs.is_some() || self.install.is_some()) {
            return Err("[[route]] and [needs]/[install] exclude each other; make [install] the first route".into());
        }
        if parse_duration_ns(&self.start.ready.timeout)
            .map_err(|error| format!("start.ready.timeout: {error}"))?
            == 0
        {
            return Err(
                "start.ready.timeout must be longer than 0; nothing is ready at once".into()
            );
        }
        if !STOP_SIGNALS.contains(&self.start.stop.as_str()) {
            return Err(format!(
                "start.stop: `{}` is not one of {}",
                self.start.stop,
                STOP_SIGNALS.join(", ")
            ));
        }
        self.check_names()?;
        self.texts().try_for_each(|text| check_placeholders(text))
    }

    /// Every command names a program.
    fn check_commands(&self) -> Result<(), String> {
        let empty = |command: &Command| command.first().is_none_or(String::is_empty);
        let named = |place: String, command: &Command| {
            if empty(command) {
                Err(format!("{place} is empty; name the program and its arguments"))
            } else {
                Ok(())
            }
        };
        named("start.command".into(), &self.start.command)?;
        for variant in &self.variants {
            variant.command.iter().try_for_each(|command| {
                named(format!("variant `{}`: command", variant.name), command)
            })?;
        }
        self.versions
            .iter()
            .try_for_each(|(label, command)| named(format!("versions.{label}"), command))?;
        for route in self.ways() {
            let place = if self.routes.is_empty() {
                "install".to_string()
            } else {
                format!("route `{}`", route.name)
            };
            for (index, command) in route.steps.iter().enumerate() {
                named(format!("{place}: step {}", index + 1), command)?;
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), String> {
        let mut seen = Vec::new();
        for variant in &self.variants {
            if seen.contains(&&variant.name) {
                return Err(format!("two variants are called `{}`", variant.name));
            }
            seen.push(&variant.name);
            if variant.workloads.as_ref().is_some_and(Vec::is_empty) {
                return Err(format!(
                    "variant `{}`: workloads is empty; take it out to serve all of the target's",
                    variant.name
                ));
            }
            for workload in variant.workloads.iter().flatten() {
                if !self.workloads.contains(workload) {
                    return Err(format!(
                        "variant `{}` serves `{workload}`, which the target's workloads do not name",
                        variant.name
                    ));
                }
            }
        }
        Ok(())
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let variants =
            self.variants.iter().flat_map(|v| v.command.iter().flatten().chain(v.env.values()));
        let routes =
            self.routes.iter().flat_map(|r| r.steps.iter().flatten().chain(r.env.values()));
        let install = self.install.iter().flat_map(|install| install.steps.iter().flatten());
        self.start
            .command
            .iter()
            .chain(self.start.env.values())
            .chain(variants)
            .chain(routes)
            .chain(install)
            .chain(self.versions.values().flatten())
    }

    /// The ways to install: the routes, or the only way as one unnamed route.
    #[must_use]
    pub fn ways(&self) -> Vec<Route> {
        if !self.routes.is_empty() {
            return self.routes.clone();
        }
        let needs = self.needs.clone().unwrap_or_default();
        let steps = self.install.clone().unwrap_or_default().steps;
        vec![Route {
            name: "default".into(),
            about: None,
            tools: needs.tools,
            apt: needs.apt,
            steps,
            env: BTreeMap::new(),
        }]
    }

    /// The workloads that a variant (or the target itself) serves.
    #[must_use]
    pub fn workloads_of(&self, variant: Option<&str>) -> &[String] {
        self.variant(variant).and_then(|v| v.workloads.as_deref()).unwrap_or(&self.workloads)
    }

    /// Whether a variant (or the target itself) starts WORKERS processes on its port.
    #[must_use]
    pub fn process_per_worker(&self, variant: Option<&str>) -> bool {
        self.variant(variant)
            .and_then(|v| v.process_per_worker)
            .unwrap_or(self.start.process_per_worker)
    }

    /// The variant of this name.
    #[must_use]
    pub fn variant(&self, name: Option<&str>) -> Option<&Variant> {
        self.variants.iter().find(|variant| Some(variant.name.as_str()) == name)
    }
}

fn check_placeholders(text: &str) -> Result<(), String> {
    for part in text.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else { continue };
        let looks_like_one =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        if looks_like_one && !PLACEHOLDERS.contains(&name) {
            let hint = nearest(name, PLACEHOLDERS)
                .map(|near| format!("; did you mean {{{near}}}?"))
                .unwrap_or_default();
            return Err(format!("unknown placeholder {{{name}}} in `{text}`{hint}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_toml;

    const GOOD: &str = r#"
schema = 1
name = "express"
language = "javascript"
framework = "express"
runtime = "node"
workloads = ["hello", "device"]
[needs]
tools = ["node >= 18"]
[install]
steps = [["npm", "ci"]]
[start]
command = ["node", "server.js", "{PORT}"]
ready = { path = "/", timeout = "20s" }
[[variant]]
name = "cluster"
command = ["node", "cluster.js"]
workloads = ["hello"]
"#;

    fn check(text: &str) -> Result<(), String> {
        let manifest: Manifest =
            parse_toml(Path::new("target.toml"), text).map_err(|error| error.to_string())?;
        manifest.check("javascript", "express")
    }

    #[test]
    fn a_manifest_reads_and_a_variant_replaces() {
        let manifest: Manifest = parse_toml(Path::new("t"), GOOD).unwrap();
        assert_eq!(check(GOOD), Ok(()));
        assert_eq!(manifest.workloads_of(Some("cluster")), ["hello"]);
        assert_eq!(manifest.workloads_of(None), ["hello", "device"]);
        assert_eq!(manifest.ways()[0].steps, [["npm", "ci"]]);
        assert_eq!(manifest.start.stop, "SIGTERM");
    }

    #[test]
    fn slips_are_named() {
        let cases = [
            (GOOD.replace("schema = 1", "schema = 2"), "schema 2 is not known"),
            (
                GOOD.replace("name = \"express\"", "name = \"expres\""),
                "but the folder is `javascript/express`",
            ),
            (GOOD.replace("{PORT}", "{PROT}"), "did you mean {PORT}?"),
            (GOOD.replace("\"20s\"", "\"20\""), "start.ready.timeout"),
            (
                GOOD.replace("workloads = [\"hello\"]", "workloads = [\"page\"]"),
                "variant `cluster` serves `page`",
            ),
            (GOOD.replace("runtime", "runtmie"), "did you mean `runtime`?"),
            (format!("{GOOD}\n[[route]]\nname = \"x\"\n"), "exclude each other"),
            (GOOD.replace("\"20s\"", "\"0s\""), "start.ready.timeout must be longer than 0"),
            (
                GOOD.replace("[\"hello\", \"device\"]", "[]"),
                "workloads is empty; name at least one",
            ),
            (
                GOOD.replace("workloads = [\"hello\"]", "workloads = []"),
                "variant `cluster`: workloads is empty",
            ),
            (
                GOOD.replace("[\"node\", \"server.js\", \"{PORT}\"]", "[]"),
                "start.command is empty; name the program",
            ),
            (
                GOOD.replace("[\"node\", \"server.js\", \"{PORT}\"]", "[\"\"]"),
                "start.command is empty; name the program",
            ),
            (
                GOOD.replace("[\"node\", \"cluster.js\"]", "[]"),
                "variant `cluster`: command is empty",
            ),
            (
                GOOD.replace("[[\"npm\", \"ci\"]]", "[[\"npm\", \"ci\"], []]"),
                "install: step 2 is empty",
            ),
            (format!("{GOOD}\n[versions]\nnode = []\n"), "versions.node is empty"),
        ];
        for (text, message) in cases {
            let error = check(&text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
