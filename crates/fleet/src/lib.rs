//! Several generators as one load: agents that dial out to a NATS server, and a coordinator that
//! deals a load out to them, starts them together and merges what they measured.
//!
//! | module | what it does |
//! |---|---|
//! | [`message`] | what coordinator and agents tell each other |
//! | [`pieces`] | long texts in several messages |
//! | [`claim`] | whom a member works for |
//! | [`clock`] | the clocks of agents beside the coordinator's |
//! | [`share`] | which part of a load each agent takes |
//! | [`merge`] | the results of all agents as one |
//! | [`nats`] | the connection, and who may speak over it |
//! | [`actor`] | an event loop around one member of a fleet |
//! | [`agent`] | a member that applies slices, or makes runs |
//! | [`coordinator`] | the member that deals them out |
//! | [`fleet`] | a fleet as a generator of the lab |
//! | [`probe`] | a run beside its targets, for a coordinator elsewhere |
//! | [`local`] | a NATS server and agents on this machine |
//! | [`simulate`] | many agents that load nothing, to see what a large fleet costs |
//! | [`error`] | what can go wrong |
pub mod actor;
pub mod agent;
pub mod claim;
pub mod clock;
pub mod coordinator;
pub mod error;
pub mod fleet;
pub mod local;
pub mod merge;
pub mod message;
pub mod nats;
pub mod pieces;
pub mod probe;
pub mod share;
pub mod simulate;

pub use error::FleetError;

/// The variable that holds the NATS token.
pub const TOKEN: &str = "PIPPIN_NATS_TOKEN";

/// Who hears nothing for so long gives the other up, nanoseconds. Agents then end their load, so
/// that none goes on 5 s after its coordinator is gone.
pub const PATIENCE_NS: u64 = 4_000_000_000;
