//! Container images as targets: docker or podman starts them on the loopback and on the target's
//! processors.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::lifecycle::environment::{find_program, for_runtimes};
use crate::lifecycle::short_command::{self, Output};
use crate::running::StartSettings;

/// The programs that can run images, in order of preference.
const RUNTIMES: [&str; 2] = ["docker", "podman"];

/// An image, and what runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its name, as `ghcr.io/x/y:tag`.
    pub reference: String,
}

/// docker or podman, looked for once.
///
/// # Errors
/// Why neither can start a container, and what to install.
pub fn runtime() -> Result<&'static Path, &'static str> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match FOUND.get_or_init(look_for_runtime) {
        Ok(program) => Ok(program),
        Err(why) => Err(why),
    }
}

fn look_for_runtime() -> Result<PathBuf, String> {
    let mut why = Vec::new();
    for name in RUNTIMES {
        let Some(program) = find_program(name) else {
            why.push(format!("{name} is not installed"));
            continue;
        };
        if ask(&program, &["info"]).is_some() {
            return Ok(program);
        }
        why.push(format!("`{name} info` fails (for docker: is its daemon running?)"));
    }
    Err(format!(
        "no container can be started: {}; install one of them, as with: apt-get install podman",
        why.join("; ")
    ))
}

fn ask(program: &Path, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(for_runtimes());
    short_command::output(&mut command).filter(|output| output.success)
}

impl Image {
    /// An image of this name.
    ///
    /// # Errors
    /// If it cannot be a name.
    pub fn named(reference: &str) -> Result<Self, String> {
        if reference.is_empty() || reference.starts_with('-') {
            return Err(format!("`{reference}` is no name of an image"));
        }
        Ok(Self { reference: reference.into() })
    }

    /// Whether it is on this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.ask(&["image", "inspect", &self.reference]).is_some()
    }

    /// The command that fetches it.
    #[must_use]
    pub fn pull(&self) -> Vec<String> {
        [&program(), "pull", &self.reference].map(String::from).to_vec()
    }

    /// The command that starts it, so that it is reached on this port of the loopback.
    ///
    /// An image that declares one port gets it published. Any other shares the host's network, and
    /// must listen on PORT.
    #[must_use]
    pub fn start(&self, name: &str, port: u16, settings: &StartSettings<'_>) -> Vec<String> {
        let StartSettings { cpus, workers, limits, .. } = settings;
        let mut words: Vec<String> =
            [&program(), "run", "--rm", "--pull=never", "--name", name].map(String::from).to_vec();
        if !cpus.is_empty() {
            words.push(format!("--cpuset-cpus={cpus}"));
        }
        if let Some(cpus) = limits.cpus {
            words.push(format!("--cpus={cpus}"));
        }
        if let Some(bytes) = limits.memory_bytes {
            words.push(format!("--memory={bytes}b"));
            words.push(format!("--memory-swap={bytes}b"));
        }
        let mut set = |name: &str, value: &str| words.push(format!("--env={name}={value}"));
        set("WORKERS", &workers.to_string());
        match self.exposed_port() {
            Some(inside) => {
                set("PORT", &inside.to_string());
                set("HOST", "0.0.0.0");
                words.push(format!("--publish=127.0.0.1:{port}:{inside}"));
            }
            None => {
                set("PORT", &port.to_string());
                set("HOST", "127.0.0.1");
                words.push("--network=host".into());
            }
        }
        words.push(self.reference.clone());
        words
    }

    /// The first process of a container, as the host sees it.
    #[must_use]
    pub fn process(&self, name: &str) -> Option<i32> {
        let output = self.ask(&["inspect", "--format", "{{.State.Pid}}", name])?;
        output.stdout.trim().parse().ok().filter(|pid| *pid > 0)
    }

    /// Removes a container, running or not.
    pub fn remove(&self, name: &str) {
        let _ = self.ask(&["rm", "--force", name]);
    }

    /// The only TCP port that the image declares.
    fn exposed_port(&self) -> Option<u16> {
        let format = "{{json .Config.ExposedPorts}}";
        let output = self.ask(&["image", "inspect", "--format", format, &self.reference])?;
        only_port(&output.stdout)
    }

    fn ask(&self, arguments: &[&str]) -> Option<Output> {
        ask(runtime().ok()?, arguments)
    }
}

/// The first word of commands to the runtime.
fn program() -> String {
    runtime().map_or_else(|_| RUNTIMES[0].into(), |program| program.display().to_string())
}

/// Of `{"80/tcp":{}}`: 80.
fn only_port(json: &str) -> Option<u16> {
    let ports: BTreeMap<String, serde_json::Value> = serde_json::from_str(json.trim()).ok()?;
    let mut numbers = ports.keys().filter_map(|port| {
        let (number, protocol) = port.split_once('/').unwrap_or((port, "tcp"));
        if protocol == "tcp" { number.parse().ok() } else { None }
    });
    let first = numbers.next()?;
    numbers.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_declared_port_is_found_and_of_several_none() {
        assert_eq!(only_port("{\"80/tcp\":{}}\n"), Some(80));
        assert_eq!(only_port("{\"8080\":{},\"53/udp\":{}}"), Some(8080));
        assert_eq!(only_port("{\"80/tcp\":{},\"443/tcp\":{}}"), None);
        assert_eq!((only_port("null"), only_port("{}"), only_port("")), (None, None, None));
    }

    #[test]
    fn what_a_runtime_would_read_as_an_option_is_no_image() {
        assert!(Image::named("--privileged").unwrap_err().contains("no name of an image"));
        assert!(Image::named("").is_err());
    }
}
