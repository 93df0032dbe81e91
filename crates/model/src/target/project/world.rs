//! What stands around a target of a project file: its services, and the commands before and after each
//! start (docs/project-file.md, "Services and data").
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::{RawReady, Words};
use crate::target::manifest::{Command, Ready, check_placeholders, check_signal, placeholders};
use crate::text::file::{Wrong, nearest};
use crate::text::units::parse_duration_ns;

/// PostgreSQL, as Pippin starts it.
const POSTGRES: &str = "postgres";
/// Redis, as Pippin starts it.
const REDIS: &str = "redis";
/// How long each command of `migrate`, `prepare` and `cleanup` may take, if the file does not say.
const WITHIN: &str = "5m";
/// How long a service may take until it is ready, if the file does not say.
const READY_WITHIN: &str = "60s";

/// What stands around each start of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// What is started before the target, in this order.
    pub services: Vec<TargetService>,
    /// Commands that make the schema and the data that each start finds.
    pub migrate: Vec<Command>,
    /// Commands before each start.
    pub prepare: Vec<Command>,
    /// Commands after each end.
    pub cleanup: Vec<Command>,
    /// How long each of these commands may take.
    pub within: Duration,
}

/// A service that a target needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetService {
    /// A database of its own in Pippin's PostgreSQL: `DATABASE_URL`.
    Postgres,
    /// A Redis of its own: `REDIS_URL`.
    Redis,
    /// A command of the project file.
    Own(OwnService),
}

/// A service that a command starts: `[service.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnService {
    /// Its name in the file.
    pub name: String,
    /// What starts it.
    pub command: Command,
    /// Its variables, besides `HOST`, `PORT` and those of the services before it.
    pub env: BTreeMap<String, String>,
    /// The folder in which it runs, relative to the target's.
    pub folder: Option<PathBuf>,
    /// What shows that it is ready.
    pub ready: Shown,
    /// How long that may take.
    pub ready_within: Duration,
    /// The signal that stops it.
    pub stop: String,
}

/// What shows that a service is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// It accepts connections on its port.
    Port,
    /// It answers a GET of this path, with this status or, without one, any below 500.
    Answer(String, Option<u16>),
    /// This command exits with code 0.
    Command(Command),
}

impl World {
    /// Nothing.
    pub const NONE: Self = Self {
        services: Vec::new(),
        migrate: Vec::new(),
        prepare: Vec::new(),
        cleanup: Vec::new(),
        within: Duration::ZERO,
    };

    /// Whether the target gets a database in Pippin's PostgreSQL.
    #[must_use]
    pub fn has_database(&self) -> bool {
        self.services.contains(&TargetService::Postgres)
    }
}

impl TargetService {
    /// Its name in `services`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Postgres => POSTGRES,
            Self::Redis => REDIS,
            Self::Own(own) => &own.name,
        }
    }

    /// The variable by which the target, its commands and the services after it find this one.
    #[must_use]
    pub fn variable(&self) -> String {
        match self {
            Self::Postgres => "DATABASE_URL".into(),
            Self::Redis => "REDIS_URL".into(),
            Self::Own(own) => format!("{}_PORT", own.name.to_ascii_uppercase().replace('-', "_")),
        }
    }
}

impl Shown {
    /// The words of the command that shows it; empty where something else does.
    #[must_use]
    pub fn command(&self) -> &[String] {
        match self {
            Self::Command(words) => words,
            Self::Port | Self::Answer(..) => &[],
        }
    }

    /// The path, the status and the limit, where an answer shows it.
    #[must_use]
    pub fn as_answer(&self, within: Duration) -> Option<Ready> {
        let Self::Answer(path, status) = self else { return None };
        let timeout = format!("{}ms", within.as_millis());
        Some(Ready { path: path.clone(), status: *status, timeout })
    }
}

