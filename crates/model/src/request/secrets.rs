//! Values that a record does not keep: a length and a keyed digest stand for them. So one sees
//! whether two were the same, and nobody can try out what they were without the store's key.
use sha2::{Digest, Sha256};

use crate::load::{LoadSpec, Request};
use crate::request::requests::Whole;
use crate::run::RunHeader;
use crate::trial::TrialRecord;
use crate::workload;

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
/// What stands for a value in names.
const ELLIPSIS: &str = "…";

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

    /// A load without the values of headers that may hold secrets, without those of queries, and
    /// without bodies.
    #[must_use]
    pub fn load(&self, load: &LoadSpec) -> LoadSpec {
        let mut load = load.clone();
        load.requests.iter_mut().for_each(|request| self.request(request));
        if let Some(whole) = load.requests.sample_of().map(|whole| self.whole(whole)) {
            load.requests.say_sample_of(whole);
        }
        load
    }

    /// What is known of all requests, with a digest that nobody can try out without the key.
    #[must_use]
    pub fn whole(&self, whole: &Whole) -> Whole {
        let digest = Sha256::new().chain_update(self.key).chain_update(&whole.digest).finalize();
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Whole { count: whole.count, digest }
    }

    /// A path or URL with a digest in place of each value of its query; text after a blank stays.
    #[must_use]
    pub fn target(&self, target: &str) -> String {
        with_values(target, |value| self.of(value.as_bytes()))
    }

    /// What is known before a run, without values of its requests. Digests are made where they tell
    /// runs apart; a query is part of names, and says only which values it had.
    #[must_use]
    pub fn header(&self, header: &RunHeader) -> RunHeader {
        let mut header = header.clone();
        header.url = header.url.as_deref().map(without_values);
        header.plan.title = without_values(&header.plan.title);
        let workload::Request { path, headers, body, .. } = &mut header.workload.request;
        *path = without_values(path);
        let unsafe_ones = headers.iter_mut().filter(|(name, _)| !is_safe(name));
        unsafe_ones.for_each(|(_, value)| *value = self.of(value.as_bytes()));
        *body = body.take().map(|body| self.of(body.as_bytes()));
        for step in &mut header.workload.steps {
            step.leave_out(&|path| without_values(path), &is_safe, &|value| self.of(value));
        }
        let manifests = header.targets.values_mut().filter_map(|info| info.manifest.as_mut());
        for manifest in manifests {
            let path = &mut manifest.start.ready.path;
            *path = without_values(path);
        }
        header
    }

    /// A trial without values of its requests. `requests` is what is known of all of them, if that
    /// was said before.
    #[must_use]
    pub fn trial(&self, mut record: TrialRecord, requests: Option<&Whole>) -> TrialRecord {
        record.load_spec = record.load_spec.as_ref().map(|load| self.load(load));
        if let (Some(load), Some(whole)) = (&mut record.load_spec, requests)
            && load.requests.sample_of().is_some()
        {
            load.requests.say_sample_of(whole.clone());
        }
        if let Some(load) = &mut record.load {
            let phases = load.phases.iter_mut().map(|phase| &mut phase.measured);
            let names = phases.chain([&mut load.measured]).flat_map(|it| &mut it.by_request);
            names.for_each(|row| row.name = self.target(&row.name));
        }
        record
    }

    fn request(&self, request: &mut Request) {
        request.target = self.target(&request.target);
        for (_, value) in request.headers.iter_mut().filter(|(name, _)| !is_safe(name)) {
            *value = self.of(value.as_bytes());
        }
        if !request.body.is_empty() {
            request.body = self.of(&request.body).into_bytes();
        }
    }
}

/// A path or URL with `…` in place of each value of its query; text after a blank stays.
#[must_use]
pub fn without_values(target: &str) -> String {
    with_values(target, |_| ELLIPSIS.into())
}

/// Replaces the values of a query (`?name=value&name=value`). A part without a name is a value.
fn with_values(target: &str, of: impl Fn(&str) -> String) -> String {
    let Some((path, rest)) = target.split_once('?') else { return target.into() };
    // What stands for a value may have blanks. It has no `&`.
    let end =
        if rest.contains(NOT_KEPT) { rest.len() } else { rest.find(' ').unwrap_or(rest.len()) };
    let (query, rest) = rest.split_at(end);
    let value = |text: &str| if text.is_empty() { String::new() } else { of(text) };
    let parts = query.split('&').map(|part| match part.split_once('=') {
        Some((name, text)) => format!("{name}={}", value(text)),
        None => value(part),
    });
    format!("{path}?{}{rest}", parts.collect::<Vec<_>>().join("&"))
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
    fn values_of_queries_are_digests_and_names_stay() {
        let digests = Digests::new([7; 32]);
        let of = |value: &str| digests.of(value.as_bytes());
        for (target, kept, name) in [
            ("/a", "/a".into(), "/a"),
            ("/a?", "/a?".into(), "/a?"),
            ("/a?n=", "/a?n=".into(), "/a?n="),
            ("/a?t=s3cret&n=1", format!("/a?t={}&n={}", of("s3cret"), of("1")), "/a?t=…&n=…"),
            ("http://h/a?s3cret", format!("http://h/a?{}", of("s3cret")), "http://h/a?…"),
            ("/?a=b=c GET", format!("/?a={} GET", of("b=c")), "/?a=… GET"),
        ] {
            assert_eq!(digests.target(target), kept);
            assert_eq!(digests.target(&kept), kept, "kept once more");
            assert_eq!(without_values(target), name);
            assert_eq!(without_values(name), name);
        }
    }

    #[test]
    fn digests_of_all_requests_need_the_key() {
        let list: Vec<Request> = (0..20).map(|n| Request::get(&format!("/?n={n}"), "a")).collect();
        let load = LoadSpec { requests: list.into(), ..LoadSpec::default() };
        let plain = load.known_requests();
        let of = |key| {
            let kept = Digests::new([key; 32]).load(&load.for_record());
            assert!(!kept.requests.iter().any(|request| request.target.contains("n=1")));
            kept.requests.sample_of().cloned().unwrap()
        };
        assert_eq!(of(1), Digests::new([1; 32]).whole(&plain));
        assert_ne!(of(1), of(2));
        assert_ne!(of(1), plain);
    }

    #[test]
    fn digests_tell_values_apart_and_need_the_key() {
        let (a, b) = (Digests::new([1; 32]), Digests::new([2; 32]));
        assert_eq!(a.of(b"x"), a.of(b"x"));
        assert_ne!(a.of(b"x"), a.of(b"y"));
        assert_ne!(a.of(b"x"), b.of(b"x"));
    }
}
