//! `pippin fleet init`: the accounts of a fleet as files.
use pippin_fleet::accounts::{Account, Members};
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::arguments::FleetInitArguments;
use crate::exit::{self, CliError};
use crate::output;

pub fn run(arguments: &FleetInitArguments) -> Result<u8, CliError> {
    let folder = std::path::absolute(&arguments.folder)
        .map_err(CliError::io(format!("find {}", arguments.folder.display())))?;
    if folder.join("server").exists() || folder.join("members").exists() {
        return Err(CliError::User(format!(
            "{} has accounts already; new ones would lock their members out: name another folder, or remove it first",
            folder.display()
        )));
    }
    let members = Members {
        servers: arguments.server.clone(),
        port: arguments.port,
        agents: arguments.agents.clone(),
        probes: arguments.probes.clone(),
        cluster: arguments.cluster.clone(),
        place: arguments.place.clone().unwrap_or_else(|| folder.join("server")),
    };
    for account in members.accounts()? {
        write(&folder, &account)?;
    }
    output::print(advice(&folder, arguments).as_bytes())?;
    Ok(exit::OK)
}

fn write(folder: &Path, account: &Account) -> Result<(), CliError> {
    let path = folder.join(&account.path);
    let failed = || CliError::io(format!("write {}", path.display()));
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed())?;
    }
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(&path).map_err(failed())?;
    file.write_all(account.text.as_bytes()).map_err(failed())
}

fn advice(folder: &Path, arguments: &FleetInitArguments) -> String {
    let shown = folder.display();
    let agent = arguments.agents.first().map_or("NAME", String::as_str);
    let place = arguments.place.as_ref().map_or_else(
        || format!("{shown}/server"),
        |place| format!("{}, with the files of {shown}/server", place.display()),
    );
    format!(
        "Accounts are in {shown}. Each file is a secret: give a member its own .env file and ca.pem, and no other.\n  NATS server (in {place}): nats-server -c nats.conf\n  each agent:  pippin agent --nats-file {agent}.env --allow-host HOST\n  loads:       pippin load URL --nats-file coordinator.env --agents {}\n",
        arguments.agents.len()
    )
}
