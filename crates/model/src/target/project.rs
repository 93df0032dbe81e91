//! `pippin.toml`: a user's own targets, workloads and plans, in the user's own repository
//! (docs/project-file.md).
//!
//! | module | what it holds |
//! |---|---|
//! | [`world`] | what stands around a target: services, and commands before and after each start |
pub mod world;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::load::spoken::Spoken;
use crate::plan::scan::Values;
use crate::plan::{Plan, PlanOptions, RawPlan, at_its_key};
use crate::target::TargetId;
use crate::target::manifest::{Command, Install, Manifest, Ready, Start};
use crate::target::own_command::{self, OwnCommand};
use crate::target::parameter;
use crate::text::file::{FileError, Wrong, nearest, read_with_text};
use crate::workload::Workload;
use world::{OwnService, RawService, RawWorld, World};

/// The name of the file.
pub const FILE: &str = "pippin.toml";
/// The language in the names of its targets: `own/shop`.
pub const LANGUAGE: &str = "own";

/// A project file, read and checked.
#[derive(Debug, Clone)]
pub struct Project {
    path: PathBuf,
    text: String,
    /// Targets by name, without [`LANGUAGE`].
    pub targets: BTreeMap<String, ProjectTarget>,
    /// Workloads by name.
    pub workloads: BTreeMap<String, Workload>,
    plans: BTreeMap<String, RawPlan>,
}

/// A target of a project file.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectTarget {
    /// How it is started.
    pub how: TargetSource,
    /// The folder of its commands, absolute or relative to the file.
    pub folder: PathBuf,
    /// What stands around it.
    pub world: World,
    /// The manifest with everything else. Parameters in braces have no value yet.
    pub manifest: Manifest,
    /// The usual value of each parameter in braces: `pool` is `10`.
    pub with: BTreeMap<String, String>,
}

/// How a target of a project file is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSource {
    /// By the command of its manifest.
    Command,
    /// It runs already.
    Url {
        /// Where.
        url: String,
        /// The URL of the HTTP proxy that leads to it; `None` for none.
        proxy: Option<String>,
    },
    /// As a container of this image.
    Image(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProject {
    #[serde(default)]
    target: BTreeMap<String, RawTarget>,
    #[serde(default)]
    service: BTreeMap<String, RawService>,
    #[serde(default)]
    workload: BTreeMap<String, Workload>,
    #[serde(default)]
    plan: BTreeMap<String, RawPlan>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTarget {
    command: Option<Words>,
    url: Option<String>,
    proxy: Option<String>,
    image: Option<String>,
    folder: Option<PathBuf>,
    #[serde(default)]
    build: Vec<Words>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    services: Vec<String>,
    #[serde(default)]
    migrate: Vec<Words>,
    #[serde(default)]
    prepare: Vec<Words>,
    #[serde(default)]
    cleanup: Vec<Words>,
    prepare_within: Option<String>,
    #[serde(default)]
    with: BTreeMap<String, Plain>,
    ready: Option<RawReady>,
    ready_within: Option<String>,
    stop: Option<String>,
    protocol: Option<Spoken>,
    #[serde(default)]
    serves: Vec<String>,
    #[serde(default)]
    versions: BTreeMap<String, Words>,
}

/// The value of a parameter: a text or a number.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a text or a number, as pool = 10")]
enum Plain {
    Whole(i64),
    Number(f64),
    Text(String),
}

impl From<Plain> for String {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Whole(number) => number.to_string(),
            Plain::Number(number) => number.to_string(),
            Plain::Text(text) => text,
        }
    }
}

/// What shows that a server is ready: a path, and which status it answers.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a path, as \"/health\" or { path = \"/health\", status = 200 }"
)]
enum RawReady {
    Path(String),
    Answer { path: String, status: u16 },
}

/// A command, as one text or word by word.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a command, as \"node server.js\" or [\"node\", \"server.js\"]"
)]
enum Words {
    Text(String),
    List(Command),
}

