//! TLS for tests: certificates made by the test, and a front that puts TLS in front of any other
//! server.
//!
//! ```
//! use pippin_testing::scripted::{Answer, Script, spawn};
//! use pippin_testing::tls::{Authority, Certified, Front, FrontBehaviour};
//! let server = spawn(Script::always(Answer::ok(b"hello")))?;
//! let authority = Authority::new();
//! let config = authority.server(&Certified::default());
//! let front = Front::spawn(server.address(), config, FrontBehaviour::default())?;
//! // A client that trusts `authority.pem()` now finds the scripted server behind it.
//! assert_eq!(front.account().handshakes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod certificates;
mod front;

pub use certificates::{Authority, Certified};
pub use front::{Front, FrontAccount, FrontBehaviour};
