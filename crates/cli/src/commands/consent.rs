//! Asking before system packages are installed.
use pippin_lab::catalog::Catalog;
use pippin_lab::install::{self, apt};
use pippin_lab::services::postgres;
use pippin_model::target::TargetId;
use pippin_model::workload::Service;
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};

use crate::exit::CliError;
use crate::output;

/// Shows what `--install` would do and asks once on a terminal; elsewhere `--yes` must have been
/// given. Whether apt may be used.
pub fn for_packages(
    catalog: &Catalog,
    targets: &[TargetId],
    services: &[Service],
    yes: bool,
) -> Result<bool, CliError> {
    let mut packages: BTreeSet<String> = BTreeSet::new();
    if services.contains(&Service::Postgres) && !postgres::is_there() {
        packages.extend(apt::missing(&[postgres::PACKAGE.to_string()]));
    }
    for id in targets {
        let target = catalog.target(id)?;
        if install::present(&target).is_none() {
            packages
                .extend(target.manifest.ways().iter().flat_map(|route| apt::missing(&route.apt)));
        }
    }
    if packages.is_empty() {
        return Ok(true);
    }
    let packages: Vec<String> = packages.into_iter().collect();
    output::say(format_args!(
        "System packages that the targets may need (each only where no other way to install works):\n  {}",
        apt::command(&packages).join(" ")
    ));
    output::say("Everything else is installed inside the folders of the targets.");
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(CliError::User(
            "installing system packages needs consent: add --yes, or run it on a terminal".into(),
        ));
    }
    output::ask("Go on? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(CliError::io("read the answer"))?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        _ => Err(CliError::User("nothing was installed; without --install the targets that are there already are measured".into())),
    }
}
