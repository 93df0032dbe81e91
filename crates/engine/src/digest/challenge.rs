//! What a server asks for in `WWW-Authenticate` (RFC 7616 section 3.3), and which of it is answered.
use http_auth::parser::ChallengeParser;
use http_auth::{ChallengeRef, ParamValue};
use pippin_model::scenario::find::Answer;

use super::formula::Hash;

/// The field in which a server asks (RFC 9110 section 11.6.1).
pub(crate) const FIELD: &str = "www-authenticate";
/// The status with which it asks.
pub(crate) const UNAUTHORIZED: u16 = 401;

/// A challenge that can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub realm: String,
    pub nonce: String,
    /// What the answer is to repeat.
    pub opaque: Option<String>,
    pub hash: Hash,
    /// Whether the hash of name and password is made once for a nonce (`-sess`).
    pub is_session: bool,
    /// The algorithm as the server wrote it; `None` if it named none, which is MD5.
    pub algorithm: Option<String>,
    /// Whether requests are counted (`qop=auth`). Without it the server is of RFC 2069.
    pub has_qop: bool,
    /// The server refused a nonce only because it is too old.
    pub is_stale: bool,
}

impl Challenge {
    /// The first challenge of an answer that can be answered, as the standard prefers it.
    ///
    /// # Errors
    /// Why none of them can be, in words that follow "the server".
    pub fn of_head(head: &[u8]) -> Result<Self, String> {
        Self::among(Answer::new(head, &[]).headers(FIELD))
    }

    /// The first of these values of [`FIELD`] that can be answered.
    ///
    /// # Errors
    /// Why none of them can be, in words that follow "the server".
    pub fn among<'a>(values: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut why = None;
        let mut others = Vec::new();
        for value in values {
            for challenge in ChallengeParser::new(value) {
                match challenge {
                    Ok(one) if one.scheme.eq_ignore_ascii_case("digest") => match read(&one) {
                        Ok(challenge) => return Ok(challenge),
                        Err(reason) => why = why.or(Some(reason)),
                    },
                    Ok(other) => others.push(other.scheme.to_string()),
                    Err(_) => why = why.or(Some("asks in a form that is not HTTP's".into())),
                }
            }
        }
        Err(why.unwrap_or_else(|| match others.as_slice() {
            [] => "does not say how it wants to know who asks (no WWW-Authenticate)".into(),
            _ => format!("asks for {} and not for a digest", others.join(", ")),
        }))
    }
}

/// What a challenge for a digest says.
fn read(challenge: &ChallengeRef<'_>) -> Result<Challenge, String> {
    let value = |name: &str| {
        let mut all = challenge.params.iter();
        let found = all.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value): &(&str, ParamValue<'_>)| value.to_unescaped())
    };
    let needed =
        |name: &str| value(name).ok_or_else(|| format!("asks for a digest without {name}"));
    if value("userhash").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return Err("asks for the hash of the name (userhash), which Pippin does not send".into());
    }
    let algorithm = value("algorithm");
    let (hash, is_session) = match algorithm.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("md5") => (Hash::Md5, false),
        Some("md5-sess") => (Hash::Md5, true),
        Some("sha-256") => (Hash::Sha256, false),
        Some("sha-256-sess") => (Hash::Sha256, true),
        Some(_) => {
            let name = algorithm.unwrap_or_default();
            return Err(format!(
                "asks for the algorithm {name}; Pippin has MD5, SHA-256 and their forms with -sess"
            ));
        }
    };
    let qop = value("qop");
    let has_qop = match &qop {
        None => false,
        Some(list) if list.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth")) => true,
        Some(list) => {
            return Err(format!(
                "asks for the quality of protection {list}; Pippin has auth, without hashes of bodies (auth-int)"
            ));
        }
    };
    if is_session && !has_qop {
        return Err(
            "asks for a digest of a session (-sess) without qop, which has no meaning".into()
        );
    }
    Ok(Challenge {
        realm: needed("realm")?,
        nonce: needed("nonce")?,
        opaque: value("opaque"),
        hash,
        is_session,
        algorithm,
        has_qop,
        is_stale: value("stale").is_some_and(|text| text.eq_ignore_ascii_case("true")),
    })
}

