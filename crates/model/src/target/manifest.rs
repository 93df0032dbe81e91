//! `targets/<language>/<name>/target.toml`: how a target is installed, started and stopped.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::load::spoken::Spoken;
use crate::text::file::{FileError, Wrong, nearest, read_with_text};
use crate::text::units::parse_duration_ns;

/// A command as a list of arguments. No shell is involved.
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
    /// The framework, spelled as its community does.
    pub framework: String,
    /// The runtime: `node`, `beam`, `native`.
    pub runtime: String,
    /// Where the framework is documented.
    pub website: Option<String>,
    /// The workloads it serves.
    pub workloads: Vec<String>,
    /// What the only way to install needs.
    pub needs: Option<Needs>,
    /// The only way to install.
    pub install: Option<Install>,
    /// Several ways to install, tried in order.
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    /// How it is started.
    pub start: Start,
    /// Labels and the commands that print versions; recorded with each run.
    #[serde(default)]
    pub versions: BTreeMap<String, Command>,
    /// Other ways to start this target.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// Where it differs from its community's guide.
    #[serde(default, rename = "deviation")]
    pub deviations: Vec<Deviation>,
}

/// What an installation needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Programs on PATH, with an optional least version: `"node >= 18"`.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Debian packages that provide them.
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
    /// Environment variables besides HOST, PORT and so on.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The folder in which it runs, relative to the target's; `None` for the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// How to find out that it is ready.
    pub ready: Ready,
    /// The signal that stops it cleanly.
    #[serde(default = "sigterm")]
    pub stop: String,
    /// Whether WORKERS is a number of processes that share the port, each with its own descriptors.
    #[serde(default)]
    pub process_per_worker: bool,
    /// The protocol; `None` leaves it to the plan, which uses HTTP/1.1 by default. For TLS, its
    /// certificate is at `{TLS_CERTIFICATE}` and `{TLS_KEY}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Spoken>,
    /// Whether it listens on the unix socket `{SOCKET}` instead of a port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unix_socket: bool,
}

/// How to find out that it is ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The path to request until it answers.
    pub path: String,
    /// The status of the answer that is waited for; `None` for any below 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The longest time: `"20s"`.
    pub timeout: String,
}

impl Ready {
    /// Whether an answer with this status shows that the target is ready.
    #[must_use]
    pub fn is_shown_by(&self, status: u16) -> bool {
        self.status.map_or(status < 500, |wanted| status == wanted)
    }

    /// The longest time until then; 20 s if it cannot be read.
    #[must_use]
    pub fn limit(&self) -> Duration {
        parse_duration_ns(&self.timeout).map_or(Duration::from_secs(20), Duration::from_nanos)
    }
}

/// Other ways to start this target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name after the colon.
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
    /// Replaces that of `[start]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Spoken>,
    /// Replaces that of `[start]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<bool>,
}

/// A difference from the guide of a target's community.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// What is different.
    pub what: String,
    /// Why.
    pub why: String,
    /// The caveat that follows from it (`server_closes`). It becomes a note instead of SUSPECT.
    #[serde(default)]
    pub caveat: Option<String>,
}

fn sigterm() -> String {
    "SIGTERM".into()
}

/// The signals that a manifest may name.
pub const STOP_SIGNALS: [&str; 4] = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"];

/// The names that may be in braces in commands and environments.
pub const PLACEHOLDERS: [&str; 15] = [
    "HOST",
    "PORT",
    "WORKERS",
    "DATABASE_URL",
    "DATABASE_POOL",
    REDIS_URL,
    "UPSTREAM_URL",
    "ITEMS_FILE",
    "STATIC_FOLDER",
    "TLS_CERTIFICATE",
    "TLS_KEY",
    "DIR",
    "PIPPIN_REVISION",
    "PATH",
    "HOME",
];

