//! The protocol of a target, as plans, manifests and project files name it.
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::load::Protocol;

/// A protocol, with or without TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spoken {
    /// HTTP/1.1 over plain TCP.
    #[default]
    Http1,
    /// HTTP/1.1 over TLS.
    Https,
    /// HTTP/2 over plain TCP. The server must expect it (prior knowledge, RFC 9113 section 3.3).
    H2c,
    /// HTTP/2 over TLS, negotiated by ALPN (RFC 9113 section 3.2).
    #[serde(alias = "http2")]
    H2,
    /// HTTP/3 over QUIC (RFC 9114), which has TLS in it.
    #[serde(alias = "http3")]
    H3,
}

impl Spoken {
    /// The protocol without TLS.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Http1 | Self::Https => Protocol::Http1,
            Self::H2c | Self::H2 => Protocol::Http2,
            Self::H3 => Protocol::Http3,
        }
    }

    /// Whether it uses TLS.
    #[must_use]
    pub const fn is_secured(self) -> bool {
        matches!(self, Self::Https | Self::H2 | Self::H3)
    }

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Https => "https",
            Self::H2c => "h2c",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }
}

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for spoken in [Spoken::Http1, Spoken::Https, Spoken::H2c, Spoken::H2, Spoken::H3] {
            assert_eq!(serde_json::to_value(spoken).unwrap(), spoken.name());
        }
        for (alias, spoken) in [("\"http2\"", Spoken::H2), ("\"http3\"", Spoken::H3)] {
            assert_eq!(serde_json::from_str::<Spoken>(alias).unwrap(), spoken);
        }
    }
}
