//! Several generators as one load: agents that connect to a NATS server, and a coordinator that
//! distributes a load among them, starts them together and merges their measurements.
//!
//! | module | what it does |
//! |---|---|
//! | [`accounts`] | users, rights and certificates of a fleet, as files |
//! | [`message`] | the messages between coordinator and agents |
//! | [`pieces`] | long texts in several messages |
//! | `caught` | a panic as the failure of one order |
//! | [`claim`] | which coordinator a member works for |
//! | [`clock`] | the clocks of agents compared with the coordinator's |
//! | [`share`] | which part of a load each agent takes |
//! | [`merge`] | the results of all agents as one |
//! | [`patience`] | how long members wait for each other |
//! | [`nats`] | the connection, and when it may be used |
//! | [`actor`] | an event loop around one member of a fleet |
//! | [`agent`] | a member that applies slices, or makes runs |
//! | [`coordinator`] | the member that distributes slices |
//! | [`fleet`] | a fleet as a generator of the lab |
//! | [`probe`] | a run on the targets' machine, for a coordinator elsewhere |
//! | [`local`] | a NATS server and agents on this machine |
//! | [`simulate`] | many agents that load nothing, to see what a large fleet costs |
//! | [`error`] | what can go wrong |
pub mod accounts;
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
pub mod patience;
pub mod pieces;
pub mod probe;
pub mod share;
pub mod simulate;

pub use error::FleetError;