/// `[service.NAME]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawService {
    command: Words,
    folder: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    ready: Option<RawShown>,
    ready_within: Option<String>,
    stop: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"port\", a path, as \"/health\" or { path = \"/health\", status = 200 }, or { command = \"redis-cli ping\" }"
)]
enum RawShown {
    Command(RawCommand),
    Path(RawReady),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCommand {
    command: Words,
}

/// The keys of `[target.NAME]` about its world.
#[derive(Debug, Clone, Default)]
pub(super) struct RawWorld {
    pub services: Vec<String>,
    pub migrate: Vec<Words>,
    pub prepare: Vec<Words>,
    pub cleanup: Vec<Words>,
    pub within: Option<String>,
}

impl RawService {
    /// The service of this name; `below` are its keys.
    pub fn checked(self, name: &str, below: &str) -> Result<OwnService, Wrong> {
        if [POSTGRES, REDIS].contains(&name) {
            let message =
                format!("`{name}` is a service that Pippin starts itself; give yours another name");
            return Err(Wrong::at(below, message));
        }
        let command = self.command.one(&format!("{below}.command"))?;
        let mut env = self.env;
        env.extend(command.env);
        let own = OwnService {
            name: name.into(),
            command: command.words,
            env,
            folder: self.folder.or(command.folder),
            ready: shown(self.ready, &format!("{below}.ready"))?,
            ready_within: duration(self.ready_within, READY_WITHIN, below, "ready_within")?,
            stop: self.stop.unwrap_or_else(|| "SIGTERM".into()),
        };
        check_signal("stop", &own.stop).map_err(|wrong| wrong.below(below))?;
        if own.command.first().is_none_or(String::is_empty) {
            return Err(Wrong::at(below, "command is empty; name the program and its arguments"));
        }
        Ok(own)
    }
}

fn shown(raw: Option<RawShown>, at: &str) -> Result<Shown, Wrong> {
    let (path, status) = match raw {
        None => return Ok(Shown::Port),
        Some(RawShown::Command(RawCommand { command })) => {
            return Ok(Shown::Command(command.one(at)?.into_words()));
        }
        Some(RawShown::Path(RawReady::Path(path))) if path == "port" => return Ok(Shown::Port),
        Some(RawShown::Path(RawReady::Path(path))) => (path, None),
        Some(RawShown::Path(RawReady::Answer { path, status })) => (path, Some(status)),
    };
    if !path.starts_with('/') {
        let message = format!(
            "ready: `{path}` is no path; write \"/health\", \"port\", or {{ command = \"...\" }}"
        );
        return Err(Wrong::at(at, message));
    }
    if status.is_some_and(|status| !(200..=599).contains(&status)) {
        return Err(Wrong::at(at, "ready: that is no status of an answer; write 200 to 599"));
    }
    Ok(Shown::Answer(path, status))
}

fn duration(text: Option<String>, usual: &str, below: &str, key: &str) -> Result<Duration, Wrong> {
    let at = format!("{below}.{key}");
    let ns = parse_duration_ns(text.as_deref().unwrap_or(usual))
        .map_err(|error| Wrong::at(at.clone(), format!("{key}: {error}")))?;
    if ns == 0 {
        return Err(Wrong::at(at, format!("{key} must be longer than 0")));
    }
    Ok(Duration::from_nanos(ns))
}

impl RawWorld {
    /// The keys that are given, for messages about keys that have no effect.
    pub fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("services", !self.services.is_empty()),
            ("migrate", !self.migrate.is_empty()),
            ("prepare", !self.prepare.is_empty()),
            ("cleanup", !self.cleanup.is_empty()),
            ("prepare_within", self.within.is_some()),
        ]
    }

    /// The world of the target with these keys, with the services of the file by name.
    pub fn checked(
        self,
        below: &str,
        known: &BTreeMap<String, OwnService>,
    ) -> Result<World, Wrong> {
        let commands =
            [("migrate", &self.migrate), ("prepare", &self.prepare), ("cleanup", &self.cleanup)];
        if self.within.is_some() && commands.iter().all(|(_, words)| words.is_empty()) {
            let message = "`prepare_within` has no effect without `migrate`, `prepare` or `cleanup`; take it out";
            return Err(Wrong::at(format!("{below}.prepare_within"), message));
        }
        let mut services: Vec<TargetService> = Vec::new();
        for (index, name) in self.services.iter().enumerate() {
            let at = format!("{below}.services[{index}]");
            let service = named(name, known).map_err(|message| Wrong::at(&at, message))?;
            if services.contains(&service) {
                return Err(Wrong::at(at, format!("services names `{name}` twice")));
            }
            services.push(service);
        }
        let steps = |(key, words): (&str, &Vec<Words>)| {
            let steps = words.iter().enumerate();
            let steps = steps.map(|(index, words)| words.steps(&format!("{below}.{key}[{index}]")));
            steps.collect::<Result<Vec<_>, _>>().map(|steps| steps.concat())
        };
        let [migrate, prepare, cleanup] = commands.map(steps);
        let within = duration(self.within.clone(), WITHIN, below, "prepare_within")?;
        let world =
            World { services, migrate: migrate?, prepare: prepare?, cleanup: cleanup?, within };
        world.check(below)?;
        Ok(world)
    }
}