impl Words {
    /// The only program.
    fn one(&self, at: &str) -> Result<OwnCommand, Wrong> {
        match self {
            Self::List(words) => Ok(OwnCommand { words: words.clone(), ..OwnCommand::default() }),
            Self::Text(text) => own_command::read(text).map_err(|message| Wrong::at(at, message)),
        }
    }

    /// The programs that run one after the other.
    fn steps(&self, at: &str) -> Result<Vec<Command>, Wrong> {
        match self {
            Self::List(words) => Ok(vec![words.clone()]),
            Self::Text(text) => own_command::several(text)
                .map(|all| all.into_iter().map(OwnCommand::into_words).collect())
                .map_err(|message| Wrong::at(at, message)),
        }
    }
}

impl Project {
    /// Reads and checks the project file in a folder.
    ///
    /// # Errors
    /// If it cannot be used. The message names the line and the fix.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(FILE);
        let (raw, text): (RawProject, String) = read_with_text(&path)?;
        Self::checked(raw, path.clone(), text.clone()).map_err(|wrong| wrong.in_file(&path, &text))
    }

    fn checked(raw: RawProject, path: PathBuf, text: String) -> Result<Self, Wrong> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut workloads = BTreeMap::new();
        for (name, workload) in raw.workload {
            let below = format!("workload.{name}");
            check_name(&below, &name)?;
            let workload = completed(&name, workload)
                .with_steps(folder)
                .and_then(|workload| workload.check().map(|()| workload))
                .map_err(|wrong| wrong.below(&below))?;
            workloads.insert(name, workload);
        }
        let mut services = BTreeMap::new();
        for (name, service) in raw.service {
            let below = format!("service.{name}");
            check_name(&below, &name)?;
            let service = service.checked(&name, &below)?;
            services.insert(name, service);
        }
        let mut targets = BTreeMap::new();
        for (name, target) in raw.target {
            let below = format!("target.{name}");
            check_name(&below, &name)?;
            let target = target.checked(&name, &below, workloads.keys(), &services)?;
            targets.insert(name, target);
        }
        let project = Self { path, text, targets, workloads, plans: raw.plan };
        for name in project.plans.keys() {
            check_name(&format!("plan.{name}"), name)?;
            // A mistake in any plan is reported at once, not only when it is run.
            project.resolved(name, &PlanOptions::default())?;
        }
        Ok(project)
    }

    /// An error of this file, at these keys.
    #[must_use]
    pub fn wrong(&self, at: &str, message: &str) -> FileError {
        Wrong::at(at, message).in_file(&self.path, &self.text)
    }

    /// The names of its plans, sorted.
    pub fn plan_ids(&self) -> impl Iterator<Item = &String> {
        self.plans.keys()
    }

    /// The plan of this name; `None` if there is none.
    ///
    /// # Errors
    /// If an option does not fit it.
    pub fn plan(&self, name: &str, options: &PlanOptions) -> Option<Result<Plan, FileError>> {
        self.plans.contains_key(name).then(|| {
            self.resolved(name, options).map_err(|wrong| wrong.in_file(&self.path, &self.text))
        })
    }

    fn resolved(&self, name: &str, options: &PlanOptions) -> Result<Plan, Wrong> {
        let below = format!("plan.{name}");
        let mut raw = self.plans[name].clone();
        for (index, target) in raw.targets.iter_mut().enumerate() {
            if let Some(own) = self
                .own(target)
                .map_err(|message| Wrong::at(format!("{below}.targets[{index}]"), message))?
            {
                *target = own;
            }
        }
        Plan::resolve(name.into(), raw, None, options)
            .map_err(|message| at_its_key(&below, message))
    }

    /// The full name of a target of this file: `own/shop` for `shop`; `None` if it belongs to a
    /// catalog.
    ///
    /// # Errors
    /// If it can only be a target of this file, but there is none.
    pub fn own(&self, name: &str) -> Result<Option<String>, String> {
        if name.contains('/') {
            return Ok(None);
        }
        if self.targets.contains_key(name) {
            return Ok(Some(format!("{LANGUAGE}/{name}")));
        }
        let hint = nearest(name, self.targets.keys().map(String::as_str))
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        Err(format!("there is no [target.{name}]{hint}"))
    }
}

