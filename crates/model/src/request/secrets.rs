//! Values that a record does not keep: a length and a keyed digest stand for them. So one sees
//! whether two were the same, and nobody can try out what they were without the store's key.
use sha2::{Digest, Sha256};

use crate::load::{LoadSpec, Request};

/// Headers whose values are kept: what they may hold is known, and is no secret. All others may
/// hold one, whatever they are called.
const SAFE: [&str; 34] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-type",
    "date",
    "dnt",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "max-forwards",
    "origin",
    "pragma",
    "priority",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "x-requested-with",
];

/// How the text begins that stands for a value.
const NOT_KEPT: &str = "(not kept";

/// Makes digests with one key.
#[derive(Clone)]
pub struct Digests {
    key: [u8; 32],
}

/// Shows no key.
impl std::fmt::Debug for Digests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digests")
    }
}

impl Digests {
    /// With the key of a store.
    #[must_use]
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The text that stands for a value: `(not kept: 12 bytes, 9f86d081884c7d65)`. One that stands
    /// for a value already stays.
    #[must_use]
    pub fn of(&self, value: &[u8]) -> String {
        if value.starts_with(NOT_KEPT.as_bytes()) {
            return String::from_utf8_lossy(value).into_owned();
        }
        // The key comes first and the digest is cut, so nothing can be appended to a value.
        let digest = Sha256::new().chain_update(self.key).chain_update(value).finalize();
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let bytes = if value.len() == 1 { "byte" } else { "bytes" };
        format!("{NOT_KEPT}: {} {bytes}, {hex})", value.len())
    }

    /// A load without the values of headers that may hold secrets, and without bodies.
    #[must_use]
    pub fn load(&self, load: &LoadSpec) -> LoadSpec {
        let mut load = load.clone();
        load.requests.iter_mut().for_each(|request| self.request(request));
        load
    }

    fn request(&self, request: &mut Request) {
        for (_, value) in request.headers.iter_mut().filter(|(name, _)| !is_safe(name)) {
            *value = self.of(value.as_bytes());
        }
        if !request.body.is_empty() {
            request.body = self.of(&request.body).into_bytes();
        }
    }
}

fn is_safe(header: &str) -> bool {
    SAFE.iter().any(|safe| header.eq_ignore_ascii_case(safe))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, value: &str, body: &str) -> (String, String) {
        let mut request = Request::get("/", "a");
        request.headers.push((name.into(), value.into()));
        request.body = body.into();
        let load = LoadSpec { requests: vec![request].into(), ..LoadSpec::default() };
        let load = Digests::new([7; 32]).load(&load);
        // Kept once more, nothing changes.
        assert_eq!(Digests::new([8; 32]).load(&load), load);
        let request = &load.requests[0];
        let body = String::from_utf8(request.body.clone()).unwrap();
        (request.headers[0].1.clone(), body)
    }

    #[test]
    fn what_may_be_a_secret_is_a_length_and_a_digest() {
        for name in ["Authorization", "X-Api-Key", "apikey", "Cookie", "X-Whatever"] {
            let (value, body) = kept(name, "s3cret", "password=s3cret");
            assert!(value.starts_with("(not kept: 6 bytes, "), "{name}: {value}");
            assert!(body.starts_with("(not kept: 15 bytes, ") && !body.contains("s3cret"));
        }
        assert_eq!(kept("Content-Type", "text/plain", "").0, "text/plain");
        assert_eq!(kept("ACCEPT", "*/*", ""), ("*/*".into(), String::new()));
    }

    #[test]
    fn digests_tell_values_apart_and_need_the_key() {
        let (a, b) = (Digests::new([1; 32]), Digests::new([2; 32]));
        assert_eq!(a.of(b"x"), a.of(b"x"));
        assert_ne!(a.of(b"x"), a.of(b"y"));
        assert_ne!(a.of(b"x"), b.of(b"x"));
    }
}
