//! An HTTP proxy between the load and its server, and what was seen of it.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// A name and a password for a proxy. They are in no record and in no message to other machines.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    #[serde(skip)]
    user_and_password: String,
}

/// Shows neither of them.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
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

impl Credentials {
    /// Reads the part of a URL before its `@`, `name:password`, where characters may be
    /// percent-encoded (RFC 3986 section 3.2.1).
    ///
    /// # Errors
    /// If there is no name, or a name or a password has control characters, which no header field
    /// can carry.
    pub fn of_url(userinfo: &str) -> Result<Self, &'static str> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
        let (user, password) = (decoded(user), decoded(password));
        if user.is_empty() {
            return Err("there is no name before the password");
        }
        if user.contains(':') {
            return Err("a name with a colon cannot be sent (RFC 7617 section 2)");
        }
        if user.chars().chain(password.chars()).any(char::is_control) {
            return Err("a name or a password with control characters cannot be sent");
        }
        Ok(Self { user_and_password: format!("{user}:{password}") })
    }

    /// Basic authentication (RFC 7617 section 2), in UTF-8.
    fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(&self.user_and_password))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7617 section 2, and the pound sign of section 2.1.
    #[test]
    fn credentials_are_those_of_the_standard() {
        for (userinfo, right) in [
            ("Aladdin:open%20sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test:123%C2%A3", "Basic dGVzdDoxMjPCow=="),
            ("name", "Basic bmFtZTo="),
        ] {
            assert_eq!(Credentials::of_url(userinfo).unwrap().basic(), right);
        }
        for wrong in [":x", "a%3Ab:c", "a:b%0D%0Ac"] {
            assert!(Credentials::of_url(wrong).is_err(), "{wrong}");
        }
    }

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