fn named(name: &str, known: &BTreeMap<String, OwnService>) -> Result<TargetService, String> {
    match name {
        POSTGRES => return Ok(TargetService::Postgres),
        REDIS => return Ok(TargetService::Redis),
        _ => {}
    }
    if let Some(own) = known.get(name) {
        return Ok(TargetService::Own(own.clone()));
    }
    let names = [POSTGRES, REDIS].into_iter().chain(known.keys().map(String::as_str));
    let hint =
        nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!(
        "there is no [service.{name}]{hint} (`{POSTGRES}` and `{REDIS}` are started by Pippin, any other by the `command` of its [service.NAME])"
    ))
}

impl World {
    /// The names of the variables that its services give.
    pub(super) fn variables(&self) -> Vec<String> {
        self.services.iter().map(TargetService::variable).collect()
    }

    /// Checks that all placeholders are known, and have a value where they stand.
    fn check(&self, below: &str) -> Result<(), Wrong> {
        // With a database, they run as soon as it is there, once for its template.
        let at_migrate = self.services.iter().position(|it| *it == TargetService::Postgres);
        let all = self.services.len();
        for (key, commands, started) in [
            ("migrate", &self.migrate, at_migrate.map_or(all, |database| database + 1)),
            ("prepare", &self.prepare, all),
            ("cleanup", &self.cleanup, all),
        ] {
            let place = Place { at: format!("{below}.{key}"), started, own: None };
            commands.iter().flatten().try_for_each(|word| self.check_text(&place, word))?;
        }
        for (started, service) in self.services.iter().enumerate() {
            let TargetService::Own(own) = service else { continue };
            let at = format!("service.{}", own.name);
            let of_env = Place { at: format!("{at}.env"), started, own: Some(service) };
            let place = Place { at, ..of_env.clone() };
            let mut words = own.command.iter().chain(own.ready.command());
            words.try_for_each(|word| self.check_text(&place, word))?;
            own.env.values().try_for_each(|value| self.check_text(&of_env, value))?;
        }
        Ok(())
    }

    fn check_text(&self, place: &Place<'_>, text: &str) -> Result<(), Wrong> {
        let wrong = |message| Wrong::at(&place.at, message);
        check_placeholders(text, &self.variables()).map_err(wrong)?;
        let later = &self.services[place.started..];
        for name in placeholders(text) {
            if let Some(own) = place.own.filter(|own| own.variable() == name) {
                let message = format!(
                    "{{{name}}} in `{text}` is the port of `{}` itself; write {{PORT}}",
                    own.name()
                );
                return Err(wrong(message));
            }
            if let Some(later) = later.iter().find(|later| later.variable() == name) {
                let message = format!(
                    "{{{name}}} in `{text}` has no value yet: `{}` starts later; list it first in `services`",
                    later.name()
                );
                return Err(wrong(message));
            }
            let is_of_service = place.own.is_some() && ["HOST", "PORT"].contains(&name);
            if OF_THE_SERVER.contains(&name) && !is_of_service {
                let message = format!(
                    "{{{name}}} in `{text}` has no value: the server has not started, so that it has no port or settings yet; only its `command` and `env` know {{{name}}}"
                );
                return Err(wrong(message));
            }
        }
        Ok(())
    }
}

