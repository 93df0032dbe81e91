//! The flags of `pippin agent`, and the flags of other commands that let a fleet apply their loads.
use clap::{Args, Subcommand, ValueHint};
use pippin_model::plan::cpus::CpuSet;
use std::path::PathBuf;

use crate::values::{self, Time};

/// The fleet that applies a load; without `--agents` this process does.
#[derive(Debug, Args)]
pub struct FleetArguments {
    /// How many agents generate the load together. Without --nats, Pippin starts them and a
    /// nats-server on this machine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub agents: Option<u16>,
    /// The server that the agents are at.
    #[command(flatten)]
    pub nats: NatsArguments,
    /// How long to wait for the agents to answer, and for others after some were lost.
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "agents", value_parser = values::length)]
    pub agents_within: Time,
    /// Only these agents may take part, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "agents")]
    pub agents_named: Vec<String>,
    /// How many agents with a tag must take part: zone=eu:4,zone=us:2
    #[arg(long = "tags", value_name = "TAG:N", value_delimiter = ',', requires = "agents", value_parser = values::tagged)]
    pub tagged: Vec<(String, usize)>,
    /// How long coordinator and agents may hear nothing of each other before a load ends. Agents
    /// keep their results for 10 minutes more.
    #[arg(long, value_name = "TIME", default_value = "4s", requires = "agents", value_parser = values::patience)]
    pub patience: Time,
}

/// A NATS server.
#[derive(Debug, Args)]
pub struct NatsArguments {
    /// The NATS server of a fleet: nats://127.0.0.1:4222, or tls://HOST:4222 beyond this machine.
    /// By default that of the variable PIPPIN_NATS. User and password are those of the variables
    /// PIPPIN_NATS_USER and PIPPIN_NATS_PASSWORD.
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// A file with these variables, as `pippin fleet init` writes them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub nats_file: Option<PathBuf>,
    /// A NATS credentials file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub creds: Option<PathBuf>,
    /// Also trust this certificate authority (PEM) for the NATS server.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub tls_ca: Option<PathBuf>,
}

/// `pippin fleet`
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Write the accounts of a fleet: a certificate for its NATS server, a user with its own rights
    /// for each member, and a file of variables for each.
    Init(FleetInitArguments),
}

/// `pippin fleet init`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  pippin fleet init accounts --server nats.example --agents a,b,c\n  pippin fleet init accounts --server nats.pippin.svc --agents agent-0,agent-1 --probes site --place /etc/nats"
)]
pub struct FleetInitArguments {
    /// A new folder for the files.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// A name or an address by which members reach the NATS server; may be given several times.
    /// The certificate is for all of them and for this machine.
    #[arg(long, value_name = "HOST", required = true, value_delimiter = ',')]
    pub server: Vec<String>,
    /// The port of the NATS server.
    #[arg(long, value_name = "PORT", default_value_t = 4222)]
    pub port: u16,
    /// The names of the agents, separated by commas.
    #[arg(long, value_name = "LIST", required = true, value_delimiter = ',')]
    pub agents: Vec<String>,
    /// The names of the probes, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub probes: Vec<String>,
    /// The names by which the servers of a cluster reach each other, separated by commas. Without
    /// it there is one server.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cluster: Vec<String>,
    /// The folder in which the NATS server will find its files, if they go to another machine.
    #[arg(long, value_name = "DIR")]
    pub place: Option<PathBuf>,
}

/// `pippin agent`
#[derive(Debug, Args)]
#[command(
    after_help = "An agent dials out and listens on no port. It works for one coordinator at a time, and ends its load\nif it hears nothing from it for as long as the coordinator's --patience says (4 s). It loads this machine and the hosts of --allow-host, nothing else.\nA probe (--probe) stands beside the targets instead (pippin help fleet).\n\nExamples:\n  pippin agent --nats nats://127.0.0.1:4222\n  pippin agent --nats-file a.env --allow-host shop.example:443 --allow-host 10.1.0.0/16\n  pippin agent --nats-file site.env --probe --address 10.1.2.3"
)]
pub struct AgentArguments {
    /// The server.
    #[command(flatten)]
    pub nats: NatsArguments,
    /// The agent's name, one word; by default that of the variable PIPPIN_AGENT, else the host's name
    /// and a number.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Words about this machine that results show: zone-a,c5.large
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// A host that this agent may load besides its own machine: a name, an address, or a network as
    /// 10.1.0.0/16, each with a port or without; may be given several times.
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub allow_host: Vec<String>,
    /// Processors of the generator, with a thread on each; by default all that this process may
    /// use.
    #[arg(long, value_name = "LIST", value_parser = CpuSet::parse)]
    pub cpus: Option<CpuSet>,
    /// Local addresses to connect from, separated by commas: each has about 28,000 ports.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub source_ips: Vec<std::net::IpAddr>,
    /// Be a probe instead, on the targets' machine: install, start, prove and sample them for a
    /// `pippin run --probe NAME` on another machine. A probe generates no load.
    #[arg(long, requires = "address", conflicts_with_all = ["allow_host", "cpus", "source_ips"])]
    pub probe: bool,
    /// With --probe: the address of this machine where targets listen, which the agents must reach.
    #[arg(long, value_name = "IP", requires = "probe")]
    pub address: Option<std::net::IpAddr>,
    /// With --probe: allow runs to install what is missing inside the targets' folders.
    #[arg(long, requires = "probe")]
    pub install: bool,
    /// With --install: allow system packages too.
    #[arg(long, requires = "install")]
    pub yes: bool,
}
