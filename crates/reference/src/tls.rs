//! TLS for tests: certificates made by the test, and a front that puts TLS in front of any other
//! server.
//!
//! ```
//! use pippin_reference::scripted::{Answer, Script, spawn}; use pippin_reference::tls::{Authority,
//! Certified, Front, Manner}; let server = spawn(Script::always(Answer::ok(b"hello")))?; let
//! authority = Authority::new(); let front = Front::spawn(server.address(),
//! authority.server(&Certified::default()), Manner::default())?; // A client that trusts
//! `authority.pem()` now finds the scripted server behind https://{front.address()}/.
//! assert_eq!(front.account().handshakes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod certificates;
mod front;

pub use certificates::{Authority, Certified};
pub use front::{Front, FrontAccount, Manner};
