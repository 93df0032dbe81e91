//! `workloads/*.toml`: what a target must serve, and how that is proved.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::draw::Draw;
use crate::file::{FileError, Wrong, read_with_text};
use crate::load_spec::{Request as LoadRequest, Scenario};
use crate::request::{DRAWN, is_token};
use crate::scenario::file::{Written, WrittenData, WrittenStep};
use crate::scenario::text::Text;
use crate::units::Spread;
use crate::websocket::{Messages, NUMBER_BYTES};

/// A service that a workload needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// PostgreSQL with the table `users`.
    Postgres,
    /// The slow upstream.
    Upstream,
}

/// What a target must serve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Version of the file format: 1. A project file leaves out this and the next three keys.
    #[serde(default)]
    pub schema: u32,
    /// The name; equals the file's.
    #[serde(default)]
    pub id: String,
    /// A short name for people.
    #[serde(default)]
    pub title: String,
    /// What it measures, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// The services that it needs.
    #[serde(default)]
    pub services: Vec<Service>,
    /// The request.
    #[serde(default)]
    pub request: Request,
    /// WebSocket: the message that is sent once the socket is open. The answer is the echo or, for
    /// a broadcast, its copy on every connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// What a user does, step by step, in place of `request` (docs/scenarios.md).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WrittenStep>,
    /// The values that a user has before its first step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, WrittenData>,
    /// Whether each user keeps cookies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// The steps in the form of a load; `None` if there are none, and in records.
    #[serde(skip)]
    pub walk: Option<Arc<Steps>>,
    /// The right answer.
    #[serde(default)]
    pub answer: Answer,
    /// How it is proved, before and after each load.
    #[serde(default, rename = "proof")]
    pub proofs: Vec<Proof>,
}

/// The messages of a workload over WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The size of each in bytes.
    pub bytes: u32,
    /// Binary messages; otherwise text.
    #[serde(default)]
    pub binary: bool,
    /// Whether one connection sends and each message must reach all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broadcast: bool,
}

impl Message {
    /// The maximum size of a message in bytes.
    pub const MOST_BYTES: u32 = 16 << 20;

    /// The form of a load. Each message has its own number.
    #[must_use]
    pub const fn messages(self) -> Messages {
        Messages { binary: self.binary, numbered: true, broadcast: self.broadcast }
    }
}

/// The steps of a workload in the form of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The request of each step, without a host.
    pub requests: Vec<LoadRequest>,
    /// The scenario of these steps.
    pub scenario: Scenario,
}

/// A request of a workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The method.
    #[serde(default = "get")]
    pub method: String,
    /// The path; `{name}` is replaced by a value that varies.
    pub path: String,
    /// Further headers. `{name}` is replaced by a value that varies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body. `{name}` is replaced by a value that varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The values that vary from request to request.
    #[serde(default)]
    pub vary: BTreeMap<String, Vary>,
}

/// The values of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected `values = [\"a\", \"b\"]`, whole numbers as `from` and `to`, or `names = 40`"
)]
pub enum Vary {
    /// Random names from the trial's seed; percent-encoded in a path.
    Names {
        /// The maximum number of characters of a name.
        names: u32,
        /// Texts that are used before them.
        #[serde(default)]
        values: Vec<String>,
    },
    /// These texts in turn; percent-encoded in a path.
    Values {
        /// The texts.
        values: Vec<String>,
    },
    /// These numbers in turn, both ends included. If they are more than [`MOST_SAMPLES`], they are
    /// random, from the trial's seed.
    Range {
        /// The first.
        from: u32,
        /// The last.
        to: u32,
    },
}

impl Vary {
    /// The number of different values; `None` if they are random.
    fn count(&self) -> Option<u64> {
        match self {
            Self::Names { .. } => None,
            Self::Values { values } => Some(values.len() as u64),
            Self::Range { from, to } => {
                let count = (u64::from(*to) + 1).saturating_sub(u64::from(*from));
                (count <= MOST_SAMPLES).then_some(count)
            }
        }
    }

    /// The value of the nth request.
    fn drawn(&self, nth: usize, draw: &mut Draw) -> String {
        match self {
            Self::Names { names, values } => {
                values.get(nth).cloned().unwrap_or_else(|| draw.name(*names))
            }
            Self::Values { values } => values[nth % values.len()].clone(),
            Self::Range { from, to } => {
                (u64::from(*from) + draw.below(u64::from(to - from) + 1)).to_string()
            }
        }
    }
}

