//! The errors of a reference server.
use std::io;
use std::net::SocketAddr;

/// A reference server could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{action} failed: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The server cannot listen on the address.
    #[error(
        "cannot listen on {address}: {source}; choose another address or a free port (port 0 lets the kernel choose)"
    )]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// A setting makes no sense.
    #[error("{what}: {fix}")]
    Config {
        /// What is wrong.
        what: String,
        /// What to do.
        fix: &'static str,
    },
    /// A packet capture is incomplete or wrong.
    #[error("the packet capture cannot be used: {0}")]
    Capture(String),
    /// The server's thread panicked.
    #[error("the server's thread panicked: a defect in the reference server")]
    Panicked,
}

impl Error {
    /// The error of the last system call, with what was tried.
    pub fn last(action: &'static str) -> Self {
        Self::System { action, source: io::Error::last_os_error() }
    }
}