/// Fills in the name and everything else that the workload leaves out.
fn completed(name: &str, workload: Workload) -> Workload {
    let or = |text: String, other: &str| if text.is_empty() { other.to_string() } else { text };
    let proofs = if workload.proofs.is_empty() {
        vec![match workload.message {
            Some(message) if message.broadcast => {
                crate::workload::Proof::Broadcast { receivers: 3 }
            }
            Some(_) => crate::workload::Proof::Echo,
            None => crate::workload::Proof::Answer,
        }]
    } else {
        workload.proofs
    };
    Workload { schema: 1, id: name.into(), title: or(workload.title, name), proofs, ..workload }
}

/// Names are used in names of targets, in file names and on the command line.
fn check_name(at: &str, name: &str) -> Result<(), Wrong> {
    let may_stand = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(may_stand) {
        return Ok(());
    }
    Err(Wrong::at(at, format!("`{name}` is not a valid name; use letters, digits, `-` and `_`")))
}

/// An error of a manifest in the words of a project file, where keys have other names.
fn renamed(wrong: &Wrong, below: &str) -> Wrong {
    let rename =
        |text: &str| text.replace("start.ready.timeout", "ready_within").replace("start.", "");
    let key = rename(&wrong.at).replace("install.steps", "build");
    Wrong::at(format!("{below}.{key}"), rename(&wrong.message))
}

