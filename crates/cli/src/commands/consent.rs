//! Asks before anything is installed: other people wrote the install steps of targets, and they run
//! with the user's rights.
use pippin_lab::install::{self, apt};
use pippin_lab::services::postgres;
use pippin_lab::target::Kind;
use pippin_lab::target::catalog::{Catalog, Target};
use pippin_model::target::TargetId;
use pippin_model::workload::Service;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

use crate::exit::CliError;
use crate::output;

/// Everything that an installation may run.
#[derive(Default)]
struct Intent {
    /// System packages.
    packages: BTreeSet<String>,
    /// The commands that each way to install a target runs, for people to read.
    steps: BTreeMap<TargetId, Vec<String>>,
    /// What services need apart from packages.
    services: Vec<String>,
}

/// How consent is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    /// Consent was given beforehand.
    pub yes: bool,
    /// With consent given beforehand, do not show what will run.
    pub quiet: bool,
}

/// Shows everything that `--install` may run and asks once on a terminal. Without a terminal,
/// `--yes` must be given. Returns whether apt may be used.
pub fn for_installation(
    catalog: &Catalog,
    targets: &[TargetId],
    services: &[Service],
    asking: Asking,
) -> Result<bool, CliError> {
    let intent = Intent::from_targets(catalog, targets, services)?;
    let lines = intent.lines();
    if lines.is_empty() {
        return Ok(true);
    }
    if !(asking.yes && asking.quiet) {
        lines.iter().for_each(output::say);
    }
    if asking.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(CliError::User(
            "installing runs the commands above and needs consent: add --yes, or run it on a terminal"
                .into(),
        ));
    }
    output::ask("Go on? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(CliError::io("read the answer"))?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        _ => Err(CliError::User("nothing was installed; without --install, the targets that are already installed are measured".into())),
    }
}

impl Intent {
    fn from_targets(
        catalog: &Catalog,
        targets: &[TargetId],
        services: &[Service],
    ) -> Result<Self, CliError> {
        let mut intent = Self::default();
        let has_database = |id| catalog.target(id).is_ok_and(|it| it.world.has_database());
        let is_needed = services.contains(&Service::Postgres) || targets.iter().any(has_database);
        if is_needed && !postgres::is_there() {
            intent.packages.extend(apt::missing(&[postgres::PACKAGE.to_string()]));
            intent.services.push(postgres::FALLBACK.into());
        }
        for id in targets {
            let target = catalog.target(id)?;
            // The user's own build needs no consent.
            if install::present(&target).is_some() || matches!(target.kind, Kind::Command) {
                continue;
            }
            let ways = target.manifest.ways();
            let mut lines = Vec::new();
            for route in &ways {
                intent.packages.extend(apt::missing(&route.apt));
                if ways.len() > 1 && !route.steps.is_empty() {
                    lines.push(format!("  route {}:", route.name));
                }
                let indent = if ways.len() > 1 { "    " } else { "  " };
                lines.extend(route.steps.iter().map(|step| format!("{indent}{}", words(step))));
            }
            if !lines.is_empty() {
                lines.insert(0, format!("{} in {}:", target.id, shown(&target, catalog.root())));
                intent.steps.insert(target.id.clone(), lines);
            }
        }
        Ok(intent)
    }

    /// Empty if nothing would run.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.packages.is_empty() {
            let packages: Vec<String> = self.packages.iter().cloned().collect();
            lines.push(
                "System packages that may be needed (each only if no other way to install works):"
                    .into(),
            );
            lines.push(format!("  {}", apt::command(&packages).join(" ")));
        }
        for service in &self.services {
            lines.push("If no package brings PostgreSQL:".into());
            lines.push(format!("  {service}"));
        }
        if !self.steps.is_empty() {
            lines.push(
                "Commands that install targets, each in the target's folder, with your rights (of several routes the first that works):"
                    .into(),
            );
        }
        lines.extend(self.steps.values().flatten().cloned());
        lines
    }
}

/// A target's folder, relative to the user's own.
fn shown(target: &Target, root: &Path) -> String {
    target.folder.strip_prefix(root).unwrap_or(&target.folder).display().to_string()
}

/// A command as one would type it, with quotes where needed.
fn words(command: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,%{}".contains(c);
    let word = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let command = ["sh", "-c", "curl 'x' | sh", ""].map(String::from);
        assert_eq!(words(&command), r"sh -c 'curl '\''x'\'' | sh' ''");
    }
}