/// The right answer. `{name}` is replaced by the value in the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The status.
    #[serde(default = "ok")]
    pub status: u16,
    /// The media type, without parameters.
    pub content_type: Option<String>,
    /// The body, exactly.
    pub body: Option<String>,
    /// Limits of the body's length.
    pub body_bytes: Option<ByteRange>,
    /// Texts that must be in the body.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Under load, the same body is expected as in the proof before.
    #[serde(default)]
    pub as_proved: bool,
    /// The source of the body, if it is different each time.
    #[serde(default)]
    pub from: Option<Source>,
}

/// The source of an answer's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The number that the slow upstream issued for this request only.
    Upstream,
    /// The table `users` as JSON, as it was at some instant between the request and its answer.
    Table,
}

impl Source {
    /// The service that provides it.
    #[must_use]
    pub const fn service(self) -> Service {
        match self {
            Self::Upstream => Service::Upstream,
            Self::Table => Service::Postgres,
        }
    }

    /// Its name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Table => "table",
        }
    }
}

fn get() -> String {
    "GET".into()
}

const fn ok() -> u16 {
    200
}

impl Default for Answer {
    /// 200, with any body.
    fn default() -> Self {
        Self {
            status: ok(),
            content_type: None,
            body: None,
            body_bytes: None,
            contains: Vec::new(),
            as_proved: false,
            from: None,
        }
    }
}

/// Limits of a length in bytes, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByteRange {
    /// The least.
    pub min: u64,
    /// The greatest.
    pub max: u64,
}

/// One proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Proof {
    /// The answer, for every value that varies.
    Answer,
    /// 404 for a path that does not exist.
    NotFound {
        /// The path.
        path: String,
    },
    /// HEAD has no body (RFC 9110 section 9.3.2).
    Head,
    /// A second request on the same connection is answered, unless the server announced that it
    /// closes (RFC 9112 section 9.3).
    KeepAlive,
    /// The whole text of a page, without tags and white space, and with entities decoded. Under
    /// load, 1 answer in 100 is compared.
    Text {
        /// The text; `{rows}` is replaced by all rows.
        text: String,
        /// The text of a row; `{i}` is its number from 1, `{i*n}` is that number times n.
        row: String,
        /// The number of rows.
        rows: u32,
    },
    /// A marker occurs as many times as there are rows.
    Rows {
        /// The marker.
        marker: String,
        /// How many times.
        count: u32,
    },
    /// A text of the data is escaped in the page, and does not occur unescaped.
    Escapes {
        /// The text as it is in the data.
        text: String,
    },
    /// The JSON equals the table `users`.
    Table,
    /// A change of a row in the table is in the very next answer.
    Fresh,
    /// The upstream counts one call for each request.
    Counted {
        /// Number of requests.
        requests: u32,
    },
    /// The waits have the distribution of the workload.
    Delay {
        /// The wait, with its jitter.
        wait: String,
        /// Number of requests.
        samples: u32,
    },
    /// WebSocket: messages of all lengths and both kinds, whole and in fragments, come back
    /// unchanged.
    Echo,
    /// WebSocket: a message of one connection reaches all of them once, in the order of sending,
    /// but not those that have left.
    Broadcast {
        /// The number of connections.
        receivers: u32,
    },
    /// WebSocket: a ping is answered by a pong with its payload (RFC 6455 section 5.5.2).
    Ping,
    /// WebSocket: a Close is answered by a Close with its code (RFC 6455 section 5.5.1).
    Close,
    /// Many requests at once are answered in little more than one wait.
    Simultaneous {
        /// The number of requests at once.
        connections: u32,
        /// The wait, with its jitter.
        wait: String,
        /// The smallest allowed pool of threads or processes that hold one for each waiting
        /// request. It is reported. 0 allows none.
        #[serde(default)]
        pool: u32,
    },
}

