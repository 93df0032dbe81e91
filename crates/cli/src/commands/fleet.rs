//! From the flags of `load` and `run` to the fleet that applies their loads.
use pippin_fleet::TOKEN;
use pippin_fleet::coordinator::Wanted;
use pippin_fleet::fleet::{Fleet, FleetSettings, splits};
use pippin_fleet::local::{Local, LocalSettings};
use pippin_fleet::nats::Nats;
use pippin_lab::lifecycle::affinity;
use pippin_model::plan::cpus::CpuSet;
use pippin_model::text::units::{counted, format_count};

use super::Shared;
use crate::arguments::{FleetArguments, NatsArguments};
use crate::exit::CliError;
use crate::output;
use crate::signals;

/// What a command already knows about the loads of the fleet.
pub struct Loads<'a> {
    /// Threads on each agent, if the user asked for a number.
    pub threads: Option<u32>,
    /// The generator's processors on this machine; empty for all.
    pub cpus: CpuSet,
    /// The fewest connections of a load, if that is known before it is made.
    pub connections: Option<u64>,
    /// Hosts that the user allowed to load.
    pub allowed_hosts: &'a [String],
}

/// The fleet, if one is asked for.
pub fn gather(
    shared: &Shared,
    arguments: &FleetArguments,
    loads: &Loads<'_>,
) -> Result<Option<Fleet>, CliError> {
    let Some(agents) = arguments.agents.map(usize::from) else {
        return match &arguments.nats.nats {
            Some(_) => {
                Err(CliError::User("--nats needs the number of agents: add --agents N".into()))
            }
            None => Ok(None),
        };
    };
    // Before any agent is started or asked.
    loads.connections.map_or(Ok(()), |connections| splits(connections, agents))?;
    let say = |text: &str| {
        if !shared.quiet {
            output::say(text);
        }
    };
    // A third signal ends this process at once. Everything started from here on ends with it.
    let stop = signals::catch();
    let (nats, local) = match nats(&arguments.nats)? {
        Some(nats) => (nats, None),
        None => {
            let local = start(shared, agents, loads)?;
            (local.nats().clone(), Some(local))
        }
    };
    let settings = FleetSettings {
        nats,
        wanted: Wanted { agents, within_ns: arguments.agents_within.ns() },
        threads: loads.threads,
        local,
        say: &say,
        stop,
    };
    let fleet = Fleet::gather(settings)?;
    say(&in_words(&fleet));
    Ok(Some(fleet))
}

fn start(shared: &Shared, agents: usize, loads: &Loads<'_>) -> Result<Local, CliError> {
    let cpus = if loads.cpus.is_empty() { affinity::available() } else { loads.cpus.clone() };
    let store = shared.store_path().ok().filter(|path| path.is_file());
    let settings = LocalSettings {
        agents,
        cpus,
        allowed_hosts: loads.allowed_hosts,
        store: store.and_then(|path| std::path::absolute(path).ok()),
    };
    Ok(Local::start(&settings)?)
}

fn in_words(fleet: &Fleet) -> String {
    let agents = fleet.agents();
    let named: Vec<String> = agents
        .iter()
        .map(|(name, hello)| {
            let processors = counted(hello.processors.into(), "processor");
            let ceiling = hello.ceiling_per_s.map_or_else(String::new, |rate| {
                format!(", at most {} requests/s", format_count(rate))
            });
            format!("{name} ({processors}{ceiling})")
        })
        .take(10)
        .collect();
    let rest = if agents.len() > named.len() { ", ..." } else { "" };
    format!("{}: {}{rest}", counted(agents.len() as u64, "agent"), named.join(", "))
}

/// The NATS server of the flags, if they name one.
pub fn nats(arguments: &NatsArguments) -> Result<Option<Nats>, CliError> {
    let Some(url) = arguments.nats.clone() else { return Ok(None) };
    let nats = Nats {
        url,
        creds: arguments.creds.clone(),
        token: arguments.token.clone().or_else(|| std::env::var(TOKEN).ok()),
        tls_ca: arguments.tls_ca.clone(),
    };
    nats.check()?;
    Ok(Some(nats))
}