/// What is known only when the server starts.
const OF_THE_SERVER: [&str; 6] =
    ["HOST", "PORT", "WORKERS", "DATABASE_POOL", "TLS_CERTIFICATE", "TLS_KEY"];

/// Where a text stands.
#[derive(Clone)]
struct Place<'a> {
    /// Its keys in the file.
    at: String,
    /// How many services have started when it is read.
    started: usize,
    /// The service whose text it is.
    own: Option<&'a TargetService>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Words> {
        vec![Words::Text(text.into())]
    }

    /// The mistake of a target with two services of its own, with this command of the first, and these
    /// commands.
    fn said(services: &str, first: &str, [migrate, prepare, cleanup]: [&str; 3]) -> String {
        let own = |name: &str, command: &str| {
            let raw: RawService = toml::from_str(&format!("command = '{command}'")).unwrap();
            (name.to_string(), raw.checked(name, "service").unwrap())
        };
        let known = BTreeMap::from([own("first", first), own("s3", "s3 {PORT}")]);
        let raw = RawWorld {
            services: services.split(' ').map(Into::into).collect(),
            migrate: words(migrate),
            prepare: words(prepare),
            cleanup: words(cleanup),
            within: None,
        };
        let checked = raw.checked("target.shop", &known);
        checked.map_or_else(|wrong| format!("{}: {}", wrong.at, wrong.message), |_| "right".into())
    }

    #[test]
    fn placeholders_have_a_value_where_they_stand() {
        let all = "first s3 postgres redis";
        let right = ["m {S3_PORT} {DATABASE_URL}", "p {REDIS_URL} {DIR}", "c {FIRST_PORT} {x}"];
        assert_eq!(said(all, "first {HOST} {PORT} {PATH}", right), "right");
        let none = ["m", "p", "c"];
        for (services, first, commands, message) in [
            (
                all,
                "first {S3_PORT}",
                none,
                "service.first: {S3_PORT} in `{S3_PORT}` has no value yet: `s3` starts later; list it first",
            ),
            (all, "first {DATABASE_URL}", none, "`postgres` starts later"),
            (all, "first {FIRST_PORT}", none, "is the port of `first` itself; write {PORT}"),
            (all, "first {WORKERS}", none, "the server has not started"),
            (
                all,
                "first",
                ["m {REDIS_URL}", "p", "c"],
                "target.shop.migrate: {REDIS_URL} in `{REDIS_URL}` has no value yet: `redis` starts later",
            ),
            (
                all,
                "first",
                ["m {PORT}", "p", "c"],
                "target.shop.migrate: {PORT} in `{PORT}` has no value: the server has not",
            ),
            (all, "first", ["m", "p {HOST}", "c"], "target.shop.prepare: {HOST}"),
            (all, "first", ["m", "p", "c {WORKERS}"], "target.shop.cleanup: {WORKERS}"),
            (
                "first",
                "first",
                ["m {REDIS_URL}", "p", "c"],
                "has no value without `redis` in `services`",
            ),
            ("first", "first", ["m", "p {S3_PORT}", "c"], "unknown placeholder {S3_PORT}"),
        ] {
            let said = said(services, first, commands);
            assert!(said.contains(message), "{said}");
        }
        // Without a database, they run when all services are ready.
        assert_eq!(said("first redis", "first", ["m {REDIS_URL}", "p", "c"]), "right");
    }
}
