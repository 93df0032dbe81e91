//! Values that a record does not keep: a length and a keyed digest stand for them. So one sees
//! whether two were the same, and nobody can try out what they were without the store's key.
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

use crate::load::{BodyCheck, LoadSpec, Request, Scenario};
use crate::request::requests::Whole;
use crate::run::RunHeader;
use crate::scenario::Assertion;
use crate::scenario::data::Values;
use crate::scenario::file::WrittenData;
use crate::target::TargetId;
use crate::target::manifest::Manifest;
use crate::trial::TrialRecord;
use crate::workload::{self, Answer, Proof, Vary, Workload};

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

/// The parts of a run that hold no secret, because everybody has them: they ship with Pippin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Public {
    /// Whether the workload is one.
    pub workload: bool,
    /// The targets whose manifests are.
    pub targets: BTreeSet<TargetId>,
}

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
    pub fn digest(&self, value: &[u8]) -> String {
        if value.starts_with(NOT_KEPT.as_bytes()) {
            return String::from_utf8_lossy(value).into_owned();
        }
        // The key comes first and the digest is cut, so nothing can be appended to a value.
        let digest = Sha256::new().chain_update(self.key).chain_update(value).finalize();
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let bytes = if value.len() == 1 { "byte" } else { "bytes" };
        format!("{NOT_KEPT}: {} {bytes}, {hex})", value.len())
    }

    /// A load without the values of headers that may hold secrets, without those of queries, without
    /// bodies, without the texts that right answers must have, and without the values of users.
    #[must_use]
    pub fn load(&self, load: &LoadSpec) -> LoadSpec {
        let mut load = load.clone();
        load.requests.iter_mut().for_each(|request| self.request(request));
        load.first_words.iter_mut().for_each(|words| self.each(words.texts_mut()));
        load.scenario.iter_mut().for_each(|scenario| self.scenario(scenario));
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
        with_values(target, |value| self.digest(value.as_bytes()))
    }

    /// What is known before a run, without values of its requests and without the environments of
    /// its targets, as far as these are not public. Digests are made where they tell runs apart; a
    /// query is part of names, and says only which values it had.
    #[must_use]
    pub fn header(&self, header: &RunHeader, public: &Public) -> RunHeader {
        let mut header = header.clone();
        if !public.workload {
            header.url = header.url.as_deref().map(without_values);
            header.plan.title = without_values(&header.plan.title);
            self.workload(&mut header.workload);
        }
        let own = header.targets.iter_mut().filter(|(id, _)| !public.targets.contains(*id));
        for (_, info) in own {
            info.manifest.iter_mut().for_each(|manifest| self.manifest(manifest));
            if let Some(failure) = &mut info.unavailable {
                failure.log_tail.clear();
            }
        }
        header
    }

    fn workload(&self, workload: &mut Workload) {
        let workload::Request { path, headers, body, vary, .. } = &mut workload.request;
        *path = without_values(path);
        let unsafe_ones = headers.iter_mut().filter(|(name, _)| !is_safe(name));
        self.each(unsafe_ones.map(|(_, value)| value).chain(body));
        for vary in vary.values_mut() {
            match vary {
                Vary::Names { values, .. } | Vary::Values { values } => self.each(values),
                Vary::Range { .. } => {}
            }
        }
        for step in &mut workload.steps {
            step.leave_out(&|path| without_values(path), &is_safe, &|value| self.digest(value));
        }
        for data in workload.data.values_mut() {
            if let WrittenData::OneOf { one_of } = data {
                self.each(one_of);
            }
        }
        let Answer { body, contains, json, .. } = &mut workload.answer;
        self.each(body.iter_mut().chain(contains));
        self.each(json.iter_mut().filter_map(|value| value.is.as_mut()));
        for proof in &mut workload.proofs {
            match proof {
                Proof::NotFound { path } => *path = without_values(path),
                Proof::Text { text, row, .. } => self.each([text, row]),
                Proof::Escapes { text } | Proof::Rows { id: text, .. } => self.each([text]),
                _ => {}
            }
        }
    }

    /// Commands stay: other users of the machine see them while they run.
    fn manifest(&self, manifest: &mut Manifest) {
        let path = &mut manifest.start.ready.path;
        *path = without_values(path);
        let routes = manifest.routes.iter_mut().map(|route| &mut route.env);
        let variants = manifest.variants.iter_mut().map(|variant| &mut variant.env);
        let all = routes.chain(variants).chain([&mut manifest.start.env]);
        self.each(all.flat_map(BTreeMap::values_mut));
    }

    fn each<'a>(&self, values: impl IntoIterator<Item = &'a mut String>) {
        values.into_iter().for_each(|value| *value = self.digest(value.as_bytes()));
    }

    /// The texts of a scenario, also those in the names of its steps, which are methods and paths
    /// where nobody gave others.
    fn scenario(&self, scenario: &mut Scenario) {
        for variable in &mut scenario.variables {
            match &mut variable.values {
                Values::OneOf(texts) => self.each(texts),
                // Who knows the columns could try out what is in the cells.
                Values::Rows(rows) => self.each([&mut rows.digest]),
                Values::Range { .. } | Values::Letters(_) => {}
            }
        }
        for step in &mut scenario.steps {
            step.name = self.target(&step.name);
            for assertion in &mut step.assertions {
                match assertion {
                    Assertion::Contains(text)
                    | Assertion::Json { is: text, .. }
                    | Assertion::Header { contains: text, .. }
                    | Assertion::Regex(text) => self.each([text]),
                    Assertion::MaxBytes(_) => {}
                }
            }
        }
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
            let sample = load.request_sample.iter_mut().flat_map(|sample| &mut sample.names);
            sample.for_each(|name| *name = self.target(name));
            let phases = load.phases.iter_mut().map(|phase| &mut phase.measured);
            for measured in phases.chain([&mut load.measured]) {
                let requests = measured.by_request.iter_mut().map(|row| &mut row.name);
                let steps = measured.steps.iter_mut().map(|step| &mut step.name);
                let slowest = measured.slowest.requests.iter_mut().map(|one| &mut one.request);
                requests.chain(steps).chain(slowest).for_each(|name| *name = self.target(name));
            }
        }
        record
    }

    /// A trial without what its messages quote of requests and answers.
    #[must_use]
    pub fn messages(&self, mut record: TrialRecord) -> TrialRecord {
        let TrialRecord { proofs, failure, made_again, caveats, .. } = &mut record;
        let of_proofs = proofs.iter_mut().flat_map(|proof| {
            proof.failure.iter_mut().chain(&mut proof.remark).chain(&mut proof.doubt)
        });
        let evidence = caveats.iter_mut().map(|caveat| &mut caveat.evidence);
        let all =
            of_proofs.chain(failure.iter_mut().map(|failure| &mut failure.message)).chain(evidence);
        all.chain(made_again).for_each(|text| *text = self.message(text));
        record
    }

    /// A message with digests in place of what it has in quotes, and of values of queries.
    #[must_use]
    pub fn message(&self, message: &str) -> String {
        let mut rest = message;
        let mut out = String::new();
        while let Some((before, quoted)) = rest.split_once('"') {
            let end = end_of_quote(quoted);
            let text = &quoted[..end];
            let stands_for =
                if text.is_empty() { "\"\"".into() } else { self.digest(text.as_bytes()) };
            out.push_str(&self.words(before));
            out.push_str(&stands_for);
            rest = quoted.get(end + 1..).unwrap_or_default();
        }
        out + &self.words(rest)
    }

    /// A text with digests in place of values of queries.
    fn words(&self, text: &str) -> String {
        if text.contains(NOT_KEPT) {
            return text.into();
        }
        text.split(' ').map(|word| self.target(word)).collect::<Vec<_>>().join(" ")
    }

    fn request(&self, request: &mut Request) {
        request.target = self.target(&request.target);
        for (_, value) in request.headers.iter_mut().filter(|(name, _)| !is_safe(name)) {
            *value = self.digest(value.as_bytes());
        }
        if !request.body.is_empty() {
            request.body = self.digest(&request.body).into_bytes();
        }
        match &mut request.check.body {
            BodyCheck::Exact(bytes) => *bytes = self.digest(bytes).into_bytes(),
            BodyCheck::Contains { all, .. } => self.each(all),
            BodyCheck::Any
            | BodyCheck::Length { .. }
            | BodyCheck::Refereed
            | BodyCheck::Digested { .. }
            | BodyCheck::Events(_) => {}
        }
        self.each(request.check.json.iter_mut().filter_map(|value| value.is.as_mut()));
    }
}

