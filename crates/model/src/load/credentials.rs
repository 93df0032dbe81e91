//! A name and a password that servers or proxies ask for.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

/// A name and a password. They are in no record and in no message to other machines.
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
        Self::new(&decoded(user), &decoded(password))
    }

    /// A name and a password as they are.
    ///
    /// # Errors
    /// If there is no name, or a name or a password has control characters, which no header field
    /// can carry.
    pub fn new(user: &str, password: &str) -> Result<Self, &'static str> {
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
    pub(super) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(&self.user_and_password))
    }

    /// Name and password. Both are empty in what was read from a record.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        self.user_and_password.split_once(':').unwrap_or_default()
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
        let both = Credentials::new("ana", "a:b").unwrap();
        assert_eq!(both.parts(), ("ana", "a:b"));
    }
}
