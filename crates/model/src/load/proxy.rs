//! An HTTP proxy between the load and its server, and what was seen of it.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::credentials::Credentials;

/// A proxy that requests go through (RFC 9110 section 3.7). The addresses of the load are its
/// addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// Its host and port, as they were written.
    pub authority: String,
    /// Host and port that each connection asks the proxy for (CONNECT, RFC 9110 section 9.3.6).
    /// `None` sends each request to the proxy itself, in absolute form (RFC 9112 section 3.2.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
    /// Who asks; `None` if the proxy is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
}

/// The result of tunnels through a proxy over the whole load, including warm-up and first
/// connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyUse {
    /// See [`Proxy::authority`].
    pub authority: String,
    /// See [`Proxy::tunnel`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
    /// The reasons why no tunnel was opened, with their numbers.
    pub failures: BTreeMap<String, u64>,
}

impl Proxy {
    /// The header field with the credentials (RFC 9110 section 11.7.2), if there are any.
    #[must_use]
    pub fn authorization(&self) -> Option<(String, String)> {
        let credentials = self.credentials.as_ref()?;
        Some((Self::AUTHORIZATION.into(), credentials.basic()))
    }

    /// The name of the header field that is for the proxy alone.
    pub const AUTHORIZATION: &str = "Proxy-Authorization";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_in_no_record_and_in_no_message() {
        let proxy = Proxy {
            authority: "127.0.0.1:3128".into(),
            tunnel: None,
            credentials: Some(Credentials::of_url("name:secret").unwrap()),
        };
        let shown = format!("{proxy:?} {}", serde_json::to_string(&proxy).unwrap());
        assert!(!shown.contains("secret") && !shown.contains("name"), "{shown}");
        // That there were some is known.
        let read: Proxy = serde_json::from_str(&serde_json::to_string(&proxy).unwrap()).unwrap();
        assert_eq!(read.credentials, Some(Credentials::default()));
    }
}