impl RawTarget {
    fn checked<'a>(
        self,
        name: &str,
        below: &str,
        workloads: impl Iterator<Item = &'a String>,
        services: &BTreeMap<String, OwnService>,
    ) -> Result<ProjectTarget, Wrong> {
        let (how, command) = self.how(below)?;
        self.check_effect(&how, below)?;
        let world = self.world().checked(below, services)?;
        let steps = self.build.iter().enumerate();
        let steps = steps
            .map(|(index, step)| step.steps(&format!("{below}.build[{index}]")))
            .collect::<Result<Vec<_>, _>>()?
            .concat();
        let versions = self.versions.iter().map(|(label, words)| {
            Ok((label.clone(), words.one(&format!("{below}.versions.{label}"))?.into_words()))
        });
        let versions = versions.collect::<Result<_, Wrong>>()?;
        // All its own targets serve its own workloads.
        let mut served: Vec<String> = workloads.cloned().collect();
        served.extend(self.serves);
        let (path, status) = match self.ready {
            None => ("/".into(), None),
            Some(RawReady::Path(path)) => (path, None),
            Some(RawReady::Answer { path, status }) => (path, Some(status)),
        };
        let mut env = self.env;
        env.extend(command.env);
        let manifest = Manifest {
            schema: 1,
            name: name.into(),
            language: LANGUAGE.into(),
            framework: name.into(),
            runtime: LANGUAGE.into(),
            website: None,
            workloads: served,
            needs: None,
            install: (!steps.is_empty()).then_some(Install { steps }),
            routes: Vec::new(),
            start: Start {
                command: command.words,
                env,
                folder: command.folder,
                ready: Ready {
                    path,
                    status,
                    timeout: self.ready_within.unwrap_or_else(|| "60s".into()),
                },
                stop: self.stop.unwrap_or_else(|| "SIGTERM".into()),
                process_per_worker: false,
                unix_socket: false,
                protocol: self.protocol,
            },
            versions,
            variants: Vec::new(),
            deviations: Vec::new(),
        };
        if how == TargetSource::Command {
            let variables = world.variables();
            manifest.check_parts(&variables).map_err(|wrong| renamed(&wrong, below))?;
            if let Some(name) = variables.iter().find(|name| manifest.start.env.contains_key(*name))
            {
                let message = format!(
                    "`{name}` is what one of its `services` gives it; take one of the two out"
                );
                return Err(Wrong::at(format!("{below}.env.{name}"), message));
            }
        }
        let with = self.with.into_iter().map(|(name, value)| (name, value.into())).collect();
        let folder = self.folder.unwrap_or_else(|| ".".into());
        let target = ProjectTarget { how, folder, world, manifest, with };
        target.filled().map_err(|(name, message)| {
            let at = format!("{below}.with.{name}");
            Wrong::at(at.clone(), format!("{at}: {message}"))
        })?;
        Ok(target)
    }

    fn world(&self) -> RawWorld {
        RawWorld {
            services: self.services.clone(),
            migrate: self.migrate.clone(),
            prepare: self.prepare.clone(),
            cleanup: self.cleanup.clone(),
            within: self.prepare_within.clone(),
        }
    }

    /// How it is started, and the command if there is one.
    fn how(&self, below: &str) -> Result<(TargetSource, OwnCommand), Wrong> {
        match (&self.command, &self.url, &self.image) {
            (Some(command), None, None) => {
                Ok((TargetSource::Command, command.one(&format!("{below}.command"))?))
            }
            (None, Some(url), None) => {
                let how = TargetSource::Url { url: url.clone(), proxy: self.proxy.clone() };
                Ok((how, OwnCommand::default()))
            }
            (None, None, Some(image)) => {
                Ok((TargetSource::Image(image.clone()), OwnCommand::default()))
            }
            _ => {
                let message = format!("[{below}] needs one of `command`, `url` and `image`");
                Err(Wrong::at(below, message))
            }
        }
    }

    /// Refuses keys that have no effect on this kind of target.
    fn check_effect(&self, how: &TargetSource, below: &str) -> Result<(), Wrong> {
        let of_commands = [
            ("folder", self.folder.is_some()),
            ("build", !self.build.is_empty()),
            ("env", !self.env.is_empty()),
            ("with", !self.with.is_empty()),
            ("versions", !self.versions.is_empty()),
        ];
        let of_started = [
            ("ready", self.ready.is_some()),
            ("ready_within", self.ready_within.is_some()),
            ("stop", self.stop.is_some()),
        ];
        let of_worlds = self.world().given();
        let of_urls = ("proxy", self.proxy.is_some());
        let (kind, why, useless) = match how {
            TargetSource::Command => ("command", "", vec![of_urls]),
            TargetSource::Image(_) => (
                "image",
                "a container does not reach the loopback of this machine",
                [&of_commands[..], &[of_urls]].concat(),
            ),
            TargetSource::Url { .. } => (
                "url",
                "it runs already, with what it needs",
                [&of_commands[..], &of_started].concat(),
            ),
        };
        let wrong = |key: &str, why: &str| {
            let message = format!("`{key}` has no effect beside `{kind}`{why}; take it out");
            Err(Wrong::at(format!("{below}.{key}"), message))
        };
        let is_given = |(_, given): &&(&str, bool)| *given;
        if *how != TargetSource::Command
            && let Some((key, _)) = of_worlds.iter().find(is_given)
        {
            return wrong(key, &format!(", because {why}"));
        }
        useless.iter().find(is_given).map_or(Ok(()), |(key, _)| wrong(key, ""))
    }
}

impl ProjectTarget {
    /// The manifest with the usual value of each parameter.
    ///
    /// # Errors
    /// The name of a parameter that nothing takes, and the reason.
    pub fn filled(&self) -> Result<Manifest, (String, String)> {
        let mut manifest = self.manifest.clone();
        for (name, value) in &self.with {
            let wrong = |message| (name.clone(), message);
            let values = Values { parameter: name.clone(), values: vec![value.clone()] };
            if values.is_variable() || values.is_workers() {
                return Err(wrong(
                    "a parameter has a name of small letters, and is not `workers`; variables are in `env`".into(),
                ));
            }
            parameter::refuse_around(&self.world, name).map_err(wrong)?;
            parameter::set(&mut manifest, &values, value).map_err(wrong)?;
        }
        Ok(manifest)
    }