impl Proof {
    /// Its name in the file: `not-found`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::NotFound { .. } => "not-found",
            Self::Head => "head",
            Self::KeepAlive => "keep-alive",
            Self::Text { .. } => "text",
            Self::Rows { .. } => "rows",
            Self::Escapes { .. } => "escapes",
            Self::Table => "table",
            Self::Fresh => "fresh",
            Self::Counted { .. } => "counted",
            Self::Delay { .. } => "delay",
            Self::Echo => "echo",
            Self::Broadcast { .. } => "broadcast",
            Self::Ping => "ping",
            Self::Close => "close",
            Self::Simultaneous { .. } => "simultaneous",
        }
    }
}

impl Workload {
    /// Reads and checks one workload file.
    ///
    /// # Errors
    /// If the file cannot be used. The message names the place and the fix.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let (workload, text): (Self, String) = read_with_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let workload = workload.with_steps(folder).map_err(|wrong| wrong.of(path, &text))?;
        workload.check().map_err(|wrong| wrong.of(path, &text))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem != workload.id {
            let message = format!("id `{}` must equal the file's name `{stem}`", workload.id);
            return Err(Wrong::at("id", message).of(path, &text));
        }
        Ok(workload)
    }

    /// Adds the steps in the form of a load, if there are any. Their files are relative to
    /// `folder`. The request is then the first step.
    pub(crate) fn with_steps(self, folder: &Path) -> Result<Self, Wrong> {
        let Self { steps, data, cookies, .. } = &self;
        if steps.is_empty() {
            return match (data.keys().next(), cookies) {
                (Some(name), _) => {
                    Err(Wrong::at(format!("data.{name}"), "only steps have data; give steps"))
                }
                (None, true) => Err(Wrong::at("cookies", "only steps have cookies; give steps")),
                (None, false) if self.request == Request::default() => {
                    Err(Wrong::at("", "a workload needs [request] or steps"))
                }
                (None, false) => Ok(self),
            };
        }
        let written = Written { cookies: *cookies, data: data.clone(), steps: steps.clone() };
        let (requests, scenario) = written.resolve(folder)?;
        if self.request != Request::default() {
            return Err(Wrong::at("request", "a workload has [request] or steps; keep one"));
        }
        if self.message.is_some() {
            return Err(Wrong::at("message", "a workload has [message] or steps; keep one"));
        }
        if self.answer != Answer::default() {
            return Err(Wrong::at("answer", "each step has its own `expect`: leave [answer] out"));
        }
        if let Some(nth) = self.proofs.iter().position(|proof| *proof != Proof::Answer) {
            return Err(Wrong::at(
                format!("proof[{nth}]"),
                "steps are proved by a walk through all of them: keep `answer`",
            ));
        }
        let request = Request {
            method: requests[0].method.clone(),
            path: Text::parse(&requests[0].target).example(),
            ..Request::default()
        };
        Ok(Self { request, walk: Some(Arc::new(Steps { requests, scenario })), ..self })
    }

    pub(crate) fn check(&self) -> Result<(), Wrong> {
        if self.schema == 0 {
            return Err(Wrong::at("", "schema is missing; write schema = 1"));
        }
        if self.schema != 1 {
            return Err(Wrong::at(
                "schema",
                format!("schema {} is not known; this Pippin reads schema 1", self.schema),
            ));
        }
        self.check_request()?;
        self.check_message()?;
        if !(100..=599).contains(&self.answer.status) {
            return Err(Wrong::at(
                "answer.status",
                format!("{} is not an HTTP status (100 to 599)", self.answer.status),
            ));
        }
        if self.proofs.is_empty() {
            return Err(Wrong::at("proof", "a workload needs at least one [[proof]]"));
        }
        if let Some(ByteRange { min, max }) = self.answer.body_bytes
            && min > max
        {
            return Err(Wrong::at(
                "answer.body_bytes",
                format!("answer.body_bytes: min {min} is above max {max}"),
            ));
        }
        self.check_source()?;
        self.proofs.iter().enumerate().try_for_each(|(index, proof)| {
            check_proof(proof).map_err(|message| Wrong::at(format!("proof[{index}]"), message))
        })
    }

    /// A message needs a WebSocket that a GET opens, and its answer is the echo.
    fn check_message(&self) -> Result<(), Wrong> {
        let needs = |proof: &Proof| {
            matches!(proof, Proof::Echo | Proof::Broadcast { .. } | Proof::Ping | Proof::Close)
        };
        let Some(message) = self.message else {
            return self.refuse_proofs(needs, |name| {
                format!(
                    "proof `{name}` is about WebSocket: write [message] with `bytes`, or leave the proof out"
                )
            });
        };
        if message.bytes > Message::MOST_BYTES {
            return Err(Wrong::at("message.bytes", "a message has at most 16 MiB"));
        }
        if message.broadcast && (message.bytes as usize) < NUMBER_BYTES {
            return Err(Wrong::at(
                "message.bytes",
                "copies of a broadcast are recognised by a number of 16 bytes: write 16 or more",
            ));
        }
        let Request { method, body, vary, .. } = &self.request;
        if method != "GET" || body.is_some() || !vary.is_empty() {
            return Err(Wrong::at(
                "message",
                "a WebSocket is opened by GET of one path: leave `method`, `body` and `vary` of [request] out",
            ));
        }
        if self.answer != Answer::default() {
            return Err(Wrong::at(
                "message",
                "the answer to a message is its echo, or its copies: leave [answer] out",
            ));
        }
        // A message to all is not an echo to one.
        let other = |proof: &Proof| match proof {
            Proof::Echo => message.broadcast,
            Proof::Broadcast { .. } => !message.broadcast,
            _ => false,
        };
        self.refuse_proofs(other, |_| {
            "`echo` is for messages that come back, and `broadcast` is for `broadcast = true`: change one of them".into()
        })?;
        let others = |proof: &Proof| !needs(proof) && !matches!(proof, Proof::NotFound { .. });
        self.refuse_proofs(others, |name| {
            format!(
                "proof `{name}` is about answers over HTTP: a workload with [message] takes echo or broadcast, ping, close and not-found"
            )
        })
    }

    /// Refuses the first proof of this kind. `why` gets its name.
    fn refuse_proofs(
        &self,
        is_wrong: impl Fn(&Proof) -> bool,
        why: impl Fn(&str) -> String,
    ) -> Result<(), Wrong> {
        let wrong = self.proofs.iter().enumerate().find(|(_, proof)| is_wrong(proof));
        wrong.map_or(Ok(()), |(index, proof)| {
            Err(Wrong::at(format!("proof[{index}]"), why(proof.name())))
        })
    }

    /// A body that is different each time cannot be compared with a fixed one.
    fn check_source(&self) -> Result<(), Wrong> {
        let Answer { from, body, contains, as_proved, .. } = &self.answer;
        let Some(from) = from else { return Ok(()) };
        let wrong = |message: String| Err(Wrong::at("answer.from", message));
        if !self.services.contains(&from.service()) {
            let service = if *from == Source::Upstream { "upstream" } else { "postgres" };
            return wrong(format!(
                "`from = \"{}\"` needs `services = [\"{service}\"]`",
                from.name()
            ));
        }
        if body.is_some() || !contains.is_empty() || *as_proved {
            return wrong(format!(
                "`from = \"{}\"` checks the whole body: leave `body`, `contains` and `as_proved` out",
                from.name()
            ));
        }
        Ok(())
    }

    fn check_request(&self) -> Result<(), Wrong> {
        let Request { method, path, headers, body, vary } = &self.request;
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(Wrong::at(
                "request.method",
                format!("{method:?} is not a method; write one such as \"GET\""),
            ));
        }
        if !path.starts_with('/') || path.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(Wrong::at(
                "request.path",
                format!(
                    "{path:?} is not a path; begin with `/`, and write everything but visible ASCII as %XX"
                ),
            ));
        }
        for name in placeholders(path) {
            if !vary.contains_key(name) {
                return Err(Wrong::at(
                    "request.path",
                    format!("the path names `{{{name}}}`, but [request.vary] has no `{name}`"),
                ));
            }
        }
        check_headers("request.headers", headers)?;
        if body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
            return Err(Wrong::at(
                "request.body",
                format!("{method} has no body; write method = \"POST\", or leave the body out"),
            ));
        }
        let mut samples: u64 = 1;
        for (name, vary) in vary {
            let at = format!("request.vary.{name}");
            if let Vary::Names { names, .. } = vary
                && !(3..=1_000).contains(names)
            {
                return Err(Wrong::at(
                    at,
                    format!("[request.vary] `{name}`: names have 3 to 1000 characters"),
                ));
            }
            let Some(values) = vary.count() else { continue };
            if values == 0 {
                return Err(Wrong::at(at, format!("[request.vary] `{name}` has no value")));
            }
            samples = samples.saturating_mul(values);
            if samples > MOST_SAMPLES {
                return Err(Wrong::at(
                    at,
                    format!(
                        "[request.vary] makes {samples} different requests, and all are made before the load; use at most {MOST_SAMPLES}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The requests of this workload, each with its right answer: one for each value that varies,
    /// or `drawn` of them if values are random.
    #[must_use]
    pub fn samples(&self, seed: u64, drawn: usize) -> Vec<Sample> {
        let vary = &self.request.vary;
        if vary.values().all(|vary| vary.count().is_some()) {
            return self.all_samples();
        }
        let mut draw = Draw::new(seed);
        let mut bind = |nth| {
            vary.iter().map(|(name, vary)| (name.clone(), vary.drawn(nth, &mut draw))).collect()
        };
        (0..drawn).map(|nth| self.sample(bind(nth))).collect()
    }

    fn all_samples(&self) -> Vec<Sample> {
        let mut bindings: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
        for (name, vary) in &self.request.vary {
            let values: Vec<String> = match vary {
                Vary::Names { values, .. } | Vary::Values { values } => values.clone(),
                Vary::Range { from, to } => (*from..=*to).map(|n| n.to_string()).collect(),
            };
            bindings = bindings
                .iter()
                .flat_map(|binding| {
                    values.iter().map(move |value| {
                        let mut bound = binding.clone();
                        bound.insert(name.clone(), value.clone());
                        bound
                    })
                })
                .collect();
        }
        bindings.into_iter().map(|binding| self.sample(binding)).collect()
    }

    fn sample(&self, binding: BTreeMap<String, String>) -> Sample {
        let fill = |text: &str| fill(text, &binding, |value| value.to_string());
        Sample {
            drawn: self.drawn_part(&binding),
            path: self::fill(&self.request.path, &binding, percent_encode),
            headers: self
                .request
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect(),
            request_body: self.request.body.as_deref().map(fill).unwrap_or_default(),
            body: self.answer.body.as_deref().map(fill),
            contains: self.answer.contains.iter().map(|text| fill(text)).collect(),
            binding,
        }
    }
}

impl Workload {
    /// The last characters of a random name, or a number with this many digits if all such numbers
    /// are allowed. Only the path may contain it, because nothing else of a request is written
    /// again.
    fn drawn_part(&self, binding: &BTreeMap<String, String>) -> Option<String> {
        let Request { path, headers, body, vary, .. } = &self.request;
        let (Some((name, vary)), 1) = (vary.iter().next(), vary.len()) else { return None };
        let elsewhere =
            headers.values().chain(body).any(|text| placeholders(text).contains(&&**name));
        if elsewhere || placeholders(path).len() != 1 {
            return None;
        }
        let value = binding.get(name)?;
        let part = value.get(value.len().checked_sub(DRAWN)?..)?;
        let is_drawn = match vary {
            Vary::Names { values, .. } => {
                !values.contains(value) && part.bytes().all(|byte| byte.is_ascii_lowercase())
            }
            Vary::Values { .. } => false,
            Vary::Range { from, to } => {
                value.len() == DRAWN && *from <= 10_000_000 && *to >= 99_999_999
            }
        };
        is_drawn.then(|| part.to_string())
    }
}

/// The maximum number of different requests of a workload. All are made before the load begins,
/// each with its answer, and all are proved.
pub const MOST_SAMPLES: u64 = 10_000;

/// Checks the headers as written. Characters in values, such as line breaks, are refused when the
/// request is written.
pub(crate) fn check_headers(keys: &str, headers: &BTreeMap<String, String>) -> Result<(), Wrong> {
    for (name, value) in headers {
        let at = || format!("{keys}.{name}");
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Wrong::at(at(), format!("{name:?} is not the name of a header")));
        }
        if ["content-length", "transfer-encoding", "host"].contains(&name.to_lowercase().as_str()) {
            return Err(Wrong::at(at(), format!("Pippin sets the header {name}: leave it out")));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
            return Err(Wrong::at(at(), format!("the value of {name} must be visible ASCII")));
        }
    }
    Ok(())
}

/// A proof with zero checks would always hold.
fn check_proof(proof: &Proof) -> Result<(), String> {
    let counted = match proof {
        Proof::Rows { count, .. } => Some(("count", *count)),
        Proof::Text { rows, .. } => Some(("rows", *rows)),
        Proof::Counted { requests } => Some(("requests", *requests)),
        Proof::Delay { samples, .. } => Some(("samples", *samples)),
        Proof::Simultaneous { connections, .. } => Some(("connections", *connections)),
        Proof::Broadcast { receivers } => Some(("receivers", *receivers)),
        _ => None,
    };
    if let Some((key, 0)) = counted {
        return Err(format!("proof `{}`: {key} must be at least 1", proof.name()));
    }
    if let Proof::Delay { wait, .. } | Proof::Simultaneous { wait, .. } = proof {
        Spread::parse(wait).map_err(|error| format!("proof `{}`: {error}", proof.name()))?;
    }
    Ok(())
}

/// One concrete request of a workload, with its right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The path, percent-encoded.
    pub path: String,
    /// Further headers of the request: name and value.
    pub headers: Vec<(String, String)>,
    /// The body of the request; empty if it has none.
    pub request_body: String,
    /// The whole body of the answer, if the workload fixes it.
    pub body: Option<String>,
    /// Texts that must be in the body.
    pub contains: Vec<String>,
    /// The values of the placeholders.
    pub binding: BTreeMap<String, String>,
    /// The part of its only value that each request can replace by another
    /// ([`crate::request::Request::drawn`]); `None` if there is none.
    pub drawn: Option<String>,
}

impl Sample {
    /// Replaces the placeholders in a text of the workload file with this sample's values.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        self.fill_with(text, str::to_string)
    }

    /// The same, with each value converted by `write`.
    #[must_use]
    pub fn fill_with(&self, text: &str, write: fn(&str) -> String) -> String {
        fill(text, &self.binding, write)
    }

    /// The same request with another value in place of the drawn one, as far as its answer depends
    /// on it.
    #[must_use]
    pub fn redrawn(&self, value: &str) -> Self {
        let Some(drawn) = &self.drawn else { return self.clone() };
        let other = |text: &String| text.replace(drawn.as_str(), value);
        Self {
            path: other(&self.path),
            body: self.body.as_ref().map(other),
            contains: self.contains.iter().map(other).collect(),
            binding: self.binding.iter().map(|(name, text)| (name.clone(), other(text))).collect(),
            drawn: Some(value.into()),
            ..self.clone()
        }
    }
}

