//! `pippin agent`: one generator of a fleet, or a probe beside its target.
use pippin_fleet::agent::Policy;
use pippin_fleet::fleet::{AgentSettings, Duty, serve};
use pippin_lab::lifecycle::{affinity, port};
use pippin_model::plan::cpus::CpuSet;
use pippin_store::Store;

use super::nats::{Settings, settings};
use super::{Shared, catalog, place};
use crate::arguments::AgentArguments;
use crate::exit::{self, CliError};
use crate::output;
use crate::signals;

pub fn run(shared: &Shared, arguments: &AgentArguments) -> Result<u8, CliError> {
    let Settings { nats, name } = settings(&arguments.nats)?.ok_or_else(|| {
        CliError::User(
            "an agent needs a NATS server: --nats nats://127.0.0.1:4222 (`pippin help fleet`)"
                .into(),
        )
    })?;
    let say = |text: &str| {
        if !shared.quiet {
            output::say(format_args!("{} {text}", utc()));
        }
    };
    let settings = AgentSettings {
        nats,
        name: arguments.name.clone().or(name),
        tags: arguments.tags.clone(),
        duty: duty(shared, arguments)?,
        say: &say,
        stop: signals::catch(),
    };
    serve(settings)?;
    Ok(exit::OK)
}

fn duty(shared: &Shared, arguments: &AgentArguments) -> Result<Duty, CliError> {
    let Some(address) = arguments.address.filter(|_| arguments.probe) else {
        return Ok(Duty::Load {
            policy: Policy::allowing(&arguments.allow_host)?,
            cores: cores(arguments.cpus.as_ref())?,
            source_addresses: arguments.source_ips.clone(),
            calibration: calibration(shared).map(Box::new),
        });
    };
    port::free_at(address).map_err(|error| {
        CliError::User(format!(
            "--address {address}: {error}; name an address of this machine that the agents reach"
        ))
    })?;
    Ok(Duty::Probe {
        catalog: Box::new(catalog(&place()?)?),
        address,
        install: arguments.install,
        apt: arguments.yes,
    })
}

/// The generator's ceiling, if it is known. An agent does not create a store.
fn calibration(shared: &Shared) -> Option<pippin_model::run::Calibration> {
    let path = shared.store_path().ok().filter(|path| path.is_file())?;
    Store::open(&path).ok()?.calibration().ok().flatten()
}

fn cores(cpus: Option<&CpuSet>) -> Result<Vec<u32>, CliError> {
    let available = affinity::available();
    let cpus = cpus.unwrap_or(&available);
    match cpus.0.difference(&available.0).next() {
        Some(missing) => Err(CliError::User(format!(
            "--cpus names processor {missing}, but this process may use {available}"
        ))),
        None => Ok(cpus.0.iter().copied().collect()),
    }
}

/// The time of day in UTC, for a log: 14:03:59Z.
fn utc() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