    /// Its name in runs.
    #[must_use]
    pub fn id(&self) -> TargetId {
        TargetId {
            language: self.manifest.language.clone(),
            name: self.manifest.name.clone(),
            variant: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::WarmUp;
    use crate::plan::profile::StopRule;

    const GOOD: &str = r#"
[target.shop]
build = ["npm ci"]
command = "node 'my server.js'"
env = { NODE_ENV = "production", LISTEN = "127.0.0.1:{PORT}" }
serves = ["hello"]
[target.old]
url = "http://127.0.0.1:3000"
[workload.item]
request = { path = "/item/{id}", vary = { id = { from = 1, to = 5 } } }
answer = { contains = ["total"] }
[plan.ci]
workload = "item"
targets = ["shop", "go/net-http"]
rate = "500/s"
require = ["p99 < 50ms", "errors < 0.1%"]
"#;

    fn read(text: &str) -> Result<Project, String> {
        let folder = std::env::temp_dir().join(format!(
            "pippin-project-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(FILE), text).unwrap();
        let read = Project::read(&folder).map_err(|error| error.to_string());
        std::fs::remove_dir_all(&folder).unwrap();
        read.map_err(|error| error.replace(&folder.display().to_string(), ""))
    }

    #[test]
    fn a_project_has_targets_workloads_and_plans() {
        let project = read(GOOD).unwrap();
        let shop = &project.targets["shop"];
        assert_eq!(shop.manifest.start.command, ["node", "my server.js"]);
        assert_eq!(shop.manifest.workloads, ["item", "hello"]);
        assert_eq!(shop.manifest.install.as_ref().unwrap().steps, [["npm", "ci"]]);
        let old = TargetSource::Url { url: "http://127.0.0.1:3000".into(), proxy: None };
        assert_eq!(project.targets["old"].how, old);
        let item = &project.workloads["item"];
        assert_eq!((item.request.method.as_str(), item.answer.status), ("GET", 200));
        assert_eq!((item.samples(0, 10).len(), item.proofs.len()), (5, 1));
        let plan = project.plan("ci", &PlanOptions::default()).unwrap().unwrap();
        let targets: Vec<String> = plan.targets.iter().map(ToString::to_string).collect();
        assert_eq!(targets, ["own/shop", "go/net-http"]);
        assert_eq!((plan.profile.kind(), plan.gates.len()), ("open", 2));
        assert_eq!(plan.profile.stop, StopRule::after(10_000_000_000));
        assert!(project.plan("other", &PlanOptions::default()).is_none());
    }

    #[test]
    fn a_warm_up_stands_beside_a_duration() {
        let plan = |lines: &str| {
            let text = GOOD.replace("rate = \"500/s\"", lines);
            read(&text).unwrap().plan("ci", &PlanOptions::default()).unwrap().unwrap().profile
        };
        let profile = plan("connections = 3\nduration = \"5s\"\nwarm_up = \"30s\"");
        assert_eq!(profile.warm_up, WarmUp::Fixed { duration_ns: 30_000_000_000 });
        assert_eq!((profile.kind(), profile.stop), ("closed", StopRule::after(5_000_000_000)));
        assert_eq!(plan("warm_up = \"none\"").warm_up, WarmUp::None);
        assert_eq!(plan("connections = 3").warm_up, WarmUp::AUTO);
    }

    #[test]
    fn a_command_has_variables_and_a_folder_and_steps_follow_each_other() {
        let text = GOOD
            .replace("node 'my server.js'", "cd api && NODE_ENV=test node x")
            .replace("npm ci", "npm ci && cd web && npm run build")
            .replace("serves", "ready = { path = '/health', status = 204 }\nserves");
        let manifest = &read(&text).unwrap().targets["shop"].manifest;
        let start = &manifest.start;
        assert_eq!(
            (start.command.join(" "), start.folder.as_deref()),
            ("node x".into(), Some(Path::new("api")))
        );
        assert_eq!(start.env["NODE_ENV"], "test", "what stands in the command is nearer");
        let steps: Vec<String> =
            manifest.install.iter().flat_map(|it| &it.steps).map(|it| it.join(" ")).collect();
        assert_eq!(steps, ["npm ci", "env --chdir=web npm run build"]);
        assert!(start.ready.is_shown_by(204) && !start.ready.is_shown_by(200));
    }

    const WORLD: &str = r#"
[service.search]
command = "SIZE=1 search --port {PORT}"
ready = "/health"
[service.mail-box]
command = "mail {PORT} {SEARCH_PORT}"
ready = { command = "mail ping {PORT}" }
ready_within = "3s"
[target.shop]
command = "serve {REDIS_URL}"
services = ["postgres", "redis", "search", "mail-box"]
migrate = ["migrate {DATABASE_URL} && seed"]
prepare = ["warm {MAIL_BOX_PORT}"]
cleanup = ["sweep"]
prepare_within = "7s"
env = { SEARCH = "http://127.0.0.1:{SEARCH_PORT}" }
[target.old]
url = "http://127.0.0.1:3000"
"#;

    #[test]
    fn a_target_has_services_and_commands_around_its_starts() {
        let World { services, migrate, prepare, cleanup, within } =
            read(WORLD).unwrap().targets["shop"].world.clone();
        let variables: Vec<String> = services.iter().map(world::TargetService::variable).collect();
        assert_eq!(variables, ["DATABASE_URL", "REDIS_URL", "SEARCH_PORT", "MAIL_BOX_PORT"]);
        let world::TargetService::Own(search) = &services[2] else { panic!("{services:?}") };
        assert_eq!(search.command, ["search", "--port", "{PORT}"]);
        assert_eq!((search.env["SIZE"].as_str(), search.stop.as_str()), ("1", "SIGTERM"));
        assert_eq!(search.ready, world::Shown::Answer("/health".into(), None));
        let world::TargetService::Own(mail) = &services[3] else { panic!("{services:?}") };
        assert_eq!(
            (&mail.ready, mail.ready_within.as_secs()),
            (&world::Shown::Command(["mail", "ping", "{PORT}"].map(Into::into).to_vec()), 3)
        );
        assert_eq!(
            migrate,
            [vec!["migrate".to_string(), "{DATABASE_URL}".into()], vec!["seed".into()]]
        );
        assert_eq!((prepare.len(), cleanup.len(), within.as_secs()), (1, 1, 7));
        assert_eq!(read(WORLD).unwrap().targets["old"].world.services, []);
    }

    #[test]
    fn every_slip_about_services_names_its_line_and_the_fix() {
        for (from, to, line, message) in [
            (
                "\"search\", \"mail",
                "\"serach\", \"mail",
                11,
                "no [service.serach]; did you mean `search`?",
            ),
            ("\"redis\",", "\"reddis\",", 11, "did you mean `redis`? (`postgres` and `redis` are"),
            ("\"redis\",", "\"search\",", 11, "services names `search` twice"),
            (
                "[service.search]",
                "[service.redis]",
                2,
                "`redis` is a service that Pippin starts itself",
            ),
            (
                "\"/health\"",
                "\"health\"",
                4,
                "ready: `health` is no path; write \"/health\", \"port\"",
            ),
            ("\"/health\"", "{ status = 200 }", 4, "expected \"port\", a path"),
            ("\"/health\"", "\"/\"\nstop = \"KILL\"", 5, "stop: `KILL` is not one of SIGTERM"),
            ("\"3s\"", "\"3\"", 8, "ready_within: `3`"),
            ("command = \"SIZE", "comand = \"SIZE", 3, "did you mean `command`?"),
            ("{PORT} {SEARCH", "{PORT} {SERCH", 5, "unknown placeholder {SERCH_PORT}"),
            ("warm {MAIL", "warm {MALI", 13, "did you mean {MAIL_BOX_PORT}?"),
            ("{REDIS_URL}", "{REDIS_URI}", 10, "did you mean {REDIS_URL}?"),
            ("\"sweep\"", "\"sweep > x\"", 14, "`>` is a shell's; write sh -c"),
            ("\"7s\"", "\"0s\"", 15, "prepare_within must be longer than 0"),
            (
                "{ SEARCH =",
                "{ DATABASE_URL = 'x', SEARCH =",
                16,
                "`DATABASE_URL` is what one of its `services`",
            ),
            (
                "url =",
                "services = ['redis']\nurl =",
                18,
                "`services` has no effect beside `url`, because it runs already",
            ),
            (
                "url =",
                "prepare = ['x']\nimage =",
                18,
                "`prepare` has no effect beside `image`, because a container",
            ),
            (
                "url =",
                "prepare_within = '1s'\ncommand =",
                18,
                "`prepare_within` has no effect without `migrate`",
            ),
        ] {
            let error = read(&WORLD.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(message), "{to}: {error}");
            assert!(error.starts_with(&format!("/pippin.toml:{line}: ")), "{to}: {error}");
        }
    }

    #[test]
    fn a_parameter_has_its_usual_value() {
        let text = GOOD
            .replace("'my server.js'", "server.js -p{pool}")
            .replace("serves", "with = { pool = 10 }\nserves");
        let shop = &read(&text).unwrap().targets["shop"];
        assert_eq!(shop.manifest.start.command, ["node", "server.js", "-p{pool}"]);
        assert_eq!(shop.filled().unwrap().start.command, ["node", "server.js", "-p10"]);
    }

    #[test]
    fn every_slip_names_its_line_and_the_fix() {
        for (from, to, line, message) in [
            ("command = \"node", "comand = \"node", 4, "did you mean `command`?"),
            ("'my server.js'", "'my server.js", 4, "a quote is not closed"),
            ("build = [\"npm ci\"]", "url = 'http://a'", 2, "needs one of `command`"),
            ("url =", "stop = 'SIGINT'\nurl =", 8, "`stop` has no effect beside `url`"),
            ("serves", "proxy = 'http://a:1'\nserves", 6, "`proxy` has no effect beside `command`"),
            ("{PORT}", "{PROT}", 5, "did you mean {PORT}?"),
            ("serves", "stop = 'KILL'\nserves", 6, "`KILL` is not one of SIGTERM"),
            ("serves", "ready_within = '5'\nserves", 6, "ready_within: `5`"),
            ("serves", "ready = { path = '/', status = 99 }\nserves", 6, "99 is no status"),
            ("serves", "ready = { status = 200 }\nserves", 6, "expected a path, as \"/health\""),
            ("'my server.js'", "$SCRIPT", 4, "write sh -c 'exec node $SCRIPT'"),
            ("/item/{id}", "/item/{no}", 10, "has no `no`"),
            ("[\"shop\",", "[\"shpo\",", 14, "no [target.shpo]; did you mean `shop`?"),
            ("\"500/s\"", "\"fast\"", 15, "rate: `fast` is not a rate"),
            ("\"500/s\"", "0", 15, "profile.rate"),
            ("\"500/s\"", "\"500/s\"\nwarm_up = '30s'", 16, "an open loop climbs to its rate"),
            ("p99 < 50ms", "p99 ~ 50ms", 16, "require: "),
            ("require", "repetitions = 0\nrequire", 16, "repetitions must be at least 1"),
            ("require", "profile = { kind = 'closed' }\nrequire", 15, "rate and [profile] exclude"),
            ("serves", "with = { pool = 5 }\nserves", 6, "nothing takes `pool`"),
            ("serves", "with = { POOL = 5 }\nserves", 6, "variables are in `env`"),
            ("serves", "with = { pool = [] }\nserves", 6, "expected a text or a number"),
            ("[plan.ci]", "[plan.\"a b\"]", 12, "`a b` is not a valid name"),
            ("workload = \"item\"\n", "", 12, "missing field `workload`"),
        ] {
            let error = read(&GOOD.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(message), "{to}: {error}");
            if message != "profile.rate" {
                assert!(error.starts_with(&format!("/pippin.toml:{line}: ")), "{to}: {error}");
            }
        }
    }
}
