//! What a target's version commands print.
use std::collections::BTreeMap;
use std::process::Command;

use crate::catalog::Target;
use crate::environment;
use crate::install::{Installed, base_values};
use crate::short_command;

/// Label to the first line printed; a command that fails is left out, since unknown is not a
/// version.
#[must_use]
pub fn of(target: &Target, installed: &Installed) -> BTreeMap<String, String> {
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
            .envs(environment::inherited())
            .envs(&installed.env);
        let output = short_command::output(&mut command).filter(|output| output.success)?;
        let text = format!("{}\n{}", output.stdout, output.stderr);
        text.lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(|line| line.chars().take(120).collect())
    };
    target
        .manifest
        .versions
        .iter()
        .filter_map(|(label, words)| Some((label.clone(), version(words)?)))
        .collect()
}
