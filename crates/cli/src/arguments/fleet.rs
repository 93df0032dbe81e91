//! The flags of `pippin agent`, and the flags of other commands that let a fleet apply their loads.
use clap::{Args, ValueHint};
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
    /// How long to wait for the agents to answer.
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "agents", value_parser = values::length)]
    pub agents_within: Time,
}

/// A NATS server.
#[derive(Debug, Args)]
pub struct NatsArguments {
    /// The NATS server of a fleet: nats://127.0.0.1:4222, or tls://HOST:4222 beyond this machine.
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// A NATS credentials file.
    #[arg(long, value_name = "FILE", requires = "nats", value_hint = ValueHint::FilePath)]
    pub creds: Option<PathBuf>,
    /// The token for the NATS server. Better set the variable PIPPIN_NATS_TOKEN, which other users
    /// of this machine cannot read.
    #[arg(
        long = "nats-token",
        visible_alias = "token",
        value_name = "TEXT",
        requires = "nats",
        conflicts_with = "creds"
    )]
    pub token: Option<String>,
    /// Also trust this certificate authority (PEM) for the NATS server.
    #[arg(long, value_name = "FILE", requires = "nats", value_hint = ValueHint::FilePath)]
    pub tls_ca: Option<PathBuf>,
}

/// `pippin agent`
#[derive(Debug, Args)]
#[command(
    after_help = "An agent dials out and listens on no port. It works for one coordinator at a time, and ends its load\nif it hears nothing from it for 4 s. It loads this machine and the hosts of --allow-host, nothing else.\nA probe (--probe) stands beside the targets instead (docs/fleet.md).\n\nExamples:\n  pippin agent --nats nats://127.0.0.1:4222\n  PIPPIN_NATS_TOKEN=... pippin agent --nats tls://nats.example:4222 --tls-ca ca.pem --allow-host 10.1.2.3\n  PIPPIN_NATS_TOKEN=... pippin agent --nats tls://nats.example:4222 --probe --name site --address 10.1.2.3"
)]
pub struct AgentArguments {
    /// The server.
    #[command(flatten)]
    pub nats: NatsArguments,
    /// The agent's name, one word; by default the host's name and a number.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Words about this machine that results show: zone-a,c5.large
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// A host that this agent may load besides its own machine; may be given several times.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
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