impl Manifest {
    /// Reads and checks the manifest in a target's folder, which must be `<language>/<name>`.
    ///
    /// # Errors
    /// If the file cannot be used. The message names the place and the fix.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join("target.toml");
        let (manifest, text): (Self, String) = read_with_text(&path)?;
        let folder_name = |p: Option<&Path>| {
            p.and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or_default().to_string()
        };
        manifest
            .check(&folder_name(folder.parent()), &folder_name(Some(folder)))
            .map_err(|wrong| wrong.in_file(&path, &text))?;
        Ok(manifest)
    }

    fn check(&self, language: &str, name: &str) -> Result<(), Wrong> {
        if self.schema != 1 {
            return Err(Wrong::at(
                "schema",
                format!("schema {} is not known; this Pippin reads schema 1", self.schema),
            ));
        }
        if (self.language.as_str(), self.name.as_str()) != (language, name) {
            return Err(Wrong::at(
                if self.language == language { "name" } else { "language" },
                format!(
                    "language and name are `{}/{}`, but the folder is `{language}/{name}`",
                    self.language, self.name
                ),
            ));
        }
        if self.workloads.is_empty() {
            return Err(Wrong::at(
                "workloads",
                "workloads is empty; name at least one that it serves, as \"hello\"",
            ));
        }
        if !self.routes.is_empty() && (self.needs.is_some() || self.install.is_some()) {
            return Err(Wrong::at(
                if self.needs.is_some() { "needs" } else { "install" },
                "[[route]] and [needs]/[install] exclude each other; make [install] the first route",
            ));
        }
        self.check_needs()?;
        self.check_names()?;
        self.check_parts(&[])
    }

    /// Checks commands, start and texts. Targets of a project file have these too, with these
    /// placeholders for their services.
    pub(crate) fn check_parts(&self, of_services: &[String]) -> Result<(), Wrong> {
        self.check_commands()?;
        self.check_start()?;
        self.check_texts(of_services)
    }

    fn check_start(&self) -> Result<(), Wrong> {
        let at = "start.ready.timeout";
        let timeout = parse_duration_ns(&self.start.ready.timeout)
            .map_err(|error| Wrong::at(at, format!("{at}: {error}")))?;
        if timeout == 0 {
            return Err(Wrong::at(
                at,
                "start.ready.timeout must be longer than 0; nothing is ready at once",
            ));
        }
        if let Some(status) = self.start.ready.status.filter(|it| !(200..=599).contains(it)) {
            return Err(Wrong::at(
                "start.ready.status",
                format!("start.ready.status: {status} is no status of an answer; write 200 to 599"),
            ));
        }
        check_signal("start.stop", &self.start.stop)
    }

    /// Every command names a program.
    fn check_commands(&self) -> Result<(), Wrong> {
        let named = |at: String, place: &str, command: &Command| {
            if command.first().is_none_or(String::is_empty) {
                Err(Wrong::at(at, format!("{place} is empty; name the program and its arguments")))
            } else {
                Ok(())
            }
        };
        named("start.command".into(), "start.command", &self.start.command)?;
        for (index, variant) in self.variants.iter().enumerate() {
            let place = format!("variant `{}`: command", variant.name);
            variant.command.iter().try_for_each(|command| {
                named(format!("variant[{index}].command"), &place, command)
            })?;
        }
        for (label, command) in &self.versions {
            let place = format!("versions.{label}");
            named(place.clone(), &place, command)?;
        }
        for (at, place, route) in self.placed_ways() {
            for (index, command) in route.steps.iter().enumerate() {
                let at = format!("{}.steps[{index}]", at.replace("needs", "install"));
                named(at, &format!("{place}: step {}", index + 1), command)?;
            }
        }
        Ok(())
    }

    /// The ways to install, each with the keys of its needs and its name for people.
    fn placed_ways(&self) -> Vec<(String, String, Route)> {
        let place = |(index, route): (usize, Route)| {
            if self.routes.is_empty() {
                ("needs".to_string(), "install".to_string(), route)
            } else {
                (format!("route[{index}]"), format!("route `{}`", route.name), route)
            }
        };
        self.ways().into_iter().enumerate().map(place).collect()
    }

    /// Checks the names of tools and packages. They are passed to other programs, so they must not
    /// have another meaning there.
    fn check_needs(&self) -> Result<(), Wrong> {
        for (at, place, route) in self.placed_ways() {
            for (index, tool) in route.tools.iter().enumerate() {
                if !is_tool(tool) {
                    return Err(Wrong::at(
                        format!("{at}.tools[{index}]"),
                        format!(
                            "{place}: tools: {tool:?} is not a need; write `NAME` or `NAME >= 1.2`"
                        ),
                    ));
                }
            }
            for (index, package) in route.apt.iter().enumerate() {
                if !is_package(package) {
                    return Err(Wrong::at(
                        format!("{at}.apt[{index}]"),
                        format!(
                            "{place}: apt: {package:?} is not the name of a Debian package (lower-case letters, digits, `+`, `-`, `.`)"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), Wrong> {
        let mut seen = Vec::new();
        for (index, variant) in self.variants.iter().enumerate() {
            let at = format!("variant[{index}]");
            if seen.contains(&&variant.name) {
                return Err(Wrong::at(
                    format!("{at}.name"),
                    format!("two variants are called `{}`", variant.name),
                ));
            }
            seen.push(&variant.name);
            let at = format!("{at}.workloads");
            if variant.workloads.as_ref().is_some_and(Vec::is_empty) {
                return Err(Wrong::at(
                    at,
                    format!(
                        "variant `{}`: workloads is empty; take it out to serve all of the target's",
                        variant.name
                    ),
                ));
            }
            for workload in variant.workloads.iter().flatten() {
                if !self.workloads.contains(workload) {
                    return Err(Wrong::at(
                        at,
                        format!(
                            "variant `{}` serves `{workload}`, which the target's workloads do not name",
                            variant.name
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks that placeholders are known and that no text contains what programs cannot take.
    fn check_texts(&self, of_services: &[String]) -> Result<(), Wrong> {
        for (at, text) in self.texts() {
            check_placeholders(text, of_services)
                .map_err(|message| Wrong::at(at.clone(), message))?;
            if text.contains('\0') {
                return Err(Wrong::at(
                    at,
                    format!(
                        "{text:?} contains a NUL character, which cannot be passed to a program"
                    ),
                ));
            }
        }
        for (at, name) in self.variables() {
            if name.is_empty() || name.contains(['\0', '=']) {
                return Err(Wrong::at(at, format!("{name:?} is not the name of a variable")));
            }
        }
        Ok(())
    }

    /// The names of all variables, with their keys.
    fn variables(&self) -> Vec<(String, &String)> {
        let start = self.start.env.keys().map(|name| ("start.env".to_string(), name));
        let variants = self.variants.iter().enumerate().flat_map(|(index, variant)| {
            variant.env.keys().map(move |name| (format!("variant[{index}].env"), name))
        });
        let routes = self.routes.iter().enumerate().flat_map(|(index, route)| {
            route.env.keys().map(move |name| (format!("route[{index}].env"), name))
        });
        start.chain(variants).chain(routes).collect()
    }

    /// All texts that are passed to programs, with their keys.
    fn texts(&self) -> Vec<(String, &String)> {
        fn words<'a>(
            at: String,
            words: impl IntoIterator<Item = &'a String>,
        ) -> impl Iterator<Item = (String, &'a String)> {
            words.into_iter().map(move |word| (at.clone(), word))
        }
        fn env<'a>(
            at: &str,
            env: &'a BTreeMap<String, String>,
        ) -> impl Iterator<Item = (String, &'a String)> {
            env.iter().map(move |(name, value)| (format!("{at}.{name}"), value))
        }
        let mut all: Vec<(String, &String)> =
            words("start.command".into(), &self.start.command).collect();
        all.extend(env("start.env", &self.start.env));
        for (index, variant) in self.variants.iter().enumerate() {
            let at = format!("variant[{index}]");
            all.extend(words(format!("{at}.command"), variant.command.iter().flatten()));
            all.extend(env(&format!("{at}.env"), &variant.env));
        }
        for (index, route) in self.routes.iter().enumerate() {
            let at = format!("route[{index}]");
            all.extend(words(format!("{at}.steps"), route.steps.iter().flatten()));
            all.extend(env(&format!("{at}.env"), &route.env));
        }
        if let Some(install) = &self.install {
            all.extend(words("install.steps".into(), install.steps.iter().flatten()));
        }
        for (label, command) in &self.versions {
            all.extend(words(format!("versions.{label}"), command));
        }
        all
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

    /// The protocol of a variant (or of the target itself), if it names one.
    #[must_use]
    pub fn spoken(&self, variant: Option<&str>) -> Option<Spoken> {
        self.variant(variant).and_then(|v| v.protocol).or(self.start.protocol)
    }

    /// Whether a variant listens on a unix socket.
    #[must_use]
    pub fn has_unix_socket(&self, variant: Option<&str>) -> bool {
        self.variant(variant).and_then(|v| v.unix_socket).unwrap_or(self.start.unix_socket)
    }

    /// The variant of this name.
    #[must_use]
    pub fn variant(&self, name: Option<&str>) -> Option<&Variant> {
        self.variants.iter().find(|variant| Some(variant.name.as_str()) == name)
    }
}

/// `NAME` or `NAME >= VERSION`.
fn is_tool(need: &str) -> bool {
    let (name, least) = match need.split_once(">=") {
        Some((name, least)) => (name.trim(), Some(least.trim())),
        None => (need.trim(), None),
    };
    let is_version = |least: &str| {
        least.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._@".contains(&byte);
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(is_name)
        && least.is_none_or(is_version)
}

/// A name that follows Debian's policy (section 5.6.7): at least two characters, the first a letter
/// or a digit. So apt-get cannot read it as an option, a version or a file.
fn is_package(name: &str) -> bool {
    let may_stand =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    name.len() >= 2
        && name.as_bytes()[0].is_ascii_alphanumeric()
        // apt-get removes `name-`.
        && !name.ends_with('-')
        && name.bytes().all(may_stand)
}

/// Checks that a signal may stop a process; `at` is its key.
pub(crate) fn check_signal(at: &str, signal: &str) -> Result<(), Wrong> {
    if STOP_SIGNALS.contains(&signal) {
        return Ok(());
    }
    let message = format!("{at}: `{signal}` is not one of {}", STOP_SIGNALS.join(", "));
    Err(Wrong::at(at, message))
}

/// What only the service `redis` of a project file gives.
const REDIS_URL: &str = "REDIS_URL";

/// The names in braces in a text that look like placeholders: capitals, digits and `_`.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let may_stand = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let names = text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    names.filter(move |name| {
        name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.chars().all(may_stand)
    })
}

/// Checks that all placeholders of a text are known, or among these.
pub(crate) fn check_placeholders(text: &str, more: &[String]) -> Result<(), String> {
    for name in placeholders(text) {
        let mut known = PLACEHOLDERS.into_iter().chain(more.iter().map(String::as_str));
        if name == REDIS_URL && !more.iter().any(|known| known == name) {
            return Err(format!(
                "{{{name}}} in `{text}` has no value without `redis` in `services`; list it there"
            ));
        }
        if !known.any(|known| known == name) {
            let known = PLACEHOLDERS.into_iter().chain(more.iter().map(String::as_str));
            let hint = nearest(name, known)
                .map(|near| format!("; did you mean {{{near}}}?"))
                .unwrap_or_default();
            return Err(format!("unknown placeholder {{{name}}} in `{text}`{hint}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
