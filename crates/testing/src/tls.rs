//! TLS for tests: certificates made by the test, and a front that puts TLS in front of any other
//! server.
//!
//! `examples` shows how a front is put before a server.
mod certificates;
mod front;

pub use certificates::{Authority, Certified};
pub use front::{Front, FrontAccount, FrontBehaviour};