/// Why a request with a digest was refused, from what came of the answer; `None` if that does not
/// show.
pub(crate) fn refusal(head: &[u8]) -> Option<String> {
    if !head.starts_with(b"HTTP/") {
        return None;
    }
    let realm = |challenge: &Challenge| challenge.realm.escape_debug().to_string();
    Some(match Challenge::of_head(head) {
        Ok(asked) if asked.is_stale => format!(
            "the nonce was too old for the realm \"{}\": the next request of this user has a new one",
            realm(&asked)
        ),
        Ok(asked) => format!(
            "the server refuses name and password, or the count of requests, for the realm \"{}\"",
            realm(&asked)
        ),
        Err(why) => format!("the server {why}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever a server writes is read or refused, and what is read cannot end a line of a head.
        #[test]
        fn no_field_is_a_fault(values in prop::collection::vec("([Dd]igest )?[a-z]{0,6}=?\"?[ -~é]{0,24}", 0..3)) {
            let head = format!("HTTP/1.1 401 No\r\nWWW-Authenticate: {}\r\n\r\n", values.join(", nonce=\"n\", realm="));
            match Challenge::of_head(head.as_bytes()) {
                Ok(asked) => prop_assert!(!asked.nonce.contains(['\r', '\n'])),
                Err(_) => prop_assert!(refusal(head.as_bytes()).is_some()),
            }
        }
    }

    fn challenge_among(values: &[&str]) -> Result<Challenge, String> {
        Challenge::among(values.iter().copied())
    }

    #[test]
    fn the_first_challenge_that_can_be_answered_is_taken() {
        let values = [
            "Basic realm=\"a\", Digest realm=\"b\", nonce=\"n\", algorithm=SHA-512-256, qop=\"auth\"",
            "digest realm=\"a \\\"quoted\\\" one\", nonce=\"x,y\", qop=\"auth-int, auth\", algorithm=SHA-256-sess, opaque=\"o\", stale=TRUE",
            "Digest realm=\"later\", nonce=\"n\"",
        ];
        let right = Challenge {
            realm: "a \"quoted\" one".into(),
            nonce: "x,y".into(),
            opaque: Some("o".into()),
            hash: Hash::Sha256,
            is_session: true,
            algorithm: Some("SHA-256-sess".into()),
            has_qop: true,
            is_stale: true,
        };
        assert_eq!(challenge_among(&values), Ok(right));
        let old = challenge_among(&values[2..]).unwrap();
        assert!(!old.has_qop && !old.is_stale && old.hash == Hash::Md5 && old.algorithm.is_none());
        let head = b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Digest realm=\"later\", nonce=\"n\"\r\n\r\n";
        assert_eq!(Challenge::of_head(head), Ok(old));
    }

    /// Each is refused by its name.
    #[test]
    fn what_cannot_be_answered_is_named() {
        for (value, part) in [
            ("", "no WWW-Authenticate"),
            ("Basic realm=\"a\"", "asks for Basic"),
            ("Digest realm=\"a\", nonce=\"n\", userhash=true", "userhash"),
            ("Digest realm=\"a\", nonce=\"n\", algorithm=SHA-512-256", "SHA-512-256"),
            ("Digest realm=\"a\", nonce=\"n\", qop=\"auth-int\"", "auth-int"),
            ("Digest realm=\"a\", nonce=\"n\", algorithm=MD5-sess", "without qop"),
            ("Digest nonce=\"n\"", "without realm"),
            ("Digest realm=\"a\"", "without nonce"),
            ("Digest realm=\"a", "not HTTP's"),
        ] {
            let values = if value.is_empty() { vec![] } else { vec![value] };
            let why = challenge_among(&values).unwrap_err();
            assert!(why.contains(part), "{value}: {why}");
        }
    }

    #[test]
    fn a_refusal_says_the_realm_and_whether_the_nonce_was_old() {
        let head = |stale: &str| {
            format!(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"shop\", nonce=\"n\"{stale}\r\n\r\n"
            )
        };
        let (wrong, old) = (head(""), head(", stale=true"));
        assert!(refusal(wrong.as_bytes()).unwrap().contains("refuses name and password"));
        assert!(refusal(wrong.as_bytes()).unwrap().contains("\"shop\""));
        assert!(refusal(old.as_bytes()).unwrap().contains("too old"));
        assert_eq!(refusal(b"the rest of a body"), None);
    }
}
