//! Several generators as one load: agents that connect to a NATS server, and a coordinator that
//! distributes a load among them, starts them together and merges their measurements.
//!
//! | module | what it does |
//! |---|---|
//! | [`message`] | the messages between coordinator and agents |
//! | [`pieces`] | long texts in several messages |
//! | `caught` | a panic as the failure of one order |
//! | [`claim`] | which coordinator a member works for |
//! | [`clock`] | the clocks of agents compared with the coordinator's |
//! | [`share`] | which part of a load each agent takes |
//! | [`merge`] | the results of all agents as one |
//! | [`nats`] | the connection, and when it may be used |
//! | [`actor`] | an event loop around one member of a fleet |
//! | [`agent`] | a member that applies slices, or makes runs |
//! | [`coordinator`] | the member that distributes slices |
//! | [`fleet`] | a fleet as a generator of the lab |
//! | [`probe`] | a run on the targets' machine, for a coordinator elsewhere |
//! | [`local`] | a NATS server and agents on this machine |
//! | [`simulate`] | many agents that load nothing, to see what a large fleet costs |
//! | [`error`] | what can go wrong |
pub mod actor;
pub mod agent;
mod caught;
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

/// A member that hears nothing for this long gives the other one up, in nanoseconds. Agents then
/// end their load, so none goes on for more than 5 s after its coordinator is gone.
pub const PATIENCE_NS: u64 = 4_000_000_000;
