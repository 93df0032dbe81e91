//! What a target's version commands print.
use std::collections::BTreeMap;
use std::process::Command;

use crate::install::{Installed, base_values, steps};
use crate::lifecycle::environment;
use crate::lifecycle::short_command;
use crate::target::catalog::Target;

/// Label to the first line printed, or in a list of packages to that of the framework. A command that
/// fails is left out, since unknown is not a version.
#[must_use]
pub fn read(target: &Target, installed: &Installed) -> BTreeMap<String, String> {
    let mut values = base_values(target);
    values.extend(installed.env.clone());
    let version = |words: &Vec<String>| {
        let words: Vec<String> =
            words.iter().map(|word| environment::fill(word, &values)).collect();
        let (program, arguments) = words.split_first()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&target.folder)
            .env_clear()
            .envs(steps::env_of(&target.kind))
            .envs(&installed.env);
        let output = short_command::output(&mut command).filter(|output| output.success)?;
        let text = format!("{}\n{}", output.stdout, output.stderr);
        line_of(&text, &target.manifest.framework).map(|line| line.chars().take(120).collect())
    };
    target
        .manifest
        .versions
        .iter()
        .filter_map(|(label, words)| Some((label.clone(), version(words)?)))
        .collect()
}

/// The line that names the framework with a version, else the first.
fn line_of<'a>(text: &'a str, framework: &str) -> Option<&'a str> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| names(line, framework)).or_else(|| lines().next())
}

/// Whether a line has this name as a word of its own, or before a part that is joined to it
/// (`undertow-core-2.4.4.jar`), and a digit for the version.
fn names(line: &str, framework: &str) -> bool {
    let (line, name) = (line.to_lowercase(), framework.to_lowercase());
    let is_name = |word: &str| {
        word.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    line.contains(|c: char| c.is_ascii_digit()) && line.split([' ', '/', '=', '@']).any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_list_the_framework_is_told() {
        let list = "anyio==4.16.0\nuvicorn-worker-notes\nUvicorn==0.54.0\n";
        assert_eq!(line_of(list, "uvicorn"), Some("Uvicorn==0.54.0"));
        let jars = "HikariCP-7.1.0.jar\nundertow-core-2.4.4.Final.jar\n";
        assert_eq!(line_of(jars, "undertow"), Some("undertow-core-2.4.4.Final.jar"));
        let modules = "example.org/targets/go/gin\ngithub.com/gin-gonic/gin v1.10.0\n";
        assert_eq!(line_of(modules, "gin"), Some("github.com/gin-gonic/gin v1.10.0"));
        assert_eq!(line_of("\n openjdk 17.0.9\nmore\n", "undertow"), Some("openjdk 17.0.9"));
        assert_eq!(line_of("", "gin"), None);
    }
}