/// Where a text in quotes ends, as Rust writes it: at the first quote without a backslash.
fn end_of_quote(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
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
    use crate::example::run::twenty;
    use crate::request::json_value::JsonValue;

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
        let of = |value: &str| digests.digest(value.as_bytes());
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

    /// What a run of a project knows beforehand: its workload and the environment of its target are
    /// not kept, unless they ship with Pippin.
    #[test]
    fn a_header_keeps_what_is_public_and_digests_of_the_rest() {
        const WORD: &str = "s3cret";
        let mut header = twenty().header;
        let targets: BTreeSet<TargetId> = header.targets.keys().cloned().collect();
        let Workload { request, answer, proofs, data, .. } = &mut header.workload;
        request.path = format!("/a?t={WORD}");
        request.headers.insert("X-Whatever".into(), WORD.into());
        request.body = Some(WORD.into());
        request.vary.insert("n".into(), Vary::Values { values: vec![WORD.into()] });
        (answer.body, answer.contains) = (Some(WORD.into()), vec![WORD.into()]);
        answer.json = vec![JsonValue { pointer: "/a".into(), is: Some(WORD.into()) }];
        proofs.push(Proof::NotFound { path: format!("/no?t={WORD}") });
        proofs.push(Proof::Text { text: WORD.into(), row: WORD.into(), rows: 1 });
        proofs.push(Proof::Escapes { text: WORD.into() });
        data.insert("key".into(), WrittenData::OneOf { one_of: vec![WORD.into()] });
        let info = header.targets.values_mut().find(|info| info.manifest.is_some()).unwrap();
        let manifest = info.manifest.as_mut().unwrap();
        manifest.start.env.insert("PASSWORD".into(), WORD.into());
        let count = |public: &Public| {
            let kept = Digests::new([7; 32]).header(&header, public);
            serde_json::to_string(&kept).unwrap().matches(WORD).count()
        };
        assert_eq!(count(&Public::default()), 0);
        assert_eq!(count(&Public { workload: true, ..Public::default() }), 12);
        assert_eq!(count(&Public { targets, ..Public::default() }), 1);
    }

    #[test]
    fn what_messages_quote_is_a_digest() {
        let digests = Digests::new([7; 32]);
        let of = |value: &str| digests.digest(value.as_bytes());
        for (message, kept) in [
            ("timed out after 3 s", "timed out after 3 s".into()),
            ("body \"a b\" instead of \"c\"", format!("body {} instead of {}", of("a b"), of("c"))),
            (r#"body "a\"b\\" is wrong"#, format!("body {} is wrong", of(r#"a\"b\\"#))),
            ("body \"\" instead of \"cut", format!("body \"\" instead of {}", of("cut"))),
            ("GET /a?t=b is wrong", format!("GET /a?t={} is wrong", of("b"))),
        ] {
            assert_eq!(digests.message(message), kept);
            assert_eq!(digests.message(&kept), kept, "kept once more");
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
        assert_eq!(a.digest(b"x"), a.digest(b"x"));
        assert_ne!(a.digest(b"x"), a.digest(b"y"));
        assert_ne!(a.digest(b"x"), b.digest(b"x"));
    }
}
