//! The scripted server does what a test says and counts it, so that every figure of a client has a
//! known right value.
//!
//! A [`Script`] says what happens to connections and requests, an [`Answer`] what is sent for one
//! request and how. Instants in the [`Account`] are CLOCK_MONOTONIC, as the engine's.
//!
//! `examples` shows how a script is written and served.
mod account;
mod answer;
mod connection;
mod script;
mod server;
#[cfg(test)]
mod tests;
mod unreachable;

use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use pippin_reference::Error;
use pippin_reference::handle::{Running, Total, lock};

pub use account::{Account, Exchange};
pub use answer::Answer;
pub use script::{OnConnect, Received, Script};
pub use unreachable::{Refusing, Unaccepting};

/// Follows the script until `stop` is set (noticed within 20 ms, or at the end of a stall).
///
/// # Errors
/// If the event loop can't be set up.
pub fn serve(listener: TcpListener, script: Script, stop: &AtomicBool) -> Result<Account, Error> {
    let account = Mutex::default();
    server::run(&listener, script, &account, stop)?;
    let account = lock(&account).clone();
    Ok(account)
}

/// Follows the script on a free loopback port and a thread of its own.
///
/// # Errors
/// If there is no free port, or no thread can be started.
pub fn spawn(script: Script) -> Result<Running<Account>, Error> {
    Running::spawn(1, move |listener, accounts, stop| {
        server::run(&listener, script, &accounts[0], stop)
    })
}

impl Total for Account {
    fn total(accounts: &[Self]) -> Self {
        // Its one thread follows the script.
        accounts.first().cloned().unwrap_or_default()
    }
}
