//! The right answer of a workload.
use serde::{Deserialize, Serialize};

use super::Service;
use crate::request::EventForm;
use crate::request::json_value::{self, JsonValue};
use crate::text::units::parse_duration_ns;

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
    /// Values that the JSON of the body must have, by their pointers (RFC 6901): `{ "/ok" = true }`.
    #[serde(default, with = "json_value::table", skip_serializing_if = "Vec::is_empty")]
    pub json: Vec<JsonValue>,
    /// Under load, the same body is expected as in the proof before.
    #[serde(default)]
    pub as_proved: bool,
    /// The source of the body, if it is different each time.
    #[serde(default)]
    pub from: Option<Source>,
    /// The body comes in a content coding that its request accepts, at least where it has so many
    /// bytes unpacked. A shorter one may come as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coded_from: Option<u64>,
    /// With [`Source::Files`]: how old a file may be that has been replaced, as a time: `1s`. An answer
    /// with the file of before is right if its request was sent sooner after the replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_within: Option<String>,
    /// The body is a stream of server-sent events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
}

/// The stream of server-sent events of an answer. Times are written as `"100ms"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// How many events it has.
    pub count: u32,
    /// The time between two events.
    pub every: String,
    /// How much longer than that a gap between two may be.
    pub off_by: String,
    /// How old the instant of an event may be when it comes.
    pub fresh_within: String,
}

impl Events {
    /// The form of a load, as far as its times can be read.
    ///
    /// # Errors
    /// The key that is wrong, and what is right.
    pub fn form(&self) -> Result<EventForm, String> {
        let time = |key: &str, text: &str| match parse_duration_ns(text) {
            Ok(ns @ 1..) => Ok(ns),
            _ => Err(format!("{key} is {text:?}: write a time such as \"100ms\"")),
        };
        if self.count < 2 {
            return Err("count must be at least 2: one event has no gap".into());
        }
        Ok(EventForm {
            count: self.count,
            every_ns: time("every", &self.every)?,
            off_ns: time("off_by", &self.off_by)?,
            fresh_ns: time("fresh_within", &self.fresh_within)?,
        })
    }
}

impl Answer {
    /// What a right stream of events is; `None` where the answer is none.
    #[must_use]
    pub fn event_form(&self) -> Option<EventForm> {
        self.events.as_ref().and_then(|events| events.form().ok())
    }

    /// [`Self::fresh_within`] in nanoseconds; 0 where it is not given.
    #[must_use]
    pub fn fresh_within_ns(&self) -> u64 {
        self.fresh_within.as_deref().and_then(|time| parse_duration_ns(time).ok()).unwrap_or(0)
    }
}

/// The source of an answer's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The number that the slow upstream issued for this request only.
    Upstream,
    /// The table `users` as JSON, as it was at some instant between the request and its answer.
    Table,
    /// The table `messages` and one more with the text `{add}`, as a page, sorted by the target.
    Messages,
    /// The first `{n}` items of the file that the target got when it started, as JSON, each with a
    /// total that depends on `{m}`.
    Items,
    /// The file `{file}` of the folder that the target got when it started. Some of them are replaced
    /// under load.
    Files,
    /// The length and the SHA-256 of the request's body, which has `{bytes}` and is sent as `{sent}`
    /// says.
    Upload,
}

impl Source {
    /// The service that provides it; `None` for files, which need none.
    #[must_use]
    pub const fn service(self) -> Option<Service> {
        match self {
            Self::Upstream => Some(Service::Upstream),
            Self::Table | Self::Messages => Some(Service::Postgres),
            Self::Items | Self::Files | Self::Upload => None,
        }
    }

    /// Its name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Table => "table",
            Self::Messages => "messages",
            Self::Items => "items",
            Self::Files => "files",
            Self::Upload => "upload",
        }
    }
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
            json: Vec::new(),
            as_proved: false,
            from: None,
            coded_from: None,
            fresh_within: None,
            events: None,
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