impl Request {
    /// Whether a percent-encoded text varies in the path.
    #[must_use]
    pub fn varies_by_name(&self) -> bool {
        self.vary.values().any(|vary| !matches!(vary, Vary::Range { .. }))
    }
}

/// Percent-encodes every byte.
#[must_use]
pub fn percent_encode_all(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn placeholders(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).collect()
}

fn fill(text: &str, binding: &BTreeMap<String, String>, write: impl Fn(&str) -> String) -> String {
    binding.iter().fold(text.to_string(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), &write(value))
    })
}

/// Percent-encodes everything except the unreserved characters of RFC 3986 section 2.3.
#[must_use]
pub fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_workload_reads() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let mut ids: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| Workload::read(&entry.unwrap().path()).unwrap().id)
            .collect();
        ids.sort();
        assert_eq!(
            ids,
            [
                "device",
                "hello",
                "hola",
                "page",
                "proxy",
                "users",
                "ws-broadcast",
                "ws-echo",
                "ws-echo-64k"
            ]
        );
    }

    #[test]
    fn samples_encode_the_path_and_not_the_body() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/hola.toml");
        let samples = Workload::read(&path).unwrap().samples(1, 200);
        let jose = samples.iter().find(|sample| sample.binding["name"] == "José").unwrap();
        assert_eq!(
            (jose.path.as_str(), jose.body.as_deref()),
            ("/hola/Jos%C3%A9", Some("Hola José"))
        );
        assert!(samples.iter().any(|sample| sample.path == "/hola/50%25"));
        assert_eq!(samples.len(), 200);
        assert_eq!(samples, Workload::read(&path).unwrap().samples(1, 200), "the seed decides");
        assert_ne!(samples, Workload::read(&path).unwrap().samples(2, 200));
    }

    #[test]
    fn drawn_names_and_numbers_can_be_drawn_again() {
        let read = |id: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
            Workload::read(&folder.join(format!("{id}.toml"))).unwrap().samples(3, 100)
        };
        let names = read("hola");
        let of_file = |sample: &&Sample| sample.drawn.is_none();
        assert_eq!(names.iter().filter(of_file).count(), 20, "the names of the file stay");
        let sample = names.last().unwrap();
        let (drawn, other) = (sample.drawn.clone().unwrap(), sample.redrawn("zzzzzzzz"));
        assert!(sample.path.ends_with(&drawn) && sample.body.as_ref().unwrap().ends_with(&drawn));
        assert!(other.path.ends_with("zzzzzzzz"), "{}", other.path);
        assert_eq!(other.body.unwrap(), format!("Hola {}", other.binding["name"]));
        let page = read("page").remove(0);
        assert_eq!(page.drawn.as_ref(), Some(&page.binding["n"]));
        let other = page.redrawn("12345678");
        assert_eq!(
            (other.path.as_str(), other.binding["n"].as_str()),
            ("/page/12345678", "12345678")
        );
        assert_eq!(other.contains[0], "id=\"row-12345678-1\"");
        assert!(read("hello").iter().chain(&read("users")).all(|sample| sample.drawn.is_none()));
    }

    #[test]
    fn a_placeholder_without_values_is_named() {
        let text = "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='GET'\npath='/{n}'\n[answer]\nstatus=200\n[[proof]]\nkind='answer'\n";
        let workload: Workload = crate::file::parse_toml(Path::new("x.toml"), text).unwrap();
        assert_eq!(
            workload.check().unwrap_err().message,
            "the path names `{n}`, but [request.vary] has no `n`"
        );
    }

    #[test]
    fn a_proof_of_nothing_is_refused() {
        let head = "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\nmethod='GET'\npath='/'\n[answer]\nstatus=200\n";
        for (rest, message) in [
            (
                "[[proof]]\nkind='counted'\nrequests=0\n",
                "proof `counted`: requests must be at least 1",
            ),
            (
                "[[proof]]\nkind='delay'\nsamples=0\nwait='1s'\n",
                "proof `delay`: samples must be at least 1",
            ),
            (
                "[[proof]]\nkind='simultaneous'\nconnections=0\nwait='1s'\n",
                "proof `simultaneous`: connections must be at least 1",
            ),
            (
                "[[proof]]\nkind='rows'\nmarker='a'\ncount=0\n",
                "proof `rows`: count must be at least 1",
            ),
            (
                "body_bytes={min=9,max=1}\n[[proof]]\nkind='answer'\n",
                "answer.body_bytes: min 9 is above max 1",
            ),
        ] {
            let workload: Workload =
                crate::file::parse_toml(Path::new("x.toml"), &format!("{head}{rest}")).unwrap();
            assert_eq!(workload.check().unwrap_err().message, message);
        }
    }

    fn with_request(request: &str) -> Result<(), Wrong> {
        let text = format!(
            "schema=1\nid='x'\ntitle=''\nsummary=''\n[request]\n{request}\n[answer]\nstatus=200\n[[proof]]\nkind='answer'\n"
        );
        crate::file::parse_toml::<Workload>(Path::new("x.toml"), &text).unwrap().check()
    }

    #[test]
    fn many_values_together_are_refused_and_a_large_range_is_drawn() {
        let vary = |to: u32| {
            with_request(&format!(
                "method='GET'\npath='/{{n}}/{{m}}'\n[request.vary]\nm={{values=['a','b']}}\nn={{from=1,to={to}}}"
            ))
        };
        let wrong = vary(5_001).unwrap_err();
        assert_eq!(wrong.at, "request.vary.n");
        assert!(wrong.message.contains("10002 different requests"), "{wrong:?}");
        assert_eq!(vary(u32::MAX), Ok(()));
        assert_eq!(vary(5_000), Ok(()));
    }

    #[test]
    fn what_would_break_the_request_is_refused_where_it_stands() {
        for (request, at) in [
            ("method=\"GET / HTTP/1.1\\r\\nX: y\"\npath='/'", "request.method"),
            ("method=''\npath='/'", "request.method"),
            ("method='GET'\npath='x'", "request.path"),
            ("method='GET'\npath='/a b'", "request.path"),
            ("method='GET'\npath=\"/\\r\\n\"", "request.path"),
        ] {
            assert_eq!(with_request(request).unwrap_err().at, at, "{request}");
        }
    }
}
