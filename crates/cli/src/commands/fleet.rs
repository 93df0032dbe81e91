//! From the flags of `load` and `run` to the fleet that applies their loads.
use pippin_fleet::coordinator::Wanted;
use pippin_fleet::fleet::{Fleet, FleetSettings, splits};
use pippin_fleet::local::{Local, LocalSettings};
use pippin_lab::lifecycle::affinity;
use pippin_model::plan::cpus::CpuSet;
use pippin_model::text::units::{counted, format_count};

use super::Shared;
use super::nats::{Settings, settings};
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
    /// The host and port of the URL, which agents elsewhere look up themselves.
    pub host: Option<(String, u16)>,
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
        let NatsArguments { nats, nats_file, creds, tls_ca } = &arguments.nats;
        let given = [
            ("--nats", nats.is_some()),
            ("--nats-file", nats_file.is_some()),
            ("--creds", creds.is_some()),
            ("--tls-ca", tls_ca.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(CliError::User(format!(
                "{flag} has no effect without agents: add --agents N, or leave it out"
            ))),
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
    let (nats, local) = match settings(&arguments.nats)? {
        Some(Settings { nats, .. }) => (nats, None),
        None => {
            let local = start(shared, agents, loads)?;
            (local.nats().clone(), Some(local))
        }
    };
    let settings = FleetSettings {
        nats,
        wanted: wanted(arguments, agents)?,
        host: loads.host.clone(),
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

/// The agents that the flags ask for.
pub fn wanted(arguments: &FleetArguments, agents: usize) -> Result<Wanted, CliError> {
    let tagged: usize = arguments.tagged.iter().map(|(_, count)| count).sum();
    let named = arguments.agents_named.len();
    if tagged > agents {
        return Err(CliError::User(format!(
            "--tags asks for {}, and --agents for {agents}: raise --agents",
            counted(tagged as u64, "agent")
        )));
    }
    if named > 0 && named < agents {
        return Err(CliError::User(format!(
            "--agents-named has {}, and --agents asks for {agents}: name more, or lower --agents",
            counted(named as u64, "name")
        )));
    }
    Ok(Wanted {
        named: arguments.agents_named.clone(),
        tagged: arguments.tagged.clone(),
        patience_ns: arguments.patience.ns(),
        ..Wanted::any(agents, arguments.agents_within.ns())
    })
}
