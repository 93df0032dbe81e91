//! `pippin init`: writes a project file that works.
//!
//! [`guess`] reads the files of a project to tell how its server is built and started.
pub mod guess;

use pippin_model::target::own_command;
use pippin_model::target::project::{FILE, Project};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

use self::guess::Guess;
use super::print;
use crate::arguments::InitArguments;
use crate::exit::CliError;
use crate::output;

/// The user's answers, which go into the file.
struct Answers {
    name: String,
    /// `command = ...`, `url = ...` or `image = ...`, as TOML.
    how: String,
    /// Whether Pippin starts it.
    is_command: bool,
    build: Vec<String>,
    env: Vec<(&'static str, String)>,
    path: String,
}

pub fn run(arguments: &InitArguments) -> Result<u8, CliError> {
    let here = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
    let path = here.join(FILE);
    if path.exists() {
        return Err(CliError::User(format!("{} exists already; edit it", path.display())));
    }
    let answers = Answers::from_arguments(arguments, &here)?;
    let text = answers.file();
    std::fs::write(&path, &text).map_err(CliError::io(format!("write {}", path.display())))?;
    // If the file is not valid, report the line and remove the file.
    if let Err(error) = Project::read(&here) {
        let _ = std::fs::remove_file(&path);
        return Err(CliError::User(error.to_string()));
    }
    print(format!("{} is written. Next:\n  pippin run ci\n", path.display()).as_bytes())
}

/// What `pippin init` would write in this folder, if its files say how its server is started.
pub fn preview(here: &Path) -> Option<String> {
    let Guess { command, build, env } = Guess::from_folder(here)?;
    let how = format!("command = {}", quoted(&command));
    let answers =
        Answers { name: "app".into(), how, is_command: true, build, env, path: "/".into() };
    Some(answers.file())
}

impl Answers {
    fn from_arguments(arguments: &InitArguments, here: &Path) -> Result<Self, CliError> {
        let guess = Guess::from_folder(here).unwrap_or_default();
        let usual = Some(guess.command.as_str()).filter(|command| !command.is_empty());
        let (how, is_command) = match (&arguments.command, &arguments.url, &arguments.image) {
            (_, Some(url), _) => (format!("url = {}", quoted(url)), false),
            (_, _, Some(image)) => (format!("image = {}", quoted(image)), false),
            (Some(command), ..) => (format!("command = {}", checked(command)?), true),
            (None, None, None) => {
                let what = "The command that starts your server (it listens on the variable PORT)";
                let command = match usual {
                    // The files say it; whoever sits at a terminal may still change it.
                    Some(command) if !is_asking() => command.into(),
                    _ => asked(what, usual, "--command, --url or --image")?,
                };
                (format!("command = {}", checked(&command)?), true)
            }
        };
        let path = match &arguments.path {
            Some(path) => path.clone(),
            None if is_asking() => asked("A path that it answers", Some("/"), "--path")?,
            None => "/".into(),
        };
        let name = arguments.name.clone().unwrap_or_else(|| "app".into());
        let is_guessed = is_command && arguments.command.is_none();
        let build = match arguments.build.as_slice() {
            [] if is_guessed => guess.build,
            given => given.to_vec(),
        };
        let env = if is_guessed { guess.env } else { Vec::new() };
        Ok(Self { name, how, is_command, build, env, path })
    }

    fn file(&self) -> String {
        let Self { name, how, path, .. } = self;
        let build: Vec<String> = self.build.iter().map(|step| quoted(step)).collect();
        let build = match (self.is_command, build.as_slice()) {
            (false, _) => String::new(),
            (true, []) => {
                "# build = [\"npm ci\"]          # run in this folder before each run\n".into()
            }
            (true, steps) => format!("build = [{}]\n", steps.join(", ")),
        };
        let variables: Vec<String> =
            self.env.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
        let env = if !variables.is_empty() {
            format!("env = {{ {} }}\n", variables.join(", "))
        } else if self.is_command {
            "# PORT is in the environment; a server that reads something else:\n# env = { LISTEN = \"127.0.0.1:{PORT}\" }\n".into()
        } else {
            String::new()
        };
        let path = quoted(path);
        format!(
            r#"# What Pippin measures here. `pippin help project-file` lists all keys.

[target.{name}]
{build}{how}
{env}# To compare it with the servers that ship with Pippin, name workloads of theirs that it serves too:
# serves = ["hello"]           # GET / answers `Hello World!`

[workload.home]
request = {{ path = {path} }}
answer = {{ status = 200 }}     # also: contains = ["..."], body = "...", content_type = "..."

[plan.ci]
workload = "home"
targets = ["{name}"]
connections = 10               # or rate = "500/s"
duration = "5s"
repetitions = 5                # a change is decided on at least 5 starts
quick = {{ profile = {{ duration = "2s" }} }}    # what --quick changes
require = ["errors < 0.1%"]    # also: "p99 < 50ms", "goodput > 1000/s"
# `pippin ci` compares with the base of this checkout, and fails if CPU time per request rose by 2 %,
# goodput fell by 10 % or p99 rose by 50 %. Other limits: fail_if = ["cpu > 3% vs base"]
# With one processor, the JVM and .NET choose another garbage collector than with two or more:
# cpus = {{ target = "0-1", generator = "2" }}
"#
        )
    }
}

fn is_asking() -> bool {
    std::io::stdin().is_terminal()
}

/// An answer from the terminal. An empty one means the default in brackets.
fn asked(what: &str, usual: Option<&str>, flag: &str) -> Result<String, CliError> {
    if !is_asking() {
        return Err(CliError::User(format!("there is no terminal to ask on; add {flag}")));
    }
    let usual = usual.unwrap_or_default();
    let hint = if usual.is_empty() { String::new() } else { format!(" [{usual}]") };
    output::ask(&format!("{what}{hint}: "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(CliError::io("read the answer"))?;
    let answer = if answer.trim().is_empty() { usual } else { answer.trim() };
    match answer {
        "" => Err(CliError::User(format!("no answer was given; add {flag}"))),
        answer => Ok(answer.into()),
    }
}

/// A command, checked so that the file can hold it.
fn checked(command: &str) -> Result<String, CliError> {
    own_command::read(command).map_err(|error| CliError::User(format!("--command {error}")))?;
    Ok(quoted(command))
}

/// A TOML string (a basic string; JSON's escapes are a subset of its own).
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
